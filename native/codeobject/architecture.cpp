#include "architecture.h"

#include <map>

namespace codeobject {
namespace {

struct Machine {
  uint8_t code;
  std::string_view name;
};
struct Covers {
  std::string_view generic, processor;
};
#include "machines.inc"

struct Target {
  std::string processor;
  std::map<std::string, char> features;  // "xnack" -> '+' or '-'
};

Target parse_target(const std::string& text) {
  Target target;
  size_t colon = text.find(':');
  target.processor = text.substr(0, colon);
  while (colon != std::string::npos) {
    const size_t next = text.find(':', colon + 1);
    std::string feature = text.substr(colon + 1, next - colon - 1);
    if (feature.size() > 1) {
      const char sign = feature.back();
      feature.pop_back();
      target.features[feature] = sign;
    }
    colon = next;
  }
  return target;
}

}  // namespace

std::string_view machine(uint32_t flags) {
  for (const Machine& row : kMachines)
    if (row.code == (flags & 0xff)) return row.name;
  return {};
}

std::string processor(std::string_view target) {
  const size_t at = target.rfind("gfx");
  return at == std::string_view::npos ? std::string() : std::string(target.substr(at));
}

bool covers(std::string_view generic, std::string_view processor) {
  for (const Covers& row : kCovers)
    if (row.generic == generic && row.processor == processor) return true;
  return false;
}

int target_rank(const std::string& built, const std::string& wanted) {
  const Target code = parse_target(built), device = parse_target(wanted);
  const bool same = code.processor == device.processor;
  if (!same && !covers(code.processor, device.processor)) return 0;
  int rank = same ? 8 : 1;
  for (const auto& [feature, sign] : code.features) {
    auto have = device.features.find(feature);
    if (have != device.features.end() && have->second != sign) return 0;
    ++rank;
  }
  return rank;
}

}  // namespace codeobject
