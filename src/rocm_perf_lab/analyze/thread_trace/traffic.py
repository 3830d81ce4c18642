"""What the executed loads and stores of the traced waves asked for, by their mnemonics.

Lanes are not recorded: amounts are per lane, and whoever uses them says how many lanes there are.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.analyze.thread_trace import classes
from rocm_perf_lab.analyze.thread_trace.accesses import bytes_per_lane
from rocm_perf_lab.analyze.thread_trace.classes import CODE
from rocm_perf_lab.analyze.thread_trace.sums import Placed
from rocm_perf_lab.analyze.thread_trace.waits import is_store
from rocm_perf_lab.trace.att_trace import AttTrace

# Below this share of waves that were seen to their end, bytes per wave are too few.
WHOLE_WAVES = 0.9


@dataclass(frozen=True)
class Traffic:
    """Of all traced waves; scratch, LDS, scalar loads and atomics are left out."""

    loads: int = field(metadata={"description": "executed, over all waves read"})
    stores: int
    load_bytes: int = field(metadata={"description": "per lane, summed over executions"})
    store_bytes: int = field(metadata={"description": "per lane, summed over executions"})
    ended_share: float = field(metadata={"description": "of the waves, those seen to s_endpgm"})
    unit_cycles: int = field(
        metadata={"description": "first begin to last end, summed over the traced compute units"}
    )

    @property
    def bytes(self) -> int:
        return self.load_bytes + self.store_bytes

    @property
    def bytes_per_load(self) -> float | None:
        """Of a lane, on average over the loads executed."""
        return self.load_bytes / self.loads if self.loads else None


def traffic(trace: AttTrace, placed: Placed, kind: npt.NDArray[np.int8]) -> Traffic:
    code = trace.code
    rows, hits = np.unique(placed.row[placed.row >= 0], return_counts=True)
    counts = {False: [0, 0], True: [0, 0]}  # is a store -> executions, bytes
    for row, hit in zip(rows.tolist(), hits.tolist(), strict=True):
        isa = code.isa[row]
        width = bytes_per_lane(isa)
        if width is None or classes.mnemonic(isa).startswith("scratch_"):
            continue
        into = counts[is_store(isa.lower())]
        into[0] += hit
        into[1] += hit * width
    (loads, load_bytes), (stores, store_bytes) = counts[False], counts[True]
    return Traffic(
        loads, stores, load_bytes, store_bytes, _ended_share(trace, kind), _unit_cycles(trace)
    )


def _ended_share(trace: AttTrace, kind: npt.NDArray[np.int8]) -> float:
    first = trace.waves.first
    some = first[1:] > first[:-1]
    last = kind[first[1:][some] - 1]
    return float((last == CODE["END"]).sum()) / max(len(trace.waves), 1)


def _unit_cycles(trace: AttTrace) -> int:
    waves = trace.waves
    if not len(waves):
        return 0
    _, unit = np.unique(np.stack([waves.se, waves.cu]), axis=1, return_inverse=True)
    unit = unit.reshape(-1)
    begin = np.full(int(unit.max()) + 1, np.iinfo(np.int64).max)
    end = np.full(len(begin), np.iinfo(np.int64).min)
    np.minimum.at(begin, unit, waves.begin)
    np.maximum.at(end, unit, waves.end)
    return int((end - begin).sum())
