"""Where a kernel's code is entered, and what runs from there on."""

from __future__ import annotations

from dataclasses import dataclass

from rocm_perf_lab.virtual.translate.request import Instruction, Request

# The interpreter's alone: they end a turn, change how code runs, or go where no branch says.
LEFT_ALONE = frozenset(
    {
        "barrier", "call", "endpgm", "getreg", "gpr_idx_idx", "gpr_idx_mode", "gpr_idx_off",
        "gpr_idx_on", "memrealtime", "memtime", "movreld", "movrels", "setpc", "setreg", "sleep",
        "swappc", "trap", "unmodelled",
    }
)  # fmt: skip
MOST = 400  # instructions of a block: compilers take longer for longer functions


@dataclass(frozen=True)
class Block:
    instructions: tuple[Instruction, ...]
    goes_on: int | None  # at which instruction, where no branch is taken; None: the interpreter's

    @property
    def at(self) -> int:
        return self.instructions[0].at


def find(request: Request) -> list[Block]:
    known = {i.at: i for i in request.instructions}
    heads = {request.instructions[0].at if 0 not in known else 0}
    for i in request.instructions:
        if i.target is not None:
            heads.add(i.target)
        if i.target is not None or i.op.kind in LEFT_ALONE or waits_for_memory(i):
            heads.add(i.next)
    found: list[Block] = []
    waiting = sorted(heads & known.keys(), reverse=True)
    while waiting:
        head = waiting.pop()
        body: list[Instruction] = []
        at = head
        while at in known and known[at].op.kind not in LEFT_ALONE:
            if body and (at in heads or len(body) == MOST):
                break
            body.append(known[at])
            at = known[at].next
            if body[-1].target is not None:
                break
        if len(body) == MOST and at in known and at not in heads:
            heads.add(at)
            waiting.append(at)
        if body:
            found.append(Block(tuple(body), at))
    return found


def waits_for_memory(i: Instruction) -> bool:
    """An s_waitcnt at which a wave may let others go first (exec/salu.h): for vector memory."""
    if i.op.kind != "waitcnt":
        return False
    return ((i.imm & 15) | ((i.imm >> 10) & 0x30)) != 63
