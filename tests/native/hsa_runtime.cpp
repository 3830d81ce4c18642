// The HSA library without kernels: life time, signals, barriers, memory, copies, virtual memory.
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "hsa/amd_hsa_signal.h"
#include "hsa/hsa_ven_amd_loader.h"
#include "hsa_machine.h"

namespace {

void life_time(const char*) {
  hsa_signal_t signal;
  CHECK(hsa_shut_down() == HSA_STATUS_ERROR_NOT_INITIALIZED);
  CHECK(hsa_signal_create(1, 0, nullptr, &signal) == HSA_STATUS_ERROR_NOT_INITIALIZED);
  OK(hsa_init());
  OK(hsa_init());
  OK(hsa_shut_down());
  OK(hsa_signal_create(1, 0, nullptr, &signal));
  OK(hsa_signal_destroy(signal));
  OK(hsa_shut_down());
  CHECK(hsa_shut_down() == HSA_STATUS_ERROR_NOT_INITIALIZED);
  for (int i = 0; i < 3; ++i) Machine again;
}

void start_up(const char*) {
  const auto start = std::chrono::steady_clock::now();
  OK(hsa_init());
  const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  std::printf("start-up %.2f ms\n", ms);
  OK(hsa_shut_down());
}

void agents(const char*) {
  Machine m;
  char name[64], product[64], isa_name[64];
  OK(hsa_agent_get_info(m.gpu, HSA_AGENT_INFO_NAME, name));
  OK(hsa_agent_get_info(m.gpu, hsa_agent_info_t(HSA_AMD_AGENT_INFO_PRODUCT_NAME), product));
  uint32_t units = 0, wave = 0, xccs = 0;
  OK(hsa_agent_get_info(m.gpu, hsa_agent_info_t(HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT), &units));
  OK(hsa_agent_get_info(m.gpu, hsa_agent_info_t(HSA_AMD_AGENT_INFO_NUM_XCC), &xccs));
  OK(hsa_agent_get_info(m.gpu, HSA_AGENT_INFO_WAVEFRONT_SIZE, &wave));
  hsa_isa_t isa;
  OK(hsa_agent_get_info(m.gpu, HSA_AGENT_INFO_ISA, &isa));
  OK(hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME, isa_name));
  hsa_isa_t same;
  OK(hsa_isa_from_name(isa_name, &same));
  CHECK(same.handle == isa.handle);
  std::printf("%s %s %u %u %u %s\n", name, product, units, xccs, wave, isa_name);
  CHECK(hsa_agent_get_info({12345}, HSA_AGENT_INFO_NAME, name) == HSA_STATUS_ERROR_INVALID_AGENT);
  CHECK(hsa_agent_get_info(m.gpu, hsa_agent_info_t(0x7777), name) == HSA_STATUS_ERROR_INVALID_ARGUMENT);
  int gpus = 0;
  OK(hsa_iterate_agents(
      [](hsa_agent_t agent, void* data) {
        hsa_device_type_t type;
        OK(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
        *static_cast<int*>(data) += type == HSA_DEVICE_TYPE_GPU;
        return HSA_STATUS_SUCCESS;
      },
      &gpus));
  std::printf("gpus %d\n", gpus);
}

void signals(const char*) {
  Machine m;
  hsa_signal_t s;
  OK(hsa_signal_create(10, 0, nullptr, &s));
  hsa_signal_add_relaxed(s, 5);
  hsa_signal_subtract_scacq_screl(s, 3);
  CHECK(hsa_signal_load_relaxed(s) == 12);
  CHECK(hsa_signal_exchange_scacquire(s, 6) == 12);
  CHECK(hsa_signal_cas_screlease(s, 5, 1) == 6 && hsa_signal_load_relaxed(s) == 6);
  CHECK(hsa_signal_cas_scacq_screl(s, 6, 1) == 6 && hsa_signal_load_scacquire(s) == 1);
  hsa_signal_or_relaxed(s, 6);
  hsa_signal_and_relaxed(s, 5);
  hsa_signal_xor_relaxed(s, 1);
  CHECK(hsa_signal_load_acquire(s) == 4);
  CHECK(hsa_signal_wait_scacquire(s, HSA_SIGNAL_CONDITION_LT, 4, 3'000'000, HSA_WAIT_STATE_BLOCKED) == 4);  // times out
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    hsa_signal_store_screlease(s, -1);
  });
  CHECK(hsa_signal_wait_scacquire(s, HSA_SIGNAL_CONDITION_LT, 0, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) == -1);
  later.join();
  // A value only the device would change: nobody announces it.
  volatile hsa_signal_value_t* value;
  OK(hsa_amd_signal_value_pointer(s, &value));
  std::thread silent([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    __atomic_store_n(value, 99, __ATOMIC_RELEASE);
  });
  CHECK(hsa_signal_wait_scacquire(s, HSA_SIGNAL_CONDITION_EQ, 99, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) == 99);
  silent.join();
  hsa_signal_t two[2] = {s, {}};
  OK(hsa_signal_create(0, 0, nullptr, &two[1]));
  hsa_signal_condition_t conditions[2] = {HSA_SIGNAL_CONDITION_EQ, HSA_SIGNAL_CONDITION_GTE};
  hsa_signal_value_t values[2] = {1, 7}, seen = 0;
  std::thread other([&] { hsa_signal_store_relaxed(two[1], 8); });
  CHECK(hsa_amd_signal_wait_any(2, two, conditions, values, UINT64_MAX, HSA_WAIT_STATE_BLOCKED, &seen) == 1 && seen == 8);
  other.join();
  CHECK(hsa_amd_signal_wait_any(2, two, conditions, values + 0, 1'000'000, HSA_WAIT_STATE_BLOCKED, &seen) == 1);
  OK(hsa_signal_destroy(two[1]));
  OK(hsa_signal_destroy(s));
  CHECK(hsa_signal_destroy(s) == HSA_STATUS_ERROR_INVALID_SIGNAL);
}

