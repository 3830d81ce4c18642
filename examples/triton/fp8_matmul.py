"""A matrix product of 8-bit floats with a scale per row and column, as quantised models use it.

gfx942 has the FNUZ formats: `float8_e4m3fnuz`, `float8_e5m2fnuz`.
"""

import numpy as np
import triton
import triton.language as tl

import rocm_perf_lab.triton as rpt


@triton.jit
def scaled_matmul(
    a, b, c, a_scale, b_scale, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    inner = tl.arange(0, BLOCK_K)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        x = tl.load(a + rows[:, None] * K + k + inner[None, :], mask=rows[:, None] < M, other=0.0)
        y = tl.load(
            b + (k + inner[:, None]) * N + columns[None, :], mask=columns[None, :] < N, other=0.0
        )
        total = tl.dot(x, y, total)
    total *= tl.load(a_scale + rows, mask=rows < M)[:, None]
    total *= tl.load(b_scale + columns, mask=columns < N)[None, :]
    at = c + rows[:, None] * N + columns[None, :]
    tl.store(at, total.to(tl.bfloat16), mask=(rows[:, None] < M) & (columns[None, :] < N))


def quantised(x: np.ndarray, axis: int) -> tuple[rpt.Array, np.ndarray]:
    """Values scaled to the format's range along an axis, and the scales."""
    scale = np.abs(x).max(axis=axis) / 240
    return rpt.array(x / np.expand_dims(scale, axis), "float8_e4m3fnuz"), scale.astype(np.float32)


def main() -> None:
    rng = np.random.default_rng(0)
    M, N, K = 100, 136, 256
    a, a_scale = quantised(rng.standard_normal((M, K)), 1)
    b, b_scale = quantised(rng.standard_normal((K, N)), 0)
    c = rpt.empty((M, N), "bfloat16")
    scaled_matmul[(triton.cdiv(M, 64), triton.cdiv(N, 64))](
        a, b, c, rpt.array(a_scale), rpt.array(b_scale), M, N, K, BLOCK_M=64, BLOCK_N=64, BLOCK_K=64
    )
    want = (a.numpy() * a_scale[:, None]) @ (b.numpy() * b_scale[None, :])
    np.testing.assert_allclose(c.numpy(), want, rtol=1e-2, atol=1e-2)
    print("fp8_matmul: equal to numpy on the same 8-bit values, within bfloat16")


if __name__ == "__main__":
    main()
