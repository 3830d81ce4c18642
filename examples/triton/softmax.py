"""Softmax over rows: one program per row, the row in registers."""

import numpy as np
import triton
import triton.language as tl

import rocm_perf_lab.triton as rpt


@triton.jit
def softmax(x, out, columns, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    values = tl.load(x + row * stride + i, mask=i < columns, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * stride + i, powers / tl.sum(powers, axis=0), mask=i < columns)


def main() -> None:
    rows, columns = 256, 781
    x = np.random.default_rng(0).standard_normal((rows, columns)).astype(np.float32)
    source, out = rpt.array(x), rpt.empty((rows, columns))
    softmax[(rows,)](source, out, columns, source.stride(0), BLOCK=1024, num_warps=4)
    powers = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(out.numpy(), powers / powers.sum(1, keepdims=True), rtol=1e-5)
    print("softmax: equal to numpy within 1e-5")


if __name__ == "__main__":
    main()
