"""What the tools do: a typed request in, a text of bounded size out, by the interface of `api`.

A function is named as its tool. Only the process of a call imports this.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pydantic import BaseModel

from rocm_perf_lab import api
from rocm_perf_lab.collect import kept_runs, run_folder
from rocm_perf_lab.doctor import examine
from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.mcp_server import requests as ask
from rocm_perf_lab.mcp_server.answers import WIDTH, compact, page, rendered
from rocm_perf_lab.replay import capture as captures
from rocm_perf_lab.replay import microscope
from rocm_perf_lab.replay import run as replays
from rocm_perf_lab.replay.info import info
from rocm_perf_lab.report import compare as comparison
from rocm_perf_lab.report import replay as replay_text
from rocm_perf_lab.report.text import summary
from rocm_perf_lab.report.units import size
from rocm_perf_lab.workflow import ProfileOptions
from rocm_perf_lab.workflow.documents import write_documents
from rocm_perf_lab.workflow.explain import rule_texts
from rocm_perf_lab.workflow.parts import PARTS

Tell = Callable[[str], None]

RUNS = Path(run_folder.ROOT)


def profile(request: ask.ProfileRequest, tell: Tell) -> str:
    run = api.profile(
        request.program,
        *request.arguments,
        runs=request.runs,
        counters=request.counters,
        att=request.att,
        device=request.device,
        kernel=request.kernel,
        timeout_s=request.timeout_s,
        root=RUNS,
        tell=tell,
    )
    return _of_run(run, request.part, 0, request.max_chars)


def analyze(request: ask.AnalyzeRequest, tell: Tell) -> str:
    if not (request.traces or request.att):
        raise BadInput("no traces are named", hint="give traces, att, or both")
    found = api.analyze(
        *request.traces, att=request.att, kernel=request.kernel, gpu=request.gpu, tell=tell
    )
    with run_folder.new_run(RUNS, "analyze") as made:
        write_documents(found.documents, made.folder)
    run = api.Run(found.documents, found.name, made.final)
    return _of_run(run, request.part, 0, request.max_chars)


def show(request: ask.ShowRequest, tell: Tell) -> str:
    run = api.load(request.run, RUNS)
    return _of_run(run, request.part, request.offset, request.max_chars)


def runs(request: ask.RunsRequest, tell: Tell) -> str:
    lines = [
        f"{run.folder.name}  {run.label}  {size(run.bytes)}{'  latest' if run.latest else ''}"
        for run in reversed(kept_runs.kept(RUNS))
    ]
    text = "\n".join(lines) or "no run is kept here: profile or analyze something"
    return page(text, request.offset, request.max_chars, "runs")


def compare(request: ask.CompareRequest, tell: Tell) -> str:
    document = api.compare(
        request.a, request.b, fail_on=request.fail_on, kernel=request.kernel, root=RUNS
    )
    text = comparison.markdown(document) if request.format == "markdown" else compact(document)
    failed = [comparison.gate_line(g) for g in document.gates if g.outcome != "passed"]
    head = "".join(f"GATE: {line}\n" for line in failed)
    return head + page(text, request.offset, request.max_chars, "compare, as before,")


def explain(request: ask.ExplainRequest, tell: Tell) -> str:
    text = compact(rule_texts(request.rule))
    return page(text, request.offset, request.max_chars, "explain")


def capture(request: ask.CaptureRequest, tell: Tell) -> str:
    made = captures.capture_program(
        captures.CaptureOptions(
            program=request.program,
            arguments=tuple(request.arguments),
            kernel=request.kernel,
            index=request.index,
            max_bytes=request.max_bytes,
            timeout_s=request.timeout_s,
            device=request.device,
        ),
        tell,
    )
    totals = made.manifest.totals
    lines = [
        f"captured {made.manifest.kernel} in {made.folder}",
        f"{totals.regions} regions of {size(totals.region_bytes)}, "
        f"{size(totals.changed_bytes)} of it changed by the kernel",
        *(f"note: {note}" for note in made.manifest.notes),
        *(f"incomplete, a replay will refuse it: {why}" for why in made.manifest.reasons),
        *([f"warning: {made.failure} after the capture was made"] if made.failure else []),
        "next: replay, with the folder above as capture",
    ]
    return page("\n".join(lines), 0, request.max_chars, "replay with action=info")


def replay(request: ask.ReplayRequest, tell: Tell) -> str:
    folder = Path(request.capture) if request.capture is not None else None
    hsaco = Path(request.hsaco) if request.hsaco is not None else None
    if request.action == "info":
        text = replay_text.info(info(folder))
        return page(text, request.offset, request.max_chars, "replay with action=info,")
    if request.action == "profile":
        asked = ProfileOptions(
            program="",
            counters=request.counters,
            att=request.att,
            timeout_s=request.timeout_s,
            device=request.device or "auto",
        )
        documents, kept = microscope.profile_capture(
            folder, asked, RUNS, tell, iterations=request.iterations or 3, hsaco=hsaco
        )
        return _of_run(api.Run(documents, "replay", kept), "summary", 0, request.max_chars)
    document = replays.full_vm(
        replays.ReplayOptions(
            capture=folder,
            iterations=request.iterations,
            hsaco=hsaco,
            verify=request.verify,
            dtype=request.dtype,
            device=request.device,
            timeout_s=request.timeout_s,
        ),
        tell,
    )
    head = "" if document.output.accepted else "THE OUTPUT DIFFERS from the captured one.\n"
    text = replay_text.replay(document)
    return head + page(text, 0, request.max_chars, "replay with more max_chars")


def doctor(request: ask.DoctorRequest, tell: Tell) -> str:
    return page(compact(examine()), request.offset, request.max_chars, "doctor")


def _of_run(run: api.Run, part: str, offset: int, most: int) -> str:
    name = run.folder.resolve().name if run.folder is not None else None
    virtual = "virtual GPU: times and counters are modelled, not measured\n" if run.virtual else ""
    rest = f'show with run="{name}" part="{part}"'
    return f"run: {name}\n{virtual}\n" + page(_part(run, part), offset, most, rest)


def _part(run: api.Run, part: str) -> str:
    if part == "summary":
        return rendered(summary(run.profile, WIDTH, details=False))
    if part in PARTS:
        return rendered(PARTS[part](run.documents))
    document: BaseModel | None = getattr(run, part.removesuffix(".json"))
    if document is None:
        raise BadInput(f"this run has no {part}")
    return compact(document)
