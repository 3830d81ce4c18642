"""Vector addition, the smallest Triton program: masks for the end of the array."""

import numpy as np
import triton
import triton.language as tl

import rocm_perf_lab.triton as rpt


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    total = tl.load(x + i, mask=inside) + tl.load(y + i, mask=inside)
    tl.store(out + i, total, mask=inside)


def main() -> None:
    n = 98_432
    rng = np.random.default_rng(0)
    a, b = (rng.random(n, dtype=np.float32) for _ in range(2))
    x, y, out = rpt.array(a), rpt.array(b), rpt.empty(n)
    add[(triton.cdiv(n, 1024),)](x, y, out, n, BLOCK=1024)
    np.testing.assert_array_equal(out.numpy(), a + b)
    print("vector_add: equal to numpy")


if __name__ == "__main__":
    main()
