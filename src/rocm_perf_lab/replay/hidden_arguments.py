"""Hidden kernel arguments: what the compiler asks the runtime for behind the user's own.

A code object lists only those its kernel uses, so another build of a kernel may ask for one that
the captured argument block does not hold. Those that follow from the dispatch are written anew.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator

from rocm_perf_lab.codeobject.kernels import Argument
from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.schema.capture import Dispatch

MAX_BLOCK_BYTES = 1 << 20


def _blocks(axis: int) -> Callable[[Dispatch], int]:
    return lambda d: d.grid[axis] // d.workgroup[axis]


def _size(axis: int) -> Callable[[Dispatch], int]:
    return lambda d: d.workgroup[axis]


def _remainder(axis: int) -> Callable[[Dispatch], int]:
    return lambda d: d.grid[axis] % d.workgroup[axis]


# kind -> its value from the dispatch
_KNOWN: dict[str, Callable[[Dispatch], int]] = {
    **{f"hidden_block_count_{name}": _blocks(i) for i, name in enumerate("xyz")},
    **{f"hidden_group_size_{name}": _size(i) for i, name in enumerate("xyz")},
    **{f"hidden_remainder_{name}": _remainder(i) for i, name in enumerate("xyz")},
    **{f"hidden_global_offset_{name}": lambda _: 0 for name in "xyz"},
    "hidden_grid_dims": lambda d: d.dimensions,
    "hidden_none": lambda _: 0,
}

QUEUE_POINTER = "hidden_queue_ptr"
# Of the queue and the device it ran on: read from the replay's own queue.
OF_THE_QUEUE = frozenset({QUEUE_POINTER})
# Of the program that ran: nothing stands behind them in a replay.
OF_THE_PROGRAM = {
    "hidden_hostcall_buffer": "it calls the host (printf, assert)",
    "hidden_printf_buffer": "it prints",
    "hidden_heap_v1": "it allocates memory on the device",
    "hidden_default_queue": "it launches kernels",
    "hidden_completion_action": "it launches kernels",
}


def missing(wanted: Iterable[Argument], captured: Iterable[str]) -> list[str]:
    """Why another build cannot be given its hidden arguments; empty: it can."""
    had = set(captured)
    return [
        OF_THE_PROGRAM.get(argument.kind, f"it needs {argument.kind}")
        for argument in wanted
        if argument.hidden
        and argument.kind not in had
        and argument.kind not in _KNOWN
        and argument.kind not in OF_THE_QUEUE
        and argument.kind != "hidden_dynamic_lds_size"
    ]


def write(
    block: bytearray,
    wanted: Iterable[Argument],
    captured: Iterable[tuple[str, int]],
    dispatch: Dispatch,
    dynamic_lds: int,
) -> None:
    """Put into `block` what `wanted` asks for and the captured (kind, offset) pairs lack."""
    had = set(captured)
    for argument in wanted:
        if not argument.hidden or (argument.kind, argument.offset) in had:
            continue
        if argument.kind == "hidden_dynamic_lds_size":
            value = dynamic_lds
        elif argument.kind in _KNOWN:
            value = _KNOWN[argument.kind](dispatch)
        else:
            continue
        put(block, argument.offset, argument.size, value)


def of_grid(
    wanted: Iterable[tuple[str, int, int]], dispatch: Dispatch
) -> Iterator[tuple[int, bytes]]:
    """(offset, bytes) of those that follow from the dispatch, of (kind, offset, size)."""
    for kind, offset, size in wanted:
        if kind in _KNOWN:
            yield offset, struct.pack("<Q", _KNOWN[kind](dispatch) % (1 << 64))[:size]


def put(block: bytearray, offset: int, size: int, value: int) -> None:
    end = offset + size
    if end > MAX_BLOCK_BYTES:
        raise BadInput(f"a hidden argument at {offset} is outside every argument block")
    if end > len(block):
        block.extend(bytes(end - len(block)))
    block[offset:end] = struct.pack("<Q", value % (1 << 64))[:size].ljust(size, b"\0")
