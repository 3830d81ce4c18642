#include "runtime.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <unistd.h>

#include "entry.h"
#include "hostcall.h"
#include "memory_pool.h"
#include "stream.h"
#include "thread_state.h"

namespace hip {

ThreadState& thread_state() {
  thread_local ThreadState state;
  return state;
}

namespace {

template <class T>
T agent_info(hsa_agent_t agent, int attribute, T fallback = {}) {
  T value = fallback;
  if (hsa_agent_get_info(agent, static_cast<hsa_agent_info_t>(attribute), &value) != HSA_STATUS_SUCCESS)
    return fallback;
  return value;
}

std::string agent_text(hsa_agent_t agent, int attribute) {
  char text[128] = {};
  hsa_agent_get_info(agent, static_cast<hsa_agent_info_t>(attribute), text);
  return text;
}

hsa_status_t collect_agent(hsa_agent_t agent, void* data) {
  auto& agents = *static_cast<std::vector<hsa_agent_t>*>(data);
  agents.push_back(agent);
  return HSA_STATUS_SUCCESS;
}

struct Pools {
  hsa_amd_memory_pool_t coarse{}, fine{}, kernarg{};
};

hsa_status_t collect_pool(hsa_amd_memory_pool_t pool, void* data) {
  auto& pools = *static_cast<Pools*>(data);
  hsa_amd_segment_t segment{};
  uint32_t flags = 0;
  hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment);
  if (segment != HSA_AMD_SEGMENT_GLOBAL) return HSA_STATUS_SUCCESS;
  hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
  if ((flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT) && !pools.kernarg.handle) pools.kernarg = pool;
  if ((flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED) && !pools.fine.handle) pools.fine = pool;
  if ((flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED) && !pools.coarse.handle) pools.coarse = pool;
  return HSA_STATUS_SUCCESS;
}

Pools pools_of(hsa_agent_t agent) {
  Pools pools;
  hsa_amd_agent_iterate_memory_pools(agent, collect_pool, &pools);
  if (!pools.fine.handle) pools.fine = pools.coarse;
  if (!pools.coarse.handle) pools.coarse = pools.fine;
  if (!pools.kernarg.handle) pools.kernarg = pools.fine;
  return pools;
}

hsa_status_t first_isa(hsa_isa_t isa, void* data) {
  uint32_t length = 0;
  hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME_LENGTH, &length);
  std::string name(length, '\0');
  hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME, name.data());
  name.resize(std::strlen(name.c_str()));
  *static_cast<std::string*>(data) = name;
  return HSA_STATUS_INFO_BREAK;
}

// "0,2" in HIP_VISIBLE_DEVICES names the agents to show, in that order; a bad entry ends the list.
std::vector<size_t> visible_devices(size_t count) {
  std::vector<size_t> shown;
  const char* text = std::getenv("HIP_VISIBLE_DEVICES");
  if (!text || !*text) text = std::getenv("CUDA_VISIBLE_DEVICES");
  if (!text || !*text) {
    for (size_t i = 0; i < count; ++i) shown.push_back(i);
    return shown;
  }
  while (*text) {
    char* end = nullptr;
    long index = std::strtol(text, &end, 10);
    if (end == text || index < 0 || size_t(index) >= count) break;
    shown.push_back(size_t(index));
    if (*end != ',') break;
    text = end + 1;
  }
  return shown;
}

// Work a program started and never waited for ends with it, at the latest after this long.
constexpr int kExitWaitMs = 10'000;

// False when some of the work has not ended in time.
bool settle(Device& device) {
  // Another thread may hold the lock for ever: it is of no use to wait for it.
  std::unique_lock lock(device.mutex, std::try_to_lock);
  if (!lock) return true;
  std::vector<CompletionRef> pending;
  for (Stream* stream : device.streams) pending.push_back(stream->last);
  for (Stream* stream : device.branch_streams) pending.push_back(stream->last);
  if (device.null_stream) pending.push_back(device.null_stream->last);
  lock.unlock();
  const uint64_t slice = runtime().timestamp_hz / 100;
  for (int left = kExitWaitMs / 10; left > 0; --left) {
    std::erase_if(pending, [](const CompletionRef& work) { return !work.pending(); });
    if (pending.empty() || device.fault_status() != hipSuccess) return true;
    hsa_signal_wait_scacquire(pending.back()->signal, HSA_SIGNAL_CONDITION_LT, 1, slice, HSA_WAIT_STATE_BLOCKED);
  }
  return false;
}

