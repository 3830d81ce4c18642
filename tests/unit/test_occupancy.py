"""Occupancy: known cases, laws, and LLVM's own count for the same registers, LDS and block."""

from __future__ import annotations

import math
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm_perf_lab.analyze.occupancy import of_kernel
from rocm_perf_lab.arch import gpu, occupancy
from rocm_perf_lab.trace.model import KernelSymbol

MI300X = gpu("gfx942")
EVERY = ("gfx908", "gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1100", "gfx1151", "gfx1201")


def symbol(**facts: int | None) -> KernelSymbol:
    known: dict[str, int | None] = {
        "sgprs": 32,
        "arch_vgprs": 32,
        "accum_vgprs": 0,
        "total_vgprs": 32,
        "static_lds_bytes": 0,
        "scratch_bytes": 0,
    }
    return KernelSymbol(0, "k", None, None, **{**known, **facts})


def test_124_vgprs_and_4_agprs_fill_half_the_waves_as_measured_on_mi200() -> None:
    found = occupancy(gpu("gfx90a"), threads=256, vgprs=124, agprs=4, sgprs=32)
    assert (found.theoretical, found.limiter, found.waves_per_simd) == (0.5, "vgpr", 4)


def test_64_kib_of_lds_leave_one_workgroup_per_cu_as_measured_on_mi200() -> None:
    found = occupancy(gpu("gfx90a"), threads=256, vgprs=16, agprs=0, sgprs=32, lds_bytes=65536)
    assert (found.theoretical, found.limiter) == (0.125, "lds")


def test_a_light_kernel_fills_the_hardware() -> None:
    found = occupancy(MI300X, threads=256, vgprs=32, agprs=0, sgprs=32)
    assert (found.theoretical, found.limiter, found.waves_per_simd) == (1.0, "hardware", 8)


def test_agprs_share_the_register_file_from_cdna2_on_and_have_their_own_before() -> None:
    before = occupancy(gpu("gfx908"), threads=256, vgprs=64, agprs=64, sgprs=32)
    since = occupancy(MI300X, threads=256, vgprs=64, agprs=64, sgprs=32)
    assert before.limits["vgpr"] == 4 == 256 // 64
    assert since.limits["vgpr"] == 4 == 512 // 128


def test_whole_workgroups_only() -> None:
    """96 VGPRs allow 5 waves per SIMD, 20 per CU; blocks of 16 waves fit once."""
    found = occupancy(MI300X, threads=1024, vgprs=96, agprs=0, sgprs=32)
    assert found.limits["vgpr"] == 5
    assert (found.waves_per_simd, found.theoretical, found.limiter) == (4, 0.5, "vgpr")


def test_a_block_of_three_waves_wastes_two_places() -> None:
    found = occupancy(MI300X, threads=192, vgprs=16, agprs=0, sgprs=32)
    assert (found.theoretical, found.limiter) == (30 / 32, "workgroup")


def test_one_wave_per_cu_is_a_quarter_wave_per_simd() -> None:
    found = occupancy(MI300X, threads=64, vgprs=16, agprs=0, sgprs=32, lds_bytes=65536)
    assert (found.waves_per_simd, found.theoretical) == (0.25, 1 / 32)


def test_a_wgp_shares_its_lds_among_four_simds() -> None:
    found = occupancy(gpu("gfx1100"), threads=256, vgprs=32, lds_bytes=65536)
    assert (found.workgroups_per_domain, found.waves_per_simd, found.limiter) == (2, 4, "lds")


def test_wave64_on_rdna_takes_two_places_in_the_register_file() -> None:
    narrow = occupancy(gpu("gfx1030"), threads=256, vgprs=128)
    wide = occupancy(gpu("gfx1030"), threads=256, vgprs=128, wave_size=64)
    assert (narrow.limits["vgpr"], wide.limits["vgpr"]) == (8, 4)


def test_a_workgroup_that_cannot_run_is_null_and_says_so() -> None:
    found = occupancy(MI300X, threads=1024, vgprs=256, agprs=256, sgprs=32)
    assert found.theoretical is None
    assert found.reason == "one workgroup of 1024 threads does not fit: vgpr"
    too_much = occupancy(MI300X, threads=64, vgprs=8, agprs=0, sgprs=8, lds_bytes=65537)
    assert too_much.theoretical is None and too_much.limiter == "lds"


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({"arch_vgprs": None, "total_vgprs": None}, "the VGPR count is not recorded"),
        (
            {"accum_vgprs": None, "total_vgprs": None},
            "the AGPR count is not recorded, and AGPRs share the register file",
        ),
        ({"arch_vgprs": -1}, "the VGPR count is negative"),
    ],
)
def test_an_unknown_input_gives_null_with_the_reason(
    facts: dict[str, int | None], reason: str
) -> None:
    found = of_kernel(MI300X, symbol(**facts), (256, 1, 1), 0)
    assert (found.theoretical, found.reason) == (None, reason)


def test_unknown_sgprs_matter_only_where_they_decide() -> None:
    light = occupancy(MI300X, threads=256, vgprs=32, agprs=0, sgprs=None)
    heavy = occupancy(MI300X, threads=256, vgprs=128, agprs=0, sgprs=None)
    assert light.theoretical is None and "SGPR" in (light.reason or "")
    assert heavy.theoretical == 0.5


def test_without_an_architecture_there_is_no_occupancy() -> None:
    assert of_kernel(None, symbol(), (256, 1, 1), 0).reason == (
        "no architecture file describes this GPU"
    )


