"""What a wait waits for: recorded by the profiler, or counted from the wait's operands."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm_perf_lab.analyze.thread_trace import summarize
from rocm_perf_lab.analyze.thread_trace.chains import dependent_share
from rocm_perf_lab.analyze.thread_trace.waits import Effect, align, effect, infer
from rocm_perf_lab.trace.att_writer import Content
from support.att import code, wave, written


def dependencies(gfxip: int, *isa: str) -> dict[int, set[int]]:
    """Line -> lines waited for, for straight-line code numbered from 0; empty ones left out."""
    stream = [(n, does) for n, text in enumerate(isa) if (does := effect(text, gfxip)) is not None]
    waits = [line for line, does in stream if not does.raises]
    return {n: set(d) for n, d in zip(waits, infer(stream), strict=True) if d}


class TestCounting:
    """Cases and answers of AMD's own test (rocprofiler-sdk, att_decoder_waitcnt_test)."""

    def test_gfx9(self) -> None:
        assert dependencies(
            9,
            "s_nop 0",
            "v_add_ 0",
            "s_waitcnt vmcnt(0) lgkmcnt(0)",
            "s_add_ 0",
            "global_load_",  # 4
            "buffer_store_",
            "scratch_load_",
            "s_waitcnt lkgmcnt(0)",  # no counter of that name
            "s_waitcnt vmcnt(2)",
            "s_waitcnt vmcnt(1)",
            "s_load_",  # 10
            "s_store_",
            "s_sendmsg ",
            "s_waitcnt vmcnt(0) lgkmcnt(0)",
            "ds_load_",
            "ds_store_",
            "ds_load_",
            "s_waitcnt lgkmcnt(2)",
            "s_waitcnt lgkmcnt(1)",
            "flat_load_",
            "s_waitcnt vmcnt(  0) lgkmcnt(0x0)",  # 20
        ) == {8: {4}, 9: {5}, 13: {6, 10, 11, 12}, 17: {14}, 18: {15}, 20: {16, 19}}

    def test_gfx10(self) -> None:
        assert dependencies(
            10,
            "buffer_load_",
            "global_load_",
            "v_add_ 0",
            "s_add_ 0",
            "buffer_store_",
            "s_waitcnt vmcnt(1)",
            "scratch_load_",
            "scratch_store_",
            "s_wait_alu ",
            "s_waitcnt vmcnt 0x2",
            "s_waitcnt vmcnt(1)",  # 10
            "s_waitcnt vscnt(1)",
            "s_waitcnt vmcnt(0)",
            "s_waitcnt vscnt(0)",
            "s_load",
            "s_store",
            "s_waitcnt lgkmcnt 0",
            "s_sendmsg",
            "s_sendmsg_rtn",
            "s_waitcnt lgkmcnt 0x2",
            "flat_load_",  # 20
            "flat_store_",
            "s_waitcnt vmcnt(0) lgkmcnt(0) vscnt(0)",
            "ds_load",
            "ds_store",
            "s_waitcnt lgkmcnt 0x1",
            "s_waitcnt lgkmcnt 0",
        ) == {
            5: {0},
            10: {1},
            11: {4},
            12: {6},
            13: {7},
            16: {14, 15},
            19: {17},
            22: {18, 20, 21},
            25: {23},
            26: {24},
        }

    def test_gfx12(self) -> None:
        assert dependencies(
            12,
            "s_wait_alu ",
            "s_waitcnt samplecnt(0)",
            "s_sendmsg ",
            "s_sendmsg ",
            "s_sendmsg_rtn",
            "s_sendmsg_rtn",
            "s_waitcnt kmcnt(4)",
            "s_waitcnt kmcnt(2)",
            "s_waitcnt kmcnt(0)",
            "s_load_",
            "s_store_",  # 10
            "s_sendmsg ",
            "s_waitcnt kmcnt(0)",
            "flat_load_",
            "flat_store_",
            "global_load_",
            "ds_load",
            "s_waitcnt bvhcnt(0) expcnt(0) kmcnt(0) kmcnt(0) loadcnt(0) storecnt(0) "
            "samplecnt(0) dscnt(0)",
            "global_load",
            "buffer_load",
            "global_store",  # 20
            "global_wb",
            "buffer_store",
            "scratch_load",
            "scratch_store",
            "s_waitcnt loadcnt(2)",
            "s_waitcnt storecnt(2)",
            "s_waitcnt storecnt(0) loadcnt(0)",
        ) == {
            6: {2, 3},
            7: {4},
            8: {5},
            12: {9, 10, 11},
            17: {13, 14, 15, 16},
            25: {18},
            26: {20, 21},
            27: {19, 22, 23, 24},
        }

    def test_gfx12_counters_apart(self) -> None:
        assert dependencies(
            12,
            "ds_store",
            "_bvh_",
            "_bvh_",
            "ds_param_load",
            "ds_direct",
            "ds_load",
            "s_waitcnt dscnt(1)",
            "s_waitcnt expcnt(0) bvhcnt(0)",
            "s_waitcnt dscnt(0)",
            "ds_store",
            "global_load",  # 10
            "s_wait_idle",
        ) == {6: {0}, 7: {1, 2, 3, 4}, 8: {5}, 11: {9, 10}}


