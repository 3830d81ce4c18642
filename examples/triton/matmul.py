"""A tiled matrix product in half precision, tuned by Triton over a few configurations.

On the virtual GPU the tuner decides by modelled time: the same choice on every run.
"""

import numpy as np
import triton
import triton.language as tl

import rocm_perf_lab.triton as rpt

CONFIGS = [
    triton.Config(
        {"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k, "matrix_instr_nonkdim": 16},
        num_warps=4,
        num_stages=stages,
    )
    for m, n, k, stages in ((32, 32, 32, 1), (64, 64, 32, 2), (64, 64, 64, 2))
]


@triton.autotune(configs=CONFIGS, key=["M", "N", "K"])
@triton.jit
def matmul(
    a, b, c, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    tiles_n = tl.cdiv(N, BLOCK_N)
    tile_m, tile_n = tl.program_id(0) // tiles_n, tl.program_id(0) % tiles_n
    rows = (tile_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    columns = (tile_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    inner = tl.arange(0, BLOCK_K)
    a_at = a + rows[:, None] * stride_am + inner[None, :] * stride_ak
    b_at = b + inner[:, None] * stride_bk + columns[None, :] * stride_bn
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        x = tl.load(a_at, mask=inner[None, :] < K - k, other=0.0)
        y = tl.load(b_at, mask=inner[:, None] < K - k, other=0.0)
        total = tl.dot(x, y, total)
        a_at += BLOCK_K * stride_ak
        b_at += BLOCK_K * stride_bk
    rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    at = c + rows[:, None] * stride_cm + columns[None, :] * stride_cn
    tl.store(at, total.to(tl.float16), mask=inside)


def product(a: rpt.Array, b: rpt.Array) -> rpt.Array:
    (M, K), N = a.shape, b.shape[1]
    c = rpt.empty((M, N), "float16")
    grid = lambda meta: (triton.cdiv(M, meta["BLOCK_M"]) * triton.cdiv(N, meta["BLOCK_N"]),)  # noqa: E731
    matmul[grid](a, b, c, M, N, K, *a.stride(), *b.stride(), *c.stride())
    return c


def main() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((200, 320)), rng.standard_normal((320, 264))
    a, b = a.astype(np.float16), b.astype(np.float16)
    c = product(rpt.array(a), rpt.array(b))
    want = a.astype(np.float32) @ b.astype(np.float32)
    np.testing.assert_allclose(c.numpy(), want, rtol=2e-3, atol=2e-2)
    print(f"matmul: equal to numpy within half precision, with {matmul.best_config}")


if __name__ == "__main__":
    main()
