"""Wait states that a program has to put between instructions: the hardware does not wait by itself.

A rule says what came first, what comes second and how many wait states (`s_nop N` is N + 1, any other
instruction one) must lie between, by architecture. Sources: `manual` is AMD's "Instinct MI300" CDNA3
instruction set guide, tables 11 (section 4.5) and 37 (section 7.5); `llvm` is what LLVM's hazard
recognizer inserts for gfx90a and gfx942. Where the two differ the smaller number is taken, and zero
where one of them says that hardware waits: what is reported is wrong by both. Rows with one source are
those of which the other does not speak.
"""

# ruff: noqa: E501 - a row of a table is one line
from __future__ import annotations

import re
from dataclasses import dataclass

from rocm_perf_lab.virtual.isa.classes import instruction_class
from rocm_perf_lab.virtual.isa.op import ARCHES, Op
from rocm_perf_lab.virtual.isa.table import all_ops

# What came first, to a register.
DID = {
    "none": "",
    "valu": "a vector instruction writes",
    "trans": "a transcendental instruction writes",
    "moved": "an instruction with SDWA or op_sel writes a part of",
    "dot": "a dot product writes",
    "xdl": "a matrix instruction writes",
    "sgemm": "a matrix instruction of single precision writes",
    "dgemm4": "v_mfma_f64_4x4x4 writes",
    "dgemm16": "v_mfma_f64_16x16x4 writes",
    "read_as_c": "a matrix instruction accumulates on",
    "stored": "a store of more than 8 bytes takes its data from",
    "valu_scalar": "a vector instruction writes",
    "salu_m0": "a scalar instruction writes",
    "setreg": "s_setreg writes a hardware register",
    "dgemm": "a matrix instruction of double precision",
}
# What comes second.
NEEDS = {
    "reads": "a vector instruction reads",
    "plain_reads": "a vector instruction that is not transcendental reads",
    "dpp_reads": "a DPP instruction reads",
    "readlane_reads": "v_readlane or v_readfirstlane reads",
    "writes": "a vector instruction writes",
    "memory_reads": "a memory instruction reads",
    "memory_writes": "a memory instruction writes",
    "memory_after_dgemm": "after a matrix instruction of double precision a memory instruction reads",
    "matrix_ab": "a matrix instruction multiplies",
    "xdl_c": "a matrix instruction with another accumulator reads",
    "xdl_c_same": "a matrix instruction accumulates on",
    "sgemm_c": "a matrix instruction of single precision with another accumulator reads",
    "sgemm_c_same": "a matrix instruction of single precision accumulates on",
    "dgemm_c": "a matrix instruction of double precision with another accumulator reads",
    "dgemm_c_same": "a matrix instruction of double precision accumulates on",
    "fma_f64": "v_fma_f64",
    "constant": "a vector instruction reads as a scalar",
    "zero_flag": "a vector instruction reads whether it is zero:",
    "lane_select": "v_readlane or v_writelane takes its lane from",
    "div_fmas": "v_div_fmas reads",
    "memory_scalar": "a memory instruction reads",
    "dpp_exec": "a DPP instruction goes by",
    "lane_exec": "v_readlane, v_readfirstlane or v_writelane goes by",
    "matrix_exec": "a matrix instruction goes by",
    "m0": "an instruction uses",
    "hwreg": "s_getreg or s_setreg uses the same",
}

_BOTH, _LLVM, _MANUAL = "manual, llvm", "llvm", "manual"
_VALU = "valu trans moved"
_MATRIX_READS = "matrix_ab xdl_c xdl_c_same sgemm_c sgemm_c_same dgemm_c dgemm_c_same"
_ANY_READ = "reads readlane_reads memory_reads"


