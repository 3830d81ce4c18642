// Where managed memory is, by canonical address (trace.h). It begins with the host; the driver moves it in
// pieces of 2 MiB: when it is told to, and with XNACK when a kernel touches a piece that is not here. Nobody
// sees the host touch it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace gpu {

class ManagedMemory {
 public:
  static constexpr uint64_t kPiece = uint64_t{2} << 20;
  bool moves_on_fault = false;

  // A kernel touches a piece, of which the allocation has so many bytes. Whether it finds it here.
  bool reach(uint64_t allocation, uint64_t piece, uint64_t bytes) {
    if (here_.contains(piece)) return true;
    if (!moves_on_fault) return false;
    here_.insert(piece);
    faulted_bytes_ += bytes;
    const auto [at, fresh] = faulted_.try_emplace(allocation, Pieces{piece, piece});
    at->second.first = std::min(at->second.first, piece);
    at->second.last = std::max(at->second.last, piece);
    return true;
  }

  void move(uint64_t at, uint64_t bytes, bool here) {
    for (uint64_t piece = at / kPiece; piece <= (at + bytes - 1) / kPiece; ++piece) {
      if (here) here_.insert(piece);
      else here_.erase(piece);
    }
  }

  // Bytes that faults have moved since this was asked last. Of a dispatch that was recorded in part, what
  // lies between the pieces seen moved too.
  uint64_t take_faulted(bool recorded_whole) {
    if (!recorded_whole)
      for (const auto& [allocation, pieces] : faulted_)
        for (uint64_t piece = pieces.first; piece <= pieces.last; ++piece)
          if (here_.insert(piece).second) faulted_bytes_ += kPiece;
    faulted_.clear();
    return std::exchange(faulted_bytes_, 0);
  }

 private:
  struct Pieces {
    uint64_t first, last;
  };
  std::unordered_set<uint64_t> here_;
  std::unordered_map<uint64_t, Pieces> faulted_;  // by allocation
  uint64_t faulted_bytes_ = 0;
};

}  // namespace gpu