// A program whose kernel faulted must not look successful, even if it never asked.
void exit_check(int status, void*) {
  if (status != 0 || forked()) return;
  for (auto& device : runtime().devices)
    if (!settle(*device))
      std::fprintf(stderr,
                   "rocm-perf: the program ended %d s ago and its kernels have not: "
                   "what they would have done is not known\n",
                   kExitWaitMs / 1000);
  for (auto& device : runtime().devices) {
    if (device->fault_status() == hipSuccess) continue;
    std::fflush(nullptr);
    _exit(1);
  }
}

// Nor must one whose settings were wrong; hsa_init, which takes no arguments, has said so.
void refused_exit(int status, void*) {
  if (status != 0 || forked()) return;
  std::fflush(nullptr);
  _exit(2);
}

void start(Runtime& rt) {
  pthread_atfork(nullptr, nullptr, [] { g_forked = true; });
  if (const hsa_status_t status = hsa_init(); status != HSA_STATUS_SUCCESS) {
    rt.status = hipErrorNoDevice;
    if (status == HSA_STATUS_ERROR_INVALID_ARGUMENT) on_exit(refused_exit, nullptr);
    return;
  }
  hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &rt.timestamp_hz);
  if (!rt.timestamp_hz) rt.timestamp_hz = 1'000'000'000;
  std::vector<hsa_agent_t> agents, gpus;
  hsa_iterate_agents(collect_agent, &agents);
  for (hsa_agent_t agent : agents) {
    auto type = agent_info<hsa_device_type_t>(agent, HSA_AGENT_INFO_DEVICE);
    if (type == HSA_DEVICE_TYPE_CPU && !rt.cpu.handle) rt.cpu = agent;
    if (type == HSA_DEVICE_TYPE_GPU) gpus.push_back(agent);
  }
  Pools host = pools_of(rt.cpu);
  rt.host_fine = host.fine;
  rt.host_coarse = host.coarse;
  rt.kernarg = host.kernarg;
  for (size_t gpu : visible_devices(gpus.size())) {
    auto device = std::make_unique<Device>();
    device->index = int(rt.devices.size());
    device->agent = gpus[gpu];
    Pools pools = pools_of(device->agent);
    device->coarse = pools.coarse;
    device->fine = pools.fine;
    hsa_agent_iterate_isas(device->agent, first_isa, &device->isa);
    size_t dash = device->isa.rfind("--");
    device->target =
        dash == std::string::npos ? agent_text(device->agent, HSA_AGENT_INFO_NAME) : device->isa.substr(dash + 2);
    device->wave_limits = residency::find(device->target.substr(0, device->target.find(':')));
    device->product = agent_text(device->agent, HSA_AMD_AGENT_INFO_PRODUCT_NAME);
    device->simds_per_cu = agent_info<uint32_t>(device->agent, HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU, 4);
    uint32_t waves = agent_info<uint32_t>(device->agent, HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU, 32);
    if (device->simds_per_cu) device->waves_per_simd = waves / device->simds_per_cu;
    device->xccs = agent_info<uint32_t>(device->agent, HSA_AMD_AGENT_INFO_NUM_XCC, 1);
    size_t granule = 0;
    hsa_amd_memory_pool_get_info(device->coarse, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE, &granule);
    if (granule) device->memory_granule = granule;
    device->limits[hipLimitStackSize] = 1024;
    device->limits[hipLimitPrintfFifoSize] = 1 << 20;
    device->limits[hipLimitMallocHeapSize] = 8 << 20;
    fill_properties(*device);
    device->peers.resize(gpus.size());
    rt.agents.push_back(device->agent);
    rt.devices.push_back(std::move(device));
  }
  if (rt.devices.empty()) {
    rt.status = hipErrorNoDevice;
    return;
  }
  for (auto& device : rt.devices) {
    device->null_stream = new Stream(*device, hipStreamDefault, 0);
    device->null_stream->legacy = true;
    device->null_stream->id = uint64_t(device->index);
    device->default_pool = std::make_unique<MemoryPool>();
    device->default_pool->device = device.get();
    device->current_pool = device->default_pool.get();
  }
  hsa_amd_profiling_async_copy_enable(true);
  on_exit(exit_check, nullptr);
}

}  // namespace

