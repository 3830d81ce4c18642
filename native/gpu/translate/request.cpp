#include "request.h"

#include <algorithm>
#include <vector>

namespace gpu::translate {
namespace {

constexpr size_t kMostInstructions = 60'000;

struct Field {
  const char* name;
  size_t offset;
};
constexpr Field kLayout[] = {
    {"sgpr", offsetof(Wave, sgpr)},
    {"scc", offsetof(Wave, scc)},
    {"mode", offsetof(Wave, mode)},
    {"ranges", offsetof(Wave, ranges)},
    {"lds", offsetof(Wave, lds)},
    {"lds_bytes", offsetof(Wave, lds_bytes)},
    {"shared_aperture", offsetof(Wave, shared_aperture)},
    {"private_aperture", offsetof(Wave, private_aperture)},
    {"executed", offsetof(Wave, executed)},
    {"counts", offsetof(Wave, counts)},
    {"mask_exec", offsetof(Wave, mask_exec)},
    {"mask_valid", offsetof(Wave, mask_valid)},
    {"together", offsetof(Wave, together)},
    {"gives_way", offsetof(Wave, gives_way)},
    {"stored", offsetof(Wave, stored)},
    {"mask_row", offsetof(Wave, mask_row)},
    {"end", sizeof(Wave)},
    {"inst_next", offsetof(Inst, next)},
    {"inst_pc", offsetof(Inst, pc)},
    {"inst_cls", offsetof(Inst, cls)},
    {"inst_end", sizeof(Inst)},
    {"range_base", offsetof(Range, base)},
    {"range_end", offsetof(Range, end)},
    {"range_readable", offsetof(Range, readable)},
    {"range_writable", offsetof(Range, writable)},
    {"range_slack", offsetof(Range, slack)},
    {"range_size", sizeof(Range)},
    {"cache_entries", offsetof(RangeCache, entry)},
};

bool scalar_format(uint8_t format) {
  switch (Format(format)) {
    case Format::SOP1:
    case Format::SOP2:
    case Format::SOPK:
    case Format::SOPC:
    case Format::SOPP:
    case Format::SMEM: return true;
    default: return false;
  }
}

void add(std::string& out, long long value) { out += ' ' + std::to_string(value); }

void add(std::string& out, const Inst& i, const Source& s) {
  uint64_t value = 0;
  if (s.kind == Source::Constant) {
    const auto* words = reinterpret_cast<const uint32_t*>(s.at);
    value = words[0] | uint64_t{words[scalar_format(i.format) ? 1 : 64]} << 32;
  }
  for (long long n : {int(s.kind), int(s.code), int(s.neg), int(s.abs), int(s.sel), int(s.neg_hi)}) add(out, n);
  add(out, (long long)(value));
}

// A line of numbers an instruction; translate/request.py reads them in this order.
void add(std::string& out, const Inst& i, int64_t at) {
  out += 'i';
  add(out, at);
  for (long long n :
       {int(i.op), int(i.words), int(i.format), int(i.simple), int(i.plain_dst), int(i.clamp), int(i.omod), int(i.dst),
        int(i.sdst), int(i.dst_sel), int(i.dst_unused), int(i.op_sel), int(i.cls), i.imm})
    add(out, n);
  for (const Source& s : i.src) add(out, i, s);
  out += '\n';
}

}  // namespace

std::string describe(Program& program, uint64_t entry) {
  std::vector<const Inst*> found = program.reachable(entry);
  if (found.size() < 2 || found.size() > kMostInstructions) return {};
  std::string out = "rocm-perf translation 2\narch " + std::to_string(int(program.arch())) + "\n";
  for (const Field& field : kLayout)
    out += "layout " + std::string(field.name) + ' ' + std::to_string(field.offset) + '\n';
  for (const Inst* i : found) add(out, *i, (int64_t(i->pc) - int64_t(entry)) / 4);
  return out;
}

}  // namespace gpu::translate
