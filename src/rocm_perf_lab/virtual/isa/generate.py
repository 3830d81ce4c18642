"""``python -m rocm_perf_lab.virtual.isa.generate OUTDIR``: the table as C++.

Writes isa.h, isa_tables.cpp (names, operands, opcode lookup), exec_ops_*.cpp (the instruction
functions, compiled once per instruction set of the host), exec_index.cpp, and hazard_table.h and .cpp
(wait states between instructions).
"""

# ruff: noqa: E501 - a row of a table is one line
from __future__ import annotations

import sys
from pathlib import Path

from rocm_perf_lab.virtual.isa.classes import (
    CLASSES,
    COUNTERS,
    EFFECTS,
    MOPS,
    UNITS,
    effects,
    instruction_class,
    matrix_class,
    unit,
)
from rocm_perf_lab.virtual.isa.hazards import header as hazards_header
from rocm_perf_lab.virtual.isa.hazards import tables as hazards_tables
from rocm_perf_lab.virtual.isa.op import ARCHES, WIDTH, Op
from rocm_perf_lab.virtual.isa.table import CODES, ENCODINGS, all_ops, vop3_code

PARTS = 8
# C++ lane type and modifier kind of an operand type.
LANE = {
    "b32": ("t_u32", "F32"), "u32": ("t_u32", "F32"), "i32": ("t_i32", "F32"), "f32": ("t_f32", "F32"),
    "f32r": ("t_u32", "F32"), "f16r": ("t_u16", "F16"), "f64r": ("t_u64", "F64"),
    "b16": ("t_u16", "F16"), "u16": ("t_u16", "F16"), "i16": ("t_i16", "F16"), "f16": ("t_f16", "F16"),
    "f16d": ("t_f16d", "F16"), "b64": ("t_u64", "F64"), "u64": ("t_u64", "F64"), "i64": ("t_i64", "F64"),
    "f64": ("t_f64", "F64"), "f16x2": ("t_f16", "PackedF16"), "f16dx2": ("t_f16", "PackedF16"),
    "u16x2": ("t_u16", "Packed16"), "i16x2": ("t_i16", "Packed16"), "b16x2": ("t_u32", "PackedF16"),
    "w16x2": ("t_u32", "Packed16"), "b16p": ("t_u32", "Int"),
    "f32x2": ("t_f32", "PackedF32"), "mix": ("t_f32", "Mix"), "acc": ("t_u32", "Int"),
    "fp8": ("t_u32", "Int"), "bf8": ("t_u32", "Int"), "lit": ("t_f32", "Int"), "mask": ("t_none", "Int"),
    "sb32": ("t_u32", "Int"), "slane": ("t_u32", "Int"), "": ("t_none", "Int"),
}  # fmt: skip
_C_TYPE = {
    "u32": "u32", "b32": "u32", "i32": "i32", "u64": "u64", "b64": "u64", "i64": "i64", "f32": "float", "f64": "double",
}  # fmt: skip
# Parts of the instruction itself; OPTIMM is shown where it is not zero.
_IMMEDIATES = ("IMM4", "TARGET", "UIMM", "OPTIMM", "WAITCNT", "SENDMSG", "GPRIDX")
_OPERAND_TYPES = ("None", *(t.upper() for t in WIDTH), *_IMMEDIATES)
_MATRIX_TYPES = ("F16", "BF16", "F32", "XF32", "F64", "I8", "FP8", "BF8", "I32")


def _operand(t: str) -> str:
    return f"OpType::{t.upper() if t else 'None'}"


def _fp_mode(op: Op) -> int:
    """Which half of MODE rules an instruction: 0 none, 1 single precision, 2 half and double."""
    if not op.encoding.startswith("VOP") or op.kind in ("mfma", "smfmac") or "rndne" in op.name:
        return 0
    types = {op.dst, *op.src}
    if types & {"f64", "f16", "f16d", "f16x2", "f16dx2"}:
        return 2
    return 1 if types & {"f32", "f32x2", "mix"} else 0


def dst_half(op: Op) -> str:
    for flag, value in (("dst16", "Word"), ("dst8", "Byte"), ("dstlo", "Low"), ("dsthi", "High")):
        if flag in op.flags:
            return value
    if "opsel" in op.flags and op.dst in ("f16", "f16d", "u16", "i16"):
        return "Opsel"
    return "None"


def _memory_bytes(op: Op) -> int:
    element = op.params.get("element", "")
    regs = int(op.params.get("regs", "1"))
    if op.kind in ("atomic", "ds_rmw"):
        return 8 if "64" in element else 4
    if regs > 1:
        return 4 * regs
    return {"u8": 1, "i8": 1, "u16": 2, "i16": 2, "u32": 4}.get(element.split("_")[0], 0)


