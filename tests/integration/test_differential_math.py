"""The device library's mathematics: right on the host by mpmath, the same bits on the device."""

from __future__ import annotations

import ctypes
import math
import subprocess
from pathlib import Path
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from rocm_perf_lab.device.toolchain import find_toolchain, virtual_dir
from support.device_math import program
from support.hip_build import build, need_compiler, need_virtual_gpu, run
from support.math_table import FUNCTIONS, Function, inputs
from support.ulp import worst

KINDS: tuple[tuple[str, type[np.floating[Any]], Any], ...] = (
    ("f32", np.float32, ctypes.c_float),
    ("f64", np.float64, ctypes.c_double),
)
# Instructions of the GPU take part: close, not equal.
HARDWARE = {
    *((name, "f32") for name in "rsqrt exp exp2 exp10 log log2 log10 erf erfinv atan tanh".split()),
    *((name, suffix) for name in ("cbrt", "rcbrt") for suffix in ("f32", "f64")),
    ("rsqrt", "f64"),
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The device library's sources, compiled for the host."""
    need_compiler()
    toolchain = find_toolchain()
    folder = tmp_path_factory.mktemp("library")
    source, made = folder / "math.cpp", folder / "libmath.so"
    parts = ("rounding.h", "math_export.h")
    base = virtual_dir() / "devicelib"
    source.write_text("".join(f'#include "{base / part}"\n' for part in parts))
    flags = ["-O2", "-mfma", "-std=c++17", "-ffp-contract=off", "-fno-math-errno", "-fPIC", "-c"]
    made_object = folder / "math.o"
    subprocess.run(
        [*toolchain.clang, *toolchain.host_flags, "-x", "c++", *flags, source, "-o", made_object],
        check=True,
    )
    subprocess.run(
        [*toolchain.link, "-shared", str(made_object), "-o", str(made), "-lm"], check=True
    )
    return ctypes.CDLL(str(made))


def entry(library: ctypes.CDLL, name: str, suffix: str, kind: Any, count: int = 1) -> Any:
    function = getattr(library, f"__ocml_{name}_{suffix}")
    function.restype, function.argtypes = kind, [kind] * count
    return function


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.name)
def test_error_against_mpmath(library: ctypes.CDLL, function: Function) -> None:
    for suffix, kind, c in KINDS:
        compiled = entry(library, function.name, suffix, c)
        # An argument of 1e300 needs its digits before the reduction.
        digits = 40 if function.wide != "any" else 360
        error, where = worst(compiled, function.reference, inputs(function, kind, 40), kind, digits)
        allowed = function.ulp32 if kind is np.float32 else function.ulp64
        assert error <= allowed, f"{function.name} {suffix}({where!r}): {error:.2f} ulp"


@pytest.mark.parametrize("suffix", ["f32", "f64"])
def test_special_values(library: ctypes.CDLL, suffix: str) -> None:
    c = ctypes.c_float if suffix == "f32" else ctypes.c_double
    power = entry(library, "pow", suffix, c, 2)
    inf, nan = math.inf, math.nan
    for x, y, want in [
        (0.0, 0.0, 1.0), (nan, 0.0, 1.0), (1.0, nan, 1.0), (-1.0, inf, 1.0), (-2.0, 3.0, -8.0),
        (-2.0, -3.0, -0.125), (0.0, -1.0, inf), (-0.0, -1.0, -inf), (-0.0, -2.0, inf),
        (0.5, inf, 0.0), (2.0, inf, inf), (-inf, 3.0, -inf), (inf, -1.0, 0.0), (10.0, 400.0, inf),
    ]:  # fmt: skip
        assert power(x, y) == want, (x, y)
    assert math.isnan(power(-2.0, 0.5))
    arc = entry(library, "atan2", suffix, c, 2)
    assert math.copysign(1, arc(-0.0, 1.0)) == -1
    assert arc(0.0, -1.0) == pytest.approx(math.pi) and arc(-0.0, -1.0) == pytest.approx(-math.pi)
    for name, x, expected in [
        ("log", 0.0, -inf), ("exp", -inf, 0.0), ("exp", inf, inf), ("cbrt", -27.0, -3.0),
        ("tanh", inf, 1.0), ("erfc", -inf, 2.0), ("tgamma", 5.0, 24.0), ("lgamma", 1.0, 0.0),
        ("sinpi", 3.0, 0.0), ("cospi", 0.5, 0.0), ("atanh", 1.0, inf), ("log1p", -1.0, -inf),
    ]:  # fmt: skip
        assert entry(library, name, suffix, c)(x) == expected, name
    for name, x in [("log", -1.0), ("asin", 1.5), ("acosh", 0.5), ("sin", inf), ("tgamma", -2.0)]:
        assert math.isnan(entry(library, name, suffix, c)(x)), name


