"""``python -m rocm_perf_triton.tune IN OUT KERNEL PROGRAM ARGUMENTS``: one kernel of a program in
one configuration after the other, as somebody asks.

The program runs as it is until it first launches the kernel, and no further: from then on lines of
JSON are read from the pipe IN and answered on OUT, and every answer is about that launch, with its
arguments. `open` says what the launch is, `compile` compiles configurations (in parallel; nothing
runs), `measure` runs one on the launch's inputs, compares it with the reference and times it.
"""

from __future__ import annotations

import json
import math
import multiprocessing
import os
import re
import runpy
import sys
from collections.abc import Callable, Iterator
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


def main(arguments: list[str]) -> None:
    reads, writes, kernel, program = int(arguments[0]), int(arguments[1]), *arguments[2:4]
    with os.fdopen(reads, "rb") as asked, os.fdopen(writes, "wb") as answers:

        def serve(*launch: Any) -> None:
            served = Served(Launch(*launch), lambda text: _write(answers, {"tell": text}))
            for line in asked:
                answer = served.answer(**json.loads(line))
                _write(answers, answer)
                if answer.get("last"):
                    break
            # Threads of the program, and what it wanted to do in the end, are not waited for.
            sys.stdout.flush()
            os._exit(0)

        try:
            run_program(program, arguments[3:], kernel, serve)
        except SystemExit as stop:
            if stop.code not in (None, 0):
                raise
        asked.readline()
        _write(answers, {"error": f"{program} ended without launching {kernel}"})


def _write(file: Any, message: dict[str, Any]) -> None:
    file.write(json.dumps(message).encode("ascii") + b"\n")
    file.flush()


Launched = Callable[[Any, Any, Any, Any, dict[str, Any]], Any]


def run_program(program: str, words: list[str], kernel: str, launched: Launched) -> None:
    """`launched` gets a launch of the kernel instead of Triton: the kernel, its configurations
    where it has some, arguments, grid and options."""
    sys.argv = words
    sys.path.insert(0, str(Path(program).resolve().parent))
    _watch(kernel, launched)
    runpy.run_path(program, run_name="__main__")


