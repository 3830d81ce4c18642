"""What is in a capture: no GPU is needed."""

from __future__ import annotations

import struct
from pathlib import Path

from rocm_perf_lab.replay import arguments as argument_table
from rocm_perf_lab.replay.compare import element_type
from rocm_perf_lab.replay.format import Capture, find_capture, open_capture
from rocm_perf_lab.replay.run import provenance_of
from rocm_perf_lab.schema.capture import KernelArgument
from rocm_perf_lab.schema.replay import ArgumentInfo, RegionInfo, ReplayInfoDocument

_CODES = {"f64": "<d", "f32": "<f", "f16": "<e", "i8": "<b", "u8": "<B", "i16": "<h", "u16": "<H",
          "i32": "<i", "u32": "<I", "i64": "<q", "u64": "<Q"}  # fmt: skip


def info(path: Path | None) -> ReplayInfoDocument:
    with open_capture(find_capture(path)) as capture:
        dispatch, manifest = capture.dispatch, capture.manifest
        return ReplayInfoDocument.of(
            dispatch,
            provenance=provenance_of([capture], None),
            capture=str(capture.folder),
            complete=manifest.complete,
            reasons=manifest.reasons,
            kernel=dispatch.kernel.demangled,
            symbol=dispatch.kernel.symbol,
            captured_on=manifest.device.name,
            arguments=[
                _argument(capture, argument, kind)
                for argument, kind in argument_table.typed(dispatch)
            ],
            regions=[
                RegionInfo.of(
                    region,
                    base=f"{region.base:#x}",
                    stored_bytes=sum(e.size for e in region.before if e.file is not None),
                    written_bytes=sum(e.size for e in region.after),
                )
                for region in capture.regions
            ],
            region_bytes=manifest.totals.region_bytes,
            written_bytes=manifest.totals.changed_bytes,
            stored_bytes=manifest.totals.stored_bytes,
            code_objects=len(capture.code_objects),
            code_pointers=capture.memory.code_pointer_count,
            notes=manifest.notes,
        )


def _argument(capture: Capture, argument: KernelArgument, kind: str | None) -> ArgumentInfo:
    region = None
    if argument.kind == "global_buffer" and argument.value_hex:
        region = place(capture, int.from_bytes(bytes.fromhex(argument.value_hex)[:8], "little"))
    return ArgumentInfo.of(argument, type=kind, value=show_value(argument, kind), region=region)


def show_value(argument: KernelArgument, kind: str | None) -> str:
    """As its type has it; in hexadecimal where that is not known."""
    if not argument.value_hex:
        return "?"
    data = bytes.fromhex(argument.value_hex)
    if argument.kind == "global_buffer" and len(data) == 8:
        return f"{int.from_bytes(data, 'little'):#x}"
    known = element_type(kind) if kind and "*" not in kind else None
    if known and known.size == len(data) and known.name in _CODES:
        return str(struct.unpack(_CODES[known.name], data)[0])
    return f"0x{data[::-1].hex()}" if len(data) <= 16 else f"{len(data)} bytes"


def place(capture: Capture, address: int) -> str | None:
    """The region or code object an address lies in, and how far."""
    for region in capture.regions:
        if region.base <= address < region.base + region.size:
            inside = address - region.base
            return f"region {region.base:#x}" + (f" + {inside:#x}" if inside else "")
    for code in capture.code_objects:
        if code.load_base <= address < code.load_base + code.load_size:
            return f"code object {code.index} + {address - code.load_base:#x}"
    return None
