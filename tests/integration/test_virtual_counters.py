"""The virtual GPU's counters and times against what hardware was measured to do.

vcopy's counters: rocprof-compute's recordings on an MI300X and an MI210. Latencies: mt4g.
"""

from __future__ import annotations

import ctypes
import time
from pathlib import Path

import pytest

from rocm_perf_lab.arch.counters import base_name, counter_groups
from rocm_perf_lab.virtual.native import HSA_LIBRARY, library_dir
from support.hip_build import REPOSITORY, build, hipcc, need_virtual_gpu
from support.model_probe import Dispatch, build_probe, profile, profile_text, run

CUS = 304
CLOCK_GHZ = 2.1


@pytest.fixture(scope="module")
def probe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need_virtual_gpu()
    return build_probe(tmp_path_factory.mktemp("probe"))


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need_virtual_gpu()
    text = (REPOSITORY / "tests" / "integration" / "programs" / "model_kernels.cpp").read_text()
    shared = REPOSITORY / "src" / "rocm_perf_lab" / "validate"
    return build(tmp_path_factory.mktemp("kernels"), text, ["-I", str(shared)])


@pytest.fixture(scope="module")
def vcopy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need_virtual_gpu()
    target = tmp_path_factory.mktemp("vcopy") / "vcopy"
    hipcc("-O3", REPOSITORY / "examples" / "vcopy.cpp", "-o", target)
    return target


@pytest.fixture(scope="module")
def copied(probe: Path, vcopy: Path) -> list[Dispatch]:
    return profile(probe, vcopy, "-n", "1048576", "-b", "256", "-i", "3")


EQUAL = {
    "SQ_WAVES": 16384,
    "SQ_ITEMS": 1048576,
    "SQ_INSTS": 327680,
    "SQ_INSTS_VALU": 98304,
    "SQ_INSTS_VALU_INT32": 49152,
    "SQ_INSTS_VALU_INT64": 32768,
    "SQ_INSTS_SALU": 49152,
    "SQ_INSTS_SMEM": 65536,
    "SQ_INSTS_VMEM": 32768,
    "SQ_INSTS_VMEM_RD": 16384,
    "SQ_INSTS_VMEM_WR": 16384,
    "SQ_INSTS_FLAT": 32768,
    "SQ_INSTS_LDS": 0,
    "SQ_INSTS_BRANCH": 16384,
    "SQ_INSTS_SENDMSG": 16384,
    "SQ_ACTIVE_INST_ANY": 278528,
    "SQ_ACTIVE_INST_VALU": 98304,
    "SQ_ACTIVE_INST_SCA": 114688,
    "SQ_ACTIVE_INST_FLAT": 32768,
    "SQ_ACTIVE_INST_MISC": 32768,
    "SQ_THREAD_CYCLES_VALU": 6291456,
    "SQ_IFETCH": 65536,
    "SQC_ICACHE_REQ": 65536,
    "SQC_DCACHE_REQ": 65536,
    "SQC_DCACHE_REQ_READ_1": 32768,
    "SQC_DCACHE_REQ_READ_2": 32768,
    "SQC_DCACHE_MISSES": 160,
    "SQC_DCACHE_MISSES_DUPLICATE": 4800,  # 30 for each miss, on four GPUs
    "SQC_DCACHE_HITS": 60576,
    "SQC_ICACHE_MISSES": 160,
    "TA_TOTAL_WAVEFRONTS": 32768,
    "TA_FLAT_READ_WAVEFRONTS": 16384,
    "TD_LOAD_WAVEFRONT": 32768,
    "TD_STORE_WAVEFRONT": 16384,
    "TCP_TOTAL_ACCESSES": 2097152,
    "TCP_TOTAL_CACHE_ACCESSES": 524288,
    "TCP_TCC_READ_REQ": 65536,
    "TCP_TCC_WRITE_REQ": 131072,
    "TCC_WRITE": 131072,
    "TCC_BUBBLE": 65536,
    "TCC_EA0_RDREQ_32B": 0,
    "TCC_EA0_WRREQ": 131072,
    "TCC_EA0_WRREQ_64B": 131072,
    "TCC_NORMAL_EVICT": 0,
}
WITHIN_1_PERCENT = {
    "TCC_HIT": 65536,
    "TCC_MISS": 131315,
    "TCC_READ": 65780,
    "TCC_REQ": 196860,
    "TCC_EA0_RDREQ": 65763,
    "TCC_WRITEBACK": 65656,
    "SQC_ICACHE_HITS": 62320,
}
# Of each launch; the passes they were recorded in ran at two speeds (docs/virtual-model.md).
WITHIN_20_PERCENT = {
    "SQ_WAVE_CYCLES": [17326471, 13532176, 13887596],
    "SQ_WAIT_ANY": [12464634, 8999689, 9644071],
    "SQ_BUSY_CU_CYCLES": [3174376, 2345928, 2368304],
}


