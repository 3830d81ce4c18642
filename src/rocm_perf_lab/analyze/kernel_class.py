"""Whose kernel it is, by its name: the user's, the runtime's own, or a collective's."""

from __future__ import annotations

import re
from typing import Literal

KernelClass = Literal["user", "runtime", "collective"]

# The HIP runtime's own kernels: fills, copies. A user's kernel called hip-something is not one.
_RUNTIME = re.compile(r"^_*__amd_rocclr_")
# RCCL and its kin. A plain `all_reduce` is no sign: reductions within a block are called that.
_COLLECTIVE = re.compile(
    r"(?i)(?<![a-z])(nccl|rccl|msccl)|rocshmem|nvshmem|cross_device_reduce|custom_all_?reduce"
    r"|quick_?reduce|(one|two)_?shot_?all_?reduce|allreduce_?(one|two)_?shot|allreduce_prototype"
    r"|lamport.*all_?reduce|all_?reduce_?fusion"
)


def kernel_class(name: str) -> KernelClass:
    if _RUNTIME.match(name):
        return "runtime"
    return "collective" if _COLLECTIVE.search(name) else "user"


def is_helper(name: str) -> bool:
    return kernel_class(name) == "runtime"
