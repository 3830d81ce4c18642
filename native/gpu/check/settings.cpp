#include "settings.h"

#include <cstdlib>
#include <regex>
#include <string_view>

#include "record/log.h"

namespace gpu::check {
namespace {

const Settings* read() {
  const char* tools = std::getenv("ROCM_PERF_CHECK");
  if (!tools || !*tools || !record::start(std::getenv("ROCM_PERF_CHECK_LOG"))) return nullptr;
  static Settings found;
  std::string_view left = tools;
  while (!left.empty()) {
    const size_t comma = std::min(left.find(','), left.size());
    const std::string_view tool = left.substr(0, comma);
    found.memory |= tool == "memory";
    found.init |= tool == "init";
    found.race |= tool == "race";
    found.sync |= tool == "sync";
    found.reached |= tool == "reached";
    found.hazards |= tool == "hazards";
    left.remove_prefix(std::min(comma + 1, left.size()));
  }
  record::Line("checks").string("tools", tools).write();  // the log begins, whatever the program does
  if (const char* kernels = std::getenv("ROCM_PERF_CHECK_KERNEL")) found.kernels = kernels;
  return &found;
}

}  // namespace

const Settings* settings() {
  static const Settings* chosen = read();
  return chosen;
}

bool Settings::wants(const std::string& kernel) const {
  if (kernels.empty()) return true;
  static const std::regex pattern(kernels);
  return std::regex_search(kernel, pattern);
}

}  // namespace gpu::check
