"""What works on this machine and what to do about what does not. Looks, and changes nothing."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from rocm_perf_lab import __version__
from rocm_perf_lab.collect import rocprofv3
from rocm_perf_lab.device import discover, toolchain, translation
from rocm_perf_lab.errors import PerfLabError
from rocm_perf_lab.optimize import sandbox
from rocm_perf_lab.schema.doctor import Check, DoctorDocument
from rocm_perf_lab.virtual import native

Status = Literal["ok", "warning", "missing"]

DECODER = "librocprof-trace-decoder.so"
KEYS = ("ROCM_PERF_LLM_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY")
EXTRAS = {
    "distributed": ("dask", "autotune on the GPUs of several machines"),
    "httpx": ("llm", "optimize --proposer llm"),
    "mcp": ("mcp", "rocm-perf mcp"),
    "pandas": ("notebook", "run.to_pandas()"),
    "pyarrow": ("notebook", "export --format parquet"),
}


def examine(environment: Mapping[str, str] = os.environ) -> DoctorDocument:
    checks = [
        _python(),
        _virtual(),
        _compiler(),
        _translator(),
        _rocm(environment),
        _profiler(),
        _decoder(environment),
        _driver(),
        _clocks(),
        _sandbox(),
        _llm(environment),
        *_extras(),
    ]
    status = {check.name: check.status for check in checks}
    hardware = status["/dev/kfd"] == "ok" and status["rocprofv3"] == "ok"
    virtual = status["virtual GPU"] == "ok"
    return DoctorDocument(
        tool_version=__version__,
        can={
            "analyze existing traces": status["Python"] == "ok",
            "profile on an AMD GPU": hardware,
            "profile on the virtual GPU": virtual,
            "compile HIP programs": status["compiler"] == "ok",
            "take thread traces": virtual or (hardware and status["thread-trace decoder"] == "ok"),
            "optimize in a sandbox": status["sandbox"] == "ok",
        },
        checks=checks,
    )


def can_run(document: DoctorDocument) -> bool:
    """A program can be run and profiled on some GPU."""
    can = document.can
    return can["profile on an AMD GPU"] or can["profile on the virtual GPU"]


def _check(name: str, status: Status, found: str, needed_for: str, fix: str | None = None) -> Check:
    return Check(
        name=name,
        status=status,
        found=found,
        needed_for=needed_for,
        fix=None if status == "ok" else fix,
    )


def _python() -> Check:
    good = sys.version_info >= (3, 10)
    found = f"{platform.python_version()} at {sys.executable}"
    return _check(
        "Python", "ok" if good else "missing", found, "everything", "Python 3.10 or later"
    )


def _virtual() -> Check:
    folder = native.find_library_dir()
    names = ", ".join(d.name for d in discover.virtual())
    return _check(
        "virtual GPU",
        "ok" if folder is not None else "missing",
        f"{names}, libraries in {folder}" if folder else "its libraries are not built",
        "running and profiling without an AMD GPU",
        "make native in a checkout, or install the wheel",
    )


def _compiler() -> Check:
    own = toolchain.real_hipcc()
    if own is not None:
        return _check("compiler", "ok", str(own), "building HIP programs")
    try:
        found = toolchain.find_toolchain()
        return _check("compiler", "ok", f"{found.kind}: {found.version}", "building HIP programs")
    except PerfLabError as error:
        return _check("compiler", "missing", error.message, "building HIP programs", error.hint)


def _translator() -> Check:
    what = "running hot kernels of the virtual GPU as host code"
    try:
        reason = translation.why_not()
    except PerfLabError as error:  # the virtual GPU itself is not there
        return _check("translator", "missing", error.message, what, error.hint)
    if reason is not None:
        return _check("translator", "missing", f"kernels stay interpreted: {reason}", what)
    return _check("translator", "ok", f"keeps its results in {translation.folder()}", what)


def _rocm(environment: Mapping[str, str]) -> Check:
    root = Path(environment.get("ROCM_PATH") or "/opt/rocm")
    for name in (".info/version", ".info/version-dev"):
        try:
            version = (root / name).read_text().strip()
        except OSError:
            continue
        try:
            new_enough = tuple(map(int, version.split("-")[0].split(".")[:2])) >= (6, 2)
        except ValueError:
            new_enough = True
        return _check(
            "ROCm",
            "ok" if new_enough else "warning",
            f"{version} in {root}",
            "profiling on an AMD GPU",
            "ROCm 6.2 or later has rocprofv3",
        )
    return _check(
        "ROCm",
        "warning",
        f"not found in {root}",
        "profiling on an AMD GPU",
        "install ROCm 6.2 or later, or set ROCM_PATH; the virtual GPU works without",
    )


def _profiler() -> Check:
    what = "profiling on an AMD GPU"
    place = rocprofv3.installed()
    if place is None:
        return _check(
            "rocprofv3", "warning", "not found", what, "install rocprofiler-sdk (part of ROCm 6.2+)"
        )
    try:
        found = rocprofv3.find((place,))
    except PerfLabError as error:
        return _check("rocprofv3", "warning", error.message, what, error.hint)
    old = not found.writes_rocpd
    return _check(
        "rocprofv3",
        "warning" if old else "ok",
        f"{found.version or 'version unknown'} at {place}"
        + ("" if found.takes_att else ", without thread traces")
        + (", no rocpd output: its JSON is read" if old else ""),
        what,
        "a newer one writes rocpd databases, which are read faster and hold more",
    )


def _decoder(environment: Mapping[str, str]) -> Check:
    given = environment.get("ROCPROF_ATT_LIBRARY_PATH", "").split(":")
    paths = environment.get("LD_LIBRARY_PATH", "").split(":")
    root = Path(environment.get("ROCM_PATH") or "/opt/rocm")
    places = [*map(Path, filter(None, [*given, *paths])), root / "lib", Path("/usr/lib")]
    for place in places:
        if (place / DECODER).is_file():
            return _check("thread-trace decoder", "ok", str(place / DECODER), "--att on an AMD GPU")
    return _check(
        "thread-trace decoder",
        "warning",
        f"{DECODER} not found",
        "--att on an AMD GPU",
        "install AMD's rocprof-trace-decoder and put its folder on ROCPROF_ATT_LIBRARY_PATH",
    )


def _driver() -> Check:
    found = discover.hardware()
    if not discover.DRIVER.exists():
        return _check(
            "/dev/kfd",
            "warning",
            "not there: no AMD GPU, or its driver is not loaded",
            "an AMD GPU",
            "load amdgpu; in a container pass --device /dev/kfd --device /dev/dri",
        )
    names = ", ".join(f"{d.name} {d.product or d.architecture}" for d in found) or "no GPU"
    usable = any(d.usable for d in found)
    return _check(
        "/dev/kfd",
        "ok" if usable else "missing",
        names,
        "an AMD GPU",
        "sudo usermod -aG render,video $USER, then log in again",
    )


def _clocks() -> Check:
    levels = sorted(Path("/sys/class/drm").glob("card*/device/power_dpm_force_performance_level"))
    read = []
    for path in levels:
        try:
            read.append(path.read_text().strip())
        except OSError:
            continue
    if not read:
        return _check("clocks", "ok", "no AMD GPU whose clocks could move", "steady timings")
    steady = all(level.startswith("perf_determinism") or level == "manual" for level in read)
    return _check(
        "clocks",
        "ok" if steady else "warning",
        ", ".join(read),
        "steady timings",
        "rocm-smi --setperfdeterminism 1900 holds the clock while you compare",
    )


def _sandbox() -> Check:
    kind, purpose = sandbox.available(), "optimize: running proposed code"
    if kind == "none":
        remedy = "install bubblewrap, or use a kernel with Landlock (5.13 or later)"
        return _check("sandbox", "warning", kind, purpose, remedy)
    found = kind if sandbox.processes_bounded() else f"{kind}; {sandbox.UNBOUNDED}"
    return _check("sandbox", "ok", found, purpose)


def _llm(environment: Mapping[str, str]) -> Check:
    """Only whether a key is set: it is never shown, and nothing is sent."""
    keys = [name for name in KEYS if environment.get(name)]
    return _check(
        "LLM endpoint",
        "ok" if keys else "warning",
        f"a key in {', '.join(keys)}" if keys else "no key is set",
        "optimize --proposer llm; nothing else",
        f"set {KEYS[0]} or the key of your service; --proposer rules needs none",
    )


def _extras() -> list[Check]:
    found = []
    for module, (extra, what) in EXTRAS.items():
        there = importlib.util.find_spec(module) is not None
        version = importlib.metadata.version(module) if there else "not installed"
        found.append(
            _check(
                module,
                "ok" if there else "warning",
                version,
                what,
                f"pip install 'rocm-perf-lab[{extra}]'",
            )
        )
    return found
