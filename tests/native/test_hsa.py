"""The HSA library and the virtual GPU under it, through small programs in C++."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from support.native_build import SOURCES, code_object, programs
from support.sanitizers import SANITIZERS, command

KERNELS = (
    "vector_add identify block_sum grid_barrier spin_lock private_memory globals many_launches "
    "early_return uneven_rounds return_after_lds"
).split()
RUNTIME = (
    "life_time signals handlers barriers doorbells memory copies virtual_memory loader damaged"
).split()  # fmt: skip
AMD_HIP = ["/usr/lib/x86_64-linux-gnu/libamdhip64.so.5", "/opt/rocm/lib/libamdhip64.so.5"]
DEVICES = {"gfx942": "virtual:mi300x", "gfx90a": "virtual:mi250x"}


@pytest.fixture(scope="module")
def built() -> Path:
    return programs()


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("objects")


def run(
    program: Path, *words: str | Path, device: str = "virtual:mi300x", **variables: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(program), *map(str, words)],
        env={**os.environ, "ROCM_PERF_DEVICE": device, **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def passes(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_memory_keeps_its_laws(built: Path) -> None:
    passes(run(built / "core_units"))


@pytest.mark.parametrize("case", RUNTIME)
def test_runtime(case: str, built: Path, objects: Path) -> None:
    words = [code_object(objects)] if case in ("loader", "damaged") else []
    passes(run(built / "hsa_runtime", case, *words))


def test_a_doorbell_hands_packets_over_at_a_time_of_the_host_s(built: Path) -> None:
    passes(run(built / "hsa_runtime", "doorbells", ROCM_PERF_VIRTUAL_TIMING="model"))


@pytest.mark.parametrize("version", [4, 5, 6])
@pytest.mark.parametrize("arch", DEVICES)
def test_kernels_of_every_code_object_version(
    arch: str, version: int, built: Path, objects: Path
) -> None:
    target = code_object(objects, arch, version, dwarf=4 if version == 4 else 5)
    for case in KERNELS:
        passes(run(built / "hsa_kernels", case, target, device=DEVICES[arch]))


@pytest.mark.parametrize("threads", ["1", "3"])
def test_kernels_with_any_number_of_threads(threads: str, built: Path, objects: Path) -> None:
    target = code_object(objects)
    for case in ("block_sum", "grid_barrier", "spin_lock"):
        passes(run(built / "hsa_kernels", case, target, ROCM_PERF_VIRTUAL_THREADS=threads))


def test_the_portable_executor_gives_the_same_results(built: Path, objects: Path) -> None:
    target = code_object(objects)
    for case in KERNELS:
        passes(run(built / "hsa_kernels", case, target, ROCM_PERF_PORTABLE="1"))


# ---- faults: (case, what the first line says, what a later line says, source line's text)
FAULTS = [
    ("fault_past_end", "write of 4 bytes", "0 bytes after the end of 400 bytes of", "store_at"),
    ("fault_far", "which is no memory of this device", "after the end of", "store_at"),
    ("fault_freed", "which has been freed", "400 bytes into 4000 bytes of device", "store_at"),
    ("fault_null", "read of 4 bytes at 0x0", "a null pointer", "= *(GLOBAL volatile u32*)"),
    ("fault_read_only", "which is read-only", "of a code object's memory", "store_at"),
    ("fault_lds", "LDS offset 20000, past the 64 bytes", "ds_read_b32", "(small + index)"),
    ("fault_trap", "trap 2", "s_trap 2", "__builtin_trap"),
    ("fault_endless", "an endless kernel", "ROCM_PERF_VIRTUAL_MAX_INSTRUCTIONS", "while (*p == 0)"),
    ("fault_barrier", "a barrier that not all of the workgroup's 2 waves", "s_barrier", "< 64"),
    ("fault_instruction", "an instruction this GPU does not have", ".long 0xfffffffe", "__asm__"),
]  # fmt: skip


@pytest.mark.parametrize(("case", "headline", "detail", "source"), FAULTS)
@pytest.mark.parametrize("dwarf", [4, 5])
def test_a_fault_names_kernel_instruction_line_lane_and_memory(
    case: str, headline: str, detail: str, source: str, dwarf: int, built: Path, objects: Path
) -> None:
    target = code_object(objects, dwarf=dwarf)
    done = run(
        built / "hsa_kernels", case, target, ROCM_PERF_VIRTUAL_MAX_INSTRUCTIONS="1000000"
    )  # the program checks the status its queue reports
    passes(done)
    first, *rest = done.stderr.splitlines()
    assert first.startswith("rocm-perf: GPU fault in kernel ")
    assert headline in first
    assert detail in done.stderr
    assert any(line.startswith("  workgroup    (0, 0, 0) of") for line in rest)
    line = re.search(r"source +\S*kernels\.c:(\d+)", done.stderr)
    assert line is not None
    assert source in (SOURCES / "kernels.c").read_text().splitlines()[int(line[1]) - 1]


def test_a_fault_names_the_lane_that_went_wrong(built: Path, objects: Path) -> None:
    done = run(built / "hsa_kernels", "fault_past_end", code_object(objects))
    assert "work-item    (40, 0, 0), lane 40" in done.stderr


def test_bounds_and_barriers_can_be_as_hardware_has_them(built: Path, objects: Path) -> None:
    target = code_object(objects)
    for case, variable, value in (
        ("fault_past_end", "ROCM_PERF_VIRTUAL_BOUNDS", "page"),
        ("fault_barrier", "ROCM_PERF_VIRTUAL_BARRIER", "hardware"),
    ):
        done = run(built / "hsa_kernels", case, target, **{variable: value})
        assert "status 0\n" in done.stdout, done.stdout + done.stderr


def test_a_workgroup_that_cannot_run_is_refused(built: Path, objects: Path) -> None:
    done = run(built / "hsa_kernels", "refuse_workgroup", code_object(objects))
    passes(done)
    assert "2048 work-items; the most is 1024" in done.stderr


def test_code_for_another_gpu_is_refused_with_what_to_build_for(built: Path, objects: Path) -> None:
    done = run(built / "hsa_kernels", "vector_add", code_object(objects, "gfx90a"))
    assert done.returncode != 0
    assert "built for gfx90a, but virtual:mi300x is a gfx942" in done.stderr


# ---- the library as a whole


def test_every_device_reports_its_model(built: Path) -> None:
    out = passes(run(built / "hsa_runtime", "agents", device="virtual:mi250x"))
    assert "gfx90a Virtual AMD Instinct MI250X 110 1 64" in out
    assert "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-" in out
    assert "gpus 3" in passes(
        run(built / "hsa_runtime", "agents", device="virtual:mi300x*2,virtual:mi250x")
    )


def test_an_unknown_device_fails_with_the_names_there_are(built: Path) -> None:
    done = run(built / "hsa_runtime", "agents", device="virtual:mi9")
    assert done.returncode != 0
    assert "virtual:mi300x" in done.stderr


def test_memory_is_limited_by_what_the_host_may_give(built: Path) -> None:
    done = run(built / "hsa_runtime", "memory", ROCM_PERF_VIRTUAL_MEMORY="512K")
    assert done.returncode != 0
    assert "ROCM_PERF_VIRTUAL_MEMORY" in done.stderr


def test_amds_own_hip_runs_on_this_hsa_library(built: Path, objects: Path) -> None:
    """HIP 5.2.3 as Debian ships it: an ABI check nobody here wrote."""
    candidates = [os.environ.get("ROCM_PERF_AMD_HIP", ""), *AMD_HIP]
    library = next((path for path in candidates if path and Path(path).exists()), None)
    if library is None:
        pytest.skip("AMD's libamdhip64.so.5 is not installed (Debian: libamdhip64-5)")
    target = code_object(objects, "gfx90a", version=4)
    out = passes(run(built / "amd_hip", library, target, device="virtual:mi250x"))
    assert "amd_hip: ok, 1 device, timed" in out


def test_a_profiler_with_too_small_a_struct_is_refused(built: Path, objects: Path) -> None:
    passes(run(built / "hsa_kernels", "old_profiler", code_object(objects)))


def test_a_tool_library_hooks_every_call_and_every_packet(built: Path, objects: Path) -> None:
    tool = next(built.parent.rglob("libhsa_tool.so"))
    target = code_object(objects)
    out = passes(run(built / "hsa_kernels", "many_launches", target, HSA_TOOLS_LIB=str(tool)))
    assert "tool: root 3.1 core 1016 bytes amd 2.7 608 bytes failed 0" in out
    assert "tool: queues 1 allocations 201 packets 200 dispatches 200" in out


def test_a_tool_library_that_is_not_there_is_told_and_passed_over(built: Path) -> None:
    done = run(built / "hsa_runtime", "agents", HSA_TOOLS_LIB="/nowhere/libtool.so")
    passes(done)
    assert "/nowhere/libtool.so" in done.stderr


@pytest.mark.parametrize(
    ("case", "found"), [("copied_by_signal", 0), ("copied_by_barrier", 0), ("copied_beside", 1)]
)
def test_a_copy_that_no_signal_orders_is_a_race(
    case: str, found: int, built: Path, objects: Path, tmp_path: Path
) -> None:
    checked = {"ROCM_PERF_CHECK": "race", "ROCM_PERF_CHECK_LOG": str(tmp_path)}
    passes(run(built / "hsa_kernels", case, code_object(objects), **checked))
    (log,) = tmp_path.glob("*.log")
    assert log.read_text().count('"r":"finding"') == found


@pytest.mark.slow
@pytest.mark.parametrize("name", SANITIZERS)
def test_everything_again_under_the_sanitizers(objects: Path, name: str) -> None:
    sanitizer = SANITIZERS[name]
    folder, target = sanitizer.built(), code_object(objects)
    jobs: list[tuple[str, ...]] = [("core_units",)]
    jobs += [("hsa_runtime", case) for case in RUNTIME]
    jobs += [("hsa_kernels", case) for case in (*KERNELS, *(fault for fault, *_ in FAULTS))]
    limit = {"ROCM_PERF_VIRTUAL_MAX_INSTRUCTIONS": "1000000"}
    for program, *case in jobs:
        faults = any(word.startswith("fault") for word in case)
        words = command(folder / program, *case, target)
        passes(run(Path(words[0]), *words[1:], **sanitizer.variables, **(limit if faults else {})))