@given(
    name=st.sampled_from(EVERY),
    threads=st.integers(1, 1024),
    vgprs=st.integers(0, 256),
    agprs=st.integers(0, 256),
    sgprs=st.integers(0, 112),
    lds=st.integers(0, 65536),
    more=st.sampled_from(["vgprs", "agprs", "sgprs", "lds_bytes"]),
)
def test_needing_more_never_raises_occupancy(
    name: str, threads: int, vgprs: int, agprs: int, sgprs: int, lds: int, more: str
) -> None:
    device = gpu(name)
    needs = {"vgprs": vgprs, "agprs": agprs, "sgprs": sgprs, "lds_bytes": lds}
    found = occupancy(device, threads=threads, **needs)
    greedier = occupancy(device, threads=threads, **{**needs, more: needs[more] + 16})
    waves = found.waves_per_simd or 0.0
    assert (greedier.waves_per_simd or 0.0) <= waves
    assert waves <= device.limits.max_waves_per_simd
    if found.theoretical is not None:
        assert 0 < found.theoretical <= 1
        assert found.theoretical == waves / device.limits.max_waves_per_simd
        assert all(waves <= math.ceil(limit) for limit in found.limits.values())


# --- LLVM as oracle ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Compiled:
    vgprs: int
    agprs: int
    sgprs: int
    lds_bytes: int
    occupancy: int


def clang() -> str:
    for name in ("clang-21", "clang-20", "clang-19", "clang-18", "clang"):
        path = shutil.which(name)
        if path is None:
            continue
        targets = subprocess.run([path, "--print-targets"], capture_output=True, text=True)
        if "amdgcn" in targets.stdout:
            return path
    pytest.skip("no clang with the AMDGPU target here")


def kernels(architecture: str) -> tuple[str, list[int]]:
    """Kernels that use so many registers and so much LDS, and their workgroup sizes."""
    text, sizes = [], []

    def add(threads: int, clobbers: str, lds_bytes: int = 0) -> None:
        body = f'asm volatile("" ::: {clobbers});' if clobbers else ""
        if lds_bytes:
            body += (
                f"__attribute__((shared)) static volatile float l[{lds_bytes // 4}];"
                "l[__builtin_amdgcn_workitem_id_x()] = *p;"
            )
        text.append(
            f"__attribute__((global, amdgpu_flat_work_group_size(1, {threads}))) "
            f"void k{len(sizes)}(float* p) {{ {body} }}"
        )
        sizes.append(threads)

    for count in (*range(1, 256, 7), 24, 32, 64, 84, 96, 128, 168, 255):
        add(256, f'"v{count}"')
    for up_to in (10, 77, 79, 81, 85, 87, 95, 97, 99):
        add(64, f'"s{up_to}"')
    for lds in (512, 4096, 8192, 10240, 16384, 20480, 32768, 40960, 65536):
        for threads in (64, 192, 256, 1024):
            add(threads, "", lds)
    if architecture in ("gfx908", "gfx90a", "gfx942", "gfx950"):
        for v, a in ((4, 4), (60, 60), (61, 3), (100, 27), (124, 3), (127, 127), (200, 255)):
            add(256, f'"v{v}", "a{a}"')
    return "\n".join(f'extern "C" {line}' for line in text), sizes


def compiled(architecture: str, source: str, folder: Path, *flags: str) -> list[Compiled]:
    path = folder / "kernels.hip"
    path.write_text(source)
    command = [
        *(clang(), "-x", "hip", f"--offload-arch={architecture}", "--offload-device-only"),
        *("-nogpuinc", "-nogpulib", "-O1", "-S", "-o", str(folder / "out.s")),
        *("-Rpass-analysis=kernel-resource-usage", *flags, str(path)),
    ]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if "invalid target ID" in run.stderr or "unsupported" in run.stderr.lower():
        pytest.skip(f"this clang does not know {architecture}")
    assert run.returncode == 0, run.stderr[-2000:]

    def numbers(label: str) -> list[int]:
        return [int(n) for n in re.findall(rf"remark: .*\b{label}: (\d+)", run.stderr)]

    vgprs, occupancies = numbers("VGPRs"), numbers(r"Occupancy \[waves/SIMD\]")
    agprs = numbers("AGPRs") or [0] * len(vgprs)
    columns = (vgprs, agprs, numbers("SGPRs"), numbers(r"LDS Size \[bytes/block\]"), occupancies)
    return [Compiled(*row) for row in zip(*columns, strict=True)]


@pytest.mark.parametrize(
    ("architecture", "flags"),
    [
        *((name, ()) for name in ("gfx908", "gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1034")),
        *((name, ()) for name in ("gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150")),
        *((name, ()) for name in ("gfx1151", "gfx1152", "gfx1200", "gfx1201")),
        ("gfx1030", ("-mwavefrontsize64",)),
        ("gfx1100", ("-mwavefrontsize64",)),
    ],
)
def test_llvm_counts_the_same_waves_per_simd(
    architecture: str, flags: tuple[str, ...], tmp_path: Path
) -> None:
    """LLVM rounds waves per SIMD up and does not know LDS granules; the sizes here are whole."""
    device = gpu(architecture)
    source, sizes = kernels(architecture)
    rows = compiled(architecture, source, tmp_path, *flags)
    assert len(rows) == len(sizes)
    wrong = []
    for threads, row in zip(sizes, rows, strict=True):
        ours = occupancy(
            device,
            threads=threads,
            vgprs=row.vgprs,
            agprs=row.agprs,
            sgprs=row.sgprs,
            lds_bytes=row.lds_bytes,
            wave_size=64 if flags else None,
        )
        waves = min(math.ceil(limit) for limit in ours.limits.values())
        if waves != row.occupancy:
            wrong.append((threads, row, waves))
    assert not wrong
