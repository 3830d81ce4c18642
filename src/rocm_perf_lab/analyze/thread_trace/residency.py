"""What the waves did over time: states, how full the SIMDs were, how often they issued."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.trace.att_trace import AttTrace, OccupancyEvents
from rocm_perf_lab.trace.trace import IntColumn

STATE_NAMES = ("EMPTY", "IDLE", "EXEC", "WAIT", "STALL")
EXEC = 2
_CURVE_POINTS = 64


@dataclass(frozen=True)
class WaveDurations:
    waves: int
    total_cycles: int
    min_cycles: int
    median_cycles: float
    mean_cycles: float
    max_cycles: int


@dataclass(frozen=True)
class EngineOccupancy:
    """Waves resident on one shader engine, all its compute units, between first and last."""

    se: int
    begin: int
    end: int
    waves_started: int
    simds_seen: int
    mean_waves: float
    peak_waves: int
    mean_waves_per_simd: float
    peak_waves_per_simd: int
    curve: tuple[tuple[int, float], ...] = field(
        metadata={"description": "start of a stretch, mean waves in it"}
    )


def wave_durations(trace: AttTrace) -> WaveDurations | None:
    cycles = trace.waves.end - trace.waves.begin
    if not len(cycles):
        return None
    return WaveDurations(
        waves=len(cycles),
        total_cycles=int(cycles.sum()),
        min_cycles=int(cycles.min()),
        median_cycles=float(np.median(cycles)),
        mean_cycles=float(cycles.mean()),
        max_cycles=int(cycles.max()),
    )


def span_cycles(trace: AttTrace) -> int | None:
    """From the first begin to the last end, of the shader engine where that is longest."""
    waves = trace.waves
    spans = [
        int(waves.end[waves.se == se].max() - waves.begin[waves.se == se].min())
        for se in np.unique(waves.se)
    ]
    return max(spans, default=None)


def state_cycles(trace: AttTrace) -> dict[str, int]:
    """Cycles of all traced waves in each state."""
    states = trace.states
    return {
        name: int(states.duration[states.state == code].sum())
        for code, name in enumerate(STATE_NAMES)
    }


def issue_cycles(trace: AttTrace) -> tuple[int, int] | None:
    """Cycles in which a SIMD had a wave executing, and in which it had a wave at all.

    None when the recorded times span too much to be put side by side.
    """
    waves, states = trace.waves, trace.states
    if not len(waves):
        return None
    _, simd = np.unique(np.stack([waves.se, waves.cu, waves.simd]), axis=1, return_inverse=True)
    simd = simd.reshape(-1).astype(np.int64)
    origin = int(waves.begin.min())
    begin, end = waves.begin - origin, waves.end - origin
    passed = np.cumsum(states.duration) - states.duration
    first = np.minimum(waves.first_state[:-1], max(len(passed) - 1, 0))
    start = passed - (passed[first] if len(passed) else passed)[states.wave] + begin[states.wave]
    stop = start + states.duration
    # Each SIMD gets a stretch of one time axis of its own, so one sweep serves all.
    stride = int(max(end.max(), stop.max(initial=0))) + 1
    if stride * (int(simd.max()) + 1) >= 1 << 62 or (states.duration < 0).any():
        return None
    executing = states.state == EXEC
    shift = simd[states.wave][executing] * stride
    busy = _union(start[executing] + shift, stop[executing] + shift)
    return busy, _union(begin + simd * stride, end + simd * stride)


def _union(start: IntColumn, end: IntColumn) -> int:
    """Length of the union of intervals."""
    if not len(start):
        return 0
    # Timsort: waves are sorted runs already.
    start, end = np.sort(start, kind="stable"), np.sort(end, kind="stable")
    gaps = np.maximum(start[1:] - end[:-1], 0).sum()
    return int(end[-1] - start[0] - gaps)


def occupancy(events: OccupancyEvents) -> tuple[EngineOccupancy, ...]:
    return tuple(
        _engine(events, int(se), events.se == se)
        for se in np.unique(events.se)
        if (events.start & (events.se == se)).any()
    )


def _engine(events: OccupancyEvents, se: int, mine: npt.NDArray[np.bool_]) -> EngineOccupancy:
    time, starts = events.time[mine], events.start[mine]
    simd_of = np.stack([events.cu[mine], events.simd[mine]])
    _, simd = np.unique(simd_of, axis=1, return_inverse=True)
    simd = simd.reshape(-1).astype(np.int64)
    slot = events.slot[mine]
    # A slot's end precedes its next start; an end nobody started is from before the trace.
    order = np.lexsort((starts, time, slot, simd))
    time, starts, simd, slot = time[order], starts[order], simd[order], slot[order]
    same = np.zeros(len(time), dtype=np.bool_)
    same[:-1] = (simd[1:] == simd[:-1]) & (slot[1:] == slot[:-1])
    last = int(time.max())
    until = np.where(same, np.append(time[1:], last), last)
    begin, end, owner = time[starts], until[starts], simd[starts]
    origin = int(begin.min())
    span = max(last - origin, 1)
    simds = len(np.unique(owner))
    mean = float((end - begin).sum()) / span
    return EngineOccupancy(
        se=se,
        begin=origin,
        end=last,
        waves_started=len(begin),
        simds_seen=simds,
        mean_waves=mean,
        peak_waves=_peak(begin, end, np.zeros_like(owner)),
        mean_waves_per_simd=mean / simds,
        peak_waves_per_simd=_peak(begin, end, owner),
        curve=_curve(begin, end, origin, span),
    )


def _peak(begin: IntColumn, end: IntColumn, owner: IntColumn) -> int:
    """Most intervals of one owner at one time; one ending makes room for one beginning."""
    time = np.concatenate([begin, end])
    step = np.concatenate([np.ones_like(begin), -np.ones_like(end)])
    who = np.concatenate([owner, owner])
    order = np.lexsort((step, time, who))
    # Each owner's steps add up to zero, so one running sum serves all.
    return int(max(np.cumsum(step[order]).max(), 1))


def _curve(
    begin: IntColumn, end: IntColumn, origin: int, span: int
) -> tuple[tuple[int, float], ...]:
    edges = origin + np.arange(_CURVE_POINTS + 1, dtype=np.float64) * span / _CURVE_POINTS
    edges = np.unique(edges.astype(np.int64))
    # Resident wave-cycles before each edge; differences are what falls between edges.
    before = [float((np.minimum(end, e) - np.minimum(begin, e)).sum()) for e in edges.tolist()]
    widths = np.diff(edges)
    means = np.diff(before) / widths
    return tuple(zip(edges[:-1].tolist(), np.round(means, 4).tolist(), strict=True))


def shader_mhz(trace: AttTrace) -> float | None:
    """From the first and last pair of clock readings of every shader engine."""
    clock = trace.realtime
    if clock.frequency_hz is None:
        return None
    shader = real = 0
    for se in np.unique(clock.se):
        mine = clock.se == se
        shader += int(clock.shader_clock[mine][-1]) - int(clock.shader_clock[mine][0])
        real += int(clock.realtime_clock[mine][-1]) - int(clock.realtime_clock[mine][0])
    if real <= 0 or shader <= 0:
        return None
    return shader / real * clock.frequency_hz / 1e6
