"""A kernel that gathers into a buffer and reads it in another order, with a barrier and without."""

import numpy as np
import triton
import triton.language as tl

import rocm_perf_lab.triton as rpt


@triton.jit
def too_soon(x, kept, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(kept + (BLOCK - 1 - i), tl.load(x + i))
    tl.store(out + i, tl.load(kept + i))


@triton.jit
def in_time(x, kept, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(kept + (BLOCK - 1 - i), tl.load(x + i))
    tl.debug_barrier()
    tl.store(out + i, tl.load(kept + i))


x = rpt.array(np.arange(1024, dtype=np.float32))
kept, out = rpt.empty(1024), rpt.empty(1024)
too_soon[(1,)](x, kept, out, BLOCK=1024)
in_time[(1,)](x, kept, out, BLOCK=1024)
rpt.synchronize()
