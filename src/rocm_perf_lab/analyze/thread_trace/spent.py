"""Where the time of the waves went: lost cycles by class, by site and by what was waited for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.analyze.thread_trace import classes, residency, sums, waits
from rocm_perf_lab.analyze.thread_trace.accesses import Remark, bytes_read, remarks
from rocm_perf_lab.analyze.thread_trace.classes import CLASSES, CODE
from rocm_perf_lab.analyze.thread_trace.finding import (
    Access,
    Cause,
    ExposedLatency,
    Fractions,
    StallSite,
    WaitsFor,
)
from rocm_perf_lab.analyze.thread_trace.sums import Placed
from rocm_perf_lab.arch.matrix import matrix_cycles
from rocm_perf_lab.trace.att_trace import AttTrace
from rocm_perf_lab.trace.trace import IntColumn

TOP_SITES = 20
WIDE_BYTES = 16  # a lane's, in one instruction: dwordx4, b128
CODE_LINE_BYTES = 64  # what an instruction fetch brings
_WAITS_FOR = 32  # named per site: all that matter

_DELAYS = ("NOP", "SLEEP", "DELAY")
_HOLDING = ("WAITCNT", "BARRIER", *_DELAYS)  # classes whose whole purpose is to hold a wave
_REASONS = {
    "WAITCNT": "memory wait",
    "BARRIER": "barrier",
    "END": "end of wave",
    **dict.fromkeys(_DELAYS, "delay"),
}
_WAIT_KIND = {"LDS": "wait_lds", "SMEM": "wait_smem", **dict.fromkeys(classes.VMEM, "wait_vmem")}
_STALL_KIND = {
    "MFMA": "stall_mfma",
    "VALU": "stall_valu",
    "TRANS": "stall_valu",
    "LDS": "stall_lds",
    "SMEM": "stall_smem",
    "SALU": "stall_salu",
    "BARRIER": "barrier",
    "END": "end_of_wave",
    **dict.fromkeys(_DELAYS, "delay"),
    **dict.fromkeys(classes.VMEM, "stall_vmem"),
}


# Every part of lost time in words; `issue` is what is not lost.
CAUSES = {
    "wait_vmem": "waiting for vector memory",
    "wait_lds": "waiting for LDS",
    "wait_smem": "waiting for scalar memory",
    "wait_other": "waiting for messages or exports",
    "wait_unresolved": "waiting for an unknown cause",
    "barrier": "at barriers",
    "delay": "in delays (s_nop, s_sleep)",
    "end_of_wave": "ending: stores leaving",
    "stall_mfma": "stalled issuing matrix instructions",
    "stall_valu": "stalled issuing vector arithmetic",
    "stall_vmem": "stalled issuing vector memory instructions",
    "stall_lds": "stalled issuing LDS instructions",
    "stall_smem": "stalled issuing scalar loads",
    "stall_salu": "stalled issuing scalar arithmetic",
    "stall_other": "stalled at other instructions",
    "between": "between instructions (fetch, arbitration)",
}


def causes(fractions: Fractions) -> tuple[Cause, ...]:
    shares = [Cause(name, words, getattr(fractions, name)) for name, words in CAUSES.items()]
    return tuple(sorted((c for c in shares if c.share > 0), key=lambda c: (-c.share, c.name)))


def is_gfx9(trace: AttTrace) -> bool:
    return (trace.gfxip or 9) == 9


def lost_cycles(trace: AttTrace, kind: npt.NDArray[np.int8]) -> IntColumn:
    """Cycles each executed instruction kept its wave from going on.

    Its stall; but where duration includes execution (gfx10 and later) executing a wait is
    waiting, and the end of a program lasts until its stores are out.
    """
    executed = trace.instructions
    whole = kind == CODE["END"]
    if not is_gfx9(trace):
        whole |= np.isin(kind, [CODE[name] for name in _HOLDING])
    return np.where(whole, executed.duration, executed.stall).astype(np.int64)


@dataclass(frozen=True)
class Spent:
    """The executed instructions with their class and lost cycles, and the waits resolved."""

    trace: AttTrace
    placed: Placed
    kind: npt.NDArray[np.int8]
    lost: IntColumn
    attribution: waits.Attribution
    cycles: int  # of all traced waves
    architecture: str | None = None

    def issued(self, *names: str) -> int:
        mine = np.isin(self.kind, [CODE[name] for name in names])
        executed = self.trace.instructions
        return int((executed.duration - executed.stall)[mine].sum(dtype=np.int64))

    def matrix_cycles(self) -> tuple[int, str | None]:
        """Cycles the executed matrix instructions kept the matrix cores, or why not known."""
        rows, hits = np.unique(
            self.placed.row[(self.kind == CODE["MFMA"]) & (self.placed.row >= 0)],
            return_counts=True,
        )
        total = 0
        for row, hit in zip(rows.tolist(), hits.tolist(), strict=True):
            word = classes.mnemonic(self.trace.code.isa[row])
            cycles = matrix_cycles(self.trace.code.isa[row], self.architecture)
            if cycles is None:
                return 0, f"the cycles of {word} are not known"
            total += cycles * hit
        return total, None

    def accesses(self) -> tuple[Access, ...]:
        """Vector memory instructions with a remark that were executed, costliest first."""
        return self._costs(self._remarks())

    def small_reads(self) -> tuple[Access, ...]:
        """Loads of less than 16 bytes a lane in loops, costliest first."""
        code, waves = self.trace.code, len(self.trace.waves)
        row = self.placed.row[self.placed.row >= 0]
        often = np.flatnonzero(np.bincount(row, minlength=len(code)) > waves)
        width = {int(at): bytes_read(code.isa[at]) or WIDE_BYTES for at in often}
        return self._costs(
            {
                at: Remark(at, read, ("small",), f"{read} bytes a lane")
                for at, read in width.items()
                if read < WIDE_BYTES
            }
        )

    def _costs(self, remarked: Mapping[int, Remark]) -> tuple[Access, ...]:
        """Instructions that were executed, with the cycles lost at them and on them."""
        code = self.trace.code
        known = self.placed.row >= 0
        row, size = self.placed.row[known], len(code)
        hit = np.bincount(row, minlength=size)
        lost = sums.add_up(row, self.lost[known], size).astype(np.float64)
        for pairs in (self.attribution.recorded, self.attribution.inferred):
            for (_, dependency), cycles in pairs.items():
                if dependency >= 0:
                    lost[dependency] += cycles
        found = [
            Access(
                number=int(code.line[at]),
                isa=code.isa[at],
                source=code.source[at] or None,
                bytes_per_lane=remark.bytes_per_lane,
                kinds=remark.kinds,
                remark=remark.text,
                hit=int(hit[at]),
                cycles=float(lost[at]),
                share=float(lost[at]) / self.cycles,
            )
            for at, remark in remarked.items()
            if hit[at]
        ]
        return tuple(sorted(found, key=lambda a: (-a.cycles, a.number))[:TOP_SITES])

    def _remarks(self) -> dict[int, Remark]:
        code = self.trace.code
        return remarks(code.isa, code.label.tolist(), code.line.tolist())

    def fetch_of_between(self) -> float | None:
        """Of the idle time before instructions, that before those in another line of code.

        The first instruction of a wave enters its line too. None where nothing can be told.
        """
        executed, first = self.trace.instructions, self.trace.waves.first[:-1]
        known = self.placed.row >= 0
        address = np.full(len(executed), -1, dtype=np.int64)
        address[known] = self.trace.code.vaddr[self.placed.row[known]]
        idle = np.where(known, self.placed.idle, 0)
        if not len(executed) or not idle.sum() or (address[known] <= 0).all():
            return None
        line = address // CODE_LINE_BYTES
        entered = np.ones(len(line), dtype=np.bool_)
        entered[1:] = line[1:] != line[:-1]
        entered[first[first < len(line)]] = True
        return float(idle[entered].sum() / idle.sum())

    def resolved_shares(self) -> tuple[float | None, float | None]:
        recorded = sum(self.attribution.recorded.values())
        inferred = sum(self.attribution.inferred.values())
        whole = recorded + inferred + sum(self.attribution.unresolved.values())
        return (recorded / whole, inferred / whole) if whole else (None, None)

    def fractions(self) -> Fractions:
        spent: dict[str, float] = dict.fromkeys(_fraction_names(), 0.0)
        by_class = sums.add_up(self.kind, self.lost, len(CLASSES)).tolist()
        for name, cycles in zip(CLASSES, by_class, strict=True):
            if name != "WAITCNT":
                spent[_STALL_KIND.get(name, "stall_other")] += cycles
        for pairs in (self.attribution.recorded, self.attribution.inferred):
            for (_, dependency), cycles in pairs.items():
                spent[_WAIT_KIND.get(self._class_of(dependency), "wait_other")] += cycles
        spent["wait_unresolved"] = float(sum(self.attribution.unresolved.values()))
        executed = self.trace.instructions
        spent["end_of_wave"] += self._after_the_end()
        spent["issue"] = float(executed.duration.sum(dtype=np.int64) - self.lost.sum())
        spent["between"] = float(self.placed.idle.sum())
        shares = {name: cycles / self.cycles for name, cycles in spent.items()}
        return Fractions(
            **shares,
            exec_state=self._state_share("EXEC"),
            wait_state=self._state_share("WAIT"),
            stall_state=self._state_share("STALL"),
            idle_state=self._state_share("IDLE"),
        )

    def _after_the_end(self) -> float:
        """Cycles of waves that were still there after their s_endpgm: stores not yet out."""
        executed, waves = self.trace.instructions, self.trace.waves
        some = np.flatnonzero(waves.first[1:] > waves.first[:-1])
        last = waves.first[1:][some] - 1
        after = waves.end[some] - (executed.time[last] + executed.duration[last])
        ended = self.kind[last] == CODE["END"]
        return float(np.maximum(after[ended], 0).sum())

    def _state_share(self, name: str) -> float | None:
        if not len(self.trace.states.wave):
            return None
        return residency.state_cycles(self.trace)[name] / self.cycles

    def _class_of(self, row: int) -> str:
        return classes.of_text(self.trace.code.isa[row]) or "OTHER" if row >= 0 else "OTHER"

    def sites(self) -> tuple[StallSite, ...]:
        code = self.trace.code
        known = self.placed.row >= 0
        row, size = self.placed.row[known], len(code)
        lost = sums.add_up(row, self.lost[known], size)
        hit = np.bincount(row, minlength=size)
        order = np.lexsort((np.arange(size), -lost))[:TOP_SITES]
        waited = self._waits_by_row()
        return tuple(
            StallSite(
                number=int(code.line[at]),
                vaddr=int(code.vaddr[at]),
                isa=code.isa[at],
                source=code.source[at] or None,
                kind=self._class_of(at),
                reason=_REASONS.get(self._class_of(at), "issue stall"),
                hit=int(hit[at]),
                cycles=int(lost[at]),
                share=float(lost[at]) / self.cycles,
                waits_for=self._named(waited.get(at, {}), int(lost[at])),
            )
            for at in order.tolist()
            if lost[at] > 0
        )

    def exposed(self) -> tuple[ExposedLatency, ...]:
        code = self.trace.code
        cycles: dict[int, float] = {}
        for pairs in (self.attribution.recorded, self.attribution.inferred):
            for (_, row), lost in pairs.items():
                if row >= 0 and lost > 0:
                    cycles[row] = cycles.get(row, 0.0) + lost
        executed = self.placed.row[self.placed.row >= 0]
        hit = np.maximum(np.bincount(executed, minlength=len(code)), 1)
        ranked = sorted(cycles.items(), key=lambda item: (-item[1], item[0]))[:TOP_SITES]
        return tuple(
            ExposedLatency(
                number=int(code.line[row]),
                isa=code.isa[row],
                source=code.source[row] or None,
                kind=self._class_of(row),
                hit=int(hit[row]),
                cycles=lost,
                cycles_per_hit=lost / int(hit[row]),
                share=lost / self.cycles,
            )
            for row, lost in ranked
        )

    def _waits_by_row(self) -> dict[int, dict[int, tuple[float, bool]]]:
        found: dict[int, dict[int, tuple[float, bool]]] = {}
        for pairs, inferred in (
            (self.attribution.recorded, False),
            (self.attribution.inferred, True),
        ):
            for (wait, dependency), cycles in pairs.items():
                before = found.setdefault(wait, {}).get(dependency, (0.0, False))
                found[wait][dependency] = (before[0] + cycles, before[1] or inferred)
        return found

    def _named(self, found: Mapping[int, tuple[float, bool]], whole: int) -> tuple[WaitsFor, ...]:
        code = self.trace.code
        ranked = sorted(found.items(), key=lambda item: (-item[1][0], item[0]))[:_WAITS_FOR]
        return tuple(
            WaitsFor(
                number=int(code.line[row]),
                isa=code.isa[row],
                source=code.source[row] or None,
                kind=self._class_of(row),
                cycles=cycles,
                share=cycles / whole if whole else 0.0,
                inferred=inferred,
            )
            for row, (cycles, inferred) in ranked
            if row >= 0 and cycles > 0
        )


def _fraction_names() -> list[str]:
    return [name for name in Fractions.__dataclass_fields__ if not name.endswith("_state")]
