// AMD's own libamdhip64 on our libhsa-runtime64: loaded by path, used through the module API.
//   amd_hip LIBRARY CODE_OBJECT
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

void* library;

// hipError_t is an int, handles are pointers: all the ABI this needs.
template <class... Arguments>
void call(const char* name, Arguments... arguments) {
  auto function = reinterpret_cast<int (*)(Arguments...)>(dlsym(library, name));
  if (!function) std::fprintf(stderr, "amd_hip: no %s\n", name), std::exit(2);
  if (const int error = function(arguments...)) std::fprintf(stderr, "amd_hip: %s: error %d\n", name, error), std::exit(1);
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) return 2;
  library = dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) return std::fprintf(stderr, "amd_hip: %s\n", dlerror()), 2;
  int devices = 0;
  call("hipGetDeviceCount", &devices);
  void *module = nullptr, *kernel = nullptr, *stream = nullptr, *before = nullptr, *after = nullptr;
  call("hipModuleLoad", &module, static_cast<const char*>(words[2]));
  call("hipModuleGetFunction", &kernel, module, "vector_add");
  constexpr uint32_t n = 100'003, block = 256;
  std::vector<float> a(n), b(n), c(n);
  for (uint32_t i = 0; i < n; ++i) a[i] = float(i), b[i] = float(i) * 0.5f;
  struct { void *a, *b, *c; uint32_t n, block; } arguments{nullptr, nullptr, nullptr, n, block};
  for (void** at : {&arguments.a, &arguments.b, &arguments.c}) call("hipMalloc", at, size_t{n} * 4);
  constexpr int kToDevice = 1, kToHost = 2;
  call("hipMemcpy", arguments.a, static_cast<const void*>(a.data()), size_t{n} * 4, kToDevice);
  call("hipMemcpy", arguments.b, static_cast<const void*>(b.data()), size_t{n} * 4, kToDevice);
  call("hipStreamCreate", &stream);
  call("hipEventCreate", &before);
  call("hipEventCreate", &after);
  call("hipEventRecord", before, stream);
  size_t bytes = sizeof arguments;
  void* packed[] = {reinterpret_cast<void*>(1), &arguments, reinterpret_cast<void*>(2), &bytes, reinterpret_cast<void*>(3)};
  for (int i = 0; i < 20; ++i)
    call("hipModuleLaunchKernel", kernel, (n + block - 1) / block, 1u, 1u, block, 1u, 1u, 0u, stream, static_cast<void**>(nullptr), static_cast<void**>(packed));
  call("hipEventRecord", after, stream);
  call("hipStreamSynchronize", stream);
  float milliseconds = 0;
  call("hipEventElapsedTime", &milliseconds, before, after);
  call("hipMemcpyAsync", static_cast<void*>(c.data()), static_cast<const void*>(arguments.c), size_t{n} * 4, kToHost, stream);
  call("hipStreamSynchronize", stream);
  for (uint32_t i = 0; i < n; ++i)
    if (c[i] != a[i] + b[i]) return std::fprintf(stderr, "amd_hip: element %u is %g\n", i, double(c[i])), 1;
  for (void* at : {arguments.a, arguments.b, arguments.c}) call("hipFree", at);
  std::printf("amd_hip: ok, %d device, %s\n", devices, milliseconds > 0 ? "timed" : "no time");
  return 0;
}