@pytest.mark.parametrize(("suffix", "kind", "c"), KINDS)
def test_arguments_next_to_a_multiple_of_half_pi(
    library: ctypes.CDLL, suffix: str, kind: type[np.floating[Any]], c: Any
) -> None:
    # The nearest of all: doubles come within 2^-61 of one, floats within 2^-30.
    hard = [6381956970095103 * 2.0**797] if suffix == "f64" else [float.fromhex("0x1.f37c8ap97")]
    near = [float(kind(n * math.pi / 2)) for n in (*range(1, 40), 1000, 54321, 80000, 123456)]
    for name, reference in (("sin", mp.sin), ("cos", mp.cos), ("tan", mp.tan)):
        compiled = entry(library, name, suffix, c)
        error, where = worst(compiled, reference, [*hard, *near], kind, 360)
        assert error <= 1, f"{name} {suffix}({where!r}): {error:.2f} ulp"
    for name in ("sin", "tan", "sinpi", "tanh"):
        assert math.copysign(1, entry(library, name, suffix, c)(-0.0)) == -1, name


@pytest.mark.parametrize("suffix", ["f32", "f64"])
def test_remainders_are_exact(library: ctypes.CDLL, suffix: str) -> None:
    kind = np.float32 if suffix == "f32" else np.float64
    c = ctypes.c_float if suffix == "f32" else ctypes.c_double
    fmod, remainder = (entry(library, n, suffix, c, 2) for n in ("fmod", "remainder"))
    random = np.random.default_rng(3)
    top = 60 if suffix == "f32" else 500
    for x, y in zip(*(2.0 ** random.uniform(-top, top, (2, 200))), strict=True):
        a, b = float(kind(x)), -float(kind(y))
        assert fmod(a, b) == math.fmod(a, b)
        assert remainder(a, b) == math.remainder(a, b)


def test_device_gives_the_host_librarys_bits(library: ctypes.CDLL, tmp_path: Path) -> None:
    need_virtual_gpu()
    binary = build(tmp_path, program(FUNCTIONS))
    blocks, wanted = bytearray(), []
    for function in FUNCTIONS:
        for suffix, kind, c in KINDS:
            special = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 1e-40, 1e38]
            x = np.array([*inputs(function, kind, 60), *special], dtype=kind)
            blocks += len(x).to_bytes(4, "little") + x.tobytes()
            compiled = entry(library, function.name, suffix, c)
            values = np.array([compiled(float(v)) for v in x], dtype=kind)
            wanted.append((function.name, suffix, x, values))
    (tmp_path / "in").write_bytes(blocks)
    done = run(binary, str(tmp_path / "in"), str(tmp_path / "out"))
    assert done.returncode == 0, done.stdout + done.stderr
    data, at = (tmp_path / "out").read_bytes(), 0
    for name, suffix, x, values in wanted:
        got = np.frombuffer(data, values.dtype, len(values), at)
        at += values.nbytes
        if (name, suffix) in HARDWARE:
            finite = np.isfinite(values) & (np.abs(values) > 1e-37)
            assert np.allclose(got[finite], values[finite], rtol=np.finfo(values.dtype).eps * 2)
            continue
        same = (got == values) | (np.isnan(got) & np.isnan(values))
        assert same.all(), (
            f"{name} {suffix}: {x[~same][:3]} gave {got[~same][:3]}, not {values[~same][:3]}"
        )