Runtime& runtime() {
  // Never destroyed: threads of HSA may call back while static destructors run.
  static Runtime* instance = [] {
    auto* rt = new Runtime;
    start(*rt);
    return rt;
  }();
  return *instance;
}

Device* device_at(int index) {
  auto& devices = runtime().devices;
  if (index < 0 || size_t(index) >= devices.size()) return nullptr;
  return devices[size_t(index)].get();
}

uint64_t next_stream_id() {
  static std::atomic<uint64_t> next{runtime().devices.size()};
  return next++;
}

Device* current_device() { return device_at(thread_state().device); }

hipError_t check_device(Device*& device) {
  device = current_device();
  if (!device) {
    hipError_t status = runtime().status;
    return status == hipSuccess ? hipErrorInvalidDevice : status;
  }
  return device->fault_status();
}

void Device::report_fault(hsa_status_t status) {
  hipError_t error = hipErrorLaunchFailure;
  switch (int(status)) {
    case HSA_STATUS_ERROR_MEMORY_FAULT:
    case HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION:
    case HSA_STATUS_ERROR_INVALID_ALLOCATION: error = hipErrorIllegalAddress; break;
    case HSA_STATUS_ERROR_OUT_OF_RESOURCES:
    case HSA_STATUS_ERROR_OUT_OF_REGISTERS: error = hipErrorLaunchOutOfResources; break;
    case HSA_STATUS_ERROR_INVALID_PACKET_FORMAT: error = hipErrorInvalidConfiguration; break;
    default:
      if (assert_seen.load()) error = hipErrorAssert;
  }
  int none = hipSuccess;
  fault.compare_exchange_strong(none, error);
}

hipError_t error_from_hsa(hsa_status_t status) {
  switch (int(status)) {
    case HSA_STATUS_SUCCESS:
    case HSA_STATUS_INFO_BREAK: return hipSuccess;
    case HSA_STATUS_ERROR_OUT_OF_RESOURCES: return hipErrorOutOfMemory;
    case HSA_STATUS_ERROR_INVALID_ALLOCATION: return hipErrorOutOfMemory;
    case HSA_STATUS_ERROR_INVALID_ARGUMENT: return hipErrorInvalidValue;
    case HSA_STATUS_ERROR_INVALID_ISA:
    case HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS: return hipErrorNoBinaryForGpu;
    case HSA_STATUS_ERROR_INVALID_CODE_OBJECT: return hipErrorInvalidImage;
    case HSA_STATUS_ERROR_NOT_SUPPORTED: return hipErrorNotSupported;
    case HSA_STATUS_ERROR_NOT_INITIALIZED: return hipErrorNotInitialized;
    default: return hipErrorUnknown;
  }
}

hipError_t wait(const CompletionRef& completion) {
  if (!completion) return hipSuccess;
  Device* device = completion->device;
  // Sliced, so that a fault on another queue of the device ends the wait as well.
  const uint64_t slice = runtime().timestamp_hz / 20;
  while (hsa_signal_wait_scacquire(completion->signal, HSA_SIGNAL_CONDITION_LT, 1, slice, HSA_WAIT_STATE_BLOCKED) >=
         1) {
    if (device && device->fault_status() != hipSuccess) return device->fault_status();
  }
  return device ? device->fault_status() : hipSuccess;
}

}  // namespace hip
