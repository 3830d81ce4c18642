// DPP: which lane an operand is taken from.
#pragma once

#include <cstdint>

namespace gpu {

// Where lane l reads under a DPP control, or -1 for a lane with no source (DPP_CTRL of the ISA
// manuals; row_newbcast is gfx90a and later).
inline int dpp_source(uint32_t ctrl, int l) {
  const int row = l & ~15, in_row = l & 15;
  if (ctrl < 0x100) return (l & ~3) | int((ctrl >> (2 * (l & 3))) & 3);
  const int n = int(ctrl & 15);
  switch (ctrl & 0x1f0) {
    case 0x100: return in_row + n < 16 ? l + n : -1;              // row_shl
    case 0x110: return in_row - n >= 0 ? l - n : -1;              // row_shr
    case 0x120: return row | ((in_row - n) & 15);                 // row_ror
    case 0x150: return row | n;                                   // row_newbcast
    default: break;
  }
  switch (ctrl) {
    case 0x130: return l + 1 < 64 ? l + 1 : -1;                   // wave_shl
    case 0x134: return (l + 1) & 63;                              // wave_rol
    case 0x138: return l - 1;                                     // wave_shr
    case 0x13c: return (l - 1) & 63;                              // wave_ror
    case 0x140: return row | (15 - in_row);                       // row_mirror
    case 0x141: return (l & ~7) | (7 - (l & 7));                  // row_half_mirror
    case 0x142: return l >= 16 ? row - 1 : -1;                    // row_bcast15: last lane of the row before
    case 0x143: return l >= 32 ? 31 : -1;                         // row_bcast31
    default: return l;
  }
}

}  // namespace gpu
