// Workgroups in other orders: what atomics order stays, what only their usual order keeps right does not.
#include <hip/hip_runtime.h>

#include <cstdio>

__global__ void added(int* sum) {
  if (threadIdx.x == 0) atomicAdd(sum, 1);
}

// Two workgroups may both read before either writes.
__global__ void lost(int* sum) {
  if (threadIdx.x == 0) *sum += 1;
}

// The last one to write wins, and nothing says which that is.
__global__ void last(int* who) {
  if (threadIdx.x == 0) *who = blockIdx.x;
}

// All wait for all: more than are begun at first have to be there.
__global__ void barrier(int* arrived, int* out) {
  if (threadIdx.x) return;
  atomicAdd(arrived, 1);
  while (__hip_atomic_load(arrived, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) < (int)gridDim.x) {}
  out[blockIdx.x] = 1;
}

int main() {
  constexpr int kGroups = 48;
  int* at;
  if (hipMallocManaged(&at, 4 * (4 + kGroups))) return 2;
  for (int i = 0; i < 4 + kGroups; ++i) at[i] = 0;
  added<<<kGroups, 128>>>(at);
  lost<<<2, 64>>>(at + 1);
  last<<<kGroups, 64>>>(at + 2);
  barrier<<<kGroups, 64>>>(at + 3, at + 4);
  if (hipDeviceSynchronize()) return 2;
  int passed = 0;
  for (int i = 0; i < kGroups; ++i) passed += at[4 + i];
  printf("added %d lost %d last %d passed %d\n", at[0], at[1], at[2], passed);
  return 0;
}
