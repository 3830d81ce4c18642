#include "faults.h"

#include "allocations.h"
#include "arena.h"
#include "fault_text.h"

namespace gpu::check {
namespace {

struct Name {
  const char *tool, *kind;
};

Name name_of(const Fault& fault) {
  switch (fault.kind) {
    case FaultKind::Unmapped: return {"memory", fault.address < kPage ? "null-pointer" : "out-of-bounds"};
    case FaultKind::Freed: return {"memory", "use-after-free"};
    case FaultKind::ReadOnly: return {"memory", "read-only"};
    case FaultKind::Misaligned: return {"memory", "misaligned"};
    case FaultKind::LdsOutOfRange: return {"memory", "lds-out-of-bounds"};
    case FaultKind::ScratchOutOfRange: return {"memory", "private-out-of-bounds"};
    case FaultKind::BarrierDivergence: return {"sync", "barrier-not-reached"};
    case FaultKind::InstructionLimit: return {"sync", "endless"};
    default: return {"fault", "stopped"};
  }
}

constexpr uint64_t kAhead = 16;  // the widest load

}  // namespace

bool reads_ahead(const Fault& fault, const AddressSpace& memory) {
  const NearestRange near = memory.nearest(fault.address);
  if (!near.found || near.freed || near.distance != 0) return false;
  const uint64_t end = near.range.asked_end(), last = fault.address + fault.size;
  // An atomic on a part of the last word writes all of it.
  if (fault.write) return fault.size == 4 && fault.address % 4 == 0 && end % 4 != 0 && last <= round_up(end, 4);
  return last <= end + kAhead;
}

void fault(const Launch& launch, uint64_t group, uint32_t wave, const Fault& fault, const AddressSpace& memory,
           bool ended) {
  Fault seen = fault;
  if (seen.kind == FaultKind::Unmapped && memory.nearest(seen.address).freed) seen.kind = FaultKind::Freed;
  const Name name = name_of(seen);
  const std::string key = std::string(name.kind) + " " + std::to_string(launch.program->serial()) + " " +
                          std::to_string(seen.pc - launch.program->base()) + (seen.write ? " w" : " r");
  Counter* const counter = findings().place(key, [&](record::Line& line) {
    line.string("tool", name.tool).string("kind", name.kind).string("why", ended ? "stopped" : "went-on");
    line.number("bytes", seen.size).number("address", seen.address);
    line.string("text", told_in_words(launch, shape_of(launch, group), seen, memory));
    if (has_address(seen.kind)) {
      const NearestRange near = memory.nearest(seen.address);
      if (near.found) {
        line.string("memory", kind_of(near.range.kind)).number("base", near.range.base);
        line.number("size", near.range.asked_end() - near.range.base);
        write_stack(near.range.base);
      }
    }
    line.open("sides", '[');
    const char* access = !has_lane(seen.kind) ? "" : seen.write ? "write" : "read";
    describe(line, launch, {access, seen.pc, seen.size, group, wave, has_lane(seen.kind) ? int(seen.lane) : -1});
    line.close(']');
  });
  ++*counter;
}

}  // namespace gpu::check
