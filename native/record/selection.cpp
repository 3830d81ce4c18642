#include "selection.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace record {

Config read_config(const std::string& path) {
  Config config;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    const size_t space = line.find(' ');
    const std::string key = line.substr(0, space);
    const std::string value = space == std::string::npos ? "" : line.substr(space + 1);
    const auto number = [&] { return std::strtoull(value.c_str(), nullptr, 0); };
    if (key == "counter") config.counters = true, config.counter_names.insert(value);
    else if (key == "att") config.att = true;
    else if (key == "include") config.include.emplace(value);
    else if (key == "exclude") config.exclude.emplace(value);
    else if (key == "range") {
      uint64_t first = 0, last = 0;
      std::istringstream(value) >> first >> last;
      config.ranges.emplace_back(first, last);
    } else if (key == "target_cu") config.target_cu = uint32_t(number());
    else if (key == "se_mask") config.se_mask = number();
    else if (key == "simd_mask") config.simd_mask = uint32_t(number());
    else if (key == "consecutive") config.consecutive = number();
    else if (key == "agent") config.agents.insert(uint32_t(number()));
  }
  return config;
}

bool Selection::named(std::string_view kernel) {
  const auto known = named_.find(kernel);
  if (known != named_.end()) return known->second;
  const std::string text(kernel);
  const bool wanted =
      (!config_.include || config_.include->found_in(text)) && !(config_.exclude && config_.exclude->found_in(text));
  named_.emplace(text, wanted);
  return wanted;
}

Selection::Answer Selection::of(uint32_t agent, std::string_view kernel) {
  if (!config_.counters && !config_.att) return {};
  std::lock_guard lock(mutex_);
  if (config_.att && !config_.agents.empty() && !config_.agents.count(agent)) return {};
  uint64_t& following = following_[agent];
  if (config_.att && following) {
    --following;
    return {false, true};
  }
  if (!named(kernel)) return {};
  const uint64_t launch = ++launches_[{agent, std::string(kernel)}];
  bool inside = config_.ranges.empty();
  for (const auto& [first, last] : config_.ranges) inside |= launch >= first && launch <= last;
  Answer answer;
  answer.counters = config_.counters && inside;
  // A thread trace is large: without a range, a kernel's first launch stands for all.
  answer.att = config_.att && inside && (!config_.ranges.empty() || launch == 1);
  if (answer.att) following = config_.consecutive - 1;
  return answer;
}

}  // namespace record
