"""Pieces of the JSON that rocprofv3 writes."""

from __future__ import annotations

from typing import Any


def dispatch(number: int, start: int, end: int, **more: Any) -> dict[str, Any]:
    return {
        "kind": 1,
        "operation": 1,
        "thread_id": 7,
        "correlation_id": {"internal": number, "external": 0},
        "start_timestamp": start,
        "end_timestamp": end,
        "dispatch_info": {
            "agent_id": {"handle": 900},
            "queue_id": {"handle": 16},
            "kernel_id": 3,
            "dispatch_id": number,
            "private_segment_size": 0,
            "group_segment_size": 512,
            "workgroup_size": {"x": 64, "y": 2, "z": 1},
            "grid_size": {"x": 640, "y": 20, "z": 1},
        },
        "stream_id": {"handle": 1},
        **more,
    }


def tool(**sections: Any) -> dict[str, Any]:
    return {
        "metadata": {"pid": 7, "command": ["./app", "1"], "node": {"hostname": "h"}},
        "agents": [{"id": {"handle": 900}, "type": 2, "name": "gfx942", "cu_count": 304}],
        "code_objects": [{"code_object_id": 1, "agent_id": {"handle": 900}}],
        "kernel_symbols": [
            {"kernel_id": 0, "kernel_name": ""},
            {
                "kernel_id": 3,
                "code_object_id": 1,
                "kernel_name": "_Z1kv.kd",
                "formatted_kernel_name": "k()",
                "arch_vgpr_count": 64,
                "accum_vgpr_count": 4,
                "sgpr_count": 32,
            },
        ],
        "strings": {
            "buffer_records": [
                {"kind": "NONE", "operations": []},
                {"kind": "KERNEL_DISPATCH", "operations": ["A", "B"]},
                {"kind": "HIP_RUNTIME_API_EXT", "operations": ["x", "hipEventRecord"]},
                {"kind": "MEMORY_COPY", "operations": ["NONE", "MEMORY_COPY_HOST_TO_DEVICE"]},
            ]
        },
        **sections,
    }
