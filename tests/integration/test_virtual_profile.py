"""`rocm-perf profile` on the virtual MI300X says true things about kernels that are known."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocm_perf_lab.arch.counters import counter_groups
from rocm_perf_lab.device.target import choose
from support.cli import rocm_perf
from support.hip_build import REPOSITORY
from support.virtual_profile import (
    PROGRAMS,
    build,
    databases,
    document,
    need_profiler,
    profile,
    query,
    standin,
)

PRINTS = r"""
#include <hip/hip_runtime.h>
__global__ void prints() { printf("%d %d\n", int(blockIdx.x), int(threadIdx.x)); }
int main() {
  prints<<<20, 128>>>();
  return hipDeviceSynchronize();
}
"""

# The same launch often, alone and by turns, in place, and with its input changed half way.
LOOPS = r"""
#include <hip/hip_runtime.h>
constexpr int kCount = 1 << 16;
__global__ void copy(const float* in, float* out) {
  int i = blockIdx.x * 256 + threadIdx.x;
  out[i] = in[i];
}
__global__ void spread(int* at) {
  int i = blockIdx.x * 256 + threadIdx.x;
  at[i] = i * 97 % kCount;
}
__global__ void gather(const int* at, const float* in, float* out) {
  int i = blockIdx.x * 256 + threadIdx.x;
  out[i] = in[at[i]];
}
__global__ void increment(int* data) { data[blockIdx.x * 256 + threadIdx.x] += 1; }
int main() {
  float *a, *b;
  int* at;
  (void)hipMalloc(&a, kCount * 4);
  (void)hipMalloc(&b, kCount * 4);
  (void)hipMalloc(&at, kCount * 4);
  (void)hipMemset(a, 0, kCount * 4), (void)hipMemset(at, 0, kCount * 4);
  for (int i = 0; i < 12; ++i) copy<<<kCount / 256, 256>>>(a, b);
  for (int i = 0; i < 12; ++i) {
    gather<<<kCount / 256, 256>>>(at, a, b);
    copy<<<kCount / 256, 256>>>(b, a);
  }
  for (int i = 0; i < 4; ++i) increment<<<kCount / 256, 256>>>(at);
  spread<<<kCount / 256, 256>>>(at);
  for (int i = 0; i < 4; ++i) gather<<<kCount / 256, 256>>>(at, a, b);
  return hipDeviceSynchronize();
}
"""

VERDICTS = {
    "vcopy": "memory_bandwidth_bound",
    "chase": "latency_bound",
    "fma_chain": "compute_throughput_limited",
    "big_lds": "under_occupied",
    "divergent": "divergence_limited",
    "lds_stride": "lds_bound",
}


def test_kernels_of_known_bottleneck_get_their_verdicts(tmp_path: Path) -> None:
    folder = profile(build(PROGRAMS / "profile_known.cpp", tmp_path), tmp_path)
    kernels = document(folder, "analysis.json")["kernels"]
    found = {k["kernel"].partition("(")[0]: k["bottleneck"] for k in kernels}
    found.pop("__amd_rocclr_fillBufferAligned")  # the runtime's, for hipMemset
    assert found == VERDICTS


def test_launches_that_are_not_run_again_have_the_times_and_counters_they_would_have(
    tmp_path: Path,
) -> None:
    source = tmp_path / "loops.cpp"
    source.write_text(LOOPS)
    program = build(source, tmp_path)
    rows = {}
    for repeats in ("", "run"):
        out = tmp_path / f"out{repeats}"
        standin(
            *("--pmc", "SQ_WAVES", "TCC_HIT_sum", "SQ_WAVE_CYCLES", "--kernel-trace"),
            *("-d", out, "--", program),
            cwd=tmp_path,
            env={"ROCM_PERF_VIRTUAL_REPEATS": repeats},
        )
        (path,) = databases(out)
        rows[repeats] = (
            query(path, "SELECT name, end - start FROM kernels ORDER BY start"),
            query(path, "SELECT dispatch_id, counter_name, value FROM counters_collection"),
        )
    times, counters = rows[""]
    assert len([name for name, _ in times if name.startswith(("copy", "gather", "incr"))]) == 44
    assert len({value for _, name, value in counters if name == "TCC_HIT_sum"}) > 3
    assert (times, sorted(counters)) == (rows["run"][0], sorted(rows["run"][1]))


def test_a_thousand_empty_launches_are_launch_bound(tmp_path: Path) -> None:
    program = build(PROGRAMS / "profile_launches.cpp", tmp_path)
    folder = profile(program, tmp_path, "--no-counters", args=["1000"])
    (kernel,) = document(folder, "analysis.json")["kernels"]
    assert (kernel["kernel"], kernel["bottleneck"]) == ("nothing()", "launch_bound")
    # Sweeps of small launches on an MI300A (floydwarshall) take 2.2 us per launch; in a trace the
    # two calls of <<<>>> that set a launch up take theirs.
    ((first, last, count),) = query(
        databases(folder)[0], "SELECT min(start), max(start), count(*) FROM kernels"
    )
    assert count == 1000
    assert (last - first) / 999 == pytest.approx(2800, rel=0.1)


def test_a_kernel_that_prints_takes_the_same_time_on_every_run(tmp_path: Path) -> None:
    """However long the host takes to print: a call of the host has a fixed cost."""
    source = tmp_path / "prints.cpp"
    source.write_text(PRINTS)
    program = build(source, tmp_path)
    folder = profile(program, tmp_path, "--no-counters", "--runs", "3")
    stability = document(folder, "profile.json")["stability"]
    assert stability["runs"] == 3
    assert stability["stddev_ms"] == pytest.approx(0, abs=1e-12)
    assert stability["mean_ms"] > 2 * 0.010  # two calls at least, of 10 us each


def test_every_file_says_that_it_was_virtual(two_streams: Path, tmp_path: Path) -> None:
    folder = profile(two_streams, tmp_path, args=["apart"])
    for name in ("profile.json", "roofline.json", "dag.json", "analysis.json"):
        device = document(folder, name)["provenance"]["device"]
        assert device["kind"] == "virtual"
        assert device["name"] == "Virtual AMD Instinct MI300X"
        assert device["architecture"] == "gfx942"
    found = databases(folder)
    assert len(found) == 1 + len(counter_groups("gfx942"))
    for path in found:
        assert query(path, "SELECT value FROM rocpd_metadata WHERE tag = 'virtual'") == [("true",)]
    done = rocm_perf("analyze", folder, "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) == pytest.approx(document(folder, "profile.json")["runtime_ms"])


@pytest.fixture(scope="module")
def two_streams(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("streams")
    return build(PROGRAMS / "profile_overlap.cpp", folder)


def spans(folder: Path) -> dict[str, tuple[int, int]]:
    rows = query(databases(folder)[0], "SELECT name, start, end FROM kernels")
    return {name.partition("(")[0]: (start, end) for name, start, end in rows}


def edges(folder: Path) -> dict[str, int]:
    return {e["kind"]: e["count"] for e in document(folder, "dag.json")["edges"]}


def test_independent_streams_overlap(two_streams: Path, tmp_path: Path) -> None:
    folder = profile(two_streams, tmp_path, "--no-counters", args=["apart"])
    at = spans(folder)
    assert at["second"][0] < at["first"][1]
    assert edges(folder)["EVENT"] == 0
    assert document(folder, "dag.json")["device"]["overlap_ns"] > 0


def test_an_event_between_streams_is_an_edge(two_streams: Path, tmp_path: Path) -> None:
    folder = profile(two_streams, tmp_path, "--no-counters", args=["event"])
    at = spans(folder)
    assert at["second"][0] >= at["first"][1]
    assert edges(folder)["EVENT"] == 1
    assert document(folder, "dag.json")["replay_error"] == pytest.approx(0, abs=0.01)


def test_the_flops_of_a_matrix_product_are_2mnk(tmp_path: Path) -> None:
    n = 64
    program = build(REPOSITORY / "examples" / "gemm.cpp", tmp_path)
    folder = profile(program, tmp_path, "--kernel", "gemm_mfma", args=["-n", str(n), "-k", "mfma"])
    kernels = document(folder, "roofline.json")["kernels"]
    (kernel,) = (k for k in kernels if "gemm_mfma" in k["kernel"])
    assert kernel["flops_by_type"]["mfma_f16"]["value"] == 2 * n**3


def test_without_an_amd_gpu_the_virtual_one_is_chosen_and_named(tmp_path: Path) -> None:
    need_profiler()
    nowhere = tmp_path / "kfd"
    target = choose("auto", rocprofv3_installed=True, environment={}, driver=nowhere)
    assert (target.kind, target.name) == ("virtual", "virtual:mi300x")
    assert target.notice == (
        "no AMD GPU was found: running on the Virtual AMD Instinct MI300X; "
        "times and counters are modelled"
    )


def test_a_real_gpu_comes_first(tmp_path: Path) -> None:
    driver = tmp_path / "kfd"
    driver.touch()
    target = choose("auto", rocprofv3_installed=True, environment={}, driver=driver)
    assert (target.kind, target.profiler, target.notice) == ("hardware", None, None)


def test_other_devices_by_name(tmp_path: Path) -> None:
    program = build(PROGRAMS / "profile_launches.cpp", tmp_path, "--offload-arch=gfx90a")
    done = rocm_perf(
        "profile", program, "--device", "virtual:mi250x", "--runs", "1", "--", "3", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "Virtual AMD Instinct MI250X (gfx90a, 110 CUs)" in done.stdout
