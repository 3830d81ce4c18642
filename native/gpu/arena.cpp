#include "arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace gpu {
namespace {

// Away from where programs, stacks and sanitizer shadows live, and the same in every run, so that
// printed addresses repeat. Where it is taken (a replay holding captured ranges), anywhere will do.
#if defined(__SANITIZE_THREAD__)
constexpr uint64_t kPreferredBase = 0;  // it allows programs only a few places
#else
constexpr uint64_t kPreferredBase = 0x2000'0000'0000;
#endif
constexpr uint64_t kSmallest = uint64_t{1} << 30;
constexpr uint64_t kGap = kPage;
constexpr uint64_t kTables[] = {uint64_t{2} << 20,
                                uint64_t{1} << 30};  // what a page table of the host describes, and a table of them
constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

void* reserve(uint64_t size) {
  void* at = MAP_FAILED;
  if (kPreferredBase)
    at = mmap(reinterpret_cast<void*>(kPreferredBase), size, PROT_READ | PROT_WRITE, kFlags | MAP_FIXED_NOREPLACE, -1,
              0);
  if (at == MAP_FAILED) at = mmap(nullptr, size, PROT_READ | PROT_WRITE, kFlags, -1, 0);
  return at;
}

// Whole pages go back to the host, the last one too: it is all of this piece's, for the gap behind it is
// a page long.
void clear(uint64_t begin, uint64_t end) {
  const uint64_t first_page = std::min(round_up(begin, kPage), end), end_page = round_up(end, kPage);
  std::memset(reinterpret_cast<void*>(begin), 0, first_page - begin);
  if (end_page > first_page && first_page % kPage == 0)
    madvise(reinterpret_cast<void*>(first_page), end_page - first_page, MADV_DONTNEED);
}

}  // namespace

Arena::Arena(uint64_t largest) {
  for (uint64_t size = largest; size >= std::min(kSmallest, largest); size /= 2) {
    void* at = reserve(size);
    if (at == MAP_FAILED) continue;
    madvise(at, size, MADV_DONTDUMP);
    base_ = next_ = reinterpret_cast<uint64_t>(at);
    end_ = base_ + size;
    free_[base_] = size;
    return;
  }
}

Arena::~Arena() {
  if (base_) munmap(reinterpret_cast<void*>(base_), end_ - base_);
}

// A piece of a free one, at or after `from`.
void* Arena::take_from(Pieces::iterator piece, uint64_t from, uint64_t size, uint64_t alignment) {
  const uint64_t start = piece->first, end = start + piece->second;
  const uint64_t at = round_up(std::max(start, from), alignment);
  if (at < start || at > end || end - at < size) return nullptr;
  free_.erase(piece);
  if (at > start) free_[start] = at - start;
  if (end > at + size) free_[at + size] = end - (at + size);
  const uint64_t left = next_;
  next_ = at + size;
  drop_page_tables(left, left + 1);
  return reinterpret_cast<void*>(at);
}

void* Arena::take(uint64_t size, uint64_t alignment) {
  auto first = free_.upper_bound(next_);
  if (first != free_.begin()) --first;
  for (auto it = first; it != free_.end(); ++it)
    if (void* at = take_from(it, next_, size, alignment)) return at;
  for (auto it = free_.begin(); it != free_.end(); ++it)
    if (void* at = take_from(it, 0, size, alignment)) return at;
  return nullptr;
}

// The host keeps the tables of pages that were given back. Where all that a table of something between
// `begin` and `end` describes is free, a fresh mapping in its place has none. The place of the next
// piece keeps its own.
void Arena::drop_page_tables(uint64_t begin, uint64_t end) {
  const auto after = free_.upper_bound(begin);
  if (after == free_.begin()) return;
  const auto [start, bytes] = *std::prev(after);
  for (const uint64_t unit : kTables) {
    const uint64_t kept = next_ / unit * unit;
    uint64_t from = round_up(std::max(start, begin / unit * unit), unit);
    uint64_t to = std::min(start + bytes, round_up(end, unit)) / unit * unit;
    if (from == kept) from += unit;
    else if (from < kept && kept < to) to = kept;
    if (from >= to) continue;
    void* at = reinterpret_cast<void*>(from);
    if (mmap(at, to - from, PROT_READ | PROT_WRITE, kFlags | MAP_FIXED, -1, 0) != MAP_FAILED)
      madvise(at, to - from, MADV_DONTDUMP);
  }
}

void* Arena::allocate(size_t size, size_t alignment, Padding padding) {
  std::lock_guard lock(mutex_);
  if (size > end_ - base_) return nullptr;
  const uint64_t bytes = round_up(std::max<size_t>(size, 1), 256);
  const auto taken =
      reinterpret_cast<uint64_t>(take(padding.before + bytes + padding.after + kGap, std::max<size_t>(alignment, 256)));
  if (!taken) return nullptr;
  const uint64_t at = taken + padding.before;
  live_[at] = {bytes, padding};
  if (at < dirty_end_) clear(at, std::min(at + bytes, dirty_end_));
  return reinterpret_cast<void*>(at);
}

uint64_t Arena::piece_at(uint64_t address) const {
  std::lock_guard lock(mutex_);
  auto after = live_.upper_bound(address);
  if (after == live_.begin()) return 0;
  const auto& [start, piece] = *std::prev(after);
  return address < start + piece.bytes ? start : 0;
}

void Arena::written_outside(uint64_t end) {
  std::lock_guard lock(mutex_);
  dirty_end_ = std::max(dirty_end_, end);
}

bool Arena::free(void* address) {
  std::lock_guard lock(mutex_);
  auto it = live_.find(reinterpret_cast<uint64_t>(address));
  if (it == live_.end()) return false;
  const Padding padding = it->second.padding;
  const uint64_t begin = it->first - padding.before, size = padding.before + it->second.bytes + padding.after;
  live_.erase(it);
  static_assert(kGap >= kPage);
  clear(begin, begin + size);
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
  drop_page_tables(begin, begin + size + kGap);
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
