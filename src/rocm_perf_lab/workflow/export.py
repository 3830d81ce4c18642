"""A run written for other tools."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from rocm_perf_lab.analyze.graph.path_operations import path_operations
from rocm_perf_lab.collect.run_folder import write_pieces
from rocm_perf_lab.errors import BadInput, MissingTool
from rocm_perf_lab.report.exports.chrome import chrome
from rocm_perf_lab.report.exports.perfetto import perfetto
from rocm_perf_lab.report.exports.slices import Slice
from rocm_perf_lab.report.exports.speedscope import folded, speedscope
from rocm_perf_lab.trace.trace import Trace
from rocm_perf_lab.workflow.analyze import representative
from rocm_perf_lab.workflow.load import Opened, timing_runs

FORMATS = {
    "perfetto": ".pftrace",
    "chrome": ".trace.json",
    "csv": ".csv",
    "parquet": ".parquet",
    "speedscope": ".speedscope.json",
    "folded": ".folded.txt",
}


def export(opened: Opened, kind: str, out: Path, tell: Callable[[str], None]) -> None:
    if kind in ("speedscope", "folded"):
        traces = opened.documents.thread_trace.traces if opened.documents.thread_trace else []
        usable = [t for t in traces if t.usable]
        if not usable:
            raise BadInput(
                f"{kind} shows where a thread trace's cycles went, and this run has none",
                hint="take one: rocm-perf profile --att ./app",
            )
        whole = speedscope(usable, opened.name) if kind == "speedscope" else "".join(folded(usable))
        _write(out, [whole.encode()])
        return
    tell("reading the traces")
    run = representative(timing_runs(opened))
    about = {"name": opened.name, "tool": "rocm-perf"}
    if run.virtual:
        about["name"] += " (virtual GPU: modelled times)"
    if kind in ("perfetto", "chrome"):
        tell("critical path")
        found = slices(run)
        if kind == "perfetto":
            _write(out, perfetto(found, about))
        else:
            _write(out, (piece.encode() for piece in chrome(found, about)))
    elif kind == "csv":
        _write(out, [_csv(columns(run)).encode()])
    else:
        _write(out, [_parquet(columns(run))])


def slices(run: Trace) -> list[Slice]:
    ops, order = path_operations(run)
    place = {op: i for i, op in enumerate(order.tolist())}
    names = [_words(n) for n in ops.names]
    several = len(run.processes) > 1
    found = []
    for i, (start, took, name, stream, queue, process, is_copy) in enumerate(
        zip(
            *(c.tolist() for c in (ops.start, ops.duration, ops.name, ops.stream, ops.queue)),
            ops.process.tolist(),
            ops.is_copy.tolist(),
            strict=True,
        )
    ):
        where = f"stream {stream}" if stream >= 0 else f"queue {queue}"
        if several:
            where = f"process {run.processes[process].pid or process} {where}"
        found.append(
            Slice(
                start_ns=ops.origin_ns + start,
                duration_ns=took,
                name=names[name],
                track=f"GPU {where}" + (" copies" if is_copy else ""),
                category="copy" if is_copy else "kernel",
                on_path=place.get(i),
                arguments={"on_critical_path": "yes"} if i in place else {},
            )
        )
    r = run.regions
    rows = zip(*(c.tolist() for c in (r.start_ns, r.end_ns, r.name, r.thread)), strict=True)
    for start, end, name, thread in rows:
        words = run.strings[name] if name >= 0 else "call"
        found.append(Slice(start, max(end - start, 0), words, f"host thread {thread}", "host"))
    return found


def _words(name: str) -> str:
    if name.startswith("MEMORY_COPY_"):
        return "copy " + name.removeprefix("MEMORY_COPY_").replace("_", " ").lower()
    return name


def columns(run: Trace) -> dict[str, Any]:
    """One row per dispatch and copy, by start."""
    d, c = run.dispatches, run.copies
    kernels = np.array([*(k.name for k in run.kernels), "(unknown kernel)"], dtype=object)
    kinds = np.array([*run.strings, "copy"], dtype=object)
    nothing = np.full(len(c), -1)
    table: dict[str, Any] = {
        "kind": np.array(["kernel"] * len(d) + ["copy"] * len(c), dtype=object),
        "name": np.concatenate([kernels[d.kernel], kinds[c.kind]]),
        "start_ns": np.concatenate([d.start_ns, c.start_ns]),
        "end_ns": np.concatenate([d.end_ns, c.end_ns]),
        "duration_ns": np.concatenate([d.end_ns - d.start_ns, c.end_ns - c.start_ns]),
        "process": np.concatenate([d.process, c.process]),
        "stream": np.concatenate([d.stream, c.stream]),
        "queue": np.concatenate([d.queue, nothing]),
        "dispatch_id": np.concatenate([d.dispatch_id, nothing]),
        "correlation": np.concatenate([d.correlation, c.correlation]),
        "lds_bytes": np.concatenate([d.lds_bytes, nothing]),
        "scratch_bytes": np.concatenate([d.scratch_bytes, nothing]),
        "size_bytes": np.concatenate([np.full(len(d), -1), c.size_bytes]),
    }
    for i, axis in enumerate("xyz"):
        table[f"grid_{axis}"] = np.concatenate([d.grid[:, i], nothing])
        table[f"workgroup_{axis}"] = np.concatenate([d.workgroup[:, i], nothing])
    order = np.argsort(table["start_ns"], kind="stable")
    return {name: column[order] for name, column in table.items()}


def _csv(table: dict[str, Any]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(table)
    writer.writerows(zip(*(column.tolist() for column in table.values()), strict=True))
    return out.getvalue()


def _parquet(table: dict[str, Any]) -> bytes:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingTool(
            "--format parquet needs pyarrow", hint="pip install 'rocm-perf-lab[notebook]'"
        ) from None
    out = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(table), out)
    return out.getvalue()


def _write(out: Path, pieces: Iterator[bytes] | list[bytes]) -> None:
    try:
        write_pieces(out, pieces)
    except OSError as error:
        raise BadInput(f"cannot write {out}: {error.strerror}") from None
