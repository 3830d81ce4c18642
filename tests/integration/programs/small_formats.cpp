// Every pattern of 16 bits as a half and as a bfloat16, and every byte, through the conversions of
// the small formats, on the device and on the host. Written to the file named, as the test reads it.
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#include <hip/hip_fp4.h>
#include <hip/hip_fp6.h>
#include <hip/hip_fp8.h>
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstring>
#include <vector>

constexpr int kValues = 1 << 17, kColumns = 13, kReads = 7;

__host__ __device__ void encode(unsigned i, unsigned short* out) {
  float f;
  unsigned bits = i >> 16 ? i << 16 : 0;
  if (i >> 16) __builtin_memcpy(&f, &bits, 4);  // the upper half of a float
  else f = __half2float(__ushort_as_half((unsigned short)i));
  const __hip_fp8_interpretation_t kinds[] = {__HIP_E4M3, __HIP_E5M2, __HIP_E4M3_FNUZ, __HIP_E5M2_FNUZ};
  for (int k = 0; k < 4; ++k) {
    out[k] = __hip_cvt_float_to_fp8(f, __HIP_SATFINITE, kinds[k]);
    out[4 + k] = __hip_cvt_float_to_fp8(f, __HIP_NOSAT, kinds[k]);
  }
  out[8] = __hip_fp6_e2m3(f).__x;
  out[9] = __hip_fp6_e3m2(f).__x;
  out[10] = __hip_fp4_e2m1(f).__x;
  out[11] = __half_as_ushort(__float2half_rn(f));
  out[12] = __bfloat16_as_ushort(__float2bfloat16(f));
}

// The way over half and bfloat16 has to give the same number: they hold all of these exactly.
template <typename T, typename Half = __half, typename Brain = __hip_bfloat16>
__host__ __device__ float decoded(unsigned byte) {
  T value;
  value.__x = (unsigned char)byte;
  float f = value;
  Half half = value;
  Brain brain = value;
  __half h(half);
  __hip_bfloat16 b(brain);
  return f != f ? ((float)h != (float)h && (float)b != (float)b ? f : 0) : (float)h == f && (float)b == f ? f : 12345;
}
__host__ __device__ void decode(unsigned byte, float* out) {
  out[0] = decoded<__hip_fp8_e4m3>(byte);
  out[1] = decoded<__hip_fp8_e5m2>(byte);
  out[2] = decoded<__hip_fp8_e4m3_fnuz>(byte);
  out[3] = decoded<__hip_fp8_e5m2_fnuz>(byte);
  out[4] = decoded<__hip_fp6_e2m3, __half_raw, __hip_bfloat16_raw>(byte & 63);
  out[5] = decoded<__hip_fp6_e3m2, __half_raw, __hip_bfloat16_raw>(byte & 63);
  out[6] = decoded<__hip_fp4_e2m1, __half_raw, __hip_bfloat16_raw>(byte & 15);
}

__global__ void kernel(unsigned short* encoded, float* read) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kValues) encode(i, encoded + i * kColumns);
  if (i < 256) decode(i, read + i * kReads);
}

int main(int, char** argv) {
  unsigned short* encoded;
  float* read;
  const size_t bytes = kValues * kColumns * sizeof *encoded, read_bytes = 256 * kReads * sizeof *read;
  if (hipHostMalloc(&encoded, bytes, 0) || hipHostMalloc(&read, read_bytes, 0)) return 1;
  std::vector<unsigned short> host(kValues * kColumns);
  std::vector<float> host_read(256 * kReads);
  for (unsigned i = 0; i < kValues; ++i) encode(i, &host[i * kColumns]);
  for (unsigned i = 0; i < 256; ++i) decode(i, &host_read[i * kReads]);
  kernel<<<kValues / 256, 256>>>(encoded, read);
  if (hipDeviceSynchronize()) return 2;
  FILE* file = std::fopen(argv[1], "wb");
  std::fwrite(encoded, 1, bytes, file);
  std::fwrite(host.data(), 1, bytes, file);
  std::fwrite(read, 1, read_bytes, file);
  std::fwrite(host_read.data(), 1, read_bytes, file);
  return std::fclose(file);
}