@pytest.mark.parametrize("name", EQUAL)
def test_vcopy_counts_what_an_mi300x_counts(copied: list[Dispatch], name: str) -> None:
    assert [d.counters[name] for d in copied] == [EQUAL[name]] * 3


@pytest.mark.parametrize("name", WITHIN_1_PERCENT)
def test_vcopy_caches_are_close_to_an_mi300x(copied: list[Dispatch], name: str) -> None:
    for dispatch in copied:
        assert dispatch.counters[name] == pytest.approx(WITHIN_1_PERCENT[name], rel=0.01)


@pytest.mark.parametrize("name", WITHIN_20_PERCENT)
def test_vcopy_cycles_are_near_those_of_an_mi300x(copied: list[Dispatch], name: str) -> None:
    assert [d.counters[name] for d in copied] == pytest.approx(WITHIN_20_PERCENT[name], rel=0.2)


def test_a_wave_issues_or_waits(copied: list[Dispatch]) -> None:
    """Equal to the last quad in all three launches recorded on an MI210."""
    for d in copied:
        parts = ("SQ_WAIT_ANY", "SQ_WAIT_INST_ANY", "SQ_ACTIVE_INST_ANY")
        rounded = 3 * 32  # once in every shader engine
        total = sum(d.counters[name] for name in parts)
        assert total == pytest.approx(d.counters["SQ_WAVE_CYCLES"], abs=rounded)


def test_vcopy_takes_about_as_long_as_on_an_mi300x(copied: list[Dispatch]) -> None:
    # Recorded: 6.7 to 9.6 us for the first launch, 5.2 to 6.9 us for the others.
    assert 5_500 < copied[0].duration_ns < 9_600
    assert 4_700 < copied[2].duration_ns < 7_500


def test_counters_have_one_value_per_hardware_instance(copied: list[Dispatch]) -> None:
    instances = copied[0].instances
    assert instances["GRBM_GUI_ACTIVE"] == 8
    assert instances["SQ_WAVES"] == 32
    assert instances["TCP_TOTAL_CACHE_ACCESSES"] == CUS
    assert instances["TCC_HIT"] == 128


def test_same_program_same_profile_whatever_the_threads(probe: Path, vcopy: Path) -> None:
    runs = {
        profile_text(
            probe, vcopy, "-n", "300000", "-i", "2",
            ROCM_PERF_VIRTUAL_THREADS=threads, MODEL_PROBE_ATT="1",
        )
        for threads in ("1", "2", "5")
    }  # fmt: skip
    assert len(runs) == 1


@pytest.mark.parametrize(
    ("size", "steps", "cycles"),
    [(16 << 10, 8192, 116), (1 << 20, 65536, 287.5), (512 << 20, 2048, 899.7)],
    ids=["L1", "L2", "HBM"],
)
def test_a_pointer_chase_shows_the_measured_latency(
    probe: Path, kernels: Path, size: int, steps: int, cycles: float
) -> None:
    cold, warm, twice = profile(probe, kernels, "chase", str(size), str(steps))
    # The L2 starts every dispatch empty: only the difference of two leaves its filling out.
    per_step = cold.cycles / steps if cycles > 500 else (twice.cycles - warm.cycles) / steps
    assert per_step == pytest.approx(cycles, rel=0.08)  # the loop adds an add and a branch


def test_lds_conflicts_are_those_measured_for_each_stride(probe: Path, kernels: Path) -> None:
    conflicts = [d.counters["SQ_LDS_BANK_CONFLICT"] for d in profile(probe, kernels, "lds_read")]
    assert conflicts == [0, 128, 384, 896, 1920, 3968]


def test_a_wave_reads_sixteen_bytes_a_lane_every_twenty_cycles(probe: Path, kernels: Path) -> None:
    _, once, twice = profile(probe, kernels, "lds_wide", "100", MODEL_PROBE_COUNTERS="0")
    # The last one's latency and the loop's branch beside them.
    assert 7 * 20 + 48 < (twice.cycles - once.cycles) / 100 < 7 * 20 + 120


def test_an_fma_chain_keeps_the_vector_units_busy(probe: Path, kernels: Path) -> None:
    (d,) = profile(probe, kernels, "fma", "64", "1216")
    assert d.counters["SQ_ACTIVE_INST_VALU"] / (d.cycles * CUS) > 0.6
    # A wave's start, its code and arguments and each taken branch are waits too.
    assert d.counters["SQ_WAIT_ANY"] / d.counters["SQ_WAVE_CYCLES"] < 0.2
    assert d.counters["SQ_INSTS_VALU_FMA_F32"] == 64 * 32 * 1216 * 4


