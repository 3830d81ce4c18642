"""The views of a rocpd database as data.

Most are described by the columns they show; the joins follow from the aliases those columns use.
"""

from __future__ import annotations

from dataclasses import dataclass

_JOINS = {
    # alias -> (table, the column of the row, or of another alias, that names its id)
    "process": ("info_process", "pid"),
    "node": ("info_node", "nid"),
    "thread": ("info_thread", "tid"),
    "agent": ("info_agent", "agent_id"),
    "source": ("info_agent", "src_agent_id"),
    "target": ("info_agent", "dst_agent_id"),
    "event": ("event", "event_id"),
    "category": ("string", "event.category_id"),
    "label": ("string", "name_id"),
    "region": ("string", "region_name_id"),
    "symbol": ("info_kernel_symbol", "kernel_id"),
    "queue": ("info_queue", "queue_id"),
    "stream": ("info_stream", "stream_id"),
    "track": ("track", "track_id"),
    "track_label": ("string", "track.name_id"),
    "track_thread": ("info_thread", "track.tid"),
    "track_process": ("info_process", "track.pid"),
    "counter": ("info_pmc", "pmc_id"),
}


@dataclass(frozen=True)
class _View:
    """`columns`: words, each `name`, `name=alias.column` or `name=expression` without spaces."""

    name: str
    table: str
    columns: str
    rest: str = ""

    def sql(self) -> str:
        shown, aliases = [], []
        for word in self.columns.split():
            name, _, expression = word.partition("=")
            expression = expression or name
            if "(" not in expression:
                alias, dot, column = expression.rpartition(".")
                expression = f'{alias or "own"}."{column}"'
                if dot:
                    aliases.append(alias)
            shown.append(f'{expression} AS "{name}"')
        joins: dict[str, str] = {}
        for alias in aliases:
            _join(alias, joins)
        clauses = [*joins.values(), self.rest]
        return (
            f"CREATE VIEW {self.name} AS SELECT {', '.join(shown)} FROM rocpd_{self.table} own "
            + " ".join(clauses)
        ).strip()


def _join(alias: str, joins: dict[str, str]) -> None:
    if alias in joins:
        return
    table, key = _JOINS[alias]
    through, _, column = key.rpartition(".")
    if through:
        _join(through, joins)
    through = through or "own"
    joins[alias] = (
        f"LEFT JOIN rocpd_{table} {alias} "
        f"ON {alias}.id = {through}.{column} AND {alias}.guid = {through}.guid"
    )


_LINKS = "stack_id=event.stack_id parent_stack_id=event.parent_stack_id "
_CORR = _LINKS + "corr_id=event.correlation_id "
_AGENT = (
    "agent_abs_index=agent.absolute_index agent_log_index=agent.logical_index "
    "agent_type_index=agent.type_index agent_type=agent.type "
)
_EVENT_TEXT = "extdata=event.extdata call_stack=event.call_stack line_info=event.line_info"
_HOST = (
    "machine_id=node.machine_id system_name=node.system_name hostname=node.hostname "
    "system_release=node.release system_version=node.version "
)

