"""PyTorch profiler traces: kernels, copies, calls and the operators that made them."""

from __future__ import annotations

import gzip
import json
import time
from pathlib import Path
from typing import Any

import pytest

from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.trace.kineto_agent import agent_of
from rocm_perf_lab.trace.read import read_traces
from rocm_perf_lab.workflow import analyze_files
from support.recorded_data import recorded
from support.traces import check_trace

Event = dict[str, Any]
PROPERTIES = [{"id": 0, "name": "AMD Instinct MI300X", "numSms": 304, "warpSize": 64}]


def operator(number: int, ts: float, name: str = "aten::mm") -> Event:
    args = {"External id": number}
    return {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": 30.0} | {
        "args": args
    }


def call(number: int, ts: float, name: str = "hipLaunchKernel", dur: float = 4.0) -> Event:
    args = {"correlation": number, "External id": number}
    return {"ph": "X", "cat": "cuda_runtime", "name": name, "pid": 1, "tid": 1} | {
        "ts": ts,
        "dur": dur,
        "args": args,
    }


def kernel(number: int, ts: float, dur: float = 5.0, name: str = "gemm", **args: Any) -> Event:
    known = {"device": 2, "stream": 0, "correlation": number, "External id": number}
    size = {"grid": [10, 2, 1], "block": [256, 1, 1]}
    return {"ph": "X", "cat": "kernel", "name": name, "pid": 2, "tid": 0, "ts": ts, "dur": dur} | {
        "args": known | size | args
    }


def write(path: Path, *events: Event, **more: Any) -> Path:
    root = {"schemaVersion": 1, "deviceProperties": PROPERTIES, "traceEvents": list(events)} | more
    text = json.dumps(root)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


@pytest.mark.parametrize("name", ["t.pt.trace.json", "t.json.gz"])
def test_kernels_calls_and_operators_are_joined(name: str, tmp_path: Path) -> None:
    path = write(
        tmp_path / name,
        operator(7, 1000.0),
        call(7, 1003.5),
        kernel(7, 1010.25),
        {"ph": "s", "id": 7, "cat": "ac2g", "name": "ac2g", "ts": 1, "pid": 1, "tid": 1},
        {"ph": "X", "cat": "python_function", "name": "f", "ts": 1.0, "dur": 9.0, "pid": 1},
    )
    (trace,) = read_traces([path])
    check_trace(trace)
    d = trace.dispatches
    assert (d.start_ns[0], d.end_ns[0]) == (1_010_250, 1_015_250)
    assert d.grid[0].tolist() == [2560, 2, 1] and d.workgroup[0].tolist() == [256, 1, 1]
    assert trace.agents[0].architecture == "gfx942"
    found = analyze_files([path]).profile
    assert [(o.name, o.launches, o.share) for o in found.operators] == [("aten::mm", 1, 1.0)]
    assert found.kernels[0].kernel.name == "gemm"


def test_one_call_writes_its_grid_in_work_items(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.json",
        call(1, 1.0, "hipExtModuleLaunchKernel"),
        kernel(1, 9.0, grid=[2560, 1, 1]),
    )
    (trace,) = read_traces([path])
    assert trace.dispatches.grid[0].tolist() == [2560, 1, 1]


def test_older_traces_capitalise_and_bare_lists_are_read(tmp_path: Path) -> None:
    events = [
        {**kernel(1, 20.0), "cat": "Kernel"},
        {**call(1, 10.0, "cudaLaunchKernel"), "cat": "Runtime"},
        {**operator(1, 9.0), "cat": "Operator"},
    ]
    path = tmp_path / "list.json"
    path.write_text(json.dumps(events))
    (trace,) = read_traces([path])
    assert (len(trace.dispatches), len(trace.regions)) == (1, 1)
    assert trace.operators is not None and len(trace.operators) == 1


def test_copies_and_fills_have_their_kind_and_size(tmp_path: Path) -> None:
    def copy(name: str, kind: str, number: int) -> Event:
        args = {"device": 2, "stream": 0, "correlation": number, "kind": kind, "bytes": 4096}
        return {"ph": "X", "cat": "gpu_memcpy", "name": name, "ts": 9.0 * number, "dur": 2.0} | {
            "args": args
        }

    path = write(
        tmp_path / "t.json",
        copy("Memcpy HtoD (Host -> Device)", "HtoD", 1),
        copy("Memset (Device)", "Memset", 2),
        kernel(3, 50.0),
    )
    (trace,) = read_traces([path])
    kinds = [trace.strings[k] for k in trace.copies.kind]
    assert kinds == ["MEMORY_COPY_HOST_TO_DEVICE", "MEMORY_SET"]
    assert trace.copies.size_bytes.tolist() == [4096, 4096]


def test_a_graph_launch_covers_its_kernels_and_is_named_as_their_origin(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.json",
        operator(1, 1.0),
        call(9, 5.0, "hipGraphLaunch"),
        *(
            {**kernel(9, 20.0 + 6 * n), "args": {"device": 2, "stream": 0, "correlation": 9}}
            for n in range(20)
        ),
    )
    found = analyze_files([path])
    assert found.profile.operators[0].name == "hipGraphLaunch (no operator)"
    assert found.profile.kernel is not None and found.profile.kernel.grid is None
    assert found.profile.kernels[0].reasons["grid"]
    assert found.dag is not None and found.dag.scope == "host-and-device"


