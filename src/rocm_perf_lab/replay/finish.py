"""From what the capture library wrote to a capture: argument table, judgement, manifest."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Mapping
from pathlib import Path

from rocm_perf_lab.codeobject.kernels import CodeObject, Kernel, read_code_object
from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.replay import native_log, writer
from rocm_perf_lab.replay.address_space import too_many
from rocm_perf_lab.replay.format import KERNARG, KERNEL
from rocm_perf_lab.replay.native_log import CodeLine, NativeLog, RegionLine, SegmentLine
from rocm_perf_lab.schema.capture import (
    CaptureDocument,
    CodePointer,
    Dispatch,
    Extent,
    KernelArgument,
    KernelName,
    LoadedCodeObject,
    MemoryRegions,
    QueueInfo,
    Region,
    Segment,
    StoredFile,
)
from rocm_perf_lab.schema.common import Provenance

# hsa_amd_memory_pool_global_flag_t
_FLAGS = {1: "kernarg", 2: "fine_grained", 4: "coarse_grained"}
_UNSET = 0xFFFFFFFF  # a queue made without asking for segment sizes
_MULTIGRID_BYTES = 48  # what hidden_multigrid_sync_arg points to (docs/hostcall.md)


def finish(
    folder: Path,
    provenance: Provenance,
    *,
    compress: bool = False,
    hashed: Mapping[str, StoredFile] | None = None,
) -> CaptureDocument:
    """Complete the files in the folder; the manifest is the last of them.

    `hashed`: data files whose hashes are known already.
    """
    log = native_log.read(folder)
    reasons: list[str] = list(log.problems)
    notes: list[str] = list(log.notes)
    files = {code.index: _code_file(folder, code) for code in log.code}
    own = _kernel_code(log)
    parsed = {index: _parsed(data) for index, data in files.items()}
    kernel = _metadata(parsed.get(own), log.symbol)
    kernarg = (folder / KERNARG).read_bytes()
    if kernel is None:
        reasons.append(
            "the kernel's metadata was not found: the layout of its arguments is unknown"
        )
    elif kernel.kernarg_bytes > len(kernarg):
        reasons.append(
            f"the size of the kernel's arguments is not certain: {len(kernarg)} bytes were "
            f"captured, its metadata says {kernel.kernarg_bytes}"
        )
    arguments = _arguments(kernel, kernarg)
    dispatch = _dispatch(log, own, arguments, len(kernarg))
    regions = [_region(line, reasons) for line in log.regions]
    regions = _without_host_writes(regions, arguments, notes)
    code_objects = [_loaded(folder, code, parsed[code.index], reasons) for code in log.code]
    reasons += hostcall_reasons(arguments, regions)
    if apart := too_many((region.base, region.size) for region in regions):
        reasons.append(apart)
    pointers = _pointers(log, kernarg, dispatch.kernarg_address, regions, notes)
    memory = MemoryRegions(
        regions=regions, code_pointers=pointers, code_pointer_count=log.pointer_count
    )
    _drop_unused(folder, regions, code_objects)
    if compress:
        memory = memory.model_copy(update={"regions": writer.compress(folder, regions)})
    os.link(folder / f"code_objects/{own}.hsaco", folder / KERNEL)
    writer.write_parts(folder, dispatch, memory, code_objects)
    for name in native_log.OWN_FILES:
        (folder / name).unlink(missing_ok=True)
    return writer.seal(
        folder,
        provenance=provenance,
        dispatch=dispatch,
        memory=memory,
        code_objects=code_objects,
        reasons=reasons,
        notes=notes,
        hashed={} if compress else hashed or {},
    )


def _code_file(folder: Path, code: CodeLine) -> bytes:
    path = folder / f"code_objects/{code.index}.hsaco"
    if not code.stored:
        writer.write_private(path, b"")
    return path.read_bytes()


def _parsed(data: bytes) -> CodeObject | None:
    try:
        return read_code_object(data)
    except BadInput:
        return None


def _kernel_code(log: NativeLog) -> int:
    """The code object whose image holds the kernel's descriptor."""
    (kernel_object,) = struct.unpack_from("<Q", log.packet, 32)
    for code in log.code:
        if code.base <= kernel_object < code.base + code.size and code.stored:
            return code.index
    raise BadInput("the kernel lies in no code object that was loaded from a file or from memory")


