// Textures, surfaces and mipmaps. Parsed by native/hip/gen_api.py: one prototype per API.
#ifndef ROCM_PERF_HIP_DETAIL_API_TEXTURE_H
#define ROCM_PERF_HIP_DETAIL_API_TEXTURE_H

HIP_API hipError_t hipDeviceGetTexture1DLinearMaxWidth(size_t* max_width, const
    hipChannelFormatDesc* desc, int device);
HIP_API hipError_t hipModuleGetTexRef(textureReference** texRef, hipModule_t hmod, const char*
    name);
HIP_API hipError_t hipCreateTextureObject(hipTextureObject_t* pTexObject, const hipResourceDesc*
    pResDesc, const hipTextureDesc* pTexDesc, const hipResourceViewDesc* pResViewDesc);
HIP_API hipError_t hipDestroyTextureObject(hipTextureObject_t textureObject);
HIP_API hipError_t hipGetChannelDesc(hipChannelFormatDesc* desc, hipArray_const_t array);
HIP_API hipError_t hipGetTextureObjectResourceDesc(hipResourceDesc* pResDesc, hipTextureObject_t
    textureObject);
HIP_API hipError_t hipGetTextureObjectResourceViewDesc(hipResourceViewDesc* pResViewDesc,
    hipTextureObject_t textureObject);
HIP_API hipError_t hipGetTextureObjectTextureDesc(hipTextureDesc* pTexDesc, hipTextureObject_t
    textureObject);
HIP_API hipError_t hipTexObjectCreate(hipTextureObject_t* pTexObject, const HIP_RESOURCE_DESC*
    pResDesc, const HIP_TEXTURE_DESC* pTexDesc, const HIP_RESOURCE_VIEW_DESC* pResViewDesc);
HIP_API hipError_t hipTexObjectDestroy(hipTextureObject_t texObject);
HIP_API hipError_t hipTexObjectGetResourceDesc(HIP_RESOURCE_DESC* pResDesc, hipTextureObject_t
    texObject);
HIP_API hipError_t hipTexObjectGetResourceViewDesc(HIP_RESOURCE_VIEW_DESC* pResViewDesc,
    hipTextureObject_t texObject);
HIP_API hipError_t hipTexObjectGetTextureDesc(HIP_TEXTURE_DESC* pTexDesc, hipTextureObject_t
    texObject);
HIP_API hipError_t hipMallocMipmappedArray(hipMipmappedArray_t* mipmappedArray, const
    hipChannelFormatDesc* desc, hipExtent extent, unsigned int numLevels, unsigned int flags
    HIP_DEFAULT(0));
HIP_API hipError_t hipFreeMipmappedArray(hipMipmappedArray_t mipmappedArray);
HIP_API hipError_t hipGetMipmappedArrayLevel(hipArray_t* levelArray, hipMipmappedArray_const_t
    mipmappedArray, unsigned int level);
HIP_API hipError_t hipMipmappedArrayCreate(hipMipmappedArray_t* pHandle, HIP_ARRAY3D_DESCRIPTOR*
    pMipmappedArrayDesc, unsigned int numMipmapLevels);
HIP_API hipError_t hipMipmappedArrayDestroy(hipMipmappedArray_t hMipmappedArray);
HIP_API hipError_t hipMipmappedArrayGetLevel(hipArray_t* pLevelArray, hipMipmappedArray_t
    hMipMappedArray, unsigned int level);
HIP_API hipError_t hipBindTextureToMipmappedArray(const textureReference* tex,
    hipMipmappedArray_const_t mipmappedArray, const hipChannelFormatDesc* desc);
HIP_API hipError_t hipGetTextureReference(const textureReference** texref, const void* symbol);
HIP_API hipError_t hipTexRefGetBorderColor(float* pBorderColor, const textureReference* texRef);
HIP_API hipError_t hipTexRefGetArray(hipArray_t* pArray, const textureReference* texRef);
HIP_API hipError_t hipTexRefSetAddressMode(textureReference* texRef, int dim, hipTextureAddressMode
    am);
