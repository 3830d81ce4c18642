#include "init_roles.h"

#include <string_view>
#include <vector>

#include "exec.h"

namespace gpu::check {
namespace {

bool between(InstClass cls, InstClass first, InstClass last) { return cls >= first && cls <= last; }

template <size_t kCount>
bool begins(std::string_view name, const std::string_view (&prefixes)[kCount]) {
  for (const std::string_view prefix : prefixes)
    if (name.starts_with(prefix)) return true;
  return false;
}

constexpr std::string_view kJudges[] = {"v_cmp", "v_min", "v_max", "v_med", "v_cvt",   "v_frexp_exp", "v_ffb",
                                        "s_cmp", "s_min", "s_max", "s_ff",  "s_flbit", "v_pk_min",    "v_pk_max"};
constexpr std::string_view kMoves[] = {
    "v_mov",  "v_accvgpr", "v_pk_mov",    "v_swap",  "v_cndmask", "v_perm",  "v_and",    "v_or",
    "v_not",  "v_xor",     "v_bfi",       "v_bfe",   "v_align",   "v_lshl",  "v_lshr",   "v_ashr",
    "v_pack", "v_read",    "v_writelane", "v_bfrev", "ds_",       "v_pk_ls", "v_screen", "s_mov",
    "s_and",  "s_or",      "s_xor",       "s_not",   "s_lsh",     "s_bfe",   "s_pack",   "s_cselect"};

Role role_by_class(InstClass cls, std::string_view name) {
  if (between(cls, InstClass::VALU, InstClass::MFMA_XF32)) return Role::Computes;
  switch (cls) {
    case InstClass::SALU: return Role::Computes;
    case InstClass::SMEM: return Role::ScalarLoads;
    case InstClass::SMEM_STORE: return Role::ScalarStores;
    case InstClass::SMEM_TIME: return Role::Given;
    case InstClass::GLOBAL_LOAD:
    case InstClass::FLAT_LOAD:
    case InstClass::SCRATCH_LOAD:
    case InstClass::BUFFER_LOAD:
    case InstClass::LDS_LOAD: return Role::Loads;
    case InstClass::GLOBAL_STORE:
    case InstClass::FLAT_STORE:
    case InstClass::SCRATCH_STORE:
    case InstClass::BUFFER_STORE:
    case InstClass::LDS_STORE: return Role::Stores;
    case InstClass::GLOBAL_ATOMIC:
    case InstClass::FLAT_ATOMIC:
    case InstClass::SCRATCH_ATOMIC:
    case InstClass::BUFFER_ATOMIC:
    case InstClass::LDS_ATOMIC: return Role::Updates;
    case InstClass::LDS_OTHER:
      return name.starts_with("ds_swizzle") || name.find("permute") != name.npos ? Role::Computes : Role::Given;
    case InstClass::BRANCH: return name.starts_with("s_cbranch") ? Role::Branches : Role::Jumps;
    case InstClass::OTHER: return name.starts_with("s_set_gpr_idx") ? Role::Computes : Role::Nothing;
    default: return Role::Nothing;
  }
}

bool names(std::string_view name, std::string_view part) { return name.find(part) != name.npos; }

RoleOf find(const OpInfo& op) {
  const std::string_view name = op.name;
  RoleOf out;
  out.role = role_by_class(op.cls, name);
  out.judges = begins(name, kJudges);
  out.moves = begins(name, kMoves);
  out.exchanges = names(name, "swap") || names(name, "xchg");
  if (names(name, "cmpswap")) out.exchanges = false;
  if (out.role != Role::Loads && out.role != Role::Stores) return out;
  const bool byte = names(name, "byte") || names(name, "_u8") || names(name, "_i8") || names(name, "_b8");
  const bool two = names(name, "short") || names(name, "_u16") || names(name, "_i16") || names(name, "_b16");
  if (!byte && !two) {
    out.spreads = names(name, "format");
    return out;
  }
  out.bytes = byte ? 1 : 2;
  out.first = names(name, "d16_hi") ? 2 : 0;
  out.given = names(name, "d16") ? 2 : 4;
  out.spreads = names(name, "sbyte") || names(name, "sshort") || names(name, "_i8") || names(name, "_i16");
  return out;
}

}  // namespace

const RoleOf& role_of(uint16_t op) {
  static const std::vector<RoleOf> all = [] {
    std::vector<RoleOf> out;
    out.reserve(kOpCount);
    for (int n = 0; n < kOpCount; ++n) out.push_back(find(op_table[n]));
    return out;
  }();
  return all[op];
}

}  // namespace gpu::check
