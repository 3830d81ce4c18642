// What the programs of planted hazards share.
#pragma once

#include <hip/hip_runtime.h>

#include <cstdlib>
#include <vector>

constexpr int kThreads = 128, kGroups = 2, kAll = kThreads * kGroups;

// Assembly that has what it needs where it is `right`, and lacks one part where it is not.
#define PLANT(before, needed, after, ...)                              \
  do {                                                                 \
    if constexpr (right) asm volatile(before needed after __VA_ARGS__); \
    else asm volatile(before after __VA_ARGS__);                       \
  } while (0)

// Names that differ between gfx90a and gfx942.
#ifdef __gfx90a__
#define MFMA_F32_4X4X1 "v_mfma_f32_4x4x1f32"
#define MFMA_F32_32X32X1 "v_mfma_f32_32x32x1f32"
#define MFMA_F16_16X16X16 "v_mfma_f32_16x16x16f16"
#define MFMA_F16_32X32X8 "v_mfma_f32_32x32x8f16"
#define MFMA_F16_4X4X4 "v_mfma_f32_4x4x4f16"
#define MFMA_F64_16X16X4 "v_mfma_f64_16x16x4f64"
#define MFMA_F64_4X4X4 "v_mfma_f64_4x4x4f64"
#else
#define MFMA_F32_4X4X1 "v_mfma_f32_4x4x1_16b_f32"
#define MFMA_F32_32X32X1 "v_mfma_f32_32x32x1_2b_f32"
#define MFMA_F16_16X16X16 "v_mfma_f32_16x16x16_f16"
#define MFMA_F16_32X32X8 "v_mfma_f32_32x32x8_f16"
#define MFMA_F16_4X4X4 "v_mfma_f32_4x4x4_16b_f16"
#define MFMA_F64_16X16X4 "v_mfma_f64_16x16x4_f64"
#define MFMA_F64_4X4X4 "v_mfma_f64_4x4x4_4b_f64"
#endif

typedef float Four __attribute__((ext_vector_type(4)));
typedef float Sixteen __attribute__((ext_vector_type(16)));
typedef float Pair __attribute__((ext_vector_type(2)));
typedef double FourDoubles __attribute__((ext_vector_type(4)));
typedef unsigned Words __attribute__((ext_vector_type(4)));

struct Buffers {
  const int* in;
  const int* offsets;     // into `in`, in bytes
  const int** pointer;    // to `in`
  int *out, *more;
};

__device__ inline int place() { return blockIdx.x * kThreads + threadIdx.x; }

// The offset in LDS of something shared.
__device__ inline unsigned lds(const void* at) { return unsigned(reinterpret_cast<unsigned long>(at)); }

// A buffer resource.
__device__ inline Words described(const void* at) {
  const unsigned long address = reinterpret_cast<unsigned long>(at);
  return {unsigned(address), unsigned(address >> 32), kAll * 4u, 0x27000u};
}

struct Memory {
  Buffers b;
  std::vector<void*> all;

  template <class T>
  T* filled(const std::vector<T>& with) {
    void* at;
    if (hipMalloc(&at, with.size() * sizeof(T)) != hipSuccess) std::exit(1);
    if (hipMemcpy(at, with.data(), with.size() * sizeof(T), hipMemcpyHostToDevice) != hipSuccess) std::exit(1);
    all.push_back(at);
    return static_cast<T*>(at);
  }

  Memory() {
    // What lies behind the last work-item's is there, too.
    std::vector<int> values(kAll + 64), offsets(kAll + 64);
    for (int i = 0; i < kAll + 64; ++i) values[i] = i % 97 + 1, offsets[i] = 4 * (i % 50);
    b.in = filled(values);
    b.offsets = filled(offsets);
    b.pointer = filled(std::vector<const int*>{b.in});
    b.out = filled(values);
    b.more = filled(std::vector<int>(8 * kAll));
  }
  ~Memory() {
    for (void* at : all) (void)hipFree(at);
  }

  void run(const std::vector<void (*)(Buffers)>& kernels) {
    for (auto* kernel : kernels) {
      kernel<<<kGroups, kThreads>>>(b);
      if (hipDeviceSynchronize() != hipSuccess) std::exit(1);
    }
  }
};
