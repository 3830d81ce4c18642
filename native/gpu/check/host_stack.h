// Where in the program a call came from: the host's call stack, as records that name modules and offsets.
// rocm_perf_lab.check.host_stack makes lines of them.
#pragma once

#include <array>
#include <compare>
#include <string>

#include "record/log.h"

namespace gpu::check {

class HostStack {
 public:
  static HostStack here();
  void write(record::Line& line) const;  // as the field "stack"
  std::string key() const;  // the same for the same calls
  auto operator<=>(const HostStack&) const = default;

 private:
  static constexpr int kFrames = 24;
  int count_ = 0;
  std::array<void*, kFrames> at_{};
};

}  // namespace gpu::check
