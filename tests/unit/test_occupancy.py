"""Occupancy: known cases, laws, and LLVM's own count for the same registers, LDS and block."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm_perf_lab.analyze.occupancy import of_kernel
from rocm_perf_lab.arch import gpu, occupancy
from rocm_perf_lab.arch.occupancy import Occupancy
from rocm_perf_lab.codeobject.kernels import Kernel
from rocm_perf_lab.trace.trace import KernelSymbol
from rocm_perf_lab.workflow.disasm import occupancy_of, usual_blocks

MI300X = gpu("gfx942")
EVERY = ("gfx908", "gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1100", "gfx1151", "gfx1201")


def symbol(**facts: Any) -> KernelSymbol:
    known = KernelSymbol(0, "k", None, None, 32, 32, 0, 32, static_lds_bytes=0, scratch_bytes=0)
    return replace(known, **facts)


def test_124_vgprs_and_4_agprs_fill_half_the_waves_as_measured_on_mi200() -> None:
    found = occupancy(gpu("gfx90a"), threads=256, vgprs=124, agprs=4, sgprs=32)
    assert (found.theoretical, found.limiter, found.waves_per_simd) == (0.5, "vgpr", 4)


@pytest.mark.parametrize(
    ("vgprs", "waves"), [(24, 8), (28, 8), (54, 8), (90, 5), (128, 4), (170, 2)]
)
def test_a_laplacian_of_more_outputs_per_thread_has_the_published_occupancy(
    vgprs: int, waves: int
) -> None:
    found = occupancy(gpu("MI250X GCD"), threads=256, vgprs=vgprs, agprs=0, sgprs=32)
    assert found.waves_per_simd == waves


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


def test_agprs_begin_at_a_multiple_of_four() -> None:
    """33 VGPRs take 36, and 31 AGPRs behind them make 67: more than eight waves' 64."""
    found = occupancy(MI300X, threads=256, vgprs=33, agprs=31, sgprs=32)
    assert found.waves_per_simd == 7


def test_lds_is_taken_in_granules_of_512_bytes() -> None:
    """Twelve times 5,461 bytes are less than 64 KiB, but each takes 5,632."""
    fits, over = (
        occupancy(MI300X, threads=128, vgprs=8, agprs=0, sgprs=8, lds_bytes=n) for n in (5120, 5461)
    )
    assert (fits.workgroups_per_domain, over.workgroups_per_domain) == (12, 11)


def test_sixteen_workgroups_of_more_than_one_wave_fit_a_cu() -> None:
    """An MI100 has room for 40 waves a CU, and for 16 barriers."""
    one, two = (occupancy(gpu("gfx908"), threads=n, vgprs=8, agprs=0, sgprs=8) for n in (64, 65))
    assert (one.workgroups_per_domain, two.workgroups_per_domain) == (40, 16)


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
    # A WGP has twice what one workgroup may take.
    rdna = occupancy(gpu("gfx1100"), threads=64, vgprs=8, lds_bytes=65537)
    assert rdna.theoretical is None and rdna.limiter == "lds"


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
class Needs:
    threads: int = 256
    clobbers: tuple[str, ...] = ("v1",)
    lds_bytes: int = 0


def needs(architecture: str) -> list[Needs]:
    """Registers one by one, and LDS by workgroup size; LDS in sizes that granules do not change."""
    cases = [Needs(clobbers=(f"v{last}",)) for last in (*range(0, 256, 5), 23, 95, 167, 255)]
    cases += [Needs(64, (f"s{last}",)) for last in (10, 73, 75, 79, 81, 83, 87, 91, 95, 99)]
    matrix = architecture in ("gfx908", "gfx90a", "gfx942", "gfx950")
    sizes = [5120, 10240, 15360, 20480, 30720, 40960, 65536]
    if architecture == "gfx950":
        sizes += [81920, 163840]
    cases += [Needs(threads, lds_bytes=n) for n in sizes for threads in (64, 192, 256, 1024)]
    if matrix:
        pairs = ((4, 4), (60, 60), (61, 3), (100, 27), (124, 3), (127, 127), (200, 255))
        cases += [Needs(clobbers=(f"v{v}", f"a{a}")) for v, a in pairs]
    return cases


