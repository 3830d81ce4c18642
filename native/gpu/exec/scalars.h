// Scalar registers by their operand codes, of whatever has a wave's: the executor's Wave, and the part of it
// that translated code knows.
#pragma once

#include "lane.h"

namespace gpu::GPU_EXEC_NS {

// vccz, execz, scc and the apertures have no storage of their own.
template <class W>
inline u64 special(const W& w, u32 code) {
  switch (code) {
    case 235: return w.shared_aperture;
    case 236: return w.shared_aperture + 0xffffffffull;
    case 237: return w.private_aperture;
    case 238: return w.private_aperture + 0xffffffffull;
    case 251: return w.vcc == 0;
    case 252: return w.exec == 0;
    case 253: return w.scc;
    default: return 0;
  }
}

template <class V, class W>
inline V read_dst(const W& w, u32 code) {
  if constexpr (sizeof(V) == 8) return V(w.sgpr[code] | (u64(w.sgpr[code + 1]) << 32));
  else return V(w.sgpr[code]);
}
template <class V, class W>
inline void write_scalar(W& w, u32 code, V v) {
  w.sgpr[code] = u32(v);
  if constexpr (sizeof(V) == 8) w.sgpr[code + 1] = u32(u64(v) >> 32);
}
template <class W>
inline void write_pair(W& w, u32 code, u64 value) {
  write_scalar<u64>(w, code, value);
}

}  // namespace gpu::GPU_EXEC_NS
