"""`rocm-perf replay` as a user calls it; captures that are damaged, edited or hostile."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rocm_perf_lab.codeobject.kernels import CodeObject
from rocm_perf_lab.collect import process
from rocm_perf_lab.device import discover
from rocm_perf_lab.errors import PerfLabError
from rocm_perf_lab.replay import run
from rocm_perf_lab.replay import session as sessions
from rocm_perf_lab.replay.address_space import MOST_SPANS
from rocm_perf_lab.replay.diff import diff
from rocm_perf_lab.replay.format import open_capture
from rocm_perf_lab.replay.info import info
from support import fuzzed_captures as fuzz
from support.cli import complaint, rocm_perf
from support.hip_build import need_virtual_gpu
from support.kernel_captures import BASE, Memory, capture_kernel, compile_kernels

SOURCE = """
__device__ int runs = 1;
extern "C" __global__ void twice(float* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0) runs++;
  if (i < n) data[i] = data[i] * 2.0f;
}
"""
ENDLESS = """
__device__ int runs = 1;
extern "C" __global__ void twice(float* data, int n) {
  runs = n;
  while (__hip_atomic_load(data, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM) == 1.0f) {
  }
}
"""
CLOSE = SOURCE.replace("* 2.0f", "* 2.000002f")
N = 300
FAR = 0x6000_0000_0000


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, CodeObject]:
    need_virtual_gpu()
    folder = tmp_path_factory.mktemp("kernels")
    return {
        "twice": compile_kernels(folder, SOURCE, "twice"),
        "close": compile_kernels(folder, CLOSE, "close"),
    }


def twice(folder: Path, code: CodeObject, start: float = 1.0) -> Path:
    data = np.arange(N, dtype="<f4") + np.float32(start)
    one, two = (1).to_bytes(4, "little"), (2).to_bytes(4, "little")
    return capture_kernel(
        folder,
        code,
        "twice",
        [BASE.to_bytes(8, "little"), N.to_bytes(4, "little")],
        [Memory(BASE, data.tobytes(), (2 * data).tobytes())],
        grid=320,
        demangled="twice(float*, int)",
        variables={"runs": (one, two)},
    )


@pytest.fixture(scope="module")
def captured(built: dict[str, CodeObject], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return twice(tmp_path_factory.mktemp("captures") / "twice", built["twice"])


def test_full_vm_says_what_was_run_and_what_came_out(captured: Path, tmp_path: Path) -> None:
    done = rocm_perf("replay", "full-vm", captured, "--iterations", "4", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for words in ("times are modelled", "4 after 1 to warm up", "bit for bit as captured"):
        assert words in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 200
    document = json.loads(rocm_perf("replay", "full-vm", captured, "--json", cwd=tmp_path).stdout)
    assert document["output"]["verdict"] == "identical"
    time = document["gpu_time"]
    assert len(time["samples_ns"]) == document["iterations"] == 10
    assert time["min_ns"] <= time["median_ns"] <= time["max_ns"]
    assert time["ci95_ns"][0] <= time["mean_ns"] <= time["ci95_ns"][1]
    assert (time["kind"], document["provenance"]["device"]["kind"]) == ("modelled", "virtual")


def test_without_timing_only_results_are_compared(captured: Path, tmp_path: Path) -> None:
    words = ("replay", "full-vm", captured, "--no-timing")
    done = rocm_perf(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "not taken (--no-timing)" in done.stdout and "modelled" not in done.stdout
    document = json.loads(rocm_perf(*words, "--json", "--iterations", "3", cwd=tmp_path).stdout)
    assert document["gpu_time"] is None
    assert (document["iterations"], document["warmup"]) == (3, 0)
    assert document["output"]["verdict"] == "identical"


def test_without_timing_no_model_runs(captured: Path) -> None:
    """The virtual GPU's own clock is asked for: a modelled time is the same every time."""

    def times(timed: bool) -> set[float]:
        with sessions.ReplaySession(captured, timed=timed) as replay:
            return {t for _ in range(4) for t in replay.run([0], flush=True).gpu_ns()}

    assert len(times(True)) == 1
    assert len(times(False)) > 1


