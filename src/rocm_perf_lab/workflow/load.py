"""A kept run's files, read back as documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from rocm_perf_lab.collect import kept_runs
from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.schema.analysis import AnalysisDocument
from rocm_perf_lab.schema.common import Document
from rocm_perf_lab.schema.dag import DagDocument
from rocm_perf_lab.schema.profile import ProfileDocument
from rocm_perf_lab.schema.roofline import RooflineDocument
from rocm_perf_lab.schema.thread_trace import ThreadTraceDocument
from rocm_perf_lab.schema.timeline import TimelineDocument
from rocm_perf_lab.trace.recording import group
from rocm_perf_lab.trace.trace import Trace
from rocm_perf_lab.workflow.analyze import analyze_files
from rocm_perf_lab.workflow.documents import Documents
from rocm_perf_lab.workflow.inputs import read_inputs

D = TypeVar("D", bound=Document)

MOST_BYTES = 1 << 30


@dataclass(frozen=True)
class Opened:
    documents: Documents
    folder: Path | None  # of the kept run; None: analysed just now
    name: str


def open_run(
    paths: Sequence[str],
    root: Path,
    att: Sequence[Path] = (),
    tell: Callable[[str], None] = lambda _: None,
) -> Opened:
    """A kept run by name or folder, the latest if nothing is named, or traces analysed now."""
    if len(paths) < 2 and not att:
        here = Path(paths[0]) if paths else None
        if here is None or (here / kept_runs.MAIN_FILE).is_file() or not here.exists():
            folder = kept_runs.find(paths[0] if paths else None, root)
            return Opened(load_documents(folder), folder, folder.resolve().name)
    found = analyze_files([Path(path) for path in paths], att=att, tell=tell)
    return Opened(found, None, Path((*paths, *map(str, att))[0]).stem)


def timing_runs(opened: Opened) -> tuple[Trace, ...]:
    """Every dispatch of the runs that were timed, from the files the run was made from."""
    return timing_traces(opened.documents.profile, opened.folder)


def timing_traces(profile: ProfileDocument, folder: Path | None) -> tuple[Trace, ...]:
    inside = sorted(p for p in folder.glob("trace-*") if p.is_dir()) if folder else []
    if inside:
        runs = [group(read_inputs([one])).timing_runs for one in inside]
        return tuple(run for found in runs for run in found)
    inputs = [Path(i.path) for i in profile.provenance.inputs]
    if not inputs:
        raise BadInput("the run was timed by the host's clock only: it has no traces")
    lost = [path for path in inputs if not path.is_file()]
    if lost:
        raise BadInput(
            f"the traces the run was made from are no longer there: {lost[0]}",
            hint="every dispatch's time is needed here, not only their summary",
        )
    recording = group(read_inputs(inputs))
    return recording.timing_runs or recording.counter_passes[:1]


def load_documents(folder: Path) -> Documents:
    profile = read_document(folder / "profile.json", ProfileDocument)
    if profile is None:
        raise BadInput(f"{folder} has no profile.json", hint="`rocm-perf runs` lists the runs")
    return Documents(
        profile=profile,
        roofline=read_document(folder / "roofline.json", RooflineDocument),
        dag=read_document(folder / "dag.json", DagDocument),
        analysis=read_document(folder / "analysis.json", AnalysisDocument),
        thread_trace=read_document(folder / "thread_trace.json", ThreadTraceDocument),
        timeline=read_document(folder / "timeline.json", TimelineDocument),
    )


def read_document(path: Path, model: type[D]) -> D | None:
    """None where there is no such file; anything but a whole document is an error."""
    try:
        if not path.is_file():
            return None
        if path.stat().st_size > MOST_BYTES:
            raise BadInput(f"{path} is larger than {MOST_BYTES >> 20} MiB: no file of a run is")
        return model.model_validate_json(path.read_bytes())
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise BadInput(
            f"{path} is not a {path.stem} document of this version: {where}: {first['msg']}",
            hint="it was changed, or another version made it: `rocm-perf analyze` its traces again",
        ) from None
