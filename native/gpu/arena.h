// Addresses and backing for everything a device can see. One large reservation, handed out in
// pieces with gaps between them: committing is the kernel's business (pages appear when touched),
// and a gap is never a listed range, so an access past an allocation's end is always noticed.
// Pieces are handed out round and round the reservation: a freed address is in quarantine until all
// other free ones were given out (8 TiB of addresses, where the host lets us reserve them). It costs
// no memory: pages and page tables of what is free go back to the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace gpu {

inline constexpr size_t kPage = 4096;
constexpr uint64_t round_up(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

#if defined(__SANITIZE_THREAD__)
inline constexpr uint64_t kReservation = uint64_t{64} << 30;  // its shadow leaves no room for more
#else
inline constexpr uint64_t kReservation = uint64_t{8} << 40;
#endif

// Addresses around a piece that are given to nobody else, in whole pages.
struct Padding {
  uint64_t before = 0, after = 0;
};

class Arena {
 public:
  explicit Arena(uint64_t largest = kReservation);  // bytes of addresses, a power of two
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Zeroed memory aligned to `alignment` (a power of two, at least 256 is used); nullptr when
  // address space or host memory cannot give it.
  void* allocate(size_t size, size_t alignment = kPage, Padding padding = {});
  // Gives the pages back to the host.
  bool free(void* address);
  bool contains(uint64_t address) const { return address >= base_ && address < end_; }
  uint64_t piece_at(uint64_t address) const;  // the start of the piece given out that holds it, or 0
  // Somebody wrote between pieces, up to `end`: what is given out from there is to be cleared.
  void written_outside(uint64_t end);

 private:
  using Pieces = std::map<uint64_t, uint64_t>;  // address -> bytes
  void* take(uint64_t size, uint64_t alignment);
  void* take_from(Pieces::iterator piece, uint64_t from, uint64_t size, uint64_t alignment);
  void drop_page_tables(uint64_t begin, uint64_t end);

  mutable std::mutex mutex_;
  uint64_t base_ = 0, end_ = 0;
  uint64_t next_ = 0;  // where the search for a free piece begins: behind the last one given out
  uint64_t dirty_end_ = 0;  // nothing from here on was ever written by others than who it was given to
  struct Piece {
    uint64_t bytes;
    Padding padding;
  };
  std::map<uint64_t, Piece> live_;
  Pieces free_;        // with padding and gaps; no two touch
};

Arena& arena();  // of this process

// What the host can still give, in bytes: MemAvailable or the cgroup's limit, the smaller one.
uint64_t host_memory_available();

}  // namespace gpu