@pytest.mark.slow
def test_very_many_allocations_are_replayed(built: dict[str, CodeObject], tmp_path: Path) -> None:
    """More than a process can have handles for; every second page, as an allocator leaves them."""
    data = np.arange(N, dtype="<f4")
    one, two = (1).to_bytes(4, "little"), (2).to_bytes(4, "little")
    small = [Memory(BASE + at * 0x2000, one * 8, one * 8) for at in range(1, MOST_SPANS + 500)]
    folder = capture_kernel(
        tmp_path / "many", built["twice"], "twice",
        [BASE.to_bytes(8, "little"), N.to_bytes(4, "little")],
        [Memory(BASE, data.tobytes(), (2 * data).tobytes()), *small],
        grid=320, demangled="twice(float*, int)", variables={"runs": (one, two)},
    )  # fmt: skip
    done = rocm_perf("replay", "full-vm", folder, "--no-timing", "--iterations", "1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "bit for bit as captured" in done.stdout


def test_another_build_is_judged_by_the_tolerance(
    captured: Path, built: dict[str, CodeObject], tmp_path: Path
) -> None:
    (tmp_path / "close.hsaco").write_bytes(built["close"].elf.data)
    command = ("replay", "full-vm", captured, "--iterations", "2", "--hsaco", "close.hsaco")
    loose = rocm_perf(*command, "--verify", "1e-4", cwd=tmp_path)
    assert (loose.returncode, "within the tolerance" in loose.stdout) == (0, True), loose.stdout
    exact = rocm_perf(*command, "--verify", "exact", cwd=tmp_path)
    assert exact.returncode == 1
    tight = rocm_perf(*command, "--verify", "1e-9", cwd=tmp_path)
    assert (tight.returncode, "NOT as captured" in tight.stdout) == (1, True)
    assert "f32 differ" in tight.stdout and "[0] expected 2.0, got 2.00000" in tight.stdout


def test_the_newest_capture_is_meant_where_none_is_named(captured: Path, tmp_path: Path) -> None:
    assert "no capture under" in complaint(rocm_perf("replay", "info", cwd=tmp_path), 3)
    (tmp_path / ".rocpd_capture").mkdir()
    shutil.copytree(captured, tmp_path / ".rocpd_capture" / "one")
    (tmp_path / ".rocpd_capture" / "latest").symlink_to("one")
    done = rocm_perf("replay", "info", cwd=tmp_path)
    assert done.returncode == 0
    assert "twice(float*, int)" in done.stdout and "(int) = 300" in done.stdout
    assert rocm_perf("replay", "reserve-check", cwd=tmp_path).returncode == 0


def test_an_occupied_address_is_exit_code_2_and_the_region_is_named(
    captured: Path, tmp_path: Path
) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import ctypes\n"
        "m = ctypes.CDLL(None).mmap\n"
        "m.restype = ctypes.c_void_p\n"
        "m.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]\n"
        f"m({BASE}, 4096, 0, 0x100022, -1, 0)\n"
    )
    occupied = {"PYTHONPATH": str(tmp_path)}
    done = rocm_perf("replay", "reserve-check", captured, cwd=tmp_path, env=occupied)
    assert done.returncode == 2
    assert "relocated" in done.stdout and f"{BASE:#x}" in done.stdout
    said = complaint(rocm_perf("replay", "full-vm", captured, cwd=tmp_path, env=occupied), 2)
    assert f"region {BASE:#x}" in said