_FLAGS = (
    "old", "opsel", "nosdwa", "nodpp", "novop3", "bare", "buffer", "scratch", "store", "load", "atomic",
    "two", "noaddr", "swizzle", "discard", "matrix", "to_lds", "gwsdata", "hwreg",
)  # fmt: skip
_SDST = {"carry_out", "carry_in", "div_scale"}


def _header() -> str:
    def enum(name: str, values: tuple[str, ...], base: str = "uint8_t") -> str:
        return f"enum class {name} : {base} {{ {', '.join(values)} }};\n"

    out = "// Generated from the ISA table; do not edit.\n#pragma once\n#include <cstdint>\n\nnamespace gpu {\n\n"
    out += enum("Arch", tuple(a.capitalize() for a in ARCHES))
    out += enum("Format", (*ENCODINGS, "SDWA", "DPP"))
    out += enum("OpType", _OPERAND_TYPES)
    out += enum("DstHalf", ("None", "Opsel", "Word", "Byte", "Low", "High"))
    out += enum("MatrixType", _MATRIX_TYPES)
    out += enum("InstClass", (*CLASSES, *MOPS))
    out += enum("Unit", UNITS)
    out += f"inline constexpr int kClassCount = {len(CLASSES)};\n"
    for n, flag in enumerate((*_FLAGS, *EFFECTS)):
        out += f"inline constexpr uint32_t kOp{''.join(p.capitalize() for p in flag.split('_'))} = 1u << {n};\n"
    out += f"inline constexpr uint32_t kOpSdst = 1u << {len(_FLAGS) + len(EFFECTS)};\n"
    out += """
struct OpInfo {
  const char* name;
  Format encoding;
  uint16_t code;
  uint8_t arches;      // bit per Arch
  OpType dst;
  OpType src[3];
  uint8_t dst_width;   // registers
  uint8_t sources;
  uint32_t flags;
  InstClass cls;
  Unit unit;
  DstHalf dst_half;
  uint8_t fp_mode;     // 0 none, 1 f32, 2 f16/f64: which bits of MODE apply
  uint8_t memory_bytes;
  int16_t matrix;      // index into matrix_table, or -1
  bool modelled;
};
struct MatrixInfo {
  uint8_t m, n, k, blocks;
  MatrixType a, b, d;
  bool sparse;
  uint8_t mops_class;
  uint16_t mops;       // operations / 512
};
extern const OpInfo op_table[];
extern const MatrixInfo matrix_table[];
extern const char* const class_names[];
// AMD's counters that are sums of classes, sorted by name: a bit per class.
struct ClassCounter { const char* name; uint64_t classes; };
extern const ClassCounter class_counters[];
extern const int kClassCounters;
// Index of the op, or -1: [arch][code].
"""
    for e in ENCODINGS:
        out += f"extern const int16_t {e.lower()}_index[2][{CODES[e]}];\n"
    out += f"inline constexpr int kOpCount = {len(all_ops())};\n"
    count = sum("matrix" in op.flags for op in all_ops())
    out += f"inline constexpr int kMatrixCount = {count};\n"
    widths = ", ".join(str(w) for w in (0, *WIDTH.values(), *(0 for _ in _IMMEDIATES)))
    out += f"inline constexpr uint8_t width_of[] = {{{widths}}};\n\n}}  // namespace gpu\n"
    return out


def _tables() -> str:
    ops = all_ops()
    matrices: list[str] = []
    out = '#include "isa.h"\n\nnamespace gpu {\n\nconst OpInfo op_table[] = {\n'
    for op in ops:
        matrix = -1
        if "matrix" in op.flags:
            p = op.params
            matrix = len(matrices)
            mops = f"uint8_t(InstClass::MOPS_{matrix_class(op)})"
            a, b, d = (f"MatrixType::{p[x].upper()}" for x in "abd")
            sparse = "true" if op.kind == "smfmac" else "false"
            matrices.append(
                f"  {{{p['m']}, {p['n']}, {p['k']}, {p['blocks']}, {a}, {b}, {d}, {sparse}, {mops}, {p['mops']}}},\n"
            )
        flags = [
            f"kOp{''.join(x.capitalize() for x in f.split('_'))}"
            for f in (*_FLAGS, *EFFECTS)
            if f in op.flags | effects(op)
        ]
        if op.kind in _SDST:
            flags.append("kOpSdst")
        src = [_operand(t) for t in op.src] + ["OpType::None"] * (3 - len(op.src))
        arches = sum(1 << ARCHES.index(a) for a in op.arches)
        out += (
            f'  {{"{op.name}", Format::{op.encoding}, {op.code}, {arches}, {_operand(op.dst)}, '
            f"{{{', '.join(src)}}}, {WIDTH.get(op.dst, 0)}, {len(op.src)}, {' | '.join(flags) or '0'}, "
            f"InstClass::{instruction_class(op)}, Unit::{unit(op)}, DstHalf::{dst_half(op)}, {_fp_mode(op)}, {_memory_bytes(op)}, "
            f"{matrix}, {'true' if op.modelled else 'false'}}},\n"
        )
    out += "};\n\nconst MatrixInfo matrix_table[] = {\n" + "".join(matrices) + "};\n\n"
    names = ", ".join(f'"{c}"' for c in (*CLASSES, *MOPS))
    out += f"const char* const class_names[] = {{{names}}};\n\n"
    out += "const ClassCounter class_counters[] = {\n"
    at = {name: n for n, name in enumerate((*CLASSES, *MOPS))}
    for name, classes in sorted(COUNTERS.items()):
        out += f'  {{"{name}", {sum(1 << at[c] for c in classes):#x}u}},\n'
    out += f"}};\nconst int kClassCounters = {len(COUNTERS)};\n\n"
    for e in ENCODINGS:
        out += f"const int16_t {e.lower()}_index[2][{CODES[e]}] = {{\n"
        for arch in ARCHES:
            index = [-1] * CODES[e]
            for n, op in enumerate(ops):
                if arch not in op.arches:
                    continue
                if op.encoding == e:
                    index[op.code] = n
                elif e == "VOP3" and (code := vop3_code(op)) is not None:
                    index[code] = n
            out += "  {" + ", ".join(map(str, index)) + "},\n"
        out += "};\n"
    return out + "\n}  // namespace gpu\n"


