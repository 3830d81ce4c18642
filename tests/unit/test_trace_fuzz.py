"""Mutated JSON and CSV: a valid trace or one `BadInput` sentence, nothing else."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest

from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.trace.read import read_traces
from support.json_places import ODD, places
from support.rocprofv3_json import dispatch, tool
from support.traces import check_trace


def document() -> dict[str, Any]:
    record = {"dispatch_data": dispatch(4, 10, 30), "thread_id": 7, "stream_id": {"handle": 2}}
    record["records"] = [{"counter_id": {"handle": 5}, "value": v} for v in (1.0, 7.0)]
    call = {
        "kind": 2,
        "operation": 1,
        "thread_id": 7,
        "correlation_id": {"internal": 1},
        "start_timestamp": 5,
        "end_timestamp": 9,
        "args": [{"type": "ihipStream_t*", "name": "stream", "value": "0x10"}],
    }
    copied = {"kind": 3, "operation": 1, "start_timestamp": 5, "end_timestamp": 9, "bytes": 4}
    return {
        "rocprofiler-sdk-tool": [
            tool(
                counters=[{"id": {"handle": 5}, "name": "SQ_WAVES"}],
                callback_records={"counter_collection": [record]},
                buffer_records={
                    "kernel_dispatch": [dispatch(i, 10 * i, 10 * i + 5) for i in range(1, 5)],
                    "hip_api": [call],
                    "memory_copy": [copied],
                },
            )
        ]
    }


def survives(path: Path) -> None:
    try:
        traces = read_traces([path])
    except BadInput as error:
        assert str(path) in error.message
        return
    for trace in traces:
        check_trace(trace)


def test_json_with_anything_anywhere(tmp_path: Path) -> None:
    whole = document()
    path = tmp_path / "x_results.json"
    for number in range(len(places(whole))):
        for odd in ODD[number % 3 :: 3]:
            changed = copy.deepcopy(whole)
            container, key = places(changed)[number]
            container[key] = odd
            path.write_text(json.dumps(changed))
            survives(path)


@pytest.mark.parametrize("seed", range(2))
def test_json_with_damaged_bytes(tmp_path: Path, seed: int) -> None:
    data = json.dumps(document()).encode()
    random_ = random.Random(seed)
    path = tmp_path / "x_results.json"
    for _ in range(300):
        changed = bytearray(data)
        for _ in range(random_.choice((1, 3, 20))):
            changed[random_.randrange(len(changed))] = random_.randrange(256)
        path.write_bytes(changed[: random_.choice((len(changed), random_.randrange(len(changed))))])
        survives(path)


@pytest.mark.parametrize("seed", range(2))
def test_tables_with_damaged_bytes(tmp_path: Path, seed: int) -> None:
    head = "Dispatch_ID,GPU_ID,PID,Grid_Size,Workgroup_Size,Kernel_Name,Start_Timestamp,"
    data = head + "End_Timestamp,Counter_Name,Counter_Value,Arch_VGPR,SQ_WAVES,TCC_HIT[3]\n"
    for i in range(20):
        data += (
            f'{i},2,9,1024,256,"f(int, int) [clone .kd]",{i * 10},{i * 10 + 5},C{i % 3},{i},8,1,2\n'
        )
    random_ = random.Random(seed)
    path = tmp_path / "x.csv"
    for _ in range(400):
        changed = bytearray(data.encode())
        for _ in range(random_.choice((1, 3, 20))):
            changed[random_.randrange(len(changed))] = random_.randrange(256)
        path.write_bytes(changed)
        survives(path)
