"""Another build of the captured kernel: may it take the original's place, and how.

Pure functions over code objects and the capture; no device is needed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from rocm_perf_lab.codeobject.architecture import GENERIC, processor
from rocm_perf_lab.codeobject.kernels import CodeObject, Kernel, read_code_objects
from rocm_perf_lab.errors import BadInput, Refused
from rocm_perf_lab.replay import hidden_arguments
from rocm_perf_lab.replay.format import Capture
from rocm_perf_lab.replay.images import Variable, kernel_of, parse, variables
from rocm_perf_lab.replay.pointers import Move, Moves
from rocm_perf_lab.schema.capture import Dispatch, LoadedCodeObject, Segment

STT_FUNC = 2


def same_isa(built_for: str, device: str) -> bool:
    """Whether code for one target runs on another: any spelling, any features left open."""
    wanted, had = processor(built_for).split(":"), processor(device).split(":")
    if not wanted[0] or not had[0]:
        return False
    if wanted[0] != had[0] and had[0] not in GENERIC.get(wanted[0], ()):
        return False
    stated = {feature[:-1]: feature[-1] for feature in had[1:]}
    return all(stated.get(f[:-1], f[-1]) == f[-1] for f in wanted[1:])


def find(path: Path, dispatch: Dispatch) -> bytes:
    """The code object in a file (a bare one, a bundle, a program) that could be the kernel's."""
    found = read_code_objects(path)
    fitting = [code for code in found if same_isa(code.architecture, dispatch.isa)]
    named = [
        code
        for code in fitting or found
        if any(kernel.name == dispatch.kernel.symbol for kernel in code.kernels)
    ]
    return (named or fitting or found)[0].elf.data  # what is wrong with it, `check` says


def check(data: bytes, dispatch: Dispatch, what: str) -> tuple[CodeObject, Kernel]:
    """Same name, argument layout and ISA as the captured kernel, or a refusal that says why."""
    code = parse(data, what)
    if not same_isa(code.architecture, dispatch.isa):
        raise BadInput(
            f"{what} is built for {code.architecture}, the captured kernel for {dispatch.isa}",
            hint=f"build it with --offload-arch={processor(dispatch.isa).partition(':')[0]}",
        )
    kernel = kernel_of(code, dispatch.kernel.symbol, what)
    wanted = [(a.offset, a.size, a.kind) for a in kernel.arguments if not a.hidden]
    had = [(a.offset, a.size, a.kind) for a in dispatch.arguments if not a.hidden]
    if wanted != had:
        at = next((i for i, (a, b) in enumerate(zip(wanted, had, strict=False)) if a != b), None)
        where = (
            f"{len(wanted)} arguments instead of {len(had)}"
            if at is None
            else f"argument {at} is {_layout(wanted[at])} instead of {_layout(had[at])}"
        )
        raise BadInput(f"{what}: the kernel takes other arguments: {where}")
    reasons = hidden_arguments.missing(kernel.arguments, (a.kind for a in dispatch.arguments))
    if reasons:
        raise Refused(f"{what} cannot be replayed: {reasons[0]}, which the captured kernel did not")
    threads = math.prod(dispatch.workgroup)
    if kernel.max_threads and threads > kernel.max_threads:
        raise BadInput(
            f"{what}: the kernel is built for workgroups of up to {kernel.max_threads} work-items; "
            f"the captured dispatch has {threads}"
        )
    return code, kernel


def _layout(row: tuple[int, int, str]) -> str:
    return f"{row[2]} of {row[1]} bytes at {row[0]}"


def segment_variables(
    code: CodeObject, segments: list[Segment]
) -> Iterator[tuple[Variable, Segment]]:
    """The variables that lie in the captured writable segments."""
    for variable in variables(code):
        for segment in segments:
            if 0 <= variable.address - segment.linked_address <= segment.size - variable.size:
                yield variable, segment
                break


def symbol_moves(
    captured: LoadedCodeObject, original: CodeObject, other: CodeObject, delta: int
) -> list[Move]:
    """Where the original's variables and functions are in the other build, by name."""
    there = {
        symbol.name: symbol
        for symbol in other.elf.symbols()
        if symbol.defined and symbol.name and symbol.type in (1, STT_FUNC)
    }
    moves: list[Move] = []
    for symbol in original.elf.symbols():
        match = there.get(symbol.name)
        if not symbol.defined or symbol.type not in (1, STT_FUNC) or match is None:
            continue
        low = symbol.value + captured.load_delta
        moves.append(Move(low, low + max(symbol.size, 1), match.value + delta - low))
    return moves


def refuse_lost_variables(
    captured: LoadedCodeObject, original: CodeObject, code: CodeObject, what: str
) -> None:
    """A variable the kernel wrote must be there to be compared."""
    there = {variable.name: variable.size for variable in variables(code)}
    for variable, segment in segment_variables(original, captured.segments):
        low = variable.address - segment.linked_address
        written = any(
            e.offset < low + variable.size and e.offset + e.size > low for e in segment.after
        )
        if written and there.get(variable.name) != variable.size:
            raise Refused(
                f"{what} has no variable {variable.name} of {variable.size} bytes, which the "
                "captured kernel writes"
            )


def refuse_lost_pointers(capture: Capture, moves: Sequence[Move], what: str) -> None:
    """An argument that points into the original's image must have somewhere to point."""
    captured = capture.kernel_code_object
    own = Moves([Move(captured.load_base, captured.load_base + captured.load_size, 0)])
    block = np.frombuffer(capture.kernarg, dtype=np.uint8)
    explicit = [a for a in capture.dispatch.arguments if not a.hidden]
    known = Moves(list(moves)).find(0, block)[0].tolist()
    for offset in own.find(0, block)[0].tolist():
        if offset not in known:
            name = next((a.name for a in explicit if a.offset <= offset < a.offset + a.size), "?")
            raise Refused(
                f"argument {name} points into the captured code object, at nothing that has a "
                f"name in {what}"
            )
