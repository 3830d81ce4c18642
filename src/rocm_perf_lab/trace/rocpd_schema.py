"""The rocpd schema as data: base tables by level. The views over them are in `rocpd_views`.

Column names and types are those rocprofv3 writes. Levels 3.0.1 to 3.0.5 only add.
"""

from __future__ import annotations

from rocm_perf_lab.trace import rocpd_views

LEVELS = ("3.0.0", "3.0.1", "3.0.2", "3.0.3", "3.0.4", "3.0.5")

_ID = "id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT"
_GUID = "guid TEXT DEFAULT '@guid' NOT NULL"
_NODE = "nid INTEGER NOT NULL"
_OWNER = f"{_NODE}, pid INTEGER NOT NULL"
_SPAN = "start BIGINT NOT NULL, end BIGINT NOT NULL"
_JSON = "JSONB DEFAULT '{}' NOT NULL"
_EXTRA = f"extdata {_JSON}"

_SINCE = {
    # (table, level) -> columns added before extdata
    ("kernel_dispatch", "3.0.2"): "graph_exec_id INTEGER, graph_node_id INTEGER",
    ("memory_copy", "3.0.2"): "graph_exec_id INTEGER, graph_node_id INTEGER",
    ("pmc_event", "3.0.3"): (
        "sample_id INTEGER, xcc INTEGER, shader_engine INTEGER, instance INTEGER"
    ),
    ("pmc_event", "3.0.5"): "shader_array INTEGER, wgp INTEGER",
}
_NEW_TABLES = {"graph_launch": "3.0.2", "hip_event": "3.0.4"}

