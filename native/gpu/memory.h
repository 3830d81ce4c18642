// Device-visible memory. A device address is a host address: the virtual GPU lives in the
// user's process and every allocation is ordinary host memory at its own address. What makes
// it device memory is that it is listed here; an access outside every listed range is a fault.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gpu {

enum class RangeKind : uint8_t { Vram, HostPinned, Managed, Kernarg, Code, Scratch, Vmem, Runtime, Hostcall };

struct Range {
  uint64_t base = 0;
  uint64_t end = 0;  // first byte after the range
  RangeKind kind = RangeKind::Vram;
  bool readable = true;
  bool writable = true;
  // Bytes at the end that nobody asked for. They may be read, by an instruction that takes more than it
  // needs; written are at most those of the last word, by an atomic on a part of it.
  uint8_t slack = 0;

  uint64_t asked_end() const { return end - slack; }
  uint64_t end_for(bool write) const { return write ? asked_end() + slack % 4 : end; }
  bool holds(uint64_t address, uint64_t size, bool write) const {
    const uint64_t limit = end_for(write);
    return address >= base && address < limit && size <= limit - address;
  }
};

// Whether `address` is the word of a hostcall packet that a wave polls for the host's answer
// (docs/hostcall.md); bit 0 is set until the answer is there.
inline bool is_hostcall_control(const Range& buffer, uint64_t address) {
  constexpr uint64_t kHeader = 24, kControl = 20;
  const auto* parts = reinterpret_cast<const uint64_t*>(buffer.base);  // headers, payloads
  return address >= parts[0] && address < parts[1] && (address - parts[0]) % kHeader == kControl;
}
inline bool is_hostcall_ready_stack(const Range& buffer, uint64_t address) { return address == buffer.base + 32; }
inline bool awaits_host(uint64_t control) {
  return __atomic_load_n(reinterpret_cast<const uint32_t*>(control), __ATOMIC_ACQUIRE) & 1;
}

struct NearestRange {
  bool found = false;
  bool freed = false;  // the address lay inside a range that was released earlier
  Range range{};
  // 0: inside; 1: the first byte after the end; -1: the last byte before the start.
  int64_t distance = 0;
};

// Lookups are wait-free and may run on many executor threads while a host thread allocates:
// readers hold an immutable sorted snapshot, writers publish a new one.
class AddressSpace {
 public:
  struct Snapshot {
    Snapshot();
    explicit Snapshot(std::vector<Range> ranges);
    std::vector<Range> ranges;  // sorted by base, disjoint
    uint64_t number;            // no two snapshots share one
    const Range* find(uint64_t address) const noexcept;
  };

  void add(const Range& range);
  void set_kind(uint64_t base, RangeKind kind);
  bool remove(uint64_t base);  // remembered as freed, for the fault message
  std::shared_ptr<const Snapshot> snapshot() const;
  NearestRange nearest(uint64_t address) const;

 private:
  struct State;
  std::shared_ptr<State> state_;

 public:
  AddressSpace();
};

}  // namespace gpu
