// How far a launch is that takes long, on stderr: what two cores take minutes for should not look like a hang.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace gpu {

class Progress {
 public:
  Progress(const std::string& kernel, uint64_t groups);
  // Called now and then by whoever runs its workgroups, one at a time; `ran`: wave instructions since.
  void reached(uint64_t groups_done, uint64_t ran) {
    instructions_ += ran;
    if (next_ != Clock::time_point::max() && Clock::now() >= next_) tell(groups_done);
  }

 private:
  using Clock = std::chrono::steady_clock;
  void tell(uint64_t groups_done);

  const std::string& kernel_;
  const uint64_t groups_;
  uint64_t instructions_ = 0;
  const Clock::time_point begun_;
  Clock::time_point next_;
};

// "40 s", "7 min", "3 h"
std::string span_text(double seconds);

}  // namespace gpu
