"""Why a kernel may leave other bytes from the same state: what its instructions do."""

from __future__ import annotations

import re

from rocm_perf_lab.codeobject.kernels import CodeObject, Kernel
from rocm_perf_lab.device.disassembly import disassemble
from rocm_perf_lab.errors import PerfLabError

_CAUSES = (
    (
        re.compile(r"^(global|flat|buffer|ds)_(pk_)?(atomic_)?(pk_)?add_(rtn_)?(bf16|f16|f32|f64)"),
        "the kernel adds floats atomically: the sum depends on the order of its waves",
    ),
    (
        # An atomic that gives back what it found: sc0 on gfx940 and later, glc before.
        re.compile(r"^(global|flat|buffer)_atomic_.*\b(sc0|glc)\b"),
        "the kernel uses what atomics return: where it writes may depend on the order of its waves",
    ),
    (
        re.compile(r"^(s_memtime|s_memrealtime|s_getreg.*SHADER_CYCLES)"),
        "the kernel reads a clock",
    ),
)


def causes(code: CodeObject, kernel: Kernel) -> list[str]:
    """In words; empty where nothing of the kind is found or the code cannot be read."""
    try:
        texts = {instruction.text for instruction in disassemble(code, kernel)}
    except PerfLabError:
        return []
    return [words for pattern, words in _CAUSES if any(pattern.search(t) for t in texts)]
