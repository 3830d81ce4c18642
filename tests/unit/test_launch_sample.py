"""The launches that are compared cover every feature of those that were seen."""

from __future__ import annotations

import itertools
import struct

from hypothesis import given
from hypothesis import strategies as st

from rocm_perf_lab.codeobject.kernels import Argument, Kernel
from rocm_perf_lab.optimize.launches import MOST, Feature, choose, features, short, uncovered
from rocm_perf_lab.replay.launches import Launch, parse

ARGUMENTS = (
    Argument("", "global_buffer", "", 0, 8),
    Argument("", "by_value", "", 8, 24),  # a structure with a pointer in its middle
    Argument("", "by_value", "", 32, 4),
    Argument("", "hidden_block_count_x", "", 36, 4),
)
KERNEL = Kernel("k", "gfx942", 8, 0, 8, 0, 0, 0, 0, 40, 1024, 64, ARGUMENTS, 0, b"")

SETS = st.lists(
    st.frozensets(
        st.tuples(st.sampled_from(["grid", "block"]), st.just("k"), st.integers(0, 6)), max_size=3
    ),
    min_size=1,
    max_size=30,
)


@given(SETS)
def test_everything_is_covered_where_there_is_room(seen: list[frozenset[Feature]]) -> None:
    chosen = choose(seen, [0], most=100)
    assert uncovered(seen, [seen[at] for at in [0, *chosen]]) == []
    assert len({0, *chosen}) == 1 + len(chosen)


@given(SETS, st.integers(1, 5))
def test_no_more_than_asked_for_and_the_rest_is_said(
    seen: list[frozenset[Feature]], most: int
) -> None:
    chosen = choose(seen, [0], most)
    assert 1 + len(chosen) <= most or not chosen
    known = frozenset().union(*(seen[at] for at in [0, *chosen]))
    assert bool(uncovered(seen, [known])) == bool(frozenset().union(*seen) - known)


def test_a_long_row_is_spread_over() -> None:
    """A step number that is different each time: first, last and between."""
    seen = [frozenset({("scalars", "k", i)}) for i in range(1000)]
    chosen = sorted([0, *choose(seen, [0])])
    assert len(chosen) == MOST
    assert chosen[-1] == 999
    assert max(b - a for a, b in itertools.pairwise(chosen)) < 150
    assert uncovered(seen, [seen[at] for at in chosen]) == ["984 of 1000 combinations of scalars"]


def launch(pointer: int, inside: int, scalar: int, **more: tuple[int, int]) -> Launch:
    data = struct.pack("<QQQQii", pointer, 5, inside, 6, scalar, 99)
    where = {0: (0x1000, 0x1000), 16: (0x1000, 0x1000)}
    return Launch("k", 0, 1, (64, 1, 1), (64, 1, 1), 0, data, more.get("where", where))  # type: ignore[arg-type]


def test_scalars_alignment_and_sharing_are_features_and_addresses_are_not() -> None:
    one = features(launch(0x1000, 0x1100, 7), KERNEL)
    assert one == features(launch(0x1200, 0x1300, 7), KERNEL)
    assert one != features(launch(0x1000, 0x1100, 8), KERNEL)  # a scalar
    assert one != features(launch(0x1004, 0x1100, 7), KERNEL)  # alignment
    assert one != features(launch(0x1100, 0x1000, 7), KERNEL)  # which comes first
    assert one != features(launch(0x1100, 0x1100, 7), KERNEL)  # the very same


def test_the_record_is_read_as_it_is_written() -> None:
    name = b"_Z1kv".hex()
    rows = [
        f"launch 12 3 {name} 128 1 1 64 1 1 2048 00100000 0:4096:512".split(),
        f"launch 12 4 {name} 64 1 1 64 1 1 0 ?".split(),
        ["more"],
    ]
    found = parse(rows)
    assert not found.complete
    first, second = found.all
    assert (first.symbol, first.index, first.group_bytes) == ("_Z1kv", 3, 2048)
    assert first.allocations == {0: (4096, 512)}
    assert second.kernarg is None


def test_a_name_is_short_enough_to_be_read() -> None:
    assert short("_Z5blendILi2EEvPKfPfiif") == "blend<2>"
    assert short("plain") == "plain"
