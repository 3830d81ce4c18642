"""Programs that check device functions against the host, one per subject."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.hip_build import hipcc, need_virtual_gpu, run

PROGRAMS = Path(__file__).parent / "programs"


def built(name: str, folder: Path) -> Path:
    need_virtual_gpu()
    hipcc("-O2", PROGRAMS / f"{name}.cpp", "-o", folder / name)
    return folder / name


@pytest.mark.parametrize("name", ["warp", "numbers", "language", "repeats", "progress", "together"])
def test_program(name: str, tmp_path: Path) -> None:
    done = run(built(name, tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("0 failures\n")


def test_device_printf_formats_as_the_hosts(tmp_path: Path) -> None:
    text = run(built("language", tmp_path)).stdout
    for block in range(2):
        for thread in range(2):
            values = f"-5  3.14|ab  |z {1 << 40} ff 100%"
            assert f"thread {thread} of block {block}: {values}\n" in text


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
