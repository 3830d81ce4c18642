"""Which launches of a kernel are compared: a sample that covers all the program did with it.

One run of the program records every different launch. What matters of one are its features: the
instance of a template, the shape, the scalars, how pointers are aligned and which of them point
into the same memory. Launches are chosen until every feature was seen, or there are enough.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rocm_perf_lab.codeobject.demangle import demangle
from rocm_perf_lab.codeobject.kernels import Argument, Kernel
from rocm_perf_lab.optimize.input_sets import Most
from rocm_perf_lab.replay.launches import Launch

MOST = 16  # captures of one kernel, all instances of its template together
ALIGNMENT = 16  # bytes: what the widest load asks for
KINDS = {
    "instance": "instances of the template",
    "grid": "grids",
    "block": "blocks",
    "dynamic LDS": "sizes of dynamic LDS",
    "scalars": "combinations of scalars",
    "alignment": "alignments of pointers",
    "aliasing": "ways in which pointers share memory",
}

Feature = tuple[str, str, object]  # kind, symbol, value


@dataclass(frozen=True)
class Pointer:
    argument: int  # number of the parameter, from 0
    offset: int  # in the arguments
    address: int
    allocation: tuple[int, int] | None  # base and size; None: it is not known what it reaches


def explicit(kernel: Kernel) -> list[Argument]:
    return [argument for argument in kernel.arguments if not argument.hidden]


def pointers(launch: Launch, kernel: Kernel) -> list[Pointer]:
    """Of pointer parameters, and those inside of structures that are passed by value."""
    found: list[Pointer] = []
    assert launch.kernarg is not None
    for number, argument in enumerate(explicit(kernel)):
        for at in words(argument.offset, argument.size):
            if argument.kind != "global_buffer" and at not in launch.allocations:
                continue
            (address,) = struct.unpack_from("<Q", launch.kernarg.ljust(at + 8, b"\0"), at)
            found.append(Pointer(number, at, address, launch.allocations.get(at)))
    return found


def words(offset: int, size: int) -> range:
    """Where pointers may lie in an argument."""
    return range(-(-offset // 8) * 8, offset + size - 7, 8)


def _scalars(launch: Launch, kernel: Kernel) -> tuple[bytes, ...]:
    """Of each parameter that is no pointer its bytes, without the pointers in them."""
    assert launch.kernarg is not None
    found = []
    for argument in explicit(kernel):
        if argument.kind == "global_buffer":
            continue
        data = bytearray(launch.kernarg[argument.offset : argument.offset + argument.size])
        for at in words(argument.offset, argument.size):
            if at in launch.allocations:
                data[at - argument.offset : at - argument.offset + 8] = bytes(8)
        found.append(bytes(data))
    return tuple(found)


def most(launches: Iterable[Launch], kernel: Kernel) -> Most:
    """The largest grid and whole numbers of all launches of one kernel; numbers as they would be
    read with a sign."""
    grid, numbers = [0, 0, 0], dict[int, int]()
    for launch in launches:
        grid = [max(pair) for pair in zip(grid, launch.grid, strict=True)]
        for argument in explicit(kernel) if launch.kernarg is not None else ():
            if argument.kind != "global_buffer" and argument.size in (1, 2, 4, 8):
                assert launch.kernarg is not None
                data = launch.kernarg[argument.offset : argument.offset + argument.size]
                value = int.from_bytes(data, "little", signed=True)
                numbers[argument.offset] = max(value, numbers.get(argument.offset, value))
    return Most((grid[0], grid[1], grid[2]), numbers)


def shared(found: Sequence[Pointer]) -> list[tuple[Pointer, Pointer]]:
    """Pairs that reach the same allocation."""
    return [
        (a, b)
        for i, a in enumerate(found)
        for b in found[i + 1 :]
        if a.allocation is not None and a.allocation == b.allocation
    ]


def features(launch: Launch, kernel: Kernel) -> frozenset[Feature]:
    name = launch.symbol
    found: set[Feature] = {
        ("instance", name, None),
        ("grid", name, launch.grid),
        ("block", name, launch.block),
        ("dynamic LDS", name, launch.group_bytes),
    }
    if launch.kernarg is None:
        return frozenset(found)
    where = pointers(launch, kernel)
    order = tuple(
        (a.offset, b.offset, (a.address > b.address) - (a.address < b.address))
        for a, b in shared(where)
    )
    # A null pointer is an alignment of its own.
    aligned = tuple(p.address % ALIGNMENT if p.address else None for p in where)
    found |= {
        ("scalars", name, _scalars(launch, kernel)),
        ("alignment", name, aligned),
        ("aliasing", name, order),
    }
    return frozenset(found)


def choose(
    seen: Sequence[frozenset[Feature]], taken: Iterable[int] = (), most: int = MOST
) -> list[int]:
    """Positions of launches to compare beside those taken: each time the one that shows most that
    is new; of several, the one farthest from all chosen, so that a row of many is spread over."""
    chosen = list(taken)
    known = frozenset[Feature]().union(*(seen[at] for at in chosen))
    groups: dict[frozenset[Feature], list[int]] = {}
    for at, its in enumerate(seen):
        groups.setdefault(its, []).append(at)
    added: list[int] = []
    while len(chosen) < most:
        left = [(len(its - known), ats[0]) for its, ats in groups.items() if its - known]
        if not left:
            break
        top = max(count for count, _ in left)
        at = max(
            (at for count, at in left if count == top),
            key=lambda at: (min((abs(at - c) for c in chosen), default=0), -at),
        )
        chosen.append(at)
        added.append(at)
        known |= seen[at]
    return added


def uncovered(
    every: Iterable[frozenset[Feature]], compared: Iterable[frozenset[Feature]]
) -> list[str]:
    """In words what of the program's launches no comparison saw."""
    whole = frozenset[Feature]().union(*every)
    missing = whole - frozenset[Feature]().union(*compared)
    found = []
    for kind, words in KINDS.items():
        count = sum(1 for each in missing if each[0] == kind)
        if count:
            total = sum(1 for each in whole if each[0] == kind)
            found.append(f"{count} of {total} {words}")
    return found


def short(symbol: str) -> str:
    """`_Z5twiceILi64EEvPfi` -> `twice<64>`."""
    text = demangle(symbol) or symbol
    text = text.removeprefix("void ").replace("(anonymous namespace)::", "")
    depth = 0
    for at, character in enumerate(text):
        depth += (character == "<") - (character == ">")
        if character == "(" and depth == 0:
            text = text[:at]
            break
    return re.sub(r"\s+", " ", text)[-80:]
