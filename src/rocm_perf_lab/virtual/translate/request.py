"""A kernel as the virtual GPU describes it (native/gpu/translate/request.cpp)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from rocm_perf_lab.virtual.isa.op import ARCHES, Op
from rocm_perf_lab.virtual.isa.table import ENCODINGS, all_ops

HEAD = "rocm-perf translation 2"
FORMATS = (*ENCODINGS, "SDWA", "DPP")


class Kind(IntEnum):
    NONE = 0
    VECTOR = 1
    SCALAR = 2
    CONSTANT = 3
    SPECIAL = 4


@dataclass(frozen=True)
class Source:
    kind: Kind
    code: int  # a row of vector registers (accumulation registers from 256 on), or a scalar's
    neg: bool
    abs: bool
    sel: int
    neg_hi: int
    value: int  # of a constant


@dataclass(frozen=True)
class Instruction:
    at: int  # words after the kernel's entry
    op: Op
    number: int  # of the op
    words: int
    format: str
    simple: bool  # sources as they stand
    plain_dst: bool
    clamp: int
    omod: int
    dst: int
    sdst: int
    dst_sel: int
    dst_unused: int
    op_sel: int
    cls: int
    imm: int
    src: tuple[Source, ...]

    @property
    def next(self) -> int:
        return self.at + self.words

    @property
    def target(self) -> int | None:
        """Where it branches to."""
        relative = self.op.kind in ("branch", "call") and self.format in ("SOPP", "SOPK")
        return self.at + 1 + self.imm if relative else None


@dataclass(frozen=True)
class Request:
    arch: str
    layout: dict[str, int]
    instructions: tuple[Instruction, ...]  # by `at`


def read(text: str) -> Request:
    lines = text.splitlines()
    if not lines or lines[0] != HEAD:
        raise ValueError("not a kernel to translate, or of another version")
    arch, layout, found = "", dict[str, int](), list[Instruction]()
    for line in lines[1:]:
        word, *rest = line.split()
        if word == "arch":
            arch = ARCHES[int(rest[0])]
        elif word == "layout":
            layout[rest[0]] = int(rest[1])
        else:
            found.append(_instruction(iter(map(int, rest))))
    return Request(arch, layout, tuple(found))


def _instruction(numbers: Iterator[int]) -> Instruction:
    at, op, words, form, simple, plain, clamp, omod = (next(numbers) for _ in range(8))
    dst, sdst, dst_sel, unused, op_sel, cls, imm = (next(numbers) for _ in range(7))
    sources = tuple(_source(numbers) for _ in range(3))
    return Instruction(
        at, all_ops()[op], op, words, FORMATS[form], bool(simple), bool(plain), clamp, omod, dst,
        sdst, dst_sel, unused, op_sel, cls, imm, sources,
    )  # fmt: skip


def _source(numbers: Iterator[int]) -> Source:
    kind, code, neg, absolute, sel, neg_hi, value = (next(numbers) for _ in range(7))
    return Source(Kind(kind), code, bool(neg), bool(absolute), sel, neg_hi, value & (2**64 - 1))
