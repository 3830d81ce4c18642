"""The device library's mathematics beside AMD's: instructions, and errors against mpmath."""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mpmath as mp
import numpy as np

from rocm_perf_lab.device.toolchain import find_toolchain
from support.hip_build import REPOSITORY, hipcc
from support.math_table import FUNCTIONS, PAIRS, Function, inputs
from support.model_probe import build_probe, profile
from support.ulp import error_in_ulp

PAGE = REPOSITORY / "docs" / "device-math.md"
KINDS: tuple[tuple[str, str, type[np.floating[Any]]], ...] = (
    ("f32", "float", np.float32),
    ("f64", "double", np.float64),
)
# AMD's library has it under another name; ours would be compared with itself.
TABLE = tuple(f for f in (*FUNCTIONS, *PAIRS) if f.name != "normcdf")
# Beyond this the modelled time of a kernel full of it would mislead.
WORST_RATIO = 2.0


def program(functions: Sequence[Function]) -> str:
    """Reads arguments from one file and writes each function's values to another."""
    rows = "\n".join(
        f"  ROW({f.name}, {suffix}, {kind}, {'x[i], x[n - 1 - i]' if f in PAIRS else 'x[i]'})"
        for f in functions
        for suffix, kind in (("f32", "float"), ("f64", "double"))
    )
    return f"""
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>
#define ROW(NAME, SUFFIX, T, ...) \\
  __global__ void NAME##_##SUFFIX(const T* x, T* y, int n) {{ \\
    int i = blockIdx.x * blockDim.x + threadIdx.x; \\
    if (i < n) y[i] = __ocml_##NAME##_##SUFFIX(__VA_ARGS__); }}
{rows}
#undef ROW
template <typename T> void evaluate(FILE* in, FILE* out, void (*kernel)(const T*, T*, int)) {{
  int n = 0;
  if (fread(&n, 4, 1, in) != 1) return;
  std::vector<T> x(n);
  if (fread(x.data(), sizeof(T), n, in) != (size_t)n) return;
  T *dx, *dy;
  (void)hipMalloc(&dx, n * sizeof(T)); (void)hipMalloc(&dy, n * sizeof(T));
  (void)hipMemcpy(dx, x.data(), n * sizeof(T), hipMemcpyHostToDevice);
  kernel<<<(n + 63) / 64, 64>>>(dx, dy, n);
  (void)hipMemcpy(x.data(), dy, n * sizeof(T), hipMemcpyDeviceToHost);
  fwrite(x.data(), sizeof(T), n, out);
  (void)hipFree(dx); (void)hipFree(dy);
}}
int main(int, char** argv) {{
  FILE *in = fopen(argv[1], "rb"), *out = fopen(argv[2], "wb");
#define ROW(NAME, SUFFIX, T, ...) evaluate<T>(in, out, NAME##_##SUFFIX);
{rows}
  return fclose(out) || hipDeviceSynchronize() != hipSuccess;
}}
"""


@dataclass(frozen=True)
class Measured:
    """One function of one library."""

    static: int  # instructions of a kernel that calls it once a lane
    executed: float  # by a wave, on arguments of the test's ranges
    ulp: float


