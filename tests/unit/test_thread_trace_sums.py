"""Sums per line and class follow the profiler's rule and are checked against the profiler."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from rocm_perf_lab.analyze.thread_trace import classes, summarize, sums
from rocm_perf_lab.trace import att, att_writer
from rocm_perf_lab.trace.att_writer import Content
from support.att import code, contents, wave, written


def by_the_book(content: Content) -> dict[int, list[int]]:
    """The rule, one instruction at a time."""
    found: dict[int, list[int]] = {}
    for w in content.waves:
        prev = w.begin
        for time, _, stall, duration, line in w.instructions.tolist():
            row = found.setdefault(line, [0, 0, 0, 0])
            row[0] += 1
            row[1] += duration
            row[2] += stall
            row[3] += max(time - prev, 0)
            prev = max(prev, time + duration)
    return found


@settings(max_examples=60, deadline=None)
@given(content=contents())
def test_sums_follow_the_rule_and_classes_add_up_to_lines(
    content: Content, tmp_path_factory: pytest.TempPathFactory
) -> None:
    finding = summarize(written(content, tmp_path_factory.mktemp("att")))
    expected = by_the_book(content)
    columns = np.stack(finding.lines.sums.columns(), axis=1).tolist()
    for number, row in zip(finding.lines.number.tolist(), columns, strict=True):
        assert row == expected.get(number, [0, 0, 0, 0])
    assert all(found.whole for found in finding.agreement)
    if any(len(w.instructions) for w in content.waves):
        assert finding.sums_from == "waves"
    in_classes = [[t.hit, t.latency, t.stall, t.idle] for t in finding.classes]
    assert np.sum(in_classes or [[0] * 4], axis=0).tolist() == np.sum(columns, axis=0).tolist()
    by_source = [[t.hit, t.latency, t.stall, t.idle] for t in finding.source_lines]
    assert np.sum(by_source or [[0] * 4], axis=0).tolist() == np.sum(columns, axis=0).tolist()


TWO_WAVES = Content(
    code=code("v_add_f32 v0, v0, v0", "v_mfma_f32_4x4x1f32 a[0:3], v0, v1, a[0:3]"),
    waves=[
        wave([[8, 6, 0, 4, 1], [20, 6, 12, 16, 2], [30, 6, 0, 4, 1]], begin=0),
        wave([[105, 6, 4, 8, 2]], begin=100, slot=1),
    ],
)


def test_a_gap_is_idle_and_an_overlap_is_not(tmp_path: Path) -> None:
    finding = summarize(written(TWO_WAVES, tmp_path))
    assert [line.tolist() for line in finding.lines.sums.columns()] == [
        [2, 2],  # hit
        [8, 24],  # latency
        [0, 16],  # stall
        [8, 8 + 5],  # idle: 8 before the first, none where 30 < 36; 20 - 12 and 105 - 100
    ]


def test_an_instruction_without_an_address_is_passed_over(tmp_path: Path) -> None:
    content = Content(
        code=code("s_nop 0"),
        waves=[wave([[0, 9, 0, 4, 1], [4, 6, 0, 400, 0], [500, 9, 0, 4, 1]])],
    )
    finding = summarize(written(content, tmp_path))
    # Line 0 is the label: its 400 cycles neither count nor shorten the idle time that follows.
    assert finding.lines.sums.idle.tolist() == [496]
    assert (finding.without_line.hit, finding.without_line.latency) == (1, 400)


def test_disagreement_is_published_and_the_profilers_sums_are_shown(tmp_path: Path) -> None:
    folder = att_writer.write(TWO_WAVES, tmp_path, agent_handle=1, dispatch_id=1)
    (folder / "se0_sm0_sl1_wv0.json").unlink()
    finding = summarize(att.read(folder))
    in_code, in_csv = finding.agreement
    assert (in_code.lines_compared, in_code.lines_equal) == (2, 1)
    assert (in_csv.latency_difference, in_csv.idle_difference) == (-8, -5)
    assert finding.sums_from == "profiler"
    assert finding.lines.sums.latency.tolist() == [8, 24]
    assert {t.name: t.latency for t in finding.classes} == {"VALU": 8, "MFMA": 24}
    assert any(
        "1 of 2 lines only (1 wave files are missing or unreadable)" in note
        for note in finding.notes
    )


def test_two_rows_of_one_number_are_a_doubt(tmp_path: Path) -> None:
    folder = att_writer.write(TWO_WAVES, tmp_path, agent_handle=1, dispatch_id=1)
    path = folder / "code.json"
    document = json.loads(path.read_text())
    document["code"][2][2] = 1
    path.write_text(json.dumps(document))
    finding = summarize(att.read(folder))
    assert any("1 line numbers are used twice" in note for note in finding.notes)


@pytest.mark.parametrize(
    ("isa", "expected"),
    [
        ("v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]", "MFMA"),
        ("v_smfmac_f32_16x16x32_f16 v[0:3], v[4:5], v[6:9], v10", "MFMA"),
        ("v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]", "MFMA"),
        ("v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[0:1]", "VALU"),
        ("v_dual_fmac_f32 v0, v1, v2 :: v_dual_mul_f32 v3, v4, v5", "VALU"),
        ("v_rcp_f32_e32 v0, v1", "TRANS"),
        ("v_cndmask_b32_e32 v0, v1, v2, vcc", "VALU"),
        ("s_waitcnt vmcnt(0) lgkmcnt(0)", "WAITCNT"),
        ("s_waitcnt_vscnt null, 0x0", "WAITCNT"),
        ("s_wait_loadcnt 0x0", "WAITCNT"),
        ("s_wait_alu 0xfffe", "DELAY"),
        ("s_waitcnt_depctr 0xffe3", "DELAY"),
        ("s_delay_alu instid0(VALU_DEP_1)", "DELAY"),
        ("s_barrier", "BARRIER"),
        ("s_barrier_signal -1", "BARRIER"),
        ("s_nop 0", "NOP"),
        ("s_sleep 1", "SLEEP"),
        ("s_endpgm", "END"),
        ("s_sendmsg sendmsg(MSG_INTERRUPT)", "MESSAGE"),
        ("s_cbranch_scc1 65530", "BRANCH"),
        ("s_setpc_b64 s[30:31]", "BRANCH"),
        ("s_load_dwordx4 s[0:3], s[4:5], 0x0", "SMEM"),
        ("s_buffer_load_dword s0, s[0:3], 0x0", "SMEM"),
        ("s_memtime s[0:1]", "SMEM"),
        ("s_mul_i32 s0, s1, s2", "SALU"),
        ("s_movk_i32 s0, 0x10", "SALU"),
        ("ds_bpermute_b32 v0, v1, v2", "LDS"),
        ("global_load_lds_dword v[0:1], off", "VMEM_LOAD"),
        ("buffer_store_dwordx4 v[0:3], v4, s[0:3], 0 offen", "VMEM_STORE"),
        ("global_atomic_add_f32 v[0:1], v2, off", "VMEM_ATOMIC"),
        ("buffer_wbl2 sc1", "VMEM_OTHER"),
        ("scratch_load_dword v0, off, s32", "VMEM_LOAD"),
        ("image_sample v[0:3], v[0:1], s[0:7], s[8:11]", "VMEM_LOAD"),
        ("image_bvh64_intersect_ray v[0:3], v[0:11], s[0:3]", "BVH"),
        ("flat_store_dword v[0:1], v2", "FLAT"),
        ("something_else", None),
    ],
)
def test_the_mnemonic_decides_the_class(isa: str, expected: str | None) -> None:
    assert classes.of_text(isa) == expected


def test_a_branch_is_told_by_what_it_did_and_an_unknown_text_by_category() -> None:
    line_class = classes.of_lines(["s_cbranch_scc1 4", "mystery"])
    row = np.array([0, 0, 1, -1])
    category = np.array([7, 8, 5, 9], dtype=np.int8)
    found = classes.of_instructions(line_class, row, category)
    assert [classes.CLASSES[c] for c in found] == ["JUMP", "NEXT", "LDS", "IMMED"]


def test_sums_beyond_the_doubles_are_exact() -> None:
    index = np.array([0, 0, 1])
    values = np.array([(1 << 53) + 1, 1, 7])
    assert sums.add_up(index, values, 2).tolist() == [(1 << 53) + 2, 7]
