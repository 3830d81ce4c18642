"""`rocm-perf disasm`: the kernels in a program or code object."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Annotated

import typer

from rocm_perf_lab.arch import load
from rocm_perf_lab.arch.occupancy import Occupancy, occupancy
from rocm_perf_lab.cli.help import examples
from rocm_perf_lab.cli.options import Json, KernelRegex
from rocm_perf_lab.codeobject.demangle import demangle
from rocm_perf_lab.codeobject.kernels import CodeObject, Kernel, read_code_objects
from rocm_perf_lab.device.disassembly import KNOWN, disassemble, unknown
from rocm_perf_lab.errors import BadInput, UsageError, plain
from rocm_perf_lab.schema import disasm as schema
from rocm_perf_lab.schema.common import to_json
from rocm_perf_lab.schema.occupancy import to_occupancy

EXAMPLES = examples(
    "rocm-perf disasm ./app",
    "rocm-perf disasm ./app --summary",
    "rocm-perf disasm ./app --kernel softmax --arch gfx942",
)

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(epilog=EXAMPLES)
def disasm(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A HIP program, library, bundle or code object.")
    ],
    kernel: KernelRegex = None,
    arch: Annotated[
        str, typer.Option("--arch", metavar="NAME", help="Only kernels for this GPU, as gfx942.")
    ] = "",
    block: Annotated[
        int | None,
        typer.Option(
            "--block",
            metavar="THREADS",
            min=1,
            max=1024,
            help="Threads per block that occupancy is for; else the largest allowed.",
        ),
    ] = None,
    summary: Annotated[
        bool, typer.Option("--summary", help="Resources only, no instructions.")
    ] = False,
    json: Json = False,
) -> None:
    """Show the kernels in a binary: resources, arguments, instructions with source lines."""
    chosen = _choose(file, kernel, arch)
    reason = "only a summary was asked for" if summary else None
    if json:
        kernels = [_document(owner, found, block, reason) for owner, found in chosen]
        sys.stdout.write(to_json(schema.Disassembly(file=str(file), kernels=kernels)))
        return
    for index, (owner, found) in enumerate(chosen):
        if index:
            print()
        _print(owner, found, block, reason)


def _choose(file: Path, pattern: str | None, architecture: str) -> list[tuple[CodeObject, Kernel]]:
    wanted = re.compile(pattern or "")
    kernels = [(owner, k) for owner in read_code_objects(file) for k in owner.kernels]
    if not kernels:
        raise BadInput(f"{file} holds GPU code, but no kernel")
    if architecture:
        present = sorted({k.architecture for _, k in kernels})
        kernels = [(owner, k) for owner, k in kernels if k.architecture == architecture]
        if not kernels:
            raise UsageError(
                f"no kernel in {file} is for {architecture}", hint=f"it is for {', '.join(present)}"
            )
    found = [
        (owner, k)
        for owner, k in kernels
        if wanted.search(demangle(k.name)) or wanted.search(k.name)
    ]
    if not found:
        names = ", ".join(sorted({plain(demangle(k.name)) for _, k in kernels})[:8])
        raise UsageError(f"no kernel in {file} matches {pattern}", hint=f"it holds {names}")
    return found


def occupancy_of(kernel: Kernel, block: int | None) -> Occupancy:
    """As `profile` has it for the same kernel in blocks of the same size."""
    threads = block or kernel.max_threads or None
    try:
        gpu = load.gpu(kernel.architecture)
    except UsageError as error:
        return Occupancy(None, None, None, threads, kernel.wave_size, reason=error.message)
    return occupancy(
        gpu,
        threads=threads,
        vgprs=kernel.vgprs,
        agprs=kernel.agprs,
        total_vgprs=kernel.vgprs + kernel.agprs,
        sgprs=kernel.sgprs,
        lds_bytes=kernel.lds_bytes,
        wave_size=kernel.wave_size,
    )


def _unlisted(kernel: Kernel, reason: str | None) -> str | None:
    """Why the instructions of this kernel are not shown."""
    return reason or (None if kernel.architecture in KNOWN else unknown(kernel.architecture))


def _document(
    owner: CodeObject, kernel: Kernel, block: int | None, reason: str | None
) -> schema.DisassembledKernel:
    reason = _unlisted(kernel, reason)
    return schema.DisassembledKernel(
        name=kernel.name,
        demangled=demangle(kernel.name),
        architecture=owner.architecture,
        resources=schema.KernelResources(
            vgpr_per_thread=kernel.vgprs,
            agpr_per_thread=kernel.agprs,
            sgpr_per_wave=kernel.sgprs,
            lds_bytes=kernel.lds_bytes,
            scratch_bytes=kernel.scratch_bytes,
            vgpr_spills=kernel.vgpr_spills,
            sgpr_spills=kernel.sgpr_spills,
            kernarg_bytes=kernel.kernarg_bytes,
            max_threads_per_block=kernel.max_threads,
            wave_size=kernel.wave_size,
        ),
        occupancy=to_occupancy(occupancy_of(kernel, block)),
        arguments=[
            schema.KernelArgument(
                name=a.name, kind=a.kind, type=a.type, offset=a.offset, size=a.size
            )
            for a in kernel.arguments
        ],
        instructions=None
        if reason
        else [
            schema.KernelInstruction(
                address=i.address,
                encoding=" ".join(f"{word:08x}" for word in i.encoding),
                text=i.text,
                file=i.file,
                line=i.line,
            )
            for i in disassemble(owner, kernel)
        ],
        instructions_reason=reason,
    )


def _print(owner: CodeObject, kernel: Kernel, block: int | None, summary: str | None) -> None:
    fits = occupancy_of(kernel, block)
    shown = demangle(kernel.name)
    print(f"{plain(shown)}  ({owner.architecture})")
    if shown != kernel.name:
        print(f"  symbol {plain(kernel.name)}")
    print(
        f"  VGPR {kernel.vgprs} + AGPR {kernel.agprs}, SGPR {kernel.sgprs}, "
        f"LDS {kernel.lds_bytes} B, scratch {kernel.scratch_bytes} B, "
        f"spills {kernel.vgpr_spills} VGPR {kernel.sgpr_spills} SGPR"
    )
    if fits.waves_per_simd is None or fits.theoretical is None:
        print(f"  occupancy unknown: {fits.reason}")
    else:
        print(
            f"  occupancy {fits.waves_per_simd:g} waves per SIMD ({100 * fits.theoretical:.0f} %), "
            f"limited by {' and '.join(fits.limiters)}, at {fits.threads_per_block} threads per "
            "block"
        )
    for a in kernel.arguments:
        if not a.hidden:
            print(f"  argument {a.offset:4}  {a.size:3} B  {a.kind:14} {plain(a.name)}".rstrip())
    hidden = sum(a.hidden for a in kernel.arguments)
    if hidden:
        print(f"  and {hidden} hidden arguments, {kernel.kernarg_bytes} B in all")
    if reason := _unlisted(kernel, summary):
        if not summary:
            print(f"  instructions not shown: {reason}")
        return
    last: tuple[str | None, int | None] = (None, None)
    for i in disassemble(owner, kernel):
        if (i.file, i.line) != last and i.file is not None:
            print(f"; {plain(i.file)}:{i.line}")
        last = (i.file, i.line)
        encoding = " ".join(f"{word:08x}" for word in i.encoding)
        print(f"  {i.address:#08x}  {encoding:<26}  {i.text}")
