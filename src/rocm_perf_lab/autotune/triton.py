"""Tuning a Triton kernel: the program runs in its own Python, and tells what it found.

`rocm_perf_triton.tune` (in the folder that Python programs get on their path) does the work where
Triton is; here the space is made, the program started, and its lines judged.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rocm_perf_lab import scratch
from rocm_perf_lab.arch.gpu import Gpu
from rocm_perf_lab.arch.load import gpu as architecture
from rocm_perf_lab.arch.occupancy import occupancy
from rocm_perf_lab.autotune import space as spaces
from rocm_perf_lab.autotune.job import parse_budget
from rocm_perf_lab.device import discover
from rocm_perf_lab.errors import BadInput, MissingTool, UsageError
from rocm_perf_lab.schema.common import DeviceInfo, Provenance
from rocm_perf_lab.schema.triton_autotune import (
    TritonAutotuneDocument,
    TritonBest,
    TritonEvaluation,
    TritonResources,
)

_THREADS = 1024
_UNBOUNDED = 1 << 53
# What triton.Config takes by name; the rest are the kernel's own, in its dictionary.
_ARGUMENTS = ("num_warps", "num_stages", "num_ctas", "maxnreg")


@dataclass(frozen=True)
class Asked:
    program: Path
    kernel: str
    arguments: tuple[str, ...]
    space: Path | None
    results: Path | None  # kept, and resumed from
    device: str | None
    workers: int
    verify: str | None = None  # file.py:function, instead of the first configuration
    budget: str | None = None  # all of them


def parse_target(text: str, option: str = "--triton", what: str = "kernel") -> tuple[Path, str]:
    """`file.py:kernel`."""
    file, _, kernel = text.rpartition(":")
    if not file or not kernel.isidentifier():
        raise UsageError(f"{option} {text}: give a file and a {what}", hint=f"file.py:{what}")
    path = Path(file)
    if not path.is_file():
        raise BadInput(f"{file}: no such file")
    return path, kernel


_HAS_TRITON = "import importlib.util, sys; sys.exit(importlib.util.find_spec('triton') is None)"


def python() -> str:
    """The `python` on PATH, as `rocm-perf run` takes it, or this one: the first with Triton."""
    for candidate in (shutil.which("python"), shutil.which("python3"), sys.executable):
        if (
            candidate
            and subprocess.run([candidate, "-c", _HAS_TRITON], check=False).returncode == 0
        ):
            return candidate
    raise MissingTool("there is no Python with Triton", hint="pip install triton")


def tune(asked: Asked, provenance: Mapping[str, Any]) -> TritonAutotuneDocument:
    device = discover.choose(asked.device)
    configurations = None
    if asked.space is not None:
        space = spaces.load(asked.space)
        configurations = [space.configuration(row) for row in range(space.size)]
    verify = parse_target(asked.verify, "--verify", "function") if asked.verify else None
    gpu = architecture(device.architecture)
    with scratch.folder("rocm-perf-") as folder:
        results = asked.results or Path(folder) / "results.jsonl"
        before = len(results.read_text("utf-8").splitlines()) if results.exists() else 0
        job = Path(folder) / "job.json"
        job.write_text(
            json.dumps(
                {
                    "kernel": asked.kernel, "configurations": configurations,
                    "results": str(results.resolve()), "workers": asked.workers,
                    "verify": verify and [str(verify[0].resolve()), verify[1]],
                    **_budget(asked.budget),
                    "limits": {
                        "lds_bytes": gpu.limits.lds_bytes_per_workgroup, "threads": _THREADS,
                    },
                }
            ),
            encoding="utf-8",
        )  # fmt: skip
        command = [
            python(), "-m", "rocm_perf_triton.tune", str(job), str(asked.program), *asked.arguments,
        ]  # fmt: skip
        environment = discover.environment_for(device, asked.device)
        environment.pop("TRITON_CACHE_AUTOTUNING", None)
        done = subprocess.run(command, env={**os.environ, **environment}, check=False)
        lines = results.read_text("utf-8").splitlines()[before:] if results.exists() else []
    records = [record for line in lines if (record := _record(line)) is not None]
    if not records:
        raise BadInput(
            f"{asked.program}: {asked.kernel} was not tuned (exit code {done.returncode})",
            hint="does the program run, and launch that kernel, under `rocm-perf run python`?",
        )
    return _document(asked, records, device, gpu, provenance)


def _budget(text: str | None) -> dict[str, float | int | None]:
    share: float | None = None
    most: int | None = None
    seconds: float | None = None
    if text is not None:
        most, seconds = parse_budget(text, _UNBOUNDED)
        if text.strip().endswith("%"):  # of how many is known where the kernel is
            share, most = float(text.strip()[:-1]) / 100, None
    return {"share": share, "most": most, "seconds": seconds}


def _record(line: str) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except ValueError:
        return None
    good = isinstance(record, dict) and isinstance(record.get("configuration"), dict)
    return record if good and record.get("status") else None


def _document(
    asked: Asked,
    records: Sequence[Mapping[str, Any]],
    device: discover.Device,
    gpu: Gpu,
    provenance: Mapping[str, Any],
) -> TritonAutotuneDocument:
    evaluations = [
        TritonEvaluation(
            configuration=r["configuration"],
            status=r["status"],
            reason=r.get("reason"),
            time_ms=r.get("time_ms"),
            resources=_resources(r, gpu),
        )
        for r in records
    ]
    timed = [e for e in evaluations if e.status == "ok" and e.time_ms is not None]
    best = min(timed, key=lambda e: e.time_ms or 0.0, default=None)
    first = timed[0].time_ms if timed else None
    kind, name = device.kind, device.product
    return TritonAutotuneDocument(
        provenance=Provenance(
            **provenance,
            device=DeviceInfo(kind=kind, name=name, architecture=device.architecture),
        ),
        kernel=asked.kernel,
        program=str(asked.program),
        time_source="modelled" if device.kind == "virtual" else "measured",
        configurations=len(evaluations),
        ruled_out=sum(e.status == "ruled_out" for e in evaluations),
        measured=len(timed),
        best=TritonBest(
            configuration=best.configuration,
            time_ms=best.time_ms,
            triton_config=config_text(best.configuration),
            speedup_over_first=first / best.time_ms if first else None,
        )
        if best is not None and best.time_ms
        else None,
        evaluations=sorted(
            evaluations, key=lambda e: (e.time_ms is None, e.time_ms or 0.0, e.status)
        ),
    )


def _resources(record: Mapping[str, Any], gpu: Gpu) -> TritonResources | None:
    names = [n for n in TritonResources.model_fields if n not in ("waves_per_simd", "limiter")]
    if any(not isinstance(record.get(name), int) for name in names):
        return None
    found = occupancy(
        gpu,
        threads=record["threads"],
        vgprs=record["vgprs"] - record["agprs"],
        agprs=record["agprs"],
        total_vgprs=record["vgprs"],
        sgprs=record["sgprs"],
        lds_bytes=record["lds_bytes"],
    )
    return TritonResources(
        **{name: record[name] for name in names},
        waves_per_simd=found.waves_per_simd,
        limiter=found.limiter,
    )


def config_text(configuration: Mapping[str, Any]) -> str:
    """`triton.Config({...}, num_warps=4)`, to paste."""
    own = {k: v for k, v in configuration.items() if k not in _ARGUMENTS}
    given = [f"{k}={configuration[k]!r}" for k in _ARGUMENTS if k in configuration]
    inside = ", ".join(f'"{k}": {v!r}' for k, v in own.items())
    return "triton.Config(" + ", ".join(["{" + inside + "}", *given]) + ")"
