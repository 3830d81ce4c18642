#include "array.h"

#include "api_impl.h"
#include "memory.h"

namespace hip {

namespace {

struct Format {
  hipChannelFormatKind kind;
  int bits;
  hipArray_Format format;
};
constexpr Format kFormats[] = {
    {hipChannelFormatKindUnsigned, 8, HIP_AD_FORMAT_UNSIGNED_INT8},
    {hipChannelFormatKindUnsigned, 16, HIP_AD_FORMAT_UNSIGNED_INT16},
    {hipChannelFormatKindUnsigned, 32, HIP_AD_FORMAT_UNSIGNED_INT32},
    {hipChannelFormatKindSigned, 8, HIP_AD_FORMAT_SIGNED_INT8},
    {hipChannelFormatKindSigned, 16, HIP_AD_FORMAT_SIGNED_INT16},
    {hipChannelFormatKindSigned, 32, HIP_AD_FORMAT_SIGNED_INT32},
    {hipChannelFormatKindFloat, 16, HIP_AD_FORMAT_HALF},
    {hipChannelFormatKindFloat, 32, HIP_AD_FORMAT_FLOAT},
};

hipError_t create(hipArray_t* result, const Format& format, unsigned channels, hipExtent extent, unsigned flags) {
  Device* device;
  if (hipError_t status = check_device(device)) return status;
  if (!result || extent.width == 0 || (channels != 1 && channels != 2 && channels != 4)) return hipErrorInvalidValue;
  auto* array = new hipArray;
  array->width = extent.width;
  array->height = extent.height;
  array->depth = extent.depth;
  array->flags = flags;
  array->format = format.format;
  array->channels = channels;
  array->element_bytes = size_t(format.bits) / 8 * channels;
  array->device = device->index;
  array->desc = {format.bits, channels > 1 ? format.bits : 0, channels > 2 ? format.bits : 0,
                 channels > 2 ? format.bits : 0, format.kind};
  hipError_t status = allocate_device(*device, array->bytes(), 0, &array->data);
  if (status != hipSuccess) {
    delete array;
    return status;
  }
  *result = array;
  return hipSuccess;
}

hipError_t create(hipArray_t* result, const hipChannelFormatDesc* desc, hipExtent extent, unsigned flags) {
  if (!desc) return hipErrorInvalidValue;
  unsigned channels = (desc->x != 0) + (desc->y != 0) + (desc->z != 0) + (desc->w != 0);
  for (const Format& format : kFormats)
    if (format.kind == desc->f && format.bits == desc->x) return create(result, format, channels, extent, flags);
  return hipErrorInvalidValue;
}

hipError_t create(hipArray_t* result, hipArray_Format wanted, unsigned channels, hipExtent extent, unsigned flags) {
  for (const Format& format : kFormats)
    if (format.format == wanted) return create(result, format, channels, extent, flags);
  return hipErrorInvalidValue;
}

}  // namespace

hipChannelFormatDesc hipCreateChannelDesc(int x, int y, int z, int w, hipChannelFormatKind f) {
  return {x, y, z, w, f};
}

hipError_t hipMallocArray(hipArray_t* array, const hipChannelFormatDesc* desc, size_t width, size_t height,
                          unsigned int flags) {
  return create(array, desc, {width, height, 0}, flags);
}
hipError_t hipMalloc3DArray(hipArray_t* array, const hipChannelFormatDesc* desc, hipExtent extent, unsigned int flags) {
  return create(array, desc, extent, flags);
}
hipError_t hipArrayCreate(hipArray_t* pHandle, const HIP_ARRAY_DESCRIPTOR* d) {
  if (!d) return hipErrorInvalidValue;
  return create(pHandle, d->Format, d->NumChannels, {d->Width, d->Height, 0}, 0);
}
hipError_t hipArray3DCreate(hipArray_t* array, const HIP_ARRAY3D_DESCRIPTOR* d) {
  if (!d) return hipErrorInvalidValue;
  return create(array, d->Format, d->NumChannels, {d->Width, d->Height, d->Depth}, d->Flags);
}

hipError_t hipFreeArray(hipArray_t array) {
  if (!array) return hipErrorInvalidValue;
  hipError_t status = hip::hipFree(array->data);
  if (status == hipSuccess) delete array;
  return status;
}

hipError_t hipArrayGetInfo(hipChannelFormatDesc* desc, hipExtent* extent, unsigned int* flags, hipArray_t array) {
  if (!array) return hipErrorInvalidHandle;
  if (desc) *desc = array->desc;
  if (extent) *extent = {array->width, array->height, array->depth};
  if (flags) *flags = array->flags;
  return hipSuccess;
}
hipError_t hipArrayGetDescriptor(HIP_ARRAY_DESCRIPTOR* d, hipArray_t array) {
  if (!array) return hipErrorInvalidHandle;
  if (!d) return hipErrorInvalidValue;
  *d = {array->width, array->height, array->format, array->channels};
  return hipSuccess;
}
hipError_t hipArray3DGetDescriptor(HIP_ARRAY3D_DESCRIPTOR* d, hipArray_t array) {
  if (!array) return hipErrorInvalidHandle;
  if (!d) return hipErrorInvalidValue;
  *d = {array->width, array->height, array->depth, array->format, array->channels, array->flags};
  return hipSuccess;
}
hipError_t hipGetChannelDesc(hipChannelFormatDesc* desc, hipArray_const_t array) {
  if (!desc || !array) return hipErrorInvalidValue;
  *desc = array->desc;
  return hipSuccess;
}

}  // namespace hip
