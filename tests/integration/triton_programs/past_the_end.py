"""A store past a tensor's end, which torch's allocator has room for."""

import torch
import triton
import triton.language as tl


@triton.jit
def fill(out, value, BLOCK: tl.constexpr):
    tl.store(out + tl.arange(0, BLOCK), value)  # no mask


out = torch.zeros(1000, device="cuda")
fill[(1,)](out, 1.0, BLOCK=1024)
fill[(1,)](out, 2.0, BLOCK=1024)
assert out.sum().item() == 2000.0
print("went on")
