// hipCreateChannelDesc<T>(): bits and kind of each channel of a scalar or vector type.
#ifndef ROCM_PERF_HIP_CHANNEL_DESCRIPTOR_H
#define ROCM_PERF_HIP_CHANNEL_DESCRIPTOR_H

#include <hip/driver_types.h>

#ifdef __cplusplus
extern "C" {
#endif
__attribute__((visibility("default"))) hipChannelFormatDesc hipCreateChannelDesc(
    int x, int y, int z, int w, hipChannelFormatKind f);
#ifdef __cplusplus
}

#if defined(__has_include)
#if __has_include(<hip/hip_vector_types.h>)
#include <hip/hip_vector_types.h>
#define ROCM_PERF_HIP_CHANNEL_VECTORS 1
#endif
#endif

static inline hipChannelFormatDesc hipCreateChannelDescHalf() {
  return hipCreateChannelDesc(16, 0, 0, 0, hipChannelFormatKindFloat);
}
static inline hipChannelFormatDesc hipCreateChannelDescHalf1() { return hipCreateChannelDescHalf(); }
static inline hipChannelFormatDesc hipCreateChannelDescHalf2() {
  return hipCreateChannelDesc(16, 16, 0, 0, hipChannelFormatKindFloat);
}
static inline hipChannelFormatDesc hipCreateChannelDescHalf4() {
  return hipCreateChannelDesc(16, 16, 16, 16, hipChannelFormatKindFloat);
}

template <class T> static inline hipChannelFormatDesc hipCreateChannelDesc() {
  return hipCreateChannelDesc(0, 0, 0, 0, hipChannelFormatKindNone);
}
#define ROCM_PERF_HIP_CHANNEL(T, BITS, CHANNELS, KIND)                              \
  template <> inline hipChannelFormatDesc hipCreateChannelDesc<T>() {               \
    return hipCreateChannelDesc(BITS, CHANNELS > 1 ? BITS : 0, CHANNELS > 2 ? BITS : 0, \
                                CHANNELS > 3 ? BITS : 0, KIND);                     \
  }
ROCM_PERF_HIP_CHANNEL(char, 8, 1, hipChannelFormatKindSigned)
ROCM_PERF_HIP_CHANNEL(signed char, 8, 1, hipChannelFormatKindSigned)
ROCM_PERF_HIP_CHANNEL(unsigned char, 8, 1, hipChannelFormatKindUnsigned)
ROCM_PERF_HIP_CHANNEL(short, 16, 1, hipChannelFormatKindSigned)
ROCM_PERF_HIP_CHANNEL(unsigned short, 16, 1, hipChannelFormatKindUnsigned)
ROCM_PERF_HIP_CHANNEL(int, 32, 1, hipChannelFormatKindSigned)
ROCM_PERF_HIP_CHANNEL(unsigned int, 32, 1, hipChannelFormatKindUnsigned)
ROCM_PERF_HIP_CHANNEL(float, 32, 1, hipChannelFormatKindFloat)
#ifdef ROCM_PERF_HIP_CHANNEL_VECTORS
#define ROCM_PERF_HIP_CHANNELS(T, BITS, KIND) \
  ROCM_PERF_HIP_CHANNEL(T##1, BITS, 1, KIND)  \
  ROCM_PERF_HIP_CHANNEL(T##2, BITS, 2, KIND)  \
  ROCM_PERF_HIP_CHANNEL(T##4, BITS, 4, KIND)
ROCM_PERF_HIP_CHANNELS(char, 8, hipChannelFormatKindSigned)
ROCM_PERF_HIP_CHANNELS(uchar, 8, hipChannelFormatKindUnsigned)
ROCM_PERF_HIP_CHANNELS(short, 16, hipChannelFormatKindSigned)
ROCM_PERF_HIP_CHANNELS(ushort, 16, hipChannelFormatKindUnsigned)
ROCM_PERF_HIP_CHANNELS(int, 32, hipChannelFormatKindSigned)
ROCM_PERF_HIP_CHANNELS(uint, 32, hipChannelFormatKindUnsigned)
ROCM_PERF_HIP_CHANNELS(float, 32, hipChannelFormatKindFloat)
#undef ROCM_PERF_HIP_CHANNELS
#undef ROCM_PERF_HIP_CHANNEL_VECTORS
#endif
#undef ROCM_PERF_HIP_CHANNEL
#endif

#endif
