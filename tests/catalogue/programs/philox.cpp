// Random words by counter: number k of the stream is word k mod 4 of block k div 4.
#include "buffers.h"

__global__ void philox(unsigned* out, int n, unsigned long long seed, unsigned long long offset, int rounds) {
  int step = gridDim.x * blockDim.x;
  for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < n; e += step) {
    unsigned long long place = offset + e, block = place / 4;
    unsigned c0 = (unsigned)block, c1 = (unsigned)(block >> 32), c2 = 0, c3 = 0;
    unsigned k0 = (unsigned)seed, k1 = (unsigned)(seed >> 32);
    for (int r = 0; r < rounds; ++r) {
      unsigned long long p = 0xD2511F53ull * c0, q = 0xCD9E8D57ull * c2;
      unsigned d0 = (unsigned)(q >> 32) ^ c1 ^ k0, d2 = (unsigned)(p >> 32) ^ c3 ^ k1;
      c1 = (unsigned)q;
      c3 = (unsigned)p;
      c0 = d0;
      c2 = d2;
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    unsigned word = place % 4 == 0 ? c0 : place % 4 == 1 ? c1 : place % 4 == 2 ? c2 : c3;
    volatile unsigned* to = out;
    to[e] = word;
  }
}

int main() {
  const int n = 16000;
  unsigned* out = upload(std::vector<unsigned>(n, 0u));
  philox<<<64, 64>>>(out, n, 1234567ull, 0ull, 10);
  print_sum("words", download(out, n));
  philox<<<20, 128>>>(out, 12000, 99ull, 16000ull, 7);
  must(hipDeviceSynchronize());
  print_sum("words", download(out, n));
}
