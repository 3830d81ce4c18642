// Addresses and backing for everything a device can see. One large reservation, handed out in
// pieces with gaps between them: committing is the kernel's business (pages appear when touched),
// a gap is never a listed range, so an access past an allocation's end is always noticed, and a
// freed address is not given out again until the reservation is used up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace gpu {

inline constexpr size_t kPage = 4096;
constexpr uint64_t round_up(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

class Arena {
 public:
  Arena();
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Zeroed memory aligned to `alignment` (a power of two, at least 256 is used); nullptr when
  // address space or host memory cannot give it.
  void* allocate(size_t size, size_t alignment = kPage);
  // Gives the pages back to the host. The size is remembered.
  bool free(void* address);
  bool contains(uint64_t address) const { return address >= base_ && address < end_; }

 private:
  void* take(uint64_t size, uint64_t alignment);

  mutable std::mutex mutex_;
  uint64_t base_ = 0, end_ = 0, next_ = 0;
  std::map<uint64_t, uint64_t> live_;        // address -> bytes without the gap
  std::map<uint64_t, uint64_t> free_;        // address -> bytes with the gap, not yet reused
};

Arena& arena();  // of this process

// What the host can still give, in bytes: MemAvailable or the cgroup's limit, the smaller one.
uint64_t host_memory_available();

}  // namespace gpu
