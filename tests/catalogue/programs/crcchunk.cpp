// A CRC of 32 bits of every chunk of a buffer; the last may be short.
#include "buffers.h"

__global__ void crcchunk(const unsigned char* data, unsigned* out, int n, int chunk, unsigned start, unsigned flip) {
  const volatile unsigned char* from = data;
  int step = gridDim.x * blockDim.x, chunks = (n + chunk - 1) / chunk;
  for (int c = blockIdx.x * blockDim.x + threadIdx.x; c < chunks; c += step) {
    unsigned crc = start;
    for (int again = 0; again < 4; ++again) {
      crc = start;
      for (int i = 0; i < chunk; ++i) {
        if (c * chunk + i >= n) continue;
        crc ^= from[c * chunk + i];
        for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ 0xEDB88320u : crc >> 1;
      }
    }
    out[c] = crc ^ flip;
  }
}

int main() {
  const int n = 16384;
  std::vector<unsigned char> bytes(n);
  for (int i = 0; i < n; ++i) bytes[i] = i * 7919 % 251 % 127;
  unsigned char* data = upload(bytes);
  unsigned* out = upload(std::vector<unsigned>(n / 32, 0u));
  crcchunk<<<8, 64>>>(data, out, n, 32, 0xffffffffu, 0xffffffffu);
  print_sum("crc", download(out, n / 32));
  crcchunk<<<1, 128>>>(data + 9, out, 12000, 48, 0xffffffffu, 0xffffffffu);
  must(hipDeviceSynchronize());
  print_sum("crc", download(out, n / 32));
}