def test_matrix_instructions_take_the_cycles_of_amds_calculator(probe: Path, kernels: Path) -> None:
    _, once, twice = profile(probe, kernels, "matrix", "100", MODEL_PROBE_COUNTERS="0")
    # v_mfma_f32_32x32x8_f16: 32 cycles, one after the other.
    assert (twice.cycles - once.cycles) / (64 * 100) == pytest.approx(32, rel=0.02)


def test_divergent_lanes_show(probe: Path, kernels: Path) -> None:
    (d,) = profile(probe, kernels, "diverge", "32", "304")
    assert d.counters["SQ_THREAD_CYCLES_VALU"] < 0.3 * 64 * d.counters["SQ_ACTIVE_INST_VALU"]


def test_64_kib_of_lds_leave_one_workgroup_per_compute_unit(probe: Path, kernels: Path) -> None:
    (d,) = profile(probe, kernels, "big_lds", "8", "608")
    resident = 4 * d.counters["SQ_WAVE_CYCLES"] / (d.counters["SQ_BUSY_CU_CYCLES"] * 32)
    assert resident <= 0.125


def test_strided_lds_reads_keep_the_lds_busy(probe: Path, kernels: Path) -> None:
    (d,) = profile(probe, kernels, "strided_lds", "64", "304")
    assert d.counters["SQ_LDS_IDX_ACTIVE"] / (d.cycles * CUS) > 0.4
    assert d.counters["SQ_LDS_BANK_CONFLICT"] > 0.9 * d.counters["SQ_LDS_IDX_ACTIVE"]


def test_streams_reach_the_measured_bandwidths(probe: Path, kernels: Path) -> None:
    cold, warm = profile(probe, kernels, "reads", "128", "2432", MODEL_PROBE_COUNTERS="0")
    bytes_read = 128 << 20
    assert 0.8 * 4219 < bytes_read / cold.duration_ns < 4219  # HBM
    assert 0.75 * 6414 < bytes_read / warm.duration_ns < 6414  # Infinity Cache


def test_host_memory_is_as_fast_as_its_link(probe: Path, kernels: Path) -> None:
    durations = [d.duration_ns for d in profile(probe, kernels, "copies", "4", "1216")]
    _, device, _, pinned, _, managed = durations
    assert pinned == managed
    assert 40 < (4 << 20) / pinned < 63  # PCIe 5.0 x16, each way, GB/s
    assert pinned > 10 * device
    apu = profile(probe, kernels, "copies", "4", "1216", ROCM_PERF_DEVICE="virtual:mi300a")
    assert len({d.duration_ns for d in apu[1::2]}) == 1  # one memory


def test_a_grid_of_rows_starts_a_workgroup_a_cycle(probe: Path, kernels: Path) -> None:
    row, rows = profile(probe, kernels, "grid_of", "65536", MODEL_PROBE_COUNTERS="0")
    # floydwarshall on an MI300A: 0.48 ns per workgroup of one wave; relu less than 0.14.
    assert rows.duration_ns / 65536 == pytest.approx(0.48, rel=0.1)
    assert row.duration_ns / 65536 < 0.14


@pytest.mark.parametrize("pitch", ["32", "96", "128", "1024", "8192"])
def test_rows_any_power_of_two_apart_stay_in_the_l1(probe: Path, kernels: Path, pitch: str) -> None:
    (d,) = profile(probe, kernels, "rows", "32", pitch)
    assert d.counters["TCP_TCC_READ_REQ"] == 128  # half of what the L1 holds, each asked for once


def test_an_empty_launch_is_overhead(probe: Path, kernels: Path) -> None:
    for d in profile(probe, kernels, "empty", "3"):
        assert 1_000 < d.duration_ns < 4_200


def test_atomics_are_counted_where_they_happen(probe: Path, kernels: Path) -> None:
    (d,) = profile(probe, kernels, "count", "0", "304")
    assert d.counters["TCP_TOTAL_ATOMIC_WITHOUT_RET"] == 304 * 256
    assert d.counters["TCP_TCC_ATOMIC_WITHOUT_RET_REQ"] == 304 * 4
    assert d.counters["TCC_ATOMIC"] == 304 * 4