HIP_API hipError_t hipTexRefSetArray(textureReference* tex, hipArray_const_t array, unsigned int
    flags);
HIP_API hipError_t hipTexRefSetFilterMode(textureReference* texRef, hipTextureFilterMode fm);
HIP_API hipError_t hipTexRefSetFlags(textureReference* texRef, unsigned int Flags);
HIP_API hipError_t hipTexRefSetFormat(textureReference* texRef, hipArray_Format fmt, int
    NumPackedComponents);
HIP_API hipError_t hipBindTexture(size_t* offset, const textureReference* tex, const void* devPtr,
    const hipChannelFormatDesc* desc, size_t size HIP_DEFAULT(UINT_MAX));
HIP_API hipError_t hipBindTexture2D(size_t* offset, const textureReference* tex, const void* devPtr,
    const hipChannelFormatDesc* desc, size_t width, size_t height, size_t pitch);
HIP_API hipError_t hipBindTextureToArray(const textureReference* tex, hipArray_const_t array, const
    hipChannelFormatDesc* desc);
HIP_API hipError_t hipGetTextureAlignmentOffset(size_t* offset, const textureReference* texref);
HIP_API hipError_t hipUnbindTexture(const textureReference* tex);
HIP_API hipError_t hipTexRefGetAddress(hipDeviceptr_t* dev_ptr, const textureReference* texRef);
HIP_API hipError_t hipTexRefGetAddressMode(hipTextureAddressMode* pam, const textureReference*
    texRef, int dim);
HIP_API hipError_t hipTexRefGetFilterMode(hipTextureFilterMode* pfm, const textureReference*
    texRef);
HIP_API hipError_t hipTexRefGetFlags(unsigned int* pFlags, const textureReference* texRef);
HIP_API hipError_t hipTexRefGetFormat(hipArray_Format* pFormat, int* pNumChannels, const
    textureReference* texRef);
HIP_API hipError_t hipTexRefGetMaxAnisotropy(int* pmaxAnsio, const textureReference* texRef);
HIP_API hipError_t hipTexRefGetMipmapFilterMode(hipTextureFilterMode* pfm, const textureReference*
    texRef);
HIP_API hipError_t hipTexRefGetMipmapLevelBias(float* pbias, const textureReference* texRef);
HIP_API hipError_t hipTexRefGetMipmapLevelClamp(float* pminMipmapLevelClamp, float*
    pmaxMipmapLevelClamp, const textureReference* texRef);
HIP_API hipError_t hipTexRefGetMipMappedArray(hipMipmappedArray_t* pArray, const textureReference*
    texRef);
HIP_API hipError_t hipTexRefSetAddress(size_t* ByteOffset, textureReference* texRef, hipDeviceptr_t
    dptr, size_t bytes);
HIP_API hipError_t hipTexRefSetAddress2D(textureReference* texRef, const HIP_ARRAY_DESCRIPTOR* desc,
    hipDeviceptr_t dptr, size_t Pitch);
HIP_API hipError_t hipTexRefSetMaxAnisotropy(textureReference* texRef, unsigned int maxAniso);
HIP_API hipError_t hipTexRefSetBorderColor(textureReference* texRef, float* pBorderColor);
HIP_API hipError_t hipTexRefSetMipmapFilterMode(textureReference* texRef, hipTextureFilterMode fm);
HIP_API hipError_t hipTexRefSetMipmapLevelBias(textureReference* texRef, float bias);
HIP_API hipError_t hipTexRefSetMipmapLevelClamp(textureReference* texRef, float minMipMapLevelClamp,
    float maxMipMapLevelClamp);
HIP_API hipError_t hipTexRefSetMipmappedArray(textureReference* texRef, hipMipmappedArray*
    mipmappedArray, unsigned int Flags);
HIP_API hipError_t hipCreateSurfaceObject(hipSurfaceObject_t* pSurfObject, const hipResourceDesc*
    pResDesc);
HIP_API hipError_t hipDestroySurfaceObject(hipSurfaceObject_t surfaceObject);

#endif
