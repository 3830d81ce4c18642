"""Compare two runs, traces or files of timings."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from rocm_perf_lab import __version__
from rocm_perf_lab.analyze import fail_on
from rocm_perf_lab.analyze.compare import (
    EXACT,
    Comparison,
    Part,
    Samples,
    compare,
    own,
    whole,
)
from rocm_perf_lab.analyze.kernel_class import is_helper
from rocm_perf_lab.analyze.kernel_pattern import kernel_pattern
from rocm_perf_lab.analyze.keys import kernel_keys
from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.schema import comparison as schema
from rocm_perf_lab.schema.common import DeviceInfo, InputFile, Provenance
from rocm_perf_lab.schema.profile import KernelProfile
from rocm_perf_lab.statistics import DEFAULT_CONFIDENCE, DEFAULT_MIN_SPEEDUP, Column
from rocm_perf_lab.trace.recording import group
from rocm_perf_lab.trace.timings import looks_like_timings, read_timings
from rocm_perf_lab.trace.trace import Trace
from rocm_perf_lab.workflow.analyze import Choices, analyze_recording
from rocm_perf_lab.workflow.inputs import read_inputs
from rocm_perf_lab.workflow.load import load_documents, timing_traces, which_run
from rocm_perf_lab.workflow.provenance import command_line

Tell = Callable[[str], None]

_TIMINGS_DEVICE = DeviceInfo(kind="unknown", name=None, architecture=None)


@dataclass(frozen=True)
class Side:
    info: schema.Side
    samples: Mapping[str, Samples]  # by kernel or command
    kernels: Mapping[str, KernelProfile]
    inputs: tuple[InputFile, ...]
    notes: tuple[str, ...] = ()

    @property
    def modelled(self) -> bool:
        return any(each.modelled for each in self.samples.values())


def compare_paths(
    a: Path | str,
    b: Path | str,
    *,
    root: Path,
    rules: Sequence[str] = (),
    kernel: str | None = None,
    min_speedup: float = DEFAULT_MIN_SPEEDUP,
    confidence: float = DEFAULT_CONFIDENCE,
    tell: Tell = lambda _: None,
    say: Tell = lambda _: None,
) -> schema.ComparisonDocument:
    """`a` is the baseline. Each may be a run, a trace file or folder of them, or timings.

    `tell` hears what is going on, `say` what was decided on the way.
    """
    parsed = [fail_on.parse(rule) for rule in rules]
    sides = [read_side(side, root, kernel, tell, say) for side in (a, b)]
    return compare_sides(sides[0], sides[1], parsed, min_speedup, confidence)


def compare_sides(
    a: Side,
    b: Side,
    rules: Sequence[fail_on.Rule],
    min_speedup: float = DEFAULT_MIN_SPEEDUP,
    confidence: float = DEFAULT_CONFIDENCE,
) -> schema.ComparisonDocument:
    b, matching = _matched(a, b)
    names = sorted(
        a.samples.keys() | b.samples.keys(),
        key=lambda n: (-max(_total(a, n), _total(b, n)), n),
    )
    found: dict[str, Comparison | None] = {
        name: compare(a.samples[name], b.samples[name], min_speedup, confidence)
        if name in a.samples and name in b.samples
        else None
        for name in names
    }
    if len(names) == 1 and (only := found[names[0]]) is not None:
        runtime = only
    else:
        parts = [_part(a, b, name, found[name], confidence) for name in names]
        runtime = whole(parts, (a.modelled, b.modelled), min_speedup, confidence)
    kernels = [_kernel(a, b, name, found[name]) for name in names]
    return schema.ComparisonDocument(
        provenance=Provenance(
            tool_version=__version__,
            command=command_line(),
            started=None,
            host=None,
            device=b.info.device,
            rocm=None,
            inputs=[
                found for _, found in sorted({i.path: i for i in (*a.inputs, *b.inputs)}.items())
            ],
        ),
        a=a.info,
        b=b.info,
        min_speedup=min_speedup,
        confidence=confidence,
        runtime=_compared(runtime),
        kernels=kernels,
        gates=[_gate(rule, runtime, found, kernels) for rule in rules],
        notes=list(dict.fromkeys((*a.notes, *b.notes, *matching, *_notes(a, b)))),
    )


def read_side(path: Path | str, root: Path, kernel: str | None, tell: Tell, say: Tell) -> Side:
    here = Path(path)
    if here.is_file() and looks_like_timings(here):
        return _timings(here)
    folder = which_run(str(path), root, say)
    if folder is not None:
        name = str(path) if here.exists() and folder == here else folder.name
        return _kept(folder, name, kernel, tell)
    tell(f"reading {path}")
    recording = group(read_inputs([here]))
    documents = analyze_recording(recording, choices=Choices(kernel=kernel))
    timed = recording.timing_runs or recording.counter_passes[:1]
    return _side(
        str(path), "traces", timed, documents.profile.kernels, documents.profile.provenance
    )


def _kept(folder: Path, name: str, kernel: str | None, tell: Tell) -> Side:
    tell(f"reading {folder}")
    profile = load_documents(folder).profile
    timed = timing_traces(profile, folder)
    pattern = kernel_pattern(kernel)
    wanted = [k for k in profile.kernels if pattern is None or pattern.search(k.kernel.name)]
    return _side(name, "run", timed, wanted, profile.provenance)


def _side(
    name: str,
    kind: Literal["run", "traces"],
    runs: Sequence[Trace],
    kernels: Sequence[KernelProfile],
    provenance: Provenance,
) -> Side:
    modelled = provenance.device.kind == "virtual"
    by_name = {k.kernel.name: k for k in kernels}
    columns: dict[str, list[Column]] = {n: [] for n in by_name}
    shapes: dict[str, set[object]] = {n: set() for n in by_name}
    for run in runs:
        keys, of_row = kernel_keys(run)
        names = sorted({key.name for key in keys})
        index = {n: i for i, n in enumerate(names)}
        named = np.array([index[key.name] for key in keys] or [0])[of_row]
        order = np.argsort(named, kind="stable")  # launch order within a kernel
        ms = ((run.dispatches.end_ns - run.dispatches.start_ns) / 1e6)[order]
        bounds = np.searchsorted(named[order], np.arange(len(names) + 1))
        for key in keys:
            shapes.setdefault(key.name, set()).add(key)
        for kernel in by_name:
            i = index.get(kernel)
            columns[kernel].append(ms[bounds[i] : bounds[i + 1]] if i is not None else ms[:0])
    samples = {
        n: Samples(tuple(each), modelled, len(shapes[n]))
        for n, each in columns.items()
        if not is_helper(n) and any(len(run) for run in each)
    }
    if not samples:  # only the runtime's own kernels ran
        samples = {n: Samples(tuple(c), modelled) for n, c in columns.items() if any(map(len, c))}
    return Side(
        info=schema.Side(
            name=name,
            kind=kind,
            device=provenance.device,
            runs=len(runs),
            runtime_ms=sum(s.total_ms for s in samples.values()) if samples else None,
        ),
        samples=samples,
        kernels=by_name,
        inputs=tuple(provenance.inputs),
    )


def _timings(path: Path) -> Side:
    timings = read_timings(path)
    samples: dict[str, Samples] = {}
    for t in timings:
        name = t.name
        while name in samples:
            name += " (again)"
        # One command a run: every sample is a run of its own, and there is nothing within it.
        samples[name] = Samples((np.array(t.times_ms),))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return Side(
        info=schema.Side(
            name=str(path),
            kind="timings",
            device=_TIMINGS_DEVICE,
            runs=min(s.count for s in samples.values()),
            runtime_ms=sum(float(np.median(s.runs[0])) for s in samples.values()),
        ),
        samples=samples,
        kernels={},
        inputs=(InputFile(path=str(path), sha256=digest),),
    )


def _matched(a: Side, b: Side) -> tuple[Side, list[str]]:
    """Timings of commands are matched by command; where none is the same, by position."""
    if a.info.kind == "timings" and b.info.kind == "timings":
        if not a.samples.keys() & b.samples.keys() and len(a.samples) == len(b.samples):
            renamed = dict(zip(a.samples, b.samples.values(), strict=True))
            pairs = ", ".join(f"{x} with {y}" for x, y in zip(a.samples, b.samples, strict=True))
            note = [f"Commands differ and are compared in their order: {pairs}."]
            return Side(b.info, renamed, b.kernels, b.inputs, b.notes), note
        return b, []
    if "timings" in (a.info.kind, b.info.kind):
        raise BadInput(
            f"{a.info.name} and {b.info.name} do not compare: one holds timings of commands, "
            "the other times of kernels"
        )
    return b, []


def _notes(a: Side, b: Side) -> list[str]:
    notes = []
    devices = {(s.info.device.kind, s.info.device.name) for s in (a, b)}
    if len(devices) > 1:
        shown = " and ".join(
            f"{kind} {name or 'device'}" for kind, name in sorted(devices, key=str)
        )
        notes.append(f"The two ran on different devices: {shown}.")
    if a.info.device.kind == "virtual" or b.info.device.kind == "virtual":
        notes.append(
            "Times are modelled by the virtual GPU: they repeat exactly, and differ from hardware "
            "by the model's error (docs/virtual-model.md)."
        )
    elif a.info.kind != "timings":
        if min(a.info.runs, b.info.runs) < 2:
            notes.append(
                "One run on a side: what differs from run to run by chance is not in the intervals."
            )
        notes.append(
            "A and B were recorded one after the other, not interleaved: a change of clocks "
            "between them looks like a change of the program."
        )
    return notes


def _total(side: Side, name: str) -> float:
    found = side.samples.get(name)
    if found is None:
        return 0.0
    if side.info.kind == "timings":
        return float(np.median(found.runs[0]))
    return found.total_ms


def _part(a: Side, b: Side, name: str, both: Comparison | None, confidence: float) -> Part:
    alone = a.samples.get(name) or b.samples[name]
    its = own(alone, confidence) if both is None else EXACT
    return Part(_total(a, name), _total(b, name), both, its)


def _calls(side: Side, name: str) -> int:
    return side.samples[name].calls if name in side.samples else 0


def _kernel(a: Side, b: Side, name: str, time: Comparison | None) -> schema.KernelCompared:
    return schema.KernelCompared(
        kernel=name,
        present="both" if time is not None else "a" if name in a.samples else "b",
        calls_a=_calls(a, name),
        calls_b=_calls(b, name),
        total_ms_a=_total(a, name),
        total_ms_b=_total(b, name),
        time=_compared(time) if time is not None else None,
        changes=_changes(a.kernels.get(name), b.kernels.get(name)),
    )


def _compared(c: Comparison) -> schema.Compared:
    interval = None
    if c.interval is not None:
        low, high = c.interval
        interval = (low or None, high if math.isfinite(high) else None)
    return schema.Compared.of(c, speedup_interval=interval)


def _facts(kernel: KernelProfile) -> dict[str, float | str | None]:
    r, o, roof = kernel.resources, kernel.occupancy, kernel.roofline
    return {
        "VGPRs": r.total_vgpr_per_thread,
        "SGPRs": r.sgpr_per_wave,
        "LDS bytes": r.lds_bytes,
        "scratch bytes": r.scratch_bytes,
        "block": " x ".join(map(str, kernel.kernel.block or ())) or None,
        "grid": " x ".join(map(str, kernel.kernel.grid or ())) or None,
        "occupancy": o.theoretical,
        "limited by": o.limiter,
        "roofline": roof.roofline_position,
        "of the roof": roof.fraction_of_roof,
        "FLOP/byte": roof.operational_intensity,
        "GFLOP/s": roof.achieved_gflops,
        "GB/s": roof.achieved_bandwidth_gbps,
        "bottleneck": kernel.bottleneck.bottleneck,
    }


# Rates move a little in every run: a change of them smaller than this is not worth a line.
_SMALL = 0.05
_RATES = {"of the roof", "FLOP/byte", "GFLOP/s", "GB/s"}


def _changes(a: KernelProfile | None, b: KernelProfile | None) -> list[schema.Change]:
    if a is None or b is None:
        return []
    first, second = _facts(a), _facts(b)
    changes = []
    for name, old in first.items():
        new = second[name]
        if old == new:
            continue
        if name in _RATES and _close(old, new):
            continue
        changes.append(schema.Change(name=name, a=old, b=new))
    return changes


def _close(a: float | str | None, b: float | str | None) -> bool:
    numbers = isinstance(a, (int, float)) and isinstance(b, (int, float))
    return numbers and math.isclose(a, b, rel_tol=_SMALL)  # type: ignore[arg-type]


def _gate(
    rule: fail_on.Rule,
    runtime: Comparison,
    found: Mapping[str, Comparison | None],
    kernels: Sequence[schema.KernelCompared],
) -> schema.GateOutcome:
    if rule.metric == "runtime":
        outcome, reason = fail_on.judge_time(rule, "the runtime", runtime)
        return schema.GateOutcome(rule=rule.text, outcome=outcome, reason=reason)
    held = [
        k
        for k in kernels
        if k.present == "both" and (rule.pattern is None or rule.pattern.search(k.kernel))
    ]
    outcomes: list[tuple[fail_on.Outcome, str]] = []
    for k in held:
        if rule.metric == "kernel":
            time = found[k.kernel]
            assert time is not None
            outcomes.append(fail_on.judge_time(rule, k.kernel, time))
            continue
        changed = {c.name: c for c in k.changes}.get(fail_on.RESOURCES[rule.metric])
        if changed is None:
            outcomes.append(("passed", f"{k.kernel}: {fail_on.RESOURCES[rule.metric]} unchanged"))
        elif isinstance(changed.a, (int, float)) and isinstance(changed.b, (int, float)):
            outcomes.append(fail_on.judge_amount(rule, k.kernel, changed.a, changed.b))
        else:
            outcomes.append(("undecided", f"{k.kernel}: {changed.name} not known on one side"))
    outcome, reason = fail_on.worst(outcomes)
    return schema.GateOutcome(rule=rule.text, outcome=outcome, reason=reason)