@pytest.mark.parametrize(
    ("gfxip", "isa", "expected"),
    [
        (9, "s_waitcnt vmcnt(3) lgkmcnt(1)", {"vmcnt": 3, "lgkmcnt": 1}),
        (9, "s_waitcnt vmcnt(0) & lgkmcnt(0)", {"vmcnt": 0, "lgkmcnt": 0}),
        (9, "s_waitcnt 0", {"vmcnt": 0, "lgkmcnt": 0, "expcnt": 0}),
        (9, "s_waitcnt 0xc07f", {"vmcnt": 63, "lgkmcnt": 0, "expcnt": 7}),
        (11, "s_waitcnt 0xfc07", {"vmcnt": 63, "lgkmcnt": 0, "expcnt": 7}),
        (10, "s_waitcnt_vscnt null, 0x1", {"vscnt": 1}),
        (12, "s_wait_loadcnt 0x2", {"loadcnt": 2}),
        (12, "s_wait_loadcnt_dscnt 0x103", {"loadcnt": 1, "dscnt": 3}),
        (
            12,
            "s_wait_idle",
            dict.fromkeys(
                ("loadcnt", "storecnt", "samplecnt", "bvhcnt", "dscnt", "kmcnt", "expcnt"), 0
            ),
        ),
        (9, "s_waitcnt", {}),
    ],
)
def test_operands_of_a_wait(gfxip: int, isa: str, expected: dict[str, int]) -> None:
    found = effect(isa, gfxip)
    assert found is not None
    assert dict(found.waits) == expected


def test_an_unordered_counter_tells_only_at_zero() -> None:
    assert dependencies(
        9, "s_load_dword s0", "ds_read_b32 v0", "s_waitcnt lgkmcnt(1)", "s_waitcnt lgkmcnt(0)"
    ) == {3: {0, 1}}


LOAD = Effect(raises=("vmcnt",))
READ = Effect(raises=("lgkmcnt",))
WAIT = Effect(waits=(("vmcnt", 0),))


def test_recorded_entries_go_to_the_waits_at_which_they_were_outstanding() -> None:
    # The first wait of line 2 found nothing, so the only entry belongs to the second.
    stream = [(2, WAIT), (1, LOAD), (2, WAIT), (2, WAIT)]
    assert align(stream, [(2, (1,))], [(), (), ()]) == [(), (1,), ()]


def test_entries_that_fit_nowhere_are_taken_in_order() -> None:
    assert align([(2, WAIT), (2, WAIT)], [(2, (9,))], [(), ()]) == [(9,), ()]


def test_a_pipelined_loop_waits_for_the_load_of_the_turn_before() -> None:
    wait = Effect(waits=(("vmcnt", 1),))
    stream = [(1, LOAD), (2, wait)] * 3
    assert align(stream, [(2, (1,)), (2, (1,))], infer(stream)) == [(), (1,), (1,)]


steps = st.one_of(
    st.tuples(st.integers(1, 3), st.just(LOAD)),
    st.tuples(st.integers(4, 6), st.just(READ)),
    st.tuples(
        st.integers(7, 9),
        st.builds(
            lambda v, k: Effect(waits=(("lgkmcnt", k), ("vmcnt", v))),
            st.integers(0, 3),
            st.integers(0, 3),
        ),
    ),
)


@given(stream=st.lists(steps, max_size=40))
def test_what_counting_finds_is_recognised_in_a_record_of_it(
    stream: list[tuple[int, Effect]],
) -> None:
    """As the profiler records: one entry per counter that had to wait, none where none had."""
    found = infer(stream)
    waits = [line for line, does in stream if not does.raises]
    recorded = []
    for line, dependencies in zip(waits, found, strict=True):
        for mine in ({4, 5, 6}, {1, 2, 3}):
            if entry := tuple(d for d in dependencies if d in mine):
                recorded.append((line, entry))
    aligned = align(stream, recorded, found)
    assert [set(d) for d in aligned] == [set(d) for d in found]


