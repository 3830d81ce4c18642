"""Programs see modelled time: `rocm-perf run --timing model`, and under `profile`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rocm_perf_lab.validate.costs import costs
from rocm_perf_lab.virtual.model_parameters import by_device
from support.hip_build import REPOSITORY, hipcc, need_virtual_gpu

PROGRAMS = REPOSITORY / "tests" / "native" / "hip"
PROBES = REPOSITORY / "src" / "rocm_perf_lab" / "validate"


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need_virtual_gpu()
    folder = tmp_path_factory.mktemp("modelled")
    for name in ("benchmark", "caches", "clocks", "order", "host_memory", "sweep"):
        name = f"modelled_{name}"
        hipcc("-O2", "-I", PROGRAMS, "-I", PROBES, PROGRAMS / f"{name}.hip", "-o", folder / name)
    return folder


def rocm_perf(
    *words: str | Path, variables: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "rocm_perf_lab", *map(str, words)]
    environment = os.environ | (variables or {})
    return subprocess.run(
        command, capture_output=True, text=True, timeout=300, check=False, env=environment
    )


def modelled(
    program: Path, *arguments: str, device: str = "virtual:mi300x", xnack: str = "0"
) -> dict[str, list[float]]:
    """Numbers by the first word of each line; two runs print the same."""
    words: tuple[str | Path, ...] = ("run", "--timing", "model", "--device", device, program)
    runs = [rocm_perf(*words, *arguments, variables={"HSA_XNACK": xnack}) for _ in range(2)]
    for run in runs:
        assert run.returncode == 0, run.stdout + run.stderr
    assert runs[0].stdout == runs[1].stdout
    rows = [line.split() for line in runs[0].stdout.splitlines()]
    return {row[0]: [float(word) for word in row[1:] if word != "at"] for row in rows}


def test_a_benchmark_prints_what_the_model_says(built: Path) -> None:
    told = modelled(built / "modelled_benchmark", "100")
    fewer = modelled(built / "modelled_benchmark", "20")
    for name, (microseconds, _) in told.items():
        # 4 to 6 MiB in the Infinity Cache: little more than a launch.
        assert 2 < microseconds < 10, name
        assert fewer[name][0] == pytest.approx(microseconds, rel=0.1), (
            "a skipped launch costs as much"
        )


def test_clocks_in_kernels_are_the_model_s(built: Path) -> None:
    told = modelled(built / "modelled_clocks")
    # Measured with one lane and without the loop: 116. The last of 64 lanes comes 7 cycles later.
    assert told["l1"][0] == pytest.approx(127, rel=0.05)
    assert told["l2"][0] == pytest.approx(292, rel=0.1)  # 287.5
    assert told["rate"][0] == pytest.approx(21, rel=0.02)  # 2100 MHz against 100 MHz
    in_kernel, by_events = told["long"]
    assert in_kernel == pytest.approx(by_events, rel=0.03), "only its beginning was simulated"
    assert told["apart"][0] > 100, "a launch takes microseconds, of 100 ticks each"
    assert told["waited"][0] == pytest.approx(100 + 4, abs=5), "210,000 cycles and a launch"
    assert told["counted"] == [3], "what a kernel does in place happens once"


def test_the_order_of_streams_decides_what_overlaps(built: Path) -> None:
    told = {name: numbers[0] for name, numbers in modelled(built / "modelled_order").items()}
    assert told["nothing"] < 3
    assert told["two_full"] > 1.7 * told["full"] - 5, "two kernels that fill the GPU share it"
    assert told["two_small"] < 1.5 * told["small"] + 5
    assert told["null_between"] > 2.5 * told["small"] - 5, "the null stream waits and is waited for"
    assert told["graph"] == pytest.approx(told["three"], rel=0.2)
    assert told["branches"] < told["graph"] * 3, "twelve kernels, six after one another"
    cost = costs()["host_function_ns"] + costs()["wake_up_ns"] + costs()["signal_ns"]
    assert told["function"] * 1000 == pytest.approx(cost, rel=0.3)
    assert told["function"] == told["function_then"] == told["function_much_then"]
    assert told["tiny_behind"] * 1000 == pytest.approx(costs()["event_least_ns"], rel=0.01)
    size, rate = 64 << 20, costs().copy_bytes_per_ns
    assert told["memset"] * 1000 == pytest.approx(size / rate["FILL"], rel=0.4)
    assert told["to_device"] * 1000 == pytest.approx(size / rate["H2D"], rel=0.05)
    assert told["on_host"] * 1000 == pytest.approx(size / rate["H2H"], rel=0.05)
    assert told["on_device"] * 1000 == pytest.approx(size / 2 / rate["D2D"], rel=0.4)


def test_a_program_reads_what_an_mi300a_was_measured_to_take(built: Path) -> None:
    """Copies, launches and waits between its events, as floydwarshall and memcopy were timed there
    (sarchlab/mgpusim, microseconds)."""
    told = modelled(built / "modelled_sweep", device="virtual:mi300a")
    measured = {"sweep_8": 38.0, "sweep_32": 81.2, "sweep_128": 286.4}
    measured |= {"to_device_4": 83.8, "to_host_4": 88.6}
    for name, microseconds in measured.items():
        assert told[name][0] == pytest.approx(microseconds, rel=0.08), name


def test_the_infinity_cache_holds_what_was_used_last(built: Path) -> None:
    """256 MiB of it, whatever part of the dispatches was simulated."""
    told = {name: rate for name, (rate,) in modelled(built / "modelled_caches").items()}
    cold, warm = told["half_first"], told["half_after_small"]
    assert warm > 1.25 * cold
    for held in ("half_after_small_many_times", "half_after_quarter"):
        assert told[held] == pytest.approx(warm, rel=0.02), held
    assert told["quarter_after_half"] > 1.15 * told["quarter_first"]
    for gone in ("half_after_most", "all_again"):
        first = "all_first" if gone == "all_again" else "half_first"
        assert told[gone] == pytest.approx(told[first], rel=0.05), gone
    assert told["small_after_most_and_half"] < 0.93 * told["small_again"]


def test_the_first_access_to_a_page_waits_for_its_address(built: Path) -> None:
    told = {name: value for name, (value,) in modelled(built / "modelled_caches").items()}
    walk = by_device()["virtual:mi300x"]["translation_latency"]["value"] / 2.1
    assert told["page_first"] - told["page_second"] == pytest.approx(walk, rel=0.1)
    assert told["page_second"] == pytest.approx(told["page_third"], rel=0.05)


def test_an_l2_keeps_lines_until_another_xcd_writes_them(built: Path) -> None:
    told = {name: value for name, (value,) in modelled(built / "modelled_caches").items()}
    parameters = by_device()["virtual:mi300x"]
    beyond = (parameters["mall_latency"]["value"] - parameters["l2_latency"]["value"]) / 2.1
    assert told["line_again"] == pytest.approx(told["line_written_again"], rel=0.02)
    assert told["line_written"] - told["line_again"] == pytest.approx(beyond, rel=0.1)


def host_memory(built: Path, device: str, xnack: str) -> dict[str, float]:
    told = modelled(built / "modelled_host_memory", device=device, xnack=xnack)
    return {name: microseconds for name, (microseconds,) in told.items()}


def test_the_host_s_memory_is_behind_a_link(built: Path) -> None:
    told = host_memory(built, "virtual:mi300x", "0")
    link = (8 << 20) / by_device()["virtual:mi300x"]["host_gbps"]["value"] / 1000
    for far in ("pinned", "registered", "managed_first", "managed", "gone_first", "gone"):
        assert told[far] == pytest.approx(link, rel=0.1), far
    assert told["here"] == pytest.approx(told["device"], rel=0.05), "a prefetch moves it"
    for moved in ("prefetch", "prefetch_back"):
        assert told[moved] * 1000 == pytest.approx(costs().copy_ns("H2D", 8 << 20), rel=0.1)


def test_with_xnack_managed_memory_comes_when_it_is_touched(built: Path) -> None:
    told = host_memory(built, "virtual:mi300x", "1")
    moves = (8 << 20) / by_device()["virtual:mi300x"]["migration_mbps"]["value"]
    for fault in ("managed_first", "gone_first"):
        assert told[fault] == pytest.approx(moves, rel=0.02), fault
    for here in ("managed", "here_first", "here", "gone"):
        assert told[here] == pytest.approx(told["device"], rel=0.2), here
    assert told["pinned"] > 10 * told["device"], "pinned memory stays"


def test_an_apu_has_one_memory(built: Path) -> None:
    told = host_memory(built, "virtual:mi300a", "1")
    for kind in ("pinned", "registered", "managed_first", "managed", "here", "gone"):
        assert told[kind] == pytest.approx(told["device"], rel=0.3), kind
    assert told["prefetch"] < 10, "nothing moves"


def test_what_kind_of_time_it_is_is_said_once(built: Path) -> None:
    program = built / "modelled_benchmark"
    emulation = "event times are the emulation's"
    assert rocm_perf("run", program, "3").stderr.count(emulation) == 1
    assert emulation not in rocm_perf("run", "--timing", "emulation", program, "3").stderr
    assert rocm_perf("run", "--timing", "model", program, "3").stderr.count("modelled") == 1


def test_a_profiled_program_sees_modelled_times_too(built: Path, tmp_path: Path) -> None:
    program = built / "modelled_benchmark"
    words = ("--kernel-trace", "-d", str(tmp_path), "--", str(program), "3")
    done = subprocess.run(
        [sys.executable, "-m", "rocm_perf_lab.virtual.rocprofv3", *words],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    copy = float(done.stdout.splitlines()[0].split()[1])
    alone = modelled(program, "3")["copy"][0]
    assert alone <= copy < alone + costs()["tracer_ns"] / 1000, "only launching is slower"
