"""A driver for Triton over HIP alone: no torch, no C compiler, nothing but the standard library.

`rocm-perf` puts this folder on a program's path, and Triton finds it as an entry point of
``triton.backends``. It stands back where torch for ROCm works.
"""

from __future__ import annotations

FIRST, LAST = (3, 4), (3, 9)


def check_version(version: str) -> None:
    """One sentence for a Triton this driver was not tried with, before anything odd happens."""
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    if len(numbers) < 2 or not FIRST <= numbers <= LAST:
        raise RuntimeError(
            f"rocm-perf drives Triton {FIRST[0]}.{FIRST[1]} to {LAST[0]}.{LAST[1]}, and this is "
            f"{version}: install one of those, or take rocm-perf's folder off PYTHONPATH"
        )
