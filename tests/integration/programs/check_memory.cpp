// Wrong accesses, each as a kernel or call with the mistake (`<false>`) and its corrected twin (`<true>`).
// Those that stop the device are run one at a time: their number is the argument.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>

constexpr int kCount = 1003, kThreads = 256, kGroups = 4;

template <bool right>
__global__ void read_one_too_far(const int* in, int* out) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < kCount) out[i] = right ? in[i] : in[i + 1];
}

template <bool right>
__global__ void write_one_too_far(const int* in, int* out) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (right ? i < kCount : i <= kCount) out[i] = in[i % kCount];
}

template <bool right>
__global__ void no_guard(const int* in, int* out) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (!right || i < kCount) out[i] = in[0];
}

template <bool right>
__global__ void stride(const int* in, int* out) {
  const int i = blockIdx.x * kThreads + threadIdx.x, at = right ? i : i * 2;
  if (i < kCount) out[i] = in[at];
}

template <bool right>
__global__ void before_the_start(const int* in, int* out) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < kCount && (!right || i > 0)) out[i] = in[i - 1];
}

// The last piece of four begins inside and ends outside, or begins outside.
template <bool right>
__global__ void by_fours(const int* in, int* out) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (right ? 4 * i + 3 < kCount : 4 * i <= kCount + 4) {
    const int4 four = reinterpret_cast<const int4*>(in)[i];
    out[i] = four.x + four.y + four.z + four.w;
  }
}

template <bool right>
__global__ void bytes_for_elements(const short* in, int* out) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < kCount) out[i] = right ? in[i] : reinterpret_cast<const int*>(in)[i];
}

template <bool right>
__global__ void lds_read(const int* in, int* out) {
  __shared__ int tile[kThreads];
  const int t = threadIdx.x;
  tile[t] = in[t];
  __syncthreads();
  out[t] = tile[right ? t : t + in[0] % 2];
}

template <bool right>
__global__ void lds_write(const int* in, int* out) {
  __shared__ int tile[kThreads];
  const int t = threadIdx.x;
  tile[right ? t : t + in[0] % 2] = in[t];
  __syncthreads();
  out[t] = tile[t / 2];
}

template <bool right>
__global__ void too_little_lds(const int* in, int* out) {
  extern __shared__ int rows[];
  const int t = threadIdx.x;
  rows[t] = in[t];
  __syncthreads();
  out[t] = rows[kThreads - 1 - t];
}

template <bool right>
__global__ void private_array(const int* in, int* out) {
  int kept[40];
  for (int k = 0; k < 40; ++k) kept[k] = in[k + threadIdx.x];
  const int at = in[threadIdx.x] % 4 + (right ? 30 : 60);
  out[threadIdx.x] = kept[at] + kept[in[0] % 40];
}

template <bool right>
__global__ void atomic_too_far(const int* in, int* out) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < kCount + !right) atomicAdd(&out[i], in[0]);
}

template <bool right>
__global__ void byte_too_far(const int* in, int* out) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  auto* bytes = reinterpret_cast<unsigned char*>(out);
  if (i == 0) bytes[4 * kCount - (right ? 1 : 0)] = (unsigned char)in[0];
}

template <bool right>
__global__ void rows_of_a_matrix(const int* in, int* out) {
  const int row = blockIdx.x, column = threadIdx.x;
  if (column < 250) out[(right ? row * 250 : row * 300) + column] = in[row];
}

template <bool right>
__global__ void pinned(const int* in, int* pinned_out) {
  const int i = threadIdx.x;
  if (right ? i < 100 : i <= 100) pinned_out[i] = in[i];
}

template <bool right>
__global__ void managed(const int* in, int* managed_out) {
  const int i = threadIdx.x;
  if (right ? i < 100 : i <= 100) managed_out[i] = in[i];
}

template <bool right>
__global__ void search_past_the_end(const int* in, int* out) {
  int at = threadIdx.x;
  while (in[at] != -1 && (!right || at < kCount - 1) && at < kCount + 60) ++at;
  out[threadIdx.x] = at;
}

// Calls of the host.
static volatile int failed;

template <bool right>
__attribute__((noinline)) void copy_too_much(int* device, int* host) {
  failed = failed + hipMemcpy(device, host, (right ? kCount : kCount + 5) * sizeof(int), hipMemcpyHostToDevice) != hipSuccess;
}

template <bool right>
__attribute__((noinline)) void fill_too_much(int* device, int*) {
  failed = failed + hipMemset(device, 0, (right ? kCount : kCount + 1) * sizeof(int)) != hipSuccess;
}

template <bool right>
__attribute__((noinline)) void freed_twice(int*, int*) {
  int* memory;
  (void)hipMalloc(&memory, 64);
  (void)hipFree(memory);
  if (!right) (void)hipFree(memory);
}

template <bool right>
__attribute__((noinline)) void freed_in_the_middle(int*, int*) {
  int* memory;
  (void)hipMalloc(&memory, 64);
  if (!right) (void)hipFree(memory + 4);
  (void)hipFree(memory);
}

template <bool right>
__attribute__((noinline)) void copied_after_its_free(int*, int* host) {
  int* memory;
  (void)hipMalloc(&memory, 64);
  if (!right) (void)hipFree(memory);
  failed = failed + (hipMemcpy(host, memory, 64, hipMemcpyDeviceToHost) != hipSuccess);
  if (right) (void)hipFree(memory);
}

