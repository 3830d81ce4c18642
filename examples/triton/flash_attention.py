"""Attention without the matrix of scores: softmax computed as the keys go by, causal or not."""

import numpy as np
import triton
import triton.language as tl

import rocm_perf_lab.triton as rpt


@triton.jit
def attention(
    q, k, v, out, tokens, scale,
    CAUSAL: tl.constexpr, HEAD: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    head = tl.program_id(1) * tokens * HEAD
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    d = tl.arange(0, HEAD)
    queries = tl.load(
        q + head + rows[:, None] * HEAD + d[None, :], mask=rows[:, None] < tokens, other=0.0
    )
    largest = tl.full((BLOCK_M,), -float("inf"), tl.float32)
    total = tl.zeros((BLOCK_M,), tl.float32)
    mixed = tl.zeros((BLOCK_M, HEAD), tl.float32)
    end = tl.minimum((tl.program_id(0) + 1) * BLOCK_M, tokens) if CAUSAL else tokens
    for start in range(0, end, BLOCK_N):
        columns = start + tl.arange(0, BLOCK_N)
        known = columns < tokens
        keys = tl.load(
            k + head + columns[None, :] * HEAD + d[:, None], mask=known[None, :], other=0.0
        )
        scores = tl.dot(queries, keys) * scale
        allowed = known[None, :]
        if CAUSAL:
            allowed = allowed & (rows[:, None] >= columns[None, :])
        scores = tl.where(allowed, scores, -1.0e30)
        larger = tl.maximum(largest, tl.max(scores, axis=1))
        powers = tl.exp2((scores - larger[:, None]) * 1.4426950408889634)
        shrink = tl.exp2((largest - larger) * 1.4426950408889634)
        total = total * shrink + tl.sum(powers, axis=1)
        values = tl.load(
            v + head + columns[:, None] * HEAD + d[None, :], mask=known[:, None], other=0.0
        )
        mixed = tl.dot(powers.to(tl.float16), values, mixed * shrink[:, None])
        largest = larger
    at = out + head + rows[:, None] * HEAD + d[None, :]
    tl.store(at, (mixed / total[:, None]).to(tl.float16), mask=rows[:, None] < tokens)


def reference(q: np.ndarray, k: np.ndarray, v: np.ndarray, causal: bool) -> np.ndarray:
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    scores = q @ k.swapaxes(1, 2) / np.sqrt(q.shape[2])
    if causal:
        scores = np.where(np.tri(q.shape[1], dtype=bool), scores, -np.inf)
    powers = np.exp(scores - scores.max(2, keepdims=True))
    return powers / powers.sum(2, keepdims=True) @ v


def main() -> None:
    rng = np.random.default_rng(0)
    heads, tokens, width = 2, 200, 64
    q, k, v = (rng.standard_normal((heads, tokens, width)).astype(np.float16) for _ in range(3))
    for causal in (False, True):
        out = rpt.empty(q.shape, "float16")
        attention[(triton.cdiv(tokens, 64), heads)](
            rpt.array(q), rpt.array(k), rpt.array(v), out, tokens, width**-0.5,
            CAUSAL=causal, HEAD=width, BLOCK_M=64, BLOCK_N=32,
        )  # fmt: skip
        np.testing.assert_allclose(out.numpy(), reference(q, k, v, causal), rtol=5e-3, atol=5e-3)
        print(f"flash_attention causal={causal}: equal to numpy within half precision")


if __name__ == "__main__":
    main()
