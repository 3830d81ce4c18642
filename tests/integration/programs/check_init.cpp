// Memory and variables that nobody wrote, each as a kernel with the mistake (`<false>`) and its corrected twin
// (`<true>`).
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kThreads = 128, kGroups = 3, kAll = kThreads * kGroups;

struct Pair {
  char tag;
  int value;
};

struct Buffers {
  const int* in;   // all of it written
  int* half;       // the first half written, all of it where it is right
  int* none;       // not written, zeros where it is right
  int* out;
  float* sums;     // as none
  Pair* pairs;     // as half, but for the bytes between the members
  Pair* more_pairs;
};

__device__ int everywhere() { return blockIdx.x * kThreads + threadIdx.x; }

template <bool right>
__global__ void scaled(Buffers b) {
  const int i = everywhere();
  b.out[i] = b.half[i] * 3;
}

template <bool right>
__global__ void copied(Buffers b) {
  const int i = everywhere();
  b.out[i] = b.half[i];
}

// Compared, and what follows is a constant.
template <bool right>
__global__ void chosen(Buffers b) {
  const int i = everywhere();
  b.out[i] = b.half[i] > 5 ? 1 : 2;
}

template <bool right>
__global__ void branched(Buffers b) {
  const int i = everywhere();
  if (b.half[i] > 5) b.out[i] = 7;
}

template <bool right>
__global__ void gathered(Buffers b) {
  const int i = everywhere();
  b.out[i] = b.in[b.half[i] & 127];
}

// The same for all work-items: a scalar load and a scalar branch.
template <bool right>
__global__ void uniform_branch(Buffers b) {
  if (b.none[0] > 3) b.out[everywhere()] = 1;
}

template <bool right>
__global__ void loop_count(Buffers b) {
  int sum = 0;
  for (int k = 0; k < b.none[1]; ++k) sum += b.in[k & 127];
  b.out[everywhere()] = sum;
}

template <bool right>
__global__ void histogram(Buffers b) {
  atomicAdd(&b.none[b.in[everywhere()] & 15], 1);
}

template <bool right>
__global__ void summed(Buffers b) {
  atomicAdd(&b.sums[threadIdx.x % 8], 1.0f);
}

template <bool right>
__global__ void locked(Buffers b) {
  if (threadIdx.x == 0) atomicCAS(&b.none[20], 0, 1);
}

template <bool right>
__global__ void accumulated(Buffers b) {
  b.sums[16 + everywhere()] += float(b.in[everywhere()]);
}

// Shared memory of which some is never written.
template <bool right>
__global__ void tile_edge(Buffers b) {
  __shared__ int tile[kThreads + 2];
  const int t = threadIdx.x;
  tile[t + 1] = b.in[everywhere()];
  if (right && t == 0) tile[0] = tile[kThreads + 1] = 0;
  __syncthreads();
  b.out[everywhere()] = tile[t] + tile[t + 2];
}

template <bool right>
__global__ void shared_counters(Buffers b) {
  __shared__ int counts[16];
  if (right && threadIdx.x < 16) counts[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&counts[b.in[everywhere()] & 15], 1);
  __syncthreads();
  if (threadIdx.x < 16) b.out[blockIdx.x * 16 + threadIdx.x] = counts[threadIdx.x];
}

template <bool right>
__global__ void partly_reduced(Buffers b) {
  __shared__ float part[kThreads];
  const int t = threadIdx.x;
  if (right || t < kThreads - 5) part[t] = float(b.in[everywhere()]);
  __syncthreads();
  for (int step = kThreads / 2; step; step /= 2) {
    if (t < step) part[t] += part[t + step];
    __syncthreads();
  }
  if (t == 0) b.out[blockIdx.x] = int(part[0]);
}

// An array of each work-item, too large for registers.
template <bool right>
__global__ void local_array(Buffers b) {
  int own[200];
  const int n = right ? 200 : 199;
  for (int k = 0; k < n; ++k) own[(k + threadIdx.x) % 200] = k;
  b.out[everywhere()] = own[(199 + threadIdx.x + b.in[everywhere()] / 50) % 200];
}

// A variable that only some ways give a value. The compiler may not see it: assembly takes it as it is.
template <bool right>
__global__ void variable(Buffers b) {
  int value;
  if constexpr (right) value = 4;
  else asm volatile("; nothing is written to %0" : "=v"(value));
  b.out[everywhere()] = value + 1;
}

template <bool right>
__global__ void scalar_variable(Buffers b) {
  int value;
  if constexpr (right) value = 4;
  else asm volatile("; nothing is written to %0" : "=s"(value));
  b.out[everywhere()] = b.in[0] + value;
}

template <bool right>
__global__ void minimum(Buffers b) {
  const int i = everywhere();
  b.out[i] = min(b.half[i], -1000000);
}

template <bool right>
__global__ void converted(Buffers b) {
  const int i = everywhere();
  b.out[i] = int(__int_as_float(b.half[i]));
}

// Through shared memory and across lanes.
template <bool right>
__global__ void shuffled(Buffers b) {
  const int i = everywhere();
  int value = b.half[i];
  for (int step = 32; step; step /= 2) value += __shfl_xor(value, step);
  if (threadIdx.x % 64 == 0) b.out[i] = value;
}

