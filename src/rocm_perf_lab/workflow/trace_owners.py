"""Which kernel of a run each thread trace is of: the one that the trace's own symbols name.

Dispatch numbers prove nothing, since every process has the same ones; they only tell which kernel
somebody may have taken the trace for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rocm_perf_lab.analyze.thread_trace import ThreadTraceFinding
from rocm_perf_lab.analyze.traced_dispatch import traced_dispatch
from rocm_perf_lab.codeobject.demangle import demangle
from rocm_perf_lab.trace.describe import kernel_name
from rocm_perf_lab.trace.trace import Trace


@dataclass(frozen=True)
class Owners:
    named: tuple[ThreadTraceFinding, ...]  # under the names their kernels have in the run
    by_name: Mapping[str, ThreadTraceFinding]
    refused: tuple[str, ...]  # why, a sentence for each that is of no kernel of the run


def by_kernel(findings: Sequence[ThreadTraceFinding], run: Trace) -> Owners:
    """Of several traces of a kernel, a usable one of the call nearest the median stands for it."""
    known: dict[str, str] = {}
    for kernel in run.kernels:
        for spelling in _spellings([kernel.name, kernel.mangled_name or ""]):
            known.setdefault(spelling, kernel.name)
    named: list[ThreadTraceFinding] = []
    refused: list[str] = []
    by_name: dict[str, ThreadTraceFinding] = {}
    for finding in findings:
        heard = [*([finding.kernel] if finding.kernel else []), *finding.symbols]
        spelt = _spellings(heard)
        # A recording may keep names without their parameters.
        bare = [name.partition("(")[0].partition("<")[0] for name in spelt]
        own = next((known[name] for name in (*spelt, *bare) if name in known), None)
        other = _other_architecture(finding, run)
        if heard and (own is None or other):
            refused.append(_refusal(finding, heard[0], other, run))
            continue
        if own is not None:
            finding = replace(finding, kernel=own)
            before = by_name.get(own)
            by_name[own] = finding if before is None else _better((before, finding), own, run)
        named.append(finding)
    return Owners(tuple(named), by_name, tuple(refused))


def _better(two: Iterable[ThreadTraceFinding], kernel: str, run: Trace) -> ThreadTraceFinding:
    def rank(att: ThreadTraceFinding) -> tuple[bool, float]:
        call = traced_dispatch(run, kernel, att)
        ratio = call.ratio if call is not None else None
        return not att.usable, abs(np.log(ratio)) if ratio else float("inf")

    return min(two, key=rank)


def _other_architecture(finding: ThreadTraceFinding, run: Trace) -> str | None:
    """What the run's GPUs are, where none can be the one that was traced."""
    gpus = sorted({a.architecture for a in run.agents if a.architecture.startswith("gfx")})
    families = {int(digits) for gpu in gpus if (digits := gpu[3:-2]).isdigit()}
    if finding.gfxip is None or not families or finding.gfxip in families:
        return None
    return " and ".join(gpus)


def _refusal(finding: ThreadTraceFinding, name: str, other: str | None, run: Trace) -> str:
    said = f"{finding.folder} is refused: it is a thread trace of {name}"
    if other is not None:
        return f"{said} on gfx{finding.gfxip}, and this recording is of {other}"
    rows = np.flatnonzero(run.dispatches.dispatch_id == finding.dispatch_id)
    taken = list(dict.fromkeys(run.kernels[k].name for k in run.dispatches.kernel[rows] if k >= 0))
    if taken:
        return f"{said}, and dispatch {finding.dispatch_id} of this recording is {taken[0]}"
    most = run.kernels[int(np.bincount(run.dispatches.kernel).argmax())].name
    return f"{said}, which is no kernel of this recording ({most} is)"


def _spellings(names: Iterable[str]) -> list[str]:
    """As every writer spells them: as they are and demangled, no suffix, return type or spaces."""
    plain = [kernel_name(name) or "" for name in names]
    every = dict.fromkeys(n for name in plain for n in (name, demangle(name)) if n)
    return [re.sub(r"\s+", "", name.removeprefix("void ")) for name in every]
