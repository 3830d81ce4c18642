// What the programs of the catalogue share: memory on the device, and values that look like data.
#pragma once
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

inline void must(hipError_t error) {
  if (error == hipSuccess) return;
  std::fprintf(stderr, "%s\n", hipGetErrorString(error));
  std::exit(1);
}

template <class T>
T* upload(const std::vector<T>& values) {
  T* device = nullptr;
  must(hipMalloc(&device, values.size() * sizeof(T)));
  must(hipMemcpy(device, values.data(), values.size() * sizeof(T), hipMemcpyHostToDevice));
  return device;
}

template <class T>
std::vector<T> download(const T* device, size_t count) {
  std::vector<T> values(count);
  must(hipMemcpy(values.data(), device, count * sizeof(T), hipMemcpyDeviceToHost));
  return values;
}

// Steps through a small range in an order of its own; the same in every run.
template <class T>
std::vector<T> pattern(size_t count, int range, T scale, T offset) {
  std::vector<T> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<T>(i * 7919 % range) * scale + offset;
  return values;
}

template <class T>
void print_sum(const char* name, const std::vector<T>& values) {
  double sum = 0.0, turned = 0.0;
  for (size_t i = 0; i < values.size(); ++i) {
    sum += static_cast<double>(values[i]);
    turned += static_cast<double>(values[i]) * static_cast<double>(i % 13);
  }
  std::printf("%s %.6f %.6f\n", name, sum, turned);
}
