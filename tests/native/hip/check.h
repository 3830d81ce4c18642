// A list of named cases; each prints "PASS name" or what went wrong. The exit code counts failures.
#pragma once

#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

struct Case {
  const char* name;
  void (*run)();
};
inline std::vector<Case>& cases() {
  static std::vector<Case> list;
  return list;
}
inline bool& failed() {
  static bool flag = false;
  return flag;
}
struct Register {
  Register(const char* name, void (*run)()) { cases().push_back({name, run}); }
};
#define CASE(name)                                    \
  static void case_##name();                          \
  static Register register_##name(#name, case_##name); \
  static void case_##name()

#define CHECK(condition)                                                          \
  do {                                                                            \
    if (!(condition)) {                                                           \
      std::printf("  %s:%d: %s\n", __FILE__, __LINE__, #condition);               \
      failed() = true;                                                            \
    }                                                                             \
  } while (0)
#define STATUS(call, expected)                                                    \
  do {                                                                            \
    hipError_t status_ = (call);                                                  \
    if (status_ != (expected)) {                                                  \
      std::printf("  %s:%d: %s: %s, expected %s\n", __FILE__, __LINE__, #call,    \
                  hipGetErrorName(status_), hipGetErrorName(expected));           \
      failed() = true;                                                            \
    }                                                                             \
  } while (0)
#define OK(call) STATUS(call, hipSuccess)

// A kernel that takes a while: it counts, so that work behind it has to wait.
static __global__ void slow_store(int* out, int value, int turns) {
  int sum = 0;
  for (int i = 0; i < turns; ++i) sum += (i ^ value) & 3;
  *out = value + (sum == -1);
}

inline int run_cases(int argc, char** argv) {
  int failures = 0;
  for (const Case& item : cases()) {
    if (argc > 1 && std::strcmp(argv[1], item.name) != 0) continue;
    failed() = false;
    item.run();
    (void)hipGetLastError();
    std::printf("%s %s\n", failed() ? "FAIL" : "PASS", item.name);
    std::fflush(stdout);
    failures += failed();
  }
  return failures;
}
