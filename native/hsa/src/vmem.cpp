// Virtual memory management: reserved addresses, memory by handle, and mappings between the two.
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "allocations.h"
#include "arena.h"
#include "hsa_impl.h"

namespace {

// Memory by handle is a memfd: it can be mapped at several addresses and passed to other processes.
struct Memory {
  Pool* pool;
  uint64_t size;
  hsa_amd_memory_type_t type;
  int fd;
  unsigned references;  // the handle's own, and one for each mapping
};

struct Mapping {
  uint64_t size;
  Memory* memory;
  uint64_t offset;
  hsa_access_permission_t access = HSA_ACCESS_PERMISSION_NONE;
  std::vector<uint64_t> pieces = {};  // where those begin that a device sees, if not all of it
};

struct Books {
  std::mutex mutex;
  std::map<uint64_t, uint64_t> reservations;  // address -> bytes
  std::map<uint64_t, Mapping> mappings;
  std::map<uint64_t, Memory*> memories;       // handle -> memory
};
Books& books() {
  static Books* instance = new Books;
  return *instance;
}

void* reserve(size_t size, uint64_t wanted, uint64_t alignment) {
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  if (wanted) {
    void* at = mmap(reinterpret_cast<void*>(wanted), size, PROT_NONE, kFlags | MAP_FIXED_NOREPLACE, -1, 0);
    if (at == reinterpret_cast<void*>(wanted)) return at;
    if (at != MAP_FAILED) munmap(at, size);
  }
  // Over-reserve, then give the ends back: mmap aligns to pages only.
  const size_t padded = size + alignment;
  void* at = mmap(nullptr, padded, PROT_NONE, kFlags, -1, 0);
  if (at == MAP_FAILED) return nullptr;
  const uint64_t start = reinterpret_cast<uint64_t>(at), aligned = gpu::round_up(start, alignment);
  if (aligned > start) munmap(at, aligned - start);
  if (aligned + size < start + padded) munmap(reinterpret_cast<void*>(aligned + size), start + padded - aligned - size);
  return reinterpret_cast<void*>(aligned);
}

bool reserved(uint64_t address, uint64_t size) {  // under the mutex
  auto after = books().reservations.upper_bound(address);
  if (after == books().reservations.begin()) return false;
  auto [base, bytes] = *std::prev(after);
  return address >= base && address + size <= base + bytes;
}

void drop(Memory* memory) {  // under the mutex
  if (--memory->references) return;
  close(memory->fd);
  if (Runtime* runtime = Runtime::get(); runtime && memory->pool)
    runtime->discharge(*memory->pool->agent, memory->size);
  delete memory;
}

void list(uint64_t address, const Mapping& mapping) {
  std::lock_guard lock(allocations().mutex);
  Allocation& entry = allocations().by_base[address];
  entry = {HSA_EXT_POINTER_TYPE_HSA_VMEM,
           address,
           mapping.size,
           0,
           mapping.memory->pool ? mapping.memory->pool->agent : nullptr,
           mapping.memory->pool,
           entry.user_data,
           0,
           {}};
}

void hide(uint64_t address, Mapping& mapping) {
  Runtime::memory().remove(address);
  for (const uint64_t piece : mapping.pieces) Runtime::memory().remove(piece);
  mapping.pieces.clear();
}

void unlist(uint64_t address, Mapping& mapping) {
  hide(address, mapping);
  std::lock_guard lock(allocations().mutex);
  allocations().by_base.erase(address);
}

}  // namespace

// Untouched memory is read as zeros without being made real, which reading through the mapping would.
bool read_vmem(void* to, const void* from, size_t size) {
  constexpr size_t kWorthwhile = 64 << 10;
  if (size < kWorthwhile) return false;
  const uint64_t at = reinterpret_cast<uint64_t>(from);
  int fd = -1;
  uint64_t offset = 0;
  {
    std::lock_guard lock(books().mutex);
    auto after = books().mappings.upper_bound(at);
    if (after == books().mappings.begin()) return false;
    const auto& [base, mapping] = *std::prev(after);
    if (at - base >= mapping.size || size > mapping.size - (at - base)) return false;
    fd = mapping.memory->fd;
    offset = mapping.offset + (at - base);
  }
  for (size_t done = 0; done < size;) {
    const ssize_t got = pread(fd, static_cast<char*>(to) + done, size - done, off_t(offset + done));
    if (got <= 0) return false;
    done += size_t(got);
  }
  return true;
}

