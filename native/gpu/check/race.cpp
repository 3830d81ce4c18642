#include "race.h"

#include <bit>

#include "race_group.h"
#include "settings.h"

namespace gpu::check {
namespace {

// Of the shadow of global memory. Beyond it accesses go unchecked, and that is said.
constexpr size_t kMostBytes = size_t{2} << 30;
constexpr size_t kMostPerhaps = 1 << 16;

const char* told(Why why) {
  switch (why) {
    case Why::NoBarrier: return "no-barrier";
    case Why::NoOrder: return "no-order";
    case Why::NarrowScope: return "narrow-scope";
  }
  return "";
}

}  // namespace

// Before gfx942 an atomic store looks like any other: between workgroups nothing can be said there.
LaunchRaces::LaunchRaces(const Launch& launch)
    : launch_(launch), between_groups_(launch.object->arch() == Arch::Gfx942), global_(kMostBytes) {}

LaunchRaces::~LaunchRaces() = default;

Observer* LaunchRaces::begin(WorkgroupContext& group) {
  if (group.index > UINT32_MAX || group.shape.waves() > UINT8_MAX) {
    uncovered_ = true;
    return nullptr;
  }
  std::unique_ptr<GroupRaces> races;
  if (spare_.empty()) {
    races = std::make_unique<GroupRaces>(*this);
  } else {
    races = std::move(spare_.back());
    spare_.pop_back();
  }
  races->begin(group);
  open_.emplace_back(&group, std::move(races));
  return open_.back().second.get();
}

void LaunchRaces::finished(const WorkgroupContext& group) {
  for (auto it = open_.begin(); it != open_.end(); ++it) {
    if (it->first != &group) continue;
    spare_.push_back(std::move(it->second));
    open_.erase(it);
    return;
  }
}

void LaunchRaces::end() {
  for (const auto& [key, race] : perhaps_) tell(race);
  perhaps_.clear();
  const std::string kernel = demangle(launch_.kernel->name);
  record::Line("launch")
      .string("kernel", kernel)
      .number("workgroups", launch_.group_count)
      .number("accesses", accesses_)
      .number("lds_accesses", lds_accesses_)
      .number("bytes", global_.lines() * Shadow::kLine)
      .number("same_value", same_value_)
      .write();
  if (global_.lost() || lds_lost_)
    findings().not_covered("race: kernel " + kernel + " touches more memory than is kept track of");
  if (uncovered_) findings().not_covered("race: kernel " + kernel + " has workgroups or waves past what can be named");
  if (settings()->race && !between_groups_ && launch_.group_count > 1)
    findings().not_covered("race: between workgroups, nothing: on gfx90a an atomic store looks like any other");
}

Accesses LaunchRaces::accesses() const {
  Accesses all;
  all.runs = runs_of(global_);
  all.released = released_;
  all.acquired = acquired_;
  all.talks_to_host = atomics_on_host_ || (released_ && writes_to_host_);
  all.tells_atomics = between_groups_;
  return all;
}

void LaunchRaces::found(const Race& race) {
  const bool first_reads = race.first.kind == Kind::Read && race.second.compares;
  const bool second_reads = race.second.kind == Kind::Read && race.first.compares;
  if (first_reads || second_reads) {
    const Touch& reader = first_reads ? race.first : race.second;
    const uint64_t where = race.lds ? ~race.address : race.address;
    if (perhaps_.size() < kMostPerhaps) perhaps_.emplace(std::pair{key_of(reader.group, reader.wave), where}, race);
    else uncovered_ = true;
    return;
  }
  tell(race);
}

void LaunchRaces::tell(const Race& race) {
  const Touch& a = race.first;
  const Touch& b = race.second;
  const auto side = [](const Touch& touch) { return uint64_t{touch.place} << 2 | uint64_t(touch.kind); };
  const std::pair key{std::min(side(a), side(b)),
                      std::max(side(a), side(b)) << 4 | uint64_t(race.lds) << 2 | uint64_t(race.why)};
  Counter*& counter = counters_[key];
  if (!counter) {
    const std::string text = "race " + std::to_string(launch_.program->serial()) + " " + std::to_string(key.first) +
                             " " + std::to_string(key.second);
    counter = findings().place(text, [&](record::Line& line) {
      line.string("tool", "race").string("kind", race.lds ? "lds" : "global").string("why", told(race.why));
      line.number("bytes", race.bytes);
      if (race.lds) line.number("address", race.address).string("memory", "LDS").number("size", launch_.group_bytes);
      else describe_memory(line, launch_, race.address);
      line.open("sides", '[');
      for (const Touch* touch : {&a, &b}) {
        const uint32_t byte = uint32_t(race.address % Shadow::kLine);
        const int lane = touch->lane != kNoLane ? int(touch->lane_at(byte)) : -1;
        describe(line, launch_,
                 {told(touch->kind), launch_.program->base() + 4 * uint64_t{touch->place}, touch->size, touch->group,
                  touch->wave, lane});
      }
      line.close(']');
    });
  }
  ++*counter;
}

}  // namespace gpu::check
