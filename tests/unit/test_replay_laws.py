"""Laws of replay's parts: pages, pointers into code, comparison by type, arguments, targets."""

from __future__ import annotations

import itertools
import re
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm_perf_lab.replay import address_space
from rocm_perf_lab.replay.address_space import PAGE, Holding, Span, spans, too_many
from rocm_perf_lab.replay.arguments import signature_types
from rocm_perf_lab.replay.builds import same_isa
from rocm_perf_lab.replay.compare import TYPES, compare, element_type
from rocm_perf_lab.replay.parts import guards, merge
from rocm_perf_lab.replay.pointers import Move, Moves

ranges = st.lists(st.tuples(st.integers(0, 1 << 20), st.integers(1, 3 * PAGE)), max_size=20)


@given(ranges)
def test_spans_are_whole_pages_that_hold_every_range_and_never_share_one(
    given_ranges: list[tuple[int, int]],
) -> None:
    found = spans(given_ranges)
    for base, size in given_ranges:
        assert any(span.base <= base and base + size <= span.end for span in found)
    for span in found:
        assert span.base % PAGE == span.size % PAGE == 0
    for one, two in itertools.pairwise(found):
        assert one.end <= two.base
    pages = {p for b, s in given_ranges for p in range(b // PAGE, (b + s - 1) // PAGE + 1)}
    assert sum(span.size for span in found) == len(pages) * PAGE


@given(ranges, st.integers(1, 6), st.integers(0, 40 * PAGE))
def test_of_too_many_spans_the_nearest_are_joined(
    given_ranges: list[tuple[int, int]], most: int, joined: int
) -> None:
    apart = spans(given_ranges)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(address_space, "MOST_SPANS", most)
        patch.setattr(address_space, "MOST_JOINED_BYTES", joined)
        found, refused = spans(given_ranges), too_many(given_ranges)
    gaps = sum(span.size for span in found) - sum(span.size for span in apart)
    assert gaps <= joined
    for span in apart:
        assert sum(whole.base <= span.base and span.end <= whole.end for whole in found) == 1
    if len(apart) <= most:
        assert found == apart
    assert (refused is None) == (len(found) <= most)
    if refused is None and len(apart) > most:
        assert len(found) == most
    # What is between the ranges is watched, all of it and once.
    around = [(part.address, part.size) for part in guards(found, sorted(given_ranges))]
    apart_ranges = all(a + n <= b for (a, n), (b, _) in itertools.pairwise(sorted(given_ranges)))
    if apart_ranges:
        sizes = sum(size for _, size in [*around, *given_ranges])
        assert sizes == sum(span.size for span in found)


def test_a_held_page_cannot_be_held_again_until_it_is_released() -> None:
    holding, span = Holding(), Span(0x7E55_0000_0000, 2 * PAGE)
    assert holding.hold(span)
    assert not Holding().hold(span)
    holding.release_all()
    assert Holding().hold(span)


@given(st.lists(st.tuples(st.integers(0, 300), st.integers(0, 300))))
def test_merged_intervals_cover_the_same_bytes_once(pairs: list[tuple[int, int]]) -> None:
    merged = merge(pair for pair in pairs if pair[0] < pair[1])
    wanted = {byte for low, high in pairs for byte in range(low, high)}
    assert {byte for low, high in merged for byte in range(low, high)} == wanted
    assert sum(high - low for low, high in merged) == len(wanted)


LOW, HIGH = 0x7F00_0000_0000, 0x7F00_0000_2000


@given(
    st.lists(
        st.one_of(
            st.sampled_from([LOW - 1, LOW, HIGH - 1, HIGH]),
            st.integers(LOW - 16, HIGH + 16),
            st.integers(0, (1 << 64) - 1),
        )
    ),
    st.integers(-(1 << 40), 1 << 40),
    st.integers(0, 7),
)
def test_exactly_the_aligned_words_that_point_into_an_image_move(
    words: list[int], shift: int, address: int
) -> None:
    head = bytes(-address % 8)
    data = np.frombuffer(head + struct.pack(f"<{len(words)}Q", *words), dtype=np.uint8).copy()
    moved = Moves([Move(LOW, HIGH, shift)]).translate(address, data)
    expected = [(w + shift) % (1 << 64) if LOW <= w < HIGH else w for w in words]
    assert data[len(head) :].tobytes() == struct.pack(f"<{len(words)}Q", *expected)
    assert moved == sum(LOW <= w < HIGH for w in words)


@given(st.lists(st.floats(width=32), min_size=1), st.data())
def test_floats_agree_by_the_stated_rule(values: list[float], data: st.DataObject) -> None:
    others = data.draw(st.lists(st.floats(width=32), min_size=len(values), max_size=len(values)))
    tolerance = data.draw(st.sampled_from([0.0, 1e-3, 1.0]))
    left, right = (np.array(v, dtype="<f4") for v in (values, others))
    found = compare(left.view(np.uint8), right.view(np.uint8), TYPES["f32"], tolerance)
    beyond = 0
    with np.errstate(all="ignore"):
        for a, b in zip(left.astype(float), right.astype(float), strict=True):
            close = abs(b - a) <= tolerance * max(1.0, abs(a))
            beyond += not (close or a == b or (np.isnan(a) and np.isnan(b)))
    assert found.beyond == beyond
    assert (found.differing == 0) == (left.tobytes() == right.tobytes())


def test_integers_must_be_identical_whatever_the_tolerance() -> None:
    left, right = (np.array(v, dtype="<i4").view(np.uint8) for v in ([1, 2, 3], [1, 2, 4]))
    found = compare(left, right, TYPES["i32"], tolerance=10.0)
    assert (found.differing, found.beyond) == (1, 1)
    assert (found.first[0].index, found.first[0].expected, found.first[0].got) == (2, 3, 4)


def test_bfloat16_is_the_upper_half_of_a_float() -> None:
    left, right = (np.array(v, dtype="<u2").view(np.uint8) for v in ([0x3F80], [0x4000]))
    first = compare(left, right, TYPES["bf16"], 0.0).first[0]
    assert (first.expected, first.got) == (1.0, 2.0)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("float*", "f32"), ("double const*", "f64"), ("const int *__restrict__", "i32"),
        ("HIP_vector_type<float, 4u>*", "f32"), ("float4", "f32"), ("unsigned long", "u64"),
        ("__hip_bfloat16*", "bf16"), ("_Float16 const*", "f16"), ("uint8_t*", "u8"),
        ("f32", "f32"), ("Node*", None), ("", None), (None, None),
    ],
)  # fmt: skip
def test_types_by_any_name(text: str | None, name: str | None) -> None:
    found = element_type(text)
    assert (found.name if found else None) == name


