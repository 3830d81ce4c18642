"""An assertion on the device that does not hold."""

import numpy as np
import triton
import triton.language as tl

import rocm_perf_lab.triton as rpt


@triton.jit(debug=True)
def check(x, N: tl.constexpr):
    tl.device_assert(tl.load(x + tl.arange(0, N)) < 10, "every value is small")


check[(1,)](rpt.array(np.arange(64, dtype=np.int32)), N=64)
rpt.synchronize()
