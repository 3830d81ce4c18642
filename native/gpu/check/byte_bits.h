// A bit for each byte of some memory: set where it was written.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gpu::check {

// Over words that somebody else owns, one more than the bytes need. Words may be shared by threads: of
// bytes that are written at the same time either order will do.
class ByteBits {
 public:
  ByteBits() = default;
  ByteBits(uint64_t* words, uint64_t bytes) : words_(words), bytes_(bytes) {}

  uint64_t bytes() const { return bytes_; }
  static uint64_t words_for(uint64_t bytes) { return (bytes + 63) / 64 + 1; }

  // Those of `size` bytes (at most 64) from `at` on that are set. What lies beyond the end counts as set.
  uint64_t get(uint64_t at, uint32_t size) const {
    const uint64_t all = ones(size);
    if (at >= bytes_) return all;
    uint64_t found = load(at / 64) >> (at % 64);
    if (at % 64) found |= load(at / 64 + 1) << (64 - at % 64);
    if (at + size > bytes_) found |= all & ~ones(uint32_t(bytes_ - at));
    return found & all;
  }
  // Makes `size` bytes (at most 64) those of `set`.
  void put(uint64_t at, uint32_t size, uint64_t set) {
    if (at >= bytes_) return;
    if (at + size > bytes_) size = uint32_t(bytes_ - at);
    const uint64_t all = ones(size);
    const uint32_t shift = at % 64;
    change(at / 64, all << shift, (set & all) << shift);
    if (shift && shift + size > 64) change(at / 64 + 1, all >> (64 - shift), (set & all) >> (64 - shift));
  }
  void set(uint64_t at, uint64_t size) {
    for (; size && at % 64; ++at, --size) put(at, 1, 1);
    for (; size >= 64; at += 64, size -= 64) put(at, 64, ~uint64_t(0));
    if (size) put(at, uint32_t(size), ~uint64_t(0));
  }
  bool all_set(uint64_t at, uint64_t size) const {
    for (; size > 64; at += 64, size -= 64)
      if (get(at, 64) != ~uint64_t(0)) return false;
    return get(at, uint32_t(size)) == ones(uint32_t(size));
  }

 private:
  static uint64_t ones(uint32_t size) { return size >= 64 ? ~uint64_t(0) : (uint64_t{1} << size) - 1; }
  uint64_t load(uint64_t word) const { return __atomic_load_n(words_ + word, __ATOMIC_RELAXED); }
  void change(uint64_t word, uint64_t which, uint64_t to) {
    const uint64_t on = which & to, off = which & ~to;
    const uint64_t before = load(word);
    if ((before & on) != on) __atomic_fetch_or(words_ + word, on, __ATOMIC_RELAXED);
    if (before & off) __atomic_fetch_and(words_ + word, ~off, __ATOMIC_RELAXED);
  }

  uint64_t* words_ = nullptr;
  uint64_t bytes_ = 0;
};

}  // namespace gpu::check