LOADS = code(
    "global_load_dword v0, v[0:1], off",
    "global_load_dword v1, v[2:3], off",
    "ds_read_b32 v2, v3",
    "s_waitcnt vmcnt(1)",
    "s_waitcnt vmcnt(0) lgkmcnt(0)",
    "s_endpgm",
)
STEPS = [
    [0, 3, 0, 4, 1],
    [4, 3, 0, 4, 2],
    [8, 5, 0, 4, 3],
    [12, 9, 600, 600, 4],
    [612, 9, 300, 300, 5],
    [912, 11, 0, 88, 6],
]


@pytest.mark.parametrize("recorded", [True, False])
def test_a_waits_cycles_are_charged_to_what_it_waits_for(tmp_path: Path, recorded: bool) -> None:
    waits = [(4, [1]), (5, [3]), (5, [2])] if recorded else []
    finding = summarize(
        written(Content(code=LOADS, waves=[wave(STEPS, end=1000, waits=waits)] * 3), tmp_path)
    )
    first, second, third = finding.stall_sites
    assert (first.number, first.reason, first.cycles, first.share) == (4, "memory wait", 1800, 0.6)
    assert [(w.number, w.cycles, w.inferred) for w in first.waits_for] == [(1, 1800, not recorded)]
    assert first.waits_for[0].source == "k.cpp:0"
    assert [(w.number, w.kind, w.share) for w in second.waits_for] == [
        (2, "VMEM_LOAD", 0.5),
        (3, "LDS", 0.5),
    ]
    assert (third.reason, third.cycles) == ("end of wave", 264)
    assert [(e.number, e.cycles_per_hit) for e in finding.exposed_latency] == [
        (1, 600),
        (2, 150),
        (3, 150),
    ]
    assert finding.waits_recorded_share == (1.0 if recorded else 0.0)
    assert finding.waits_inferred_share == (0.0 if recorded else 1.0)
    spent = finding.fractions
    assert spent is not None
    assert spent.wait_vmem == pytest.approx(0.75)
    assert spent.wait_lds == pytest.approx(0.15)
    assert spent.end_of_wave == pytest.approx(0.088)
    assert spent.issue == pytest.approx(0.012)


def test_a_wait_with_nothing_outstanding_is_unresolved(tmp_path: Path) -> None:
    content = Content(code=code("s_waitcnt vmcnt(0)"), waves=[wave([[0, 9, 96, 100, 1]])])
    spent = summarize(written(content, tmp_path)).fractions
    assert spent is not None
    assert spent.wait_unresolved == pytest.approx(0.96)
    assert spent.wait_vmem == 0


def test_from_gfx10_on_executing_a_wait_is_waiting(tmp_path: Path) -> None:
    steps = [[0, 3, 0, 10, 1], [10, 9, 5, 90, 2]]
    lines = code("global_load_b32 v0, v[0:1], off", "s_waitcnt vmcnt(0)")
    old = summarize(written(Content(lines, [wave(steps)], gfxip=9), tmp_path / "9")).fractions
    new = summarize(written(Content(lines, [wave(steps)], gfxip=11), tmp_path / "11")).fractions
    assert old is not None and new is not None
    assert old.wait_vmem == pytest.approx(0.05)
    assert new.wait_vmem == pytest.approx(0.90)


@pytest.mark.parametrize(
    ("code", "share"),
    [
        # A list: the value loaded is the next address, by way of arithmetic.
        (
            (
                "global_load_dword v2, v[0:1], off",
                "s_waitcnt vmcnt(0)",
                "v_lshlrev_b64 v[0:1], 2, v[2:3]",
                "s_cbranch_scc1 -4",
            ),
            1.0,
        ),
        # A walk over an array: the address is counted up, the value only added.
        (
            (
                "global_load_dword v2, v[0:1], off",
                "s_waitcnt vmcnt(0)",
                "v_add_f32_e32 v4, v4, v2",
                "v_add_u32_e32 v0, 64, v0",
            ),
            0.0,
        ),
        # A gather: of index and value, the second.
        (("global_load_dword v2, v[0:1], off", "global_load_dword v5, v2, s[0:1]"), 0.5),
        # The register was overwritten by something else in between.
        (
            (
                "global_load_dword v2, v[0:1], off",
                "v_mov_b32_e32 v2, 0",
                "global_load_dword v5, v2, s[0:1]",
            ),
            0.0,
        ),
        (("v_mov_b32_e32 v2, 0",), None),
    ],
)
def test_loads_that_take_their_address_from_a_load(
    code: tuple[str, ...], share: float | None
) -> None:
    assert dependent_share(code, dict.fromkeys(range(len(code)), 10)) == share
