"""The jobs behind `rocm-perf replay`, each from a folder to a document."""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Literal

import numpy as np

from rocm_perf_lab import __version__, statistics
from rocm_perf_lab.collect.worker import Tell
from rocm_perf_lab.device.discover import Device
from rocm_perf_lab.errors import UsageError
from rocm_perf_lab.replay import builds
from rocm_perf_lab.replay import session as sessions
from rocm_perf_lab.replay.causes import causes
from rocm_perf_lab.replay.compare import TYPES, element_type
from rocm_perf_lab.replay.format import MANIFEST, Capture, find_capture, open_capture
from rocm_perf_lab.replay.session import ORIGINAL, ReplaySession, RunResult
from rocm_perf_lab.schema.common import DeviceInfo, InputFile, Provenance
from rocm_perf_lab.schema.replay import (
    GpuTime,
    Output,
    OutputDifference,
    ReplayDocument,
    ReserveDocument,
)
from rocm_perf_lab.workflow.provenance import without_secrets

USUAL_ITERATIONS, LEAST_ITERATIONS = 10, 2
PATIENCE_S = 20.0


@dataclass(frozen=True)
class ReplayOptions:
    capture: Path | None = None
    iterations: int | None = None  # None: ten, or as many as fit into some seconds
    warmup: int = 1
    recopy: bool = True
    cache: Literal["warm", "flush"] = "warm"
    hsaco: Path | None = None
    verify: str | None = None  # "exact", or a tolerance; None: each type's own
    dtype: str | None = None
    device: str | None = None
    translate_pointers: bool = False
    timeout_s: float | None = None
    timed: bool = True


def provenance_of(captures: Sequence[Capture], device: Device | None) -> Provenance:
    """Of a run now where there is a device, else of reading only."""
    import hashlib

    shown = DeviceInfo(kind="unknown", name=None, architecture=None)
    if device is not None:
        shown = DeviceInfo(kind=device.kind, name=device.product, architecture=device.architecture)
    now = datetime.now(timezone.utc).isoformat(timespec="seconds")
    return Provenance(
        tool_version=__version__,
        command=without_secrets(["rocm-perf", *sys.argv[1:]]),
        started=now if device else None,
        host=platform.node() if device else None,
        device=shown,
        rocm=None,
        inputs=[
            InputFile(
                path=str(capture.folder / MANIFEST),
                sha256=hashlib.sha256((capture.folder / MANIFEST).read_bytes()).hexdigest(),
            )
            for capture in captures
        ],
    )


def full_vm(options: ReplayOptions, tell: Tell = lambda _: None) -> ReplayDocument:
    """Restore everything, dispatch as often as asked, compare every time."""
    tolerance = _tolerance(options.verify)
    if options.dtype is not None and element_type(options.dtype) is None:
        raise UsageError(f"--dtype {options.dtype}: not known", hint=f"one of {', '.join(TYPES)}")
    started = time.perf_counter()
    with ReplaySession(
        find_capture(options.capture),
        device=options.device,
        translate_pointers=options.translate_pointers,
        timeout_s=options.timeout_s,
        timed=options.timed,
        tell=tell,
    ) as replay:
        build = ORIGINAL if options.hsaco is None else replay.load(options.hsaco)
        tell(f"replaying on {replay.device.name}")

        def run(times: int, recopy: bool, first: bool = False) -> RunResult:
            if options.timeout_s is not None:  # the session's limit is one for each request
                left_s = options.timeout_s - (time.perf_counter() - started)
                replay.timeout_s = max(0.0, left_s)
            return replay.run(
                [build] * times,
                recopy=recopy,
                flush=options.cache == "flush",
                compare=not first,
                dtype=options.dtype,
                tolerance=tolerance,
            )

        warmup = options.warmup if options.timed else 0
        if warmup:
            run(warmup, recopy=True, first=True)
        setup_s = time.perf_counter() - started
        iterations = options.iterations
        if iterations is None:
            iterations = _affordable(run) if options.timed else LEAST_ITERATIONS
        result = run(iterations, options.recopy)
        capture = replay.capture
        return ReplayDocument(
            provenance=provenance_of([capture], replay.device),
            capture=str(capture.folder),
            kernel=capture.dispatch.kernel.demangled,
            isa=capture.dispatch.isa,
            hsaco=None if options.hsaco is None else str(options.hsaco),
            iterations=iterations,
            warmup=warmup,
            recopy=options.recopy,
            cache=options.cache,
            gpu_time=_gpu_time(result.gpu_ns(build), replay.timing) if options.timed else None,
            wall_s=result.wall_s,
            setup_s=setup_s,
            overhead_us=_overhead(result, replay.timing),
            restored_bytes=result.written_bytes,
            output=_output(result, options),
            notes=list(
                dict.fromkeys(
                    [*capture.manifest.notes, *result.notes, *_reasons(capture, options, result)]
                )
            ),
        )


