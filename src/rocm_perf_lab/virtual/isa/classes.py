"""Instruction classes: the leaves that AMD's SQ_INSTS_* counters are sums of.

Every executed instruction adds one to exactly one class, so the counters are exact. What the
counters include was settled against recorded vcopy counters of MI300X and MI210: typed integer
names count as INT32/INT64 and untyped (b32, b64) ones do not; global instructions count as both
VMEM and FLAT; branches, waits and s_endpgm are not SALU.
"""

# ruff: noqa: E501 - a row of a table is one line
from __future__ import annotations

import re

from rocm_perf_lab.virtual.isa.op import Op

CLASSES = (
    "VALU",
    *(f"VALU_{what}_{t}" for t in ("F16", "F32", "F64") for what in ("ADD", "MUL", "FMA", "TRANS")),
    "VALU_INT32", "VALU_INT64", "VALU_CVT",
    *(f"MFMA_{t}" for t in ("I8", "F16", "BF16", "F32", "F64", "F8", "XF32")),
    "SALU", "SMEM", "SMEM_STORE", "SMEM_CACHE", "SMEM_TIME",
    *(f"{e}_{what}" for e in ("GLOBAL", "FLAT", "SCRATCH", "BUFFER") for what in ("LOAD", "STORE", "ATOMIC")),
    "BUFFER_CACHE", "LDS_LOAD", "LDS_STORE", "LDS_ATOMIC", "LDS_OTHER",
    "BRANCH", "BARRIER", "WAITCNT", "SENDMSG", "ENDPGM", "OTHER",
)  # fmt: skip
# Not instructions: matrix operations in units of 512, as SQ_INSTS_VALU_MFMA_MOPS_* count them.
MOPS = tuple(f"MOPS_{t}" for t in ("I8", "F16", "BF16", "F32", "F64", "F8", "XF32"))

_TRANS = re.compile(r"v_(exp|log|rcp|rsq|sqrt|sin|cos)(_iflag|_legacy)?_(f\d+)$")
_FMA = re.compile(
    r"v_(pk_)?(fma|fmac|mac|mad|madmk|madak|fmamk|fmaak)(_legacy|_mix|_mixlo|_mixhi)?_(f\d+)$"
)
_ADD = re.compile(r"v_(pk_)?(add|sub|subrev)_(f\d+)$")
_MUL = re.compile(r"v_(pk_)?mul(_legacy)?_(f\d+)$")
_MATRIX = {"bf16_1k": "BF16", "bf16": "BF16", "f16": "F16", "f32": "F32", "f64": "F64", "i8": "I8", "xf32": "XF32", "fp8": "F8", "bf8": "F8"}  # fmt: skip


def matrix_class(op: Op) -> str:
    return _MATRIX[op.params["a"]]


def _vector(op: Op) -> str:
    name = op.name
    if "matrix" in op.flags:
        return f"MFMA_{matrix_class(op)}"
    for pattern, what in ((_TRANS, "TRANS"), (_FMA, "FMA"), (_ADD, "ADD"), (_MUL, "MUL")):
        match = pattern.match(name)
        if match:
            mix = "mix" in name
            return f"VALU_{what}_{'F32' if mix else match.groups()[-1].upper()}"
    if name.startswith("v_cvt_"):
        return "VALU_CVT"
    if re.search(r"_[iu]64(_|$)", name):
        return "VALU_INT64"
    if re.search(r"_[iu](32|24)(_|$)", name) and "_f" not in name.replace("_ffb", ""):
        return "VALU_INT32"
    return "VALU"


def _memory(op: Op) -> str:
    prefix = {"MUBUF": "BUFFER", "MTBUF": "BUFFER"}.get(op.encoding, op.encoding)
    if "bare" in op.flags:
        return "BUFFER_CACHE"
    what = "ATOMIC" if "atomic" in op.flags else "STORE" if "store" in op.flags else "LOAD"
    return f"{prefix}_{what}"


def _lds(op: Op) -> str:
    if "atomic" in op.flags or "xchg" in op.kind or "append" in op.kind:
        return "LDS_ATOMIC"
    if op.kind.startswith("ds_read"):
        return "LDS_LOAD"
    return "LDS_STORE" if op.kind.startswith("ds_write") else "LDS_OTHER"


