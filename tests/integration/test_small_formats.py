"""The conversions of half, bfloat16, fp8, fp6 and fp4, for every value, against ml_dtypes."""

from __future__ import annotations

import numpy as np
import pytest

from support.hip_build import REPOSITORY, hipcc, need_virtual_gpu, run

COLUMNS = ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz")
TINY = ("float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn")
VALUES = 1 << 17


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    need_virtual_gpu()
    pytest.importorskip("ml_dtypes")
    folder = tmp_path_factory.mktemp("formats")
    source = REPOSITORY / "tests" / "integration" / "programs" / "small_formats.cpp"
    hipcc("-O2", source, "-o", folder / "formats")
    done = run(folder / "formats", str(folder / "out"))
    assert done.returncode == 0, done.stderr
    return (folder / "out").read_bytes()


def given() -> np.ndarray:
    patterns = np.arange(1 << 16, dtype=np.uint32)
    halves = patterns.astype(np.uint16).view(np.float16).astype(np.float32)
    return np.concatenate([halves, (patterns << 16).view(np.float32)])


def encoded(dump: bytes) -> list[np.ndarray]:
    count = VALUES * 13
    return [
        np.frombuffer(dump, np.uint16, count, side * count * 2).reshape(VALUES, 13)
        for side in (0, 1)
    ]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_all_values_to_eight_bits(dump: bytes) -> None:
    import ml_dtypes

    floats = given()
    finite = np.isfinite(floats)
    for got in encoded(dump):
        for column, name in enumerate(COLUMNS):
            kind = np.dtype(getattr(ml_dtypes, name))
            largest = float(ml_dtypes.finfo(kind).max)
            want = floats.astype(kind)
            saturated, plain = (got[:, c].astype(np.uint8) for c in (column, 4 + column))
            nan = np.isnan(plain.view(kind).astype(np.float32))
            want_nan = np.isnan(want.astype(np.float32))
            # Without saturation: ml_dtypes' own, NaN for NaN.
            assert np.array_equal(nan, want_nan), name
            assert np.array_equal(plain[~nan], want.view(np.uint8)[~nan]), name
            # With it: the same below the largest value, and that above it.
            values = saturated.view(kind).astype(np.float32)
            inside = np.isfinite(want.astype(np.float32)) & finite
            assert np.array_equal(saturated[inside], plain[inside]), name
            above = ~inside & ~np.isnan(floats)
            assert np.array_equal(values[above], np.copysign(largest, floats[above])), name
            assert np.isnan(values[np.isnan(floats)]).all(), name


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_all_values_to_six_and_four_bits(dump: bytes) -> None:
    import ml_dtypes

    numbers = ~np.isnan(given())
    floats = given()[numbers]
    for got in encoded(dump):
        for column, name in enumerate(TINY, 8):
            want = floats.astype(getattr(ml_dtypes, name)).view(np.uint8)
            assert np.array_equal(got[numbers, column], want), name


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_all_values_to_sixteen_bits(dump: bytes) -> None:
    import ml_dtypes

    floats = given()
    nan = np.isnan(floats)
    with np.errstate(over="ignore"):
        half = floats.astype(np.float16).view(np.uint16)
    brain = floats.astype(ml_dtypes.bfloat16).view(np.uint16)
    for got in encoded(dump):
        assert np.array_equal(got[~nan, 11], half[~nan])
        assert np.array_equal(got[~nan, 12], brain[~nan])
        assert np.isnan(got[nan, 11].view(np.float16)).all()
        assert np.isnan(got[nan, 12].view(ml_dtypes.bfloat16).astype(np.float32)).all()


def test_all_bytes_to_float_half_and_bfloat16(dump: bytes) -> None:
    import ml_dtypes

    start = VALUES * 13 * 2 * 2
    codes = np.arange(256, dtype=np.uint8)
    for side in (0, 1):
        got = np.frombuffer(dump, np.float32, 256 * 7, start + side * 256 * 7 * 4).reshape(256, 7)
        for column, (name, mask) in enumerate(
            [*((name, 255) for name in COLUMNS), (TINY[0], 63), (TINY[1], 63), (TINY[2], 15)]
        ):
            want = (codes & mask).view(getattr(ml_dtypes, name)).astype(np.float32)
            np.testing.assert_array_equal(got[:, column], want, name)
            numbers = ~np.isnan(want)
            signs = np.signbit(got[numbers, column]), np.signbit(want[numbers])
            assert np.array_equal(*signs), name
