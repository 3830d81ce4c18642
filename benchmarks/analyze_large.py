"""What `rocm-perf analyze` costs on large traces, against merely reading their columns.

    python benchmarks/analyze_large.py [--sizes 10000 100000 1000000] [--keep DIR]

For each size a rocpd database is generated: N dispatches on 3 streams and N/2 HIP calls with
their arguments. In the same run are measured the fastest bare read of the columns an analysis
needs (every reader installed is tried), our own reader, and `analyze --json` end to end with its
peak memory. Time is that of the processor, of all threads, so that a busy machine changes little;
of readers without starting Python, of `analyze` with it. Targets: analyze at most 2.5 times
connectorx, below 600 MB, and linear in N.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path

import numpy as np

from rocm_perf_lab.trace.rocpd_writer import Argument, Call, Dispatch, RocpdWriter

STREAMS = 3
GPU = 4
KERNELS = ("gemm(float*, float*, float*, int)", "softmax(float*, int)", "reduce(double*)", "fill")
TABLES = {
    "kernel_dispatch": "pid tid agent_id kernel_id dispatch_id queue_id stream_id start end "
    "private_segment_size group_segment_size workgroup_size_x workgroup_size_y workgroup_size_z "
    "grid_size_x grid_size_y grid_size_z event_id",
    "event": "id category_id stack_id",
    "region": "pid tid start end name_id event_id",
}
ARGUMENTS = "SELECT event_id, name, value FROM rocpd_arg WHERE name IN ('stream', 'event')"


def calls(count: int) -> Iterator[Call]:
    """Launches in turn on the streams; now and then an event orders one stream after another."""
    for i in range(count):
        stream = Argument("ihipStream_t*", "stream", hex(0x7F0000001000 + 0x100 * (i % STREAMS)))
        start = 1_000_000 + 4000 * i
        if i % 50 == 48:
            event = Argument("ihipEvent_t*", "event", hex(0x7F0000800000 + 0x40 * (i // 50 % 64)))
            yield Call("hipEventRecord", start, start + 900, 1, i + 1, args=(event, stream))
        elif i % 50 == 49:
            event = Argument("ihipEvent_t*", "event", hex(0x7F0000800000 + 0x40 * (i // 50 % 64)))
            flags = Argument("unsigned int", "flags", "0")
            yield Call(
                "hipStreamWaitEvent", start, start + 700, 1, i + 1, args=(stream, event, flags)
            )
        else:
            yield Call(
                "hipLaunchKernel",
                start,
                start + 2500,
                1,
                i + 1,
                args=(
                    Argument("void const*", "function_address", "0x55d0c0ffee00"),
                    Argument("dim3", "numBlocks", "{z=1, y=1, x=1024}"),
                    Argument("dim3", "dimBlocks", "{z=1, y=1, x=256}"),
                    Argument("unsigned long", "sharedMemBytes", "0"),
                    stream,
                ),
            )


def dispatches(count: int) -> Iterator[Dispatch]:
    for i in range(count):
        start = 1_004_000 + 2000 * i
        yield Dispatch(
            kernel=1 + (i * 7 % 11) % len(KERNELS),
            agent=GPU,
            start=start,
            end=start + 1500 + 37 * (i % 29),
            workgroup=(256, 1, 1),
            grid=(256 * (1 + i % 64), 1, 1),
            queue=1 + i // 2 % STREAMS,
            stream=1 + i // 2 % STREAMS,
            tid=1,
            correlation=1 + i // 2,
            lds=1024 * (i % 4),
        )


def generate(path: Path, count: int) -> None:
    with RocpdWriter(path, guid="0000bead-0000-7000-8000-000000000001") as db:
        db.process(pid=1, command="./generated", start=1, end=2_000_000 + 2000 * count)
        db.agent(
            GPU,
            "GPU",
            "gfx942",
            product="AMD Instinct MI300X",
            extdata={"id": {"handle": 5600}, "cu_count": 304, "num_xcc": 8, "wave_front_size": 64},
        )
        db.code_object(1, GPU)
        for number, name in enumerate(KERNELS, 1):
            db.kernel(number, name, arch_vgprs=64, sgprs=32)
        db.calls(calls(count // 2))
        db.dispatches(dispatches(count))


def with_sqlite3(path: Path) -> int:
    """The standard library, batch by batch into numpy."""
    rows = 0
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
        for table, columns in TABLES.items():
            names = columns.split()
            cursor = db.execute(f"SELECT {', '.join(names)} FROM rocpd_{table}")
            kind = np.dtype([(name, np.int64) for name in names])
            while batch := list(islice(cursor, 100_000)):
                rows += len(np.array(batch, dtype=kind))
        rows += len(db.execute(ARGUMENTS).fetchall())
    return rows


def with_adbc(path: Path) -> int:
    import adbc_driver_sqlite.dbapi  # type: ignore[import-not-found,unused-ignore]

    rows = 0
    with adbc_driver_sqlite.dbapi.connect(str(path)) as db, db.cursor() as cursor:
        for table, columns in TABLES.items():
            cursor.execute(f"SELECT {columns.replace(' ', ', ')} FROM rocpd_{table}")
            rows += cursor.fetch_arrow_table().num_rows
        cursor.execute(ARGUMENTS)
        rows += cursor.fetch_arrow_table().num_rows
    return rows


def with_connectorx(path: Path) -> int:
    import connectorx  # type: ignore[import-not-found,unused-ignore]

    queries = [
        f"SELECT {columns.replace(' ', ', ')} FROM rocpd_{table}"
        for table, columns in TABLES.items()
    ]
    return sum(
        connectorx.read_sql(f"sqlite://{path}", query, return_type="arrow").num_rows
        for query in (*queries, ARGUMENTS)
    )


def ours(path: Path) -> int:
    from rocm_perf_lab.trace.read import read_traces

    return sum(len(t.dispatches) + len(t.regions) for t in read_traces([path]))


READERS: tuple[Callable[[Path], int], ...] = (with_sqlite3, with_adbc, with_connectorx, ours)


def in_fresh_process(arguments: list[str]) -> tuple[float, float, str]:
    """Processor seconds, peak MB and output of a command, all its own."""
    child = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    output = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    seconds = usage.ru_utime + usage.ru_stime
    if child.returncode:
        raise SystemExit(f"{arguments[0]} … ended with {child.returncode}")
    return seconds, usage.ru_maxrss / 1024, output


def reader_seconds(reader: str, path: Path) -> tuple[float, float]:
    """Seconds spent in one reader, and the peak MB of the process it had for itself."""
    command = [sys.executable, __file__, "--reader", reader, str(path)]
    _, peak, output = in_fresh_process(command)
    return float(output), peak


def measure(path: Path, repeats: int) -> dict[str, float]:
    result: dict[str, float] = {"database_mb": path.stat().st_size / 1e6}
    for reader in READERS:
        runs = []
        with suppress(SystemExit):
            runs = [reader_seconds(reader.__name__, path) for _ in range(repeats)]
        if runs:
            result[f"{reader.__name__}_s"] = min(seconds for seconds, _ in runs)
            result[f"{reader.__name__}_mb"] = max(peak for _, peak in runs)
    with tempfile.TemporaryDirectory() as scratch, suppress(SystemExit):
        command = [sys.executable, "-m", "rocm_perf_lab", "analyze", "--json", str(path)]
        command += ["--out", scratch]
        runs2 = [in_fresh_process(command) for _ in range(repeats)]
        result["analyze_s"] = min(seconds for seconds, _, _ in runs2)
        result["analyze_mb"] = max(peak for _, peak, _ in runs2)
        if "with_connectorx_s" in result:
            ratio = result["analyze_s"] / result["with_connectorx_s"]
            result["analyze_over_connectorx"] = ratio
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sizes", nargs="+", type=int, default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--keep", type=Path, help="folder in which the databases stay")
    parser.add_argument("--reader", help=argparse.SUPPRESS)
    parser.add_argument("path", nargs="?", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.reader:
        reader = next(r for r in READERS if r.__name__ == given.reader)
        with suppress(ImportError):
            start = time.process_time()
            reader(given.path)
            print(time.process_time() - start)
            return
        raise SystemExit(9)

    folder = given.keep or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    results = {}
    try:
        for size in given.sizes:
            path = folder / f"{size}_results.db"
            if not path.exists():
                generate(path, size)
            results[size] = measure(path, given.repeats)
            figures = {name: round(value, 3) for name, value in results[size].items()}
            print(json.dumps({"dispatches": size, **figures}), flush=True)
    finally:
        if not given.keep:
            shutil.rmtree(folder)
    small, large = min(results), max(results)
    for name in ("ours_s", "analyze_s"):
        if small != large and name in results[small] and name in results[large]:
            growth = results[large][name] / results[small][name]
            print(f"{name}: {growth:.1f} times the time for {large / small:.0f} times the rows")
    print(f"machine: {os.cpu_count()} cores, pages of {resource.getpagesize()} bytes")


if __name__ == "__main__":
    main()
