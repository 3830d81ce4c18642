"""The capture library in AMD's own runtimes: ABIs nobody here wrote.

Debian's ROCr and HIP 5.2.3 run without a GPU over a stub of the kernel driver's library; their HIP
also runs on the virtual GPU.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rocm_perf_lab.replay.format import open_capture
from support.captures import read_range
from support.cli import complaint, rocm_perf
from support.native_build import code_object, programs

FOLDERS = [Path("/usr/lib/x86_64-linux-gnu"), Path("/usr/lib64"), Path("/usr/lib")]


def installed(name: str) -> Path:
    found = next((folder / name for folder in FOLDERS if (folder / name).exists()), None)
    if found is None:
        pytest.skip(f"{name} is not installed (Debian: libhsa-runtime64-1, libamdhip64-5)")
    return found


@pytest.fixture(scope="module")
def hip() -> Path:
    installed("libhsa-runtime64.so.1")
    return installed("libamdhip64.so.5")


@pytest.fixture(scope="module")
def built(hip: Path) -> Path:
    return programs()


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return code_object(tmp_path_factory.mktemp("objects"), "gfx90a", version=4)


def environment(built: Path, hip: Path) -> dict[str, str]:
    # The system's HSA runtime, not the virtual GPU's, and the stub in place of its thunk.
    return {
        "LD_LIBRARY_PATH": f"{built / 'stub_thunk'}:{hip.parent}",
        "HSA_ENABLE_INTERRUPT": "0",
    }


def test_a_dispatch_is_captured_in_rocr_5_2(
    built: Path, hip: Path, kernels: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    program = (str(built / "stub_hip"), str(hip), str(kernels))
    done = rocm_perf(
        "capture", "--device", "rocm", "--kernel", "vector", "--index", "3", "--out", out,
        "--", *program, cwd=tmp_path, env=environment(built, hip),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr  # the program went on to its end and was content
    with open_capture(out) as capture:
        dispatch = capture.dispatch
        assert dispatch.kernel.symbol == "vector_add"
        assert (dispatch.index, dispatch.grid, dispatch.workgroup) == (3, (1024, 1, 1), (256, 1, 1))
        assert dispatch.isa.startswith("amdgcn-amd-amdhsa--gfx90a")
        assert [a.kind for a in dispatch.arguments[:3]] == ["global_buffer"] * 3
        first = int.from_bytes(capture.kernarg[:8], "little")
        region = next(r for r in capture.regions if r.base == first)
        assert (region.kind, region.agent) == ("pool", "gpu:0")
        held = np.frombuffer(read_range(capture, region.before, 0, region.size), dtype="<i4")
        # Three launches came before, on two queues; this one added one.
        assert held[0] == 10 and (held[1:] == 7).all()
        (change,) = region.after
        assert (change.offset, capture.read_extent(change)) == (0, b"\x0b")
        assert capture.manifest.complete, capture.manifest.reasons
        assert any(r.kind == "host" for r in capture.regions)


def test_no_match_in_rocr_5_2_leaves_the_program_alone(
    built: Path, hip: Path, kernels: Path, tmp_path: Path
) -> None:
    program = (str(built / "stub_hip"), str(hip), str(kernels))
    done = rocm_perf(
        "capture", "--device", "rocm", "--kernel", "other", "--", *program,
        cwd=tmp_path, env=environment(built, hip),
    )  # fmt: skip
    assert "launched were: vector_add" in complaint(done, 3)


def test_a_dispatch_of_amds_hip_is_captured_and_replayed(
    built: Path, hip: Path, kernels: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    device = {"ROCM_PERF_DEVICE": "virtual:mi250x"}
    done = rocm_perf(
        "capture", "--kernel", "vector_add", "--out", out,
        "--", str(built / "amd_hip"), str(hip), str(kernels), cwd=tmp_path, env=device,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    again = rocm_perf("replay", "full-vm", out, "--iterations", "2", cwd=tmp_path, env=device)
    assert again.returncode == 0, again.stderr
    assert "bit for bit" in again.stdout
