// Where a word stands in a text; letters may be taken alike, and a question mark may stand for any byte.
#include "buffers.h"

__global__ void bytematch(const unsigned char* text, int n, const unsigned char* word, int m, int* hits, int nocase, int wild) {
  const volatile unsigned char* from = text;
  int step = gridDim.x * blockDim.x;
  for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < n; e += step) {
    int ok = 0;
    for (int again = 0; again < 3; ++again) {
      ok = e + m <= n;
      for (int j = 0; j < m && e + j < n; ++j) {
        int c = from[e + j], w = word[j];
        if (nocase && c >= 'A' && c <= 'Z') c += 32;
        if (nocase && w >= 'A' && w <= 'Z') w += 32;
        if (c != w && !(wild && w == '?')) ok = 0;
      }
    }
    hits[e] = ok;
  }
}

int main() {
  const int n = 6000;
  std::vector<unsigned char> t(n);
  for (int i = 0; i < n; ++i) t[i] = "abcdefgABCDEFGhij klm"[i * 31 % 101 % 21];
  std::vector<unsigned char> w = {'a', 'b', '?', 'D', 'e', 'f', ' ', 'k'};
  for (int i = 0; i < 8; ++i) t[100 + i] = t[901 + i] = w[i];
  unsigned char *text = upload(t), *word = upload(w);
  int* hits = upload(std::vector<int>(n, 0));
  bytematch<<<30, 64>>>(text, n, word, 8, hits, 0, 0);
  print_sum("hits", download(hits, n));
  bytematch<<<10, 128>>>(text, 5000, word, 4, hits, 1, 1);
  must(hipDeviceSynchronize());
  print_sum("hits", download(hits, n));
}
