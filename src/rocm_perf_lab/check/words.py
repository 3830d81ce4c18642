"""What each finding is called, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# (kind, why) -> (kind in the document, title, advice)
RACES: dict[tuple[str, str], tuple[str, str, str]] = {
    ("lds", "no-barrier"): (
        "lds-race",
        "race on LDS: no barrier between the two accesses",
        "put __syncthreads() between them, where every work-item of the workgroup passes it",
    ),
    ("global", "no-barrier"): (
        "global-race",
        "race on global memory within a workgroup: no barrier between the two accesses",
        "put __syncthreads() between them, or use atomics for both",
    ),
    ("global", "no-order"): (
        "group-race",
        "race on global memory between workgroups: nothing orders them",
        "give each workgroup its own part, use atomics for both, or split it into two launches",
    ),
    ("global", "narrow-scope"): (
        "scope-race",
        "race between workgroups: an atomic passes from one to the other, but it does not release "
        "and acquire at the device's scope",
        "release with __threadfence() or __ATOMIC_RELEASE at __HIP_MEMORY_SCOPE_AGENT before the "
        "atomic that tells, and acquire the same way after the one that reads it",
    ),
    ("work", "kernels"): (
        "stream-race",
        "race between two kernels: nothing orders one launch after the other",
        "launch both in one stream, or let the stream of the second wait for an event recorded "
        "after the first",
    ),
    ("work", "kernel-and-call"): (
        "copy-race",
        "race between a kernel and a copy or fill: nothing orders one after the other",
        "put both into one stream, let one stream wait for an event of the other, or synchronise "
        "between them",
    ),
    ("work", "calls"): (
        "copy-race",
        "race between two copies or fills: nothing orders one after the other",
        "put both into one stream, let one stream wait for an event of the other, or synchronise "
        "between them",
    ),
}
# Where one place races in several ways, the word that says most.
STRENGTH = ("lds-race", "global-race", "group-race", "scope-race")

FAULTS: dict[str, tuple[str, str]] = {
    "out-of-bounds": (
        "access out of bounds of every allocation",
        "check the index against the buffer's size before this line",
    ),
    "null-pointer": (
        "access through a null pointer",
        "check what is passed to the kernel: an allocation may have failed",
    ),
    "use-after-free": (
        "access to memory that has been freed",
        "free it after the work that uses it: synchronise first, or free it in the same stream",
    ),
    "freed-in-stream": (
        "access to memory that hipFreeAsync has freed before",
        "free it after the last work that uses it, in the same stream or one that waits for it",
    ),
    "free-unordered": (
        "memory is freed in a stream, and nothing orders that after work that uses it",
        "let the stream that frees wait for an event recorded after the use",
    ),
    "allocation-unordered": (
        "memory of hipMallocAsync is used by work that nothing orders after the allocation",
        "use it in the same stream, or let the other one wait for an event recorded after "
        "hipMallocAsync",
    ),
    "read-only": ("write to memory that is read-only", "write to a buffer of the program's own"),
    "misaligned": (
        "atomic at an address that is not a multiple of its size",
        "align the data; hardware refuses such an atomic or does another",
    ),
    "lds-out-of-bounds": (
        "access past the workgroup's LDS",
        "check the index, and the bytes of dynamic LDS that the launch asks for",
    ),
    "private-out-of-bounds": (
        "access past a work-item's private memory",
        "check the index into the local array",
    ),
    "divergent-barrier": (
        "a barrier that only some work-items of a wave reach, while others go on without it",
        "move __syncthreads() out of the branch or loop, to where all work-items pass it",
    ),
    "barrier-not-reached": (
        "a barrier that some waves of the workgroup never reach",
        "let every work-item of the workgroup pass the same barriers",
    ),
    "endless": (
        "a kernel that does not end",
        "see what its loop waits for; ROCM_PERF_VIRTUAL_MAX_INSTRUCTIONS sets the limit",
    ),
    "copy-kind": (
        "a copy whose kind is not what its pointers are",
        "name the kind that it is, or leave it to the pointers: hipMemcpyDefault",
    ),
    "event-device": (
        "an event of one device is recorded in a stream of another",
        "create the event while the stream's device is the current one",
    ),
    "grid-not-cooperative": (
        "a barrier of the grid in a kernel that was not launched cooperatively",
        "launch it with hipLaunchCooperativeKernel",
    ),
    "grid-not-reached": (
        "a barrier of the grid that some workgroups never reach",
        "let every workgroup pass the same barriers of the grid before it returns",
    ),
    "stopped": ("the device stopped the kernel", "see the program's own output"),
}

# What became of bytes that nobody wrote, and where they were.
UNWRITTEN: dict[str, str] = {
    "uninitialised-store": "what nobody wrote is stored, or what was computed of it",
    "uninitialised-atomic": "an atomic update with what nobody wrote, or of it",
    "uninitialised-address": "an address made of what nobody wrote",
    "uninitialised-branch": "a branch that is decided by what nobody wrote",
}
WRITE_FIRST: dict[str, str] = {
    "memory": "fill the buffer before the kernel reads it (hipMemset, a copy, a kernel), or read "
    "only the part that was filled",
    "lds": "write the shared memory before it is read, every byte of it, and put __syncthreads() "
    "between where other work-items do",
    "private": "give the local array its values before they are read",
    "register": "give the variable a value on every way that leads here",
}

# What was used before it was ready, and what to wait with.
HAZARDS: dict[str, str] = {
    "early-read": "a register that is read before its value has come",
    "early-write": "a register that is written before a value has come that is still to go there",
    "early-lds": "LDS that is used before it is known to be written",
    "wait-states": "too few wait states between two instructions; hardware does not wait",
}
WAIT: dict[str, str] = {
    "vmcnt": "put s_waitcnt with that vmcnt, or a smaller one, before the second",
    "lgkmcnt": "put s_waitcnt with that lgkmcnt, or a smaller one, before the second",
    "scalar": "put s_waitcnt lgkmcnt(0) before the second: scalar loads may end in any order",
    "flat": "put s_waitcnt vmcnt(0) lgkmcnt(0) before the second: either memory may have answered",
    "barrier": "put that s_waitcnt before the barrier, in the wave that writes",
    "wait-states": "put s_nop between them, or instructions that need neither: s_nop N makes N + 1 "
    "wait states, any other instruction one",
}


# What a fault in the code of cooperative groups is: kinds of before, and what they mean there.
_OF_A_GRID = {"null-pointer": "grid-not-cooperative", "endless": "grid-not-reached"}


def _meant(finding: Mapping[str, Any]) -> str:
    kind: str = finding["kind"]
    files = (frame["file"] for side in finding["sides"] for frame in side["frames"])
    if kind in _OF_A_GRID and any(f.endswith("hip_cooperative_groups.h") for f in files):
        return _OF_A_GRID[kind]
    return kind


def of(finding: Mapping[str, Any]) -> tuple[str, str, str]:
    """Of a record of the device: the kind in the document, title, advice."""
    tool, kind = finding["tool"], finding["kind"]
    if tool == "race":
        return RACES[kind, finding["why"]]
    if tool == "init":
        return kind, UNWRITTEN[kind], WRITE_FIRST[finding["why"]]
    if tool == "hazards":
        return kind, HAZARDS[kind], WAIT[finding["why"]]
    kind = _meant(finding)
    return (kind, *FAULTS[kind])


# By tool: title, advice.
REFUSED: dict[str, tuple[str, str]] = {
    "memory": (
        "a call about memory that the runtime refused",
        "check the pointers against their allocations, the size and the kind of copy; and the "
        "result of every HIP call",
    ),
    "sync": (
        "a call about a stream or an event that the runtime refused",
        "check that it has been created and not destroyed, and that events that are timed have "
        "been recorded; and the result of every HIP call",
    ),
}
LEAK = ("device memory that was never freed", "free it before the program ends")
