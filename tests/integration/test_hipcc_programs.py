"""Programs that check device functions against the host, one per subject."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

import rocm_perf_lab
from support import machine
from support.hip_build import hipcc, need_virtual_gpu, run

pytestmark = pytest.mark.compiler

PROGRAMS = Path(__file__).parent / "programs"
INCLUDE = Path(rocm_perf_lab.__file__).parent / "virtual" / "include"


def built(name: str, folder: Path) -> Path:
    need_virtual_gpu()
    hipcc("-O2", PROGRAMS / f"{name}.cpp", "-o", folder / name)
    return folder / name


@pytest.mark.parametrize(
    "name", ["warp", "numbers", "small_calls", "language", "repeats", "progress", "together"]
)
def test_program(name: str, tmp_path: Path) -> None:
    done = run(built(name, tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("0 failures\n")


def test_a_launch_that_takes_long_says_how_far_it_is(tmp_path: Path) -> None:
    program = built("long_launch", tmp_path)
    done = run(program, environment={"ROCM_PERF_VIRTUAL_PROGRESS": "0.001"})
    first = re.compile(
        r"rocm-perf: counts\(unsigned int\*, unsigned int\): [1-9]\d? of 40 workgroups and "
        r"\d+ million wave instructions in \d+ s, about \d+ s left of this launch"
    )
    assert any(map(first.fullmatch, done.stderr.splitlines())), done.stderr
    assert done.stdout == run(program).stdout == "done\n"
    assert not run(program).stderr


def test_another_order_of_waves_shows_what_no_barrier_holds(tmp_path: Path) -> None:
    program = built("together", tmp_path)
    orders = [run(program, environment={"ROCM_PERF_VIRTUAL_WAVES": str(n)}) for n in range(1, 4)]
    assert all(done.returncode == 1 for done in orders), orders


def test_another_order_of_workgroups_shows_what_no_atomic_holds(tmp_path: Path) -> None:
    program = built("orders", tmp_path)
    usual = run(program, environment={"ROCM_PERF_VIRTUAL_THREADS": "1"})
    assert usual.stdout == "added 48 lost 2 last 47 passed 48\n"
    for seed in range(1, 5):
        said = run(program, environment={"ROCM_PERF_VIRTUAL_WAVES": str(seed)}).stdout
        assert re.fullmatch(r"added 48 lost 1 last (?!47)\d+ passed 48\n", said), said


def test_device_printf_formats_as_the_hosts(tmp_path: Path) -> None:
    text = run(built("language", tmp_path)).stdout
    for block in range(2):
        for thread in range(2):
            values = f"-5  3.14|ab  |z {1 << 40} ff 100%"
            assert f"thread {thread} of block {block}: {values}\n" in text


def test_random_work_is_the_same_whether_repeated_launches_run_or_not(tmp_path: Path) -> None:
    program = built("repeats_fuzz", tmp_path)
    skipped = 0
    for seed in range(6):
        quick, whole = (
            run(program, str(seed), environment={"ROCM_PERF_VIRTUAL_REPEATS": mode})
            for mode in ("", "run")
        )
        assert quick.returncode == whole.returncode == 0, quick.stdout + whole.stdout
        assert quick.stdout == whole.stdout
        skipped += "was not run again" in quick.stderr
        assert "was not run again" not in whole.stderr
    assert skipped, "no launch was skipped: the test shows nothing"


def test_a_launch_that_was_not_run_again_is_told_once_with_the_way_out(tmp_path: Path) -> None:
    program = built("repeats", tmp_path)
    # On two GPUs, and told once all the same.
    two = {"ROCM_PERF_DEVICE": "virtual:mi300x,virtual:mi300x"}
    done = run(program, environment=two)
    said = done.stderr
    assert done.returncode == 0, done.stdout
    assert said.count("was not run again") == 1
    assert "ROCM_PERF_VIRTUAL_REPEATS=run" in said
    silenced = run(program, environment={"ROCM_PERF_VIRTUAL_REPEATS": "skip"})
    assert silenced.stderr == ""


def test_a_launch_that_prints_prints_every_time(tmp_path: Path) -> None:
    need_virtual_gpu()
    source = tmp_path / "say.cpp"
    source.write_text(
        "#include <hip/hip_runtime.h>\n"
        '__global__ void say() { printf("again\\n"); }\n'
        "int main() { for (int i = 0; i < 5; ++i) say<<<1, 1>>>();\n"
        "  return hipDeviceSynchronize(); }\n"
    )
    hipcc(source, "-o", tmp_path / "say")
    assert run(tmp_path / "say").stdout == "again\n" * 5


def test_a_host_compiler_reads_the_small_float_headers(tmp_path: Path) -> None:
    compiler = machine.which("g++")
    if compiler is None:
        pytest.skip("no g++")
    source = tmp_path / "host.cpp"
    source.write_text(
        "#define __HIP_PLATFORM_AMD__\n"
        "#include <hip/hip_fp8.h>\n"
        "int main() { __hip_fp8_e4m3 a = 1.0; float2 f = __hip_bfloat162(2, 3);\n"
        "  __hip_fp8x4_e5m2 four(__half2(1, 2), __half2(3, 4));\n"
        "  return (int)a + (int)f.x + (int)((float4)four).w - 7; }\n"
    )
    flags = ("-Wall", "-Wextra", "-Werror", "-isystem", str(INCLUDE))
    subprocess.run([compiler, *flags, source, "-o", tmp_path / "host"], check=True)
    assert run(tmp_path / "host").returncode == 0
