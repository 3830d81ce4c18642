"""`rocm-perf optimize`: make the kernel that matters faster, and keep only what is proved."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rocm_perf_lab.cli.help import examples
from rocm_perf_lab.cli.options import (
    Arguments,
    Device,
    Json,
    KernelRegex,
    Policy,
    Report,
    Sources,
    option,
)
from rocm_perf_lab.cli.progress import progress
from rocm_perf_lab.cli.streams import input_is_not_given_on
from rocm_perf_lab.cli.words import arrange

if TYPE_CHECKING:
    from rocm_perf_lab.schema.optimize import OptimizeDocument

EXAMPLES = examples(
    "rocm-perf optimize ./app",
    "rocm-perf optimize --policy body --budget 1h ./app -- --size 4096",
)

__all__ = ["app", "arrange"]

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(epilog=EXAMPLES)
def optimize(
    program: Annotated[str, typer.Argument(metavar="PROGRAM", help="The program to improve.")],
    arguments: Arguments = None,
    source: Sources = None,
    build: Annotated[
        str | None,
        option("CMD", 'How: "CMD with {source} {output}"; else rocm-perf hipcc -O3. No shell.'),
    ] = None,
    proposer: Annotated[
        str, option("NAME", "rules, llm, command:PROGRAM, replay:FOLDER, or a plug-in's name.")
    ] = "rules",
    model: Annotated[str | None, option("NAME", "For llm: which model.")] = None,
    base_url: Annotated[str | None, option("URL", "For llm: the endpoint.")] = None,
    policy: Policy = "unroll",
    kernel: KernelRegex = None,
    max_iterations: Annotated[int, option("N", "Proposals to try at most.", min=1)] = 50,
    budget: Annotated[str, option("TIME", "Time to search: 90s, 10m, 2h.")] = "10m",
    min_speedup: Annotated[float, option("F", "A gain must surely exceed this.", min=1.0)] = 1.02,
    confidence: Annotated[float, option("F", "How surely.", min=0.5, max=0.9999)] = 0.95,
    apply: Annotated[
        bool, typer.Option("--apply", help="Write the result to the source file.")
    ] = False,
    patch: Annotated[Path | None, option("FILE", "Write it as a patch for git apply.")] = None,
    bundle: Annotated[
        Path | None, option("FILE", "Write the proof as one file, for `ledger verify` elsewhere.")
    ] = None,
    output: Annotated[
        str,
        option("RULE", "How the program's own output must agree: exact, numbers:TOL or ignore."),
    ] = "numbers:1e-05",
    report: Report = None,
    out: Annotated[Path, option("DIR", "Where the run's folder and its ledger go.")] = Path(
        ".rocpd_optimize"
    ),
    device: Device = "auto",
    no_sandbox: Annotated[
        bool,
        typer.Option("--no-sandbox", help="Run proposed code unconfined, if there is no sandbox."),
    ] = False,
    json: Json = False,
) -> None:
    """Make a HIP program's kernels faster, with the same results.

    Every change is guarded, compiled and run in a sandbox, compared on captured and on new
    inputs, and kept only if it is surely faster. The source is not touched without --apply. An
    interrupted run goes on where it stopped when it is started again.
    """
    from rocm_perf_lab.optimize import run
    from rocm_perf_lab.optimize.measure import Bar
    from rocm_perf_lab.optimize.options import OptimizeOptions, parse_time
    from rocm_perf_lab.optimize.program_output import parse_rule
    from rocm_perf_lab.optimize.proposers import Wanted
    from rocm_perf_lab.schema.common import to_json

    options = OptimizeOptions(
        program=program,
        arguments=tuple(arguments or ()),
        sources=tuple(source or ()),
        build=build,
        proposer=Wanted(proposer, model, base_url),
        policy=policy,
        kernel=kernel,
        max_iterations=max_iterations,
        budget_s=parse_time(budget),
        bar=Bar(min_speedup, confidence),
        apply=apply,
        patch=patch,
        bundle=bundle,
        report=report,
        out=out,
        device=device,
        sandbox=not no_sandbox,
        output=parse_rule(output),
    )
    input_is_not_given_on("optimize")
    with progress() as tell:
        done = run.optimize(options, tell)
    for warning in done.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    if json:
        sys.stdout.write(to_json(done.document))
    else:
        _print(done.document)
        for line in done.written:
            print(line)
    if not done.document.accepted and (apply or patch or bundle):
        print("nothing was accepted: there is nothing to write", file=sys.stderr)
        raise typer.Exit(1)


def _print(document: OptimizeDocument) -> None:
    from rocm_perf_lab.optimize.further import sentence
    from rocm_perf_lab.optimize.page import interval_text, microseconds

    modelled = " (modelled)" if document.timing == "modelled" else ""
    for row in document.iterations:
        speed = f" {row.speedup:.3f}x" if row.speedup is not None else ""
        print(f"{row.index:>3} {row.decision:<8} {row.stage:<14}{speed}  {row.proposal}")
        print(f"      {row.reason}")
    for note in document.notes:
        print(f"note: {note}")
    for kernel in document.kernels:
        if kernel.speedup is None:
            print(f"{kernel.kernel}: nothing was accepted")
            continue
        print(
            f"{kernel.kernel}: {kernel.speedup:.3f}x{modelled}, "
            f"{interval_text(kernel.confidence_interval)}; {microseconds(kernel.baseline_ms)} -> "
            f"{microseconds(kernel.final_ms)}"
        )
        if kernel.launches is not None:
            print(f"  holds for launches as seen: {kernel.launches.holds}")
    if document.output is not None and document.output.agrees:
        shown = ", ".join(document.output.compared)
        print(f"output as the original's ({document.output.rule}): {shown}")
    if document.end_to_end is not None:
        whole = document.end_to_end
        print(
            f"whole program: {whole.speedup:.3f}x{modelled}, {microseconds(whole.baseline_ms)} -> "
            f"{microseconds(whole.final_ms)}"
        )
    print(f"ended: {document.stopped}; ledger {document.ledger}")
    if document.further is not None:
        for text in (
            sentence(document.further),
            f"{document.further.policy} is not the default: {document.further.why_not_default}",
        ):
            print(textwrap.fill(text, 80, subsequent_indent="  ", break_on_hyphens=False))
