// Texture references, and binding memory to them. Host side, for every compiler.
#pragma once
#if defined(__clang__)
#pragma clang system_header
#endif

template <typename T, int Type = hipTextureType1D, enum hipTextureReadMode Mode = hipReadModeElementType>
struct texture : textureReference {
  texture(int normalized_ = 0, enum hipTextureFilterMode filter = hipFilterModePoint, enum hipTextureAddressMode address = hipAddressModeClamp)
      : textureReference{} {
    normalized = normalized_;
    readMode = Mode;
    filterMode = filter;
    addressMode[0] = addressMode[1] = addressMode[2] = address;
    channelDesc = hipCreateChannelDesc<T>();
  }
};

template <typename T, int D, enum hipTextureReadMode M>
inline hipError_t hipBindTexture(size_t* offset, const texture<T, D, M>& reference, const void* data, size_t size = ~0u) {
  return hipBindTexture(offset, &reference, data, &reference.channelDesc, size);
}
template <typename T, int D, enum hipTextureReadMode M>
inline hipError_t hipBindTexture(size_t* offset, const texture<T, D, M>& reference, const void* data, const hipChannelFormatDesc& format, size_t size = ~0u) {
  return hipBindTexture(offset, &reference, data, &format, size);
}
template <typename T, int D, enum hipTextureReadMode M>
inline hipError_t hipBindTexture2D(size_t* offset, const texture<T, D, M>& reference, const void* data, size_t width, size_t height, size_t pitch) {
  return hipBindTexture2D(offset, &reference, data, &reference.channelDesc, width, height, pitch);
}
template <typename T, int D, enum hipTextureReadMode M>
inline hipError_t hipBindTexture2D(size_t* offset, const texture<T, D, M>& reference, const void* data, const hipChannelFormatDesc& format, size_t width, size_t height, size_t pitch) {
  return hipBindTexture2D(offset, &reference, data, &format, width, height, pitch);
}
template <typename T, int D, enum hipTextureReadMode M>
inline hipError_t hipBindTextureToArray(const texture<T, D, M>& reference, hipArray_const_t array) {
  return hipBindTextureToArray(&reference, array, &reference.channelDesc);
}
template <typename T, int D, enum hipTextureReadMode M>
inline hipError_t hipBindTextureToArray(const texture<T, D, M>& reference, hipArray_const_t array, const hipChannelFormatDesc& format) {
  return hipBindTextureToArray(&reference, array, &format);
}
template <typename T, int D, enum hipTextureReadMode M>
inline hipError_t hipBindTextureToMipmappedArray(const texture<T, D, M>& reference, hipMipmappedArray_const_t array) {
  return hipBindTextureToMipmappedArray(&reference, array, &reference.channelDesc);
}
template <typename T, int D, enum hipTextureReadMode M>
inline hipError_t hipBindTextureToMipmappedArray(const texture<T, D, M>& reference, hipMipmappedArray_const_t array, const hipChannelFormatDesc& format) {
  return hipBindTextureToMipmappedArray(&reference, array, &format);
}
template <typename T, int D, enum hipTextureReadMode M>
inline hipError_t hipUnbindTexture(const texture<T, D, M>& reference) {
  return hipUnbindTexture(&reference);
}