template <bool right>
__attribute__((noinline)) void never_freed(int*, int*) {
  int* memory;
  (void)hipMalloc(&memory, 640);
  if (right) (void)hipFree(memory);
}

template <bool right>
__attribute__((noinline)) void pinned_never_freed(int*, int*) {
  void* memory;
  (void)hipHostMalloc(&memory, 640, 0);
  if (right) (void)hipHostFree(memory);
}

// What stops the device.
template <bool right>
__global__ void stop_null(int* out, int* nothing) {
  out[threadIdx.x] = right ? 1 : nothing[threadIdx.x];
}

template <bool right>
__global__ void stop_freed(int* out, int* freed) {
  out[threadIdx.x] = right ? 1 : freed[threadIdx.x];
}

template <bool right>
__global__ void stop_host_memory(int* out, int* host) {
  out[threadIdx.x] = right ? 1 : host[threadIdx.x];
}

template <bool right>
__global__ void stop_misaligned(int* out, int*) {
  atomicAdd(reinterpret_cast<int*>(reinterpret_cast<char*>(out) + (right ? 4 : 2)), 1);
}

template <bool right>
__global__ void stop_far_away(int* out, int*) {
  out[right ? 0 : (1 << 28) + int(threadIdx.x)] = 1;
}

template <bool right>
__global__ void stop_barrier_skipped(int* out, int*) {
  if (right || threadIdx.x < 64) __syncthreads();
  out[threadIdx.x] = 1;
}

#define BOTH(kernel, lds, from, to)                                          \
  hipLaunchKernelGGL(kernel<false>, kGroups, kThreads, lds, 0, from, to);    \
  hipLaunchKernelGGL(kernel<true>, kGroups, kThreads, kThreads * 4, 0, from, to);
#define CALLS(function)                 \
  function<false>(out, host);           \
  function<true>(out, host);

static int stopping(int number, int* out, int* host) {
  int* freed = nullptr;
  const auto run = [&](auto wrong, auto right, int* other) {
    right<<<1, kThreads>>>(out, other);
    if (hipDeviceSynchronize() != hipSuccess) return 3;
    wrong<<<1, kThreads>>>(out, other);
    return hipDeviceSynchronize() == hipSuccess ? 4 : 0;
  };
  if (hipMalloc(&freed, 4096) != hipSuccess || hipFree(freed) != hipSuccess) return 1;
  switch (number) {
    case 1: return run(stop_null<false>, stop_null<true>, nullptr);
    case 2: return run(stop_freed<false>, stop_freed<true>, freed);
    case 3: return run(stop_host_memory<false>, stop_host_memory<true>, host);
    case 4: return run(stop_misaligned<false>, stop_misaligned<true>, nullptr);
    case 5: return run(stop_far_away<false>, stop_far_away<true>, nullptr);
    case 6: return run(stop_barrier_skipped<false>, stop_barrier_skipped<true>, nullptr);
  }
  return 5;
}

int main(int count, char** arguments) {
  int *in, *out, *at_host, *moving, *host = static_cast<int*>(std::malloc(4 * (kCount + 5)));
  short* half;
  for (int i = 0; i < kCount + 5; ++i) host[i] = i * 7 + 3;
  if (hipMalloc(&in, kCount * 4) != hipSuccess || hipMalloc(&out, kCount * 4) != hipSuccess ||
      hipMalloc(&half, kCount * 2) != hipSuccess || hipHostMalloc(&at_host, 400, 0) != hipSuccess ||
      hipMallocManaged(&moving, 400) != hipSuccess)
    return 1;
  (void)hipMemcpy(in, host, kCount * 4, hipMemcpyHostToDevice);
  int result = 0;
  if (count > 1) {
    result = stopping(std::atoi(arguments[1]), out, host);
  } else {
    BOTH(read_one_too_far, 0, in, out)
    BOTH(write_one_too_far, 0, in, out)
    BOTH(no_guard, 0, in, out)
    BOTH(stride, 0, in, out)
    BOTH(before_the_start, 0, in, out)
    BOTH(by_fours, 0, in, out)
    BOTH(bytes_for_elements, 0, half, out)
    BOTH(lds_read, 0, in, out)
    BOTH(lds_write, 0, in, out)
    BOTH(too_little_lds, kThreads * 4 - 64, in, out)
    BOTH(private_array, 0, in, out)
    BOTH(atomic_too_far, 0, in, out)
    BOTH(byte_too_far, 0, in, out)
    BOTH(rows_of_a_matrix, 0, in, out)
    BOTH(pinned, 0, in, at_host)
    BOTH(managed, 0, in, moving)
    BOTH(search_past_the_end, 0, in, out)
    if (hipDeviceSynchronize() != hipSuccess) return 2;
    CALLS(copy_too_much)
    CALLS(fill_too_much)
    CALLS(freed_twice)
    CALLS(freed_in_the_middle)
    CALLS(copied_after_its_free)
    CALLS(never_freed)
    CALLS(pinned_never_freed)
  }
  for (void* memory : {(void*)in, (void*)out, (void*)half, (void*)moving}) (void)hipFree(memory);
  (void)hipHostFree(at_host);
  std::free(host);
  return result;
}
