// Gravity between n bodies, all pairs, positions passed through LDS; a few leapfrog steps.
// -n bodies, -s steps.
#include "check.h"

constexpr int kBlock = 128;
constexpr float kSoftening = 1e-3f, kStep = 0.01f;

__device__ void pull(float4 mine, float4 other, float3& a) {
  float dx = other.x - mine.x, dy = other.y - mine.y, dz = other.z - mine.z;
  float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + kSoftening);
  float strength = other.w * inverse * inverse * inverse;
  a.x += strength * dx;
  a.y += strength * dy;
  a.z += strength * dz;
}

__global__ void __launch_bounds__(kBlock) step(const float4* from, float4* to, float4* velocity, int n) {
  __shared__ float4 tile[kBlock];
  int i = blockIdx.x * kBlock + threadIdx.x;
  float4 mine = i < n ? from[i] : make_float4(0, 0, 0, 0);
  float3 a = make_float3(0, 0, 0);
  for (int start = 0; start < n; start += kBlock) {
    int j = start + threadIdx.x;
    tile[threadIdx.x] = j < n ? from[j] : make_float4(0, 0, 0, 0);  // mass 0 pulls nothing
    __syncthreads();
    for (int k = 0; k < kBlock; ++k) pull(mine, tile[k], a);
    __syncthreads();
  }
  if (i >= n) return;
  float4 v = velocity[i];
  v.x += a.x * kStep;
  v.y += a.y * kStep;
  v.z += a.z * kStep;
  velocity[i] = v;
  to[i] = make_float4(mine.x + v.x * kStep, mine.y + v.y * kStep, mine.z + v.z * kStep, mine.w);
}

int main(int argc, char** argv) {
  const int n = option(argc, argv, "-n", 512), steps = option(argc, argv, "-s", 3);
  Random random;
  std::vector<float4> x(n), v(n, make_float4(0, 0, 0, 0));
  for (float4& p : x) {
    p.x = random.uniform(-1, 1);
    p.y = random.uniform(-1, 1);
    p.z = random.uniform(-1, 1);
    p.w = random.uniform(0.5f, 1) / n;
  }
  struct Body { double x[3], v[3], m; };
  std::vector<Body> bodies(n), next;
  for (int i = 0; i < n; ++i) bodies[i] = {{x[i].x, x[i].y, x[i].z}, {0, 0, 0}, x[i].w};
  for (int s = 0; s < steps; ++s) {
    next = bodies;
    for (int i = 0; i < n; ++i) {
      double a[3] = {};
      for (int j = 0; j < n; ++j) {
        double d[3], r2 = kSoftening;
        for (int k = 0; k < 3; ++k) r2 += (d[k] = bodies[j].x[k] - bodies[i].x[k]) * d[k];
        double strength = bodies[j].m / (r2 * std::sqrt(r2));
        for (int k = 0; k < 3; ++k) a[k] += strength * d[k];
      }
      for (int k = 0; k < 3; ++k) {
        next[i].v[k] += a[k] * kStep;
        next[i].x[k] += next[i].v[k] * kStep;
      }
    }
    bodies.swap(next);
  }

  Buffer<float4> first(x), second(x), velocity(v);
  float4 *from = first, *to = second;
  for (int s = 0; s < steps; ++s) {
    step<<<divide_up(n, kBlock), kBlock>>>(from, to, velocity, n);
    std::swap(from, to);
  }
  HIP_CHECK(hipGetLastError());
  std::vector<float4> result(n);
  HIP_CHECK(hipMemcpy(result.data(), from, n * sizeof(float4), hipMemcpyDeviceToHost));
  std::vector<double> got, want;
  for (int i = 0; i < n; ++i) {
    got.insert(got.end(), {result[i].x, result[i].y, result[i].z});
    want.insert(want.end(), {bodies[i].x[0], bodies[i].x[1], bodies[i].x[2]});
  }
  return verdict("nbody", max_error(got, want), 1e-5);
}
