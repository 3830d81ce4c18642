"""The kernels in a program or code object: resources, occupancy, arguments, instructions."""

from __future__ import annotations

import re
from pathlib import Path

from rocm_perf_lab.analyze.kernel_pattern import kernel_pattern
from rocm_perf_lab.analyze.keys import MOST_THREADS
from rocm_perf_lab.arch import load
from rocm_perf_lab.arch.occupancy import (
    Occupancy,
    allocated_vgprs,
    granted_sgprs,
    granted_vgprs,
    occupancy,
    unknown_occupancy,
)
from rocm_perf_lab.codeobject.demangle import demangle
from rocm_perf_lab.codeobject.kernels import CodeObject, Kernel, read_code_objects
from rocm_perf_lab.device.disassembly import KNOWN, Instruction, disassemble, unknown
from rocm_perf_lab.errors import BadInput, UsageError, plain
from rocm_perf_lab.schema import disasm as schema
from rocm_perf_lab.trace.library_code import own_place

_BLOCKS = (64, 128, 256, 512, 1024)


def disassembly(
    file: Path,
    kernel: str | None = None,
    architecture: str = "",
    block: int | None = None,
    summary: bool = False,
    dynamic_lds: int = 0,
) -> schema.Disassembly:
    """Of the kernels that match; occupancy is for blocks of `block` threads, or of usual sizes,
    with `dynamic_lds` bytes of LDS beside the kernel's own."""
    reason = "only a summary was asked for" if summary else None
    kernels = [
        _document(owner, k, block, dynamic_lds, reason)
        for owner, k in _choose(file, kernel, architecture)
    ]
    return schema.Disassembly(file=str(file), kernels=kernels)


def _choose(file: Path, pattern: str | None, architecture: str) -> list[tuple[CodeObject, Kernel]]:
    wanted = kernel_pattern(pattern) or re.compile("")
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


def occupancy_of(kernel: Kernel, block: int | None, dynamic_lds: int = 0) -> Occupancy:
    """As `profile` has it for the same kernel in blocks of the same size with as much LDS."""
    threads = block or kernel.max_threads or None
    try:
        gpu = load.gpu(kernel.architecture)
    except UsageError as error:
        return unknown_occupancy(error.message, threads, kernel.wave_size)
    return occupancy(
        gpu,
        threads=threads,
        vgprs=kernel.vgprs,
        agprs=kernel.agprs,
        sgprs=granted_sgprs(gpu.limits, kernel.sgprs),
        lds_bytes=kernel.lds_bytes + dynamic_lds,
        wave_size=kernel.wave_size,
    )


def usual_blocks(kernel: Kernel) -> list[int]:
    """Sizes a launch is likely to have, up to the largest the kernel allows."""
    most = kernel.max_threads or MOST_THREADS
    return sorted({*(n for n in _BLOCKS if n <= most), most})


def allocated(kernel: Kernel) -> int | None:
    """VGPRs per lane; None where no file describes the GPU."""
    try:
        limits = load.gpu(kernel.architecture).limits
    except UsageError:
        return None
    used = allocated_vgprs(limits, kernel.vgprs, kernel.agprs, None)
    return granted_vgprs(limits, used, kernel.wave_size)


def _unlisted(kernel: Kernel, reason: str | None) -> str | None:
    """Why the instructions of this kernel are not shown."""
    return reason or (None if kernel.architecture in KNOWN else unknown(kernel.architecture))


def _document(
    owner: CodeObject, kernel: Kernel, block: int | None, dynamic_lds: int, reason: str | None
) -> schema.DisassembledKernel:
    reason = _unlisted(kernel, reason)
    return schema.DisassembledKernel(
        name=kernel.name,
        demangled=demangle(kernel.name),
        architecture=owner.architecture,
        resources=schema.KernelResources.of(
            kernel,
            vgpr_per_thread=kernel.vgprs,
            agpr_per_thread=kernel.agprs,
            total_vgpr_per_thread=allocated(kernel),
            sgpr_per_wave=kernel.sgprs,
            max_threads_per_block=kernel.max_threads,
        ),
        occupancy=occupancy_of(kernel, block, dynamic_lds),
        occupancy_by_block=[
            occupancy_of(kernel, threads, dynamic_lds)
            for threads in ([block] if block else usual_blocks(kernel))
        ],
        arguments=[schema.KernelArgument.of(a) for a in kernel.arguments],
        instructions=None if reason else [_instruction(i) for i in disassemble(owner, kernel)],
        instructions_reason=reason,
    )


def _instruction(found: Instruction) -> schema.KernelInstruction:
    file, _, line = own_place(found.source).rpartition(":")
    return schema.KernelInstruction(
        address=found.address,
        encoding=" ".join(f"{word:08x}" for word in found.encoding),
        text=found.text,
        file=file or None,
        line=int(line) if line else None,
        source=found.source or None,
    )