def test_verdicts_of_a_trace_without_counters_say_what_they_lack(tmp_path: Path) -> None:
    path = write(tmp_path / "t.json", call(1, 1.0), kernel(1, 9.0, 900.0, grid=[4000, 1, 1]))
    found = analyze_files([path]).profile
    assert found.bottleneck is not None and found.bottleneck.bottleneck == "unknown"
    assert any(m.startswith("no counters were collected") for m in found.bottleneck.missing)
    assert any("no hardware counters" in note for note in found.notes)


def test_a_chrome_trace_without_device_work_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "t.json", operator(1, 1.0))
    with pytest.raises(BadInput, match="without one GPU kernel"):
        read_traces([path])


def test_rows_that_are_recorded_twice_count_once(tmp_path: Path) -> None:
    copy = {**kernel(2, 30.0), "cat": "gpu_memcpy", "name": "Memcpy HtoD"}
    once = [operator(1, 1.0), call(1, 3.0), kernel(1, 10.0), call(2, 20.0, "hipMemcpyAsync"), copy]
    other = {**kernel(1, 10.0), "tid": 5, "args": {**kernel(1, 10.0)["args"], "stream": 5}}
    path = write(tmp_path / "t.json", *once, other, *({**e} for e in reversed(once)))
    (trace,) = read_traces([path])
    assert (len(trace.dispatches), len(trace.copies), len(trace.regions)) == (2, 1, 2)
    assert trace.operators is not None and len(trace.operators) == 1
    assert "1 kernels are recorded twice; each is counted once." in trace.notes
    assert any(note.startswith("2 runtime calls are recorded twice") for note in trace.notes)


def test_kernels_launched_before_the_recording_began_are_not_without_an_operator(
    tmp_path: Path,
) -> None:
    path = write(
        tmp_path / "t.json",
        kernel(3, 5.0, name="early"),
        operator(7, 1000.0),
        call(7, 1003.5),
        kernel(7, 1010.25),
    )
    found = analyze_files([path]).profile.operators
    assert {o.name for o in found} == {"aten::mm", "(launched before the recording began)"}


# --- recorded ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "architecture", "kernels", "label"),
    [
        ("mi300_bert_small_kineto.json.gz", "gfx942", 60, "launch_bound"),
        ("mi210_gpu_only_kineto.json.gz", "gfx90a", 562, "kernel_bound"),
        ("mi300_vllm_graph_kineto.json.gz", "gfx942", 425, "kernel_bound"),
    ],
)
def test_recorded_traces_are_read_whole(
    file: str, architecture: str, kernels: int, label: str
) -> None:
    path = recorded(f"trace/{file}")
    events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    of_kernels = [e for e in events if e.get("cat") == "kernel"]
    found = analyze_files([path])
    profile = found.profile
    assert profile.gpu.architecture == architecture
    assert sum(k.dispatches for k in profile.kernels) == len(of_kernels) == kernels
    total = sum(k.total_ms for k in profile.kernels)
    assert total == pytest.approx(sum(e["dur"] for e in of_kernels) / 1e3)
    assert sum(k.share or 0 for k in profile.kernels) == pytest.approx(1)
    assert profile.where_the_time_goes is not None
    assert profile.where_the_time_goes.verdict.bottleneck == label
    assert found.dag is not None and found.dag.replay_error == 0
    # The share of each operator, recomputed from the events themselves.
    names = {e["args"].get("External id"): e["name"] for e in events if e.get("cat") == "cpu_op"}
    device = [e for e in events if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")]
    mine = sum(e["dur"] for e in device if names.get(e["args"].get("External id")) == "aten::addmm")
    listed = {o.name: o.device_ms for o in profile.operators}
    assert listed.get("aten::addmm", 0) == pytest.approx(mine / 1e3)


@pytest.mark.slow
def test_a_hundred_megabytes_in_under_ten_seconds_of_work(tmp_path: Path) -> None:
    padding = {"Input Dims": [[1, 512]] * 10, "Input type": ["c10::BFloat16"] * 10}
    events = []
    for n in range(130_000):
        one = operator(n, 25.0 * n)
        one["args"] = one["args"] | padding
        events += [one, call(n, 25.0 * n + 3), kernel(n, 25.0 * n + 12)]
    path = write(tmp_path / "big.json", *events)
    assert path.stat().st_size > 100e6
    del events
    before = time.process_time()
    found = analyze_files([path])
    assert sum(k.dispatches for k in found.profile.kernels) == 130_000
    assert time.process_time() - before < 10


@pytest.mark.parametrize(
    ("name", "version", "cus", "architecture"),
    [
        ("AMD Instinct MI250X", (9, 0), 110, "gfx90a"),
        ("AMD Radeon Graphics", (9, 4), 304, "gfx942"),
        ("", (9, 0), 104, "gfx90a"),  # the capability of several: their sizes differ
        ("", (9, 0), 120, "gfx908"),
        ("", (9, 0), 64, ""),
        ("", (12, 0), 64, ""),
    ],
)
def test_a_device_is_known_by_its_name_or_by_capability_and_size(
    name: str, version: tuple[int, int], cus: int, architecture: str
) -> None:
    facts = {"computeMajor": version[0], "computeMinor": version[1], "numSms": cus}
    assert agent_of(2, [{"id": 0, "name": name, **facts}]).architecture == architecture


def test_devices_that_differ_are_told_apart_by_their_number_only() -> None:
    listed = [{"id": i, "name": f"AMD Instinct {n}"} for i, n in enumerate(("MI300X", "MI210"))]
    assert agent_of(1, listed).architecture == "gfx90a"
    assert agent_of(5, listed).architecture == ""
