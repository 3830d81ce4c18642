// The device side of the language: globals, constants, shared memory, templates, lambdas, virtual
// functions, recursion, the heap, printf, atomics of every type.
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

#include <cstdio>
#include <vector>

__managed__ int failures = 0;
#define EXPECT(condition)                                                                                   \
  do {                                                                                                      \
    if (!(condition)) {                                                                                     \
      if (atomicAdd(&failures, 1) < 20) printf("line %d, thread %d: %s\n", __LINE__, threadIdx.x, #condition); \
    }                                                                                                       \
  } while (0)

__constant__ int table[4] = {10, 20, 30, 40};
__device__ int counter = 5;
__device__ double history[8];
static __device__ int hidden_counter = 7;

struct Shape {
  __device__ virtual ~Shape() {}
  __device__ virtual int corners() const = 0;
};
struct Square : Shape {
  __device__ int corners() const override { return 4; }
};
struct Polygon : Shape {
  int n;
  __device__ explicit Polygon(int count) : n(count) {}
  __device__ int corners() const override { return n; }
};
__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ int twice(int x) { return 2 * x; }
__device__ int square(int x) { return x * x; }
typedef int (*Operation)(int);
__device__ Operation operations[2] = {twice, square};

__global__ void language(int argument, float3 vector, const int* list) {
  extern __shared__ int dynamic[];
  __shared__ int fixed[64];
  int t = threadIdx.x;
  dynamic[t] = t * 2;
  fixed[63 - t] = t;
  __syncthreads();
  EXPECT(dynamic[63 - t] == (63 - t) * 2 && fixed[t] == 63 - t);
  EXPECT(table[t & 3] == 10 * ((t & 3) + 1) && counter == 6 && hidden_counter == 7);
  EXPECT(argument == 42 && vector.x == 1.5f && vector.z == 3.5f && list[2] == 9);
  EXPECT(blockDim.x == 64 && gridDim.y == 2 && blockIdx.z == 0);
  EXPECT(fibonacci(7 + (t & 3)) == (t & 3 ? (t & 2 ? (t & 1 ? 55 : 34) : 21) : 13));
  EXPECT(operations[t & 1](t) == (t & 1 ? t * t : 2 * t));
  Shape* shape = t & 1 ? static_cast<Shape*>(new Polygon(t)) : new Square();
  EXPECT(shape != nullptr && shape->corners() == (t & 1 ? t : 4));
  delete shape;
  int* memory = static_cast<int*>(malloc(sizeof(int) * 16));
  EXPECT(memory != nullptr);
  for (int i = 0; i < 16; ++i) memory[i] = t * i;
  int sum = 0;
  for (int i = 0; i < 16; ++i) sum += memory[i];
  EXPECT(sum == t * 120);
  free(memory);
  float4 v = make_float4(1, 2, 3, 4) * 2.0f + make_float4(t, 0, 0, 1);
  EXPECT(v.x == 2 + t && v.w == 9 && (make_int2(3, 4) << 1) == make_int2(6, 8));
  char text[8];
  memset(text, 'x', 7);
  memcpy(text + 2, "ab", 2);
  EXPECT(text[1] == 'x' && text[2] == 'a' && text[3] == 'b' && text[6] == 'x');
  long long begin = clock64(), wall = wall_clock64();
  EXPECT(clock64() >= begin && wall_clock64() >= wall);
  if (t == 0) history[blockIdx.y] = 1.25;
}

struct Cells {
  int i[9];
  unsigned u[4];
  unsigned long long w[3];
  float f[3];
  double d[3];
  __half2 h;
};
__global__ void atomics(Cells* c) {
  int t = threadIdx.x;
  atomicAdd(&c->i[0], t);
  atomicSub(&c->i[1], t);
  atomicMin(&c->i[2], t - 10);
  atomicMax(&c->i[3], t * 3);
  atomicAnd(&c->i[4], ~(1 << (t % 8)));
  atomicOr(&c->i[5], 1 << (t % 16));
  atomicXor(&c->i[6], t);
  for (int old = c->i[7], seen; (seen = atomicCAS(&c->i[7], old, old + 2)) != old;) old = seen;
  atomicAdd_system(&c->i[8], 1);
  atomicInc(&c->u[0], 9);
  atomicDec(&c->u[1], 9);
  atomicMax(&c->u[2], 0x80000000u + t);
  atomicAdd_block(&c->u[3], 2u);
  atomicAdd(&c->w[0], 1ull << 33);
  atomicMax(&c->w[1], (unsigned long long)t << 40);
  atomicCAS(&c->w[2], 0ull, 77ull);
  atomicAdd(&c->f[0], 0.5f);
  atomicMax(&c->f[1], -1.0f * t);
  unsafeAtomicAdd(&c->f[2], 0.25f);
  atomicAdd(&c->d[0], 0.5);
  atomicMin(&c->d[1], -1.0 * t);
  unsafeAtomicAdd(&c->d[2], 0.25);
  atomicAdd(&c->h, __floats2half2_rn(1.0f, 0.5f));
}

template <typename F> __global__ void transform(int* p, F f) { p[threadIdx.x] = f(p[threadIdx.x]); }

__global__ void speak(int value) {
  if (threadIdx.x < 2)
    printf("thread %d of block %u: %d %5.2f|%-4s|%c %lld %x 100%%\n", threadIdx.x, blockIdx.x, value, 3.14159, "ab", 'z', 1ll << 40, 255);
}

int main() {
  int six = 6, list[3] = {7, 8, 9};
  (void)hipMemcpyToSymbol(HIP_SYMBOL(counter), &six, sizeof six);
  int* dlist;
  (void)hipMalloc(&dlist, sizeof list);
  (void)hipMemcpy(dlist, list, sizeof list, hipMemcpyHostToDevice);
  float3 vector = make_float3(1.5f, 2.5f, 3.5f);
  language<<<dim3(1, 2), 64, 64 * sizeof(int)>>>(42, vector, dlist);
  if (hipDeviceSynchronize() != hipSuccess) return 2;
  double history_host[8];
  (void)hipMemcpyFromSymbol(history_host, HIP_SYMBOL(history), sizeof history_host);
  if (history_host[0] != 1.25 || history_host[1] != 1.25 || history_host[2] != 0.0) ++failures, std::printf("history\n");

  Cells cells = {}, *dcells;
  cells.i[4] = 0xfff;
  cells.u[1] = 5;
  cells.f[1] = -100.0f;
  (void)hipMalloc(&dcells, sizeof cells);
  (void)hipMemcpy(dcells, &cells, sizeof cells, hipMemcpyHostToDevice);
  atomics<<<1, 128>>>(dcells);
  (void)hipMemcpy(&cells, dcells, sizeof cells, hipMemcpyDeviceToHost);
  bool same = cells.i[0] == 8128 && cells.i[1] == -8128 && cells.i[2] == -10 && cells.i[3] == 381 && cells.i[4] == 0xf00 &&
              cells.i[5] == 0xffff && cells.i[6] == 0 && cells.i[7] == 256 && cells.i[8] == 128 && cells.u[0] == 8 &&
              cells.u[2] == 0x8000007fu && cells.u[3] == 256 && cells.w[0] == 128ull << 33 && cells.w[1] == 127ull << 40 &&
              cells.w[2] == 77 && cells.f[0] == 64.0f && cells.f[1] == 0.0f && cells.f[2] == 32.0f && cells.d[0] == 64.0 &&
              cells.d[1] == -127.0 && cells.d[2] == 32.0 && __low2float(cells.h) == 128.0f && __high2float(cells.h) == 64.0f;
  // 5 down to 0 in 5 steps, to 9 in the sixth, then turns of 10: 122 % 10 = 2 steps from 9.
  same = same && cells.u[1] == 7;
  if (!same) {
    ++failures;
    for (int v : cells.i) std::printf("%d ", v);
    for (unsigned v : cells.u) std::printf("%u ", v);
    for (unsigned long long v : cells.w) std::printf("%llu ", v);
    std::printf("%g %g %g %g %g %g %g %g\n", cells.f[0], cells.f[1], cells.f[2], cells.d[0], cells.d[1], cells.d[2], __low2float(cells.h), __high2float(cells.h));
  }

  std::vector<int> numbers(64, 3);
  int *dnumbers, add = 4;
  (void)hipMalloc(&dnumbers, 256);
  (void)hipMemcpy(dnumbers, numbers.data(), 256, hipMemcpyHostToDevice);
  transform<<<1, 64>>>(dnumbers, [=] __device__(int x) { return x * 10 + add; });
  (void)hipMemcpy(numbers.data(), dnumbers, 256, hipMemcpyDeviceToHost);
  if (numbers[0] != 34 || numbers[63] != 34) ++failures, std::printf("lambda\n");

  speak<<<2, 64>>>(-5);
  if (hipDeviceSynchronize() != hipSuccess) return 3;
  std::printf("%d failures\n", failures);
  return failures != 0;
}