def measure(choice: str, folder: Path, count: int = 64) -> dict[tuple[str, str], Measured]:
    """Every function of the table, linked with the library that `choice` names."""
    folder.mkdir(parents=True, exist_ok=True)
    source, binary, text = folder / "math.cpp", folder / "math", folder / "math.s"
    source.write_text(program(TABLE))
    option = f"--rocm-perf-device-lib={choice}"
    hipcc("-O3", option, source, "-o", binary)
    hipcc("-O3", option, "--offload-device-only", "-S", source, "-o", text)
    static = instructions(text.read_text())
    blocks, asked = bytearray(), []
    for function in TABLE:
        for suffix, _, kind in KINDS:
            x = np.array(inputs(function, kind, count), dtype=kind)
            blocks += len(x).to_bytes(4, "little") + x.tobytes()
            asked.append((function, suffix, kind, x))
    (folder / "in").write_bytes(blocks)
    dispatches = profile(build_probe(folder), binary, str(folder / "in"), str(folder / "out"))
    executed = {d.kernel: d.instructions for d in dispatches}
    data, at, found = (folder / "out").read_bytes(), 0, {}
    for function, suffix, kind, x in asked:
        got = np.frombuffer(data, kind, len(x), at)
        at += got.nbytes
        name = next(k for k in static if f"{function.name}_{suffix}P" in k)
        waves = -(-len(x) // 64)
        found[function.name, suffix] = Measured(
            static[name], executed[name] / waves, _worst(function, kind, x, got)
        )
    return found


def _worst(function: Function, kind: Any, x: Any, got: Any) -> float:
    """The largest error among a third of the arguments: mpmath is slow."""
    worst = 0.0
    with mp.workdps(360 if function.wide == "any" else 40):
        for i in range(0, len(x), 3):
            other = (mp.mpf(float(x[len(x) - 1 - i])),) if function in PAIRS else ()
            want = function.reference(mp.mpf(float(x[i])), *other)
            if not isinstance(want, mp.mpc):
                worst = max(worst, error_in_ulp(float(got[i]), want, kind))
    return worst


def instructions(assembly: str) -> dict[str, int]:
    """Instructions of each kernel with the functions it calls."""
    counts: dict[str, int] = {}
    calls: dict[str, set[str]] = {}
    name = ""
    for line in assembly.splitlines():
        if match := re.match(r"([\w.$]+):", line):
            if not match[1].startswith(".L"):
                name = match[1]
                counts[name], calls[name] = 0, set()
        elif line.startswith(".Lfunc_end"):
            name = ""
        elif name and re.match(r"\t[a-z]\w+", line) and not line.startswith("\t."):
            counts[name] += 1
            if match := re.search(r"(\w+)@(?:rel32|gotpcrel32)@lo", line):
                calls[name].add(match[1])
    return {
        kernel: count + sum(counts.get(called, 0) for called in calls[kernel])
        for kernel, count in counts.items()
    }


HEAD = """# The device library's mathematics beside AMD's

Every function as a kernel that calls it once a lane, compiled for gfx942 with this project's device
library and with AMD's `ocml.bc` (`rocm-perf hipcc --rocm-perf-device-lib=amd`): instructions in the
code, instructions a wave executes on the arguments of `tests/support/math_table.py` (lanes differ,
so several branches run), and the largest error against mpmath in units in the last place.
Made by `PYTHONPATH=tests python -m support.device_math FOLDER NAME` with {compiler}
and the library of {library}.
`tests/integration/test_device_library.py` measures again where a library of AMD's is installed.

Executed instructions, ours over AMD's: median {median:.2f}, more than {limit:g} for {over}.

| function | type | code, ours | AMD's | executed, ours | AMD's | ratio | ulp, ours | AMD's |
|---|---|---|---|---|---|---|---|---|
"""


def slower(own: dict[tuple[str, str], Measured], amd: dict[tuple[str, str], Measured]) -> list[str]:
    """The functions of ours that cost more than twice AMD's."""
    return [" ".join(key) for key in own if own[key].executed > WORST_RATIO * amd[key].executed]


def page(
    own: dict[tuple[str, str], Measured], amd: dict[tuple[str, str], Measured], library: str
) -> str:
    ratios = {key: own[key].executed / amd[key].executed for key in own}
    slow = slower(own, amd)
    text = HEAD.format(
        compiler=re.sub(r"\(.*", "", find_toolchain().version).strip(),
        library=library,
        median=float(np.median(list(ratios.values()))),
        limit=WORST_RATIO,
        over=", ".join(sorted(slow)) or "none",
    )
    for (name, suffix), ratio in sorted(ratios.items(), key=lambda item: -item[1]):
        a, b = own[name, suffix], amd[name, suffix]
        text += (
            f"| {name} | {suffix} | {a.static} | {b.static} | {a.executed:.0f} | {b.executed:.0f} "
            f"| {ratio:.2f} | {a.ulp:.2f} | {b.ulp:.2f} |\n"
        )
    return text


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python -m support.device_math FOLDER-OF-OCML.BC NAME-OF-ITS-PACKAGE")
    with tempfile.TemporaryDirectory() as work:
        theirs = measure(sys.argv[1], Path(work) / "amd")
        ours = measure("own", Path(work) / "own")
        PAGE.write_text(page(ours, theirs, sys.argv[2]), "utf-8")
