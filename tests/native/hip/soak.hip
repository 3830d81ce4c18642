// A long life in short: everything a program makes and destroys, round after round, and what memory
// the process holds meanwhile. `soak ROUNDS REPORTS MODULE [KIND...]` prints a line per report:
// rounds done, KiB resident with the page tables, seconds.
#include <hip/hip_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#define OK(call)                                                                             \
  do {                                                                                       \
    if (hipError_t status_ = (call)) {                                                       \
      std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, hipGetErrorName(status_));   \
      std::exit(1);                                                                          \
    }                                                                                        \
  } while (0)

extern "C" __global__ void bump(int* data) { data[threadIdx.x] += 1; }

namespace {

const char* module_path;
int* shared_buffer;  // 4 KiB that stay
int turn;            // the round's number

template <class T> T* device_memory(size_t bytes) {
  void* at = nullptr;
  OK(hipMalloc(&at, bytes));
  return static_cast<T*>(at);
}
size_t varied(size_t most) { return 64 + size_t(turn) * 7919 % most; }

void allocations() {
  int* device = device_memory<int>(varied(100'000));
  OK(hipMemset(device, 1, 64));
  void *host, *managed;
  OK(hipHostMalloc(&host, 60'000, 0));
  std::memset(host, 1, 60'000);
  OK(hipMallocManaged(&managed, varied(60'000)));
  std::memset(managed, 1, 64);
  OK(hipFree(device));
  OK(hipHostFree(host));
  OK(hipFree(managed));
}

void large_allocations() {
  const size_t bytes = 3 << 20;
  char* device = device_memory<char>(bytes);
  for (size_t at = 0; at < bytes; at += 65'536) OK(hipMemset(device + at, 1, 1));
  OK(hipFree(device));
}

void streams_and_events() {
  hipStream_t streams[3];
  hipEvent_t begin, end;
  int* data = device_memory<int>(1024);
  OK(hipEventCreate(&begin));
  OK(hipEventCreate(&end));
  for (hipStream_t& stream : streams) OK(hipStreamCreate(&stream));
  OK(hipEventRecord(begin, streams[0]));
  bump<<<1, 64, 0, streams[0]>>>(data);
  OK(hipEventRecord(end, streams[0]));
  OK(hipStreamWaitEvent(streams[1], end, 0));
  bump<<<1, 64, 0, streams[1]>>>(data);
  OK(hipLaunchHostFunc(streams[2], [](void*) {}, nullptr));
  for (hipStream_t stream : streams) OK(hipStreamSynchronize(stream));
  float ms = 0;
  OK(hipEventElapsedTime(&ms, begin, end));
  OK(hipEventDestroy(begin));
  OK(hipEventDestroy(end));
  for (hipStream_t stream : streams) OK(hipStreamDestroy(stream));
  OK(hipFree(data));
}

void copies() {
  std::vector<char> host(varied(20'000));
  char* device = device_memory<char>(host.size());
  OK(hipMemcpy(device, host.data(), host.size(), hipMemcpyHostToDevice));
  OK(hipMemcpyAsync(host.data(), device, host.size(), hipMemcpyDeviceToHost, nullptr));
  OK(hipDeviceSynchronize());
  OK(hipHostRegister(host.data(), host.size(), 0));
  OK(hipHostUnregister(host.data()));
  OK(hipFree(device));
}

void pools() {
  static hipStream_t stream;
  if (!stream) OK(hipStreamCreate(&stream));
  int *ours, *theirs;
  hipMemPool_t pool;
  hipMemPoolProps properties{};
  properties.allocType = hipMemAllocationTypePinned;
  properties.location = {hipMemLocationTypeDevice, 0};
  OK(hipMemPoolCreate(&pool, &properties));
  OK(hipMallocAsync(&ours, varied(100'000) + 256, stream));
  OK(hipMallocFromPoolAsync(&theirs, 50'000, pool, stream));
  bump<<<1, 64, 0, stream>>>(ours);
  bump<<<1, 64, 0, stream>>>(theirs);
  OK(hipFreeAsync(ours, stream));
  OK(hipFreeAsync(theirs, stream));
  OK(hipStreamSynchronize(stream));
  OK(hipMemPoolDestroy(pool));
}

void modules() {
  hipModule_t module;
  hipFunction_t function;
  OK(hipModuleLoad(&module, module_path));
  OK(hipModuleGetFunction(&function, module, "bump"));
  void* arguments[] = {&shared_buffer};
  OK(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr));
  OK(hipDeviceSynchronize());
  OK(hipModuleUnload(module));
}

void graphs() {
  hipStream_t stream;
  hipGraph_t graph;
  hipGraphExec_t ready;
  void* inner;
  OK(hipStreamCreate(&stream));
  OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  OK(hipMallocAsync(&inner, 4096, stream));
  OK(hipMemsetAsync(inner, 0, 4096, stream));
  bump<<<1, 64, 0, stream>>>(static_cast<int*>(inner));
  OK(hipFreeAsync(inner, stream));
  bump<<<1, 64, 0, stream>>>(shared_buffer);
  OK(hipStreamEndCapture(stream, &graph));
  OK(hipGraphInstantiate(&ready, graph, nullptr, nullptr, 0));
  for (int i = 0; i < 2; ++i) OK(hipGraphLaunch(ready, stream));
  OK(hipStreamSynchronize(stream));
  OK(hipGraphExecDestroy(ready));
  OK(hipGraphDestroy(graph));
  OK(hipStreamDestroy(stream));
}

void threads() {
  std::thread([] {
    bump<<<1, 64, 0, hipStreamPerThread>>>(shared_buffer);
    OK(hipStreamSynchronize(hipStreamPerThread));
  }).join();
}

void virtual_memory() {
  hipMemAllocationProp properties{};
  properties.type = hipMemAllocationTypePinned;
  properties.location = {hipMemLocationTypeDevice, 0};
  size_t granule;
  OK(hipMemGetAllocationGranularity(&granule, &properties, hipMemAllocationGranularityMinimum));
  void* range;
  hipMemGenericAllocationHandle_t handle;
  OK(hipMemAddressReserve(&range, granule, 0, nullptr, 0));
  OK(hipMemCreate(&handle, granule, &properties, 0));
  OK(hipMemMap(range, granule, 0, handle, 0));
  hipMemAccessDesc access{{hipMemLocationTypeDevice, 0}, hipMemAccessFlagsProtReadWrite};
  OK(hipMemSetAccess(range, granule, &access, 1));
  OK(hipMemset(range, 1, 4096));
  OK(hipMemUnmap(range, granule));
  OK(hipMemRelease(handle));
  OK(hipMemAddressFree(range, granule));
}

struct Kind {
  const char* name;
  void (*run)();
};
constexpr Kind kKinds[] = {
    {"allocations", allocations}, {"large", large_allocations}, {"streams", streams_and_events},
    {"copies", copies},           {"pools", pools},             {"modules", modules},
    {"graphs", graphs},           {"threads", threads},         {"virtual", virtual_memory},
};

long held_kib() {
  long resident = 0, tables = 0;
  char line[256];
  FILE* file = std::fopen("/proc/self/status", "r");
  while (file && std::fgets(line, sizeof line, file)) {
    std::sscanf(line, "VmRSS: %ld", &resident);
    std::sscanf(line, "VmPTE: %ld", &tables);
  }
  if (file) std::fclose(file);
  return resident + tables;
}

bool wanted(const Kind& kind, int count, char** names) {
  for (int i = 0; i < count; ++i)
    if (!std::strcmp(names[i], kind.name)) return true;
  return count == 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const int rounds = std::atoi(argv[1]), reports = std::atoi(argv[2]);
  module_path = argv[3];
  shared_buffer = device_memory<int>(4096);
  const auto start = std::chrono::steady_clock::now();
  for (turn = 1; turn <= rounds; ++turn) {
    for (const Kind& kind : kKinds)
      if (wanted(kind, argc - 4, argv + 4)) kind.run();
    if (int64_t(turn) * reports / rounds == int64_t(turn - 1) * reports / rounds) continue;
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    std::printf("%d %ld %.3f\n", turn, held_kib(), spent.count());
    std::fflush(stdout);
  }
}