def _needs_a_terabyte(folder: Path) -> None:
    """One more region, of zeros: no MI300X has the memory."""
    path = folder / "memory_regions.json"
    document = json.loads(path.read_text())
    zeros = {"offset": 0, "size": 1 << 40, "file": None}
    document["regions"].insert(
        0, {**document["regions"][0], "base": FAR, "size": 1 << 40, "before": [zeros], "after": []}
    )
    path.write_text(json.dumps(document))


def test_a_step_that_fails_is_exit_code_1_and_the_region_is_named(
    captured: Path, tmp_path: Path
) -> None:
    fuzz.copy(captured, tmp_path / "c", _needs_a_terabyte)
    done = rocm_perf("replay", "reserve-check", "c", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert f"{FAR:#x}" in done.stdout and "OUT_OF_RESOURCES" in done.stdout
    said = complaint(rocm_perf("replay", "full-vm", "c", cwd=tmp_path), 1)
    assert f"{FAR:#x}" in said and "OUT_OF_RESOURCES" in said


def test_nothing_stays_mapped_after_a_step_failed(captured: Path) -> None:
    """Asked of the kernel, while the worker still runs: the span before the one that fails was
    mapped, the one after it only held."""
    ranges = [(FAR - (1 << 30), 3 * 4096), (FAR, 1 << 40), (BASE, 4096)]
    with open_capture(captured) as capture:
        isa = capture.dispatch.isa
    device = sessions.choose_device(isa, None)
    worker = subprocess.Popen(
        process.python("rocm_perf_lab.replay.worker"),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env=discover.environment_for(device, None),
    )  # fmt: skip
    assert worker.stdin is not None and worker.stdout is not None

    def mapped() -> list[tuple[int, int]]:
        rows = Path(f"/proc/{worker.pid}/maps").read_text().splitlines()
        bounds = [tuple(int(n, 16) for n in row.split()[0].split("-")) for row in rows]
        return [r for r in ranges if any(low < sum(r) and r[0] < high for low, high in bounds)]

    with worker:
        try:
            print(json.dumps({"ranges": ranges}), file=worker.stdin, flush=True)
            assert json.loads(worker.stdout.readline()) == {"held": True}
            assert mapped() == ranges
            request = {"library": discover.hsa_library(device), "isa": isa}
            print(json.dumps({"do": "reserve", "with": request}), file=worker.stdin, flush=True)
            answer = json.loads(worker.stdout.readline())
            assert answer["error"]["kind"] == "map_failed"
            assert answer["error"]["span"] == list(ranges[1])
            assert mapped() == []
        finally:
            worker.stdin.close()


def test_diff_names_the_argument_and_the_first_element(
    captured: Path, built: dict[str, CodeObject], tmp_path: Path
) -> None:
    other = twice(tmp_path / "other", built["twice"], start=1.5)
    assert rocm_perf("replay", "diff", captured, captured, cwd=tmp_path).returncode == 0
    done = rocm_perf("replay", "diff", captured, other, cwd=tmp_path)
    assert done.returncode == 1
    assert "(argument 0)" in done.stdout
    assert "the first f32 is [0]: 1.0 -> 1.5" in done.stdout  # before
    assert "the first f32 is [0]: 2.0 -> 3.0" in done.stdout  # after


def test_a_capture_is_profiled_without_its_program(captured: Path, tmp_path: Path) -> None:
    done = rocm_perf(
        "profile", "--capture", captured, "--runs", "1", "--no-counters", "--json",
        "--device", "virtual", cwd=tmp_path, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["kernel"]["name"].startswith("twice")
    assert document["kernels"][0]["dispatches"] == 3
    assert document["provenance"]["device"]["kind"] == "virtual"
    assert complaint(rocm_perf("profile", "--capture", captured, "./app", cwd=tmp_path), 2)


def test_a_kernel_that_does_not_end_is_stopped_in_time(captured: Path, tmp_path: Path) -> None:
    (tmp_path / "e.hsaco").write_bytes(compile_kernels(tmp_path, ENDLESS, "endless").elf.data)
    options = ["--hsaco", "e.hsaco", "--timeout", "2"]
    done = rocm_perf("replay", "full-vm", captured, *options, cwd=tmp_path, timeout=60)
    assert "did not end in time" in complaint(done, 1)


def test_bad_options_are_usage_errors(captured: Path, tmp_path: Path) -> None:
    for words in (("--verify", "soon"), ("--dtype", "f33"), ("--iterations", "0")):
        assert rocm_perf("replay", "full-vm", captured, *words, cwd=tmp_path).returncode == 2


def _truncate(folder: Path) -> None:
    path = next((folder / "memory").iterdir())
    path.write_bytes(path.read_bytes()[:-1])


def _edit(folder: Path) -> None:
    path = next((folder / "memory").iterdir())
    path.write_bytes(b"\xff" + path.read_bytes()[1:])


def _lose(folder: Path) -> None:
    next((folder / "memory_after").iterdir()).unlink()


def _no_manifest(folder: Path) -> None:
    (folder / "manifest.json").unlink()


def _edit_grid(folder: Path) -> None:
    path = folder / "dispatch.json"
    path.write_text(path.read_text().replace("320", "640"))


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (_truncate, "bytes where"),
        (_edit, "hash differs"),
        (_lose, "cannot be read"),
        (_no_manifest, "not a capture"),
        (_edit_grid, "hash differs"),
    ],
)
def test_a_damaged_capture_is_refused_with_the_reason(
    captured: Path, tmp_path: Path, damage: Callable[[Path], None], reason: str
) -> None:
    shutil.copytree(captured, tmp_path / "c")
    damage(tmp_path / "c")
    assert reason in complaint(rocm_perf("replay", "full-vm", "c", cwd=tmp_path), 3)


