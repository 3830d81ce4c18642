"""The whole table, and lookups over it."""

from __future__ import annotations

from functools import lru_cache

from rocm_perf_lab.virtual.isa.matrix import matrix_ops
from rocm_perf_lab.virtual.isa.memory import memory_ops
from rocm_perf_lab.virtual.isa.op import Op
from rocm_perf_lab.virtual.isa.packed import packed_ops
from rocm_perf_lab.virtual.isa.scalar import scalar_ops
from rocm_perf_lab.virtual.isa.vector import vector_ops

ENCODINGS = (
    "SOP1", "SOP2", "SOPK", "SOPC", "SOPP", "SMEM", "VOP1", "VOP2", "VOPC", "VOP3", "VOP3P",
    "DS", "FLAT", "GLOBAL", "SCRATCH", "MUBUF", "MTBUF",
)  # fmt: skip
# Opcode space of each encoding.
CODES = {
    "SOP1": 256, "SOP2": 96, "SOPK": 32, "SOPC": 128, "SOPP": 128, "SMEM": 256, "VOP1": 256,
    "VOP2": 64, "VOPC": 256, "VOP3": 1024, "VOP3P": 128, "DS": 256, "FLAT": 128, "GLOBAL": 128,
    "SCRATCH": 128, "MUBUF": 128, "MTBUF": 16,
}  # fmt: skip


@lru_cache(maxsize=1)
def all_ops() -> tuple[Op, ...]:
    ops = scalar_ops() + vector_ops() + packed_ops() + matrix_ops() + memory_ops()
    order = {name: n for n, name in enumerate(ENCODINGS)}
    ops.sort(key=lambda op: (order[op.encoding], op.code, op.arches))
    for arch in ("gfx90a", "gfx942"):
        keys = [(op.encoding, op.code) for op in ops if arch in op.arches]
        if len(keys) != len(set(keys)):
            raise ValueError(f"two instructions of {arch} share an opcode")
    return tuple(ops)


def vop3_code(op: Op) -> int | None:
    """The opcode of a VOP1, VOP2 or VOPC instruction in the VOP3 encoding."""
    if "novop3" in op.flags:
        return None
    base = {"VOPC": 0, "VOP2": 256, "VOP1": 320, "VOP3": 0}.get(op.encoding)
    return None if base is None else base + op.code
