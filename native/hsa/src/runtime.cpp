#include "runtime.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "arena.h"
#include "check/findings.h"
#include "check/settings.h"
#include "codeobject/architecture.h"
#include "hsa_impl.h"
#include "queues.h"
#include "settings.h"
#include "signals.h"

namespace {

std::mutex lifetime_mutex;
std::atomic<Runtime*> instance{nullptr};
unsigned references = 0;

std::string cpu_model() {
  std::string name = "CPU";
  if (FILE* file = std::fopen("/proc/cpuinfo", "r")) {
    char line[256];
    while (std::fgets(line, sizeof line, file)) {
      const char* colon = std::strchr(line, ':');
      if (std::strncmp(line, "model name", 10) == 0 && colon) {
        name = colon + 2;
        while (!name.empty() && (name.back() == '\n' || name.back() == ' ')) name.pop_back();
        break;
      }
    }
    std::fclose(file);
  }
  return name;
}

// Bytes, or with a K, M, G or T behind the number.
uint64_t bytes_from(const char* text, uint64_t otherwise) {
  if (!text) return otherwise;
  char* end = nullptr;
  uint64_t value = std::strtoull(text, &end, 10);
  if (end == text) return otherwise;
  const char* units = "KMGT";
  if (const char* unit = *end ? std::strchr(units, *end) : nullptr) value <<= 10 * (unit - units + 1);
  return value;
}

}  // namespace

uint32_t Pool::flags() const {
  switch (kind) {
    case Kind::Fine: return HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED;
    case Kind::Kernarg:
      return HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED | HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT;
    case Kind::Coarse: return HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED;
    case Kind::Group: return 0;
  }
  return 0;
}

uint64_t Pool::size() const {
  if (kind == Kind::Group) return agent->gpu->device().lds_bytes_per_cu;
  if (agent->is_gpu()) return agent->gpu->device().memory_bytes;
  return gpu::host_memory_available();
}

gpu::RangeKind Pool::range_kind() const {
  if (kind == Kind::Kernarg) return gpu::RangeKind::Kernarg;
  return agent->is_gpu() ? gpu::RangeKind::Vram : gpu::RangeKind::HostPinned;
}

std::vector<const gpu::DeviceSpec*> requested_devices(std::string& error) {
  // The grammar is that of virtual/device_names.py; docs/device.md has it as a table.
  const char* text = std::getenv("ROCM_PERF_DEVICE");
  std::string list = text && *text ? text : "auto";
  if (list == "auto") list = "virtual";
  constexpr size_t most = 16;
  std::vector<const gpu::DeviceSpec*> out;
  for (size_t at = 0; at <= list.size();) {
    const size_t comma = std::min(list.find(',', at), list.size());
    std::string name = list.substr(at, comma - at);
    at = comma + 1;
    size_t count = 1;
    if (const size_t star = name.find('*'); star != std::string::npos) {
      const std::string digits = name.substr(star + 1);
      const bool number = !digits.empty() && digits.size() <= 2 &&
                          digits.find_first_not_of("0123456789") == std::string::npos && digits[0] != '0';
      count = number ? std::stoul(digits) : 0;
      name.resize(star);
    }
    if (name == "virtual") name = "virtual:mi300x";
    const gpu::DeviceSpec* device = gpu::find_device(name);
    if (const char* architecture = gpu::not_executed(name)) {
      error = name + " cannot run programs: " + architecture + " code is not executed here";
      return {};
    }
    if (!device || count < 1 || out.size() + count > most) {
      error = "ROCM_PERF_DEVICE=" + list + " names no virtual device; there are";
      for (const gpu::DeviceSpec& known : gpu::devices()) error += " " + known.name;
      return {};
    }
    out.insert(out.end(), count, device);
  }
  return out;
}

std::string isa_name(const gpu::DeviceSpec& device) {
  return "amdgcn-amd-amdhsa--" + device.architecture + ":sramecc+:xnack-";
}

gpu::AddressSpace& Runtime::memory() {
  static gpu::AddressSpace* space = new gpu::AddressSpace;
  return *space;
}

Runtime* Runtime::get() { return instance.load(std::memory_order_acquire); }

