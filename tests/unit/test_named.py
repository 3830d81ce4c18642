"""Numbers that code names, and how they get into inputs."""

from __future__ import annotations

import numpy as np
import pytest

from rocm_perf_lab.optimize import draws
from rocm_perf_lab.optimize.named import MOST_FLOATS, MOST_INTEGERS, Named, of_texts
from rocm_perf_lab.replay.compare import TYPES, Bytes, ElementType, values


def test_a_comparison_names_its_constant_and_those_beside_it() -> None:
    found = of_texts(["v_cmp_gt_i32_e32 vcc, 0x12fd1, v3"])
    assert {77776, 77777, 77778} <= set(found.integers)


def test_a_range_that_is_shifted_names_its_ends() -> None:
    """`c >= 'A' && c <= 'Z'` is `c - 65 < 26`."""
    shift = "v_add_u32_e32 v1, 0xffffffbf, v0"
    found = of_texts([shift, "v_cmp_gt_u32_e32 vcc, 26, v1"])
    assert {64, 65, 90, 91} <= set(found.integers)
    kept = of_texts(["s_mov_b32 s9, 0x18137", shift, "v_cmp_gt_u32_e32 vcc, s9, v1"])
    assert {65, 65 + 0x18137, 64 + 0x18137} <= set(kept.integers)


def test_a_mask_and_a_bit_are_named() -> None:
    found = of_texts(["v_and_b32_e32 v1, 0x3f0, v0", "s_bitcmp1_b32 s4, 9"])
    assert {0x3F0, 512} <= set(found.integers)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("v_cmp_lt_f32_e32 vcc, 0x40490fdb, v0", 3.1415927410125732),
        ("v_cmp_eq_f32_e64 s[0:1], |v0|, 0.5", 0.5),
        ("v_cmp_lt_f64_e32 vcc, 0x40590000, v[0:1]", 100.0),
        ("v_mov_b32_e32 v0, 0x477fe000", 65504.0),
    ],
)
def test_floating_point_is_read_by_its_type(text: str, value: float) -> None:
    assert {value, -value} <= set(of_texts([text]).floats)


def test_addresses_offsets_waits_and_jumps_name_nothing() -> None:
    texts = [
        "s_waitcnt vmcnt(0)", "s_load_dwordx2 s[0:1], s[4:5], 0x10", "s_cbranch_scc0 12",
        "global_load_dword v1, v0, s[0:1] offset:128", "v_lshlrev_b32_e32 v0, 2, v0",
    ]  # fmt: skip
    assert not of_texts(texts)


def test_what_another_code_names_is_left_out() -> None:
    one = of_texts(["v_cmp_eq_u32_e32 vcc, 0x100, v0"])
    both = of_texts(["v_cmp_eq_u32_e32 vcc, 0x100, v0", "v_cmp_eq_u32_e32 vcc, 0x200, v0"])
    assert set(both.without(one).integers) == {511, 512, 513}
    assert not one.without(both)


def test_there_is_an_end_to_it() -> None:
    found = of_texts(
        f"v_{op}_{kind} v0, {n:#x}, v0"
        for n in range(100, 1000)
        for op, kind in (("cmp_eq", "u32"), ("add", "u32"), ("mul", "f32"))
    )
    assert len(found.integers) == MOST_INTEGERS
    assert len(found.floats) == MOST_FLOATS


@pytest.mark.parametrize("name", ["u8", "i8", "u16", "i32", "u32", "i64", "u64"])
def test_half_of_a_column_that_may_be_anything_is_what_the_code_names(name: str) -> None:
    kind, wanted = TYPES[name], (65, 90, 26)
    captured = np.arange(4096, dtype=kind.numpy).view(np.uint8)
    new = _drawn(captured, kind, "any", wanted)
    assert 0.35 < np.isin(new, wanted).mean() < 0.6
    between = (np.array(new) > 26) & (np.array(new) < 90)
    assert between.mean() > 0.05


def test_a_column_that_must_stay_within_bounds_does() -> None:
    captured = np.array([3, 9, 5], dtype="<i4").repeat(200).view(np.uint8)
    assert set(_drawn(captured, TYPES["i32"], "drawn", (4, 8, 77, -5))) <= set(range(3, 10))
    kept = draws.with_named(
        np.random.default_rng(0), captured, captured, "kept", TYPES["i32"], (4, 8)
    )
    assert kept is captured


def test_numbers_next_to_named_ones_are_there_too() -> None:
    kind = TYPES["f32"]
    new = np.zeros(4096, dtype="<f4").view(np.uint8)
    found = values(draws.with_named_floats(np.random.default_rng(1), new, kind, (3.5,)), kind)
    step = np.float32(3.5) * np.float32(draws.STEP["f32"])
    assert {0.0, 3.5, float(3.5 - step), float(3.5 + step)} >= {float(v) for v in found} > {3.5}


def test_nothing_named_is_nothing() -> None:
    assert not Named()


def _drawn(
    captured: Bytes, kind: ElementType, mode: draws.Mode, named: tuple[int, ...]
) -> list[float]:
    rng = np.random.default_rng(7)
    new = draws.drawn_integers(rng, captured, mode, kind, False)
    found: list[float] = values(
        draws.with_named(rng, new, captured, mode, kind, named), kind
    ).tolist()
    return found