_VIEWS = (
    _View(
        "code_objects",
        "info_code_object",
        "id guid nid pid=process.pid agent_abs_index=agent.absolute_index uri load_base load_size "
        "load_delta storage_type_str=storage_type "
        "code_object_size=json_extract(own.extdata,'$.size') "
        "storage_type=json_extract(own.extdata,'$.storage_type') "
        "memory_base=json_extract(own.extdata,'$.memory_base') "
        "memory_size=json_extract(own.extdata,'$.memory_size')",
    ),
    _View(
        "kernel_symbols",
        "info_kernel_symbol",
        "id guid nid pid=process.pid code_object_id kernel_name display_name kernel_object "
        "kernarg_segment_size kernarg_segment_alignment group_segment_size private_segment_size "
        "sgpr_count arch_vgpr_count accum_vgpr_count "
        "kernel_symbol_size=json_extract(own.extdata,'$.size') "
        "kernel_id=json_extract(own.extdata,'$.kernel_id') "
        "kernel_code_entry_byte_offset="
        "json_extract(own.extdata,'$.kernel_code_entry_byte_offset') "
        "formatted_kernel_name=json_extract(own.extdata,'$.formatted_kernel_name') "
        "demangled_kernel_name=json_extract(own.extdata,'$.demangled_kernel_name') "
        "truncated_kernel_name=json_extract(own.extdata,'$.truncated_kernel_name') "
        "kernel_address=json_extract(own.extdata,'$.kernel_address.handle')",
    ),
    _View(
        "processes",
        "info_process",
        f"nid {_HOST} guid ppid pid init start end fini command",
    ),
    _View(
        "threads",
        "info_thread",
        f"nid {_HOST} guid ppid=process.ppid pid=process.pid tid start end name",
    ),
    _View(
        "regions",
        "region",
        "id guid category=category.string name=label.string nid pid=process.pid tid=thread.tid "
        f"start end duration=(own.end-own.start) event_id {_CORR} {_EVENT_TEXT}",
    ),
    _View(
        "region_args",
        "region",
        "id guid nid pid=process.pid type=(argument.type) name=(argument.name) "
        "value=(argument.value)",
        "JOIN rocpd_arg argument ON argument.event_id = own.event_id AND argument.guid = own.guid",
    ),
    _View(
        "samples",
        "sample",
        "id guid category=category.string name=track_label.string nid=track.nid "
        f"pid=track_process.pid tid=track_thread.tid timestamp event_id {_CORR} {_EVENT_TEXT}",
    ),
    _View(
        "sample_regions",
        "sample",
        "id guid category=category.string name=track_label.string nid=track.nid "
        "pid=track_process.pid tid=track_thread.tid start=timestamp end=timestamp duration=(0) "
        f"event_id {_CORR} {_EVENT_TEXT}",
    ),
    _View(
        "kernels",
        "kernel_dispatch",
        "id guid tid=thread.tid category=category.string region=region.string "
        f"name=symbol.display_name nid pid=process.pid {_AGENT} "
        "code_object_id=symbol.code_object_id kernel_id dispatch_id stream_id queue_id "
        "queue=queue.name stream=stream.name start end duration=(own.end-own.start) "
        "grid_x=grid_size_x grid_y=grid_size_y grid_z=grid_size_z workgroup_x=workgroup_size_x "
        "workgroup_y=workgroup_size_y workgroup_z=workgroup_size_z lds_size=group_segment_size "
        "scratch_size=private_segment_size vgpr_count=symbol.arch_vgpr_count "
        "accum_vgpr_count=symbol.accum_vgpr_count sgpr_count=symbol.sgpr_count "
        "static_lds_size=symbol.group_segment_size "
        f"static_scratch_size=symbol.private_segment_size {_CORR}",
    ),
    _View(
        "pmc_info",
        "info_pmc",
        "id guid nid pid=process.pid agent_abs_index=agent.absolute_index is_constant is_derived "
        "name description block expression",
    ),
    _View(
        "pmc_events",
        "pmc_event",
        "id guid pmc_id event_id category=category.string "
        "name=(s.display_name) "
        "nid=(k.nid) pid=(k.pid) dispatch_id=(k.dispatch_id) start=(k.start) end=(k.end) "
        "duration=(k.end-k.start) counter_name=counter.name counter_value=value",
        "JOIN rocpd_kernel_dispatch k ON k.event_id = own.event_id AND k.guid = own.guid "
        "LEFT JOIN rocpd_info_kernel_symbol s ON s.id = k.kernel_id AND s.guid = k.guid",
    ),
    _View(
        "events_args",
        "arg",
        f"event_id category=category.string {_LINKS} correlation_id=event.correlation_id "
        "arg_position=position arg_type=type arg_name=name arg_value=value "
        "call_stack=event.call_stack line_info=event.line_info extdata",
    ),
    _View(
        "stream_args",
        "arg",
        "argument_id=id event_id arg_position=position arg_type=type arg_value=value "
        "stream_id=(s.id) nid=(s.nid) pid=(s.pid) stream_name=(s.name) extdata=(s.extdata)",
        "JOIN rocpd_info_stream s ON s.id = json_extract(own.extdata, '$.stream_id') "
        "AND s.guid = own.guid WHERE own.name = 'stream'",
    ),
    _View(
        "memory_copies",
        "memory_copy",
        "id guid category=category.string nid pid=process.pid tid=thread.tid start end "
        "duration=(own.end-own.start) name=label.string region_name=region.string stream_id "
        "queue_id stream_name=stream.name queue_name=queue.name size dst_device=target.name "
        "dst_agent_abs_index=target.absolute_index dst_agent_log_index=target.logical_index "
        "dst_agent_type_index=target.type_index dst_agent_type=target.type dst_address "
        "src_device=source.name src_agent_abs_index=source.absolute_index "
        "src_agent_log_index=source.logical_index src_agent_type_index=source.type_index "
        f"src_agent_type=source.type src_address {_CORR}",
    ),
    _View(
        "memory_allocations",
        "memory_allocate",
        "id guid category=category.string nid pid=process.pid tid=thread.tid start end "
        f"duration=(own.end-own.start) type level agent_name=agent.name {_AGENT} address size "
        f"queue_id queue_name=queue.name stream_id stream_name=stream.name {_CORR}",
    ),
    _View(
        "scratch_memory",
        "memory_allocate",
        f"id guid nid pid=process.pid operation=type agent_name=agent.name {_AGENT} queue_id "
        "tid=thread.tid alloc_flags=json_extract(own.extdata,'$.flags') start end size address "
        f"correlation_id=event.correlation_id {_CORR} category=category.string "
        "event_extdata=event.extdata",
        "WHERE own.level = 'SCRATCH' ORDER BY own.start",
    ),
)

