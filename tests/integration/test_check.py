"""`rocm-perf check`: every planted mistake is found, and no corrected twin is reported.

The programs hold each kernel and call twice: `name<false>` has the mistake, `name<true>` has not.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from support.checked_programs import PROGRAMS, Document, built, by_name, check, planted
from support.cli import complaint, rocm_perf
from support.hip_build import hipcc, need_virtual_gpu
from support.triton_programs import PROGRAMS as TRITON
from support.triton_programs import need_triton


@pytest.fixture(scope="module")
def lds(tmp_path_factory: pytest.TempPathFactory) -> Document:
    return check(built(tmp_path_factory.mktemp("lds"), "check_lds_races"), "--tool", "race")


@pytest.fixture(scope="module")
def between(tmp_path_factory: pytest.TempPathFactory) -> Document:
    return check(built(tmp_path_factory.mktemp("global"), "check_global_races"), "--tool", "race")


@pytest.fixture(scope="module")
def memory_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("memory"), "check_memory")


@pytest.fixture(scope="module")
def memory(memory_program: Path) -> Document:
    return check(memory_program, "--tool", "memory")


def test_every_race_on_lds_is_found_and_no_twin(lds: Document) -> None:
    assert by_name(lds, "false").keys() == planted("check_lds_races")
    assert by_name(lds, "true") == {}
    assert {finding["kind"] for finding in lds["findings"]} == {"lds-race"}


def test_every_race_on_global_memory_is_found_and_no_twin(between: Document) -> None:
    assert by_name(between, "false").keys() == planted("check_global_races")
    assert by_name(between, "true") == {}


def test_a_missing_barrier_and_a_scope_that_is_too_narrow_are_told_apart(between: Document) -> None:
    kinds = {
        name: {finding["kind"] for finding in found}
        for name, found in by_name(between, "false").items()
    }
    assert kinds["through_memory"] == {"global-race"}
    assert kinds["stencil_in_place"] == {"group-race"}
    for handed in ("handed_over", "handed_over_relaxed", "volatile_flag", "last_group_adds"):
        assert kinds[handed] == {"scope-race"}, handed


def test_both_sides_of_a_race_are_named(lds: Document) -> None:
    (finding,) = by_name(lds, "false")["one_for_all"]
    lines = (PROGRAMS / "check_lds_races.cpp").read_text().splitlines()
    first, then = finding["sides"]
    assert "chosen = in[blockIdx.x] + 1" in lines[int(first["source"].rpartition(":")[2]) - 1]
    assert "= chosen;" in lines[int(then["source"].rpartition(":")[2]) - 1]
    assert (first["access"], then["access"]) == ("write", "read")
    assert first["work_item"] == [0, 0, 0]
    assert then["work_item"] == [64, 0, 0]  # the first of another wave
    assert finding["buffer"]["kind"] == "LDS"
    assert finding["count"] == 9  # three waves of three workgroups


def test_an_inlined_call_is_told_with_who_called_it(lds: Document) -> None:
    (finding,) = by_name(lds, "false")["histogram_read"]
    update = next(side for side in finding["sides"] if side["access"] == "atomic update")
    assert [frame["function"] for frame in update["frames"]] == [
        "atomicAdd",
        "histogram_read<false>",
    ]
    assert update["source"].partition(":")[0].endswith("check_lds_races.cpp")


def test_a_buffer_is_named_by_where_the_host_asked_for_it(between: Document) -> None:
    (finding,) = by_name(between, "false")["through_memory"]
    lines = (PROGRAMS / "check_global_races.cpp").read_text().splitlines()
    asked = finding["buffer"]["allocated"][0]
    assert asked["function"] == "main"
    assert "hipMalloc" in lines[asked["line"] - 1]
    assert finding["buffer"]["size"] == 6 * 256 * 4
    assert finding["buffer"]["arguments"] == ["offset 16"]  # the third pointer of the structure


def test_writes_of_the_same_value_are_told_apart(between: Document) -> None:
    kernels = {k["kernel"]: k for k in between["coverage"]["kernels"]}
    (same,) = [k for name, k in kernels.items() if "found_by_any<true>" in name]
    assert same["same_value"] > 0


def test_every_wrong_access_and_call_is_found_and_no_twin(memory: Document) -> None:
    stopping = {name for name in planted("check_memory") if name.startswith("stop_")}
    assert by_name(memory, "false").keys() == planted("check_memory") - stopping
    assert by_name(memory, "true") == {}


@pytest.mark.parametrize(
    ("number", "kernel", "kind"),
    [
        ("1", "stop_null", "null-pointer"),
        ("2", "stop_freed", "use-after-free"),
        ("3", "stop_host_memory", "out-of-bounds"),
        ("4", "stop_misaligned", "misaligned"),
        ("5", "stop_far_away", "out-of-bounds"),
        ("6", "stop_barrier_skipped", "barrier-not-reached"),
    ],
)
def test_what_stops_the_device_is_a_finding(
    memory_program: Path, number: str, kernel: str, kind: str
) -> None:
    found = check(memory_program, "--tool", "memory", arguments=(number,))
    assert by_name(found, "true") == {}
    kinds = {name: [f["kind"] for f in each] for name, each in by_name(found, "false").items()}
    assert kinds == {kernel: [kind]}


def test_freed_memory_is_named_by_where_it_was_asked_for_and_the_page_shows_it(
    memory_program: Path, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    found = check(memory_program, "--tool", "memory", "--report", str(page), arguments=("2",))
    (finding,) = found["findings"]
    asked = finding["buffer"]["allocated"][0]
    lines = (PROGRAMS / "check_memory.cpp").read_text().splitlines()
    assert "hipMalloc(&freed" in lines[asked["line"] - 1]
    text = page.read_text()
    assert "Check: 1 finding" in text
    assert "access to memory that has been freed" in text
    assert "stop_freed&lt;false&gt;" in text
    assert f"check_memory.cpp:{asked['line']} in stopping" in text


def test_every_barrier_that_some_do_not_reach_is_found_and_no_twin(tmp_path: Path) -> None:
    found = check(built(tmp_path, "check_sync"), "--tool", "sync")
    assert by_name(found, "false").keys() == planted("check_sync")
    assert by_name(found, "true") == {}
    assert {finding["kind"] for finding in found["findings"]} == {"divergent-barrier"}
    (finding,) = by_name(found, "false")["in_a_branch"]
    barrier, later = finding["sides"]
    assert barrier["instruction"] == "s_barrier"
    assert barrier["work_item"] == [0, 0, 0]
    assert later["work_item"] == [1, 0, 0]


@pytest.mark.parametrize(
    ("number", "kernel", "kind"),
    [("1", "not_cooperative", "grid-not-cooperative"), ("2", "not_all_come", "grid-not-reached")],
)
def test_a_barrier_of_the_grid_that_cannot_be_passed_is_found_and_no_twin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: str, kernel: str, kind: str
) -> None:
    monkeypatch.setenv("ROCM_PERF_VIRTUAL_MAX_INSTRUCTIONS", "100000")
    found = check(built(tmp_path, "check_grid"), "--tool", "sync", arguments=(number,))
    assert by_name(found, "true") == {}
    kinds = {name: [f["kind"] for f in each] for name, each in by_name(found, "false").items()}
    assert kinds == {kernel: [kind]}


@pytest.fixture(scope="module")
def streams_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("streams"), "check_streams")


TWO_DEVICES = ("--device", "virtual:mi300x*2", "--tool", "memory,race")
OF_STREAM_MEMORY = {
    "used_before_it_is_there": "allocation-unordered",
    "freed_while_it_is_used": "free-unordered",
    "used_after_it_was_freed": "freed-in-stream",
    "freed_before_another_stream_is_done": "free-unordered",
}


@pytest.fixture(scope="module")
def streams(streams_program: Path) -> Document:
    return check(streams_program, *TWO_DEVICES)


def test_everything_that_nothing_orders_is_found_and_no_twin(streams: Document) -> None:
    assert by_name(streams, "false").keys() == planted("check_streams")
    assert by_name(streams, "true") == {}
    assert streams["coverage"]["not_covered"] == []


def test_what_the_two_sides_are_and_what_is_missing_is_told(streams: Document) -> None:
    kinds = {
        name: {finding["kind"] for finding in found}
        for name, found in by_name(streams, "false").items()
    }
    assert kinds["two_streams"] == {"stream-race"}
    assert kinds["result_copied_too_early"] == {"copy-race"}
    for name, kind in OF_STREAM_MEMORY.items():
        assert kinds[name] == {kind}, name
    (finding,) = by_name(streams, "false")["result_copied_too_early"]
    lines = (PROGRAMS / "check_streams.cpp").read_text().splitlines()
    kernel, copy = finding["sides"]
    assert kernel["access"] == "write"
    assert "data[blockIdx.x * blockDim.x + threadIdx.x] = value" in _line(lines, kernel["source"])
    assert kernel["work_item"] == [0, 0, 0]
    assert (copy["access"], copy["kernel"]) == ("read", "hipMemcpyAsync")
    assert "hipMemcpyAsync(room.pinned, room.a" in _line(lines, copy["source"])
    assert finding["buffer"]["size"] == finding["bytes"] == 4096
    assert "hipMalloc(&a" in lines[finding["buffer"]["allocated"][0]["line"] - 1]


def test_neighbouring_bytes_do_not_race(streams: Document) -> None:
    (parts,) = by_name(streams, "false")["overlapping_parts"]
    assert (parts["bytes"], parts["buffer"]["offset"]) == (4, 2048)
    (columns,) = by_name(streams, "false")["columns_that_overlap"]
    assert columns["bytes"] == 32 * 4  # one integer of each row


def test_what_is_found_between_streams_is_the_same_on_every_run(
    streams_program: Path, streams: Document
) -> None:
    again = check(streams_program, *TWO_DEVICES)
    assert _told(again) == _told(streams)


def _told(document: Document) -> list[object]:
    return [
        (f["kind"], f["count"], [(s["kernel"], s["access"], s["source"]) for s in f["sides"]])
        for f in document["findings"]
    ]


def _line(lines: list[str], source: str) -> str:
    return lines[int(source.rpartition(":")[2]) - 1]


def test_work_that_orders_itself_through_memory_is_no_finding_and_not_clean(
    streams_program: Path,
) -> None:
    found = check(streams_program, *TWO_DEVICES, arguments=("speaking",), code=0)
    assert found["findings"] == []
    assert not found["clean"]
    assert len(found["coverage"]["not_covered"]) == 2
    for what in found["coverage"]["not_covered"]:
        assert "streams do not order and which signal through memory" in what


def test_memory_of_streams_is_looked_at_without_the_races(streams_program: Path) -> None:
    found = check(streams_program, "--device", "virtual:mi300x*2", "--tool", "memory")
    assert by_name(found, "false").keys() == OF_STREAM_MEMORY.keys()
    assert by_name(found, "true") == {}


def test_calls_that_do_something_else_than_they_say_are_found_and_no_twin(tmp_path: Path) -> None:
    program = built(tmp_path, "check_calls")
    found = check(program, "--device", "virtual:mi300x*2", "--tool", "memory,sync")
    assert by_name(found, "false").keys() == planted("check_calls")
    assert by_name(found, "true") == {}
    kinds = {name: f["kind"] for name, (f,) in by_name(found, "false").items()}
    assert kinds["to_the_device_by_name_only"] == "copy-kind"
    assert kinds["event_of_another_device"] == "event-device"
    assert kinds["timed_before_it_is_recorded"] == "refused-call"


def test_a_triton_kernel_is_named_by_its_line_and_its_tensor(tmp_path: Path) -> None:
    need_triton()
    source = TRITON / "gathered.py"
    done = rocm_perf(
        *("check", "--json", "--tool", "race", sys.executable, "--", source),
        env={"TRITON_CACHE_DIR": str(tmp_path)},
        timeout=300,
    )
    assert done.returncode == 1, (done.stdout, done.stderr)
    (finding,) = json.loads(done.stdout)["findings"]
    assert finding["kind"] == "global-race"
    assert {side["kernel"] for side in finding["sides"]} == {"too_soon"}
    lines = source.read_text().splitlines()
    for side, statement in zip(
        finding["sides"], ("tl.store(kept +", "tl.load(kept + i)"), strict=True
    ):
        assert statement in lines[int(side["source"].rpartition(":")[2]) - 1]
    assert finding["buffer"]["arguments"] == ["kept"]


CORRECT = """
#include <hip/hip_runtime.h>
#include <cstdlib>
__global__ void scale(float* data, float by) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  data[i] = __builtin_amdgcn_exp2f(data[i]) * by;
}
int main(int count, char**) {
  float* data;
  if (hipMalloc(&data, 256 * 4) != hipSuccess) return 1;
  if (hipMemset(data, 0, 256 * 4) != hipSuccess) return 1;
  scale<<<4, 64>>>(data, 2);
  if (hipDeviceSynchronize() != hipSuccess) return 2;
  if (count > 1) _Exit(0);
  return hipFree(data) == hipSuccess ? 0 : 3;
}
"""


@pytest.fixture(scope="module")
def correct(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need_virtual_gpu()
    folder = tmp_path_factory.mktemp("correct")
    (folder / "correct.cpp").write_text(CORRECT)
    hipcc("-O2", "-g", folder / "correct.cpp", "-o", folder / "correct")
    return folder / "correct"


def test_a_correct_program_is_clean_and_says_what_was_checked(correct: Path) -> None:
    done = rocm_perf("check", correct, cwd=correct.parent)
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert "watched: 1 kernel in 1 launch, 8 accesses of waves, every one" in done.stdout
    assert "hardware may round otherwise: v_exp_f32 4x; whether one decides" in done.stdout
    assert done.stdout.splitlines()[-1] == "nothing found"


def test_what_was_not_looked_at_is_never_called_clean(correct: Path) -> None:
    some = check(correct, "--kernel", "another", code=0)
    assert some["findings"] == []
    assert not some["clean"]
    assert some["coverage"]["not_covered"] == [
        "kernels that do not match another",
        "what kernels do: none was watched",
    ]
    cut_short = check(correct, arguments=("leave",), code=0)
    assert not cut_short["clean"]
    assert cut_short["coverage"]["not_covered"] == [
        "what came after: a process was ended before it had written all"
    ]


def test_suppressions_let_findings_pass(lds: Document, tmp_path: Path) -> None:
    program = built(tmp_path, "check_lds_races")
    known = tmp_path / "known.txt"
    known.write_text("# looked at\nlds-race .*<false>\n")
    found = check(program, "--tool", "race", "--suppress", str(known), code=0)
    assert found["findings"] == []
    assert found["suppressed"] == len(lds["findings"])


def test_bad_requests_are_one_sentence(correct: Path, tmp_path: Path) -> None:
    said = complaint(rocm_perf("check", "--tool", "hazard", correct), 2)
    assert (
        "no tool is called hazard" in said and "memory, init, race, sync, hazards and all" in said
    )
    assert "no tool is called raec" in complaint(rocm_perf("check", "--tool", "raec", correct), 2)
    (tmp_path / "bad").write_text("(\n")
    said = complaint(rocm_perf("check", "--suppress", tmp_path / "bad", correct), 2)
    assert "line 1: no regular expression" in said
    said = complaint(rocm_perf("check", "--suppress", tmp_path / "none", correct), 3)
    assert "cannot be read" in said
