"""Captures of real kernels, written by hand: no capture tool takes part, so what a replay must
give is known from elsewhere (numpy, arithmetic)."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rocm_perf_lab.codeobject.kernels import CodeObject, read_code_objects
from rocm_perf_lab.schema.capture import (
    Dispatch,
    Extent,
    KernelArgument,
    KernelName,
    QueueInfo,
    Region,
    RegionFlag,
    Segment,
)
from support import capture_parts
from support.captures import sealed
from support.hip_build import hipcc

BASE = 0x7E12_3400_0000  # where real ROCr puts memory
CODE = 0x7D00_0000_0000
PF_W = 2


@dataclass(frozen=True)
class Memory:
    """A region: what it holds before the kernel and after it."""

    base: int
    before: bytes
    after: bytes | None = None  # None: the kernel leaves it alone
    flags: tuple[RegionFlag, ...] = ("coarse_grained",)


def compile_kernels(folder: Path, source: str, name: str = "kernels", *flags: str) -> CodeObject:
    path = folder / f"{name}.cpp"
    path.write_text("#include <hip/hip_runtime.h>\n" + source)
    # The folder is another in each run, and input sets are drawn by what the code object holds.
    anywhere = ("-fuse-cuid=none", f"-ffile-prefix-map={folder}=.")
    target = ("-O2", "--genco", "--offload-arch=gfx942")
    hipcc(*target, *anywhere, *flags, path, "-o", folder / f"{name}.hsaco")
    return read_code_objects(folder / f"{name}.hsaco")[0]


def writable_segments(code: CodeObject) -> list[tuple[int, int, int, int]]:
    """(offset in the file, address, bytes in the file, bytes in memory)."""
    data = code.elf.data
    (table,) = struct.unpack_from("<Q", data, 32)
    entry, count = struct.unpack_from("<HH", data, 54)
    rows = [struct.unpack_from("<IIQQQQQQ", data, table + i * entry) for i in range(count)]
    return [(r[2], r[3], r[5], r[6]) for r in rows if r[0] == 1 and r[1] & PF_W]


def capture_kernel(
    folder: Path,
    code: CodeObject,
    symbol: str,
    arguments: Sequence[bytes],
    memory: Sequence[Memory],
    *,
    grid: int,
    workgroup: int = 64,
    dynamic_lds: int = 0,
    demangled: str = "",
    variables: dict[str, tuple[bytes, bytes]] | None = None,
    isa: str = "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-",
    reasons: Sequence[str] = (),
    all_written: bool = False,  # the write set is everything, not what differs
) -> Path:
    """As if `symbol` had been captured with these explicit arguments, in order."""
    folder.mkdir(parents=True)
    kernel = next(k for k in code.kernels if k.name == symbol)
    explicit = [a for a in kernel.arguments if not a.hidden]
    block = bytearray(kernel.kernarg_bytes)
    for argument, value in zip(explicit, arguments, strict=True):
        block[argument.offset : argument.offset + argument.size] = value
    blocks = -(-grid // workgroup)
    hidden = {
        "hidden_block_count_x": grid // workgroup, "hidden_block_count_y": 1,
        "hidden_block_count_z": 1, "hidden_group_size_x": workgroup, "hidden_group_size_y": 1,
        "hidden_group_size_z": 1, "hidden_grid_dims": 1, "hidden_remainder_x": grid % workgroup,
        "hidden_dynamic_lds_size": dynamic_lds,
    }  # fmt: skip
    for argument in kernel.arguments:
        if argument.kind in hidden:
            value = hidden[argument.kind].to_bytes(argument.size, "little")
            block[argument.offset : argument.offset + argument.size] = value
    regions = [
        Region(
            base=m.base,
            size=len(m.before),
            kind="pool",
            agent="gpu:0",
            flags=list(m.flags),
            before=capture_parts.store(folder, f"memory/region_{m.base:x}.bin", 0, m.before),
            after=_write_set(folder, m, all_written),
        )
        for m in memory
    ]
    segments = _segments(folder, code, variables or {})
    dispatch = Dispatch(
        kernel=KernelName(symbol=symbol, demangled=demangled or symbol),
        index=0,
        dispatch_number=0,
        agent="gpu:0",
        isa=isa,
        packet_hex="00" * 64,
        setup=1,
        dimensions=1,
        workgroup=(workgroup, 1, 1),
        grid=(blocks * workgroup if grid % workgroup else grid, 1, 1),
        group_segment_size=kernel.lds_bytes + dynamic_lds,
        private_segment_size=kernel.scratch_bytes,
        kernel_object=CODE,
        kernarg_address=BASE - 4096,
        kernarg_size=len(block),
        code_object=0,
        arguments=[
            KernelArgument(
                name=a.name,
                offset=a.offset,
                size=a.size,
                kind=a.kind,
                type=a.type or None,
                address_space=None,
                access=None,
                hidden=a.hidden,
                value_hex=bytes(block[a.offset : a.offset + a.size]).hex(),
            )
            for a in kernel.arguments
        ],
        queue=QueueInfo(type=0, size=1024),
    )
    return sealed(
        folder,
        dispatch,
        regions,
        segments,
        bytes(block),
        code.elf.data,
        load_base=CODE,
        load_size=1 << 20,
        reasons=reasons,
    )


def _write_set(folder: Path, memory: Memory, all_written: bool) -> list[Extent]:
    name, after = f"memory_after/region_{memory.base:x}.bin", memory.after or memory.before
    if all_written:
        return capture_parts.store(folder, name, 0, after)
    return capture_parts.changes(folder, name, memory.before, after)


def _segments(
    folder: Path, code: CodeObject, variables: dict[str, tuple[bytes, bytes]]
) -> list[Segment]:
    symbols = {symbol.name: symbol for symbol in code.elf.symbols()}
    found: list[Segment] = []
    for number, (offset, address, stored, size) in enumerate(writable_segments(code)):
        before = bytearray(code.elf.data[offset : offset + stored].ljust(size, b"\0"))
        after = bytearray(before)
        for name, (first, last) in variables.items():
            at = symbols[name].value - address
            if 0 <= at < size:
                before[at : at + len(first)] = first
                after[at : at + len(last)] = last
        stem = f"code_objects/0.{number}"
        found.append(
            Segment(
                address=CODE + address,
                size=size,
                linked_address=address,
                before=capture_parts.store(folder, f"{stem}.image.bin", 0, bytes(before)),
                after=capture_parts.changes(
                    folder, f"{stem}.after.bin", bytes(before), bytes(after)
                ),
            )
        )
    return found
