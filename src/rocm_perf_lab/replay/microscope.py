"""Profile a captured dispatch without its program: the replay is the program."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rocm_perf_lab import workflow
from rocm_perf_lab.arch.gpu import CeilingKind
from rocm_perf_lab.collect import run_folder
from rocm_perf_lab.collect.process import python
from rocm_perf_lab.collect.worker import Tell
from rocm_perf_lab.replay.format import find_capture, open_capture
from rocm_perf_lab.replay.session import accept
from rocm_perf_lab.workflow.documents import Documents


@dataclass(frozen=True)
class MicroscopeOptions:
    capture: Path | None = None
    runs: int = 3
    iterations: int = 3
    counters: bool = True
    att: bool = True
    hsaco: Path | None = None
    ceilings: CeilingKind = "measured"
    translate_pointers: bool = False
    timeout_s: float = 600.0
    device: str = "auto"


def profile_capture(
    options: MicroscopeOptions, out: Path, tell: Tell
) -> tuple[Documents, Path | None]:
    """The documents and the folder they were written to."""
    folder = find_capture(options.capture)
    with open_capture(folder, tell=tell) as capture:
        accept(capture)
        name = f"replay-{capture.dispatch.kernel.symbol[:60]}"
    program, *words = python("rocm_perf_lab.cli.main")
    words += ["replay", "full-vm", str(folder.resolve())]
    words += ["--iterations", str(options.iterations), "--warmup", "0"]
    if options.hsaco is not None:
        words += ["--hsaco", str(options.hsaco.resolve())]
    if options.translate_pointers:
        words.append("--translate-pointers")
    with run_folder.new_run(out, name) as run:
        documents = workflow.profile_program(
            workflow.Options(
                program=program,
                arguments=tuple(words),
                runs=options.runs,
                counters=options.counters,
                att=options.att,
                choices=workflow.Choices(ceilings=options.ceilings),
                timeout_s=options.timeout_s,
                device=options.device,
            ),
            run.folder,
            tell,
        )
        workflow.write_documents(documents, run.folder)
    return documents, run.final
