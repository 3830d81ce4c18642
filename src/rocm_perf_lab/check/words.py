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


def of(finding: Mapping[str, Any]) -> tuple[str, str, str]:
    """Of a record of the device: the kind in the document, title, advice."""
    tool, kind = finding["tool"], finding["kind"]
    if tool == "race":
        return RACES[kind, finding["why"]]
    if tool == "init":
        return kind, UNWRITTEN[kind], WRITE_FIRST[finding["why"]]
    return (kind, *FAULTS[kind])


REFUSED = (
    "a call about memory that the runtime refused",
    "check the pointers against their allocations, the size and the kind of copy; and the result "
    "of every HIP call",
)
LEAK = ("device memory that was never freed", "free it before the program ends")
