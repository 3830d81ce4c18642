"""Triton without torch: ``import rocm_perf_lab.triton as rpt``.

Importing this makes rocm-perf's driver Triton's own, on a GPU where ROCm has one and else on the
virtual MI300X. Arrays are numpy's, in device memory::

    x = rpt.array(numpy_array)
    kernel[grid](x, y, n, BLOCK=1024)
    y.numpy()
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from rocm_perf_lab.device import discover
from rocm_perf_lab.errors import MissingTool

PATH = Path(__file__).resolve().parent / "on_path"


def _activate() -> None:
    """Choose the device as `rocm-perf run` does, and hand Triton the driver."""
    device = discover.choose()
    wanted = discover.environment_for(device, None)
    for name in ("ROCM_PERF_DEVICE", "TRITON_LIBHIP_PATH", "ROCR_VISIBLE_DEVICES"):
        if name in wanted:
            os.environ[name] = wanted[name]
    if str(PATH) not in sys.path:
        sys.path.append(str(PATH))
    try:
        import triton
    except ImportError:
        raise MissingTool("Triton is not installed", hint="pip install triton") from None
    from rocm_perf_triton.driver import HipDriver

    triton.runtime.driver.set_active(HipDriver())


_activate()

from rocm_perf_triton.array import (  # noqa: E402
    Array,
    array,
    empty,
    empty_like,
    zeros,
    zeros_like,
)
from rocm_perf_triton.hip import synchronize  # noqa: E402

__all__ = ["Array", "array", "empty", "empty_like", "synchronize", "zeros", "zeros_like"]