def _watch(kernel: str, launched: Launched) -> None:
    """Launches go through `run` of the autotuner or of the kernel itself: both are listened to."""
    from triton.runtime.autotuner import Autotuner
    from triton.runtime.jit import JITFunction

    plain, tuned = JITFunction.run, Autotuner.run
    busy = [False]

    def hand_over(*launch: Any) -> Any:
        busy[0] = True
        try:
            return launched(*launch)
        finally:
            busy[0] = False

    def run_plain(self: Any, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> Any:
        if self.__name__ == kernel and not warmup and not busy[0]:
            return hand_over(self, None, args, grid, kwargs)
        return plain(self, *args, grid=grid, warmup=warmup, **kwargs)

    def run_tuned(self: Any, *args: Any, **kwargs: Any) -> Any:
        function = self
        while not isinstance(function, JITFunction):
            function = function.fn
        if function.__name__ == kernel and not busy[0]:
            grid = kwargs.pop("grid")
            kwargs.pop("warmup", None)
            return hand_over(function, self.configs, args, grid, kwargs)
        return tuned(self, *args, **kwargs)

    JITFunction.run, Autotuner.run = run_plain, run_tuned


class Served:
    """The answers about one launch."""

    def __init__(self, launch: Launch, tell: Callable[[str], None]) -> None:
        self.launch, self.tell = launch, tell
        self.facts: dict[str, dict[str, Any]] = {}
        self.limits: dict[str, int] = {}
        self.verify: list[str] | None = None  # a file and a function in it
        self.expected: dict[str, Any] | None = None
        self.reference: list[Any] | None = None

    def answer(self, do: str, **asked: Any) -> dict[str, Any]:
        found: dict[str, Any] = getattr(self, f"_{do}")(**asked)
        return found

    def _open(
        self, verify: list[str] | None, limits: dict[str, int], names: list[str]
    ) -> dict[str, Any]:
        self.verify, self.limits = verify, limits
        self.launch.leave_out(names)
        return {"configurations": self.launch.own, "made_of": self.launch.made_of()}

    def _compile(self, configurations: list[dict[str, Any]], workers: int) -> dict[str, Any]:
        for number, facts in enumerate(_compile_all(self.launch, configurations, workers), 1):
            self.facts[_key(configurations[number - 1])] = facts
            self.tell(str(number))
        return {
            "ruled_out": [self._ruled_out(each) for each in configurations],
            "facts": [self.facts[_key(each)] for each in configurations],
        }

    def _measure(
        self, configuration: dict[str, Any], reference: dict[str, Any], repeats: int, check: bool
    ) -> dict[str, Any]:
        why = self._ruled_out(configuration)
        found: dict[str, Any] = {"facts": self.facts[_key(configuration)], "samples": []}
        if why is not None:
            return {**found, "status": "ruled_out", "reason": why}
        try:
            problem = self._problem(configuration, reference) if check else None
            if problem is not None:
                return {**found, "status": "wrong", "reason": problem}
            samples = [self.launch.milliseconds(configuration) for _ in range(repeats)]
        except BadReference as error:
            return {"error": str(error)}
        except Exception as error:
            last = isinstance(error, hip.HipError)  # the device is of no use any more
            return {**found, "status": "failed", "reason": _sentence(error), "last": last}
        return {**found, "status": "ok", "reason": None, "samples": samples}

    def _ruled_out(self, configuration: dict[str, Any]) -> str | None:
        key = _key(configuration)
        if key not in self.facts:
            self.facts[key] = _compiled(self.launch, configuration)
        return _ruled_out(self.facts[key], self.limits)

    def _problem(self, configuration: dict[str, Any], reference: dict[str, Any]) -> str | None:
        """How the kernel's arrays differ from what they should be."""
        if self.verify is not None:
            if self.expected is None:
                self.expected = self.launch.expected(*self.verify)
            return self.launch.differs_from(self.launch.outputs(configuration), self.expected)
        if self.reference is None:
            self.reference = self.launch.outputs(reference)
        return self.launch.differs(self.launch.outputs(configuration), self.reference)


def _key(configuration: dict[str, Any]) -> str:
    return json.dumps(configuration, sort_keys=True)


def _from_config(config: Any) -> dict[str, Any]:
    options = {name: getattr(config, name, None) for name in OPTIONS}
    given = {k: v for k, v in options.items() if v is not None and (k, v) != ("num_ctas", 1)}
    return {**config.kwargs, **given}


def _sentence(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[-1] if lines else ''}"[:300]


class BadReference(Exception):
    """What --verify names is not what it must be."""


class Launch:
    """The launch to repeat: its arguments as they were, and copies of the arrays among them."""

    def __init__(self, kernel: Any, own: Any, args: Any, grid: Any, kwargs: dict[str, Any]) -> None:
        self.kernel, self.args, self.grid, self.kwargs = kernel, args, grid, kwargs
        self.own = None if own is None else [_from_config(config) for config in own]
        self.named = {**dict(zip(kernel.arg_names, args, strict=False)), **kwargs}
        everything = [*args, *kwargs.values()]
        self.arrays = [a for a in everything if hasattr(a, "data_ptr") and hasattr(a, "dtype")]
        hip.synchronize()
        self.before = [_bytes(a) for a in self.arrays]

    def run(self, config: dict[str, Any], **more: Any) -> Any:
        return self.kernel.run(
            *self.args, grid=self.grid, **{"warmup": False, **self.kwargs, **config, **more}
        )

    def leave_out(self, names: list[str]) -> None:
        """What the configurations say: no function that computes a reference is told of it."""
        self.named = {k: v for k, v in self.named.items() if k not in names}

    def made_of(self) -> list[Any]:
        """The same kernel, arguments and device give the same time."""
        shapes = [
            [str(a.dtype), list(a.shape)] if hasattr(a, "dtype") else repr(a) for a in self.args
        ]
        return [self.kernel.cache_key, shapes, hip.properties(hip.current_device())["name"]]

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
            raise BadReference(f"{file} has no function {function}")
        before = {id(array): raw for array, raw in zip(self.arrays, self.before, strict=True)}
        given = {
            name: _numbers(value, before[id(value)]) if id(value) in before else value
            for name, value in self.named.items()
        }
        try:
            told = compute(**given)
        except Exception as error:
            raise BadReference(f"{function} raised {_sentence(error)}") from error
        names = [n for n, v in self.named.items() if id(v) in before]
        if not isinstance(told, dict) or not told or not set(told) <= set(names):
            wanted = ", ".join(names)
            raise BadReference(f"{function} must return arrays by name, of these: {wanted}")
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


def _compiled(launch: Launch, config: dict[str, Any]) -> dict[str, Any]:
    """What the code object says; compiled by Triton into its cache on disk."""
    try:
        kernel = launch.run(config, warmup=True)
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


def _compile_one(config: dict[str, Any]) -> dict[str, Any]:
    return _compiled(_shared["launch"], config)


def _compile_all(
    launch: Launch, space: list[dict[str, Any]], workers: int
) -> Iterator[dict[str, Any]]:
    """In forked processes, which compile and never touch the device."""
    _shared["launch"] = launch
    if workers < 2 or len(space) < 2:
        yield from map(_compile_one, space)
        return
    with multiprocessing.get_context("fork").Pool(workers) as pool:
        yield from pool.imap(_compile_one, space)


def _ruled_out(facts: dict[str, Any], limits: dict[str, int]) -> str | None:
    if "problem" in facts:
        return f"does not compile: {facts['problem']}"
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
