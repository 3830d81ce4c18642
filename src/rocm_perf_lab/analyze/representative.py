"""Does a thread trace stand for its kernel: the code its waves ran, the call it was taken of."""

from __future__ import annotations

from dataclasses import dataclass

from rocm_perf_lab.analyze.thread_trace import ThreadTraceFinding
from rocm_perf_lab.analyze.traced_dispatch import TracedDispatch

_LITTLE_CODE = 0.1  # of the kernel's instructions
_MANY_CALLS = 3
_LONGER = 1.1  # than the median call, of a first call
_UNUSUAL = 1.5
_OUTLIER = 3.0
_SHORT = 0.5  # of the call, that the trace spans
_VERY_SHORT = 0.1


@dataclass(frozen=True)
class Doubt:
    text: str
    steps: int  # by which a verdict that rests on the trace is less sure


def doubts(att: ThreadTraceFinding, call: TracedDispatch | None) -> tuple[Doubt, ...]:
    if not att.usable:
        return ()
    found = [_code(att), _call(call), _span(att, call)]
    return tuple(doubt for doubt in found if doubt is not None)


def _code(att: ThreadTraceFinding) -> Doubt | None:
    ran, whole = att.lines_executed, att.lines_of_kernel
    if not whole or not ran or ran >= _LITTLE_CODE * whole:
        return None
    text = (
        f"the traced waves ran {ran:,} of the kernel's {whole:,} instructions: they left early or "
        "took a path of their own, and waves that did the work may look otherwise"
    )
    return Doubt(text, 2)


def _call(call: TracedDispatch | None) -> Doubt | None:
    ratio = call.ratio if call is not None else None
    if call is None or call.duration_ns is None or ratio is None or call.calls < _MANY_CALLS:
        return None
    far = max(ratio, 1 / ratio) if ratio > 0 else _OUTLIER
    first = call.place == 1
    if far < (_LONGER if first else _UNUSUAL):
        return None
    which = f"the first of {call.calls:,}" if first else f"call {call.place:,} of {call.calls:,}"
    usual = f"took {call.duration_ns / 1e3:.4g} us, {ratio:.3g} times the median"
    why = ": cold caches and code loading are part of it" if first and ratio > 1 else ""
    return Doubt(f"the traced call, {which}, {usual}{why}", 2 if far >= _OUTLIER else 1)


def _span(att: ThreadTraceFinding, call: TracedDispatch | None) -> Doubt | None:
    """Only by a clock that was recorded: at the highest one every trace looks too short."""
    if call is None or not call.duration_ns or not att.shader_mhz or att.span_cycles is None:
        return None
    us = att.span_cycles / att.shader_mhz
    share = us * 1e3 / call.duration_ns
    if share >= _SHORT:
        return None
    return Doubt(
        f"the trace spans {us:.3g} us, {100 * share:.2g} % of the traced call",
        int(share < _VERY_SHORT),
    )