def test_a_sampled_dispatch_stays_close_to_the_whole(probe: Path, kernels: Path) -> None:
    (whole,) = profile(probe, kernels, "fma", "4", "2432")
    (sampled,) = profile(probe, kernels, "fma", "4", "2432", MODEL_PROBE_STEPS="100000")
    assert whole.detailed_fraction == 1
    assert sampled.detailed_fraction < 0.13
    assert sampled.duration_ns == pytest.approx(whole.duration_ns, rel=0.2)
    for name in ("SQ_INSTS", "SQ_INSTS_VALU", "SQ_WAVES"):
        assert sampled.counters[name] == whole.counters[name]
    for name in ("SQ_WAVE_CYCLES", "TCC_MISS", "TCP_TCC_WRITE_REQ"):
        assert sampled.counters[name] == pytest.approx(whole.counters[name], rel=0.15)


@pytest.fixture(scope="module")
def shapes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need_virtual_gpu()
    target = tmp_path_factory.mktemp("shapes") / "shapes"
    hipcc("-O3", REPOSITORY / "tests" / "native" / "hip" / "sampled_shapes.hip", "-o", target)
    return target


@pytest.mark.parametrize(
    "shape",
    "uniform growing shrinking rare late early one phases gather stencil".split(),
)
def test_a_part_says_how_far_it_is_from_the_whole(probe: Path, shapes: Path, shape: str) -> None:
    def simulated(steps: int) -> Dispatch:
        settings = {"MODEL_PROBE_COUNTERS": "0", "MODEL_PROBE_STEPS": str(steps)}
        return profile(probe, shapes, shape, "8192", **settings)[0]

    whole, part = simulated(1 << 40), simulated(250_000)
    assert (whole.detailed_fraction, whole.sampling_error) == (1, 0)
    assert part.detailed_fraction < 0.2
    assert part.instructions == whole.instructions  # all of it ran
    error = abs(part.duration_ns / whole.duration_ns - 1)
    assert error < 3 * part.sampling_error + 0.02
    if shape in ("uniform", "growing", "shrinking", "gather", "stencil"):
        assert error < 0.15 and part.sampling_error < 0.3


def test_a_thread_trace_tells_every_cycle_of_its_waves(probe: Path, vcopy: Path) -> None:
    first = profile(probe, vcopy, "-i", "1", MODEL_PROBE_ATT="1")[0]
    assert first.waves
    assert first.occupancy == pytest.approx(2 * 16384 / 32, rel=0.1)  # of one shader engine
    for wave in first.waves:
        assert sum(cycles for _, cycles in wave["timeline"]) == wave["end"] - wave["begin"]
        assert len(wave["instructions"]) == 20
        assert wave["waits"] >= 1
        times = [time for time, *_ in wave["instructions"]]
        assert times == sorted(times)
        assert all(0 <= stall <= duration for _, _, stall, duration, _ in wave["instructions"])


def test_every_counter_the_analyses_want_is_modelled() -> None:
    need_virtual_gpu()
    library = ctypes.CDLL(str(library_dir() / HSA_LIBRARY))
    for architecture in ("gfx942", "gfx90a"):
        text = ctypes.create_string_buffer(1 << 16)
        library.hsa_rocm_perf_counters(architecture.encode(), text, len(text))
        modelled = set(text.value.decode().split())
        wanted = {base_name(c) for group in counter_groups(architecture) for c in group}
        assert wanted <= modelled


def test_an_mi250x_counts_what_an_mi210_counts(probe: Path, tmp_path: Path) -> None:
    target = tmp_path / "vcopy"
    source = REPOSITORY / "examples" / "vcopy.cpp"
    hipcc("-O3", "--offload-arch=gfx90a", source, "-o", target)
    first = profile(probe, target, "-i", "1", ROCM_PERF_DEVICE="virtual:mi250x")[0].counters
    assert first["SQ_INSTS"] == 393216
    assert first["SQ_INSTS_VALU"] == 163840
    assert first["TCP_TCC_READ_REQ"] == 131072
    assert first["TCP_TOTAL_CACHE_ACCESSES"] == 524288
    assert first["TCC_EA_RDREQ"] == pytest.approx(131086, rel=0.05)
    assert first["TCC_MISS"] == pytest.approx(131081, rel=0.05)
    assert first["SQC_DCACHE_MISSES"] == 56
    assert first["SQC_DCACHE_MISSES_DUPLICATE"] == 1680
    assert first["SQC_DCACHE_HITS"] == 63800


def test_without_a_profiler_nothing_is_modelled(probe: Path, kernels: Path, tmp_path: Path) -> None:
    """A modelled dispatch has a clock of its own that starts alike every time; any other one
    the host's."""
    out = str(tmp_path / "out")
    modelled = [
        int(run(kernels, "clock", HSA_TOOLS_LIB=str(probe), MODEL_PROBE_OUT=out)) for _ in range(2)
    ]
    assert modelled[0] == modelled[1]
    before = time.monotonic_ns()
    cycles = int(run(kernels, "clock"))
    assert before < cycles / CLOCK_GHZ < time.monotonic_ns()
