"""What a row of the ISA table is, and how the text of a table is read."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

ARCHES = ("gfx90a", "gfx942")

# Operand types: how many 32-bit registers one takes.
WIDTH = {
    "b16": 1, "u16": 1, "i16": 1, "f16": 1, "f16d": 1,
    "b32": 1, "u32": 1, "i32": 1, "f32": 1, "bf8": 1, "fp8": 1, "mix": 1,
    "f16x2": 1, "u16x2": 1, "i16x2": 1, "f16dx2": 1,
    "b16x2": 1, "w16x2": 1,  # both halves in one word: of f16, of integers
    "b16p": 1,  # the same of f16, where there is no op_sel
    "b64": 2, "u64": 2, "i64": 2, "f64": 2, "f32x2": 2, "b32x2": 2, "mask": 2,
    "f16r": 1, "f32r": 1, "f64r": 2,  # raw bits, but with floating-point source modifiers
    "acc": 1, "sgpr": 1, "slane": 1, "sb32": 1, "lit": 1,
    "b96": 3, "b128": 4, "b256": 8, "b512": 16, "b1024": 32,
}  # fmt: skip


@dataclass(frozen=True)
class Op:
    """One instruction of one encoding."""

    name: str
    encoding: str
    code: int
    dst: str = ""  # type, "" for none
    src: tuple[str, ...] = ()
    body: str = (
        ""  # C++: an expression (vector) or statements over d, scc (scalar); "" = kind says all
    )
    kind: str = ""  # which C++ wrapper runs it
    flags: frozenset[str] = frozenset()
    arches: tuple[str, ...] = ARCHES
    params: dict[str, str] = field(default_factory=dict, hash=False)

    @property
    def modelled(self) -> bool:
        """False: decoded and disassembled, but executing it is a fault."""
        return self.kind != "unmodelled"


_ROW = re.compile(r"(\d+)\s+(\S+)\s*(.*)")


def rows(text: str, encoding: str, kind: str, width: dict[str, int] | None = None) -> list[Op]:
    """Ops from lines ``code name dst: src src :: body :: flag key=value``.

    ``@gfx942`` among the flags limits the row to that architecture; a flag ``kind=x`` replaces
    the table's default kind.
    """
    ops = []
    for line in text.strip().splitlines():
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        match = _ROW.match(line)
        if match is None:
            raise ValueError(f"not a table row: {line}")
        code, name, rest = int(match[1]), match[2], match[3]
        cells = [cell.strip() for cell in rest.split("::")]
        signature = cells[0]
        dst, _, src = signature.partition(":")
        body = cells[1] if len(cells) > 1 else ""
        words = cells[2].split() if len(cells) > 2 else []
        params = dict(w.split("=", 1) for w in words if "=" in w)
        flags = frozenset(w for w in words if "=" not in w and not w.startswith("@"))
        arches = tuple(w[1:] for w in words if w.startswith("@")) or ARCHES
        ops.append(
            Op(
                name=name, encoding=encoding, code=code, dst=dst.strip(), src=tuple(src.split()),
                body=body, kind=params.pop("kind", kind), flags=flags, arches=arches, params=params,
            )
        )  # fmt: skip
    return ops
