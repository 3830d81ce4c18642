"""What a user points at: files and folders in, traces out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.trace import att as att_reader
from rocm_perf_lab.trace.duplicates import by_content
from rocm_perf_lab.trace.read import read_traces, readable
from rocm_perf_lab.trace.timings import looks_like_timings
from rocm_perf_lab.trace.trace import Trace

# What is looked for in a folder, best first; the first kind that holds a dispatch is taken.
_PATTERNS = (
    ("*_results.db",),
    ("*_results.json", "*_results.json.gz"),
    ("*.db",),
    ("*counter_collection.csv", "*kernel_trace.csv"),
    ("pmc_perf.csv",),
    ("*.pt.trace.json", "*.pt.trace.json.gz"),
    ("*.json", "*.json.gz"),
)
# JSON that lies among traces and is none: what a thread trace is made of, and our own results.
_NO_TRACE = ("ui_output_", ".rocpd_profile")


def read_inputs(paths: Sequence[Path]) -> list[Trace]:
    """The traces of every path; a kind of file without a dispatch does not hide the next kind."""
    traces: list[Trace] = []
    for path in paths:
        if not path.is_dir():
            traces += read_traces([path])
            continue
        chosen: list[Trace] = []
        problem: BadInput | None = None
        for files in _candidates(path):
            try:
                read = read_traces(files)
            except BadInput as error:
                problem = problem or error
                continue
            chosen = chosen or read
            if any(len(trace.dispatches) for trace in read):
                chosen = read
                break
        if not chosen:
            raise problem or _nothing(path)
        traces += chosen
    return by_content(traces)


def _candidates(folder: Path) -> Iterable[list[Path]]:
    for patterns in _PATTERNS:
        below = {f for pattern in patterns for f in folder.rglob(pattern) if f.is_file()}
        kept = sorted(f for f in below if not _inside(f, folder))
        if kept:
            yield kept


def _inside(file: Path, folder: Path) -> bool:
    parts = file.relative_to(folder).parts[:-1]
    return any(part.startswith(_NO_TRACE) for part in parts)


def holds_input(path: Path) -> bool:
    """Whether a path is something to read: a trace, timings, or a folder with traces."""
    if path.is_dir():
        return holds_traces(path) or holds_thread_traces(path)
    return readable(path) or (path.is_file() and looks_like_timings(path))


def holds_traces(folder: Path) -> bool:
    """Whether a folder has rocprofv3's own trace files; other JSON in it does not count."""
    return any(any(folder.rglob(p)) for patterns in _PATTERNS[:5] for p in patterns)


def holds_thread_traces(folder: Path) -> bool:
    try:
        return folder.is_dir() and bool(att_reader.find([folder]))
    except BadInput:
        return False


def _nothing(folder: Path) -> BadInput:
    return BadInput(
        f"no trace file lies under {folder}",
        hint="rocprofv3 names its databases <pid>_results.db",
    )
