// What the whole GPU sustains of arithmetic and of LDS, as roofline benchmarks measure it. Prints one line
// per rate: name and billions of operations or bytes a second, of a long launch less a short one, so that
// what a launch costs is not in them.
#include <hip/hip_runtime.h>

#include <cstdio>

#include "hip_check.h"

// 64 instructions a turn, so that the loop is little, on four results, so that none waits for another.
#define RATE(name, four, ...)                                                                           \
  __global__ void __launch_bounds__(512) name(int turns) {                                              \
    __shared__ float words[256];                                                                        \
    unsigned at = (unsigned)(size_t)(__attribute__((address_space(3))) float*)words + 16 * (threadIdx.x % 64); \
    for (int i = 0; i < turns; ++i)                                                                     \
      asm volatile(".rept 16\n" four "\n.endr\n" : : "v"(at) : __VA_ARGS__);                            \
    asm volatile("s_waitcnt lgkmcnt(0)");                                                               \
  }
#define FMA(op, d) op " " d ", v[32:33], v[34:35], " d "\n"
#define FMAS(op) FMA(op, "v[36:37]") FMA(op, "v[38:39]") FMA(op, "v[40:41]") FMA(op, "v[42:43]")
#define FEW "v32", "v33", "v34", "v35", "v36", "v37", "v38", "v39", "v40", "v41", "v42", "v43"
RATE(fma_f32, FMAS("v_pk_fma_f32"), FEW)
RATE(fma_f64, FMAS("v_fma_f64"), FEW)
#define READ(d) "ds_read_b128 " d ", %0\n"
RATE(lds_read, READ("v[32:35]") READ("v[36:39]") READ("v[40:43]") READ("v[32:35]"), FEW)

#define MATRIX(op, d, in) op " " d ", " in ", " in ", " d "\n"
#define MATRICES(op, in) \
  MATRIX(op, "v[36:51]", in) MATRIX(op, "v[52:67]", in) MATRIX(op, "v[68:83]", in) MATRIX(op, "v[84:99]", in)
#define MATRICES64(op, in) \
  MATRIX(op, "v[36:43]", in) MATRIX(op, "v[44:51]", in) MATRIX(op, "v[52:59]", in) MATRIX(op, "v[60:67]", in)
#define MANY "v32", "v33", "v99"
RATE(matrix_rate_f16, MATRICES("v_mfma_f32_32x32x8_f16", "v[32:33]"), MANY)
RATE(matrix_rate_f8, MATRICES("v_mfma_f32_32x32x16_fp8_fp8", "v[32:33]"), MANY)
RATE(matrix_rate_f64, MATRICES64("v_mfma_f64_16x16x4_f64", "v[32:33]"), MANY)

// `each`: operations or bytes of an instruction, of one wave.
template <class Kernel>
void show(const char* name, Kernel kernel, int turns, double each) {
  hipDeviceProp_t device;
  CHECK(hipGetDeviceProperties(&device, 0));
  const int units = device.multiProcessorCount, waves = 8;
  hipEvent_t before, after;
  CHECK(hipEventCreate(&before));
  CHECK(hipEventCreate(&after));
  float took[2];
  for (int i : {0, 1}) {
    kernel<<<units, 64 * waves>>>(turns << i);  // its code
    CHECK(hipDeviceSynchronize());
    CHECK(hipEventRecord(before));
    kernel<<<units, 64 * waves>>>(turns << i);
    CHECK(hipEventRecord(after));
    CHECK(hipEventSynchronize(after));
    CHECK(hipEventElapsedTime(&took[i], before, after));
  }
  std::printf("%s %.6g\n", name, 64. * turns * waves * units * each / ((took[1] - took[0]) * 1e6));
}

int main() {
  show("fma_f32", fma_f32, 6, 64 * 2 * 2);
  show("fma_f64", fma_f64, 6, 64 * 2);
  show("lds_read", lds_read, 4, 64 * 16);
  show("matrix_rate_f16", matrix_rate_f16, 1, 32 * 32 * 8 * 2);
  show("matrix_rate_f8", matrix_rate_f8, 1, 32 * 32 * 16 * 2);
  show("matrix_rate_f64", matrix_rate_f64, 1, 16 * 16 * 4 * 2);
  return 0;
}
