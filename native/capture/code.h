// Code objects and their kernels, as they are loaded.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace capture {

struct LoadedCode {
  uint64_t number = 0;  // in the order of loading
  uint64_t executable = 0, agent = 0;
  uint64_t base = 0, size = 0;
  int64_t delta = 0;
  std::string uri;
  std::shared_ptr<const std::string> image;  // the file; null where it could not be had
};

struct Kernel {
  std::string name, demangled;
  uint64_t object = 0, executable = 0;
  uint32_t kernarg_bytes = 0;
  bool wanted = false;               // its name matches
  std::shared_ptr<uint64_t> launches;  // of all kernels of this name; under the lock of launch()
};

void hook_code();

// Counts a launch of the kernel; `index` is its number among the launches of that name. Null: unknown.
std::shared_ptr<const Kernel> launched(uint64_t object, uint64_t& index);

std::vector<LoadedCode> loaded_code();
// Every kernel that was launched and how often.
std::vector<std::pair<std::string, uint64_t>> launch_counts();

}  // namespace capture
