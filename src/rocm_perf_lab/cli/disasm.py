"""`rocm-perf disasm`: the kernels in a program or code object."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rocm_perf_lab.cli.help import examples
from rocm_perf_lab.cli.options import Json, KernelRegex, option
from rocm_perf_lab.errors import plain
from rocm_perf_lab.report.names import limiter_words
from rocm_perf_lab.report.units import percent
from rocm_perf_lab.trace.library_code import told

if TYPE_CHECKING:
    from rocm_perf_lab.arch.occupancy import Occupancy
    from rocm_perf_lab.schema.disasm import DisassembledKernel

EXAMPLES = examples(
    "rocm-perf disasm ./app",
    "rocm-perf disasm ./app --summary",
    "rocm-perf disasm ./app --kernel softmax --arch gfx942",
    "rocm-perf disasm ./app --summary --block 256 --lds 32768",
)

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(epilog=EXAMPLES)
def disasm(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A HIP program, library, bundle or code object.")
    ],
    kernel: KernelRegex = None,
    arch: Annotated[str, option("NAME", "Only kernels for this GPU, as gfx942.")] = "",
    block: Annotated[
        int | None,
        option(
            "THREADS", "Threads per block that occupancy is for; else usual sizes.", min=1, max=1024
        ),
    ] = None,
    lds: Annotated[
        int, option("BYTES", "Dynamic LDS of the launch, beside the kernel's own.", min=0)
    ] = 0,
    summary: Annotated[
        bool, typer.Option("--summary", help="Resources only, no instructions.")
    ] = False,
    json: Json = False,
) -> None:
    """Show the kernels in a binary: resources, arguments, instructions with source lines."""
    from rocm_perf_lab.schema.common import to_json
    from rocm_perf_lab.workflow.disasm import disassembly

    found = disassembly(file, kernel, arch, block, summary, lds)
    if json:
        sys.stdout.write(to_json(found))
        return
    for index, one in enumerate(found.kernels):
        if index:
            print()
        _print(one, summary)


def _occupancies(found: list[Occupancy]) -> list[str]:
    """A line for each answer, with the sizes of block it is for."""
    sizes: dict[str, list[int]] = {}
    for one in found:
        if one.waves_per_simd is None or one.theoretical is None:
            answer = f"unknown: {one.reason}"
        else:
            share = f"{one.waves_per_simd:g} waves per SIMD ({percent(one.theoretical, 0)})"
            answer = f"{share}, limited by {limiter_words(one.limiters)}"
        sizes.setdefault(answer, []).append(one.threads_per_block or 0)
    return [
        f"{answer}, at {_listed(threads)} threads per block" for answer, threads in sizes.items()
    ]


def _listed(sizes: list[int]) -> str:
    *first, last = map(str, sizes)
    return f"{', '.join(first)} and {last}" if first else last


def _print(kernel: DisassembledKernel, summary: bool) -> None:
    held = kernel.resources
    print(f"{plain(kernel.demangled)}  ({kernel.architecture})")
    if kernel.demangled != kernel.name:
        print(f"  symbol {plain(kernel.name)}")
    total = held.total_vgpr_per_thread
    allocated = f" ({total} allocated)" if total is not None else ""
    print(
        f"  VGPR {held.vgpr_per_thread} + AGPR {held.agpr_per_thread}{allocated}, "
        f"SGPR {held.sgpr_per_wave}, LDS {held.lds_bytes} B, scratch {held.scratch_bytes} B, "
        f"spills {held.vgpr_spills} VGPR {held.sgpr_spills} SGPR"
    )
    for line in _occupancies(kernel.occupancy_by_block):
        print(f"  occupancy {line}")
    hidden = [a for a in kernel.arguments if a.kind.startswith("hidden_")]
    for a in kernel.arguments:
        if a not in hidden:
            print(f"  argument {a.offset:4}  {a.size:3} B  {a.kind:14} {plain(a.name)}".rstrip())
    if hidden:
        print(f"  and {len(hidden)} hidden arguments, {held.kernarg_bytes} B in all")
    if kernel.instructions is None:
        if not summary:
            print(f"  instructions not shown: {kernel.instructions_reason}")
        return
    last = ""
    for i in kernel.instructions:
        if (place := told(i.source, folders=True)) not in ("", last):
            print(f"; {plain(place)}")
        last = place or last
        print(f"  {i.address:#08x}  {i.encoding:<26}  {i.text}")
