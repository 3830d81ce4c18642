#include "work_side.h"

namespace gpu::check {

std::string place_of(WorkId work, const Touch* touch) {
  const Launch* launch = launch_of(work);
  const std::string call = "call " + std::to_string(call_number(work));
  if (!launch) return call;
  const std::string kernel = call + " kernel " + std::to_string(launch->program->serial()) + " ";
  if (!touch) return kernel + std::to_string(launch->entry - launch->program->base());
  return kernel + std::to_string(touch->place) + " " + std::to_string(int(touch->kind));
}

void describe(record::Line& line, WorkId work, const char* access, const Touch* touch, uint32_t byte, bool known) {
  const HostStack& stack = stack_of(work);
  const Launch* launch = launch_of(work);
  if (launch) {
    Side side{.access = access, .stack = &stack};
    if (touch) {
      side.pc = launch->program->base() + 4 * uint64_t{touch->place};
      side.bytes = touch->size;
      side.group = touch->group;
      side.wave = touch->wave;
      side.lane = touch->lane != kNoLane ? int(touch->lane_at(byte)) : -1;
    }
    side.known = known;
    return describe(line, *launch, side);
  }
  line.comma();
  line.append('{');
  line.string("access", access).number("bytes", 0);
  stack.write(line);
  line.close('}');
}

}  // namespace gpu::check