Runtime::Runtime() : error_(wrong_setting()) {
  if (!error_.empty()) return;
  if (gpu::check::settings()) gpu::check::memory_is(memory());
  auto cpu = std::make_unique<Agent>();
  cpu->cpu_name = cpu_model();
  for (Pool::Kind kind : {Pool::Kind::Fine, Pool::Kind::Kernarg, Pool::Kind::Coarse})
    cpu->pools.push_back(std::make_unique<Pool>(cpu.get(), kind));
  agents_.push_back(std::move(cpu));
  for (const gpu::DeviceSpec* device : requested_devices(error_)) {
    auto agent = std::make_unique<Agent>();
    agent->node = uint32_t(agents_.size());
    agent->gpu = gpu::make_gpu(*device, memory());
    for (Pool::Kind kind : {Pool::Kind::Coarse, Pool::Kind::Fine, Pool::Kind::Group})
      agent->pools.push_back(std::make_unique<Pool>(agent.get(), kind));
    agents_.push_back(std::move(agent));
  }
  host_limit_ = bytes_from(std::getenv("ROCM_PERF_VIRTUAL_MEMORY"), gpu::host_memory_available());
}

hsa_status_t Runtime::acquire() {
  std::lock_guard lock(lifetime_mutex);
  if (references == UINT32_MAX) return HSA_STATUS_ERROR_REFCOUNT_OVERFLOW;
  if (references == 0) {
    std::unique_ptr<Runtime> made(new Runtime);
    if (!made->error_.empty()) {
      std::fprintf(stderr, "rocm-perf: %s\n", made->error_.c_str());
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
    tables().reset();
    instance.store(made.release(), std::memory_order_release);
    ++references;
    load_tools();
    return HSA_STATUS_SUCCESS;
  }
  ++references;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t Runtime::release() {
  std::lock_guard lock(lifetime_mutex);
  if (references == 0) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (--references) return HSA_STATUS_SUCCESS;
  unload_tools();
  destroy_all_queues();
  stop_copies();
  stop_async_handlers();
  forget_executables();
  forget_allocations();
  tables().reset();
  delete instance.exchange(nullptr);
  return HSA_STATUS_SUCCESS;
}

Agent* Runtime::agent(hsa_agent_t handle) const {
  for (const auto& agent : agents_)
    if (agent->handle().handle == handle.handle) return agent.get();
  return nullptr;
}

Pool* Runtime::pool(hsa_amd_memory_pool_t handle) const {
  for (const auto& agent : agents_)
    for (const auto& pool : agent->pools)
      if (pool->handle().handle == handle.handle) return pool.get();
  return nullptr;
}

bool Runtime::charge(Agent& agent, uint64_t bytes) {
  if (agent.is_gpu()) {
    const uint64_t before = agent.allocated.fetch_add(bytes);
    if (before + bytes > agent.gpu->device().memory_bytes || before + bytes < before) {
      agent.allocated.fetch_sub(bytes);
      return false;
    }
  }
  const uint64_t before = charged_.fetch_add(bytes);
  if (before + bytes <= host_limit_ && before + bytes >= before) return true;
  charged_.fetch_sub(bytes);
  if (agent.is_gpu()) agent.allocated.fetch_sub(bytes);
  static std::once_flag once;
  std::call_once(once, [&] {
    std::fprintf(stderr,
                 "rocm-perf: an allocation of %" PRIu64 " bytes is refused: this host can give %" PRIu64
                 " bytes to devices and %" PRIu64 " are in use (ROCM_PERF_VIRTUAL_MEMORY sets the limit)\n",
                 bytes, host_limit_, before);
  });
  return false;
}

void Runtime::discharge(Agent& agent, uint64_t bytes) {
  if (agent.is_gpu()) agent.allocated.fetch_sub(bytes);
  charged_.fetch_sub(bytes);
}

uint64_t Runtime::available(const Agent& agent) const {
  const uint64_t used = charged_.load(), host = host_limit_ > used ? host_limit_ - used : 0;
  if (!agent.is_gpu()) return host;
  const uint64_t total = agent.gpu->device().memory_bytes, taken = agent.allocated.load();
  return std::min(host, total > taken ? total - taken : 0);
}

namespace impl {
hsa_status_t hsa_init() { return Runtime::acquire(); }
hsa_status_t hsa_shut_down() { return Runtime::release(); }
}  // namespace impl

// The first virtual device that runs code built for this processor, or null. The HIP runtime asks
// for it by name.
extern "C" __attribute__((visibility("default"))) const char* rpl_device_for(const char* processor) {
  for (const gpu::DeviceSpec& device : gpu::devices())
    if (codeobject::target_rank(processor, codeobject::processor(isa_name(device))) > 0) return device.name.c_str();
  return nullptr;
}
