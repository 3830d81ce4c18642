"""`rocm-perf arch`: the numbers the verdicts rest on, each with its source."""

from __future__ import annotations

import difflib
import sys
from typing import Annotated, Any

import typer

from rocm_perf_lab.arch import load
from rocm_perf_lab.arch.check import check as find_problems
from rocm_perf_lab.arch.gpu import Gpu, Quantity
from rocm_perf_lab.cli.help import examples
from rocm_perf_lab.cli.options import Json
from rocm_perf_lab.errors import GateFailed, UsageError
from rocm_perf_lab.schema import arch as schema
from rocm_perf_lab.schema.common import to_json

EXAMPLES = examples("rocm-perf arch list", "rocm-perf arch show MI300X", "rocm-perf arch check")

app = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True)


@app.callback(epilog=EXAMPLES)
def arch() -> None:
    """The GPUs that are known, and every number the verdicts rest on."""


@app.command("list", epilog=examples("rocm-perf arch list", "rocm-perf arch list --json"))
def list_(json: Json = False) -> None:
    """List the architectures and products that are known."""
    lines = [
        schema.ArchitectureLine(
            architecture=name,
            family=file["family"],
            covers=file["matches"],
            products=list(file.get("products", {})),
        )
        for name, file in load.files().items()
    ]
    if json:
        sys.stdout.write(to_json(schema.ArchitectureList(architectures=lines)))
        return
    for line in lines:
        others = [name for name in line.covers if name != line.architecture]
        covers = f" (also {', '.join(others)})" if others else ""
        products = ", ".join(line.products) or "no product on file"
        print(f"{line.architecture:8} {line.family:8} {products}{covers}")


@app.command(epilog=examples("rocm-perf arch show MI300X", "rocm-perf arch show gfx90a --json"))
def show(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="An architecture (gfx942) or a product (MI300X).")
    ],
    json: Json = False,
) -> None:
    """Show every number on file for an architecture or a product, with unit, kind and source."""
    gpus, file = _find(name)
    numbers = load.quantities(
        file, {**file["hardware"], **file["occupancy"], **_prefixed(file["ops_per_cu_clock"])}
    )
    if json:
        document = schema.Architecture(
            architecture=file["architecture"],
            family=file["family"],
            covers=file["matches"],
            wave_limits=gpus[0].limits,
            numbers=schema.sourced(numbers),
            products=[schema.product(gpu) for gpu in gpus if gpu.product],
        )
        sys.stdout.write(to_json(document))
        return
    print(f"{file['architecture']} ({file['family']}), for {', '.join(file['matches'])}\n")
    _print_numbers("architecture", numbers)
    steps = ", ".join(f"<= {up_to}: {waves}" for up_to, waves in gpus[0].limits.sgpr_steps)
    print(f"  AGPRs {gpus[0].limits.agprs}; waves per SIMD by SGPRs: {steps or 'no limit'}\n")
    for gpu in gpus:
        if gpu.product:
            print(f"{gpu.product}: {gpu.cu_count} CUs, {gpu.clock_mhz:g} MHz\n")
            _print_numbers("ceilings, datasheet or derived", dict(gpu.datasheet))
            _print_numbers("ceilings, measured", dict(gpu.measured))


@app.command(epilog=examples("rocm-perf arch check"))
def check(json: Json = False) -> None:
    """Check the files: units, sources, and that peaks follow from CUs, clock and operations."""
    problems = find_problems()
    count = len(load.files())
    if json:
        sys.stdout.write(to_json(schema.CheckResult(files=count, problems=problems)))
    elif not problems:
        print(f"{count} architecture files: all is well")
    if problems:
        raise GateFailed(
            f"{len(problems)} problems in the architecture files:\n  " + "\n  ".join(problems)
        )


def _find(name: str) -> tuple[list[Gpu], dict[str, Any]]:
    known = [m for f in load.files().values() for m in f["matches"]]
    products = [p for f in load.files().values() for p in f.get("products", {})]
    try:
        gpu = load.gpu(name)
    except UsageError:
        near = difflib.get_close_matches(name, [*known, *products], n=1, cutoff=0.5)
        hint = f"did you mean {near[0]}?" if near else "see `rocm-perf arch list`"
        raise UsageError(f"no architecture or product called {name}", hint=hint) from None
    file = load.file_of(gpu.architecture)
    if name in known:
        every = [load.gpu(f"{file['architecture']}/{p}") for p in file.get("products", {})]
        return every or [gpu], file
    return [gpu], file


def _prefixed(section: dict[str, object]) -> dict[str, object]:
    return {f"{name}_per_cu_clock": value for name, value in section.items()}


def _print_numbers(title: str, numbers: dict[str, Quantity]) -> None:
    if not numbers:
        return
    print(f"  {title}")
    width = max(map(len, numbers))
    for name, q in numbers.items():
        print(f"    {name:{width}}  {q.value:>10.6g} {q.unit:<10} {q.kind:<9}  {q.source}")
    print()
