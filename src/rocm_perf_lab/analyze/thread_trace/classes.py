"""What kind of instruction a line is: from its mnemonic, or the trace's category without one.

The trace's categories put MFMA under VALU and waits, barriers and no-ops under one heading;
those are exactly the distinctions a reader of the sums needs, so the mnemonic decides.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.trace.att_trace import ByteColumn

# Order is the order of the published tables.
CLASSES = (
    "MFMA",
    "VALU",
    "TRANS",
    "SALU",
    "SMEM",
    "VMEM_LOAD",
    "VMEM_STORE",
    "VMEM_ATOMIC",
    "VMEM_OTHER",
    "FLAT",
    "LDS",
    "BVH",
    "EXPORT",
    "WAITCNT",
    "BARRIER",
    "NOP",
    "SLEEP",
    "DELAY",
    "JUMP",
    "NEXT",
    "BRANCH",
    "MESSAGE",
    "END",
    "IMMED",
    "OTHER",
)
CODE = {name: number for number, name in enumerate(CLASSES)}

VMEM = ("VMEM_LOAD", "VMEM_STORE", "VMEM_ATOMIC", "VMEM_OTHER", "FLAT", "BVH")

# First match wins.
_BY_MNEMONIC = [
    (re.compile(pattern), name)
    for pattern, name in (
        (r"v_(mfma|smfmac|wmma|swmmac)_", "MFMA"),
        (r"v_(s_)?(exp|log|rcp|rsq|sqrt|sin|cos|tanh)_", "TRANS"),
        (r"v_", "VALU"),
        (r"s_(waitcnt_depctr|wait_alu|delay_alu)", "DELAY"),
        (r"s_wait", "WAITCNT"),
        (r"s_barrier", "BARRIER"),
        (r"s_nop", "NOP"),
        (r"s_sleep", "SLEEP"),
        (r"s_endpgm", "END"),
        (r"s_(sendmsg|ttracedata)", "MESSAGE"),
        (r"s_(c?branch|setpc|swappc|call|rfe)", "BRANCH"),
        (
            r"s_(load|store|buffer|scratch|atomic|dcache|gl1_inv|mem|prefetch|get_waveid|atc_probe)",
            "SMEM",
        ),
        (r"s_", "SALU"),
        (r"(ds|lds)_", "LDS"),
        (r"image_bvh|\w*_bvh_", "BVH"),
        (r"flat_", "FLAT"),
        (r"(global|t?buffer|scratch|image)_.*atomic", "VMEM_ATOMIC"),
        (r"(global|t?buffer|scratch|image)_.*store", "VMEM_STORE"),
        (r"(global|t?buffer|scratch|image)_.*(load|sample|gather)", "VMEM_LOAD"),
        (r"(global|t?buffer|scratch|image)_", "VMEM_OTHER"),
        (r"exp\b|export", "EXPORT"),
    )
]
_BY_CATEGORY = (
    "OTHER",  # 0 NONE
    "SMEM",
    "SALU",
    "VMEM_OTHER",
    "FLAT",
    "LDS",
    "VALU",
    "JUMP",
    "NEXT",
    "IMMED",
    "OTHER",  # 10 CONTEXT
    "MESSAGE",
    "BVH",
)


def mnemonic(isa: str) -> str:
    words = isa.split(None, 1)
    return words[0].lower() if words else ""


def of_text(isa: str) -> str | None:
    """The class by mnemonic; None when the text does not tell."""
    word = mnemonic(isa)
    return next((name for pattern, name in _BY_MNEMONIC if pattern.match(word)), None)


def of_lines(isa: Sequence[str]) -> npt.NDArray[np.int8]:
    """Class code of every code line; OTHER where the text does not tell."""
    codes = [CODE[of_text(text) or "OTHER"] for text in isa]
    return np.array(codes, dtype=np.int8)


def of_instructions(
    line_class: npt.NDArray[np.int8], row: npt.NDArray[np.int64], category: ByteColumn
) -> npt.NDArray[np.int8]:
    """Class of every executed instruction: its line's, with branches split by what they did."""
    table = np.full(128, CODE["OTHER"], dtype=np.int8)
    table[: len(_BY_CATEGORY)] = [CODE[name] for name in _BY_CATEGORY]
    by_category = table[np.clip(category, 0, 127)]
    known = row >= 0
    codes = by_category.copy()
    codes[known] = line_class[row[known]]
    undecided = (codes == CODE["OTHER"]) | (
        (codes == CODE["BRANCH"]) & ((category == 7) | (category == 8))
    )
    return np.where(undecided, by_category, codes).astype(np.int8)
