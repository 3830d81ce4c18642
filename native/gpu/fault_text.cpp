#include "fault_text.h"

#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "arena.h"

namespace gpu {
namespace {

__attribute__((format(printf, 1, 2))) std::string format(const char* pattern, ...) {
  char buffer[512];
  va_list arguments;
  va_start(arguments, pattern);
  vsnprintf(buffer, sizeof buffer, pattern, arguments);
  va_end(arguments);
  return buffer;
}

}  // namespace

const char* kind_of(RangeKind kind) {
  switch (kind) {
    case RangeKind::Vram: return "device memory";
    case RangeKind::HostPinned: return "pinned host memory";
    case RangeKind::Managed: return "managed memory";
    case RangeKind::Kernarg: return "kernel arguments";
    case RangeKind::Code: return "a code object's memory";
    case RangeKind::Scratch: return "scratch memory";
    case RangeKind::Vmem: return "mapped virtual memory";
    case RangeKind::Hostcall:
    case RangeKind::Runtime: return "the runtime's own memory";
  }
  return "memory";
}

bool has_address(FaultKind kind) {
  return kind == FaultKind::Unmapped || kind == FaultKind::Freed || kind == FaultKind::ReadOnly ||
         kind == FaultKind::Misaligned;
}

bool has_lane(FaultKind kind) {
  return has_address(kind) || kind == FaultKind::LdsOutOfRange || kind == FaultKind::ScratchOutOfRange;
}

// From the kernel's start; a function it calls may lie before it.
std::string offset_text(uint64_t pc, const KernelSymbol& kernel) {
  if (pc < kernel.entry) return format("(0x%" PRIx64 " before the kernel's code)", kernel.entry - pc);
  return format("(code offset 0x%" PRIx64 ")", pc - kernel.entry);
}

namespace {

std::string access(const Fault& fault) {
  return format("%s of %u byte%s", fault.write ? "write" : "read", fault.size, fault.size == 1 ? "" : "s");
}

// An offset into LDS or private memory; 32 bits, so that one below 0 is a very large one.
std::string past(uint64_t offset) {
  return offset < 1u << 31 ? format("offset %" PRIu64 ", past", offset)
                           : format("%" PRIu64 " bytes before the start of", (uint64_t{1} << 32) - offset);
}

std::string headline(const Launch& launch, const Fault& fault, const GroupShape& shape, uint64_t executed) {
  switch (fault.kind) {
    case FaultKind::Unmapped:
      return access(fault) + format(" at 0x%" PRIx64 ", which is no memory of this device", fault.address);
    case FaultKind::Freed: return access(fault) + format(" at 0x%" PRIx64 ", which has been freed", fault.address);
    case FaultKind::ReadOnly: return access(fault) + format(" at 0x%" PRIx64 ", which is read-only", fault.address);
    case FaultKind::Misaligned: return access(fault) + format(" at 0x%" PRIx64 ", which is not aligned", fault.address);
    case FaultKind::LdsOutOfRange:
      return access(fault) +
             format(" at LDS %s the %u bytes this workgroup has", past(fault.address).c_str(), launch.group_bytes);
    case FaultKind::ScratchOutOfRange:
      return access(fault) +
             format(" at private %s the %u bytes a work-item has", past(fault.address).c_str(), launch.private_bytes);
    case FaultKind::IllegalInstruction: return "an instruction this GPU does not have";
    case FaultKind::IllegalRegister:
      return format("a register past the %u vector registers of the kernel", unsigned(launch.vgpr_count));
    case FaultKind::Trap: return format("trap %u (abort or a failed assertion in device code)", fault.trap_id);
    case FaultKind::Abort: return "device code called abort";
    case FaultKind::BarrierDivergence:
      return format(
          "a barrier that not all of the workgroup's %u waves reach: this wave waits, others have left the kernel",
          shape.waves());
    case FaultKind::InstructionLimit:
      return executed ? format("an endless kernel: one wave has run %" PRIu64 " instructions", executed)
                      : "an endless kernel";
    case FaultKind::None:
    case FaultKind::HostBusy: break;
  }
  return "a fault of an unknown kind";
}

// Whether the process has memory there that the device was never told of.
bool host_memory(uint64_t address) {
  if (arena().contains(address)) return false;
  bool found = false;
  if (FILE* maps = std::fopen("/proc/self/maps", "r")) {
    char line[512];
    unsigned long long begin = 0, end = 0;
    while (!found && std::fgets(line, sizeof line, maps))
      found = std::sscanf(line, "%llx-%llx", &begin, &end) == 2 && address >= begin && address < end;
    std::fclose(maps);
  }
  return found;
}

// The program's own line, and what of a header was inlined there.
std::string source_text(const codeobject::Sources::Place& place) {
  std::string out = codeobject::told(place.own);
  if (codeobject::told(place.innermost) == out) return out;
  const std::string inner = codeobject::told(place.innermost), function = place.innermost.function;
  return out + " (inlined: " + (function.empty() ? "" : function + ", ") + inner.substr(inner.rfind('/') + 1) + ")";
}

std::string near(const AddressSpace& memory, uint64_t address) {
  if (address < 4096) return "a null pointer, or an offset from one";
  if (host_memory(address))
    return "host memory of the program: a kernel needs memory of hipMalloc, hipMallocManaged or hipHostMalloc, or "
           "registered";
  const NearestRange found = memory.nearest(address);
  if (!found.found) return "no device memory is allocated";
  const Range& r = found.range;
  const uint64_t size = r.asked_end() - r.base;
  const std::string what = format("%" PRIu64 " bytes of %s at 0x%" PRIx64, size, kind_of(r.kind), r.base);
  if (found.freed) return format("%" PRIu64 " bytes into ", address - r.base) + what + ", freed";
  if (found.distance == 0) return format("%" PRIu64 " bytes into ", address - r.base) + what;
  if (found.distance > 0) return format("%" PRId64 " bytes after the end of ", found.distance - 1) + what;
  return format("%" PRId64 " bytes before the start of ", -found.distance) + what;
}

}  // namespace

std::string tell_fault(const Launch& launch, const GroupShape& shape, uint32_t wave_number, const Wave& wave,
                       const AddressSpace& memory) {
  const Fault& fault = wave.fault;
  std::string out = "rocm-perf: GPU fault in kernel " + demangle(launch.kernel->name) + ": " +
                    headline(launch, fault, shape, wave.executed) + "\n";
  auto line = [&](const char* label, const std::string& text) {
    if (!text.empty()) out += format("  %-12s ", label) + text + "\n";
  };

  const CodeObject& object = *launch.object;
  if (Program* program = const_cast<CodeObject&>(object).program(fault.pc)) {
    const std::string text =
        disassemble(reinterpret_cast<const void*>(fault.pc), program->end() - fault.pc, fault.pc, object.arch());
    uint32_t word;
    std::memcpy(&word, reinterpret_cast<const void*>(fault.pc), sizeof word);
    line("instruction",
         (text.empty() ? format(".long 0x%08x", word) : text) + "   " + offset_text(fault.pc, *launch.kernel));
  } else {
    line("instruction", format("at 0x%" PRIx64 ", outside the kernel's code", fault.pc));
  }
  const std::string function = object.function_at(fault.pc);
  if (function != demangle(launch.kernel->name)) line("function", function);
  line("source", source_text(object.source(fault.pc)));
  const uint32_t lane = has_lane(fault.kind) ? fault.lane : 0;
  uint32_t item[3] = {0, 0, 0};
  if (wave_number * kLanes + lane < shape.items()) work_item(shape, wave_number * kLanes + lane, item);
  line("workgroup", format("(%u, %u, %u) of (%u, %u, %u), wave %u of %u", shape.id[0], shape.id[1], shape.id[2],
                           launch.groups[0], launch.groups[1], launch.groups[2], wave_number, shape.waves()));
  if (has_lane(fault.kind)) line("work-item", format("(%u, %u, %u), lane %u", item[0], item[1], item[2], lane));
  if (has_address(fault.kind)) line("nearest", near(memory, fault.address));
  if (fault.kind == FaultKind::InstructionLimit)
    line("limit", "set ROCM_PERF_VIRTUAL_MAX_INSTRUCTIONS to a higher number per wave, or to 0 for none");
  if (fault.kind == FaultKind::LdsOutOfRange)
    line("note", "hardware reads 0 there and drops what is written; --bounds report tells of it and goes on");
  if (fault.kind == FaultKind::BarrierDivergence)
    line("note",
         "hardware lets waves that have ended pass the barrier; ROCM_PERF_VIRTUAL_BARRIER=hardware does so too");
  return out;
}

OutsideText tell_outside(const Launch& launch, const GroupShape& shape, uint32_t wave_number, const Fault& fault,
                         const AddressSpace& memory) {
  const std::string source = codeobject::told(launch.object->source(fault.pc).own);
  const char* what = fault.kind == FaultKind::LdsOutOfRange       ? " of LDS"
                     : fault.kind == FaultKind::ScratchOutOfRange ? " of private memory"
                                                                  : "";
  OutsideText text;
  text.place = "kernel " + demangle(launch.kernel->name) + ", " +
               (source.empty() ? "no line numbers (-g) " + offset_text(fault.pc, *launch.kernel) : source) + ", " +
               access(fault) + what;
  if (fault.kind == FaultKind::LdsOutOfRange)
    text.first = format("%s the %u bytes this workgroup has", past(fault.address).c_str(), launch.group_bytes);
  else if (fault.kind == FaultKind::ScratchOutOfRange)
    text.first = format("%s the %u bytes a work-item has", past(fault.address).c_str(), launch.private_bytes);
  else text.first = near(memory, fault.address);
  uint32_t item[3] = {0, 0, 0};
  if (wave_number * kLanes + fault.lane < shape.items()) work_item(shape, wave_number * kLanes + fault.lane, item);
  text.first += format("; workgroup (%u, %u, %u), work-item (%u, %u, %u)", shape.id[0], shape.id[1], shape.id[2],
                       item[0], item[1], item[2]);
  return text;
}

std::string told_in_words(const Launch& launch, const GroupShape& shape, const Fault& fault,
                          const AddressSpace& memory) {
  const std::string what = headline(launch, fault, shape, 0);
  return has_address(fault.kind) ? what + "; " + near(memory, fault.address) : what;
}

}  // namespace gpu
