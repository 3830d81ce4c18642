#include "progress.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "code_object.h"

namespace gpu {
namespace {

// Seconds until the first line; after each it takes twice as long to the next.
double first_line() {
  static const double seconds = [] {
    const char* text = std::getenv("ROCM_PERF_VIRTUAL_PROGRESS");
    return text ? std::strtod(text, nullptr) : 0;
  }();
  return seconds;
}

std::string grouped(uint64_t number) {
  const std::string digits = std::to_string(number);
  std::string out;
  for (size_t at = 0; at < digits.size(); ++at) {
    if (at && (digits.size() - at) % 3 == 0) out += ',';
    out += digits[at];
  }
  return out;
}

}  // namespace

std::string span_text(double seconds) {
  if (seconds < 99.5) return std::to_string(std::lround(seconds)) + " s";
  if (seconds < 99.5 * 60) return std::to_string(std::lround(seconds / 60)) + " min";
  return grouped(uint64_t(seconds / 3600 + 0.5)) + " h";
}

Progress::Progress(const std::string& kernel, uint64_t groups)
    : kernel_(kernel), groups_(groups), begun_(Clock::now()), next_(Clock::time_point::max()) {
  if (first_line() > 0)
    next_ = begun_ + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(first_line()));
}

void Progress::tell(uint64_t groups_done) {
  const Clock::duration taken = Clock::now() - begun_;
  next_ = begun_ + 2 * taken;
  const double seconds = std::chrono::duration<double>(taken).count();
  std::string text = "rocm-perf: " + demangle(kernel_) + ": " + grouped(groups_done) + " of " + grouped(groups_) +
                     " workgroups and " + grouped(instructions_ / 1'000'000) + " million wave instructions in " +
                     span_text(seconds);
  if (groups_done) {
    const double left = seconds * double(groups_ - groups_done) / double(groups_done);
    text += ", about " + span_text(left) + " left of this launch";
  }
  text += "\n";
  std::fputs(text.c_str(), stderr);
}

}  // namespace gpu