void handlers(const char*) {
  Machine m;
  hsa_signal_t s;
  OK(hsa_signal_create(3, 0, nullptr, &s));
  struct Seen { std::atomic<int> calls{0}; std::atomic<int64_t> last{0}; } seen;
  OK(hsa_amd_signal_async_handler(
      s, HSA_SIGNAL_CONDITION_LT, 3,
      [](hsa_signal_value_t value, void* arg) {
        auto* all = static_cast<Seen*>(arg);
        all->last = value;
        return ++all->calls < 2;  // once more, then no longer
      },
      &seen));
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(seen.calls == 0);
  hsa_signal_store_screlease(s, 1);
  while (seen.calls < 2) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(seen.calls == 2 && seen.last == 1);
  std::atomic<bool> called{false};
  OK(hsa_amd_async_function([](void* arg) { *static_cast<std::atomic<bool>*>(arg) = true; }, &called));
  while (!called) std::this_thread::yield();
  OK(hsa_signal_destroy(s));
}

template <class Packet>
uint64_t write_packet(hsa_queue_t* queue, Packet packet, uint16_t type) {
  static_assert(sizeof packet == 64);
  const uint64_t index = hsa_queue_add_write_index_scacq_screl(queue, 1);
  auto* slot = static_cast<uint8_t*>(queue->base_address) + (index & (queue->size - 1)) * 64;
  std::memcpy(slot + 2, reinterpret_cast<uint8_t*>(&packet) + 2, 62);
  __atomic_store_n(reinterpret_cast<uint16_t*>(slot), uint16_t(type | 1 << HSA_PACKET_HEADER_BARRIER), __ATOMIC_RELEASE);
  return index;
}
void ring(hsa_queue_t* queue, uint64_t index) { hsa_signal_store_screlease(queue->doorbell_signal, hsa_signal_value_t(index)); }
template <class Packet>
void submit(hsa_queue_t* queue, Packet packet, uint16_t type) {
  ring(queue, write_packet(queue, packet, type));
}

