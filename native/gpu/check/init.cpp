#include "init.h"

#include "init_group.h"

namespace gpu::check {
namespace {

const char* kind_of(Sink sink) {
  switch (sink) {
    case Sink::Store: return "uninitialised-store";
    case Sink::Update: return "uninitialised-atomic";
    case Sink::Address: return "uninitialised-address";
    case Sink::Branch: return "uninitialised-branch";
  }
  return "";
}

const char* access_of(Sink sink) {
  switch (sink) {
    case Sink::Store: return "write";
    case Sink::Update: return "atomic update";
    case Sink::Address: return "address";
    case Sink::Branch: return "branch";
  }
  return "";
}

const char* why(const Origin& origin) {
  switch (origin.space) {
    case Space::Lds: return "lds";
    case Space::Scratch: return "private";
    case Space::None: return "register";
    default: return "memory";
  }
}

}  // namespace

LaunchInit::LaunchInit(const Launch& launch, const DeviceSpec& device, bool tells)
    : launch_(launch), device_(device), tells_(tells) {}

LaunchInit::~LaunchInit() = default;

Observer* LaunchInit::begin(WorkgroupContext& group) {
  std::unique_ptr<GroupInit> next;
  if (spare_.empty()) {
    next = std::make_unique<GroupInit>(*this);
  } else {
    next = std::move(spare_.back());
    spare_.pop_back();
  }
  next->begin(group);
  open_.emplace_back(&group, std::move(next));
  return open_.back().second.get();
}

void LaunchInit::finished(const WorkgroupContext& group) {
  for (auto it = open_.begin(); it != open_.end(); ++it) {
    if (it->first != &group) continue;
    spare_.push_back(std::move(it->second));
    open_.erase(it);
    return;
  }
}

void LaunchInit::reached(const Reached& what) {
  if (!tells_) return;
  const uint64_t base = launch_.program->base();
  const Origin& origin = what.origin;
  const std::string key = std::string("init ") + kind_of(what.sink) + " " + std::to_string(launch_.program->serial()) +
                          " " + std::to_string(origin.pc ? origin.pc - base : 0) + " " +
                          std::to_string(what.inst->pc - base);
  Counter* const counter = findings().place(key, [&](record::Line& line) {
    line.string("tool", "init").string("kind", kind_of(what.sink)).string("why", why(origin));
    line.number("bytes", what.bytes);
    if (origin.space == Space::None) {
      line.string("text",
                  what.registers + (what.registers.empty() ? "registers that nothing wrote" : ", which nothing wrote"));
    } else if (origin.space == Space::Lds) {
      line.number("address", origin.address).string("memory", "LDS").number("size", launch_.group_bytes);
    } else if (origin.space == Space::Scratch) {
      line.number("address", origin.address).string("memory", "private memory").number("size", launch_.private_bytes);
    } else {
      describe_memory(line, launch_, origin.address);
    }
    line.open("sides", '[');
    if (origin.pc)
      describe(line, launch_,
               {"read of what nobody wrote", origin.pc, origin.bytes, what.group->index, what.wave, int(origin.lane)});
    describe(line, launch_, {access_of(what.sink), what.inst->pc, what.bytes, what.group->index, what.wave, what.lane});
    line.close(']');
  });
  ++*counter;
}

}  // namespace gpu::check
