"""rocprofv3's JSON (`-f json`): the recording as nested records."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rocm_perf_lab.trace.rocpd import DETAILED_TAG, SAMPLING_TAG
from rocm_perf_lab.trace.rocpd_records import Dispatch
from rocm_perf_lab.virtual.rocprofv3.process_rows import ProcessRows

Object = dict[str, Any]
_GPU, _CPU = 2, 1
_HOST = 4096


def write(recording: ProcessRows, path: Path, hostname: str) -> None:
    partial = path.with_name(f".{path.name}.partial")
    try:
        with partial.open("w", encoding="utf-8") as file:
            json.dump({"rocprofiler-sdk-tool": [_tool(recording, hostname)]}, file)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


class _Names:
    """Kinds and operations are written as numbers; this table names them."""

    def __init__(self) -> None:
        self.tables: dict[str, dict[str, int]] = {}

    def __call__(self, kind: str, operation: str) -> Object:
        table = self.tables.setdefault(kind, {})
        number = table.setdefault(operation, len(table))
        return {"kind": list(self.tables).index(kind), "operation": number}

    def strings(self) -> Object:
        rows = [{"kind": kind, "operations": list(ops)} for kind, ops in self.tables.items()]
        return {"buffer_records": rows}


def _tool(r: ProcessRows, hostname: str) -> Object:
    names = _Names()
    handles = {0: _HOST, **{gpu.number: gpu.handle for gpu in r.gpus}}
    buffers = _buffers(r, names, handles)  # which fills `names`
    return {
        "metadata": {
            "pid": r.pid,
            "ppid": r.parent,
            "init_time": r.log.start,
            "fini_time": r.log.end,
            "command": list(r.log.command),
            "node": {"hostname": hostname, "machine_id": "0" * 32},
            "virtual": True,
            DETAILED_TAG: r.detailed,
            SAMPLING_TAG: r.sampling_error,
        },
        "agents": list(_agents(r)),
        "counters": [
            {"id": {"handle": i}, "name": w.name, "block": w.block, "expression": w.formula}
            for i, w in enumerate(r.counted, 1)
        ],
        "code_objects": list(_code_objects(r, handles)),
        "kernel_symbols": list(_kernel_symbols(r)),
        "strings": names.strings(),
        "buffer_records": {name: rows for name, rows in buffers.items() if rows},
        "callback_records": {"counter_collection": list(_collected(r, handles))},
    }


def _buffers(r: ProcessRows, names: _Names, handles: dict[int, int]) -> dict[str, list[Object]]:
    return {
        "kernel_dispatch": []
        if r.wanted.pmc
        else [
            {**names("KERNEL_DISPATCH", "DISPATCH"), **_dispatch(d, handles)} for d in r.dispatches
        ],
        "hip_api": [
            {
                **names(c.category, c.name),
                **_times(c.start, c.end, c.tid, c.correlation),
                "args": [{"type": a.type, "name": a.name, "value": a.value} for a in c.args],
            }
            for c in r.calls
        ],
        "memory_copy": [
            {
                **names("MEMORY_COPY", c.kind),
                **_times(c.start, c.end, c.tid, c.correlation),
                "src_agent_id": {"handle": handles.get(c.source or 0)},
                "dst_agent_id": {"handle": handles.get(c.target or 0)},
                "stream_id": {"handle": c.stream},
                "bytes": c.size,
            }
            for c in r.copies
        ],
        "memory_allocation": [
            {
                **names("MEMORY_ALLOCATION", a.type),
                **_times(a.start, a.end, a.tid, a.correlation),
                "agent_id": {"handle": handles.get(a.agent or 0)},
                "address": a.address,
                "allocation_size": a.size,
            }
            for a in r.allocations
        ],
    }


def _code_objects(r: ProcessRows, handles: dict[int, int]) -> Iterable[Object]:
    for code in r.log.codes:
        yield {
            "code_object_id": code.number,
            "agent_id": {"handle": handles.get(code.agent)},
            "load_base": code.base,
            "load_size": code.size,
            "load_delta": code.delta,
        }


def _kernel_symbols(r: ProcessRows) -> Iterable[Object]:
    for k in r.kernels.values():
        yield {
            "kernel_id": k.number,
            "code_object_id": k.code,
            "kernel_name": f"{k.name}.kd",
            "formatted_kernel_name": k.display,
            "demangled_kernel_name": k.shown,
            "sgpr_count": k.sgprs,
            "arch_vgpr_count": k.arch_vgprs,
            "accum_vgpr_count": k.accum_vgprs,
            "group_segment_size": k.lds,
            "private_segment_size": k.scratch,
            "kernarg_segment_size": k.kernarg,
        }


def _agents(r: ProcessRows) -> Iterable[Object]:
    yield {"id": {"handle": _HOST}, "type": _CPU, "name": "CPU", "node_id": 0}
    for gpu in r.gpus:
        yield {
            **gpu.extdata,
            "type": _GPU,
            "name": gpu.spec.architecture,
            "model_name": gpu.spec.marketing_name,
            "product_name": gpu.spec.marketing_name,
            "node_id": gpu.number,
        }


def _times(start: int, end: int, thread: int, correlation: int) -> Object:
    return {
        "start_timestamp": start,
        "end_timestamp": end,
        "thread_id": thread,
        "correlation_id": {"internal": correlation, "external": 0},
    }


def _dispatch(d: Dispatch, handles: dict[int, int]) -> Object:
    return {
        **_times(d.start, d.end, d.tid, d.correlation),
        "stream_id": {"handle": d.stream},
        "dispatch_info": {
            "agent_id": {"handle": handles[d.agent]},
            "queue_id": {"handle": d.queue},
            "kernel_id": d.kernel,
            "dispatch_id": d.dispatch_id,
            "private_segment_size": d.scratch,
            "group_segment_size": d.lds,
            "workgroup_size": dict(zip("xyz", d.workgroup, strict=True)),
            "grid_size": dict(zip("xyz", d.grid, strict=True)),
        },
    }


def _collected(r: ProcessRows, handles: dict[int, int]) -> Iterable[Object]:
    numbers = {wanted.name: i for i, wanted in enumerate(r.counted, 1)}
    for d in r.dispatches:
        if d.values:
            yield {
                "dispatch_data": _dispatch(d, handles),
                "thread_id": d.tid,
                "stream_id": {"handle": d.stream},
                "records": [
                    {"counter_id": {"handle": numbers[v.counter]}, "value": v.value}
                    for v in d.values
                ],
            }