def _metadata(code: CodeObject | None, symbol: str) -> Kernel | None:
    return next((k for k in code.kernels if k.name == symbol), None) if code else None


def _arguments(kernel: Kernel | None, kernarg: bytes) -> list[KernelArgument]:
    found = kernel.arguments if kernel else ()
    return [
        KernelArgument.of(
            a,
            type=a.type or None,
            address_space=a.address_space or None,
            access=a.access or None,
            value_hex=kernarg[a.offset : a.offset + a.size].hex()
            if a.offset + a.size <= len(kernarg)
            else None,
        )
        for a in found
    ]


def _dispatch(
    log: NativeLog, own: int, arguments: list[KernelArgument], kernarg_bytes: int
) -> Dispatch:
    (_, setup, x, y, z, _, gx, gy, gz, private, group, kernel_object, kernarg_address, _, _) = (
        struct.unpack("<HHHHHHIIIIIQQQQ", log.packet)
    )
    dimensions = max(1, setup & 3)
    isa = next((agent.isa for agent in log.agents if agent.label == log.agent), "")
    kind, size, queue_private, queue_group = log.queue
    return Dispatch(
        kernel=KernelName(symbol=log.symbol, demangled=log.demangled),
        index=log.index,
        dispatch_number=log.number,
        agent=log.agent,
        isa=isa,
        packet_hex=log.packet.hex(),
        setup=setup,
        dimensions=dimensions,
        workgroup=(x, y if dimensions > 1 else 1, z if dimensions > 2 else 1),
        grid=(gx, gy if dimensions > 1 else 1, gz if dimensions > 2 else 1),
        group_segment_size=group,
        private_segment_size=private,
        kernel_object=kernel_object,
        kernarg_address=kernarg_address,
        kernarg_size=kernarg_bytes,
        code_object=own,
        arguments=arguments,
        queue=QueueInfo(
            type=kind,
            size=size,
            private_segment_size=None if queue_private == _UNSET else queue_private,
            group_segment_size=None if queue_group == _UNSET else queue_group,
        ),
    )


def _region(line: RegionLine, reasons: list[str]) -> Region:
    if line.failure:
        reasons.append(f"the memory at {line.base:#x} could not be read: {line.failure}")
    flags = [name for bit, name in _FLAGS.items() if line.flags & bit]
    if line.kind in ("host", "registered", "svm", "managed"):
        flags.append("host_visible")
    return Region.model_validate(
        {
            "base": line.base,
            "size": line.size,
            "kind": line.kind,
            "agent": line.agent,
            "flags": flags,
            "before": _whole(line.before, line.size),
            "after": line.after,
        }
    )


def _whole(extents: list[Extent], size: int) -> list[Extent]:
    """An area that could not be read to its end still covers its size."""
    end = extents[-1].offset + extents[-1].size if extents else 0
    return [*extents, Extent(offset=end, size=size - end, file=None)] if end < size else extents


def _without_host_writes(
    regions: list[Region], arguments: list[KernelArgument], notes: list[str]
) -> list[Region]:
    """Arguments of later launches, which the host writes while the kernel runs, are no output.

    A cooperative launch's barrier may lie among them, and that one the kernel writes.
    """
    barrier = next((v for a, v in pointers_of(arguments) if "multigrid" in a.kind), None)
    kept: list[Region] = []
    for region in regions:
        if "kernarg" not in region.flags or not region.after:
            kept.append(region)
            continue
        low = -1 if barrier is None else barrier - region.base
        after = [e for e in region.after if low <= e.offset < low + _MULTIGRID_BYTES and low >= 0]
        if len(after) < len(region.after):
            notes.append(
                f"the host wrote arguments of other launches at {region.base:#x} meanwhile; "
                "they are not part of the write set"
            )
        kept.append(region.model_copy(update={"after": after}))
    return kept