_SUMMARIES = (
    """CREATE VIEW regions_and_samples AS
        SELECT * FROM regions UNION ALL SELECT * FROM sample_regions""",
    """CREATE VIEW counters_collection AS SELECT min(p.id) AS id, p.guid, k.dispatch_id,
        k.kernel_id, k.event_id, e.correlation_id, e.stack_id, e.parent_stack_id, k.pid, k.tid,
        k.agent_id, a.absolute_index AS agent_abs_index, a.logical_index AS agent_log_index,
        a.type_index AS agent_type_index, a.type AS agent_type, k.queue_id, k.grid_size_x,
        k.grid_size_y, k.grid_size_z, k.grid_size_x * k.grid_size_y * k.grid_size_z AS grid_size,
        s.display_name AS kernel_name, k.workgroup_size_x, k.workgroup_size_y, k.workgroup_size_z,
        k.workgroup_size_x * k.workgroup_size_y * k.workgroup_size_z AS workgroup_size,
        k.group_segment_size AS lds_block_size, k.private_segment_size AS scratch_size,
        s.arch_vgpr_count AS vgpr_count, s.accum_vgpr_count, s.sgpr_count, k.start, k.end,
        k.end - k.start AS duration, c.name AS counter_name, c.symbol AS counter_symbol,
        c.component, c.description, c.block, c.expression, c.value_type, c.id AS counter_id,
        c.is_constant, c.is_derived, sum(p.value) AS value
        FROM rocpd_pmc_event p
        JOIN rocpd_kernel_dispatch k ON k.event_id = p.event_id AND k.guid = p.guid
        JOIN rocpd_info_pmc c ON c.id = p.pmc_id AND c.guid = p.guid
        LEFT JOIN rocpd_event e ON e.id = p.event_id AND e.guid = p.guid
        LEFT JOIN rocpd_info_agent a ON a.id = k.agent_id AND a.guid = k.guid
        LEFT JOIN rocpd_info_kernel_symbol s ON s.id = k.kernel_id AND s.guid = k.guid
        GROUP BY p.guid, k.dispatch_id, c.name, k.agent_id""",
    """CREATE VIEW top_kernels AS SELECT s.display_name AS name, count(*) AS total_calls,
        sum(k.end - k.start) / 1000.0 AS total_duration,
        avg(k.end - k.start) / 1000.0 AS average,
        sum(k.end - k.start) * 100.0 / sum(sum(k.end - k.start)) OVER () AS percentage
        FROM rocpd_kernel_dispatch k
        JOIN rocpd_info_kernel_symbol s ON s.id = k.kernel_id AND s.guid = k.guid
        GROUP BY s.display_name ORDER BY total_duration DESC""",
    """CREATE VIEW busy AS SELECT agent_id, type AS agent_type, gpu_time, wall_time,
        gpu_time * 1.0 / wall_time AS busy FROM (SELECT k.agent_id, a.type,
        sum(k.end - k.start) AS gpu_time, max(k.end) - min(k.start) AS wall_time
        FROM rocpd_kernel_dispatch k
        LEFT JOIN rocpd_info_agent a ON a.id = k.agent_id AND a.guid = k.guid
        GROUP BY k.agent_id, a.type)""",
    """CREATE VIEW top AS SELECT name, count(*) AS total_calls,
        sum(duration) / 1000.0 AS total_duration, avg(duration) / 1000.0 AS average,
        sum(duration) * 100.0 / sum(sum(duration)) OVER () AS percentage FROM
        (SELECT name, duration FROM kernels UNION ALL SELECT name, duration FROM memory_copies
        UNION ALL SELECT name, duration FROM regions)
        GROUP BY name ORDER BY total_duration DESC""",
)


def statements() -> list[str]:
    return [*(view.sql() for view in _VIEWS), *_SUMMARIES]
