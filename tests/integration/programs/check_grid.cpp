// Barriers of a grid: `name<false>` has the mistake, `name<true>` has not. Each ends the device's work, so that
// the argument says which.
#include <hip/hip_cooperative_groups.h>
#include <hip/hip_runtime.h>

#include <cstdlib>

namespace groups = cooperative_groups;

template <bool kRight>
__global__ void not_cooperative(int* out) {
  groups::this_grid().sync();
  if (threadIdx.x == 0) out[blockIdx.x] = 1;
}

template <bool kRight>
__global__ void not_all_come(int* out) {
  if (!kRight && blockIdx.x == 1) return;
  groups::this_grid().sync();
  if (threadIdx.x == 0) out[blockIdx.x] = 1;
}

template <bool kRight>
void run(int which) {
  int* out;
  if (hipMalloc(&out, 64) != hipSuccess) std::exit(1);
  void* arguments[] = {&out};
  if (which == 2)
    (void)hipLaunchCooperativeKernel(not_all_come<kRight>, dim3(4), dim3(64), arguments, 0, nullptr);
  else if (kRight)
    (void)hipLaunchCooperativeKernel(not_cooperative<true>, dim3(4), dim3(64), arguments, 0, nullptr);
  else
    not_cooperative<false><<<4, 64>>>(out);
  (void)hipDeviceSynchronize();
  (void)hipFree(out);
}

int main(int count, char** arguments) {
  const int which = count > 1 ? std::atoi(arguments[1]) : 1;
  run<true>(which);
  run<false>(which);
}
