"""A kept run's files, read back as documents."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from rocm_perf_lab.collect import kept_runs
from rocm_perf_lab.collect.run_folder import DOCUMENTS, LATEST, PROFILE
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
from rocm_perf_lab.workflow.inputs import holds_input, read_inputs

D = TypeVar("D", bound=Document)
Tell = Callable[[str], None]

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
    tell: Tell = lambda _: None,
    say: Tell = lambda _: None,
) -> Opened:
    """A kept run by name or folder, the latest if nothing is named, or traces analysed now."""
    if len(paths) < 2 and not att:
        folder = which_run(paths[0] if paths else None, root, say)
        if folder is not None:
            return Opened(load_documents(folder), folder, folder.resolve().name)
    found = analyze_files([Path(path) for path in paths], att=att, tell=tell)
    return Opened(found, None, Path((*paths, *map(str, att))[0]).stem)


def which_run(name: str | None, root: Path, say: Tell) -> Path | None:
    """The folder of the run that is meant; None: what is named are traces, to be read now.

    A run's folder, a trace, a folder of traces and whatever is written as a path are what they
    are. Any other word is a run's name, also where something else lies here under it: the program
    that was profiled, mostly.
    """
    if name is None:
        return kept_runs.latest(root)
    here = Path(name)
    if (here / PROFILE).is_file():
        return here
    if here.exists() and (os.sep in name or holds_input(here)):
        return None
    if name == LATEST:
        return kept_runs.latest(root)
    found = kept_runs.named(name, root)
    if found is not None:
        if found.fitting > 1:
            say(f"{name}: the newest of {found.fitting} runs, {found.folder.name}")
        return found.folder
    if here.exists():
        return None
    raise kept_runs.unknown(name, root)


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
    def read(field: str, model: type[D]) -> D | None:
        return read_document(folder / DOCUMENTS[field], model)

    profile = read("profile", ProfileDocument)
    if profile is None:
        raise BadInput(f"{folder} has no {PROFILE}", hint="`rocm-perf runs` lists the runs")
    return Documents(
        profile=profile,
        roofline=read("roofline", RooflineDocument),
        dag=read("dag", DagDocument),
        analysis=read("analysis", AnalysisDocument),
        thread_trace=read("thread_trace", ThreadTraceDocument),
        timeline=read("timeline", TimelineDocument),
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
