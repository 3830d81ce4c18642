#include "init_group.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "arena.h"
#include "operand_text.h"
#include "registers.h"
#include "run_one.h"

namespace gpu::check {
namespace {

constexpr uint32_t kVcc = 106, kScalars = 108;  // those before trap registers
constexpr uint32_t kMostSpan = 16 << 10;        // bytes between lanes that are looked at as one stretch

uint64_t ones(uint32_t bytes) { return bytes >= 64 ? ~uint64_t(0) : (uint64_t{1} << bytes) - 1; }

uint64_t differing(const uint32_t* a, const uint32_t* b) {
  if (std::memcmp(a, b, sizeof(uint32_t) * kLanes) == 0) return 0;
  uint64_t out = 0;
  for (int l = 0; l < kLanes; ++l) out |= uint64_t(a[l] != b[l]) << l;
  return out;
}

// Which of four bytes have a bit set.
uint32_t bytes_of(uint32_t bits) {
  uint32_t out = 0;
  for (int b = 0; b < 4; ++b) out |= uint32_t((bits >> (8 * b) & 255) != 0) << b;
  return out;
}

uint32_t bits_of(uint32_t bytes) {
  uint32_t out = 0;
  for (int b = 0; b < 4; ++b)
    if (bytes >> b & 1) out |= 255u << (8 * b);
  return out;
}

uint32_t row_of(const Source& source) { return uint32_t(source.at / (kLanes * 4)); }

bool scalar_format(const Inst& inst) {
  switch (Format(inst.format)) {
    case Format::SOP1:
    case Format::SOP2:
    case Format::SOPK:
    case Format::SOPC:
    case Format::SOPP:
    case Format::SMEM: return true;
    default: return false;
  }
}

// Lanes whose bits go to other lanes, or to all.
bool crosses_lanes(const Inst& inst) {
  return Format(inst.format) == Format::DPP || op_table[inst.op].cls == InstClass::LDS_OTHER;
}

bool compares(const OpInfo& op) { return op.dst == OpType::MASK; }

// Half a register, or a byte, is what the operands are: which, is not looked at.
bool narrow(const Inst& inst) {
  if (Format(inst.format) == Format::SDWA) return true;
  switch (op_table[inst.op].src[0]) {
    case OpType::B16:
    case OpType::U16:
    case OpType::I16:
    case OpType::F16:
    case OpType::F16D:
    case OpType::F16R:
    case OpType::F16X2:
    case OpType::U16X2:
    case OpType::I16X2:
    case OpType::BF8:
    case OpType::FP8: return true;
    default: return std::string_view(op_table[inst.op].name).find("ubyte") != std::string_view::npos;
  }
}

template <class F>
void each_lane(uint64_t lanes, F f) {
  for (; lanes; lanes &= lanes - 1) f(std::countr_zero(lanes));
}

uint64_t lanes_of(const MemAccess& access) { return access.mask | access.lds_mask | access.scratch_mask; }

}  // namespace

void GroupInit::Free::operator()(Wave* wave) const { arena().free(wave); }

void GroupInit::begin(const WorkgroupContext& group) {
  group_ = &group;
  last_ = 0;
  const Launch& launch = *group.launched;
  lds_words_.assign(ByteBits::words_for(launch.group_bytes_taken), 0);
  lds_ = ByteBits(lds_words_.data(), launch.group_bytes_taken);
  for (uint32_t i = 0; i < group.shape.waves(); ++i) {
    if (twins_.size() <= i) {
      twins_.push_back(std::make_unique<Twin>());
      auto* made = static_cast<Wave*>(arena().allocate(sizeof(Wave)));
      if (!made) throw std::bad_alloc();
      twins_.back()->wave.reset(made);
    }
    begin(*twins_[i], *group.waves[i], i);
  }
}

// What a wave begins with is written over registers that are the other way round.
void GroupInit::begin(Twin& twin, const Wave& wave, uint32_t number) {
  const Launch& launch = *group_->launched;
  Wave& other = *twin.wave;
  constexpr size_t kState = offsetof(Wave, sgpr);
  std::memcpy(reinterpret_cast<char*>(&other) + kState, reinterpret_cast<const char*>(&wave) + kState,
              sizeof(Wave) - kState);
  other.access = nullptr;
  const auto turn = [&](uint32_t first, uint32_t count) {
    for (uint32_t row = first; row < first + count; ++row)
      for (int l = 0; l < kLanes; ++l) other.vgpr[row][l] = ~wave.vgpr[row][l];
  };
  const uint32_t arch = wave.acc_offset, acc = uint32_t(wave.vgpr_count - wave.acc_offset);
  turn(0, arch);
  turn(kAccRow, acc);
  for (uint32_t& word : other.s_) word = ~word;
  other.vcc = ~other.vcc;
  start_wave(other, launch, group_->shape, number, group_->index, launch_.device());
  std::fill_n(twin.unknown, arch, ~Lanes(0));
  std::fill_n(twin.unknown + kAccRow, acc, ~Lanes(0));
  std::fill_n(twin.vector, arch, Origin{});
  std::fill_n(twin.vector + kAccRow, acc, Origin{});
  std::fill_n(twin.computed, arch, Lanes(0));
  std::fill_n(twin.computed + kAccRow, acc, Lanes(0));
  see_row(wave, twin, 0);
  std::fill_n(twin.scalar, kMaxSgprs, Origin{});
  twin.scc = {};
  std::fill_n(twin.unknown_bits, kMaxSgprs, 0u);
  std::fill_n(twin.scalar_computed, kMaxSgprs, false);
  for (uint32_t code = 0; code < kScalars; ++code) see_scalar(wave, twin, code);
  twin.written.assign(launch.private_bytes, 0);
}

GroupInit::Twin& GroupInit::twin_of(const Wave& wave) {
  if (last_ >= group_->shape.waves() || group_->waves[last_] != &wave)
    last_ = uint32_t(std::find(group_->waves.begin(), group_->waves.end(), &wave) - group_->waves.begin());
  return *twins_[last_];
}

void GroupInit::see_row(const Wave& wave, Twin& twin, uint32_t row) {
  twin.unknown[row] = differing(wave.vgpr[row], twin.wave->vgpr[row]);
}

void GroupInit::see_scalar(const Wave& wave, Twin& twin, uint32_t code) {
  twin.unknown_bits[code] = wave.sgpr[code] ^ twin.wave->sgpr[code];
}

GroupInit::Operands GroupInit::operands_of(const Twin& twin, const Inst& inst) const {
  Operands out;
  for (int k = 0; k < 3; ++k) {
    const Source& source = inst.src[k];
    const uint32_t words = source_width(inst, k);
    if (source.kind == Source::Vector) {
      for (uint32_t row = row_of(source); row < std::min<uint32_t>(row_of(source) + words, kMaxVgprs); ++row) {
        if (!twin.unknown[row]) continue;
        if (!out.any) out.origin = twin.vector[row];
        out.any = true;
        out.unknown |= twin.unknown[row];
        out.computed |= twin.computed[row];
      }
    } else if (source.kind == Source::Scalar) {
      for (uint32_t code = source.code; code < std::min<uint32_t>(source.code + words, kMaxSgprs); ++code) {
        if (!twin.unknown_bits[code]) continue;
        if (!out.any) out.origin = twin.scalar[code];
        out.any = true;
        // A mask chooses: what is chosen between may be known.
        const bool mask = op_table[inst.op].src[k] == OpType::MASK;
        if (!mask) out.unknown = ~Lanes(0);
        if (mask) out.computed |= Lanes(twin.unknown_bits[code]) << (code == source.code ? 0 : 32);
        else if (twin.scalar_computed[code]) out.computed = ~Lanes(0);
      }
    }
  }
  return out;
}

// ---- from registers to registers

void GroupInit::compute(const Wave& wave, Twin& twin, const Inst& inst, uint64_t exec) {
  Wave& other = *twin.wave;
  const OpInfo& op = op_table[inst.op];
  const RoleOf& role = role_of(inst.op);
  const Operands in = operands_of(twin, inst);
  run_one(other, inst);

  if (scalar_format(inst)) {
    const bool unknown = in.any || other.scc != wave.scc;
    if (role.judges && in.any && other.scc == wave.scc) other.scc = uint8_t(!wave.scc);
    if (other.scc != wave.scc && in.any) twin.scc = in.origin;
    const uint32_t count = std::max<uint32_t>(op.dst_width, 1);
    // A move to where a register says may have gone anywhere.
    const bool anywhere = std::string_view(op.name).starts_with("s_movreld");
    const uint32_t first = anywhere ? 0 : inst.dst, last = anywhere ? kScalars : std::min<uint32_t>(first + count, 128);
    for (uint32_t code = first; code < last; ++code) {
      see_scalar(wave, twin, code);
      if (!unknown || !twin.unknown_bits[code]) continue;
      twin.scalar[code] = in.any ? in.origin : twin.scc;
      twin.scalar_computed[code] = !role.moves || in.computed || !in.any;
    }
  } else {
    const bool indexed = wave.mode >> 27 & 1;
    if (vector_result(inst)) {
      for (uint32_t row = inst.dst; row < std::min<uint32_t>(inst.dst + op.dst_width, kMaxVgprs); ++row) {
        if (role.judges && !narrow(inst) && in.unknown) {
          const Lanes same = in.unknown & exec & ~differing(wave.vgpr[row], other.vgpr[row]);
          each_lane(same, [&](int l) { other.vgpr[row][l] = ~wave.vgpr[row][l]; });
        }
        see_row(wave, twin, row);
        if (!twin.unknown[row]) {
          twin.computed[row] = 0;
          continue;
        }
        if (in.any) twin.vector[row] = in.origin;
        const Lanes fresh = role.moves ? (crosses_lanes(inst) && in.computed ? ~Lanes(0) : in.computed) : ~Lanes(0);
        twin.computed[row] = twin.unknown[row] & ((fresh & exec) | (twin.computed[row] & ~exec));
      }
    }
    if (std::string_view(op.name).starts_with("v_swap")) {
      const uint32_t row = row_of(inst.src[0]);
      see_row(wave, twin, row);
      std::swap(twin.vector[row], twin.vector[inst.dst]);
    }
    if (indexed)
      for (uint32_t row = 0; row < wave.vgpr_count && row < kAccRow; ++row) see_row(wave, twin, row);
    if (op.dst == OpType::MASK || op.dst == OpType::SGPR || op.flags & kOpSdst) {
      if (role.judges && compares(op) && !narrow(inst) && in.unknown) {
        uint64_t real, its;
        std::memcpy(&real, &wave.sgpr[inst.sdst], 8);
        std::memcpy(&its, &other.sgpr[inst.sdst], 8);
        const Lanes lanes = in.unknown & exec;
        its = (its & ~lanes) | (~real & lanes);
        std::memcpy(&other.sgpr[inst.sdst], &its, 8);
        // v_cmpx gives the mask to exec, too.
        if (wave.exec != exec) other.exec = (other.exec & ~lanes) | (~wave.exec & lanes);
      }
      const uint32_t count = op.dst == OpType::SGPR ? 1 : 2;
      for (uint32_t code = inst.sdst; code < std::min<uint32_t>(inst.sdst + count, kMaxSgprs); ++code) {
        see_scalar(wave, twin, code);
        if (!in.any || !twin.unknown_bits[code]) continue;
        twin.scalar[code] = in.origin;
        twin.scalar_computed[code] = !role.moves || in.computed;
      }
    }
  }

  if (other.exec != wave.exec) {
    const int lane = std::countr_zero(other.exec ^ wave.exec);
    const Origin origin = in.any ? in.origin : twin.scc;
    tell(Sink::Branch, wave, inst, origin, lane, 0);
    other.exec = wave.exec;
    agree(wave, twin, origin);
  }
  twin.unknown_bits[126] = twin.unknown_bits[127] = 0;
}

// Once told, it is not told again of all that follows from the same.
void GroupInit::agree(const Wave& wave, Twin& twin, const Origin& origin) {
  for (uint32_t code = 0; code < kScalars; ++code) {
    if (!twin.unknown_bits[code] || twin.scalar[code].pc != origin.pc) continue;
    if (!origin.pc && code != kVcc && code != kVcc + 1) continue;
    twin.wave->sgpr[code] = wave.sgpr[code];
    twin.unknown_bits[code] = 0;
  }
}

// The result is what it is, whatever was unknown.
void GroupInit::given(const Wave& wave, Twin& twin, const Inst& inst, uint64_t exec) {
  const OpInfo& op = op_table[inst.op];
  if (!op.dst_width) return;
  if (scalar_format(inst)) {
    for (uint32_t code = inst.dst; code < std::min<uint32_t>(inst.dst + op.dst_width, kMaxSgprs); ++code) {
      twin.wave->sgpr[code] = wave.sgpr[code];
      twin.unknown_bits[code] = 0;
    }
    return;
  }
  for (uint32_t row = inst.dst; row < std::min<uint32_t>(inst.dst + op.dst_width, kMaxVgprs); ++row) {
    each_lane(exec, [&](int l) { twin.wave->vgpr[row][l] = wave.vgpr[row][l]; });
    twin.unknown[row] &= ~exec;
    twin.computed[row] &= ~exec;
  }
}

void GroupInit::branch(const Wave& wave, Twin& twin, const Inst& inst) {
  Wave& other = *twin.wave;
  const std::string_view name = op_table[inst.op].name;
  if (name.starts_with("s_cbranch_scc")) {
    if (other.scc == wave.scc) return;
    tell(Sink::Branch, wave, inst, twin.scc, -1, 0, "the scalar condition");
    other.scc = wave.scc;
    agree(wave, twin, twin.scc);
  } else if (name.starts_with("s_cbranch_vcc")) {
    // A lane that is known to be in the mask decides.
    if (other.vcc == wave.vcc || (other.vcc & wave.vcc)) return;
    const Origin origin = twin.scalar[twin.unknown_bits[kVcc] ? kVcc : kVcc + 1];
    tell(Sink::Branch, wave, inst, origin, std::countr_zero(other.vcc ^ wave.vcc), 0, "vcc");
    other.vcc = wave.vcc;
    twin.unknown_bits[kVcc] = twin.unknown_bits[kVcc + 1] = 0;
    agree(wave, twin, origin);
  }
}

void GroupInit::jump(const Wave& wave, Twin& twin, const Inst& inst) {
  if (inst.src[0].kind == Source::Scalar) check_scalar(wave, twin, inst, inst.src[0].code, 2);
  given(wave, twin, inst, 0);
}

// ---- memory

Space GroupInit::space_of(const MemAccess& access, int lane) {
  if (access.space != Space::Global) return access.space;
  if (access.lds_mask >> lane & 1) return Space::Lds;
  return access.scratch_mask >> lane & 1 ? Space::Scratch : Space::Global;
}

const WrittenPiece* GroupInit::piece(uint64_t address) {
  if (generation_ != written_generation()) {
    generation_ = written_generation();
    piece_ = nullptr;
  }
  if (!piece_ || address < piece_->base || address >= piece_->end) {
    auto found = written_piece(address);
    if (!found) return nullptr;
    piece_ = std::move(found);
  }
  return piece_.get();
}

uint32_t GroupInit::written(Twin& twin, Space space, int lane, uint64_t address, uint32_t bytes) {
  switch (space) {
    case Space::Lds: return uint32_t(lds_.get(address, bytes));
    case Space::Scratch: {
      uint32_t out = 0;
      for (uint32_t b = 0; b < bytes; ++b)
        out |= uint32_t(address + b >= twin.written.size() || twin.written[address + b] >> lane & 1) << b;
      return out;
    }
    default: {
      const WrittenPiece* found = piece(address);
      return uint32_t(found ? found->bits.get(address - found->base, bytes) : ones(bytes));
    }
  }
}

void GroupInit::write(Twin& twin, Space space, int lane, uint64_t address, uint32_t bytes, uint32_t set) {
  switch (space) {
    case Space::Lds: return lds_.put(address, bytes, set);
    case Space::Scratch:
      for (uint32_t b = 0; b < bytes && address + b < twin.written.size(); ++b) {
        Lanes& lanes = twin.written[address + b];
        lanes = (lanes & ~(Lanes(1) << lane)) | Lanes(set >> b & 1) << lane;
      }
      return;
    default:
      if (piece(address)) piece_->bits.put(address - piece_->base, bytes, set);
  }
}

// The usual case, without a look at each lane. False where it cannot be told so.
bool GroupInit::all_written(const MemAccess& access, const uint64_t* addresses) {
  const Lanes lanes = lanes_of(access);
  if (!lanes) return true;
  if (access.space == Space::Scratch || access.lds_mask || (access.space == Space::Global && access.scratch_mask))
    return false;
  uint64_t low = UINT64_MAX, high = 0;
  each_lane(lanes, [&](int l) {
    low = std::min(low, addresses[l]);
    high = std::max(high, addresses[l]);
  });
  const uint64_t span = high - low + access.size;
  if (span > kMostSpan) return false;
  if (access.space == Space::Lds) return lds_.all_set(low, span);
  const WrittenPiece* found = piece(low);
  if (!found) return !piece(high);
  return high < found->end && found->bits.all_set(low - found->base, span);
}

void GroupInit::loaded(const Wave& wave, Twin& twin, const Inst& inst, uint64_t exec, const MemAccess& access) {
  if (inst.lds) return to_lds(wave, inst, access);
  const OpInfo& op = op_table[inst.op];
  const RoleOf& role = role_of(inst.op);
  Wave& other = *twin.wave;
  const uint32_t rows = std::min<uint32_t>(op.dst_width, kMaxVgprs - inst.dst);
  // The half that a load leaves stays as little known as it was.
  const uint32_t kept = role.given == 4 ? 0 : role.first ? 0xffffu : 0xffff0000u;
  for (uint32_t row = inst.dst; row < inst.dst + rows; ++row) {
    if (!kept && exec == ~uint64_t(0)) {
      std::memcpy(other.vgpr[row], wave.vgpr[row], sizeof other.vgpr[row]);
    } else {
      each_lane(exec, [&](int l) { other.vgpr[row][l] = (wave.vgpr[row][l] & ~kept) | (other.vgpr[row][l] & kept); });
    }
    if (kept) see_row(wave, twin, row);
    else twin.unknown[row] &= ~exec;
    twin.computed[row] &= twin.unknown[row];
  }
  if (access.space == Space::None) return;
  const bool two = access.two;
  if (all_written(access, access.address) && (!two || all_written(access, access.address2))) return;

  const uint32_t size = access.size, all = uint32_t(ones(size));
  const bool whole = role.bytes == 4;
  Lanes touched = 0;
  for (int part = 0; part < (two ? 2 : 1); ++part) {
    const uint64_t* addresses = part ? access.address2 : access.address;
    each_lane(lanes_of(access), [&](int l) {
      const Space space = space_of(access, l);
      const uint32_t lacking = all & ~written(twin, space, l, addresses[l], size);
      if (!lacking) return;
      const Origin origin{inst.pc, addresses[l] + uint32_t(std::countr_zero(lacking)), space, uint8_t(l),
                          uint8_t(size)};
      const auto turn = [&](uint32_t row, uint32_t bytes) {
        if (!bytes) return;
        other.vgpr[row][l] ^= bits_of(bytes);
        if (!(touched & twin.unknown[row])) twin.vector[row] = origin;
        twin.unknown[row] |= Lanes(1) << l;
      };
      if (whole && !role.spreads) {
        const uint32_t first = inst.dst + uint32_t(part) * size / 4;
        for (uint32_t r = 0; r < size / 4 && first + r < inst.dst + rows; ++r) turn(first + r, lacking >> (4 * r) & 15);
      } else if (whole) {
        for (uint32_t r = 0; r < rows; ++r) turn(inst.dst + r, 15);
      } else {
        const uint32_t given_bytes = uint32_t(ones(role.given)) << role.first;
        turn(inst.dst, role.spreads ? given_bytes & 15 : lacking << role.first & 15);
        if (role.given == 4 && lacking == all) twin.computed[inst.dst] |= Lanes(1) << l;  // made wider
      }
      touched |= Lanes(1) << l;
    });
  }
}

// From global memory into LDS, a word each lane.
void GroupInit::to_lds(const Wave& wave, const Inst& inst, const MemAccess& access) {
  const uint64_t base = (wave.m0 & 0xffff) + uint64_t(int64_t(inst.imm));
  Twin& twin = twin_of(wave);
  each_lane(lanes_of(access), [&](int l) {
    const uint32_t known = written(twin, space_of(access, l), l, access.address[l], access.size);
    const bool whole = known == ones(access.size);
    lds_.put(base + 4 * uint64_t(l), 4, whole ? 15 : 0);
  });
}

void GroupInit::scalars_loaded(const Wave& wave, Twin& twin, const Inst& inst, const MemAccess& access) {
  given(wave, twin, inst, 0);
  if (access.space == Space::None) return;
  const uint32_t words = op_table[inst.op].dst_width;
  for (uint32_t n = 0; n < words && inst.dst + n < kMaxSgprs; ++n) {
    const uint64_t address = access.address[0] + 4 * n;
    const uint32_t lacking = 15 & ~written(twin, Space::Global, 0, address, 4);
    if (!lacking) continue;
    twin.wave->sgpr[inst.dst + n] ^= bits_of(lacking);
    see_scalar(wave, twin, inst.dst + n);
    twin.scalar_computed[inst.dst + n] = false;
    twin.scalar[inst.dst + n] = {inst.pc, address, Space::Global, 0, 4};
  }
}

void GroupInit::check_scalar(const Wave& wave, const Twin& twin, const Inst& inst, uint32_t code, uint32_t words) {
  for (uint32_t n = code; n < std::min<uint32_t>(code + words, kScalars); ++n)
    if (twin.unknown_bits[n]) return tell(Sink::Address, wave, inst, twin.scalar[n], -1, 0, scalar_text(code, words));
}

void GroupInit::check_addresses(const Wave& wave, const Twin& twin, const Inst& inst, Lanes lanes) {
  if (inst.src[2].kind == Source::Scalar) check_scalar(wave, twin, inst, inst.src[2].code, source_width(inst, 2));
  if (inst.sbase.kind == Source::Scalar) check_scalar(wave, twin, inst, inst.sbase.code, 1);
  if (inst.src[0].kind != Source::Vector) return;
  for (uint32_t row = row_of(inst.src[0]), rows = source_width(inst, 0); rows; ++row, --rows)
    if (const Lanes unknown = twin.unknown[row] & lanes)
      return tell(Sink::Address, wave, inst, twin.vector[row], std::countr_zero(unknown), 0, vector_text(row, 1));
}

void GroupInit::store_part(const Wave& wave, Twin& twin, const Inst& inst, const MemAccess& access, uint16_t row,
                           const uint64_t* addresses) {
  const RoleOf& role = role_of(inst.op);
  const uint32_t size = access.size, all = uint32_t(ones(size)), rows = std::max<uint32_t>(1, size / 4);
  const Lanes lanes = lanes_of(access);
  Lanes unknown = 0;
  for (uint32_t r = 0; r < rows; ++r) unknown |= twin.unknown[row + r];
  if (!(unknown & lanes)) {
    if (all_written(access, addresses)) return;
    each_lane(lanes, [&](int l) { write(twin, space_of(access, l), l, addresses[l], size, all); });
    return;
  }
  each_lane(lanes, [&](int l) {
    uint32_t lacking = 0;
    Origin origin;
    bool computed = false;
    uint32_t where = row;
    for (uint32_t r = 0; r < rows; ++r) {
      uint32_t bytes = bytes_of(wave.vgpr[row + r][l] ^ twin.wave->vgpr[row + r][l]);
      if (size < 4) bytes = bytes >> role.first & all;
      if (!bytes) continue;
      if (!lacking) origin = twin.vector[row + r], where = row + r;
      computed |= twin.computed[row + r] >> l & 1;
      lacking |= bytes << (4 * r);
    }
    const Space space = space_of(access, l);
    // Bytes that come along, as those between the members of a structure do, are passed on. What was computed
    // of them is no such byte, nor is all that there is.
    if (space == Space::Global && lacking && (computed || lacking == all)) {
      tell(Sink::Store, wave, inst, origin, l, size, vector_text(where, 1));
      lacking = 0;
    }
    write(twin, space, l, addresses[l], size, all & ~lacking);
  });
}

void GroupInit::store(const Wave& wave, Twin& twin, const Inst& inst, const MemAccess& access) {
  if (inst.src[1].kind == Source::Vector)
    store_part(wave, twin, inst, access, uint16_t(row_of(inst.src[1])), access.address);
  if (access.two && inst.src[2].kind == Source::Vector)
    store_part(wave, twin, inst, access, uint16_t(row_of(inst.src[2])), access.address2);
}

void GroupInit::update(const Wave& wave, Twin& twin, const Inst& inst, const MemAccess& access) {
  const Lanes lanes = lanes_of(access);
  const OpInfo& op = op_table[inst.op];
  const int operands = Format(inst.format) == Format::DS ? 2 : 1;
  for (int k = 0; k < operands; ++k) {
    const Source& source = inst.src[1 + k];
    if (source.kind != Source::Vector) continue;
    const uint32_t first = row_of(source), rows = std::max<uint32_t>(1, width_of[size_t(op.src[k])]);
    for (uint32_t row = first; row < first + rows; ++row) {
      const Lanes unknown = twin.unknown[row] & lanes;
      if (!unknown) continue;
      tell(Sink::Update, wave, inst, twin.vector[row], std::countr_zero(unknown), access.size, vector_text(row, 1));
      break;
    }
  }
  const bool exchanges = role_of(inst.op).exchanges;
  const uint32_t size = access.size, all = uint32_t(ones(size));
  for (int part = 0; part < (access.two ? 2 : 1); ++part) {
    const uint64_t* addresses = part ? access.address2 : access.address;
    if (all_written(access, addresses)) continue;
    each_lane(lanes, [&](int l) {
      const Space space = space_of(access, l);
      const uint32_t lacking = all & ~written(twin, space, l, addresses[l], size);
      if (!lacking) return;
      if (!exchanges)
        tell(Sink::Update, wave, inst, {0, addresses[l] + uint32_t(std::countr_zero(lacking)), space, uint8_t(l), 0}, l,
             size);
      write(twin, space, l, addresses[l], size, all);
    });
  }
}

void GroupInit::store_scalars(const Wave& wave, Twin& twin, const Inst& inst, const MemAccess& access) {
  const uint32_t words = op_table[inst.op].dst_width;
  for (uint32_t n = 0; n < words && inst.dst + n < kScalars; ++n) {
    if (twin.unknown_bits[inst.dst + n])
      tell(Sink::Store, wave, inst, twin.scalar[inst.dst + n], -1, 4, scalar_text(inst.dst + n, 1));
    write(twin, Space::Global, 0, access.address[0] + 4 * n, 4, 15);
  }
}

// ---- as a wave goes on

void GroupInit::touching(const Wave& wave, const Inst& inst, const MemAccess& access) {
  Twin& twin = twin_of(wave);
  switch (role_of(inst.op).role) {
    case Role::Loads: return check_addresses(wave, twin, inst, lanes_of(access));
    case Role::Stores: check_addresses(wave, twin, inst, lanes_of(access)); return store(wave, twin, inst, access);
    case Role::Updates: check_addresses(wave, twin, inst, lanes_of(access)); return update(wave, twin, inst, access);
    case Role::ScalarLoads:
    case Role::ScalarStores: {
      check_scalar(wave, twin, inst, inst.src[0].code, op_table[inst.op].flags & kOpBuffer ? 4 : 2);
      if (inst.src[1].kind == Source::Scalar) check_scalar(wave, twin, inst, inst.src[1].code, 1);
      if (role_of(inst.op).role == Role::ScalarStores) store_scalars(wave, twin, inst, access);
      return;
    }
    default: return;
  }
}

void GroupInit::executed(const Wave& wave, const Inst& inst, uint64_t exec, const MemAccess& access) {
  Twin& twin = twin_of(wave);
  switch (role_of(inst.op).role) {
    case Role::Nothing: return;
    case Role::Computes: return compute(wave, twin, inst, exec);
    case Role::Given: return given(wave, twin, inst, exec);
    case Role::Loads: return loaded(wave, twin, inst, exec, access);
    case Role::Updates:
      // What was there is written by now, or has been told of.
      if (Format(inst.format) == Format::DS || inst.glc) given(wave, twin, inst, exec);
      return;
    case Role::Stores:
      // ds_write_addtid tells nobody where it goes.
      if (access.space == Space::None && Format(inst.format) == Format::DS)
        each_lane(exec, [&](int l) { lds_.put(uint32_t(inst.imm) + (wave.m0 & 0xffff) + 4u * uint32_t(l), 4, 15); });
      return;
    case Role::ScalarLoads: return scalars_loaded(wave, twin, inst, access);
    case Role::ScalarStores: return;
    case Role::Branches: return branch(wave, twin, inst);
    case Role::Jumps: return jump(wave, twin, inst);
  }
}

void GroupInit::tell(Sink sink, const Wave& wave, const Inst& inst, const Origin& origin, int lane, uint32_t bytes,
                     std::string registers) {
  twin_of(wave);
  launch_.reached({sink, origin, &inst, group_, last_, bytes, lane, std::move(registers)});
}

}  // namespace gpu::check