template <bool right>
__global__ void voted(Buffers b) {
  const int i = everywhere();
  const unsigned long long votes = __ballot(b.half[i] > 2);
  if (threadIdx.x % 64 == 0) b.out[i] = __popcll(votes);
}

template <bool right>
__global__ void bytes(Buffers b) {
  const int i = everywhere();
  const unsigned char* from = reinterpret_cast<const unsigned char*>(b.half);
  b.out[i] = from[i * 4 + 1];
}

template <bool right>
__global__ void doubled(Buffers b) {
  const int i = everywhere();
  const double* from = reinterpret_cast<const double*>(b.half);
  if (i < kAll / 2) reinterpret_cast<double*>(b.out)[i] = from[i] * 2.0;
}

template <bool right>
__global__ void wide(Buffers b) {
  const int i = everywhere();
  const int4* from = reinterpret_cast<const int4*>(b.half);
  if (i >= kAll / 4) return;
  const int4 four = from[i];
  b.out[i] = four.x + four.y + four.z + four.w;
}

// ---- what is right in both: nobody must be told of these

// The bytes between the members were never written; they go along.
template <bool right>
__global__ void clean_pairs(Buffers b) {
  const int i = everywhere();
  b.pairs[i].tag = char(i);
  b.pairs[i].value = i;
}
template <bool right>
__global__ void clean_pairs_copied(Buffers b) {
  const int i = everywhere();
  b.more_pairs[i] = b.pairs[i];
}
// Read, and not used.
template <bool right>
__global__ void clean_masked(Buffers b) {
  const int i = everywhere();
  const int value = b.none[200 + i % 8];
  b.out[i] = (b.in[i] < 1000000 ? 0 : value) + (value & 0);
}
template <bool right>
__global__ void clean_guarded(Buffers b) {
  const int i = everywhere();
  const bool there = i < kAll / 4;
  if (there && b.half[i] > 3) b.out[i] = 5;
}
template <bool right>
__global__ void clean_exchanged(Buffers b) {
  if (threadIdx.x == 0) atomicExch(&b.none[300 + blockIdx.x], 4);
}
template <bool right>
__global__ void clean_written_before(Buffers b) {
  const int i = everywhere();
  b.out[i] = 3;
  b.out[i] += b.in[i];
}

template <bool right>
void run() {
  Buffers b;
  std::vector<int> values(kAll);
  for (int i = 0; i < kAll; ++i) values[i] = i % 97;
  int* in;
  auto allocate = [](auto** at, size_t bytes) {
    if (hipMalloc(at, bytes) != hipSuccess) std::exit(1);
  };
  allocate(&in, sizeof(int) * kAll);
  allocate(&b.half, sizeof(int) * kAll);
  allocate(&b.none, sizeof(int) * kAll);
  allocate(&b.out, sizeof(int) * kAll);
  allocate(&b.sums, sizeof(float) * 2 * kAll);
  allocate(&b.pairs, sizeof(Pair) * kAll);
  allocate(&b.more_pairs, sizeof(Pair) * kAll);
  b.in = in;
  (void)hipMemcpy(in, values.data(), sizeof(int) * kAll, hipMemcpyHostToDevice);
  int* copy;
  allocate(&copy, sizeof(int) * kAll);
  const auto again = [&] {
    // What is not written is freed and asked for again.
    (void)hipFree(b.half), (void)hipFree(b.none), (void)hipFree(b.sums);
    allocate(&b.half, sizeof(int) * kAll);
    allocate(&b.none, sizeof(int) * kAll);
    allocate(&b.sums, sizeof(float) * 2 * kAll);
    (void)hipMemcpy(copy, values.data(), sizeof(int) * (right ? kAll : kAll / 2), hipMemcpyHostToDevice);
    (void)hipMemcpy(b.half, copy, sizeof(int) * (right ? kAll : kAll / 2), hipMemcpyDeviceToDevice);
    if (right) (void)hipMemset(b.none, 0, sizeof(int) * kAll);
    if (right) (void)hipMemset(b.sums, 0, sizeof(float) * 2 * kAll);
    (void)hipMemset(b.out, 0, sizeof(int) * kAll);
  };
  void (*all[])(Buffers) = {
      scaled<right>,         copied<right>,         chosen<right>,        branched<right>,
      gathered<right>,       uniform_branch<right>, loop_count<right>,    histogram<right>,
      summed<right>,         locked<right>,         accumulated<right>,   tile_edge<right>,
      shared_counters<right>, partly_reduced<right>, local_array<right>,  variable<right>,
      scalar_variable<right>, minimum<right>,       converted<right>,     shuffled<right>,
      voted<right>,          bytes<right>,          doubled<right>,       wide<right>,
      clean_pairs<right>,    clean_pairs_copied<right>, clean_masked<right>, clean_guarded<right>,
      clean_exchanged<right>, clean_written_before<right>};
  for (auto* kernel : all) {
    again();
    kernel<<<kGroups, kThreads>>>(b);
    (void)hipDeviceSynchronize();
  }
  for (void* at : {(void*)in, (void*)b.half, (void*)b.none, (void*)b.out, (void*)b.sums, (void*)b.pairs,
                   (void*)b.more_pairs, (void*)copy})
    (void)hipFree(at);
}

int main() {
  run<false>();
  run<true>();
  std::puts("done");
}