namespace impl {

hsa_status_t hsa_amd_vmem_address_reserve_align(void** address, size_t size, uint64_t wanted, uint64_t alignment,
                                                uint64_t) {
  if (!Runtime::get()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!address || !size || size % gpu::kPage || (alignment & (alignment - 1))) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  void* at = reserve(size, wanted / gpu::kPage * gpu::kPage, std::max<uint64_t>(alignment, gpu::kPage));
  if (!at) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  std::lock_guard lock(books().mutex);
  books().reservations[reinterpret_cast<uint64_t>(at)] = size;
  *address = at;
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_amd_vmem_address_reserve(void** address, size_t size, uint64_t wanted, uint64_t flags) {
  return impl::hsa_amd_vmem_address_reserve_align(address, size, wanted, 0, flags);
}

hsa_status_t hsa_amd_vmem_address_free(void* address, size_t size) {
  const uint64_t at = reinterpret_cast<uint64_t>(address);
  std::lock_guard lock(books().mutex);
  auto it = books().reservations.find(at);
  if (it == books().reservations.end() || it->second != size) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  auto mapped = books().mappings.lower_bound(at);
  if (mapped != books().mappings.end() && mapped->first < at + size)
    return hsa_status_t(HSA_STATUS_ERROR_RESOURCE_BUSY);
  munmap(address, size);
  books().reservations.erase(it);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_vmem_handle_create(hsa_amd_memory_pool_t pool, size_t size, hsa_amd_memory_type_t type, uint64_t,
                                        hsa_amd_vmem_alloc_handle_t* handle) {
  Runtime* runtime = Runtime::get();
  if (!runtime) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  Pool* found = runtime->pool(pool);
  if (!found) return hsa_status_t(HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
  if (!handle || !size || size % gpu::kPage || !found->allocatable()) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (!runtime->charge(*found->agent, size)) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  const int fd = memfd_create("rocm-perf-vmem", MFD_CLOEXEC);
  if (fd < 0 || ftruncate(fd, off_t(size)) != 0) {
    if (fd >= 0) close(fd);
    runtime->discharge(*found->agent, size);
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  }
  auto* memory = new Memory{found, size, type, fd, 1};
  handle->handle = reinterpret_cast<uint64_t>(memory);
  std::lock_guard lock(books().mutex);
  books().memories[handle->handle] = memory;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_vmem_handle_release(hsa_amd_vmem_alloc_handle_t handle) {
  std::lock_guard lock(books().mutex);
  auto it = books().memories.find(handle.handle);
  if (it == books().memories.end()) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  Memory* memory = it->second;
  // A retained handle is the same number; it goes when the last holder lets it go.
  unsigned mapped = 0;
  for (auto& [address, mapping] : books().mappings) mapped += mapping.memory == memory;
  if (memory->references - mapped == 1) books().memories.erase(it);
  drop(memory);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_vmem_map(void* address, size_t size, size_t offset, hsa_amd_vmem_alloc_handle_t handle, uint64_t) {
  const uint64_t at = reinterpret_cast<uint64_t>(address);
  std::lock_guard lock(books().mutex);
  auto it = books().memories.find(handle.handle);
  if (it == books().memories.end()) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  Memory* memory = it->second;
  if (!size || at % gpu::kPage || size % gpu::kPage || offset % gpu::kPage || offset + size > memory->size)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (!reserved(at, size)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  auto next = books().mappings.lower_bound(at);
  if (next != books().mappings.end() && next->first < at + size) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (next != books().mappings.begin() && std::prev(next)->first + std::prev(next)->second.size > at)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (mmap(address, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory->fd, off_t(offset)) == MAP_FAILED)
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  ++memory->references;
  const Mapping& mapping = books().mappings[at] = {size, memory, offset};
  list(at, mapping);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_vmem_unmap(void* address, size_t size) {
  const uint64_t at = reinterpret_cast<uint64_t>(address);
  std::lock_guard lock(books().mutex);
  auto it = books().mappings.find(at);
  if (it == books().mappings.end() || it->second.size != size) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  if (mmap(address, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  unlist(at, it->second);
  drop(it->second.memory);
  books().mappings.erase(it);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_vmem_set_access(void* address, size_t size, const hsa_amd_memory_access_desc_t* entries,
                                     size_t count) {
  Runtime* runtime = Runtime::get();
  if (!runtime) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!entries || !count) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  hsa_access_permission_t device = HSA_ACCESS_PERMISSION_NONE;
  for (size_t i = 0; i < count; ++i) {
    Agent* agent = runtime->agent(entries[i].agent_handle);
    if (!agent) return HSA_STATUS_ERROR_INVALID_AGENT;
    if (agent->is_gpu()) device = hsa_access_permission_t(device | entries[i].permissions);
  }
  const uint64_t begin = reinterpret_cast<uint64_t>(address), end = begin + size;
  std::lock_guard lock(books().mutex);
  uint64_t covered = begin;
  for (auto it = books().mappings.lower_bound(begin);
       it != books().mappings.end() && it->first < end && it->first == covered; ++it)
    covered += it->second.size;
  if (covered != end) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  for (auto it = books().mappings.lower_bound(begin); it != books().mappings.end() && it->first < end; ++it) {
    it->second.access = device;
    hide(it->first, it->second);
    if (device != HSA_ACCESS_PERMISSION_NONE)
      Runtime::memory().add({it->first, it->first + it->second.size, gpu::RangeKind::Vmem,
                             (device & HSA_ACCESS_PERMISSION_RO) != 0, (device & HSA_ACCESS_PERMISSION_WO) != 0});
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_vmem_get_access(void* address, hsa_access_permission_t* permissions, hsa_agent_t agent) {
  Runtime* runtime = Runtime::get();
  if (!runtime) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  Agent* found = runtime->agent(agent);
  if (!found) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!permissions) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  std::lock_guard lock(books().mutex);
  auto it = books().mappings.find(reinterpret_cast<uint64_t>(address));
  if (it == books().mappings.end()) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  *permissions = found->is_gpu() ? it->second.access : HSA_ACCESS_PERMISSION_RW;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_vmem_export_shareable_handle(int* fd, hsa_amd_vmem_alloc_handle_t handle, uint64_t) {
  std::lock_guard lock(books().mutex);
  auto it = books().memories.find(handle.handle);
  if (it == books().memories.end()) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  if (!fd) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *fd = dup(it->second->fd);
  return *fd < 0 ? HSA_STATUS_ERROR_OUT_OF_RESOURCES : HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_vmem_import_shareable_handle(int fd, hsa_amd_vmem_alloc_handle_t* handle) {
  Runtime* runtime = Runtime::get();
  if (!runtime) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const off_t size = lseek(fd, 0, SEEK_END);
  if (!handle || size <= 0) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const int own = dup(fd);
  if (own < 0) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  auto* memory = new Memory{nullptr, uint64_t(size), MEMORY_TYPE_PINNED, own, 1};
  handle->handle = reinterpret_cast<uint64_t>(memory);
  std::lock_guard lock(books().mutex);
  books().memories[handle->handle] = memory;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_vmem_retain_alloc_handle(hsa_amd_vmem_alloc_handle_t* handle, void* address) {
  if (!handle) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  std::lock_guard lock(books().mutex);
  auto after = books().mappings.upper_bound(reinterpret_cast<uint64_t>(address));
  if (after == books().mappings.begin()) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  auto& [base, mapping] = *std::prev(after);
  if (reinterpret_cast<uint64_t>(address) >= base + mapping.size) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  ++mapping.memory->references;
  handle->handle = reinterpret_cast<uint64_t>(mapping.memory);
  books().memories[handle->handle] = mapping.memory;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_vmem_get_alloc_properties_from_handle(hsa_amd_vmem_alloc_handle_t handle,
                                                           hsa_amd_memory_pool_t* pool, hsa_amd_memory_type_t* type) {
  std::lock_guard lock(books().mutex);
  auto it = books().memories.find(handle.handle);
  if (it == books().memories.end()) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  if (!pool || !type) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *pool = it->second->pool ? it->second->pool->handle() : hsa_amd_memory_pool_t{0};
  *type = it->second->type;
  return HSA_STATUS_SUCCESS;
}

}  // namespace impl

// Of a mapping, a device sees these pieces only (begin and end of each, ascending): allocations that were
// captured do not end where their pages do, and whoever reads beyond one is to be noticed.
extern "C" __attribute__((visibility("default"))) hsa_status_t hsa_rocm_perf_vmem_pieces(void* address,
                                                                                         const uint64_t* pieces,
                                                                                         size_t count) {
  const uint64_t at = reinterpret_cast<uint64_t>(address);
  std::lock_guard lock(books().mutex);
  auto it = books().mappings.find(at);
  if (it == books().mappings.end() || (count && !pieces)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  Mapping& mapping = it->second;
  const uint64_t end = at + mapping.size;
  uint64_t last = at;
  for (size_t i = 0; i < count; ++i) {
    if (pieces[2 * i] < last || pieces[2 * i + 1] <= pieces[2 * i] || pieces[2 * i + 1] > end)
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    last = pieces[2 * i + 1];
  }
  hide(at, mapping);
  for (size_t i = 0; i < count; ++i) {
    gpu::Range range =
        visible(pieces[2 * i], pieces[2 * i + 1], i + 1 < count ? pieces[2 * i + 2] : end, gpu::RangeKind::Vmem);
    range.readable = (mapping.access & HSA_ACCESS_PERMISSION_RO) != 0;
    range.writable = (mapping.access & HSA_ACCESS_PERMISSION_WO) != 0;
    Runtime::memory().add(range);
    mapping.pieces.push_back(range.base);
  }
  return HSA_STATUS_SUCCESS;
}
