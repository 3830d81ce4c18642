// Which allocations a launch reads and which it writes. The launch starts with a view of memory in
// which everything is closed; the first access to a range stops the wave, is noted, and opens the
// range for that kind of access, so that watching costs a few stops and nothing per instruction.
#pragma once

#include <mutex>

#include "memory.h"

namespace gpu {

class Footprint {
 public:
  struct Touched {
    Range range;
    bool read = false, written = false;
  };

  // `keeping`: what is about to be written is kept, for undo().
  explicit Footprint(std::shared_ptr<const AddressSpace::Snapshot> memory, bool keeping = false);

  // The ranges as far as they are open. Stays valid as long as the footprint.
  const AddressSpace::Snapshot* view() const;
  // True if the access is one the memory allows: the view now has it open.
  bool open(uint64_t address, uint64_t size, bool write);
  // Memory that came after the launch began was used, unwatched.
  void lose();

  bool complete() const;
  // Memory as it was before the launch; false, and nothing done, where that cannot be had back.
  bool undo();
  std::vector<Touched> touched() const;

 private:
  std::shared_ptr<const AddressSpace::Snapshot> memory_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<const AddressSpace::Snapshot>> views_;  // waves may still look at an old one
  struct Kept {
    Range range;
    std::vector<uint8_t> bytes;
  };
  void keep(const Range& range);
  std::vector<Kept> kept_;
  uint64_t kept_bytes_ = 0;
  const bool keeping_;
  bool lost_ = false;
};

}  // namespace gpu
