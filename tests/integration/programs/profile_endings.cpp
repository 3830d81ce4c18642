// A launch, and then an end of the kind asked for.
#include <hip/hip_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

__global__ void mark(int* out) { out[threadIdx.x] = threadIdx.x; }

__global__ void take_time(int* out) {
  for (int i = 0; i < 20000; ++i) __hip_atomic_fetch_add(out, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

int* launch() {
  int* out = nullptr;
  if (hipMalloc(&out, 256)) std::exit(9);
  mark<<<1, 64>>>(out);
  if (hipDeviceSynchronize()) std::exit(9);
  return out;
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "well";
  if (!std::strcmp(how, "idle")) return 0;
  if (!std::strcmp(how, "children")) {  // one after the other, each a process of its own
    for (int i = 0; i < 2; ++i) {
      if (pid_t child = fork()) {
        waitpid(child, nullptr, 0);
      } else {
        execl(argv[0], argv[0], "well", nullptr);
        _exit(8);
      }
    }
  }
  int* out = launch();
  if (!std::strcmp(how, "fork")) {  // the child does not touch the device
    if (pid_t child = fork()) waitpid(child, nullptr, 0);
    else _exit(0);
  }
  if (!std::strcmp(how, "leave")) {  // it does not wait for its kernel
    take_time<<<1, 64>>>(out);
    return 0;
  }
  if (!std::strcmp(how, "code")) return 7;
  if (!std::strcmp(how, "crash")) std::raise(SIGSEGV);
  if (!std::strcmp(how, "quick")) _exit(0);
  if (!std::strcmp(how, "fault")) {
    mark<<<1, 64>>>(reinterpret_cast<int*>(64));
    return hipDeviceSynchronize() != hipSuccess ? 5 : 0;
  }
  if (!std::strcmp(how, "sleep")) {
    std::puts("ready");
    std::fflush(stdout);
    sleep(60);
  }
  if (!std::strcmp(how, "threads")) {
    std::thread other([] { launch(); });
    other.join();
  }
  return hipFree(out);
}
