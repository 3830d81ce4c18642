// What every example shares: error checks, device buffers, numbers to work on, the verdict.
#pragma once

#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define HIP_CHECK(call)                                                                       \
  do {                                                                                        \
    hipError_t status_ = (call);                                                              \
    if (status_ != hipSuccess) {                                                              \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                      \
                   hipGetErrorString(status_));                                               \
      std::exit(2);                                                                           \
    }                                                                                         \
  } while (0)

// Memory on the device for `count` values, freed at the end of its scope.
template <typename T> class Buffer {
 public:
  explicit Buffer(size_t count) : count_(count) { HIP_CHECK(hipMalloc(&data_, count * sizeof(T))); }
  explicit Buffer(const std::vector<T>& host) : Buffer(host.size()) { upload(host); }
  ~Buffer() { (void)hipFree(data_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  operator T*() const { return data_; }
  void upload(const std::vector<T>& host) {
    HIP_CHECK(hipMemcpy(data_, host.data(), count_ * sizeof(T), hipMemcpyHostToDevice));
  }
  void clear() { HIP_CHECK(hipMemset(data_, 0, count_ * sizeof(T))); }
  std::vector<T> download() const {
    std::vector<T> host(count_);
    HIP_CHECK(hipMemcpy(host.data(), data_, count_ * sizeof(T), hipMemcpyDeviceToHost));
    return host;
  }

 private:
  T* data_ = nullptr;
  size_t count_;
};

// The same numbers on every machine and in every run.
class Random {
 public:
  explicit Random(uint64_t seed = 1) : state_(seed * 0x9E3779B97F4A7C15ull + 1) {}
  uint32_t bits() {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<uint32_t>(state_ >> 33);
  }
  float uniform(float low, float high) { return low + (high - low) * (bits() / 2147483648.0f); }
  std::vector<float> values(size_t count, float low = -1.0f, float high = 1.0f) {
    std::vector<float> v(count);
    for (float& x : v) x = uniform(low, high);
    return v;
  }

 private:
  uint64_t state_;
};

// `-n 4096` and the like; the default where the option is not given.
inline long option(int argc, char** argv, const char* name, long fallback) {
  for (int i = 1; i + 1 < argc; ++i)
    if (std::strcmp(argv[i], name) == 0) return std::strtol(argv[i + 1], nullptr, 0);
  return fallback;
}

template <typename A, typename B> double max_error(const A& got, const B& want) {
  double worst = got.size() == want.size() ? 0.0 : INFINITY;
  for (size_t i = 0; i < got.size() && i < want.size(); ++i) {
    double error = std::fabs(static_cast<double>(got[i]) - static_cast<double>(want[i]));
    if (!(error <= worst)) worst = std::isnan(error) ? INFINITY : error;
  }
  return worst;
}

// Print one line, return 0 or 1; main returns the sum.
inline int verdict(const char* name, double error, double tolerance) {
  bool pass = error <= tolerance;
  std::printf("%-24s %s  max error %.3g (tolerance %.3g)\n", name, pass ? "PASS" : "FAIL", error, tolerance);
  return pass ? 0 : 1;
}

inline int divide_up(long a, long b) { return static_cast<int>((a + b - 1) / b); }
