"""rocprofv3's JSON and counter tables: made here, and recorded ones where they are at hand."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.trace.describe import kernel_name, symbol_name
from rocm_perf_lab.trace.read import read_traces
from rocm_perf_lab.trace.recording import group
from rocm_perf_lab.trace.trace import Trace
from support.recorded_data import recorded
from support.rocprofv3_json import dispatch, tool


def read(tmp_path: Path, *tools: dict[str, Any]) -> list[Trace]:
    path = tmp_path / "out_results.json"
    path.write_text(json.dumps({"rocprofiler-sdk-tool": list(tools)}))
    return read_traces([path])


def test_json_records_become_columns(tmp_path: Path) -> None:
    (trace,) = read(
        tmp_path,
        tool(
            buffer_records={
                "kernel_dispatch": [dispatch(2, 50, 80), dispatch(1, 10, 30)],
                "hip_api": [
                    {
                        "kind": 2,
                        "operation": 1,
                        "thread_id": 7,
                        "correlation_id": {"internal": 1},
                        "start_timestamp": 5,
                        "end_timestamp": 5,
                        "args": [
                            {"type": "ihipEvent_t*", "name": "event", "value": "0x20"},
                            {"type": "ihipStream_t*", "name": "stream", "value": "nullptr"},
                        ],
                    }
                ],
                "memory_copy": [
                    {
                        "kind": 3,
                        "operation": 1,
                        "thread_id": 7,
                        "start_timestamp": 1,
                        "end_timestamp": 4,
                        "bytes": 4096,
                        "dst_agent_id": {"handle": 900},
                    }
                ],
            }
        ),
    )
    assert trace.dispatches.dispatch_id.tolist() == [1, 2]
    assert trace.dispatches.workgroup.tolist() == [[64, 2, 1]] * 2
    kernel = trace.kernels[trace.dispatches.kernel[0]]
    assert (kernel.name, kernel.mangled_name, kernel.total_vgprs) == ("k()", "_Z1kv", 68)
    assert trace.strings[trace.regions.name[0]] == "hipEventRecord"
    assert (trace.regions.event_handle[0], trace.regions.stream_handle[0]) == (0x20, 0)
    assert trace.strings[trace.copies.kind[0]] == "MEMORY_COPY_HOST_TO_DEVICE"
    assert (trace.copies.dst_agent[0], trace.copies.src_agent[0]) == (0, -1)
    assert trace.processes[0].command == "./app 1"


def test_json_counters_are_summed_over_instances_and_tell_the_dispatch(tmp_path: Path) -> None:
    record = {"dispatch_data": dispatch(4, 10, 30), "thread_id": 7}
    record["records"] = [{"counter_id": {"handle": 5}, "value": v} for v in (1.0, 7.0)]
    (trace,) = read(
        tmp_path,
        tool(
            counters=[{"id": {"handle": 5}, "name": "SQ_WAVES"}],
            callback_records={"counter_collection": [record]},
        ),
    )
    counter = trace.counters["SQ_WAVES"]
    assert (counter.total[0], counter.maximum[0], counter.instances[0]) == (8, 7, 2)
    assert trace.dispatches.dispatch_id.tolist() == [4]


def test_a_json_of_several_processes_gives_several_traces(tmp_path: Path) -> None:
    first = tool(buffer_records={"kernel_dispatch": [dispatch(1, 10, 30)]})
    assert len(read(tmp_path, first, first)) == 2


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "no JSON"),
        ("[1]", "root is no object"),
        ('{"traceEvents": []}', "without one GPU kernel"),
        ('{"rocprofiler-sdk-tool": [3]}', "rocprofiler-sdk-tool"),
        ('{"a":' * 5000, "no JSON"),
    ],
)
def test_other_json_is_refused_in_a_sentence(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(BadInput, match=says):
        read_traces([path])


def test_truncated_gzip_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.json.gz"
    path.write_bytes(gzip.compress(b'{"rocprofiler-sdk-tool": []}' * 100)[:-20])
    with pytest.raises(BadInput, match=r"x\.json\.gz"):
        read_traces([path])


def test_nonsense_in_json_records_is_left_out_and_noted(tmp_path: Path) -> None:
    broken = dispatch(3, 10, 30)
    broken["start_timestamp"] = {"oops": 1}
    unknown = dispatch(4, 10, 30)
    unknown["dispatch_info"]["kernel_id"] = 99
    (trace,) = read(tmp_path, tool(buffer_records={"kernel_dispatch": [broken, unknown, 5, None]}))
    assert trace.dispatches.dispatch_id.tolist() == [4]
    assert trace.kernels[0].name == "<unknown kernel 99>"
    assert len(trace.notes) == 2


def test_long_table_of_rocprofv3(tmp_path: Path) -> None:
    path = tmp_path / "7_counter_collection.csv"
    path.write_text(
        '"Correlation_Id","Dispatch_Id","Agent_Id","Queue_Id","Process_Id","Thread_Id",'
        '"Grid_Size","Kernel_Id","Kernel_Name","Workgroup_Size","LDS_Block_Size","Scratch_Size",'
        '"VGPR_Count","Accum_VGPR_Count","SGPR_Count","Counter_Name","Counter_Value",'
        '"Start_Timestamp","End_Timestamp"\n'
        '1,1,"Agent 5",1,20,20,128,9,"f(int, int)",64,2048,0,64,0,80,"SQ_WAVES",10,1000,1100\n'
        '1,1,"Agent 5",1,20,20,128,9,"f(int, int)",64,2048,0,64,0,80,"TCC_HIT[0]",2,1000,1100\n'
        '1,1,"Agent 5",1,20,20,128,9,"f(int, int)",64,2048,0,64,0,80,"TCC_HIT[1]",5,1000,1100\n'
        '2,2,"Agent 5",1,20,20,128,9,"f(int, int)",64,2048,0,64,0,80,"SQ_WAVES",30,2000,2200\n'
    )
    (trace,) = read_traces([path])
    assert trace.counters["SQ_WAVES"].total.tolist() == [10, 30]
    hit = trace.counters["TCC_HIT"]
    assert (hit.total[0], hit.maximum[0], hit.instances[0]) == (7, 5, 2)
    assert np.isnan(hit.total[1])
    assert trace.agents[0].index == 5
    assert (trace.kernels[0].name, trace.kernels[0].total_vgprs) == ("f(int, int)", 64)


def test_kernel_trace_table(tmp_path: Path) -> None:
    path = tmp_path / "7_kernel_trace.csv"
    path.write_text(
        '"Kind","Agent_Id","Queue_Id","Stream_Id","Thread_Id","Dispatch_Id","Kernel_Id",'
        '"Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp","LDS_Block_Size",'
        '"Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count","Workgroup_Size_X",'
        '"Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z"\n'
        '"KERNEL_DISPATCH","Agent 5",1,3,10,1,9,"k",1,1000,1100,2048,0,64,0,80,64,2,1,16,8,1\n'
    )
    (trace,) = read_traces([path])
    assert trace.dispatches.grid.tolist() == [[16, 8, 1]]
    assert trace.dispatches.workgroup.tolist() == [[64, 2, 1]]
    assert group([trace]).timing_runs == (trace,)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a,b\n1,2\n", "neither"),
        ("Kernel_Name,Dispatch_ID,Counter_Name,Counter_Value\n", "not one dispatch"),
        ("Kernel_Name,Dispatch_ID\nk,1\n", "neither counters nor times"),
        ('Kernel_Name,Dispatch_ID,Counter_Name,Counter_Value\n"k', "no proper CSV"),
    ],
)
def test_other_tables_are_refused_in_a_sentence(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text(text)
    with pytest.raises(BadInput, match=says):
        read_traces([path])


def test_recorded_training_run_of_mi350x() -> None:
    (trace,) = read_traces([recorded("trace/mi350x_training_rocprofv3.json.gz")])
    d = trace.dispatches
    assert len(d) == 43_915
    assert (int(d.stream.max()) + 1, int(d.queue.max()) + 1) == (567, 5)
    assert int((d.end_ns - d.start_ns).sum()) == 4_441_741_378
    assert all(kernel.corrections for kernel in trace.kernels)


def test_recorded_counter_dump_of_mi300x_is_twelve_passes() -> None:
    traces = read_traces([recorded("vcopy/MI300X_A1_rocpd/pmc_perf.csv")])
    assert len(group(traces).counter_passes) == len(traces) == 12
    totals = {n: c.total.tolist() for t in traces for n, c in t.counters.items()}
    assert totals["TCC_BUBBLE_sum"] == [65536] * 3  # 8 MiB of 128-byte reads
    assert totals["TCC_EA0_WRREQ"] == [131072] * 3  # 8 MiB of 64-byte writes, over 128 channels
    assert traces[0].agents[0].architecture == "gfx942"


@pytest.mark.parametrize("card", ["MI100", "MI200", "MI300X_A1", "MI350"])
def test_recorded_wide_tables(card: str) -> None:
    (trace,) = read_traces([recorded(f"vcopy/{card}/pmc_perf.csv")])
    assert trace.counters["SQ_WAVES"].total.tolist() == [16384] * 3
    assert not any(name.lower().startswith(("kernel", "correl", "xcc")) for name in trace.counters)


def test_names_of_16_bit_types_are_the_sources_whatever_the_profiler_made_of_them() -> None:
    assert kernel_name("_Z4gemmPDF16b.kd") == "gemm(__bf16*)"
    assert kernel_name("gemm(bool _Accum*)") == "gemm(__bf16*)"
    assert symbol_name("_Z4gemmPDF16b.kd") == "_Z4gemmPDF16b"
    assert kernel_name("gemm") == "gemm" and kernel_name("", None) is None