def instruction_class(op: Op) -> str:
    """The class of one table row."""
    if op.encoding.startswith("VOP"):
        return _vector(op)
    if op.encoding == "DS":
        return _lds(op)
    if op.encoding == "SMEM":
        if op.kind in ("memtime", "memrealtime"):
            return "SMEM_TIME"
        if op.kind == "nothing":
            return "SMEM_CACHE"
        return "SMEM_STORE" if op.kind == "sstore" else "SMEM"
    if op.encoding in ("FLAT", "GLOBAL", "SCRATCH", "MUBUF", "MTBUF"):
        return _memory(op)
    if op.kind in ("branch", "setpc", "swappc", "call"):
        return "BRANCH"
    if op.encoding == "SOPP":
        special = {
            "s_barrier": "BARRIER",
            "s_waitcnt": "WAITCNT",
            "s_sendmsg": "SENDMSG",
            "s_sendmsghalt": "SENDMSG",
        }
        return special.get(op.name, "ENDPGM" if op.kind == "endpgm" else "OTHER")
    return "SALU"


# What issues an instruction, as the timing model sees it, by the beginning of its class's name.
UNITS = ("Valu", "Matrix", "Salu", "Smem", "Vmem", "Lds", "Branch", "Wait", "Barrier", "End", "Idle", "Message")  # fmt: skip
_UNIT_OF = {
    "MFMA": "Matrix", "VALU": "Valu", "SALU": "Salu", "SMEM": "Smem", "GLOBAL": "Vmem", "FLAT": "Vmem",
    "SCRATCH": "Vmem", "BUFFER": "Vmem", "LDS": "Lds", "BRANCH": "Branch", "BARRIER": "Barrier",
    "WAITCNT": "Wait", "ENDPGM": "End", "SENDMSG": "Message", "OTHER": "Message",
}  # fmt: skip


def unit(op: Op) -> str:
    return (
        "Idle" if effects(op) & {"nop", "sleep"} else _UNIT_OF[instruction_class(op).split("_")[0]]
    )


# What else the executor and the models must know of single instructions.
EFFECTS = ("no_fall_through", "quarter_rate", "nop", "sleep", "wait_counts")
_QUARTER_RATE = re.compile(r"v_(mul_lo_u32|mul_hi_|mad_[iu]64)")  # products of 32 and 64 bits
_EFFECT_OF = {
    "s_branch": "no_fall_through", "s_setpc_b64": "no_fall_through",
    "s_nop": "nop", "s_sleep": "sleep", "s_waitcnt": "wait_counts",
}  # fmt: skip


def effects(op: Op) -> frozenset[str]:
    found = {_EFFECT_OF[op.name]} if op.name in _EFFECT_OF else set()
    if instruction_class(op) == "ENDPGM":
        found.add("no_fall_through")
    if _QUARTER_RATE.match(op.name):
        found.add("quarter_rate")
    return frozenset(found)


def _having(*prefixes: str) -> tuple[str, ...]:
    return tuple(c for c in CLASSES if c.startswith(prefixes))


# AMD's counter names as sums of classes.
COUNTERS: dict[str, tuple[str, ...]] = {
    "SQ_INSTS": CLASSES,
    "SQ_INSTS_VALU": _having("VALU", "MFMA"),
    "SQ_INSTS_MFMA": _having("MFMA"),
    **{f"SQ_INSTS_VALU_{c[5:]}": (c,) for c in CLASSES if c.startswith("VALU_")},
    **{f"SQ_INSTS_VALU_{c}": (c,) for c in CLASSES if c.startswith("MFMA_")},
    **{f"SQ_INSTS_VALU_MFMA_{m}": (m,) for m in MOPS},
    "SQ_INSTS_SALU": ("SALU",),
    "SQ_INSTS_SMEM": _having("SMEM"),
    "SQ_INSTS_VMEM": _having("GLOBAL", "SCRATCH", "BUFFER", "FLAT"),
    "SQ_INSTS_VMEM_RD": tuple(
        c for c in _having("GLOBAL", "SCRATCH", "BUFFER", "FLAT") if c.endswith("LOAD")
    ),
    "SQ_INSTS_VMEM_WR": tuple(
        c for c in _having("GLOBAL", "SCRATCH", "BUFFER", "FLAT") if c.endswith(("STORE", "ATOMIC"))
    ),
    "SQ_INSTS_FLAT": _having("GLOBAL", "SCRATCH", "FLAT"),
    "SQ_INSTS_LDS": _having("LDS"),
    "SQ_INSTS_BRANCH": ("BRANCH",),
}
# One cycle each.
COUNTERS |= {
    f"SQ_INST_CYCLES_{what}": COUNTERS[f"SQ_INSTS_{what}"]
    for what in ("SALU", "SMEM", "VMEM_RD", "VMEM_WR")
}