def _affordable(run: Callable[[int, bool], RunResult]) -> int:
    """How many iterations, where the user does not say: a modelled kernel can take minutes."""
    taken_s = run(1, True).samples[0].wall_s
    return max(LEAST_ITERATIONS, min(USUAL_ITERATIONS, int(PATIENCE_S / max(taken_s, 1e-9))))


def _tolerance(verify: str | None) -> float | None:
    if verify is None or verify == "exact":
        return None
    try:
        value = float(verify)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise UsageError(f"--verify {verify}: neither `exact` nor a tolerance like 1e-5")
    return value


def _gpu_time(samples: list[float], kind: Literal["modelled", "measured"]) -> GpuTime:
    column = np.array(samples)
    return GpuTime(
        kind=kind,
        samples_ns=samples,
        mean_ns=float(column.mean()),
        median_ns=statistics.median(column),
        min_ns=float(column.min()),
        max_ns=float(column.max()),
        ci95_ns=statistics.mean_interval95(column),
    )


def _overhead(result: RunResult, kind: str) -> float:
    """What an iteration costs beside the kernel: its wall time where the GPU's is modelled."""
    inside = sum(s.wall_s if kind == "modelled" else s.gpu_ns * 1e-9 for s in result.samples)
    return 1e6 * max(0.0, result.wall_s - result.looked_s - inside) / len(result.samples)


def _output(result: RunResult, options: ReplayOptions) -> Output:
    outcomes = [sample.outcome for sample in result.samples if sample.outcome is not None]
    judged = outcomes if options.recopy else outcomes[:1]
    order = ("identical", "within_tolerance", "different")
    worst = max(judged, key=lambda outcome: order.index(outcome["verdict"]))
    verdict = worst["verdict"]
    passing = order[:1] if options.verify == "exact" else order[:2]
    return Output(
        verdict=verdict,
        accepted=verdict in passing,
        compared_bytes=result.written_bytes,
        distinct_outputs=len({outcome["digest"] for outcome in judged}),
        diverged=None
        if options.recopy
        else any(o["digest"] != outcomes[0]["digest"] for o in outcomes),
        differences=[OutputDifference(**row) for row in worst["differences"]],
    )


def _reasons(capture: Capture, options: ReplayOptions, result: RunResult) -> list[str]:
    """Why outputs may differ from run to run, where they do."""
    if all(
        sample.outcome and sample.outcome["verdict"] == "identical" for sample in result.samples
    ):
        return []
    if not options.recopy:
        return []
    data = (
        builds.find(options.hsaco, capture.dispatch)
        if options.hsaco is not None
        else capture.kernel_hsaco()
    )
    return causes(*builds.check(data, capture.dispatch, "the kernel"))


def reserve_check(path: Path | None, device_name: str | None = None) -> ReserveDocument:
    """Whether the captured addresses can be had in this machine's processes."""
    with open_capture(find_capture(path), verify=False) as capture:
        device = sessions.choose_device(capture.dispatch.isa, device_name)
        ranges = sessions.capture_ranges(capture)
        verdict: Literal["exact", "relocated", "failed"] = "exact"
        reason: str | None = None
        found = {"spans": 0, "bytes": 0}
        try:
            found = sessions.reserve_check(ranges, device, capture.dispatch.isa)
        except sessions.AddressTaken as error:
            verdict, reason = "relocated", error.message
        except sessions.ReplayFailed as error:
            verdict, reason = "failed", error.message
        return ReserveDocument(
            provenance=provenance_of([capture], device),
            capture=str(capture.folder),
            verdict=verdict,
            spans=found["spans"],
            bytes=found["bytes"],
            reason=reason,
        )
