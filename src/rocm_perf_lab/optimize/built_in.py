"""Does new code hold a number that the program passes? A size that is built in is right for one.

Sizes can be made smaller for a check, but hardly larger than the memory that was captured: a bound
that is the captured size may show nowhere. So it is looked for in the machine code, however it was
written in the source.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping

from rocm_perf_lab.codeobject.kernels import Kernel
from rocm_perf_lab.optimize.launches import scalars
from rocm_perf_lab.replay.launches import Launch, Launches

# Smaller ones are written into instructions, and occur everywhere; larger ones may be anything.
LEAST, MOST = 65, 1 << 24
COMMON = 1 << 16  # powers of two up to here are tiles and strides of honest kernels
SOPK_MASK, SOPK = 0xF0000000, 0xB0000000  # scalar instructions with a number in the lower half


def built_in(
    launches: Launches, before: Mapping[str, Kernel], after: Mapping[str, Kernel]
) -> str | None:
    """Which passed number the new code of an instance holds and the old one does not."""
    for symbol, kernel in after.items():
        new = numbers(kernel.code) - numbers(before[symbol].code)
        for launch in launches.all:
            if launch.symbol != symbol or launch.kernarg is None:
                continue
            for passed in _passed(launch, kernel):
                for value in _telling(passed) & new:
                    return (
                        f"its code holds the number {value}, and launch {launch.index} passes "
                        f"{passed}: what a program passes is not built in"
                    )
    return None


def numbers(code: bytes) -> set[int]:
    """Every word of the code, one of which may be a constant, and the short constants."""
    words = struct.unpack(f"<{len(code) // 4}I", code[: len(code) // 4 * 4])
    return {*words, *(word & 0xFFFF for word in words if word & SOPK_MASK == SOPK)}


def _passed(launch: Launch, kernel: Kernel) -> Iterator[int]:
    for data in scalars(launch, kernel):
        if len(data) in (2, 4, 8):
            yield int.from_bytes(data, "little")


def _telling(value: int) -> set[int]:
    """The number and its neighbours: a compiler turns `<` into `<=`."""
    if not LEAST <= value < MOST:
        return set()
    near = {value - 1, value, value + 1}
    return {n for n in near if n.bit_count() > 1 or n > COMMON}