def valu_struct(op: Op) -> str:
    sources = list(op.src) + (["OLD"] if "old" in op.flags else [])
    types = [op.dst if t == "OLD" else t for t in sources]
    if "f16" in op.name and op.name.startswith(("v_madmk", "v_madak")):
        types = ["f16" if t == "lit" else t for t in types]
    types = types[:3] + [""] * (3 - len(types))
    lanes = [LANE["" if op.dst == "mask" else op.dst], *(LANE[t] for t in types)]
    if not op.dst.startswith("f"):
        lanes[0] = (lanes[0][0], "Int")  # clamp on integers is the `sat` body, never [0, 1]
    if op.dst == "b16x2" or not op.dst:
        raise ValueError(op.name)
    halves = op.dst.endswith("16x2") or op.dst == "f16dx2"
    pairs = op.dst == "f32x2"
    n = len(sources)
    result = "bool" if op.dst == "mask" else "D::V"
    if op.kind in ("carry_out", "carry_in"):
        result, lanes[3] = "u64", ("t_u32", "Int")
    flag = {"div_scale": ", bool& carry", "div_fmas": ", bool carry"}.get(op.kind, "")
    arguments = ", ".join(f"[[maybe_unused]] {x}::V {y}" for x, y in zip("ABC", "abc", strict=True))
    text = f"struct {op.name}_ {{\n  using D = {lanes[0][0]}; using A = {lanes[1][0]}; using B = {lanes[2][0]}; using C = {lanes[3][0]};\n"
    names = ("d", "a", "b", "c")
    mods = ", ".join(f"mod_{x} = Mod::{y[1]}" for x, y in zip(names, lanes, strict=True))
    text += f"  static constexpr Mod {mods};\n"
    has_sat = "sat" in op.params
    text += f"  static constexpr bool halves = {str(halves).lower()}, pairs = {str(pairs).lower()}, has_sat = {str(has_sat).lower()};\n"
    text += f"  static constexpr int n = {n};\n"
    constant = "constexpr " if op.kind in ("carry_out", "carry_in") else ""
    text += f"  static {constant}{result} f({arguments}{flag}) {{ return {op.body}; }}\n"
    if has_sat:
        text += f"  static {result} sat({arguments}) {{ return {op.params['sat']}; }}\n"
    return text + "};\n"


def salu_function(op: Op) -> str:
    lines = []
    types = [t for t in op.src if t in _C_TYPE]
    for k, (t, name) in enumerate(zip(types, "ab", strict=False)):
        lines.append(f"  const {_C_TYPE[t]} {name} = read_scalar<{_C_TYPE[t]}>(w, i->src[{k}]);")
    if op.encoding == "SOPK":
        lines.append("  [[maybe_unused]] const i32 k = i->imm;")
    if op.dst:
        c = _C_TYPE[op.dst]
        lines.append(f"  {c} d = {f'read_dst<{c}>(w, i->dst)' if 'old' in op.flags else '0'};")
    uses_scc = "scc" in op.body
    if uses_scc:
        lines.append("  bool scc = w.scc;")
    lines.append(f"  {op.body};")
    if uses_scc:
        lines.append("  w.scc = scc;")
    if op.dst:
        lines.append(f"  write_scalar<{_C_TYPE[op.dst]}>(w, i->dst, d);")
    return "\n".join(lines)