// A packet is done after its doorbell, however long its header has been valid; doorbells may come late.
void doorbells(const char*) {
  Machine m;
  hsa_signal_t gate, done;
  OK(hsa_signal_create(1, 0, nullptr, &gate));
  OK(hsa_signal_create(4, 0, nullptr, &done));
  hsa_barrier_and_packet_t first{}, next{};
  first.dep_signal[0] = gate;
  first.completion_signal = next.completion_signal = done;
  const auto left = [&](hsa_signal_value_t above, uint64_t ns) {
    return hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, above, ns, HSA_WAIT_STATE_BLOCKED);
  };
  submit(m.queue, first, HSA_PACKET_TYPE_BARRIER_AND);
  const uint64_t second = write_packet(m.queue, next, HSA_PACKET_TYPE_BARRIER_AND);
  hsa_signal_store_screlease(gate, 0);
  CHECK(left(4, UINT64_MAX) == 3);
  CHECK(left(3, 20'000'000) == 3);
  ring(m.queue, second);
  CHECK(left(3, UINT64_MAX) == 2);
  hsa_amd_profiling_dispatch_time_t time{};
  OK(hsa_amd_profiling_get_dispatch_time(m.gpu, done, &time));
  CHECK(time.end >= 1'000'000'000);  // where time is modelled it starts there
  const uint64_t third = write_packet(m.queue, next, HSA_PACKET_TYPE_BARRIER_AND);
  submit(m.queue, next, HSA_PACKET_TYPE_BARRIER_AND);
  ring(m.queue, third);
  CHECK(left(1, UINT64_MAX) == 0);
  OK(hsa_signal_destroy(done));
  OK(hsa_signal_destroy(gate));
}

void barriers(const char*) {
  Machine m;
  hsa_signal_t one, two, done;
  OK(hsa_signal_create(1, 0, nullptr, &one));
  OK(hsa_signal_create(1, 0, nullptr, &two));
  OK(hsa_signal_create(3, 0, nullptr, &done));
  hsa_barrier_and_packet_t both{};
  both.dep_signal[0] = one;
  both.dep_signal[3] = two;
  both.completion_signal = done;
  submit(m.queue, both, HSA_PACKET_TYPE_BARRIER_AND);
  hsa_signal_store_relaxed(one, 0);
  CHECK(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 3, 20'000'000, HSA_WAIT_STATE_BLOCKED) == 3);
  hsa_signal_store_relaxed(two, 0);
  CHECK(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 3, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) == 2);
  hsa_signal_store_relaxed(one, 5);
  hsa_signal_store_relaxed(two, 1);
  hsa_barrier_or_packet_t either{};
  either.dep_signal[0] = one;
  either.dep_signal[1] = two;
  either.completion_signal = done;
  submit(m.queue, either, HSA_PACKET_TYPE_BARRIER_OR);
  CHECK(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 2, 20'000'000, HSA_WAIT_STATE_BLOCKED) == 2);
  hsa_signal_store_relaxed(two, 0);
  CHECK(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 2, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) == 1);
  hsa_amd_barrier_value_packet_t value{};
  value.header.AmdFormat = HSA_AMD_PACKET_TYPE_BARRIER_VALUE;
  value.signal = one;
  value.mask = 0xf;
  value.value = 9;
  value.cond = HSA_SIGNAL_CONDITION_GTE;
  value.completion_signal = done;
  submit(m.queue, value, HSA_PACKET_TYPE_VENDOR_SPECIFIC);
  hsa_signal_store_relaxed(one, 0x17);
  CHECK(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, 20'000'000, HSA_WAIT_STATE_BLOCKED) == 1);
  hsa_signal_store_relaxed(one, 0x1a);
  CHECK(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) == 0);
  CHECK(m.error == HSA_STATUS_SUCCESS);
  hsa_agent_dispatch_packet_t wrong{};
  submit(m.queue, wrong, HSA_PACKET_TYPE_AGENT_DISPATCH);
  while (m.error == HSA_STATUS_SUCCESS) std::this_thread::yield();
  CHECK(m.error == HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
}

