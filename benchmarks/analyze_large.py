"""What `rocm-perf analyze` costs on large traces, against merely reading them.

    python benchmarks/analyze_large.py [--sizes 10000 100000 1000000] [--kineto 90 360] [--keep DIR]

For each size a rocpd database is generated: N dispatches on 3 streams and N/2 HIP calls with
their arguments; and for each number of megabytes a trace as PyTorch's profiler writes it, Python
frames and operators included. Measured are bare readers (of the columns that an analysis needs,
or of the whole JSON), our own reader, and `analyze --json` end to end, each in a process of its own
and in turns, with its peak memory; of several rounds the median counts. Time is that of the
processor, of all threads, so that a busy machine changes little; of readers without starting
Python, of `analyze` with it. Targets: analyze at most 2.5 times connectorx and below 600 MB for
10^6 dispatches; at most 1.2 times orjson for a PyTorch trace, in less memory than the file has.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import resource
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path

import numpy as np

from large_traces import generate, generate_kineto

TABLES = {
    "kernel_dispatch": "pid tid agent_id kernel_id dispatch_id queue_id stream_id start end "
    "private_segment_size group_segment_size workgroup_size_x workgroup_size_y workgroup_size_z "
    "grid_size_x grid_size_y grid_size_z event_id",
    "event": "id category_id stack_id",
    "region": "pid tid start end name_id event_id",
}
ARGUMENTS = "SELECT event_id, name, value FROM rocpd_arg WHERE name IN ('stream', 'event')"


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


# Looking for cycles among so many objects takes longer than parsing them: these two do not.
def with_json(path: Path) -> int:
    gc.disable()
    with path.open("rb") as file:
        return len(json.load(file)["traceEvents"])


def with_orjson(path: Path) -> int:
    import orjson  # type: ignore[import-not-found,unused-ignore]

    gc.disable()
    return len(orjson.loads(path.read_bytes())["traceEvents"])


Reader = Callable[[Path], int]
OF_DATABASES: tuple[Reader, ...] = (with_sqlite3, with_adbc, with_connectorx, ours)
OF_JSON: tuple[Reader, ...] = (with_json, with_orjson, ours)


def in_fresh_process(arguments: list[str]) -> tuple[float, float, str]:
    """Processor seconds, peak MB and output of a command, all its own."""
    # Compiled modules are kept, as those of an installed package are.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    child = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, env=environment)
    assert child.stdout is not None
    output = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    seconds = usage.ru_utime + usage.ru_stime
    if child.returncode:
        raise SystemExit(f"{arguments[0]} … ended with {child.returncode}")
    return seconds, usage.ru_maxrss / 1024, output


def reader_cost(reader: str, path: Path) -> tuple[float, float]:
    """Seconds spent in one reader, and the peak MB of the process it had for itself."""
    command = [sys.executable, __file__, "--reader", reader, str(path)]
    _, peak, output = in_fresh_process(command)
    return float(output), peak


def analyze_cost(path: Path) -> tuple[float, float]:
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "rocm_perf_lab", "analyze", "--json", "--quiet"]
        seconds, peak, _ = in_fresh_process([*command, str(path), "--out", scratch])
        return seconds, peak


def measure(path: Path, readers: tuple[Reader, ...], peer: Reader, rounds: int) -> dict[str, float]:
    result: dict[str, float] = {"file_mb": path.stat().st_size / 1e6}
    costs: dict[str, list[tuple[float, float]]] = {}
    for _ in range(rounds):
        for reader in readers:
            with suppress(SystemExit):  # not installed
                costs.setdefault(reader.__name__, []).append(reader_cost(reader.__name__, path))
        costs.setdefault("analyze", []).append(analyze_cost(path))
    for name, runs in costs.items():
        if runs:
            result[f"{name}_s"] = statistics.median(seconds for seconds, _ in runs)
            result[f"{name}_mb"] = statistics.median(peak for _, peak in runs)
    if (theirs := result.get(f"{peer.__name__}_s")) is not None:
        result[f"analyze_over_{peer.__name__.removeprefix('with_')}"] = result["analyze_s"] / theirs
    return result


def report(results: dict[float, dict[str, float]], what: str) -> None:
    """How the time grows with the size."""
    small, large = min(results), max(results)
    for name in ("ours_s", "analyze_s"):
        if small != large and name in results[small] and name in results[large]:
            growth = results[large][name] / results[small][name]
            print(f"{name}: {growth:.1f} times the time for {large / small:.0f} times the {what}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sizes", nargs="*", type=int, default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--kineto", nargs="*", type=int, default=[90, 360], help="megabytes")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--keep", type=Path, help="folder in which the traces stay")
    parser.add_argument("--reader", help=argparse.SUPPRESS)
    parser.add_argument("path", nargs="?", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.reader:
        reader = next(r for r in (*OF_DATABASES, *OF_JSON) if r.__name__ == given.reader)
        with suppress(ImportError):
            start = time.process_time()
            reader(given.path)
            print(time.process_time() - start)
            return
        raise SystemExit(9)

    folder = given.keep or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    kinds = (
        ("dispatches", given.sizes, "_results.db", generate, OF_DATABASES, with_connectorx),
        ("megabytes", given.kineto, ".pt.trace.json", generate_kineto, OF_JSON, with_orjson),
    )
    try:
        for what, sizes, suffix, make, readers, peer in kinds:
            results: dict[float, dict[str, float]] = {}
            for size in sizes:
                path = folder / f"{size}{suffix}"
                if not path.exists():
                    make(path, size)
                results[size] = measure(path, readers, peer, given.repeats)
                figures = {name: round(value, 3) for name, value in results[size].items()}
                print(json.dumps({what: size, **figures}), flush=True)
            if results:
                report(results, what)
    finally:
        if not given.keep:
            shutil.rmtree(folder)
    print(f"machine: {os.cpu_count()} cores, pages of {resource.getpagesize()} bytes")


if __name__ == "__main__":
    main()