def _loaded(
    folder: Path, code: CodeLine, parsed: CodeObject | None, reasons: list[str]
) -> LoadedCodeObject:
    for line in code.segments:
        if line.failure:
            reasons.append(f"the variables at {line.base:#x} could not be read: {line.failure}")
    segments = [
        Segment(
            address=line.base,
            size=line.size,
            linked_address=line.linked,
            writable=line.writable,
            before=_whole(line.before, line.size),
            after=line.after,
        )
        for line in code.segments
        if line.writable or line.after or _changed(folder, line, parsed)
    ]
    return LoadedCodeObject(
        index=code.index,
        file=f"code_objects/{code.index}.hsaco",
        uri=code.uri,
        agent=code.agent,
        load_base=code.base,
        load_size=code.size,
        load_delta=code.delta,
        segments=segments,
    )


def _changed(folder: Path, line: SegmentLine, parsed: CodeObject | None) -> bool:
    """A part that kernels cannot write differs from its file: the host wrote to a constant."""
    if parsed is None:
        return True
    data = bytearray(line.size)
    for extent in line.before:
        if extent.file is not None:
            with (folder / extent.file).open("rb") as file:
                file.seek(extent.at)
                data[extent.offset : extent.offset + extent.size] = file.read(extent.size)
    linked = next(s for s in parsed.elf.segments if s.type == 1 and s.address == line.linked)
    stored = parsed.elf.slice(linked.offset, linked.file_size)
    return bytes(data) != stored.ljust(line.size, b"\0")[: line.size]


def pointers_of(arguments: Iterable[KernelArgument]) -> list[tuple[KernelArgument, int]]:
    """Arguments of pointer size with their values, null ones left out."""
    found = []
    for argument in arguments:
        if argument.size == 8 and argument.value_hex:
            value = int.from_bytes(bytes.fromhex(argument.value_hex), "little")
            if value:
                found.append((argument, value))
    return found


def hostcall_reasons(arguments: list[KernelArgument], regions: list[Region]) -> list[str]:
    """A kernel that may call the host is fine; one that did cannot be run without that host."""
    told = {
        "hidden_hostcall_buffer": "the kernel called the host (printf, assert or device malloc), "
        "which a replay cannot answer",
        "hidden_printf_buffer": "the kernel wrote to the printf buffer, which only its host reads",
        "hidden_heap_v1": "the kernel used the device heap (malloc, free or new)",
    }
    reasons = []
    for argument, value in pointers_of(arguments):
        if argument.kind not in told:
            continue
        region = next((r for r in regions if r.base <= value < r.base + r.size), None)
        if region is None or region.after:
            reasons.append(told[argument.kind])
    return reasons


def _pointers(
    log: NativeLog, kernarg: bytes, address: int, regions: list[Region], notes: list[str]
) -> list[CodePointer]:
    """Where words point into code; only memory that a kernel may read counts for the note."""
    arguments = [r for r in regions if "kernarg" in r.flags]
    found: list[CodePointer] = []
    in_memory = 0
    for at, value, code in log.pointers:
        image = any(c.base <= at < c.base + c.size for c in log.code)
        stale = any(r.base <= at < r.base + r.size for r in arguments)
        if stale:
            continue  # argument blocks of this and earlier launches; this one's are below
        in_memory += not image
        where = "image" if image else "memory"
        found.append(
            CodePointer.model_validate(
                {"address": at, "value": value, "code_object": code, "where": where}
            )
        )
    for at in range(0, len(kernarg) - 7, 8):
        (value,) = struct.unpack_from("<Q", kernarg, at)
        for line in log.code:
            if line.base <= value < line.base + line.size:
                found.append(
                    CodePointer(
                        address=address + at, value=value, code_object=line.index, where="kernarg"
                    )
                )
    if in_memory:
        notes.append(
            f"{in_memory} words in memory hold addresses of code or of module variables; "
            "code moves in a replay"
        )
    return found


def _drop_unused(folder: Path, regions: list[Region], code_objects: list[LoadedCodeObject]) -> None:
    """Data files that nothing refers to any more: unchanged constants, host writes."""
    parts: list[Region | Segment] = [*regions, *(s for c in code_objects for s in c.segments)]
    used = {extent.file for part in parts for extent in [*part.before, *part.after]}
    used |= {code.file for code in code_objects}
    for sub in ("memory", "memory_after", "code_objects"):
        for path in (folder / sub).iterdir():
            if f"{sub}/{path.name}" not in used:
                path.unlink()
        if not any((folder / sub).iterdir()):
            (folder / sub).rmdir()
