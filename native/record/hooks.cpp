// Queues, allocations and code objects, as they pass through the HSA tables, and when work was done.
#include <atomic>
#include <cstring>
#include <map>
#include <shared_mutex>
#include <vector>

#include "codeobject/kernel_names.h"
#include "hsa/hsa_ven_amd_loader.h"
#include "hsa/src/clock_tool.h"
#include "log.h"
#include "recorder.h"

// Only the virtual GPU's HSA has them.
#pragma weak hsa_rocm_perf_set_clock_tool
#pragma weak hsa_rocm_perf_host_ns

namespace record {

namespace {

CoreApiTable next_core;
AmdExtTable next_amd;

struct Queue {
  uint32_t agent;
  uint64_t number;
};

std::atomic<uint64_t> launches{0}, queues{0}, code_objects{0}, transfers{0};
std::shared_mutex mutex;  // of the maps
// Never destroyed: a program may end before its kernels do.
auto& kernels = *new std::map<uint64_t, std::string>;  // kernel object -> demangled name
auto& agent_of_pool = *new std::map<uint64_t, uint32_t>;

uint32_t node(hsa_agent_t agent) {
  uint32_t value = 0;
  next_core.hsa_agent_get_info_fn(agent, HSA_AGENT_INFO_NODE, &value);
  return value;
}

uint64_t address(const void* at) { return reinterpret_cast<uint64_t>(at); }

uint64_t now() { return hsa_rocm_perf_host_ns ? hsa_rocm_perf_host_ns() : 0; }

Line begin(std::string_view kind) {
  Line line(kind);
  line.number("t", thread_id()).number("c", correlation());
  return line;
}

void on_packets(const void* list, uint64_t count, uint64_t, void* data, hsa_amd_queue_intercept_packet_writer writer) {
  const Queue& queue = *static_cast<const Queue*>(data);
  std::vector<hsa_kernel_dispatch_packet_t> packets(count);
  std::memcpy(packets.data(), list, count * sizeof packets[0]);
  for (hsa_kernel_dispatch_packet_t& p : packets) {
    if ((p.header & 0xff) != HSA_PACKET_TYPE_KERNEL_DISPATCH) continue;
    const uint64_t number = ++launches;
    std::string name;
    {
      std::shared_lock lock(mutex);
      if (const auto found = kernels.find(p.kernel_object); found != kernels.end()) name = found->second;
    }
    const Selection::Answer wanted = selection().of(queue.agent, name);
    p.reserved2 = number | (wanted.counters ? kWantCounters : 0) | (wanted.att ? kWantAtt : 0);
    const unsigned dims = p.setup & 3;
    const uint32_t workgroup[3] = {p.workgroup_size_x, dims > 1 ? p.workgroup_size_y : 1u,
                                   dims > 2 ? p.workgroup_size_z : 1u};
    const uint32_t grid[3] = {p.grid_size_x, dims > 1 ? p.grid_size_y : 1u, dims > 2 ? p.grid_size_z : 1u};
    Line line = begin("dispatch");
    // A program that writes packets itself has no streams: they go by their device.
    line.number("d", number)
        .number("s", correlation() ? stream() : queue.agent - 1)
        .number("q", queue.number)
        .number("agent", queue.agent);
    line.number("k", p.kernel_object).three("w", workgroup).three("g", grid);
    line.number("lds", p.group_segment_size).number("scratch", p.private_segment_size);
    line.number("want", (wanted.counters ? 1 : 0) | (wanted.att ? 2 : 0)).write();
  }
  writer(packets.data(), count);
}

hsa_status_t queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                          void (*on_error)(hsa_status_t, hsa_queue_t*, void*), void* data, uint32_t private_bytes,
                          uint32_t group_bytes, hsa_queue_t** queue) {
  const hsa_status_t status =
      next_amd.hsa_amd_queue_intercept_create_fn(agent, size, type, on_error, data, private_bytes, group_bytes, queue);
  if (status != HSA_STATUS_SUCCESS) return status;
  // Lives as long as the process: packets may still come through while a queue is destroyed.
  auto* known = new Queue{node(agent), ++queues};
  next_amd.hsa_amd_queue_intercept_register_fn(*queue, on_packets, known);
  return status;
}

uint64_t submitted(const rocm_perf_transfer* t) {
  const uint64_t number = ++transfers;
  Line line = begin(t->from ? "copy" : "fill");
  line.number("n", number).number("to", address(t->to)).number("ta", node(t->to_agent)).number("size", t->bytes);
  line.number("s", correlation() ? stream() : 0);
  if (t->from) line.number("from", address(t->from)).number("fa", node(t->from_agent));
  else line.number("groups", t->fill_groups).number("rows", t->rows);
  line.write();
  return number;
}

void transferred(uint64_t number, uint64_t start, uint64_t end) {
  Line("transferred").number("n", number).number("b", start).number("e", end).write();
}

void dispatched(const hsa_kernel_dispatch_packet_t* packet, uint64_t start, uint64_t end) {
  Line("dispatched").number("d", packet->reserved2 & kNumber).number("b", start).number("e", end).write();
}

hsa_status_t pool_allocate(hsa_amd_memory_pool_t pool, size_t size, uint32_t flags, void** out) {
  const hsa_status_t status = next_amd.hsa_amd_memory_pool_allocate_fn(pool, size, flags, out);
  if (status == HSA_STATUS_SUCCESS) {
    std::shared_lock lock(mutex);
    const auto found = agent_of_pool.find(pool.handle);
    begin("alloc")
        .number("b", now())
        .number("agent", found == agent_of_pool.end() ? 0 : found->second)
        .number("at", address(*out))
        .number("size", size)
        .write();
  }
  return status;
}

hsa_status_t pool_free(void* at) {
  begin("free").number("b", now()).number("at", address(at)).write();
  return next_amd.hsa_amd_memory_pool_free_fn(at);
}

template <class T>
T loaded_info(hsa_loaded_code_object_t loaded, hsa_ven_amd_loader_loaded_code_object_info_t what) {
  T value{};
  hsa_ven_amd_loader_loaded_code_object_get_info(loaded, what, &value);
  return value;
}

hsa_status_t on_code_object(hsa_executable_t, hsa_loaded_code_object_t loaded, void* data) {
  const auto info = [&]<class T>(T, auto what) { return loaded_info<T>(loaded, what); };
  const uint64_t number = ++code_objects;
  const uint64_t base = info(uint64_t{}, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_BASE);
  const uint64_t size = info(uint64_t{}, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_SIZE);
  std::string uri(info(uint32_t{}, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI_LENGTH), '\0');
  hsa_ven_amd_loader_loaded_code_object_get_info(loaded, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI, uri.data());
  const std::string file = base && size ? save("code", reinterpret_cast<const void*>(base), size) : "";
  begin("code")
      .number("id", number)
      .number("agent", node(info(hsa_agent_t{}, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_AGENT)))
      .number("base", info(uint64_t{}, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_BASE))
      .number("size", info(uint64_t{}, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_SIZE))
      .integer("delta", info(int64_t{}, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_DELTA))
      .string("uri", uri)
      .string("file", file)
      .write();
  *static_cast<uint64_t*>(data) = number;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t on_symbol(hsa_executable_t, hsa_executable_symbol_t symbol, void*) {
  const auto get = [&](hsa_executable_symbol_info_t what, void* value) {
    next_core.hsa_executable_symbol_get_info_fn(symbol, what, value);
  };
  hsa_symbol_kind_t kind{};
  get(HSA_EXECUTABLE_SYMBOL_INFO_TYPE, &kind);
  if (kind != HSA_SYMBOL_KIND_KERNEL) return HSA_STATUS_SUCCESS;
  uint32_t length = 0;
  get(HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH, &length);
  std::string name(length, '\0');
  get(HSA_EXECUTABLE_SYMBOL_INFO_NAME, name.data());
  name = codeobject::kernel_of(std::move(name));
  uint64_t object = 0;
  get(HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &object);
  const std::string shown = codeobject::demangle(name);
  begin("symbol").number("k", object).string("name", name).string("shown", shown).write();
  std::unique_lock lock(mutex);
  kernels[object] = shown;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t freeze(hsa_executable_t executable, const char* options) {
  const hsa_status_t status = next_core.hsa_executable_freeze_fn(executable, options);
  if (status != HSA_STATUS_SUCCESS) return status;
  uint64_t last = 0;
  hsa_ven_amd_loader_executable_iterate_loaded_code_objects(executable, on_code_object, &last);
  next_core.hsa_executable_iterate_symbols_fn(executable, on_symbol, nullptr);
  return status;
}

hsa_status_t on_pool(hsa_amd_memory_pool_t pool, void* data) {
  agent_of_pool[pool.handle] = *static_cast<uint32_t*>(data);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t on_agent(hsa_agent_t agent, void*) {
  uint32_t number = node(agent);
  hsa_device_type_t type{};
  next_core.hsa_agent_get_info_fn(agent, HSA_AGENT_INFO_DEVICE, &type);
  char name[65] = {};
  next_core.hsa_agent_get_info_fn(agent, HSA_AGENT_INFO_NAME, name);
  Line("agent").number("node", number).number("gpu", type == HSA_DEVICE_TYPE_GPU).string("name", name).write();
  next_amd.hsa_amd_agent_iterate_memory_pools_fn(agent, on_pool, &number);
  return HSA_STATUS_SUCCESS;
}

}  // namespace

void hook_tables(HsaApiTable* given) {
  next_core = *given->core_;
  next_amd = *given->amd_ext_;
  next_core.hsa_iterate_agents_fn(on_agent, nullptr);
  static const rocm_perf_clock_tool tool{config().counters, submitted, transferred, dispatched};
  if (hsa_rocm_perf_set_clock_tool) hsa_rocm_perf_set_clock_tool(&tool);
  given->core_->hsa_queue_create_fn = queue_create;
  given->core_->hsa_executable_freeze_fn = freeze;
  given->amd_ext_->hsa_amd_memory_pool_allocate_fn = pool_allocate;
  given->amd_ext_->hsa_amd_memory_pool_free_fn = pool_free;
}

}  // namespace record
