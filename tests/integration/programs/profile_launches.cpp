// As many launches of nothing as asked for.
#include <hip/hip_runtime.h>

#include <cstdlib>

__global__ void nothing() {}

int main(int, char** argv) {
  for (int i = std::atoi(argv[1]); i > 0; --i) nothing<<<1, 64>>>();
  return hipDeviceSynchronize();
}
