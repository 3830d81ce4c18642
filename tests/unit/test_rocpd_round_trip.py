"""What the writer writes the reader reads, at every schema level, and SQL agrees."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rocm_perf_lab.trace.read import read_traces
from rocm_perf_lab.trace.rocpd_schema import LEVELS
from rocm_perf_lab.trace.rocpd_writer import (
    Allocation,
    Argument,
    Call,
    Copy,
    Dispatch,
    RocpdWriter,
    Value,
)
from rocm_perf_lab.trace.trace import Trace

GPU, CPU = 4, 0
KERNELS = {11: "gemm(float*, int)", 12: "reduce<64>(double*)", 13: "fill"}
NANOSECONDS = st.integers(1, 1 << 40)
HANDLES = st.sampled_from([0, 0x10, 0x7F00DEADBEE0])


@st.composite
def spans(draw: st.DrawFn) -> tuple[int, int]:
    start = draw(NANOSECONDS)
    return start, start + draw(st.integers(0, 10_000))


@st.composite
def dispatches(draw: st.DrawFn) -> Dispatch:
    start, end = draw(spans())
    values = draw(
        st.lists(
            st.builds(
                Value,
                st.sampled_from(["SQ_WAVES", "GRBM_GUI_ACTIVE"]),
                st.integers(0, 1 << 40).map(float),
                xcc=st.integers(0, 7),
                shader_engine=st.none(),
                instance=st.none(),
            ),
            max_size=6,
        )
    )
    shape = st.tuples(*[st.integers(1, 1024)] * 3)
    return Dispatch(
        kernel=draw(st.sampled_from(sorted(KERNELS))),
        agent=GPU,
        start=start,
        end=end,
        workgroup=draw(shape),
        grid=draw(shape),
        queue=draw(st.integers(0, 3)),
        stream=draw(st.integers(0, 3)),
        tid=draw(st.integers(100, 103)),
        correlation=draw(st.integers(0, 1 << 30)),
        lds=draw(st.integers(0, 65536)),
        scratch=draw(st.integers(0, 4096)),
        graph_exec=draw(st.sampled_from([0, 77])),
        graph_node=draw(st.integers(0, 5)),
        values=values,
    )


@st.composite
def calls(draw: st.DrawFn) -> Call:
    start, end = draw(spans())
    args = draw(
        st.lists(
            st.builds(Argument, st.just("ihipStream_t*"), st.just("stream"), HANDLES.map(hex)),
            max_size=1,
        )
    ) + draw(
        st.lists(
            st.builds(Argument, st.just("ihipEvent_t*"), st.just("event"), HANDLES.map(hex)),
            max_size=1,
        )
    )
    return Call(
        name=draw(st.sampled_from(["hipLaunchKernel", "hipEventRecord", "hipStreamWaitEvent"])),
        start=start,
        end=end,
        tid=draw(st.integers(100, 103)),
        correlation=draw(st.integers(0, 1 << 30)),
        args=args,
    )


@st.composite
def copies(draw: st.DrawFn) -> Copy:
    start, end = draw(spans())
    return Copy(
        kind=draw(st.sampled_from(["MEMORY_COPY_HOST_TO_DEVICE", "MEMORY_COPY_DEVICE_TO_HOST"])),
        start=start,
        end=end,
        size=draw(st.integers(0, 1 << 50)),
        tid=100,
        correlation=draw(st.integers(0, 1 << 30)),
        stream=draw(st.one_of(st.none(), st.integers(0, 3))),
        source=CPU,
        target=GPU,
    )


def write(
    path: Path,
    level: str,
    launched: list[Dispatch],
    called: Sequence[Call] = (),
    copied: Sequence[Copy] = (),
    suffixed: bool = True,
) -> None:
    with RocpdWriter(path, level=level, suffixed=suffixed) as db:
        db.process(pid=100, parent=7, command="./app --size 3", start=1, end=1 << 41)
        db.agent(CPU, "CPU", "AMD EPYC")
        db.agent(
            GPU,
            "GPU",
            "gfx942",
            product="AMD Instinct MI300X",
            extdata={"id": {"handle": 5600}, "cu_count": 304, "caches": [{"level": 1, "size": 32}]},
        )
        db.code_object(1, GPU)
        for number, name in KERNELS.items():
            db.kernel(number, name, arch_vgprs=64, accum_vgprs=8, lds=1024)
        db.calls(called)
        db.dispatches(launched)
        db.copies(copied)
        db.allocations([Allocation("ALLOC", "REAL", 1, 2, 4096, agent=GPU, tid=100)])


def one(path: Path) -> Trace:
    (trace,) = read_traces([path])
    return trace


@pytest.mark.parametrize("level", LEVELS)
@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    launched=st.lists(dispatches(), min_size=1, max_size=25),
    called=st.lists(calls(), max_size=25),
    copied=st.lists(copies(), max_size=8),
    suffixed=st.booleans(),
)
def test_every_record_comes_back(
    tmp_path: Path,
    level: str,
    launched: list[Dispatch],
    called: list[Call],
    copied: list[Copy],
    suffixed: bool,
) -> None:
    path = tmp_path / "1_results.db"
    write(path, level, launched, called, copied, suffixed)
    trace = one(path)

    d = trace.dispatches
    graphs = level >= "3.0.2"
    written = sorted(
        (
            r.start,
            r.end,
            number,
            KERNELS[r.kernel],
            r.workgroup,
            r.grid,
            r.lds,
            r.scratch,
            r.correlation,
            r.graph_exec if graphs and r.graph_exec else -1,
            r.graph_node if graphs and r.graph_exec else -1,
        )
        for number, r in enumerate(launched, 1)
    )
    read = [
        (
            int(d.start_ns[i]),
            int(d.end_ns[i]),
            int(d.dispatch_id[i]),
            trace.kernels[d.kernel[i]].name,
            tuple(d.workgroup[i].tolist()),
            tuple(d.grid[i].tolist()),
            int(d.lds_bytes[i]),
            int(d.scratch_bytes[i]),
            int(d.correlation[i]),
            int(d.graph_exec[i]),
            int(d.graph_node[i]),
        )
        for i in range(len(d))
    ]
    assert read == written
    for column, given_ids in (
        (d.queue, [r.queue for r in launched]),
        (d.stream, [r.stream for r in launched]),
        (d.thread, [r.tid for r in launched]),
    ):
        pairs = {(int(column[i]), given_ids[int(d.dispatch_id[i]) - 1]) for i in range(len(d))}
        assert len({a for a, _ in pairs}) == len({b for _, b in pairs}) == len(pairs)

    c = trace.copies
    assert sorted(
        (int(c.start_ns[i]), int(c.end_ns[i]), trace.strings[c.kind[i]], int(c.size_bytes[i]))
        for i in range(len(c))
    ) == sorted((r.start, r.end, r.kind, r.size) for r in copied)

    regions = trace.regions
    assert bool(np.all(np.diff(regions.start_ns) >= 0))
    assert sorted(
        (
            int(regions.start_ns[i]),
            int(regions.end_ns[i]),
            trace.strings[regions.name[i]],
            trace.strings[regions.category[i]],
            int(regions.correlation[i]),
            int(regions.stream_handle[i]),
            int(regions.event_handle[i]),
        )
        for i in range(len(regions))
    ) == sorted(
        (
            r.start,
            r.end,
            r.name if r.start != r.end else r.category,
            r.category,
            r.correlation,
            next((int(a.value, 16) for a in r.args if a.name == "stream"), -1),
            next((int(a.value, 16) for a in r.args if a.name == "event"), -1),
        )
        for r in called
    )

    expected: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for number, r in enumerate(launched, 1):
        for value in r.values:
            expected[value.counter][number].append(value.value)
    assert set(trace.counters) == set(expected)
    for name, per_dispatch in expected.items():
        counter = trace.counters[name]
        for i, number in enumerate(d.dispatch_id.tolist()):
            values = per_dispatch.get(number, [])
            assert int(counter.instances[i]) == len(values)
            if values:
                assert counter.total[i] == sum(values)
                assert counter.maximum[i] == max(values)
            else:
                assert np.isnan(counter.total[i]) and np.isnan(counter.maximum[i])


@pytest.mark.parametrize("level", LEVELS)
def test_the_level_is_told_from_tables_and_columns(tmp_path: Path, level: str) -> None:
    path = tmp_path / "x_results.db"
    with RocpdWriter(path, level=level) as db:
        db.process(pid=1)
        db.agent(4, "GPU", "gfx942")
        if level >= "3.0.1":
            db.agent(9, "NIC", "nic")
        db.code_object(1, 4)
        db.kernel(1, "k")
        db.dispatches([Dispatch(1, 4, 10, 20)])
    assert one(path).sources[0].schema_version == level


def test_sums_agree_with_sql_on_the_raw_tables_and_with_the_data_views(tmp_path: Path) -> None:
    path = tmp_path / "1_results.db"
    launched = [
        Dispatch(
            11 + i % 3,
            GPU,
            1000 * i,
            1000 * i + 100 + 7 * i,
            values=[Value("SQ_WAVES", float(i), xcc=x) for x in range(i % 4)],
        )
        for i in range(200)
    ]
    write(path, "3.0.3", launched, [Call("hipMalloc", 5, 9, tid=100, correlation=3)])
    trace = one(path)
    d = trace.dispatches
    ours = {
        kernel.name: (
            int(np.count_nonzero(d.kernel == i)),
            int((d.end_ns - d.start_ns)[d.kernel == i].sum()),
        )
        for i, kernel in enumerate(trace.kernels)
    }
    with sqlite3.connect(path) as db:
        by_kernel = db.execute(
            "SELECT s.display_name, count(*), sum(k.end - k.start) FROM rocpd_kernel_dispatch k "
            "JOIN rocpd_info_kernel_symbol s ON s.id = k.kernel_id AND s.guid = k.guid GROUP BY 1"
        ).fetchall()
        assert ours == {name: (count, total) for name, count, total in by_kernel}
        collected = db.execute("SELECT dispatch_id, value FROM counters_collection").fetchall()
        at = {int(n): i for i, n in enumerate(d.dispatch_id)}
        assert {n: trace.counters["SQ_WAVES"].total[at[n]] for n, _ in collected} == dict(collected)
        assert np.isfinite(trace.counters["SQ_WAVES"].total).sum() == len(collected)
        views = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'view'")]
        rows = {view: len(db.execute(f"SELECT * FROM {view}").fetchall()) for view in views}
    db.close()
    assert rows["kernels"] == rows["rocpd_kernel_dispatch"] == 200
    assert rows["regions"] == rows["regions_and_samples"] == 1
    assert rows["memory_allocations"] == 1


def test_facts_about_process_agent_and_kernel_come_back(tmp_path: Path) -> None:
    path = tmp_path / "1_results.db"
    write(path, "3.0.0", [Dispatch(11, GPU, 10, 20, tid=100)])
    trace = one(path)
    process = trace.processes[0]
    assert (process.pid, process.parent_pid, process.command) == (100, 7, "./app --size 3")
    agent = trace.agents[trace.dispatches.agent[0]]
    assert (agent.architecture, agent.product_name, agent.handle, agent.index) == (
        "gfx942",
        "AMD Instinct MI300X",
        5600,
        GPU,
    )
    assert agent.properties["cu_count"] == 304
    assert agent.properties["caches"] == ({"level": 1, "size": 32, "count": 1},)
    (kernel,) = trace.kernels
    assert (kernel.name, kernel.total_vgprs, kernel.static_lds_bytes) == (KERNELS[11], 72, 1024)


def test_an_aborted_write_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "1_results.db"
    with pytest.raises(RuntimeError, match="stop"), RocpdWriter(path) as db:
        db.process(pid=1)
        raise RuntimeError("stop")
    assert list(tmp_path.iterdir()) == []


def test_reading_writes_nothing_beside_the_database(tmp_path: Path) -> None:
    path = tmp_path / "1_results.db"
    write(path, "3.0.0", [Dispatch(11, GPU, 10, 20)])
    before = path.read_bytes()
    one(path)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    assert path.read_bytes() == before
