"""A kernel that forgets the end of its arrays."""

import numpy as np
import triton
import triton.language as tl

import rocm_perf_lab.triton as rpt


@triton.jit
def copy(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i))  # no mask


x = rpt.array(np.zeros(1000, dtype=np.float32))
out = rpt.empty(1000)
copy[(64,)](x, out, 1000, BLOCK=1024)
rpt.synchronize()
