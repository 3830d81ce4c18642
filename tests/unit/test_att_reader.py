"""Reading thread-trace folders: what was written comes back, and damage is said, not hidden."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocm_perf_lab.analyze.thread_trace import summarize
from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.trace import att, att_json, att_writer
from rocm_perf_lab.trace.att_writer import Content
from support.att import code, contents, wave, written

WAVE = wave(
    [[10, 3, 0, 4, 1], [14, 9, 600, 604, 2], [618, 11, 0, 20, 3]],
    begin=4,
    end=638,
    timeline=[[1, 6], [2, 4], [3, 604], [2, 20]],
    waits=[(2, [1])],
)
CODE = code("global_load_dword v0, v[0:1], off", "s_waitcnt vmcnt(0)", "s_endpgm")
CONTENT = Content(
    code=CODE,
    waves=[WAVE],
    occupancy={0: [[4, 1, 0, 0, 1, 1], [638, 1, 0, 0, 0, 1]]},
    kernels={0: "0 / 0x0", 1: "_Z6kernelv"},
    realtime={0: [[6216, 1000], [226312, 11344]]},
    perf_counters={0: [[5, 1, 2, 3, 4, 1, 0]]},
    counter_names=["SQ_BUSY_CU_CYCLES"],
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return att_writer.write(CONTENT, tmp_path, agent_handle=5600, dispatch_id=7)


def edit(path: Path, **changes: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


@settings(max_examples=60, deadline=None)
@given(content=contents())
def test_what_is_written_is_read_back(
    content: Content, tmp_path_factory: pytest.TempPathFactory
) -> None:
    trace = written(content, tmp_path_factory.mktemp("att"))
    kept = [w for w in content.waves if len(w.instructions) or len(w.timeline) >= 3]
    kept.sort(key=lambda w: (w.se, w.simd, w.slot))
    assert trace.notes == ()
    assert trace.gfxip == content.gfxip
    assert [trace.code.isa, trace.code.source] == [
        tuple(line.isa for line in content.code),
        tuple(line.source for line in content.code),
    ]
    assert trace.waves.begin.tolist() == [w.begin for w in kept]
    assert trace.waves.end.tolist() == [w.end for w in kept]
    rows = np.concatenate([w.instructions for w in kept] or [np.empty((0, 5), np.int64)])
    read = trace.instructions
    columns = (read.time, read.category, read.stall, read.duration, read.line)
    assert np.stack(columns, axis=1).tolist() == rows.tolist()
    assert np.diff(trace.waves.first).tolist() == [len(w.instructions) for w in kept]
    states = np.concatenate([w.timeline for w in kept] or [np.empty((0, 2), np.int64)])
    assert trace.states.duration.tolist() == states[:, 1].tolist()
    waits = [(line, list(found)) for w in kept for line, found in w.waits]
    bounds = trace.waits.first.tolist()
    assert waits == [
        (int(line), trace.waits.dependency[a:b].tolist())
        for line, a, b in zip(trace.waits.line, bounds, bounds[1:], strict=False)
    ]
    assert len(trace.occupancy) == sum(len(rows) for rows in content.occupancy.values())


def test_everything_in_a_folder_is_read(folder: Path) -> None:
    trace = att.read(folder)
    assert (trace.folder.agent_handle, trace.folder.dispatch_id) == (5600, 7)
    assert trace.code.label.tolist() == [True, False, False, False]
    assert trace.code.latency.tolist() == [0, 4, 604, 20]
    assert trace.stats is not None and trace.stats.stall.tolist() == [0, 600, 0]
    assert trace.occupancy.start.tolist() == [True, False]
    assert trace.occupancy_kernels[1] == "_Z6kernelv"
    assert trace.realtime.frequency_hz == 100_000_000
    assert trace.perf_counters.events.tolist() == [[1, 2, 3, 4]]
    assert trace.counter_names == ("SQ_BUSY_CU_CYCLES",)


class TestFind:
    def test_pairs_folders_with_dispatch_agent_stats_and_databases(self, tmp_path: Path) -> None:
        for dispatch in (12, 3):
            att_writer.write(CONTENT, tmp_path, agent_handle=5600, dispatch_id=dispatch)
        (tmp_path / "host").mkdir()
        (tmp_path / "host" / "99_results.db").touch()
        found = att.find(tmp_path)
        assert [f.dispatch_id for f in found] == [3, 12]
        assert {f.agent_handle for f in found} == {5600}
        assert found[0].stats_csv == tmp_path / "stats_ui_output_agent_5600_dispatch_3.csv"
        assert [p.name for p in found[0].databases] == ["99_results.db"]

    def test_takes_the_folder_itself_several_and_renamed_ones(self, folder: Path) -> None:
        renamed = folder.parent / "before"
        shutil.copytree(folder, renamed)
        assert [f.path for f in att.find(folder)] == [folder]
        assert len(att.find([folder, renamed, folder])) == 2
        assert att.find(renamed)[0].dispatch_id is None

    def test_says_what_is_missing(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match="No ui_output"):
            att.find(tmp_path)
        (tmp_path / "1_5600_shader_engine_0_1.att").touch()
        with pytest.raises(BadInput, match=r"1 raw \.att files but no decoded"):
            att.find(tmp_path)
        with pytest.raises(BadInput, match="is not a folder"):
            att.find(tmp_path / "nowhere")


class TestCode:
    def test_may_be_a_bare_list_or_rows_by_name(self, folder: Path) -> None:
        path = folder / "code.json"
        before = att.read(folder).code
        document = json.loads(path.read_text())
        path.write_text(json.dumps(document["code"]))
        assert att.read(folder).code.latency.tolist() == before.latency.tolist()
        names = [name.strip() for name in document["header"].split(",")]
        rows = [dict(zip(names, row, strict=True)) for row in document["code"]]
        edit_to = {"code": rows, "header": names}
        path.write_text(json.dumps(edit_to))
        after = att.read(folder).code
        assert after.isa == before.isa
        assert after.stall.tolist() == before.stall.tolist()

    def test_columns_are_found_by_the_header(self, folder: Path) -> None:
        path = folder / "code.json"
        document = json.loads(path.read_text())
        names = ["Extra", *(name.strip() for name in document["header"].split(","))]
        rows = [["?", *row] for row in document["code"]]
        path.write_text(json.dumps({"code": rows, "header": ", ".join(names)}))
        trace = att.read(folder)
        assert trace.code.latency.tolist() == [0, 4, 604, 20]

    def test_null_means_that_no_wave_was_seen(self, tmp_path: Path) -> None:
        trace = written(Content(code=[], waves=[]), tmp_path)
        assert trace.code_is_null
        assert len(trace.code) == 0
        assert any("header and nothing else" in note for note in trace.notes)

    def test_missing_is_replaced_by_the_stats_or_an_error(self, folder: Path) -> None:
        (folder / "code.json").unlink()
        trace = att.read(folder)
        assert trace.code.isa == tuple(line.isa for line in CODE)
        assert any("code lines come from stats_" in note for note in trace.notes)
        (folder.parent / f"stats_{folder.name}.csv").unlink()
        with pytest.raises(BadInput, match=r"code\.json is missing"):
            att.read(folder)

    @pytest.mark.parametrize("text", ["", "[[", '{"cod', "7", '{"code": 7}', "[" * 100_000])
    def test_nonsense_is_one_sentence(self, folder: Path, text: str) -> None:
        (folder.parent / f"stats_{folder.name}.csv").unlink()
        (folder / "code.json").write_text(text)
        with pytest.raises(BadInput, match=r"code\.json"):
            att.read(folder)


class TestDamage:
    def test_missing_waves_are_counted(self, folder: Path) -> None:
        (folder / "se0_sm0_sl0_wv0.json").unlink()
        trace = att.read(folder)
        assert (trace.waves_missing, trace.waves_listed, len(trace.waves)) == (1, 1, 0)
        assert "1 of 1 wave files named are missing." in trace.notes

    @pytest.mark.parametrize("keep", [0, 1, 40, 150])
    def test_a_wave_cut_short_is_counted(self, folder: Path, keep: int) -> None:
        path = folder / "se0_sm0_sl0_wv0.json"
        path.write_bytes(path.read_bytes()[:keep])
        trace = att.read(folder)
        assert (trace.waves_unreadable, len(trace.waves)) == (1, 0)

    def test_waves_of_an_earlier_recording_are_left_out(self, folder: Path) -> None:
        shutil.copy(folder / "se0_sm0_sl0_wv0.json", folder / "se0_sm0_sl0_wv1.json")
        trace = att.read(folder)
        assert len(trace.waves) == 1
        assert any("not named in filenames.json" in note for note in trace.notes)

    def test_without_filenames_the_waves_that_lie_there_are_read(self, folder: Path) -> None:
        (folder / "filenames.json").unlink()
        trace = att.read(folder)
        assert len(trace.waves) == 1
        assert trace.gfxip is None

    def test_names_that_lead_elsewhere_are_refused(self, folder: Path) -> None:
        leaf = {"0": {"0": {"0": {"0": ["../secret.json", 0, 1]}}}}
        edit(folder / "filenames.json", wave_filenames=leaf)
        trace = att.read(folder)
        assert len(trace.waves) == 0
        assert trace.waves_missing == 1

    def test_rows_with_more_elements_are_cut_and_ragged_ones_dropped(self, folder: Path) -> None:
        path = folder / "se0_sm0_sl0_wv0.json"
        document = json.loads(path.read_text())
        rows = [[*row, 99] for row in document["wave"]["instructions"]]
        document["wave"]["instructions"] = [*rows, [1, 2], None, [1, 2, "x", 4, 5], [1 << 70] * 5]
        path.write_text(json.dumps(document))
        trace = att.read(folder)
        assert trace.instructions.line.tolist() == [1, 2, 3]
        assert trace.rows_dropped == 4

    def test_names_that_are_not_utf8_are_read(self, folder: Path) -> None:
        path = folder / "code.json"
        path.write_bytes(path.read_bytes().replace(b"kernel()", b"kern\xff\xfe()"))
        assert "kern" in att.read(folder).code.source[0]

    def test_the_other_files_are_optional(self, folder: Path) -> None:
        for name in ("realtime", "wstates1", "wstates2", "wstates3", "occupancy"):
            (folder / f"{name}.json").unlink()
        (folder / "se0_perfcounter.json").write_text("{")
        trace = att.read(folder)
        assert len(trace.instructions) == 3
        assert len(trace.occupancy) == 0
        assert any(note.startswith("occupancy.json: missing") for note in trace.notes)
        assert any(note.startswith("se0_perfcounter.json") for note in trace.notes)


integer = st.integers(0, 1 << 40)


@given(rows=st.lists(st.tuples(*[integer] * 5), min_size=1), indent=st.sampled_from([None, 2]))
def test_rows_cut_out_of_the_text_are_those_the_json_parser_sees(
    rows: list[tuple[int, ...]], indent: int | None
) -> None:
    separators = (",", ":") if indent is None else None
    document = {"name": '"instructions"', "wave": {"instructions": rows, "simd": 1}}
    raw = json.dumps(document, indent=indent, separators=separators).encode()
    found, rest = att_json.take_rows(raw, "instructions", 5)
    assert found is not None
    assert found.tolist() == [list(row) for row in rows]
    assert json.loads(rest) == {"name": '"instructions"', "wave": {"instructions": [], "simd": 1}}


@pytest.mark.parametrize(
    "text",
    ["[[1,2,3]]", "[[1,2,,4]]", "[[,,,]]", "[1,2,3,4]", "[[1,2],[3,4,5,6]]", "[]", "[[]]", "null"],
)
def test_rows_of_another_shape_are_left_to_the_json_parser(text: str) -> None:
    raw = b'{"a":%b}' % text.encode()
    assert att_json.take_rows(raw, "a", 4) == (None, raw)


def mutated(raw: bytes, rng: random.Random) -> bytes:
    data = bytearray(raw)
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(data) + 1)
        action = rng.randrange(5)
        if action == 0:
            del data[at : at + rng.randint(1, 30)]
        elif action == 1:
            data[at:at] = rng.choice(
                [b"null", b"[", b"]", b"{", b'"', b"-1", b"1e999", b"NaN", b","]
            )
        elif action == 2:
            data[at : at + 1] = bytes([rng.randrange(256)])
        elif action == 3:
            data[at:at] = str(rng.choice([1 << 31, 1 << 63, -(1 << 63), 1 << 90])).encode()
        else:
            data[at:at] = data[rng.randrange(len(data) + 1) :][: rng.randint(1, 60)]
        if not data:
            break
    return bytes(data)


def test_a_damaged_folder_is_read_or_refused_in_one_sentence(folder: Path) -> None:
    """Fuzz: every outcome is a trace that can be summarized, or BadInput."""
    rng = random.Random(20)
    paths = sorted([*folder.iterdir(), *folder.parent.glob("*.csv")])
    whole = {path: path.read_bytes() for path in paths}
    refused = 0
    for _ in range(600):
        broken = rng.sample(paths, rng.randint(1, 2))
        for path in broken:
            path.write_bytes(mutated(whole[path], rng))
        try:
            summarize(att.read(folder))
        except BadInput as error:
            refused += 1
            assert "\n" not in error.message
        for path in broken:
            path.write_bytes(whole[path])
    assert 0 < refused < 600


@pytest.mark.parametrize(
    ("file", "was", "broken"),
    [
        ("se0_sm0_sl0_wv0.json", "[0,3,0,4,1]", "[0,3,-7,4,1]"),
        ("se0_sm0_sl0_wv0.json", "[0,3,0,4,1]", "[0,3,0,-4,1]"),
        ("code.json", ",1,4,0,0]", ",1,-4,0,0]"),
    ],
)
def test_a_negative_number_of_cycles_is_bad_input(
    file: str, was: str, broken: str, tmp_path: Path
) -> None:
    lines = code("global_load_dword v0, v[2:3], off")
    content = Content(lines, [wave([[0, 3, 0, 4, 1]])])
    folder = att_writer.write(content, tmp_path, agent_handle=1, dispatch_id=1)
    text = (folder / file).read_text()
    assert was in text
    (folder / file).write_text(text.replace(was, broken))
    with pytest.raises(BadInput, match="negative"):
        att.read(folder)
