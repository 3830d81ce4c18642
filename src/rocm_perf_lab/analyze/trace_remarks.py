"""What a thread trace shows beside the verdict, in sentences: costly loads, and idle lines."""

from __future__ import annotations

import numpy as np

from rocm_perf_lab.analyze.thread_trace import ThreadTraceFinding
from rocm_perf_lab.analyze.thread_trace.classes import CODE
from rocm_perf_lab.analyze.thread_trace.spent import CODE_LINE_BYTES
from rocm_perf_lab.trace.library_code import told

_MOST = 3
_WORTH_A_WORD = 0.02  # of the waves' time


def trace_remarks(att: ThreadTraceFinding) -> tuple[str, ...]:
    """Of the loads that cost most; where waves are idle most, of the lines that wait longest."""
    return (*_idle_lines(att), *_loads(att))


def _loads(att: ThreadTraceFinding) -> tuple[str, ...]:
    found = []
    for access in (a for a in att.accesses if a.share >= _WORTH_A_WORD):
        found.append(
            f"{' and '.join(access.kinds)} load {_called(access.isa, access.source)}, "
            f"{100 * access.share:.1f} % of the waves' time: {access.remark}"
        )
    return tuple(dict.fromkeys(found))[:_MOST]


def _idle_lines(att: ThreadTraceFinding) -> tuple[str, ...]:
    if not att.causes or att.causes[0].name != "between" or att.waves is None:
        return ()
    lines = att.lines
    found = []
    for at in np.argsort(-lines.sums.idle, kind="stable")[:_MOST].tolist():
        share = int(lines.sums.idle[at]) / max(att.waves.total_cycles, 1)
        if share < _WORTH_A_WORD:
            break
        where = ""
        if int(lines.vaddr[at]) % CODE_LINE_BYTES == 0:
            where = f", the first of {CODE_LINE_BYTES} bytes of code"
        elif at and lines.kind[at - 1] == CODE["BRANCH"]:
            where = ", after a branch"
        called = _called(lines.isa[at], lines.source[at])
        found.append(f"idle before {called}{where}: {100 * share:.1f} % of the waves' time")
    return tuple(found)


def _called(isa: str, source: str | None) -> str:
    return f"{isa.split(None, 1)[0]}{f' ({told(source)})' if source else ''}"