_TABLES = {
    "metadata": f"{_ID}, tag TEXT NOT NULL, value TEXT NOT NULL",
    "string": f"{_ID}, {_GUID}, string TEXT NOT NULL UNIQUE",
    "info_node": (
        f"{_ID}, {_GUID}, hash BIGINT NOT NULL, machine_id TEXT NOT NULL, system_name TEXT, "
        "hostname TEXT, release TEXT, version TEXT, hardware_name TEXT, domain_name TEXT"
    ),
    "info_process": (
        f"{_ID}, {_GUID}, {_NODE}, ppid INTEGER, pid INTEGER NOT NULL, init BIGINT, fini BIGINT, "
        f"start BIGINT, end BIGINT, command TEXT, environment {_JSON}, {_EXTRA}"
    ),
    "info_thread": (
        f"{_ID}, {_GUID}, {_NODE}, ppid INTEGER, pid INTEGER NOT NULL, tid INTEGER NOT NULL, "
        f"name TEXT, start BIGINT, end BIGINT, {_EXTRA}"
    ),
    "info_agent": (
        f"{_ID}, {_GUID}, {_OWNER}, type TEXT CHECK (type IN (@agent_types)), "
        "absolute_index INTEGER, logical_index INTEGER, type_index INTEGER, uuid INTEGER, "
        "name TEXT, model_name TEXT, vendor_name TEXT, product_name TEXT, user_name TEXT, "
        f"{_EXTRA}"
    ),
    "info_queue": f"{_ID}, {_GUID}, {_OWNER}, name TEXT, {_EXTRA}",
    "info_stream": f"{_ID}, {_GUID}, {_OWNER}, name TEXT, {_EXTRA}",
    "info_pmc": (
        f"{_ID}, {_GUID}, {_OWNER}, agent_id INTEGER, target_arch TEXT, event_code INT, "
        "instance_id INTEGER, name TEXT NOT NULL, symbol TEXT NOT NULL, description TEXT, "
        "long_description TEXT, component TEXT, units TEXT, value_type TEXT, block TEXT, "
        f"expression TEXT, is_constant INTEGER, is_derived INTEGER, {_EXTRA}"
    ),
    "info_code_object": (
        f"{_ID}, {_GUID}, {_OWNER}, agent_id INTEGER, uri TEXT, load_base BIGINT, "
        f"load_size BIGINT, load_delta BIGINT, storage_type TEXT, {_EXTRA}"
    ),
    "info_kernel_symbol": (
        f"{_ID}, {_GUID}, {_OWNER}, code_object_id INTEGER NOT NULL, kernel_name TEXT, "
        "display_name TEXT, kernel_object INTEGER, kernarg_segment_size INTEGER, "
        "kernarg_segment_alignment INTEGER, group_segment_size INTEGER, "
        "private_segment_size INTEGER, sgpr_count INTEGER, arch_vgpr_count INTEGER, "
        f"accum_vgpr_count INTEGER, {_EXTRA}"
    ),
    "track": (f"{_ID}, {_GUID}, {_NODE}, pid INTEGER, tid INTEGER, name_id INTEGER, {_EXTRA}"),
    "event": (
        f"{_ID}, {_GUID}, category_id INTEGER, stack_id INTEGER, parent_stack_id INTEGER, "
        f"correlation_id INTEGER, call_stack {_JSON}, line_info {_JSON}, {_EXTRA}"
    ),
    "arg": (
        f"{_ID}, {_GUID}, event_id INTEGER NOT NULL, position INTEGER NOT NULL, "
        f"type TEXT NOT NULL, name TEXT NOT NULL, value TEXT, {_EXTRA}"
    ),
    "pmc_event": (
        f"{_ID}, {_GUID}, event_id INTEGER, pmc_id INTEGER NOT NULL, value REAL, "
        "extdata JSONB DEFAULT '{}'"
    ),
    "region": (
        f"{_ID}, {_GUID}, {_OWNER}, tid INTEGER NOT NULL, {_SPAN}, name_id INTEGER NOT NULL, "
        f"event_id INTEGER, {_EXTRA}"
    ),
    "sample": (
        f"{_ID}, {_GUID}, track_id INTEGER NOT NULL, timestamp BIGINT NOT NULL, "
        f"event_id INTEGER, {_EXTRA}"
    ),
    "kernel_dispatch": (
        f"{_ID}, {_GUID}, {_OWNER}, tid INTEGER, agent_id INTEGER NOT NULL, "
        "kernel_id INTEGER NOT NULL, dispatch_id INTEGER NOT NULL, queue_id INTEGER NOT NULL, "
        f"stream_id INTEGER NOT NULL, {_SPAN}, private_segment_size INTEGER, "
        "group_segment_size INTEGER, workgroup_size_x INTEGER NOT NULL, "
        "workgroup_size_y INTEGER NOT NULL, workgroup_size_z INTEGER NOT NULL, "
        "grid_size_x INTEGER NOT NULL, grid_size_y INTEGER NOT NULL, "
        f"grid_size_z INTEGER NOT NULL, region_name_id INTEGER, event_id INTEGER, {_EXTRA}"
    ),
    "memory_copy": (
        f"{_ID}, {_GUID}, {_OWNER}, tid INTEGER, {_SPAN}, name_id INTEGER NOT NULL, "
        "dst_agent_id INTEGER, dst_address INTEGER, src_agent_id INTEGER, src_address INTEGER, "
        "size INTEGER NOT NULL, queue_id INTEGER, stream_id INTEGER, region_name_id INTEGER, "
        f"event_id INTEGER, {_EXTRA}"
    ),
    "memory_allocate": (
        f"{_ID}, {_GUID}, {_OWNER}, tid INTEGER, agent_id INTEGER, type TEXT, level TEXT, "
        f"{_SPAN}, address INTEGER, size INTEGER NOT NULL, queue_id INTEGER, stream_id INTEGER, "
        f"event_id INTEGER, {_EXTRA}"
    ),
    "graph_launch": (
        f"{_ID}, {_GUID}, {_OWNER}, tid INTEGER, agent_id INTEGER, queue_id INTEGER, {_SPAN}, "
        f"graph_exec_id INTEGER, kernel_dispatch_count INTEGER, event_id INTEGER, {_EXTRA}"
    ),
    "hip_event": (
        f"{_ID}, {_GUID}, {_OWNER}, tid INTEGER, stream_id INTEGER, hip_event_id INTEGER, "
        f"operation TEXT, {_SPAN}, event_id INTEGER, {_EXTRA}"
    ),
}


def tables(level: str) -> dict[str, str]:
    """Column definitions of every base table at a schema level, without prefix and suffix."""
    if level not in LEVELS:
        raise ValueError(f"unknown rocpd schema level {level!r}")
    agent_types = "'CPU', 'GPU'" if level < "3.0.1" else "'CPU', 'GPU', 'NIC'"
    result = {}
    for name, columns in _TABLES.items():
        if _NEW_TABLES.get(name, "") > level:
            continue
        added = [new for (table, since), new in _SINCE.items() if table == name and since <= level]
        for new in added:
            columns = columns.replace(", extdata", f", {new}, extdata")
        result[name] = columns.replace("@agent_types", agent_types)
    return result


def statements(level: str, guid: str, suffix: str) -> list[str]:
    """Everything a new database needs: base tables, their suffix-less views, the data views."""
    guid = guid.replace("'", "''")
    created = {n: columns.replace("@guid", guid) for n, columns in tables(level).items()}
    result = [f'CREATE TABLE "rocpd_{n}{suffix}" ({columns})' for n, columns in created.items()]
    if suffix:
        result += [f'CREATE VIEW rocpd_{n} AS SELECT * FROM "rocpd_{n}{suffix}"' for n in created]
    return result + rocpd_views.statements()