void memory(const char*) {
  Machine m;
  auto* p = m.allocate<uint8_t>(1000);
  CHECK(reinterpret_cast<uint64_t>(p) % 4096 == 0);
  for (int i = 0; i < 1000; ++i) CHECK(p[i] == 0);
  hsa_amd_pointer_info_t info{};
  info.size = sizeof info;
  uint32_t count = 0;
  hsa_agent_t* agents = nullptr;
  OK(hsa_amd_pointer_info(p + 999, &info, std::malloc, &count, &agents));
  CHECK(info.type == HSA_EXT_POINTER_TYPE_HSA && info.agentBaseAddress == p && info.sizeInBytes == 1000 && info.agentOwner.handle == m.gpu.handle);
  CHECK(count == 2);
  std::free(agents);
  OK(hsa_amd_pointer_info(p + 1000, &info, nullptr, nullptr, nullptr));
  CHECK(info.type == HSA_EXT_POINTER_TYPE_UNKNOWN);
  static int freed = 0;
  OK(hsa_amd_register_deallocation_callback(p, [](void*, void* data) { *static_cast<int*>(data) = 7; }, &freed));
  OK(hsa_amd_memory_pool_free(p));
  CHECK(freed == 7);
  CHECK(hsa_amd_memory_pool_free(p) == HSA_STATUS_ERROR_INVALID_ALLOCATION);
  void* none = nullptr;
  CHECK(hsa_amd_memory_pool_allocate(m.vram, 0, 0, &none) == HSA_STATUS_ERROR_INVALID_ARGUMENT);
  CHECK(hsa_amd_memory_pool_allocate(m.vram, size_t{200} << 30, 0, &none) == HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  CHECK(hsa_amd_memory_pool_allocate(m.vram, SIZE_MAX - 4, 0, &none) == HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  uint64_t before = 0, during = 0, after = 0;
  OK(hsa_agent_get_info(m.gpu, hsa_agent_info_t(HSA_AMD_AGENT_INFO_MEMORY_AVAIL), &before));
  void* block = nullptr;
  OK(hsa_amd_memory_pool_allocate(m.vram, 1 << 20, 0, &block));
  OK(hsa_agent_get_info(m.gpu, hsa_agent_info_t(HSA_AMD_AGENT_INFO_MEMORY_AVAIL), &during));
  OK(hsa_amd_memory_pool_free(block));
  OK(hsa_agent_get_info(m.gpu, hsa_agent_info_t(HSA_AMD_AGENT_INFO_MEMORY_AVAIL), &after));
  CHECK(before - during == 1 << 20 && after == before);
  std::vector<uint32_t> local(100);
  void* device = nullptr;
  OK(hsa_amd_memory_lock(local.data(), 400, &m.gpu, 1, &device));
  CHECK(device == local.data());
  OK(hsa_amd_pointer_info(local.data() + 50, &info, nullptr, nullptr, nullptr));
  CHECK(info.type == HSA_EXT_POINTER_TYPE_LOCKED && info.sizeInBytes == 400);
  OK(hsa_amd_memory_unlock(local.data()));
  CHECK(hsa_amd_memory_unlock(local.data()) == HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

void copies(const char*) {
  Machine m;
  constexpr size_t n = 1 << 16;
  auto* device = m.allocate<uint8_t>(n);
  std::vector<uint8_t> from(n), to(n);
  for (size_t i = 0; i < n; ++i) from[i] = uint8_t(i * 7);
  hsa_signal_t gate, first, second;
  OK(hsa_signal_create(1, 0, nullptr, &gate));
  OK(hsa_signal_create(1, 0, nullptr, &first));
  OK(hsa_signal_create(1, 0, nullptr, &second));
  OK(hsa_amd_memory_async_copy(to.data(), m.cpu, device, m.gpu, n, 1, &first, second));  // waits for the next
  OK(hsa_amd_memory_async_copy(device, m.gpu, from.data(), m.cpu, n, 1, &gate, first));
  CHECK(hsa_signal_wait_scacquire(second, HSA_SIGNAL_CONDITION_LT, 1, 10'000'000, HSA_WAIT_STATE_BLOCKED) == 1);
  hsa_signal_store_relaxed(gate, 0);
  CHECK(hsa_signal_wait_scacquire(second, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) == 0);
  CHECK(to == from);
  hsa_amd_profiling_async_copy_time_t time{};
  OK(hsa_amd_profiling_get_async_copy_time(second, &time));
  CHECK(time.start > 0 && time.end > time.start);
  // A 5 x 3 x 2 box from one pitch into another.
  hsa_pitched_ptr_t source{device, 100, 2000}, target{to.data(), 64, 640};
  const hsa_dim3_t source_at{10, 2, 1}, target_at{3, 1, 0}, box{5, 3, 2};
  std::fill(to.begin(), to.end(), 0);
  hsa_signal_store_relaxed(second, 1);
  OK(hsa_amd_memory_async_copy_rect(&target, &target_at, &source, &source_at, &box, m.gpu, hsaDeviceToHost, 0, nullptr, second));
  CHECK(hsa_signal_wait_scacquire(second, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) == 0);
  size_t copied = 0;
  for (size_t z = 0; z < 2; ++z)
    for (size_t y = 0; y < 3; ++y)
      for (size_t x = 0; x < 5; ++x, ++copied) CHECK(to[3 + x + (1 + y) * 64 + z * 640] == device[10 + x + (2 + y) * 100 + (1 + z) * 2000]);
  CHECK(std::count_if(to.begin(), to.end(), [](uint8_t b) { return b != 0; }) <= long(copied));
  // Past the end, and after the end of its life.
  CHECK(hsa_memory_copy(device, from.data(), n + 64) == HSA_STATUS_ERROR_INVALID_ALLOCATION);
  OK(hsa_amd_memory_fill(device, 0xdeadbeef, n / 4));
  CHECK(reinterpret_cast<uint32_t*>(device)[n / 4 - 1] == 0xdeadbeef);
  OK(hsa_amd_memory_pool_free(device));
  CHECK(hsa_amd_memory_async_copy(to.data(), m.cpu, device, m.gpu, n, 0, nullptr, second) == HSA_STATUS_ERROR_INVALID_ALLOCATION);
}

void virtual_memory(const char*) {
  Machine m;
  constexpr size_t kSize = 2 << 20;
  // A place that was free a moment ago, wherever a sanitizer lets programs have one.
  void* const wanted = mmap(nullptr, kSize, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(wanted != MAP_FAILED && munmap(wanted, kSize) == 0);
  void* va = nullptr;
  OK(hsa_amd_vmem_address_reserve(&va, kSize, reinterpret_cast<uint64_t>(wanted), 0));
  CHECK(va == wanted);
  void* other = nullptr;  // taken: elsewhere, with success, as on ROCm
  OK(hsa_amd_vmem_address_reserve(&other, kSize, reinterpret_cast<uint64_t>(wanted), 0));
  CHECK(other && other != wanted);
  hsa_amd_vmem_alloc_handle_t memory;
  OK(hsa_amd_vmem_handle_create(m.vram, kSize, MEMORY_TYPE_PINNED, 0, &memory));
  OK(hsa_amd_vmem_map(va, kSize, 0, memory, 0));
  CHECK(hsa_amd_vmem_map(va, kSize, 0, memory, 0) == HSA_STATUS_ERROR_INVALID_ARGUMENT);
  OK(hsa_amd_vmem_map(other, kSize, 0, memory, 0));  // the same memory twice
  const hsa_amd_memory_access_desc_t access{HSA_ACCESS_PERMISSION_RW, m.gpu};
  OK(hsa_amd_vmem_set_access(va, kSize, &access, 1));
  static_cast<uint32_t*>(va)[1000] = 4711;
  CHECK(static_cast<uint32_t*>(other)[1000] == 4711);
  hsa_access_permission_t permission;
  OK(hsa_amd_vmem_get_access(va, &permission, m.gpu));
  CHECK(permission == HSA_ACCESS_PERMISSION_RW);
  OK(hsa_amd_vmem_get_access(other, &permission, m.gpu));
  CHECK(permission == HSA_ACCESS_PERMISSION_NONE);
  hsa_amd_memory_pool_t pool;
  hsa_amd_memory_type_t type;
  OK(hsa_amd_vmem_get_alloc_properties_from_handle(memory, &pool, &type));
  CHECK(pool.handle == m.vram.handle && type == MEMORY_TYPE_PINNED);
  hsa_amd_vmem_alloc_handle_t retained;
  OK(hsa_amd_vmem_retain_alloc_handle(&retained, static_cast<char*>(va) + 100));
  CHECK(retained.handle == memory.handle);
  OK(hsa_amd_vmem_handle_release(retained));
  int fd = -1;
  OK(hsa_amd_vmem_export_shareable_handle(&fd, memory, 0));
  hsa_amd_vmem_alloc_handle_t imported;
  OK(hsa_amd_vmem_import_shareable_handle(fd, &imported));
  close(fd);
  OK(hsa_amd_vmem_handle_release(imported));
  CHECK(hsa_amd_vmem_address_free(va, kSize) != HSA_STATUS_SUCCESS);  // still mapped
  OK(hsa_amd_vmem_handle_release(memory));                            // the mappings keep it
  CHECK(static_cast<uint32_t*>(va)[1000] == 4711);
  for (void* at : {va, other}) {
    OK(hsa_amd_vmem_unmap(at, kSize));
    OK(hsa_amd_vmem_address_free(at, kSize));
  }
  CHECK(hsa_amd_vmem_handle_release(memory) == HSA_STATUS_ERROR_INVALID_ALLOCATION);
}

void loader(const char* object) {
  Machine m(object);
  hsa_ven_amd_loader_1_03_pfn_t table;
  OK(hsa_system_get_major_extension_table(HSA_EXTENSION_AMD_LOADER, 1, sizeof table, &table));
  struct Found { hsa_ven_amd_loader_1_03_pfn_t table; uint64_t base = 0, size = 0; int64_t delta = 0; std::string uri; int count = 0; } found{table, 0, 0, 0, "", 0};
  OK(table.hsa_ven_amd_loader_executable_iterate_loaded_code_objects(
      m.executable,
      [](hsa_executable_t, hsa_loaded_code_object_t loaded, void* data) {
        auto* f = static_cast<Found*>(data);
        auto get = f->table.hsa_ven_amd_loader_loaded_code_object_get_info;
        OK(get(loaded, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_BASE, &f->base));
        OK(get(loaded, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_SIZE, &f->size));
        OK(get(loaded, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_DELTA, &f->delta));
        uint32_t length = 0;
        OK(get(loaded, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI_LENGTH, &length));
        f->uri.resize(length);
        OK(get(loaded, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI, f->uri.data()));
        ++f->count;
        return HSA_STATUS_SUCCESS;
      },
      &found));
  CHECK(found.count == 1 && found.size > 0 && uint64_t(found.delta) == found.base);
  CHECK(found.uri.starts_with("file://") && found.uri.find("#offset=0&size=") != std::string::npos);
  hsa_executable_t owner;
  OK(table.hsa_ven_amd_loader_query_executable(reinterpret_cast<void*>(found.base + 64), &owner));
  CHECK(owner.handle == m.executable.handle);
  size_t count = 0;
  OK(table.hsa_ven_amd_loader_query_segment_descriptors(nullptr, &count));
  CHECK(count == 1);
  int kernels = 0;
  OK(hsa_executable_iterate_agent_symbols(
      m.executable, m.gpu,
      [](hsa_executable_t, hsa_agent_t, hsa_executable_symbol_t symbol, void* data) {
        hsa_symbol_kind_t kind;
        OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_TYPE, &kind));
        *static_cast<int*>(data) += kind == HSA_SYMBOL_KIND_KERNEL;
        return HSA_STATUS_SUCCESS;
      },
      &kernels));
  CHECK(kernels > 10);
}

// Bytes that are no code object, and pieces of one: refused, never a crash.
void damaged(const char* object) {
  Machine m;
  std::vector<uint8_t> bytes;
  FILE* file = std::fopen(object, "rb");
  CHECK(file);
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) bytes.push_back(uint8_t(c));
  std::fclose(file);
  auto load = [&](const std::vector<uint8_t>& image) {
    hsa_code_object_reader_t reader;
    OK(hsa_code_object_reader_create_from_memory(image.data(), image.size(), &reader));
    hsa_executable_t executable;
    OK(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, nullptr, &executable));
    const hsa_status_t status = hsa_executable_load_agent_code_object(executable, m.gpu, reader, nullptr, nullptr);
    OK(hsa_executable_destroy(executable));
    OK(hsa_code_object_reader_destroy(reader));
    return status;
  };
  OK(load(bytes));
  CHECK(load({1, 2, 3}) == HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
  for (size_t size = 1; size < bytes.size(); size = size * 3 / 2 + 1) {
    auto cut = bytes;
    cut.resize(size);
    CHECK(load(cut) == HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
  }
  uint32_t state = 12345;  // whatever one changed byte does, the loader survives it
  for (int round = 0; round < 2000; ++round) {
    auto changed = bytes;
    for (int k = 0; k < 3; ++k) {
      state = state * 1664525 + 1013904223;
      const size_t at = state >> 8, limit = round % 2 ? 1024 : changed.size();
      changed[at % limit] = uint8_t(state >> 3);
    }
    load(changed);
  }
}

}  // namespace

int main(int count, char** words) {
  return run_case({{"life_time", life_time}, {"start_up", start_up}, {"agents", agents}, {"signals", signals}, {"handlers", handlers},
                   {"barriers", barriers},
                   {"doorbells", doorbells}, {"memory", memory}, {"copies", copies}, {"virtual_memory", virtual_memory}, {"loader", loader},
                   {"damaged", damaged}},
                  count, words);
}
