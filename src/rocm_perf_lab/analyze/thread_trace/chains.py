"""Loads whose address comes from another load: what waits one by one, however many waves there are.

Registers that hold a loaded value, or something computed from one, are followed in the order of the
code; twice, so that what a loop carries round is seen at its head.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rocm_perf_lab.analyze.thread_trace import classes
from rocm_perf_lab.analyze.thread_trace.accesses import address_of, registers, written

_LOADS = ("VMEM_LOAD", "FLAT")


def dependent_share(isa: Sequence[str], executed: Mapping[int, int]) -> float | None:
    """Of the vector loads executed, those that take their address from one; None without loads.

    `executed` is how often each row was.
    """
    kinds = {row: classes.of_text(isa[row]) for row in executed}
    loads = [row for row, kind in kinds.items() if kind in _LOADS]
    whole = sum(executed[row] for row in loads)
    if not whole:
        return None
    loaded: set[tuple[str, int]] = set()
    dependent: set[int] = set()
    for row in (*sorted(executed), *sorted(executed)):
        text, kind = isa[row], kinds[row]
        target = written(text, kind)
        if kind in _LOADS:
            if address_of(text) & loaded:
                dependent.add(row)
            loaded |= target
        elif registers(text.partition(",")[2]) & loaded:
            loaded |= target
        else:
            loaded -= target
    return sum(executed[row] for row in dependent) / whole
