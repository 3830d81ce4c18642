// Looks keys up in an open table: an empty slot ends the search, a deleted one does not.
#include "buffers.h"

struct Slot {
  unsigned key;
  int value;
};

__global__ void probe(const Slot* slots, unsigned size, const unsigned* keys, int* out, int n, int missing) {
  const volatile Slot* from = slots;
  int step = gridDim.x * blockDim.x;
  for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < n; e += step) {
    int found = 0;
    for (int again = 0; again < 6; ++again) {
      found = missing;
      unsigned key = keys[e], at = key * 2654435761u % size;
      for (unsigned tries = 0; tries < size; ++tries) {
        unsigned held = from[at].key;
        if (held == 0xffffffffu) break;
        if (held == key && held != 0xfffffffeu) {
          found = from[at].value;
          break;
        }
        at = at + 1 == size ? 0 : at + 1;
      }
    }
    out[e] = found;
  }
}

int main() {
  const unsigned size = 1024, n = 3000;
  std::vector<Slot> table(size, Slot{0xffffffffu, 0});
  for (unsigned i = 0; i < 500; ++i) {
    unsigned key = i * 37 + 1, at = key * 2654435761u % size;
    while (table[at].key != 0xffffffffu) at = (at + 1) % size;
    table[at] = Slot{key, static_cast<int>(i * 3 + 1)};
  }
  std::vector<unsigned> wanted(n);
  for (unsigned i = 0; i < n; ++i) wanted[i] = i * 11 % 20000 + 1;
  Slot* slots = upload(table);
  unsigned* keys = upload(wanted);
  int* out = upload(std::vector<int>(n, 0));
  probe<<<20, 64>>>(slots, size, keys, out, n, -1);
  print_sum("probe", download(out, n));
  probe<<<5, 128>>>(slots, size, keys + 100, out, 2000, 0);
  must(hipDeviceSynchronize());
  print_sum("probe", download(out, n));
}
