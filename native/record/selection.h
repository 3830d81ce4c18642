// Which dispatches have counters collected or are traced: rocprofv3's kernel filters.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "codeobject/kernel_names.h"

namespace record {

struct Config {
  bool counters = false, att = false;
  std::set<std::string, std::less<>> counter_names;  // base names to keep
  std::optional<codeobject::NamePattern> include, exclude;
  std::vector<std::pair<uint64_t, uint64_t>> ranges;  // of launches, from 1; none: all
  uint32_t target_cu = 1, simd_mask = 0xf;
  uint64_t se_mask = 0x1;
  uint64_t consecutive = 1;  // launches traced from the selected one on
  std::set<uint32_t> agents;  // by node; none: all
};

// The file the stand-in leaves in the log folder: `key value` lines.
Config read_config(const std::string& path);

class Selection {
 public:
  explicit Selection(const Config& config) : config_(config) {}
  struct Answer {
    bool counters = false, att = false;
  };
  // Called once per launch, in the order of launches.
  Answer of(uint32_t agent, std::string_view kernel);

 private:
  bool named(std::string_view kernel);
  const Config& config_;
  std::mutex mutex_;
  std::map<std::string, bool, std::less<>> named_;
  std::map<std::pair<uint32_t, std::string>, uint64_t> launches_;
  std::map<uint32_t, uint64_t> following_;
};

}  // namespace record
