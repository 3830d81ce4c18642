// AMD's HIP on AMD's HSA runtime over the stub thunk: everything but the GPU is real. The stub runs no
// code: a launch adds one to the first element.
//   stub_hip LIBRARY CODE_OBJECT
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
  if (!function) std::fprintf(stderr, "stub_hip: no %s\n", name), std::exit(2);
  if (const int error = function(arguments...)) std::fprintf(stderr, "stub_hip: %s: error %d\n", name, error), std::exit(1);
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) return 2;
  library = dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) return std::fprintf(stderr, "stub_hip: %s\n", dlerror()), 2;
  constexpr size_t kCount = 1000, kBytes = kCount * sizeof(int);
  void *module = nullptr, *kernel = nullptr, *streams[2] = {}, *event = nullptr;
  call("hipModuleLoad", &module, static_cast<const char*>(words[2]));
  call("hipModuleGetFunction", &kernel, module, "vector_add");
  std::vector<int> values(kCount, 7);
  void *data = nullptr, *pinned = nullptr;
  call("hipMalloc", &data, kBytes);
  call("hipHostMalloc", &pinned, kBytes, 0u);
  constexpr int kToDevice = 1, kToHost = 2;
  call("hipMemcpy", data, static_cast<const void*>(values.data()), kBytes, kToDevice);
  for (void*& stream : streams) call("hipStreamCreate", &stream);
  call("hipEventCreate", &event);
  struct { void *a, *b, *c; uint32_t n, block; } arguments{data, pinned, data, kCount, 256};
  size_t bytes = sizeof arguments;
  void* packed[] = {reinterpret_cast<void*>(1), &arguments, reinterpret_cast<void*>(2), &bytes, reinterpret_cast<void*>(3)};
  // Six launches over two streams, each after the one before.
  for (int i = 0; i < 6; ++i) {
    void* stream = streams[i % 2];
    if (i) call("hipStreamWaitEvent", stream, event, 0u);
    call("hipModuleLaunchKernel", kernel, 4u, 1u, 1u, 256u, 1u, 1u, 0u, stream, static_cast<void**>(nullptr), static_cast<void**>(packed));
    call("hipEventRecord", event, stream);
  }
  call("hipMemcpyAsync", pinned, static_cast<const void*>(data), kBytes, kToHost, streams[1]);
  for (void* stream : streams) call("hipStreamSynchronize", stream);
  call("hipMemcpy", static_cast<void*>(values.data()), static_cast<const void*>(data), kBytes, kToHost);
  call("hipFree", data);
  call("hipModuleUnload", module);
  std::printf("stub_hip: first %d, last %d, pinned %d\n", values.front(), values.back(), *static_cast<int*>(pinned));
  return 0;
}