@dataclass(frozen=True)
class Rule:
    """`waits`: by architecture; "p+3": the passes of the first matrix instruction, and three."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    waits: tuple[str, str]
    source: str


def _rule(first: str, second: str, gfx90a: str, gfx942: str, source: str) -> Rule:
    return Rule(tuple(first.split()), tuple(second.split()), (gfx90a, gfx942), source)


RULES = (
    # Vector registers of vector instructions.
    _rule(_VALU, "dpp_reads", "2", "2", _BOTH),
    _rule(_VALU, "readlane_reads", "0", "1", _BOTH),
    _rule("trans", "plain_reads", "0", "1", _BOTH),
    _rule("moved", "reads", "0", "1", _BOTH),
    _rule(_VALU, _MATRIX_READS, "2", "2", _BOTH),
    _rule("stored", "writes", "1", "2", _BOTH),
    # Dot products: the same one forwards its accumulator.
    _rule("dot", f"{_ANY_READ} writes memory_writes", "3", "3", _BOTH),
    # Results of matrix instructions. The manual lets a third kind of accumulator wait, LLVM does not.
    _rule("xdl", f"{_ANY_READ} writes matrix_ab", "p+3", "p+3", _BOTH),
    _rule("xdl", "xdl_c sgemm_c", "p", "p+1", _BOTH),
    _rule("xdl", "dgemm_c", "p+1", "p+1", _BOTH),
    _rule("sgemm", f"{_ANY_READ} writes matrix_ab", "0", "p+2", _BOTH),
    _rule("sgemm", "sgemm_c dgemm_c", "0", "p", _BOTH),
    _rule("dgemm4", "reads readlane_reads writes matrix_ab", "6", "6", _LLVM),
    _rule("dgemm4", "memory_reads", "9", "9", _LLVM),
    _rule("dgemm4", "dgemm_c dgemm_c_same", "4", "4", _LLVM),
    _rule("dgemm4", "sgemm_c", "0", "4", _LLVM),
    _rule("dgemm16", "reads readlane_reads writes matrix_ab", "11", "11", _BOTH),
    _rule("dgemm16", "memory_reads", "18", "18", _BOTH),
    _rule("dgemm16", "dgemm_c", "9", "9", _BOTH),
    _rule("dgemm16", "sgemm_c", "0", "9", _BOTH),
    _rule("read_as_c", "writes", "p-1", "p-1", _LLVM),
    _rule("dgemm", "fma_f64", "2", "2", _LLVM),
    _rule(_VALU, "memory_after_dgemm", "2", "0", _LLVM),
    # Scalar registers. A mask (v_cndmask, a carry) is waited for: the manual says so of carries.
    _rule("valu_scalar", "memory_scalar", "5", "5", _BOTH),
    _rule("valu_scalar", "lane_select div_fmas", "4", "4", _BOTH),
    _rule("valu_scalar", "constant", "0", "2", _BOTH),
    _rule("valu_scalar", "zero_flag", "5", "5", _MANUAL),
    _rule("valu_scalar", "dpp_exec", "5", "5", _BOTH),
    _rule("valu_scalar", "lane_exec", "0", "4", _BOTH),
    _rule("valu_scalar", "matrix_exec", "4", "4", _LLVM),
    _rule("salu_m0", "m0", "1", "1", _BOTH),
    _rule("setreg", "hwreg", "2", "2", _BOTH),
)  # fmt: skip
# "xdl" to the same registers as an accumulator: two passes are too short to forward.
SHORT = _rule("xdl", "xdl_c_same sgemm_c_same dgemm_c_same", "0", "2", _BOTH)
SHORT_PASSES = 2

TRAITS = ("plain", "readlane", "lane_op", "div_fmas", "fma_f64", "writes_exec", "uses_m0")
_USES_M0 = {"movrels", "movreld", "ds_write_addtid", "ds_read_addtid"}


def did(op: Op) -> str:
    """What an instruction does to the vector register that is its result."""
    if not op.encoding.startswith("VOP"):
        return "none"
    if "matrix" in op.flags:
        if op.params["d"] == "f64":
            return "dgemm4" if op.params["m"] == "4" else "dgemm16"
        # On gfx90a all others are alike.
        return "sgemm" if op.params["a"] == "f32" and op.arches == ("gfx942",) else "xdl"
    if op.name.startswith("v_dot"):
        return "dot"
    return "trans" if "_TRANS_" in instruction_class(op) else "valu"


def traits(op: Op) -> frozenset[str]:
    found = set()
    if op.encoding.startswith("VOP") and did(op) != "trans":
        found.add("plain")
    if re.match(r"v_read(first)?lane", op.name):
        found.add("readlane")
    if re.match(r"v_(read(first)?|write)lane", op.name):
        found.add("lane_op")
    if op.kind == "div_fmas":
        found.add("div_fmas")
    if op.name in ("v_fma_f64", "v_fmac_f64"):
        found.add("fma_f64")
    if op.kind == "cmpx":
        found.add("writes_exec")
    if op.kind in _USES_M0 or op.name.startswith("s_sendmsg") or "to_lds" in op.flags:
        found.add("uses_m0")
    return frozenset(found)


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def _waits(text: str) -> str:
    passes = text.startswith("p")
    return f"{int(text.removeprefix('p') or 0)}, {str(passes).lower()}"


def header() -> str:
    """hazard_table.h: the rules and what instructions are to them."""
    out = "// Generated from the table of hazards; do not edit.\n#pragma once\n#include <cstdint>\n\nnamespace gpu::hazard {\n\n"
    for enum, names in (("Did", DID), ("Needs", NEEDS)):
        out += f"enum class {enum} : uint8_t {{ {', '.join(map(_camel, names))} }};\n"
        out += f"inline constexpr int k{enum}Count = {len(names)};\n"
    for n, trait in enumerate(TRAITS):
        out += f"inline constexpr uint8_t k{_camel(trait)} = 1u << {n};\n"
    out += f"inline constexpr int kShortPasses = {SHORT_PASSES};\n"
    out += (
        "struct Waits { int8_t count; bool passes; };  // `passes`: those of the first are added\n"
    )
    out += "struct OpHazard { Did did; uint8_t traits; };\n"
    out += "extern const Waits waits_table[2][kDidCount][kNeedsCount];  // by Arch\n"
    out += "extern const Waits short_table[2][kNeedsCount];  // after a matrix instruction of kShortPasses\n"
    out += "extern const OpHazard op_hazards[];  // as op_table\n"
    out += "extern const char* const did_text[];\nextern const char* const needs_text[];\n"
    return out + "\n}  // namespace gpu::hazard\n"


def tables() -> str:
    out = '#include "hazard_table.h"\n\nnamespace gpu::hazard {\n\n'
    out += "const Waits waits_table[2][kDidCount][kNeedsCount] = {\n"
    for arch in range(len(ARCHES)):
        known: dict[tuple[str, str], str] = {}
        for rule in RULES:
            for pair in ((a, b) for a in rule.first for b in rule.second):
                if pair in known:
                    raise ValueError(f"two rules for {pair}")
                known[pair] = rule.waits[arch]
        rows = (
            "{" + ", ".join(f"{{{_waits(known.get((a, b), '0'))}}}" for b in NEEDS) + "}"
            for a in DID
        )
        out += "  {\n    " + ",\n    ".join(rows) + "},\n"
    out += "};\nconst Waits short_table[2][kNeedsCount] = {\n"
    for arch in range(len(ARCHES)):
        row = (f"{{{_waits(SHORT.waits[arch] if b in SHORT.second else '0')}}}" for b in NEEDS)
        out += "  {" + ", ".join(row) + "},\n"
    out += "};\nconst OpHazard op_hazards[] = {\n"
    for op in all_ops():
        words = [f"k{_camel(t)}" for t in TRAITS if t in traits(op)]
        out += f"  {{Did::{_camel(did(op))}, {' | '.join(words) or '0'}}},  // {op.name}\n"
    out += "};\n"
    for name, words_of in (("did_text", DID), ("needs_text", NEEDS)):
        texts = ", ".join(f'"{text}"' for text in words_of.values())
        out += f"const char* const {name}[] = {{{texts}}};\n"
    return out + "\n}  // namespace gpu::hazard\n"