def rmw_struct(op: Op) -> str:
    c = _C_TYPE[op.params["element"]]
    two = "true" if len(op.src) == 2 or "cmpswap" in op.name else "false"
    return (
        f"struct {op.name}_ {{\n  using T = {c};\n  static constexpr bool two = {two};\n"
        f"  static T f([[maybe_unused]] T m, [[maybe_unused]] T x, [[maybe_unused]] T y) {{ return T({op.body}); }}\n}};\n"
    )


_ADDRESS = {
    "FLAT": "FlatAddress",
    "GLOBAL": "GlobalAddress",
    "SCRATCH": "ScratchAddress",
    "MUBUF": "BufferAddress",
}


def _function(op: Op) -> tuple[str, str]:
    """(definitions, the C++ expression that runs the op, as a call on w and i)."""
    p = op.params
    kind = op.kind
    if kind == "salu":
        return "", ""
    if kind in ("valu", "cmp", "cmpx", "div_scale", "div_fmas"):
        return valu_struct(op), f"{kind}<{op.name}_>(w, i)"
    if kind in ("carry_out", "carry_in"):
        return valu_struct(
            op
        ), f"carry<{op.name}_, {'true' if kind == 'carry_in' else 'false'}>(w, i)"
    if kind == "branch":
        return "", f"{p['cond']} ? i + 1 + i->imm : i + 1"
    if kind == "load" and op.encoding == "MUBUF" and p["regs"] == "1":
        types = f"BufferAddress, e_{p['element']}, 1"
        return "", f"i->lds ? load_lds<{types}>(w, i) : load<{types}>(w, i)"
    if kind in ("load", "store", "load_lds"):
        return "", f"{kind}<{_ADDRESS[op.encoding]}, e_{p['element']}, {p['regs']}>(w, i)"
    if kind == "atomic":
        return rmw_struct(op), f"atomic<{_ADDRESS[op.encoding]}, {op.name}_>(w, i)"
    if kind in ("ds_read", "ds_write"):
        return "", f"{kind}<e_{p['element']}, {p['regs']}>(w, i)"
    if kind in ("ds_read2", "ds_write2", "ds_xchg2"):
        return "", f"{kind}<{p['regs']}, {p['stride']}>(w, i)"
    if kind == "ds_rmw":
        return rmw_struct(op), f"ds_rmw<{op.name}_, {'true' if op.dst else 'false'}>(w, i)"
    if kind == "ds_append":
        return "", f"ds_append_by(w, i, {'true' if p['sign'] == '+' else 'false'})"
    plain = {"sload": "scalar_load", "sstore": "scalar_store", "smfmac": "mfma"}
    return "", f"{plain.get(kind, kind)}(w, i)"


def _exec_parts() -> list[str]:
    head = '#include "exec/lds.h"\n\nnamespace gpu::GPU_EXEC_NS {\n\n'
    parts = [head] * PARTS
    for n, op in enumerate(all_ops()):
        part = n % PARTS
        signature = f"const Inst* op_{n}([[maybe_unused]] Wave& w, const Inst* i)"
        if op.kind == "salu":
            text = f"{signature} {{  // {op.name}\n{salu_function(op)}\n  return next(i);\n}}\n"
        else:
            definitions, call = _function(op)
            wrapped = f"namespace n{n} {{\n{definitions}}}\n" if definitions else ""
            using = f"  using namespace n{n};\n" if definitions else ""
            text = f"{wrapped}{signature} {{  // {op.name}\n{using}  return {call};\n}}\n"
        parts[part] += text
    return [text + "\n}  // namespace gpu::GPU_EXEC_NS\n" for text in parts]


def _exec_index() -> str:
    count = len(all_ops())
    out = '#include "exec.h"\n\nnamespace gpu::GPU_EXEC_NS {\n\n'
    out += "".join(f"const Inst* op_{n}(Wave&, const Inst*);\n" for n in range(count))
    out += "extern const ExecFn exec_table[];\nconst ExecFn exec_table[] = {\n"
    out += "".join(f"  op_{n},\n" for n in range(count))
    return out + "};\n\n}  // namespace gpu::GPU_EXEC_NS\n"


def generate(directory: Path) -> list[Path]:
    """Write the C++ into `directory`."""
    directory.mkdir(parents=True, exist_ok=True)
    files = {"isa.h": _header(), "isa_tables.cpp": _tables(), "exec_index.cpp": _exec_index()}
    files |= {"hazard_table.h": hazards_header(), "hazard_table.cpp": hazards_tables()}
    files |= {f"exec_ops_{n}.cpp": text for n, text in enumerate(_exec_parts())}
    written = []
    for name, text in files.items():
        path = directory / name
        path.write_text(text, encoding="utf-8")
        written.append(path)
    return written


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m rocm_perf_lab.virtual.isa.generate OUTDIR\n")
        return 2
    generate(Path(arguments[0]))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
