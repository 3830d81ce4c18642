"""``python -m rocm_perf_triton.tune JOB.json PROGRAM ARGUMENTS``: tune one kernel of a program.

The program runs as it is until it first launches the kernel. Then, with the arguments of that
launch, every configuration is compiled (in parallel; nothing runs yet), those whose code object
rules them out are dropped, the others are run on the same inputs, compared with the reference and
timed. One line of JSON per configuration goes to the job's results file, from which a later run
resumes. The program does not go on.
"""

from __future__ import annotations

import hashlib
import json
import math
import multiprocessing
import os
import re
import runpy
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from rocm_perf_triton import benchmark, hip

OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg")
_TOLERANCE = {2: 2e-2, 4: 2e-3, 8: 1e-9}  # relative, by bytes of a float
_LINE = re.compile(r"^\s*\.(\w+):\s+(\d+)\s*$", re.MULTILINE)
_FIELDS = {
    "vgprs": "vgpr_count", "agprs": "agpr_count", "sgprs": "sgpr_count",
    "vgpr_spills": "vgpr_spill_count", "scratch_bytes": "private_segment_fixed_size",
}  # fmt: skip


class Finished(SystemExit):
    pass


class Job:
    def __init__(self, path: Path) -> None:
        given = json.loads(path.read_text(encoding="utf-8"))
        self.kernel: str = given["kernel"]
        self.configurations: list[dict[str, Any]] | None = given["configurations"]
        self.results = Path(given["results"])
        self.limits: dict[str, int] = given["limits"]
        self.workers: int = given["workers"]
        self.verify: list[str] | None = given["verify"]  # a file and a function in it
        self.share: float | None = given["share"]  # of the configurations, at most
        self.most: int | None = given["most"]  # of them
        self.seconds: float | None = given["seconds"]
        self.done: dict[str, Any] = {}
        if self.results.exists():
            for line in self.results.read_text(encoding="utf-8").splitlines():
                try:
                    record = json.loads(line)
                    self.done[record["key"]] = record
                except (ValueError, KeyError, TypeError):
                    continue  # the line a killed run was writing

    def write(self, record: dict[str, Any]) -> None:
        with self.results.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")


def main(arguments: list[str]) -> None:
    job = Job(Path(arguments[0]))
    program = arguments[1]
    sys.argv = arguments[1:]
    sys.path.insert(0, str(Path(program).resolve().parent))
    _watch(job)
    try:
        runpy.run_path(program, run_name="__main__")
    except Finished:
        return
    sys.exit(f"rocm-perf: {program} ended without launching {job.kernel}")


