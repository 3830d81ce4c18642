#include "trace.h"

#include <algorithm>
#include <bit>

#include "lds_banks.h"
#include "wait_counts.h"

namespace gpu {
namespace {

// Each program has a place of its own.
constexpr uint64_t kCodeBytes = uint64_t{1} << 26, kCodePlaces = kCodeBase / kCodeBytes / 2;

bool between(InstClass cls, InstClass first, InstClass last) { return cls >= first && cls <= last; }

struct MatrixCycles {
  uint16_t busy, alone;  // of the matrix core; of these without the vector unit
};
MatrixCycles matrix_cycles(Arch arch, int16_t matrix) {
  static constexpr MatrixCycles kCycles[][kMatrixCount] = {
#include "matrix_cycles.inc"
  };
  return matrix >= 0 ? kCycles[size_t(arch)][matrix] : MatrixCycles{0, 4};
}

RegisterSpan span_of(const Source& source, OpType type, uint32_t width) {
  if (source.kind != Source::Vector) return {};
  const uint32_t registers = width ? width : std::max<uint32_t>(1, width_of[size_t(type)]);
  return {uint16_t(source.at / (kLanes * 4)), uint16_t(registers)};
}

}  // namespace

StaticTable::StaticTable(const Program& program, const Parameters& parameters)
    : base_(program.base()),
      code_at_(kCodeBase + program.serial() % kCodePlaces * kCodeBytes),
      arch_(program.arch()),
      parameters_(parameters),
      ids_(size_t(program.end() - program.base()) / 4 + 4) {}

uint32_t StaticTable::add(const Inst& inst, size_t slot) {
  const OpInfo& op = op_table[inst.op];
  StaticInst s;
  s.pc = inst.pc;
  s.fetch_address = code_at_ + inst.pc - base_;
  s.cls = op.cls;
  s.words = inst.words;
  s.unit = op.unit;
  switch (s.unit) {
    case Unit::Valu: {
      const bool trans = op.cls == InstClass::VALU_TRANS_F16 || op.cls == InstClass::VALU_TRANS_F32 ||
                         op.cls == InstClass::VALU_TRANS_F64;
      s.cycles = uint16_t(trans                       ? parameters_.trans_cycles
                          : op.flags & kOpQuarterRate ? parameters_.wide_int_cycles
                                                      : parameters_.valu_cycles);
      break;
    }
    case Unit::Matrix: {
      const MatrixCycles known = matrix_cycles(arch_, op.matrix);
      s.cycles = known.busy;
      s.alone = known.alone;
      // Unlisted ones take what the peak rate of their kind gives: 512 operations per unit of MOPS.
      if (!s.cycles) s.cycles = uint16_t(std::max<uint32_t>(8, op.matrix >= 0 ? matrix_table[op.matrix].mops : 8));
      break;
    }
    case Unit::Salu: s.cycles = uint16_t(parameters_.salu_cycles); break;
    case Unit::Idle:
      s.cycles = uint16_t(op.flags & kOpSleep ? 64 * std::max(1, inst.imm & 127) : 4 * ((inst.imm & 15) + 1));
      break;
    case Unit::Wait:
      if (op.flags & kOpWaitCounts) {
        const WaitCounts most = wait_counts(uint32_t(inst.imm));
        s.vmcnt = uint16_t(most.vm);
        s.lgkmcnt = uint16_t(most.lgkm);
      }
      break;
    default: break;
  }
  s.flat = between(op.cls, InstClass::FLAT_LOAD, InstClass::FLAT_ATOMIC);
  s.returns = inst.glc;
  const bool vector = s.unit == Unit::Valu || s.unit == Unit::Matrix;
  if (vector && op.dst != OpType::None && op.dst_width) s.dst = {inst.dst, op.dst_width};
  for (int k = 0; k < 3; ++k) {
    // The accumulator of a matrix instruction is as wide as its result.
    const bool accumulator = s.unit == Unit::Matrix && k == 2;
    if (vector || s.unit == Unit::Vmem || s.unit == Unit::Lds)
      s.src[k] = span_of(inst.src[k], op.src[k], accumulator ? op.dst_width : 0);
  }
  table_.push_back(s);
  ids_[slot] = uint32_t(table_.size());
  return uint32_t(table_.size() - 1);
}

size_t GroupTrace::steps() const {
  size_t total = 0;
  for (const WaveTrace& wave : waves) total += wave.steps.size();
  return total;
}

size_t GroupTrace::bytes() const {
  size_t total = 0;
  for (const WaveTrace& wave : waves) total += wave.steps.capacity() * 4 + wave.data.capacity() * 8;
  return total + lines.capacity() * 8;
}

void GroupTrace::only_lines() {
  for (const WaveTrace& wave : waves)
    wave.each_line([&](const MemHeader& header, uint64_t line) {
      const bool written = header.write || header.atomic;
      lines.push_back((line & ~uint64_t(kLineFlags)) | (line & (kLow | kHigh | kUncached)) |
                      (written ? uint64_t(kWritten) : 0));
    });
  std::sort(lines.begin(), lines.end());
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  lines.shrink_to_fit();
  waves = {};
}

const Addresses::Place& Addresses::place(const Range& range) {
  auto [it, fresh] = places_.try_emplace(range.base, Place{range.end, 0});
  if (fresh || it->second.end != range.end) {
    constexpr uint64_t kAlign = uint64_t{4} << 20;  // no range shares a set pattern by accident of the host
    it->second = {range.end, next_};
    next_ += (range.end - range.base + 2 * kAlign - 1) / kAlign * kAlign;
  }
  return it->second;
}

void Addresses::learn(const AddressSpace::Snapshot& memory) {
  for (const Range& range : memory.ranges) place(range);
  begin_ = 1;  // a range may have changed its size or place
  end_ = 0;
}

uint64_t Addresses::canonical(uint64_t address, const AddressSpace::Snapshot& memory) {
  if (address >= begin_ && address < end_) return address - begin_ + delta_;
  const Range* range = memory.find(address);
  if (!range) return address;
  begin_ = range->base;
  end_ = range->end;
  delta_ = place(*range).base;
  range_ = *range;
  switch (range->kind) {
    case RangeKind::HostPinned: flags_ = shared_with_host ? 0 : kUncached | kHost; break;
    case RangeKind::Managed: enter_piece(address, *range); break;
    case RangeKind::Hostcall:
    case RangeKind::Kernarg:
    case RangeKind::Runtime: flags_ = kUncached; break;
    default: flags_ = 0;
  }
  return address - begin_ + delta_;
}

// Pieces of managed memory are known one by one.
void Addresses::enter_piece(uint64_t address, const Range& range) {
  flags_ = 0;
  if (shared_with_host) return;
  const uint64_t start = delta_, into = (address - range.base) / ManagedMemory::kPiece * ManagedMemory::kPiece;
  begin_ = range.base + into;
  end_ = std::min(range.end, begin_ + ManagedMemory::kPiece);
  delta_ = start + into;
  if (!managed.reach(start, delta_ / ManagedMemory::kPiece, end_ - begin_)) flags_ = kUncached | kHost;
}

void Addresses::move(uint64_t address, uint64_t bytes, const AddressSpace::Snapshot& memory, bool here) {
  const Range* range = memory.find(address);
  if (!range || range->kind != RangeKind::Managed || !bytes) return;
  managed.move(place(*range).base + (address - range->base), bytes, here);
  begin_ = 1;
  end_ = 0;
}

void GroupRecorder::begin(uint64_t index, const std::vector<Wave*>& waves, uint32_t count) {
  group_ = {};
  group_.index = index;
  group_.waves.resize(count);
  // The last workgroup's lengths are a good guess.
  for (WaveTrace& wave : group_.waves) {
    wave.steps.reserve(usual_steps_);
    wave.data.reserve(usual_data_);
  }
  waves_.assign(waves.begin(), waves.begin() + count);
  last_ = nullptr;
}

GroupTrace GroupRecorder::take() {
  for (size_t i = 0; i < waves_.size(); ++i) {
    WaveTrace& trace = group_.waves[i];
    trace.executed = waves_[i]->executed;
    usual_steps_ = trace.steps.size();
    usual_data_ = trace.data.size();
  }
  return std::move(group_);
}

void GroupRecorder::executed(const Wave& wave, const Inst& inst, uint64_t exec, const MemAccess& access) {
  if (&wave != last_) {
    last_ = &wave;
    current_ = size_t(std::find(waves_.begin(), waves_.end(), &wave) - waves_.begin());
  }
  WaveTrace& trace = group_.waves[current_];
  if (trace.steps.size() >= limit_) {
    trace.cut = true;
    return;
  }
  const uint32_t id = table_.id(inst);
  const StaticInst& s = table_[id];
  if (s.unit == Unit::Valu || s.unit == Unit::Matrix) {
    const uint64_t quads = s.unit == Unit::Matrix ? 1 : s.cycles / 4;
    trace.valu_quads += quads;
    trace.valu_lane_quads += quads * uint64_t(__builtin_popcountll(exec));
  }
  if (access.space == Space::None) {
    trace.steps.push_back(id);
    return;
  }
  trace.steps.push_back(id | kHasData);
  if (access.space == Space::Lds) {
    MemHeader header;
    header.lanes = uint8_t(__builtin_popcountll(access.mask));
    header.bytes_per_lane = access.size;
    header.write = access.write;
    header.atomic = access.atomic;
    lds_access(access, access.mask, header, access.write);
    trace.data.push_back(std::bit_cast<uint64_t>(header));
    return;
  }
  if (access.space == Space::Scalar) {
    MemHeader header;
    header.scalar = 1;
    header.write = access.write;
    header.bytes_per_lane = access.size;
    const uint64_t at = addresses_.canonical(access.address[0], *wave.memory);
    const uint64_t first = at / 64 * 64, last = (at + access.size - 1) / 64 * 64;
    header.lines = uint8_t(1 + (last - first) / 64);
    trace.data.push_back(std::bit_cast<uint64_t>(header));
    const uint64_t flag = addresses_.last_flags();
    for (uint64_t line = first; line <= last; line += 64) trace.data.push_back(line | flag);
    return;
  }
  vector_access(wave, access, trace);
}

void GroupRecorder::add_line(uint64_t address, uint32_t size, bool write) {
  const uint64_t line = address & ~(kLineBytes - 1);
  uint32_t at = uint32_t((line / kLineBytes) * 0x9e3779b1u >> 7) & 127;
  while (generation_[at] == now_ && (line_[at] & ~uint64_t(kLineFlags)) != line) at = (at + 1) & 127;
  if (generation_[at] != now_) {
    generation_[at] = now_;
    line_[at] = line;
    filled_[at][0] = filled_[at][1] = 0;
    order_[count_++] = uint8_t(at);
  }
  const uint32_t offset = uint32_t(address & (kLineBytes - 1));
  const uint32_t low = offset < 64 ? std::min(size, 64 - offset) : 0, high = size - low;
  if (low) line_[at] |= kLow;
  if (high) line_[at] |= kHigh;
  if (write) {
    filled_[at][0] += low;
    filled_[at][1] += high;
  }
}

// The usual case: all lanes, one after the other without a gap, from a line's half on.
bool GroupRecorder::contiguous(const Wave& wave, const MemAccess& a, WaveTrace& trace) {
  if (a.mask != ~uint64_t(0) || a.space != Space::Global || a.lds_mask || a.scratch_mask || a.size < 4) return false;
  const uint64_t first = a.address[0];
  if (first & 63) return false;
  uint64_t off = 0;
  for (int l = 1; l < kLanes; ++l) off |= a.address[l] ^ (first + uint64_t(l) * a.size);
  if (off) return false;
  MemHeader header;
  header.lanes = kLanes;
  header.bytes_per_lane = a.size;
  header.write = a.write;
  header.atomic = a.atomic;
  const uint64_t begin = addresses_.canonical(first, *wave.memory), end = begin + uint64_t(kLanes) * a.size;
  const uint64_t flags = addresses_.last_flags();
  header.lines = uint8_t((end - 1) / kLineBytes - begin / kLineBytes + 1);
  header.accesses = kLanes / 4;
  trace.data.push_back(std::bit_cast<uint64_t>(header));
  for (uint64_t line = begin & ~(kLineBytes - 1); line < end; line += kLineBytes) {
    const uint64_t low = line >= begin ? uint64_t(kLow | kLowFull) : 0,
                   high = line + 64 < end ? uint64_t(kHigh | kHighFull) : 0;
    trace.data.push_back(line | flags | (a.write ? low | high : (low | high) & 3));
  }
  return true;
}

void GroupRecorder::vector_access(const Wave& wave, const MemAccess& a, WaveTrace& trace) {
  if (contiguous(wave, a, trace)) return;
  MemHeader header;
  const uint64_t scratch = a.space == Space::Scratch ? a.mask : a.scratch_mask;
  const uint64_t global = a.space == Space::Scratch ? 0 : a.mask;
  const uint64_t all = scratch | global;
  header.lanes = uint8_t(__builtin_popcountll(all | a.lds_mask));
  header.bytes_per_lane = a.size;
  header.write = a.write;
  header.atomic = a.atomic;
  if (a.lds_mask) lds_access(a, a.lds_mask, header, a.write);
  ++now_;
  count_ = 0;
  uint32_t accesses = 0;
  uint64_t flags = 0;
  for (int quad = 0; quad < kLanes; quad += 4) {
    if (!((all >> quad) & 15)) continue;
    uint64_t seen[4];
    uint32_t distinct = 0;
    for (int l = quad; l < quad + 4; ++l) {
      const uint64_t bit = uint64_t(1) << l;
      if (!(all & bit)) continue;
      uint64_t address = a.address[l];
      if (scratch & bit) {
        // Dwords of a private segment are interleaved over the lanes.
        const uint64_t host = reinterpret_cast<uint64_t>(wave.scratch) + (address & ~uint64_t(3)) * kLanes +
                              uint64_t(l) * 4 + (address & 3);
        const uint64_t at = addresses_.canonical(host, *wave.memory);
        for (uint32_t done = 0; done < a.size; done += 4)
          if (count_ < 120) add_line(at + uint64_t(done) * kLanes, std::min<uint32_t>(4, a.size - done), a.write);
        address = at;
      } else {
        const uint64_t device = address;
        address = addresses_.canonical(device, *wave.memory);
        const Range& range = addresses_.last_range();
        if (range.kind == RangeKind::Hostcall && !a.write && is_hostcall_control(range, device)) header.hostcall = 1;
        flags |= addresses_.last_flags();
        const uint32_t first = uint32_t(std::min<uint64_t>(a.size, kLineBytes - (address & (kLineBytes - 1))));
        add_line(address, first, a.write);
        if (first < a.size && count_ < 120) add_line(address + first, a.size - first, a.write);
      }
      const uint64_t line = address / kLineBytes;
      uint32_t k = 0;
      while (k < distinct && seen[k] != line) ++k;
      if (k == distinct) seen[distinct++] = line;
    }
    accesses += distinct;
  }
  header.lines = uint8_t(count_);
  header.accesses = uint8_t(std::min<uint32_t>(accesses, 255));
  trace.data.push_back(std::bit_cast<uint64_t>(header));
  for (uint32_t k = 0; k < count_; ++k) {
    const uint32_t at = order_[k];
    trace.data.push_back(line_[at] | flags | (filled_[at][0] >= 64 ? uint64_t(kLowFull) : 0) |
                         (filled_[at][1] >= 64 ? uint64_t(kHighFull) : 0));
  }
}

void GroupRecorder::lds_access(const MemAccess& a, uint64_t mask, MemHeader& header, bool write) {
  LdsCost cost = lds_cost(a.address, mask, a.size, write);
  if (a.two) {
    const LdsCost second = lds_cost(a.address2, mask, a.size, write);
    cost.passes += second.passes;
    cost.conflicts += second.conflicts;
  }
  header.lds_passes = uint8_t(std::min<uint32_t>(cost.passes, 255));
  header.lds_conflicts = uint16_t(std::min<uint32_t>(cost.conflicts, 65535));
}

}  // namespace gpu
