"""What unrolling costs in registers, from the compiler's own report."""

from __future__ import annotations

import functools
import math
import subprocess
import sys
from pathlib import Path

from rocm_perf_lab import scratch
from rocm_perf_lab.arch import load
from rocm_perf_lab.codeobject.kernels import Kernel, read_code_objects
from rocm_perf_lab.errors import PerfLabError
from rocm_perf_lab.optimize.code_guard import waves
from rocm_perf_lab.optimize.kernel_source import base_name
from rocm_perf_lab.optimize.proposal import Context

COMPILE_LIMIT_S = 120.0
LEAST_SHARE = 0.5  # of the waves before


@functools.lru_cache(maxsize=32)
def compiled(context_key: tuple[str, str, tuple[str, ...], str], source: str) -> tuple[Kernel, ...]:
    """The device side alone; nothing of it runs. Empty where it does not compile."""
    folder_of_source, name, flags, architecture = context_key
    with scratch.folder("rocm-perf-rules-") as folder:
        text, out = Path(folder) / name, Path(folder) / "out.co"
        text.write_bytes(source.encode())
        words = [sys.executable, "-m", "rocm_perf_lab", "hipcc", "--genco", "-O3", *flags]
        words += [f"--offload-arch={architecture}", "-I", folder_of_source, str(text)]
        try:
            subprocess.run(
                [*words, "-o", str(out)],
                capture_output=True,
                check=True,
                timeout=COMPILE_LIMIT_S,
                stdin=subprocess.DEVNULL,
            )
            return tuple(k for code in read_code_objects(out) for k in code.kernels)
        except (OSError, subprocess.SubprocessError, PerfLabError):
            return ()


def report(context: Context, source: str) -> Kernel | None:
    """The kernel as the compiler reports it; of several instantiations the hungriest."""
    key = (str(context.path.resolve().parent), context.path.name, context.flags,
           context.architecture)  # fmt: skip
    found = [k for k in compiled(key, source) if base_name(k.name) == context.kernel]
    return max(found, key=lambda k: k.vgprs + k.agprs, default=None)


def keeps_occupancy(context: Context, source: str) -> bool:
    """False where the compiler says that registers would cost too many waves, or spill."""
    before, after = report(context, context.source), report(context, source)
    if before is None or after is None:
        return True  # not known here: the compile stage and the resource guard will tell
    if after.vgpr_spills > before.vgpr_spills or after.scratch_bytes > before.scratch_bytes:
        return False
    try:
        gpu = load.gpu(context.architecture)
    except PerfLabError:
        return True
    block = context.prompt.measurement.block or (0, 0, 0)
    if not all(block):
        return True
    had, has = (waves(k, gpu, math.prod(block), 0).waves_per_simd for k in (before, after))
    return not had or has is None or has >= LEAST_SHARE * had
