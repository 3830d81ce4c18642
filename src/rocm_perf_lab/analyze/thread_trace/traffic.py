"""What the executed loads and stores of the traced waves asked for, by their mnemonics.

Lanes are not recorded: amounts are per lane, and whoever uses them says how many lanes there are.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.analyze.thread_trace import classes
from rocm_perf_lab.analyze.thread_trace.accesses import bytes_per_lane, bytes_read
from rocm_perf_lab.analyze.thread_trace.chains import dependent_share
from rocm_perf_lab.analyze.thread_trace.classes import CODE
from rocm_perf_lab.analyze.thread_trace.sums import Placed
from rocm_perf_lab.analyze.thread_trace.waits import Attribution, is_store
from rocm_perf_lab.trace.att_trace import AttTrace

# Below this share of waves that were seen to their end, bytes per wave are too few.
WHOLE_WAVES = 0.9


@dataclass(frozen=True)
class Traffic:
    """Of all traced waves; scratch, scalar loads and atomics are left out."""

    loads: int = field(metadata={"description": "executed, over all waves read"})
    stores: int
    load_bytes: int = field(metadata={"description": "per lane, summed over executions"})
    store_bytes: int = field(metadata={"description": "per lane, summed over executions"})
    load_waits: int = field(metadata={"description": "executed waits for such loads"})
    dependent_share: float | None = field(
        metadata={"description": "of the loads, those whose address comes from another load"}
    )
    lds_reads: int
    lds_read_bytes: int = field(metadata={"description": "per lane, summed over executions"})
    ended_share: float = field(metadata={"description": "of the waves, those seen to s_endpgm"})
    units: int = field(metadata={"description": "compute units that were traced"})
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


def traffic(
    trace: AttTrace, placed: Placed, kind: npt.NDArray[np.int8], attribution: Attribution
) -> Traffic:
    isa = trace.code.isa
    rows, hits = np.unique(placed.row[placed.row >= 0], return_counts=True)
    executed = dict(zip(rows.tolist(), hits.tolist(), strict=True))
    counts = {"load": [0, 0], "store": [0, 0], "lds": [0, 0]}  # executions, bytes
    for row, hit in executed.items():
        what, width = _access(isa[row])
        counts[what][0] += hit if width else 0
        counts[what][1] += hit * width
    units, cycles = _units(trace)
    pairs = (*attribution.recorded, *attribution.inferred)
    waits = {w for w, row in pairs if row >= 0 and _access(isa[row])[0] == "load"}
    return Traffic(
        loads=counts["load"][0],
        stores=counts["store"][0],
        load_bytes=counts["load"][1],
        store_bytes=counts["store"][1],
        load_waits=sum(executed.get(row, 0) for row in waits),
        dependent_share=dependent_share(isa, executed),
        lds_reads=counts["lds"][0],
        lds_read_bytes=counts["lds"][1],
        ended_share=_ended_share(trace, kind),
        units=units,
        unit_cycles=cycles,
    )


def _access(isa: str) -> tuple[str, int]:
    """What an instruction does, and the bytes a lane moves; 0 for those that do not count."""
    if classes.of_text(isa) == "LDS":
        return "lds", bytes_read(isa) or 0
    scratch = classes.mnemonic(isa).startswith("scratch_")
    width = 0 if scratch else bytes_per_lane(isa) or 0
    return "load" if width and not is_store(isa.lower()) else "store", width


def _ended_share(trace: AttTrace, kind: npt.NDArray[np.int8]) -> float:
    first = trace.waves.first
    some = first[1:] > first[:-1]
    last = kind[first[1:][some] - 1]
    return float((last == CODE["END"]).sum()) / max(len(trace.waves), 1)


def _units(trace: AttTrace) -> tuple[int, int]:
    """Compute units traced, and their cycles from first begin to last end."""
    waves = trace.waves
    if not len(waves):
        return 0, 0
    _, unit = np.unique(np.stack([waves.se, waves.cu]), axis=1, return_inverse=True)
    unit = unit.reshape(-1)
    begin = np.full(int(unit.max()) + 1, np.iinfo(np.int64).max)
    end = np.full(len(begin), np.iinfo(np.int64).min)
    np.minimum.at(begin, unit, waves.begin)
    np.maximum.at(end, unit, waves.end)
    return len(begin), int((end - begin).sum())
