"""A small capture written by the package's own writer, for tests that need one on disk."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rocm_perf_lab.replay import writer
from rocm_perf_lab.replay.format import Capture
from rocm_perf_lab.schema.capture import (
    Dispatch,
    Extent,
    KernelArgument,
    KernelName,
    LoadedCodeObject,
    MemoryRegions,
    QueueInfo,
    Region,
    Segment,
)
from rocm_perf_lab.schema.common import DeviceInfo, Provenance
from support import capture_parts

BASE = 0x7F00_0000_0000
CODE = 0x7E00_0000_0000
BEFORE = bytes(range(256)) * 512 + bytes(128 << 10)
AFTER = BEFORE[:100] + b"changed" + BEFORE[107:-1] + b"!"


def write_capture(folder: Path, *, reasons: tuple[str, ...] = (), code: bytes = b"code") -> Path:
    """A capture of one region and one module variable; its code object is not a real one."""
    folder.mkdir(parents=True)
    region = Region(
        base=BASE,
        size=len(BEFORE),
        kind="pool",
        agent="gpu:0",
        flags=["coarse_grained"],
        before=capture_parts.store(folder, f"memory/region_{BASE:x}.bin", 0, BEFORE),
        after=capture_parts.changes(folder, f"memory_after/region_{BASE:x}.bin", BEFORE, AFTER),
    )
    zeros = [Extent(offset=0, size=64, file=None)]
    segment = Segment(address=CODE + 0x1000, size=64, linked_address=0x1000, before=zeros, after=[])
    kernarg = BASE.to_bytes(8, "little")
    dispatch = Dispatch(
        kernel=KernelName(symbol="_Z1kPf", demangled="k(float*)"),
        index=0,
        dispatch_number=3,
        agent="gpu:0",
        isa="amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-",
        packet_hex="00" * 64,
        setup=1,
        dimensions=1,
        workgroup=(64, 1, 1),
        grid=(256, 1, 1),
        group_segment_size=0,
        private_segment_size=0,
        kernel_object=CODE + 0x100,
        kernarg_address=BASE,
        kernarg_size=8,
        code_object=0,
        arguments=[
            KernelArgument(
                name="out",
                offset=0,
                size=8,
                kind="global_buffer",
                type="float*",
                address_space="global",
                access=None,
                hidden=False,
                value_hex=kernarg.hex(),
            )
        ],
        queue=QueueInfo(type=0, size=1024),
    )
    return sealed(folder, dispatch, [region], [segment], kernarg, code, reasons=reasons)


def sealed(
    folder: Path,
    dispatch: Dispatch,
    regions: Sequence[Region],
    segments: list[Segment],
    kernarg: bytes,
    code: bytes,
    load_base: int = CODE,
    load_size: int = 0x2000,
    reasons: Sequence[str] = (),
) -> Path:
    """Write what belongs to the regions and segments: one code object and the rest."""
    (folder / "code_objects").mkdir(exist_ok=True)
    writer.write_private(folder / "code_objects/0.hsaco", code)
    loaded = LoadedCodeObject(
        index=0,
        file="code_objects/0.hsaco",
        uri="memory://1",
        agent="gpu:0",
        load_base=load_base,
        load_size=load_size,
        load_delta=load_base,
        segments=segments,
    )
    by_base = sorted(regions, key=lambda region: region.base)
    memory = MemoryRegions(regions=by_base, code_pointers=[], code_pointer_count=0)
    writer.write_parts(folder, dispatch, memory, [loaded], kernarg, code)
    device = DeviceInfo(kind="virtual", name="virtual MI300X", architecture="gfx942")
    provenance = Provenance(
        tool_version="test",
        command=["rocm-perf", "capture"],
        started=None,
        host=None,
        device=device,
        rocm=None,
        inputs=[],
    )
    writer.seal(
        folder,
        provenance=provenance,
        dispatch=dispatch,
        memory=memory,
        code_objects=[loaded],
        reasons=reasons,
    )
    return folder


def read_range(capture: Capture, extents: Sequence[Extent], offset: int, size: int) -> bytes:
    """Bytes [offset, offset + size) of what `extents` cover; zeros where they cover nothing."""
    data = bytearray(size)
    for extent in extents:
        first = max(offset, extent.offset)
        last = min(offset + size, extent.offset + extent.size)
        if first < last:
            whole = capture.read_extent(extent)
            data[first - offset : last - offset] = whole[
                first - extent.offset : last - extent.offset
            ]
    return bytes(data)
