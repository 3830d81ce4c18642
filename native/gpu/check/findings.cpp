#include "findings.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "allocations.h"
#include "fault_text.h"
#include "ledger.h"
#include "settings.h"

namespace gpu::check {
namespace {

constexpr size_t kPlaces = 1000;

std::atomic<const AddressSpace*> process_memory{nullptr};

}  // namespace

Findings& findings() {
  static Findings& all = *new Findings;  // outlives every thread and static destructor
  return all;
}

Findings::Findings() : process_(getpid()) {
  std::atexit([] {
    if (getpid() != findings().process_) return;  // a fork has its parent's handlers
    if (work_is_ordered()) ledger().end();
    findings().sum_up();
  });
}

Counter* Findings::place(const std::string& key, const std::function<void(record::Line&)>& describe) {
  std::lock_guard lock(mutex_);
  if (const auto known = places_.find(key); known != places_.end()) return &known->second.count;
  if (places_.size() == kPlaces) return &elsewhere_;
  Place& fresh = places_[key];
  fresh.id = places_.size();
  record::Line line("finding");
  line.number("id", fresh.id);
  describe(line);
  line.write();
  return &fresh.count;
}

void Findings::not_covered(const std::string& what) {
  std::lock_guard lock(mutex_);
  if (not_covered_.insert(what).second) record::Line("not_covered").string("what", what).write();
}

void Findings::repeated(const std::string& kernel) {
  std::lock_guard lock(mutex_);
  ++repeated_[kernel];
}

void Findings::sum_up() {
  std::lock_guard lock(mutex_);
  for (const auto& [key, place] : places_)
    record::Line("count").number("id", place.id).number("count", place.count).write();
  for (const auto& [kernel, launches] : repeated_)
    record::Line("repeated").string("kernel", kernel).number("launches", launches).write();
  if (elsewhere_) record::Line("elsewhere").number("count", elsewhere_).write();
  if (settings()->memory) write_live();
}

void describe(record::Line& line, const Launch& launch, const Side& side) {
  const CodeObject& object = *launch.object;
  line.comma();
  line.append('{');
  line.string("access", side.access).number("bytes", side.bytes);
  line.string("kernel", demangle(launch.kernel->name));
  if (Program* program = side.pc ? const_cast<CodeObject&>(object).program(side.pc) : nullptr)
    line.string("instruction",
                disassemble(reinterpret_cast<const void*>(side.pc), program->end() - side.pc, side.pc, object.arch()));
  if (side.pc) line.string("at", offset_text(side.pc, *launch.kernel));
  line.open("frames", '[');
  std::vector<codeobject::Frame> frames;
  if (side.pc) frames = object.chain(side.pc);
  std::erase_if(frames, [](const codeobject::Frame& frame) { return !frame.line || frame.file.empty(); });
  // Code that the compiler made up has the line before it.
  if (frames.empty() && side.pc) frames = {object.source(side.pc).own};
  for (const codeobject::Frame& frame : frames) {
    if (frame.file.empty()) continue;
    line.comma();
    line.append('{');
    line.string("function", frame.function).string("file", frame.file).number("line", frame.line);
    line.close('}');
  }
  line.close(']');
  if (side.stack) side.stack->write(line);
  if (!side.known) return void(line.close('}'));
  const GroupShape shape = shape_of(launch, side.group);
  line.three("workgroup", shape.id).number("wave", side.wave);
  if (side.lane >= 0 && side.wave * kLanes + uint32_t(side.lane) < shape.items()) {
    uint32_t item[3];
    work_item(shape, side.wave * kLanes + uint32_t(side.lane), item);
    line.three("item", item);
  }
  line.close('}');
}

void describe_memory(record::Line& line, const Launch& launch, uint64_t address) {
  const Range* range = launch.memory->find(address);
  line.number("address", address);
  if (!range) return;
  line.string("memory", kind_of(range->kind)).number("base", range->base);
  line.number("size", range->asked_end() - range->base);
  write_stack(range->base);
  line.open("arguments", '[');
  const auto* words = reinterpret_cast<const uint8_t*>(launch.request.kernarg);
  for (uint32_t offset = 0; words && offset + 8 <= launch.kernel->kernarg_bytes; offset += 8) {
    uint64_t value;
    std::memcpy(&value, words + offset, sizeof value);
    if (value >= range->base && value < range->end) line.append_number(offset);
  }
  line.close(']');
}

void describe_memory(record::Line& line, uint64_t address) {
  line.number("address", address);
  const AddressSpace* memory = memory_in_use();
  const NearestRange near = memory ? memory->nearest(address) : NearestRange{};
  if (!near.found || near.distance != 0) return;
  line.string("memory", kind_of(near.range.kind)).number("base", near.range.base);
  line.number("size", near.range.asked_end() - near.range.base);
  write_stack(near.range.base);
}

void memory_is(const AddressSpace& memory) {
  process_memory = &memory;
  (void)findings();  // which sums up when the process ends: after the runtimes that begin later have settled
}

const AddressSpace* memory_in_use() { return process_memory.load(std::memory_order_acquire); }

}  // namespace gpu::check
