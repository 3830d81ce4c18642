#include "arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace gpu {
namespace {

// Away from where programs, stacks and sanitizer shadows live, and the same in every run, so that
// printed addresses repeat. Where it is taken (a replay holding captured ranges), anywhere will do.
constexpr uint64_t kPreferredBase = 0x2000'0000'0000;
constexpr uint64_t kLargest = uint64_t{8} << 40, kSmallest = uint64_t{1} << 30;
constexpr uint64_t kGap = kPage;

void* reserve(uint64_t size) {
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* at = mmap(reinterpret_cast<void*>(kPreferredBase), size, PROT_READ | PROT_WRITE,
                  kFlags | MAP_FIXED_NOREPLACE, -1, 0);
  if (at == MAP_FAILED) at = mmap(nullptr, size, PROT_READ | PROT_WRITE, kFlags, -1, 0);
  return at;
}

}  // namespace

Arena::Arena() {
  for (uint64_t size = kLargest; size >= kSmallest; size /= 2) {
    void* at = reserve(size);
    if (at == MAP_FAILED) continue;
    madvise(at, size, MADV_DONTDUMP);
    base_ = next_ = reinterpret_cast<uint64_t>(at);
    end_ = base_ + size;
    return;
  }
}

Arena::~Arena() {
  if (base_) munmap(reinterpret_cast<void*>(base_), end_ - base_);
}

void* Arena::take(uint64_t size, uint64_t alignment) {
  const uint64_t at = round_up(next_, alignment);
  if (at < end_ && size <= end_ - at) {
    next_ = at + size;
    return reinterpret_cast<void*>(at);
  }
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    const uint64_t fit = round_up(it->first, alignment);
    if (fit + size > it->first + it->second) continue;
    const uint64_t left = it->first + it->second - (fit + size), skipped = fit - it->first;
    const uint64_t start = it->first;
    free_.erase(it);
    if (skipped) free_[start] = skipped;
    if (left) free_[fit + size] = left;
    return reinterpret_cast<void*>(fit);
  }
  return nullptr;
}

void* Arena::allocate(size_t size, size_t alignment) {
  if (size > kLargest) return nullptr;
  std::lock_guard lock(mutex_);
  const uint64_t bytes = round_up(std::max<size_t>(size, 1), 256);
  void* at = take(bytes + kGap, std::max<size_t>(alignment, 256));
  if (at) live_[reinterpret_cast<uint64_t>(at)] = bytes;
  return at;
}

bool Arena::free(void* address) {
  std::lock_guard lock(mutex_);
  auto it = live_.find(reinterpret_cast<uint64_t>(address));
  if (it == live_.end()) return false;
  const uint64_t begin = it->first, size = it->second;
  live_.erase(it);
  // Whole pages go back to the host; the last one is all ours, for the gap behind is a page long.
  static_assert(kGap >= kPage);
  const uint64_t first_page = std::min(round_up(begin, kPage), begin + size), end_page = round_up(begin + size, kPage);
  std::memset(reinterpret_cast<void*>(begin), 0, first_page - begin);
  if (end_page > first_page && first_page % kPage == 0)
    madvise(reinterpret_cast<void*>(first_page), end_page - first_page, MADV_DONTNEED);
  // Join with free neighbours so that a long-running program does not fragment the reservation.
  uint64_t from = begin, bytes = size + kGap;
  auto after = free_.lower_bound(from);
  if (after != free_.end() && after->first == from + bytes) {
    bytes += after->second;
    after = free_.erase(after);
  }
  if (after != free_.begin()) {
    auto before = std::prev(after);
    if (before->first + before->second == from) {
      from = before->first;
      bytes += before->second;
      free_.erase(before);
    }
  }
  free_[from] = bytes;
  return true;
}

Arena& arena() {
  static Arena* instance = new Arena;  // outlives every thread and static destructor
  return *instance;
}

namespace {

uint64_t field_in_kib(const char* path, const char* name) {
  uint64_t value = 0;
  if (FILE* file = std::fopen(path, "r")) {
    char line[256];
    while (std::fgets(line, sizeof line, file)) {
      unsigned long long kib = 0;
      if (std::strncmp(line, name, std::strlen(name)) == 0 &&
          std::sscanf(line + std::strlen(name), " %llu", &kib) == 1) {
        value = kib * 1024;
        break;
      }
    }
    std::fclose(file);
  }
  return value;
}

bool number_in(const char* path, uint64_t& value) {
  FILE* file = std::fopen(path, "r");
  if (!file) return false;
  unsigned long long number = 0;
  const bool ok = std::fscanf(file, "%llu", &number) == 1;  // "max" is no number: no limit
  std::fclose(file);
  value = number;
  return ok;
}

}  // namespace

uint64_t host_memory_available() {
  uint64_t available = field_in_kib("/proc/meminfo", "MemAvailable:");
  if (!available) available = UINT64_MAX;
  uint64_t limit = 0, used = 0;
  if (number_in("/sys/fs/cgroup/memory.max", limit) && number_in("/sys/fs/cgroup/memory.current", used))
    available = std::min(available, limit > used ? limit - used : 0);
  return available;
}

}  // namespace gpu