@pytest.mark.parametrize(
    ("demangled", "types"),
    [
        ("saxpy(float, float const*, float*, int)", ["float", "float const*", "float*", "int"]),
        ("void k<float, 4u>(HIP_vector_type<float, 4u>*, int)",
         ["HIP_vector_type<float, 4u>*", "int"]),
        ("void k<(anonymous namespace)::Op<int>>(int (*)(int, float), Op<(a)1>)",
         ["int (*)(int, float)", "Op<(a)1>"]),
        ("k()", []), ("k", []), ("void f(int) [clone .kd]", ["int"]),
    ],
)  # fmt: skip
def test_a_signature_gives_the_types_of_its_parameters(demangled: str, types: list[str]) -> None:
    assert signature_types(demangled) == types


@given(st.text(alphabet="()<>[]{},-. ab*", max_size=60))
def test_any_name_has_some_types_or_none(demangled: str) -> None:
    """Types stand in the name one after the other, with a comma between each two."""
    assert re.search(" *, *".join(map(re.escape, signature_types(demangled))), demangled)


@pytest.mark.parametrize(
    ("built_for", "device", "runs"),
    [
        ("gfx942", "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-", True),
        ("amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-", "gfx942", True),
        ("gfx942:xnack+", "gfx942:sramecc+:xnack-", False),
        ("gfx9-4-generic", "gfx942", True),
        ("gfx90a", "gfx942", False),
        ("", "gfx942", False),
    ],
)
def test_code_runs_on_its_own_isa_however_it_is_spelt(
    built_for: str, device: str, runs: bool
) -> None:
    assert same_isa(built_for, device) is runs