def kernel_ir(case: Needs, number: int) -> str:
    clobbers = ",".join(f"~{{{register}}}" for register in case.clobbers)
    words = max(case.lds_bytes // 4, 1)
    store = f"store volatile i32 1, ptr addrspace(3) @l{number}" if case.lds_bytes else ""
    return f"""
@l{number} = internal addrspace(3) global [{words} x i32] poison, align 16
define amdgpu_kernel void @k{number}(ptr addrspace(1) %p) #{number} {{
  call void asm sideeffect "", "{clobbers}"()
  {store}
  ret void
}}
attributes #{number} = {{ "amdgpu-flat-work-group-size"="{case.threads},{case.threads}" }}
"""


def llvm_counts(architecture: str, features: str, cases: list[Needs]) -> list[dict[str, int]]:
    llvm = pytest.importorskip("llvmlite.binding", reason="LLVM as a library is not installed")
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple("amdgcn-amd-amdhsa")
    text = 'target triple = "amdgcn-amd-amdhsa"\n'
    module = llvm.parse_assembly(text + "".join(kernel_ir(c, i) for i, c in enumerate(cases)))
    machine = target.create_target_machine(cpu=architecture, opt=1, features=features)
    machine.set_asm_verbosity(True)
    found: list[dict[str, int]] = []
    for name, value in re.findall(
        r"; (TotalNumSgprs|NumVgprs|NumAgprs|LDSByteSize|Occupancy): (\d+)",
        machine.emit_assembly(module),
    ):
        if name == "TotalNumSgprs":
            found.append({})
        found[-1][name] = int(value)
    return found


@pytest.mark.parametrize(
    ("architecture", "features"),
    [
        *((name, "") for name in ("gfx908", "gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1034")),
        *((name, "") for name in ("gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150")),
        *((name, "") for name in ("gfx1151", "gfx1152", "gfx1200", "gfx1201")),
        ("gfx1030", "+wavefrontsize64"),
        ("gfx1100", "+wavefrontsize64"),
    ],
)
def test_llvm_counts_the_same_waves_per_simd(architecture: str, features: str) -> None:
    """LLVM rounds waves per SIMD up; it does not know LDS granules in every version."""
    device = gpu(architecture)
    cases = needs(architecture)
    counts = llvm_counts(architecture, features, cases)
    assert len(counts) == len(cases)
    assert len({row["Occupancy"] for row in counts}) > 6
    wrong = []
    for case, row in zip(cases, counts, strict=True):
        ours = occupancy(
            device,
            threads=case.threads,
            vgprs=row["NumVgprs"],
            agprs=row.get("NumAgprs", 0),
            sgprs=row["TotalNumSgprs"],
            lds_bytes=row["LDSByteSize"],
            wave_size=64 if features else None,
        )
        waves = min(math.ceil(limit) for limit in ours.limits.values())
        if waves != row["Occupancy"]:
            wrong.append((case, row, waves))
    assert not wrong


# --- ties and steps ----------------------------------------------------------------------------


def test_every_resource_that_grants_the_fewest_is_named_and_one_alone_does_not_help() -> None:
    """256 registers and 32 KiB of LDS both leave two workgroups of four waves."""
    found = occupancy(
        MI300X, threads=256, vgprs=128, agprs=128, total_vgprs=256, sgprs=32, lds_bytes=32768
    )
    assert (found.limiters, found.waves_per_simd) == (("vgpr", "lds"), 2)
    assert found.steps["vgpr"].at_most == 168 and found.steps["lds"].at_most == 21504
    assert [found.steps[name].gives for name in ("vgpr", "lds")] == [2, 2]
    assert [found.steps[name].allows for name in ("vgpr", "lds")] == [3, 3]
    assert found.together_waves_per_simd == 3


def test_together_is_one_step_of_the_limiters_and_of_nothing_else() -> None:
    """Groups of three waves: fewer registers give 18 of 32; smaller groups would give 20."""
    found = occupancy(MI300X, threads=192, vgprs=128, agprs=0, sgprs=32)
    assert found.limiters == ("vgpr",) and "workgroup" in found.steps
    assert found.together_waves_per_simd == found.steps["vgpr"].gives == 4.5


@given(
    threads=st.integers(1, 1024),
    vgprs=st.integers(1, 512),
    lds=st.integers(0, 65536),
)
def test_a_step_is_the_largest_amount_that_grants_more(threads: int, vgprs: int, lds: int) -> None:
    def at(vgprs: int = vgprs, lds: int = lds) -> Occupancy:
        return occupancy(
            MI300X, threads=threads, vgprs=None, total_vgprs=vgprs, sgprs=0, lds_bytes=lds
        )

    found = at()
    if found.waves_per_simd is None:
        return
    assert found.limiter == found.limiters[0]
    for name, step in found.steps.items():
        assert step.allows > found.waves_per_simd or name not in found.limiters
        assert step.gives >= found.waves_per_simd or name == "workgroup"
    if "lds" in found.steps:
        less = found.steps["lds"]
        assert at(lds=less.at_most).waves_per_simd == less.gives
        more = at(lds=min(less.at_most + MI300X.limits.lds_granule_bytes, lds))
        assert more.limits["lds"] < less.allows or more.limits["lds"] == 8
    if "vgpr" in found.steps:
        assert at(vgprs=found.steps["vgpr"].at_most).waves_per_simd == found.steps["vgpr"].gives


KERNEL = Kernel(
    name="k",
    architecture="gfx942",
    vgprs=92,
    agprs=33,
    sgprs=40,
    lds_bytes=20000,
    scratch_bytes=0,
    vgpr_spills=0,
    sgpr_spills=0,
    kernarg_bytes=0,
    max_threads=1024,
    wave_size=64,
    arguments=(),
    address=0,
    code=b"",
)


def test_disasm_and_profile_agree_on_a_kernel_in_blocks_of_one_size() -> None:
    """The code object tells registers as used, the profiler as allocated, in granules."""
    told = occupancy_of(KERNEL, 256)
    allocated = symbol(sgprs=48, arch_vgprs=96, accum_vgprs=32, total_vgprs=128)
    recorded = of_kernel(MI300X, allocated, (256, 1, 1), 20000)
    assert (told.limiters, told.waves_per_simd) == (recorded.limiters, recorded.waves_per_simd)
    assert told.theoretical == recorded.theoretical


def test_disasm_without_a_block_does_not_pick_one_that_hides_the_limiter() -> None:
    """32 KiB of LDS limit blocks of 256, and do not matter in blocks of 1,024."""
    kernel = replace(KERNEL, vgprs=26, agprs=0, sgprs=17, lds_bytes=32768)
    found = {n: occupancy_of(kernel, n).limiters for n in usual_blocks(kernel)}
    assert found[256] == ("lds",) and found[1024] == ("hardware",)
    assert usual_blocks(replace(kernel, max_threads=192)) == [64, 128, 192]
    recorded = of_kernel(
        MI300X, symbol(sgprs=32, arch_vgprs=28, total_vgprs=32), (256, 1, 1), 65536
    )
    dynamic = occupancy_of(kernel, 256, dynamic_lds=32768)
    assert (dynamic.limiters, dynamic.waves_per_simd) == (
        recorded.limiters,
        recorded.waves_per_simd,
    )


def test_disasm_counts_scalar_registers_as_the_profiler_does() -> None:
    """98 are allocated as 112, of which 800 hold seven waves."""
    kernel = replace(KERNEL, vgprs=8, agprs=0, sgprs=98, lds_bytes=0)
    recorded = of_kernel(MI300X, symbol(sgprs=112, arch_vgprs=8, total_vgprs=8), (256, 1, 1), 0)
    assert occupancy_of(kernel, 256).waves_per_simd == recorded.waves_per_simd == 7
