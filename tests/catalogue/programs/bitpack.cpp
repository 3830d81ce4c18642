// Flags in bytes packed into words, 32 in each; bits past the end are clear.
#include "buffers.h"

__global__ void bitpack(const unsigned char* flags, unsigned* words, int n, int invert) {
  const volatile unsigned char* from = flags;
  int step = gridDim.x * blockDim.x;
  for (int w = blockIdx.x * blockDim.x + threadIdx.x; w < (n + 31) / 32; w += step) {
    unsigned bits = 0;
    for (int again = 0; again < 6; ++again) {
      bits = 0;
      for (int l = 0; l < 32; ++l) {
        int i = w * 32 + l;
        if (i < n && (from[i] != 0) != (invert != 0)) bits |= 1u << l;
      }
    }
    words[w] = bits;
  }
}

int main() {
  const int n = 16000;
  std::vector<unsigned char> f(n);
  for (int i = 0; i < n; ++i) f[i] = i * 7919 % 31 < 11;
  unsigned char* flags = upload(f);
  unsigned* words = upload(std::vector<unsigned>(n / 32 + 1, 0u));
  bitpack<<<8, 64>>>(flags, words, n, 0);
  print_sum("bits", download(words, n / 32 + 1));
  bitpack<<<3, 128>>>(flags + 5, words, 6400, 1);
  must(hipDeviceSynchronize());
  print_sum("bits", download(words, n / 32 + 1));
}
