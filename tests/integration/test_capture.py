"""`rocm-perf capture` on programs whose memory is known before and after every launch."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from rocm_perf_lab.replay.format import Capture, open_capture
from rocm_perf_lab.schema.capture import Region
from support.captures import read_range
from support.cli import complaint, rocm_perf
from support.hip_build import hipcc, need_virtual_gpu

PROGRAMS = Path(__file__).parent / "programs"
MODULE = Path(__file__).parents[1] / "native" / "hip" / "module.hip"
COUNT = 10_000
RAMP = np.arange(COUNT)

Take = Callable[..., Capture]

# A Python program that launches by the module interface, as hip-python and Triton do.
PYTHON = """
import ctypes, sys
hip = ctypes.CDLL("libamdhip64.so.6")
def call(name, *arguments):
    status = getattr(hip, name)(*arguments)
    assert status == 0, (name, status)
module, function, data = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
call("hipModuleLoad", ctypes.byref(module), sys.argv[1].encode())
call("hipModuleGetFunction", ctypes.byref(function), module, b"triple")
call("hipMalloc", ctypes.byref(data), ctypes.c_size_t(256))
values, count = (ctypes.c_int * 64)(*range(64)), ctypes.c_int(64)
call("hipMemcpy", data, values, ctypes.c_size_t(256), 1)
pointers = [ctypes.cast(ctypes.byref(v), ctypes.c_void_p) for v in (data, count)]
arguments = (ctypes.c_void_p * 2)(*pointers)
call("hipModuleLaunchKernel", function, 1, 1, 1, 64, 1, 1, 0, None, arguments, None)
call("hipMemcpy", values, data, ctypes.c_size_t(256), 2)
assert values[5] == 15
"""


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need_virtual_gpu()
    target = tmp_path_factory.mktemp("capture") / "cases"
    hipcc("-O2", PROGRAMS / "capture_cases.cpp", "-o", target)
    return target


@pytest.fixture
def take(cases: Path, tmp_path: Path) -> Iterator[Take]:
    opened: list[Capture] = []

    def run(kernel: str, case: str, index: int = 0, *options: str) -> Capture:
        out = tmp_path / f"{case}-{kernel}-{index}"
        done = command(tmp_path, "--kernel", kernel, "--index", str(index), "--out", str(out),
                       *options, "--", str(cases), case)  # fmt: skip
        assert done.returncode == 0, done.stderr
        opened.append(open_capture(out))
        return opened[-1]

    yield run
    for capture in opened:
        capture.close()


def command(cwd: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return rocm_perf("capture", "--device", "virtual", *arguments, cwd=cwd, env=env)


def pointed_to(capture: Capture, argument: int) -> Region:
    """The region that a pointer argument, counted among the visible ones, points into."""
    shown = [a for a in capture.dispatch.arguments if not a.hidden][argument]
    address = int.from_bytes(bytes.fromhex(shown.value_hex or ""), "little")
    return next(r for r in capture.regions if r.base <= address < r.base + r.size)


def before(capture: Capture, region: Region) -> bytes:
    return read_range(capture, region.before, 0, region.size)


def after(capture: Capture, region: Region) -> bytes:
    data = bytearray(before(capture, region))
    for extent in region.after:
        data[extent.offset : extent.offset + extent.size] = capture.read_extent(extent)
    return bytes(data)


def numbers(data: bytes, kind: str = "<i4", count: int = COUNT) -> npt.NDArray[np.float64]:
    return np.frombuffer(data, dtype=kind)[:count].astype(np.float64)


def test_the_program_reads_the_commands_own_standard_input(cases: Path, tmp_path: Path) -> None:
    (tmp_path / "input").write_text("one two\n")
    script = 'test "$(cat)" = "one two" && exec "$0" in_place'
    with (tmp_path / "input").open("rb") as file:
        done = rocm_perf(*"capture --device virtual --kernel . --out made sh --".split(),
                         "-c", script, cases, cwd=tmp_path, stdin=file)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "made" / "manifest.json").is_file()


def test_a_kernel_in_place_is_seen_before_and_after(take: Take) -> None:
    capture = take("in_place", "in_place", 1)
    assert capture.manifest.complete and capture.dispatch.index == 1
    assert capture.dispatch.kernel.symbol == "_Z8in_placePii"
    assert capture.dispatch.workgroup == (256, 1, 1)
    region = pointed_to(capture, 0)
    assert (numbers(before(capture, region)) == RAMP * 3 + 1).all()
    assert (numbers(after(capture, region)) == (RAMP * 3 + 1) * 3 + 1).all()
    assert [a.kind for a in capture.dispatch.arguments[:3]] == [
        "global_buffer", "by_value", "hidden_block_count_x",
    ]  # fmt: skip
    assert capture.manifest.device.kind == "virtual"


def test_counters_are_those_of_one_launch(take: Take) -> None:
    capture = take("count_even", "atomic")
    region = pointed_to(capture, 2)
    assert numbers(before(capture, region), count=2).tolist() == [7, 9]
    assert numbers(after(capture, region), count=2).tolist() == [7 + COUNT / 2, 9 + COUNT / 2]


def test_dynamic_lds_is_part_of_the_dispatch(take: Take) -> None:
    capture = take("reverse_in_lds", "dynamic_lds")
    assert capture.dispatch.group_segment_size == 1024


def test_variables_are_captured_static_anonymous_and_constant_ones(take: Take) -> None:
    capture = take("use_globals", "globals", 1)
    segments = capture.kernel_code_object.segments
    held = b"".join(read_range(capture, s.before, 0, s.size) for s in segments)
    table = (np.arange(64) % 16 * np.arange(64)).astype("<i4").tobytes()  # after one launch
    assert table in held
    assert np.arange(16, dtype="<i4").tobytes() in held  # __constant__, written by the host
    changed = [e for s in segments for e in s.after]
    assert changed and not [s for s in segments if s.after and not s.writable]
    # pointer_to_global holds an address in the image.
    assert [p for p in capture.memory.code_pointers if p.where == "image"]


def test_memory_behind_pointers_in_structures_is_there(take: Take) -> None:
    capture = take("through_structs", "structs")
    values = [r for r in capture.regions if r.size == COUNT * 4 and r.after]
    assert len(values) == 1
    assert (numbers(after(capture, values[0]), "<f4") == RAMP * 2 + 0.5).all()


@pytest.mark.parametrize(
    ("case", "index", "first", "second"), [("streams", 0, 3, 16), ("graph", 1, 4, 25)]
)
def test_other_queues_are_drained_first(
    take: Take, case: str, index: int, first: int, second: int
) -> None:
    capture = take("sum_of", case, index)
    assert (numbers(before(capture, pointed_to(capture, 0)), "<f4") == RAMP * first).all()
    assert (numbers(before(capture, pointed_to(capture, 1)), "<f4") == RAMP * second).all()
    out = after(capture, pointed_to(capture, 2))
    assert (numbers(out, "<f4") == RAMP * (first + second)).all()


def test_every_kind_of_memory_is_captured(take: Take) -> None:
    capture = take("add_all", "memory_kinds")
    regions = [pointed_to(capture, i) for i in range(5)]
    assert {r.kind for r in regions} == {"host", "registered", "vmem", "pool"} or {
        r.kind for r in regions
    } == {"host", "registered", "vmem"}
    assert all((numbers(before(capture, regions[i])) == RAMP).all() for i in (0, 1, 3, 4))
    assert (numbers(before(capture, regions[2])) == 1000).all()
    assert (numbers(after(capture, regions[2])) == 1000 + 4 * RAMP).all()


def test_a_kernel_that_called_the_host_is_incomplete_and_one_that_might_have_is_not(
    take: Take,
) -> None:
    printed = take("may_print", "prints").manifest
    assert not printed.complete and "called the host" in printed.reasons[0]
    assert take("may_print", "may_print").manifest.complete


def test_addresses_of_code_in_memory_are_told(take: Take) -> None:
    capture = take("call_shape", "virtual_call")
    assert "addresses of code" in capture.manifest.notes[0]
    (pointer,) = [p for p in capture.memory.code_pointers if p.where == "memory"]
    code = capture.code_objects[pointer.code_object]
    assert code.load_base <= pointer.value < code.load_base + code.load_size


def test_zeros_cost_nothing_and_equal_chunks_are_stored_once(take: Take) -> None:
    sparse = take("touch_far", "sparse")
    assert sparse.manifest.totals.region_bytes > 3 << 30
    assert sparse.manifest.totals.stored_bytes < 1 << 20
    region = pointed_to(sparse, 0)
    (change,) = region.after
    assert (change.offset, sparse.read_extent(change)) == (3 << 29, b"\x11")
    doubled = take("pattern", "duplicates")
    assert doubled.manifest.totals.duplicate_bytes > 7 << 20
    assert doubled.manifest.totals.stored_bytes < 1 << 20
    assert before(doubled, pointed_to(doubled, 0)) == b"\x33" * (8 << 20)


def test_compressed_captures_hold_the_same(take: Take) -> None:
    plain, packed = take("in_place", "in_place"), take("in_place", "in_place", 2, "--compress")
    region = pointed_to(packed, 0)
    assert {e.encoding for e in region.before if e.file} == {"zstd"}
    assert (numbers(after(packed, region)) == ((RAMP * 3 + 1) * 3 + 1) * 3 + 1).all()
    assert packed.manifest.totals.stored_bytes < plain.manifest.totals.stored_bytes


def test_launches_of_several_threads_are_held(take: Take) -> None:
    capture = take("in_place", "threads", 60)
    region = pointed_to(capture, 0)
    old, new = numbers(before(capture, region)), numbers(after(capture, region))
    assert (new.astype("<i8") == (old.astype("<i8") * 3 + 1 + 2**31) % 2**32 - 2**31).all()
    # Nobody else wrote while the kernel ran.
    others = [r for r in capture.regions if r.base != region.base and "kernarg" not in r.flags]
    assert not [r for r in others if r.after]


def test_a_queue_that_waits_for_its_program_does_not_hold_it_up(take: Take) -> None:
    capture = take("in_place", "host_gate")
    assert "ran on during the capture" in capture.manifest.notes[0]
    region = pointed_to(capture, 0)
    assert (numbers(after(capture, region)) == RAMP * 3 + 1).all()


def test_a_kernel_without_arguments(take: Take) -> None:
    assert take("nothing", "nothing").manifest.complete


def test_a_kernel_launched_by_a_python_program(cases: Path, tmp_path: Path) -> None:
    hipcc("--genco", MODULE, "-o", tmp_path / "module.co")
    (tmp_path / "program.py").write_text(PYTHON)
    program = (sys.executable, str(tmp_path / "program.py"), str(tmp_path / "module.co"))
    out = tmp_path / "out"
    done = command(tmp_path, "--kernel", "triple", "--out", str(out), "--", *program)
    assert done.returncode == 0 and "warning" not in done.stderr, done.stderr
    with open_capture(out) as capture:
        region = pointed_to(capture, 0)
        assert (numbers(after(capture, region), count=64) == 3 * np.arange(64)).all()
        assert capture.manifest.complete


def test_the_default_place_is_the_newest_capture(cases: Path, tmp_path: Path) -> None:
    done = command(tmp_path, "--kernel", "nothing", "--json", "--", str(cases), "nothing")
    manifest = json.loads(done.stdout)
    assert manifest["kernel"] == "nothing()"
    latest = tmp_path / ".rocpd_capture/latest"
    assert json.loads((latest / "manifest.json").read_text()) == manifest
    assert latest.resolve().stat().st_mode & 0o777 == 0o700
    modes = {p.stat().st_mode & 0o777 for p in latest.rglob("*") if p.is_file()}
    assert modes == {0o600}
    assert "at most" in done.stderr


def nothing_left(folder: Path) -> bool:
    return not [p for p in folder.rglob("*") if p.is_file()]


def test_what_cannot_be_captured_is_one_sentence(cases: Path, tmp_path: Path) -> None:
    program = ("--", str(cases), "in_place")
    said = complaint(command(tmp_path, "--kernel", "no_such", *program), 3)
    assert "launched were: in_place(int*, int)" in said
    said = complaint(command(tmp_path, "--kernel", "in_place", "--index", "3", *program), 3)
    assert "the most was 3" in said
    said = complaint(command(tmp_path, "--kernel", "in_place", "--max-size", "9k", *program), 5)
    assert "nothing was written" in said
    assert "regular expression" in complaint(command(tmp_path, "--kernel", "a(", *program), 2)
    said = complaint(command(tmp_path, "--kernel", "fails", "--", str(cases), "fault"), 3)
    assert "did not run to its end" in said
    assert "never used the GPU" in complaint(command(tmp_path, "--kernel", "x", "--", "true"), 3)
    assert "exited with code 2" in complaint(command(tmp_path, "--kernel", "x", str(cases)), 3)
    assert nothing_left(tmp_path)


def test_a_program_that_ends_badly_leaves_its_capture(cases: Path, tmp_path: Path) -> None:
    out, program = tmp_path / "out", ("--", str(cases), "ends_badly")
    done = command(tmp_path, "--kernel", "in", "--out", str(out), *program)
    assert done.returncode == 3 and "Traceback" not in done.stderr
    assert "exited with code 7 after the capture was made, which is kept in" in done.stderr
    assert "captured in_place" in done.stdout
    with open_capture(out) as capture:
        assert capture.manifest.complete
    ignored = command(tmp_path, "--kernel", "in", "--json", "--ignore-failure", *program)
    assert ignored.returncode == 0 and "warning: cases exited with code 7" in ignored.stderr
    assert json.loads(ignored.stdout)["complete"]
    again = command(tmp_path, "--kernel", "in", "--out", str(out), "--", str(cases), "in_place")
    assert "exists already" in complaint(again, 3)


@contextmanager
def file_size_limit(size: int) -> Iterator[None]:
    """A file that grows past it fails as on a full disk: the write is answered with an error."""
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, old[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)


def test_a_disk_that_takes_no_more_is_an_error(cases: Path, tmp_path: Path) -> None:
    with file_size_limit(20_000):
        done = command(tmp_path, "--kernel", "in_place", "--", str(cases), "in_place")
    assert "cannot be written" in complaint(done, 3)
    assert nothing_left(tmp_path)


def test_a_killed_capture_is_no_capture(cases: Path, tmp_path: Path) -> None:
    """kill -9 of the command and the program, at several moments: whole or no capture."""
    killed = 0
    for delay in (0.0, 0.1, 0.2, 0.4):
        place = tmp_path / str(delay)
        place.mkdir()
        out = place / "out"
        process = subprocess.Popen(
            [sys.executable, "-m", "rocm_perf_lab", "capture", "--kernel", "touch_far",
             "--device", "virtual", "--out", str(out), "--", str(cases), "sparse"],
            start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        while not list(place.iterdir()) and process.poll() is None:
            time.sleep(0.01)  # until there is something that could be left behind
        time.sleep(delay)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if out.exists():  # it was quicker, and then it is whole
            open_capture(out).close()
        else:
            assert list(place.iterdir()) and not list(place.rglob("manifest.json"))
            killed += 1
    assert killed