def _watch(job: Job) -> None:
    """Launches go through `run` of the autotuner or of the kernel itself: both are listened to."""
    from triton.runtime.autotuner import Autotuner
    from triton.runtime.jit import JITFunction

    plain, tuned = JITFunction.run, Autotuner.run

    def run_plain(self: Any, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> Any:
        if self.__name__ == job.kernel and not warmup and not _busy[0]:
            tune(job, self, None, args, grid, kwargs)
        return plain(self, *args, grid=grid, warmup=warmup, **kwargs)

    def run_tuned(self: Any, *args: Any, **kwargs: Any) -> Any:
        function = self
        while not isinstance(function, JITFunction):
            function = function.fn
        if function.__name__ == job.kernel and not _busy[0]:
            grid = kwargs.pop("grid")
            kwargs.pop("warmup", None)
            tune(job, function, self.configs, args, grid, kwargs)
        return tuned(self, *args, **kwargs)

    JITFunction.run, Autotuner.run = run_plain, run_tuned


_busy = [False]


def tune(job: Job, kernel: Any, own: Any, args: Any, grid: Any, kwargs: dict[str, Any]) -> None:
    _busy[0] = True
    space = job.configurations
    if space is None:
        if own is None:
            sys.exit(f"rocm-perf: {job.kernel} has no configurations of its own: give --space")
        space = [_from_config(config) for config in own]
    kwargs = {k: v for k, v in kwargs.items() if k not in space[0]}
    launch = Launch(kernel, args, grid, kwargs)
    _tell(f"{len(space)} configurations to compile")
    compiled = _compile_all(launch, space, job.workers)
    chosen = [
        (config, _ruled_out(config, facts, job.limits), facts)
        for config, facts in zip(space, compiled, strict=True)
    ]
    left = sum(1 for _, why, _ in chosen if why is None)
    _tell(f"{left} left by their code objects; {len(space) - left} ruled out before anything ran")
    expected = launch.expected(*job.verify) if job.verify else None
    reference, measured, started = None, 0, time.monotonic()
    most = len(space) if job.most is None else job.most
    if job.share is not None:
        most = max(1, math.ceil(job.share * len(space) - 1e-9))
    for number, (config, why, facts) in enumerate(chosen, 1):
        key = launch.key(config)
        record: dict[str, Any] = {"key": key, "configuration": config, **facts}
        if why is not None:
            job.write({**record, "status": "ruled_out", "reason": why})
            continue
        if key in job.done and job.done[key].get("status") in ("ok", "wrong"):
            job.write(job.done[key])
            continue
        spent = job.seconds is not None and time.monotonic() - started >= job.seconds
        if measured >= most or (spent and measured):
            _tell(f"the budget is spent: {measured} measured, the rest of {left} not")
            break
        measured += 1
        try:
            if reference is None and expected is None:
                reference = launch.outputs(next(c for c, why, _ in chosen if why is None))
            found = launch.outputs(config)
            if expected is not None:
                problem = launch.differs_from(found, expected)
            else:
                problem = launch.differs(found, reference or [])
            took = None if problem else launch.milliseconds(config)
        except Exception as error:
            job.write({**record, "status": "failed", "reason": _sentence(error)})
            if isinstance(error, hip.HipError):
                sys.exit(f"rocm-perf: {config} ended the device: {_sentence(error)}")
            continue
        status = "wrong" if problem else "ok"
        job.write({**record, "status": status, "reason": problem, "time_ms": took})
        _tell(f"{number} of {len(chosen)}: {'wrong result' if problem else f'{took:.6g} ms'}")
    raise Finished(0)


def _from_config(config: Any) -> dict[str, Any]:
    options = {name: getattr(config, name, None) for name in OPTIONS}
    given = {k: v for k, v in options.items() if v is not None and (k, v) != ("num_ctas", 1)}
    return {**config.kwargs, **given}


def _tell(text: str) -> None:
    sys.stderr.write(f"rocm-perf: {text}\n")


def _sentence(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[-1] if lines else ''}"[:300]


class Launch:
    """The launch to repeat: its arguments as they were, and copies of the arrays among them."""

    def __init__(self, kernel: Any, args: Any, grid: Any, kwargs: dict[str, Any]) -> None:
        self.kernel, self.args, self.grid, self.kwargs = kernel, args, grid, kwargs
        self.named = {**dict(zip(kernel.arg_names, args, strict=False)), **kwargs}
        everything = [*args, *kwargs.values()]
        self.arrays = [a for a in everything if hasattr(a, "data_ptr") and hasattr(a, "dtype")]
        self.checked_by: list[str] = []
        hip.synchronize()
        self.before = [_bytes(a) for a in self.arrays]

    def run(self, config: dict[str, Any], **more: Any) -> Any:
        return self.kernel.run(
            *self.args, grid=self.grid, **{"warmup": False, **self.kwargs, **config, **more}
        )

    def key(self, config: dict[str, Any]) -> str:
        """The same kernel, arguments, device and configuration give the same time."""
        shapes = [
            [str(a.dtype), list(a.shape)] if hasattr(a, "dtype") else repr(a) for a in self.args
        ]
        device = hip.properties(hip.current_device())["name"]
        made_of = [self.kernel.cache_key, shapes, device, config, *self.checked_by]
        text = json.dumps(made_of, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def restore(self) -> None:
        for array, raw in zip(self.arrays, self.before, strict=True):
            hip.copy(_address(array), raw.ctypes.data, raw.nbytes, hip.HOST_TO_DEVICE)

    def outputs(self, config: dict[str, Any]) -> list[Any]:
        self.restore()
        self.run(config)
        hip.synchronize()
        return [_bytes(a) for a in self.arrays]

    def differs(self, found: list[Any], reference: list[Any]) -> str | None:
        for array, got, want in zip(self.arrays, found, reference, strict=True):
            if np.array_equal(got, want):
                continue
            a, b = _numbers(array, got), _numbers(array, want)
            if a is None or b is None or a.dtype.kind != "f":
                return f"an array of {_kind(array)} differs from the first configuration's"
            if problem := _off(array, a, b):
                return f"an array of {_kind(array)} is {problem}"
        return None

    def expected(self, file: str, function: str) -> dict[str, Any]:
        """What the user's function says of the arrays after the launch, by the kernel's names."""
        compute = runpy.run_path(file).get(function)
        if not callable(compute):
            sys.exit(f"rocm-perf: {file} has no function {function}")
        before = {id(array): raw for array, raw in zip(self.arrays, self.before, strict=True)}
        given = {
            name: _numbers(value, before[id(value)]) if id(value) in before else value
            for name, value in self.named.items()
        }
        self.checked_by = [function, hashlib.sha256(Path(file).read_bytes()).hexdigest()]
        told = compute(**given)
        names = [n for n, v in self.named.items() if id(v) in before]
        if not isinstance(told, dict) or not told or not set(told) <= set(names):
            wanted = ", ".join(names)
            sys.exit(f"rocm-perf: {function} must return arrays by name, of these: {wanted}")
        return told

    def differs_from(self, found: list[Any], expected: dict[str, Any]) -> str | None:
        for array, raw in zip(self.arrays, found, strict=True):
            name = next(n for n, v in self.named.items() if v is array)
            if name not in expected:
                continue
            got, want = _numbers(array, raw), np.asarray(expected[name])
            if got is None or got.size != want.size:
                return f"{name} cannot be compared with the {want.size} numbers of the reference"
            if problem := _off(array, got.ravel(), want.ravel()):
                return f"{name} is {problem}"
        return None

    def milliseconds(self, config: dict[str, Any]) -> float:
        if os.environ.get("ROCM_PERF_DEVICE", "").startswith("virtual"):
            return benchmark.milliseconds_of(lambda: self.run(config))
        import triton.testing

        return float(triton.testing.do_bench(lambda: self.run(config), quantiles=[0.5]))


def _kind(array: Any) -> str:
    return str(array.dtype).split(".")[-1]


def _numbers(array: Any, raw: Any) -> Any:
    """An array's bytes as numbers, or None for a type that numpy lacks."""
    kind = _kind(array)
    if kind == "bfloat16":
        numbers = (raw.view("u2").astype("u4") << 16).view("f4")
    else:
        try:
            numbers = raw.view(kind)
        except TypeError:
            return None
    return numbers.reshape(array.shape) if numbers.size == math.prod(array.shape) else numbers


def _off(array: Any, got: Any, want: Any) -> str | None:
    if got.dtype.kind != "f":
        wrong = int(np.count_nonzero(got != want))
        return f"wrong in {wrong} places" if wrong else None
    a, b = got.astype("f8"), want.astype("f8")
    limit = _TOLERANCE[2 if _kind(array) == "bfloat16" else got.dtype.itemsize]
    scale = float(np.nanmax(np.abs(b))) or 1.0
    worst = float(np.nanmax(np.abs(a - b)))
    if worst <= limit * scale and np.array_equal(np.isnan(a), np.isnan(b)):
        return None
    return f"off by {worst:.3g}, of {scale:.3g}"


def _bytes(array: Any) -> Any:
    size = _size(array)
    raw = np.empty(size, dtype=np.uint8)
    hip.copy(raw.ctypes.data, _address(array), size, hip.DEVICE_TO_HOST)
    return raw


def _address(array: Any) -> int:
    return int(array.data_ptr())


def _size(array: Any) -> int:
    """Bytes from the pointer to the last element."""
    strides = array.stride()
    if 0 in tuple(array.shape):
        return 0
    reach = 1 + sum((n - 1) * s for n, s in zip(array.shape, strides, strict=True))
    return int(reach * array.element_size())


_shared: dict[str, Any] = {}


def _compile(config: dict[str, Any]) -> dict[str, Any]:
    """What the code object says; compiled by Triton into its cache on disk."""
    try:
        kernel = _shared["launch"].run(config, warmup=True)
    except Exception as error:
        return {"problem": _sentence(error)}
    listing = {name: int(value) for name, value in _LINE.findall(kernel.asm["amdgcn"])}
    found = {field: listing.get(name, 0) for field, name in _FIELDS.items()}
    metadata = kernel.metadata
    return {
        **found,
        "lds_bytes": metadata.shared,
        "threads": metadata.num_warps * metadata.warp_size,
    }


def _compile_all(launch: Launch, space: list[dict[str, Any]], workers: int) -> list[dict[str, Any]]:
    """In forked processes, which compile and never touch the device."""
    _shared["launch"] = launch
    if workers < 2 or len(space) < 2:
        return [_compile(config) for config in space]
    with multiprocessing.get_context("fork").Pool(workers) as pool:
        return pool.map(_compile, space, chunksize=1)


def _ruled_out(config: dict[str, Any], facts: dict[str, Any], limits: dict[str, int]) -> str | None:
    if "problem" in facts:
        return f"does not compile: {facts.pop('problem')}"
    if facts["lds_bytes"] > limits["lds_bytes"]:
        return f"needs {facts['lds_bytes']:,} bytes of LDS; a workgroup has {limits['lds_bytes']:,}"
    if facts["threads"] > limits["threads"]:
        return f"needs {facts['threads']} threads; a workgroup has at most {limits['threads']}"
    if facts["vgpr_spills"]:
        return f"spills {facts['vgpr_spills']} registers to memory"
    return None


if __name__ == "__main__":
    # The program becomes __main__: what workers are sent must be found under another name.
    from rocm_perf_triton import tune as this

    this.main(sys.argv[1:])
