"""Profile a captured dispatch without its program: the replay is the program."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rocm_perf_lab import workflow
from rocm_perf_lab.collect import run_folder
from rocm_perf_lab.collect.process import python
from rocm_perf_lab.collect.worker import Tell
from rocm_perf_lab.replay.format import find_capture, open_capture
from rocm_perf_lab.replay.session import accept
from rocm_perf_lab.workflow.documents import Documents


def profile_capture(
    capture: Path | None,
    asked: workflow.ProfileOptions,
    out: Path,
    tell: Tell,
    *,
    iterations: int = 3,
    hsaco: Path | None = None,
    translate_pointers: bool = False,
) -> tuple[Documents, Path | None]:
    """The documents and the folder they were written to. `asked`: all but the program."""
    folder = find_capture(capture)
    with open_capture(folder, tell=tell) as opened:
        accept(opened)
        name = f"replay-{opened.dispatch.kernel.symbol[:60]}"
    program, *words = python("rocm_perf_lab.cli.main")
    words += ["replay", "full-vm", str(folder.resolve())]
    words += ["--iterations", str(iterations), "--warmup", "0"]
    if hsaco is not None:
        words += ["--hsaco", str(hsaco.resolve())]
    if translate_pointers:
        words.append("--translate-pointers")
    options = replace(asked, program=program, arguments=tuple(words))
    with run_folder.new_run(out, name) as run:
        documents = workflow.profile_program(options, run.folder, tell)
        workflow.write_documents(documents, run.folder)
    return documents, run.final
