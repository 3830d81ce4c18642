// The functions that read images. These GPUs have no texture hardware: as in AMD's headers a call in
// device code is an error, and __HIP_NO_IMAGE_SUPPORT lets programs leave it out.
#pragma once
#pragma clang system_header

#include <hip/detail/texture_reference.h>

#if defined(__HIP_DEVICE_COMPILE__)
#define __HIP_IMAGE__ __attribute__((device, unavailable("The image/texture API not supported on the device")))
#else  // the host reads kernels too, and knows no __HIP_NO_IMAGE_SUPPORT
#define __HIP_IMAGE__ __attribute__((device))
#endif
#define __HIP_FETCH__(NAME)                                                              \
  template <typename T, typename... Where> __HIP_IMAGE__ T NAME(hipTextureObject_t, Where...); \
  template <typename T, typename... Where> __HIP_IMAGE__ void NAME(T*, hipTextureObject_t, Where...); \
  template <typename T, int D, enum hipTextureReadMode M, typename... Where> __HIP_IMAGE__ T NAME(texture<T, D, M>, Where...);
__HIP_FETCH__(tex1Dfetch)
__HIP_FETCH__(tex1D)
__HIP_FETCH__(tex1DLod)
__HIP_FETCH__(tex1DGrad)
__HIP_FETCH__(tex1DLayered)
__HIP_FETCH__(tex2D)
__HIP_FETCH__(tex2DLod)
__HIP_FETCH__(tex2DGrad)
__HIP_FETCH__(tex2DLayered)
__HIP_FETCH__(tex2Dgather)
__HIP_FETCH__(tex3D)
__HIP_FETCH__(tex3DLod)
__HIP_FETCH__(tex3DGrad)
__HIP_FETCH__(texCubemap)
#undef __HIP_FETCH__
#define __HIP_SURFACE__(DIMENSIONS)                                                                       \
  template <typename T, typename... Where> __HIP_IMAGE__ void surf##DIMENSIONS##read(T*, hipSurfaceObject_t, Where...); \
  template <typename T, typename... Where> __HIP_IMAGE__ T surf##DIMENSIONS##read(hipSurfaceObject_t, Where...); \
  template <typename T, typename... Where> __HIP_IMAGE__ void surf##DIMENSIONS##write(T, hipSurfaceObject_t, Where...);
__HIP_SURFACE__(1D)
__HIP_SURFACE__(2D)
__HIP_SURFACE__(3D)
__HIP_SURFACE__(1DLayered)
__HIP_SURFACE__(2DLayered)
#undef __HIP_SURFACE__
#undef __HIP_IMAGE__
