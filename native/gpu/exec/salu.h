// Scalar instructions, control flow, and what stops a wave.
#pragma once

#include "valu.h"

namespace gpu::GPU_EXEC_NS {

template <class V>
inline V read_scalar(const Wave& w, const Source& s) {
  if (GPU_UNLIKELY(s.kind == Source::Special)) return V(special(w, s.code));
  const u32* p = at(w, s);
  if constexpr (sizeof(V) == 8) {
    return V(p[0] | (u64(p[1]) << 32));
  } else {
    return V(p[0]);
  }
}

inline const Inst* stop(Wave& w, Stop why, u64 pc) {
  w.stop = why;
  w.pc = pc;
  return nullptr;
}
// The next instruction needs another way of running (MODE changed): leave the loop and come back.
inline const Inst* remode(Wave& w, const Inst* i) { return stop(w, kRemode, i->pc + 4u * i->words); }

GPU_NOINLINE inline const Inst* fault(Wave& w, const Inst* i, FaultKind kind, u64 address = 0, u32 size = 0,
                                      int lane = 0, bool write = false) {
  w.fault = Fault{kind, i->pc, address, size, u8(lane), write, 0};
  return stop(w, Stop::Fault, i->pc);
}

// Whether an access out of bounds goes on as on hardware; else it is a fault.
GPU_NOINLINE inline bool passes(Wave& w, const Inst* i, FaultKind kind, u64 address, u32 size, int lane, bool write) {
  return w.outside && w.outside->passes(w, Fault{kind, i->pc, address, size, u8(lane), write, 0});
}

inline const Inst* nothing(Wave&, const Inst* i) { return next(i); }
inline const Inst* unmodelled(Wave& w, const Inst* i) {
  return fault(w, i, FaultKind::IllegalInstruction, i->word[0] | (u64(i->word[1]) << 32), 4u * i->words);
}
inline const Inst* endpgm(Wave& w, const Inst* i) { return stop(w, Stop::End, i->pc); }
inline const Inst* barrier(Wave& w, const Inst* i) { return stop(w, Stop::Barrier, i->pc + 4); }
// On hardware, the waves that start or leave a barrier together all get on while one of them waits for
// memory. Programs rely on it unknowingly (LDS used again without a second barrier), so the others go
// first.
inline const Inst* waitcnt(Wave& w, const Inst* i) {
  if (GPU_UNLIKELY(w.stops_at_waits)) return stop(w, Stop::Budget, i->pc + 4);
  if (GPU_LIKELY(!w.together)) return next(i);
  const u32 imm = u32(i->imm), vmcnt = (imm & 15) | ((imm >> 10) & 0x30), lgkmcnt = (imm >> 8) & 15;
  if (vmcnt == 63 && !(w.together == 2 && lgkmcnt != 15)) return next(i);
  w.together = 0;
  return stop(w, Stop::Budget, i->pc + 4);
}
// For the same reason what the others store at the same place of the program is there before this
// wave's load is answered: they go first, and the load comes again.
GPU_NOINLINE inline const Inst* give_way(Wave& w, const Inst* i) {
  w.stored = false;
  --w.executed;
  --w.counts[i->cls];
  return stop(w, kAgain, i->pc);
}
inline const Inst* sleep(Wave& w, const Inst* i) { return stop(w, Stop::Sleep, i->pc + 4); }
inline const Inst* trap(Wave& w, const Inst* i) {
  if ((i->imm & 0xff) == 3) return next(i);  // llvm.debugtrap: a breakpoint nobody listens to
  fault(w, i, FaultKind::Trap);
  w.fault.trap_id = u32(i->imm) & 0xff;
  return nullptr;
}

inline const Inst* jump(Wave& w, const Inst* i, u64 pc) {
  auto& program = *static_cast<Program*>(w.program);
  const Inst* to = program.at(pc);
  if (!to) return fault(w, i, FaultKind::Unmapped, pc, 4);
  return w.unchecked && !program.within_registers(w.acc_offset, w.vgpr_count - w.acc_offset) ? stop(w, kRemode, pc)
                                                                                             : to;
}
inline const Inst* setpc(Wave& w, const Inst* i) { return jump(w, i, read_scalar<u64>(w, i->src[0]) & ~u64(3)); }
inline const Inst* swappc(Wave& w, const Inst* i) {
  const u64 to = read_scalar<u64>(w, i->src[0]) & ~u64(3);
  write_scalar<u64>(w, i->dst, i->pc + 4);
  return jump(w, i, to);
}
inline const Inst* call(Wave& w, const Inst* i) {
  write_scalar<u64>(w, i->dst, i->pc + 4);
  return i + 1 + i->imm;
}

inline const Inst* movrels(Wave& w, const Inst* i) {
  const u32 from = i->src[0].code + w.m0, count = op_table[i->op].dst_width;
  if (from + count > 102) return fault(w, i, FaultKind::IllegalRegister, from);
  for (u32 n = 0; n < count; ++n) w.sgpr[i->dst + n] = w.sgpr[from + n];
  return next(i);
}
inline const Inst* movreld(Wave& w, const Inst* i) {
  const u32 to = i->dst + w.m0, count = op_table[i->op].dst_width;
  if (to + count > 102) return fault(w, i, FaultKind::IllegalRegister, to);
  const u64 v = count == 2 ? read_scalar<u64>(w, i->src[0]) : read_scalar<u32>(w, i->src[0]);
  w.sgpr[to] = u32(v);
  if (count == 2) w.sgpr[to + 1] = u32(v >> 32);
  return next(i);
}

inline constexpr u32 kGprIndexBit = 1u << 27;  // MODE.gpr_idx_en
inline const Inst* gpr_idx_on(Wave& w, const Inst* i) {
  w.m0 = (w.m0 & ~0xf0ffu) | (read_scalar<u32>(w, i->src[0]) & 0xff) | (u32(i->imm & 15) << 12);
  w.mode |= kGprIndexBit;
  return remode(w, i);
}
inline const Inst* gpr_idx_off(Wave& w, const Inst* i) {
  w.mode &= ~kGprIndexBit;
  return remode(w, i);
}
inline const Inst* gpr_idx_idx(Wave& w, const Inst* i) {
  w.m0 = (w.m0 & ~0xffu) | (read_scalar<u32>(w, i->src[0]) & 0xff);
  return next(i);
}
inline const Inst* gpr_idx_mode(Wave& w, const Inst* i) {
  w.m0 = (w.m0 & ~0xf000u) | (u32(i->imm & 15) << 12);
  return next(i);
}

inline u32 hardware_register(const Wave& w, u32 id) {
  switch (id) {
    case 1: return w.mode;
    case 2:
      return u32(w.scc) | (w.exec == 0 ? 1u << 9 : 0) | (w.vcc == 0 ? 1u << 10 : 0) | (1u << 16);  // STATUS: valid
    case 4: return w.hw_id;
    case 5: return w.gpr_alloc;
    case 6: return w.lds_alloc;
    case 15: return u32(w.shared_aperture >> 48) | (u32(w.private_aperture >> 48) << 16);  // SH_MEM_BASES
    case 20: return w.xcc_id;
    default: return 0;
  }
}
inline const Inst* getreg(Wave& w, const Inst* i) {
  const u32 k = u32(i->imm), offset = (k >> 6) & 31, width = ((k >> 11) & 31) + 1;
  w.sgpr[i->dst] = u32(bfe_u64(hardware_register(w, k & 63), offset, width, 32));
  return next(i);
}
inline const Inst* setreg(Wave& w, const Inst* i) {
  const u32 k = u32(i->imm), offset = (k >> 6) & 31, width = ((k >> 11) & 31) + 1;
  if ((k & 63) != 1) return next(i);
  const u32 field = (width >= 32 ? ~0u : (1u << width) - 1) << offset;
  w.mode = (w.mode & ~field) | ((read_scalar<u32>(w, i->src[0]) << offset) & field);
  return remode(w, i);
}

inline u64 shader_clock(Wave& w) { return w.time_base + (w.clock ? w.clock.read(w.executed) : 4 * w.executed); }
inline const Inst* memtime(Wave& w, const Inst* i) {
  write_scalar<u64>(w, i->dst, shader_clock(w));
  return next(i);
}
inline const Inst* memrealtime(Wave& w, const Inst* i) {
  write_scalar<u64>(w, i->dst, shader_clock(w) * 100 / w.clock_mhz);  // 100 MHz
  return next(i);
}

}  // namespace gpu::GPU_EXEC_NS
