"""Numbers that a kernel's code names: what it compares with, adds, masks by.

A case of its own begins at one of them. Values drawn by chance rarely meet one and hardly ever two,
so they are strewn into the inputs: those of the original, and those that only a proposal has.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rocm_perf_lab.codeobject.kernels import CodeObject, Kernel, read_code_object
from rocm_perf_lab.device.disassembly import KNOWN, disassemble

MOST_INTEGERS, MOST_FLOATS = 192, 64
_MOST_COMPARED, _MOST_ADDED = 24, 8  # that are combined
_MOST_BITS = 31
_NUMBER = re.compile(r"-?(?:0x[0-9a-f]+|\d+(?:\.\d+)?(?:e[-+]?\d+)?)")
_NO_VALUES = re.compile(
    r"s_(?:waitcnt|nop|branch|cbranch|load|store|buffer|setreg|getreg|sleep|endpgm|barrier|set_|"
    r"setprio|getpc|swappc|setpc|dcache|icache|code_end|lsh|ash|mov_b64)|"
    r"v_(?:lsh|ash|readlane|writelane|readfirst|mfma|accvgpr|alignb|perm|mbcnt|bfe)"
)
_COMPARES = re.compile(r"(?:v_cmpx?|s_cmpk?)_")
_ADDS = re.compile(r"[sv]_(?:add|sub)")
_MASKS = re.compile(r"[sv]_(?:and|or|xor|bfi|andn|orn)")
_BIT = re.compile(r"s_bitcmp[01]_b\d+")
_FLOATING = re.compile(r"_f(16|32|64)\b|_f(16|32|64)_")
_CODES = {16: ("<H", "<e"), 32: ("<I", "<f"), 64: ("<Q", "<d")}


@dataclass(frozen=True)
class Named:
    integers: tuple[int, ...] = ()
    floats: tuple[float, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.integers or self.floats)

    def without(self, other: Named) -> Named:
        integers, floats = frozenset(other.integers), frozenset(other.floats)
        return Named(
            tuple(v for v in self.integers if v not in integers),
            tuple(v for v in self.floats if v not in floats),
        )


def named(image: bytes, symbol: str) -> Named:
    """By the code of one kernel."""
    owner = read_code_object(image)
    kernel = next((k for k in owner.kernels if k.name == symbol), None)
    if kernel is None or kernel.architecture not in KNOWN:
        return Named()
    return in_code(owner, kernel)


def in_code(owner: CodeObject, kernel: Kernel) -> Named:
    return of_texts(each.text for each in disassemble(owner, kernel))


def of_texts(instructions: Iterable[str]) -> Named:
    compared: dict[int, None] = {}
    added: dict[int, None] = {}
    moved: dict[int, None] = {}
    other: dict[int, None] = {}
    floats: dict[float, None] = {}
    for text in instructions:
        name, _, rest = text.partition(" ")
        if not name.startswith(("v_", "s_")) or _NO_VALUES.match(name):
            continue
        match = _FLOATING.search(name)
        bits = int(match[1] or match[2]) if match else 0
        for operand in _operands(rest):
            if bits:
                floats.setdefault(_float(operand, bits))
                continue
            if "." in operand:
                floats.setdefault(float(operand))
                continue
            value = _signed(int(operand, 0))
            if _COMPARES.match(name):
                compared.setdefault(value)
            elif _ADDS.match(name):
                added.setdefault(-value if "_sub_" in name else value)
            elif _BIT.fullmatch(name):
                other.setdefault(1 << (value & _MOST_BITS))
            elif _MASKS.match(name):
                other.setdefault(value)
            else:
                other.setdefault(value)
                # What is moved may be compared with later, or be a float; small integers are none.
                if operand.startswith("0x"):
                    moved.setdefault(value)
                    floats.setdefault(_float(operand, 32))
    integers = dict.fromkeys(_integers([*compared, *moved], [*added], [*other]))
    finite = [v for v in floats if v and math.isfinite(v)]
    both = dict.fromkeys(v for each in finite for v in (each, -each))
    return Named(tuple(integers)[:MOST_INTEGERS], tuple(both)[:MOST_FLOATS])


def _operands(rest: str) -> Iterator[str]:
    """Numbers among the operands, without modifiers behind them."""
    for each in rest.split(","):
        word = each.strip().partition(" ")[0].strip("|-") if "|" in each else each.strip()
        word = word.partition(" ")[0]
        if _NUMBER.fullmatch(word):
            yield word


def _integers(compared: list[int], added: list[int], other: list[int]) -> Iterator[int]:
    """What makes a comparison come out one way or the other comes first: `x + a < c` turns where x
    is c - a."""
    near = (0, -1, 1)
    yield from (c + by for c in compared for by in near)
    yield from (by - a for a in added[:_MOST_ADDED] for by in near)
    yield from (
        c - a + by
        for a in added[:_MOST_ADDED]
        for c in compared[:_MOST_COMPARED]
        for by in near[:2]
    )
    yield from (v + by for v in other for by in near)


def _signed(word: int) -> int:
    return word - (1 << 32) if 1 << 31 <= word < 1 << 32 else word


def _float(operand: str, bits: int) -> float:
    if "." in operand or not operand.startswith("0x"):
        return float(operand)
    word = int(operand, 0)
    if bits == 64:  # a literal is the upper half
        word <<= 32
    whole, floating = _CODES[bits]
    return float(struct.unpack(floating, struct.pack(whole, word & ((1 << bits) - 1)))[0])