def test_another_isa_is_refused(captured: Path, tmp_path: Path) -> None:
    def other(folder: Path) -> None:
        path = folder / "dispatch.json"
        path.write_text(path.read_text().replace("gfx942:sramecc+:xnack-", "gfx90a"))

    fuzz.copy(captured, tmp_path / "c", other)
    assert "gfx90a" in complaint(rocm_perf("replay", "full-vm", "c", cwd=tmp_path), 3)


def changed(captured: Path, target: Path, data: st.DataObject) -> Path:
    name = data.draw(st.sampled_from([*fuzz.JSON_FILES, "kernarg.bin", "code_objects/0.hsaco"]))
    pick = data.draw(st.floats(0, 1))
    if name.endswith(".json"):
        value = data.draw(fuzz.replacements)
        return fuzz.copy(captured, target, lambda f: fuzz.change_json(f, name, pick, value))
    byte = data.draw(st.integers(0, 255))
    return fuzz.copy(captured, target, lambda f: fuzz.change_bytes(f, name, pick, byte))


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_changed_capture_is_read_or_refused(
    captured: Path, tmp_path: Path, data: st.DataObject
) -> None:
    folder = changed(captured, tmp_path / "c", data)
    for job in (lambda: info(folder), lambda: diff(captured, folder)):
        try:
            job()
        except PerfLabError as error:
            assert error.message


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_changed_capture_is_replayed_or_refused(
    captured: Path, tmp_path: Path, data: st.DataObject
) -> None:
    _replay_changed(captured, tmp_path, data)


@pytest.mark.slow
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_many_changed_captures_are_replayed_or_refused(
    captured: Path, tmp_path: Path, data: st.DataObject
) -> None:
    _replay_changed(captured, tmp_path, data)


def _replay_changed(captured: Path, tmp_path: Path, data: st.DataObject) -> None:
    folder = changed(captured, tmp_path / "c", data)
    options = run.ReplayOptions(capture=folder, iterations=1, warmup=0, timeout_s=20)
    try:
        run.full_vm(options)
    except PerfLabError as error:
        assert error.message
        assert "Traceback" not in error.message + (error.hint or "")
        assert "Error:" not in error.message, error.message  # an exception nobody foresaw
