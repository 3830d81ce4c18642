"""AMD GPU code objects: the kernels in one, their resources, arguments and code.

A file may be a code object itself, an offload bundle of several, or a host program that carries
bundles in its section `.hip_fatbin`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgpack

from rocm_perf_lab.codeobject.architecture import machine, processor
from rocm_perf_lab.codeobject.bundle import COMPRESSED_MAGIC, MAGIC, bundle_size, read_bundle
from rocm_perf_lab.codeobject.elf import EM_AMDGPU, Elf, Symbol, is_elf
from rocm_perf_lab.errors import BadInput

NOTE_METADATA = 32  # NT_AMDGPU_METADATA
STT_FUNC = 2


@dataclass(frozen=True)
class Argument:
    name: str
    kind: str  # by_value, global_buffer, hidden_block_count_x, ...
    type: str
    offset: int
    size: int
    address_space: str = ""  # "" where the note does not say
    access: str = ""

    @property
    def hidden(self) -> bool:
        return self.kind.startswith("hidden_")


@dataclass(frozen=True)
class Kernel:
    name: str
    architecture: str
    vgprs: int
    agprs: int
    sgprs: int
    lds_bytes: int
    scratch_bytes: int
    vgpr_spills: int
    sgpr_spills: int
    kernarg_bytes: int
    max_threads: int
    wave_size: int
    arguments: tuple[Argument, ...]
    address: int  # of the first instruction, as linked
    code: bytes


@dataclass(frozen=True)
class CodeObject:
    architecture: str  # "gfx942:sramecc+:xnack-"
    elf: Elf
    kernels: tuple[Kernel, ...]


def read_code_objects(path: Path) -> list[CodeObject]:
    """Every GPU code object in a program, library, bundle or bare object."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}") from error
    found = [read_code_object(image) for image in _images(data)]
    if not found:
        raise BadInput(
            f"{path} holds no GPU code",
            "it takes a HIP program, an offload bundle or a code object (.co, .hsaco)",
        )
    return found


def read_code_object(data: bytes) -> CodeObject:
    elf = Elf(data)
    if elf.machine != EM_AMDGPU:
        raise BadInput("not an AMD GPU code object")
    metadata = _metadata(elf)
    architecture = processor(str(metadata.get("amdhsa.target", ""))) or machine(elf.flags)
    symbols = {symbol.name: symbol for symbol in elf.symbols() if symbol.defined}
    kernels: list[Kernel] = []
    for entry in _maps(metadata.get("amdhsa.kernels")):
        name = _text(entry, ".name")
        symbol = symbols.get(name)
        address, code = 0, b""
        if symbol is not None:
            size = symbol.size or _bytes_to_next(elf, symbol, symbols.values())
            address = symbol.value
            # Of a loop that never ends and does nothing, compilers make no instruction at all.
            code = elf.at_address(address, size) if size else b""
        kernels.append(_kernel(entry, name, architecture, address, code))
    return CodeObject(architecture, elf, tuple(sorted(kernels, key=lambda k: k.name)))


def _bytes_to_next(elf: Elf, symbol: Symbol, symbols: Iterable[Symbol]) -> int:
    """The size of a function that its assembler did not state: up to what comes after it."""
    if not 0 < symbol.section < len(elf.sections):
        return 0
    section = elf.sections[symbol.section]
    end = section.address + section.size
    later = [s.value for s in symbols if symbol.value < s.value < end and s.type == STT_FUNC]
    return max(0, min([end, *later]) - symbol.value)


def _kernel(
    entry: Mapping[str, Any], name: str, architecture: str, address: int, code: bytes
) -> Kernel:
    gpu = architecture.partition(":")[0]
    agprs, vgprs = _number(entry, ".agpr_count"), _number(entry, ".vgpr_count")
    # The unified register file of gfx90a and later is counted whole by the compiler.
    if gpu != "gfx908" and vgprs >= agprs:
        vgprs -= agprs
    return Kernel(
        name=name,
        architecture=gpu,
        vgprs=vgprs,
        agprs=agprs,
        sgprs=_number(entry, ".sgpr_count"),
        lds_bytes=_number(entry, ".group_segment_fixed_size"),
        scratch_bytes=_number(entry, ".private_segment_fixed_size"),
        vgpr_spills=_number(entry, ".vgpr_spill_count"),
        sgpr_spills=_number(entry, ".sgpr_spill_count"),
        kernarg_bytes=_number(entry, ".kernarg_segment_size"),
        max_threads=_number(entry, ".max_flat_workgroup_size"),
        wave_size=_number(entry, ".wavefront_size") or 64,
        arguments=tuple(
            Argument(
                name=_text(arg, ".name"),
                kind=_text(arg, ".value_kind"),
                type=_text(arg, ".type_name"),
                offset=_number(arg, ".offset"),
                size=_number(arg, ".size"),
                address_space=_text(arg, ".address_space"),
                access=_text(arg, ".actual_access") or _text(arg, ".access"),
            )
            for arg in _maps(entry.get(".args"))
        ),
        address=address,
        code=code,
    )


def _images(data: bytes) -> Iterator[bytes]:
    if is_elf(data):
        elf = Elf(data)
        if elf.machine == EM_AMDGPU:
            yield data
            return
        for section in elf.sections:
            if section.name in (".hip_fatbin", ".llvm.offloading"):
                yield from _bundles(elf.content(section))
        return
    yield from _bundles(data)


def _bundles(data: bytes) -> Iterator[bytes]:
    """Bundles one after the other, with padding between."""
    at = 0
    while True:
        starts = [s for s in (data.find(MAGIC, at), data.find(COMPRESSED_MAGIC, at)) if s >= 0]
        if not starts:
            return
        at = min(starts)
        rest = data[at:]
        for entry in read_bundle(rest):
            if entry.arch and is_elf(entry.image):
                yield entry.image
        at += max(bundle_size(rest), 4)


def _metadata(elf: Elf) -> Mapping[str, Any]:
    """The metadata notes as one: an object linked from several has one of each."""
    notes: list[dict[str, Any]] = []
    for name, kind, body in elf.notes():
        if name == "AMDGPU" and kind == NOTE_METADATA:
            value = _unpack(body)
            if isinstance(value, dict):
                notes.append(value)
    if notes:
        kernels = [kernel for note in notes for kernel in _maps(note.get("amdhsa.kernels"))]
        return {**notes[0], "amdhsa.kernels": kernels}
    raise BadInput("the code object has no metadata note (code object version 2 or older?)")


def _unpack(body: bytes) -> object:
    # Notes are padded to four bytes, so what follows the value is no concern of ours.
    reader = msgpack.Unpacker(strict_map_key=False, max_buffer_size=max(len(body), 1))
    reader.feed(body)
    try:
        return reader.unpack()
    except (msgpack.UnpackException, ValueError, RecursionError, TypeError) as error:
        raise BadInput("the code object's metadata note is damaged") from error


def _maps(value: object) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _number(entry: Mapping[str, Any], key: str) -> int:
    value = entry.get(key, 0)
    return value if isinstance(value, int) else 0


def _text(entry: Mapping[str, Any], key: str) -> str:
    value = entry.get(key, "")
    return value if isinstance(value, str) else ""
