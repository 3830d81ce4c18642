"""Kernels as model servers use them, each against numpy: MoE, 4-bit weights, norms, sampling, scaled
dots, rotary embedding, split-K with atomics, a grouped product through hidden pointers."""

from __future__ import annotations

import sys

import numpy as np
import triton
import triton.language as tl

import rocm_perf_lab.triton as rpt

VERSION = tuple(int(n) for n in triton.__version__.split(".")[:2])
rng = np.random.default_rng(11)
checks = {}


def check(function):
    checks[function.__name__] = function
    return function


@triton.jit
def moe_kernel(
    x, w, out, token_ids, expert_ids, weights, tokens, N, K, TOP: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    pid_m, pid_n = tl.program_id(0), tl.program_id(1)
    slots = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    token = tl.load(token_ids + slots)
    real = token < tokens * TOP
    expert = tl.load(expert_ids + pid_m)
    n, k = pid_n * BLOCK_N + tl.arange(0, BLOCK_N), tl.arange(0, BLOCK_K)
    a_at = x + (token[:, None] // TOP) * K + k[None, :]
    b_at = w + expert * N * K + n[None, :] * K + k[:, None]
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, K, BLOCK_K):
        a = tl.load(a_at, mask=real[:, None] & (k[None, :] < K - start), other=0.0)
        b = tl.load(b_at, mask=(k[:, None] < K - start) & (n[None, :] < N), other=0.0)
        total = tl.dot(a, b, total)
        a_at += BLOCK_K
        b_at += BLOCK_K
    total *= tl.load(weights + token, mask=real, other=0.0)[:, None]
    at = out + token[:, None] * N + n[None, :]
    tl.store(at, total.to(tl.float16), mask=real[:, None] & (n[None, :] < N))


@check
def mixture_of_experts():
    tokens, experts, top, N, K, block = 37, 4, 2, 96, 128, 16
    x = rng.standard_normal((tokens, K)).astype(np.float16)
    w = rng.standard_normal((experts, N, K)).astype(np.float16)
    chosen = np.stack([rng.permutation(experts)[:top] for _ in range(tokens)]).ravel()
    weights = rng.random(tokens * top).astype(np.float32)
    ids, owners = [], []
    for expert in range(experts):
        mine = np.flatnonzero(chosen == expert)
        padded = -(-len(mine) // block) * block
        ids.append(np.concatenate([mine, np.full(padded - len(mine), tokens * top)]))
        owners += [expert] * (padded // block)
    ids = np.concatenate(ids).astype(np.int32)
    out = rpt.zeros((tokens * top, N), "float16")
    moe_kernel[(len(owners), triton.cdiv(N, 32))](
        rpt.array(x), rpt.array(w), out, rpt.array(ids), rpt.array(np.array(owners, np.int32)),
        rpt.array(np.append(weights, 0).astype(np.float32)), tokens, N, K, TOP=top,
        BLOCK_M=block, BLOCK_N=32, BLOCK_K=64,
    )  # fmt: skip
    wide = np.repeat(x.astype(np.float32), top, axis=0)
    want = np.einsum("tk,tnk->tn", wide, w[chosen].astype(np.float32)) * weights[:, None]
    np.testing.assert_allclose(out.numpy(), want, rtol=2e-3, atol=5e-2)


@triton.jit
def int4_kernel(
    x, packed, scales, zeros, out, M, N, K, GROUP: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, K, BLOCK_K):
        a = tl.load(x + m[:, None] * K + start + k[None, :], mask=m[:, None] < M, other=0.0)
        word = tl.load(packed + ((start + k[:, None]) // 8) * N + n[None, :])
        value = (word >> (((start + k) % 8) * 4)[:, None]) & 0xF
        group = (start + k[:, None]) // GROUP
        scale = tl.load(scales + group * N + n[None, :])
        zero = tl.load(zeros + group * N + n[None, :])
        b = ((value - zero) * scale).to(tl.float16)
        total = tl.dot(a, b, total)
    tl.store(out + m[:, None] * N + n[None, :], total, mask=m[:, None] < M)


@check
def four_bit_weights():
    M, N, K, group = 20, 64, 256, 64
    x = rng.standard_normal((M, K)).astype(np.float16)
    values = rng.integers(0, 16, (K, N)).astype(np.int64)
    zeros = rng.integers(0, 16, (K // group, N)).astype(np.int32)
    scales = (rng.random((K // group, N)) * 0.1).astype(np.float32)
    packed = np.zeros((K // 8, N), dtype=np.int64)
    for n in range(8):
        packed |= values[n::8] << (4 * n)
    packed = packed.astype(np.uint32).view(np.int32)
    out = rpt.empty((M, N))
    int4_kernel[(2, 2)](
        rpt.array(x), rpt.array(packed), rpt.array(scales), rpt.array(zeros), out, M, N, K,
        GROUP=group, BLOCK_M=16, BLOCK_N=32, BLOCK_K=64,
    )  # fmt: skip
    spread = (values - np.repeat(zeros, group, 0)) * np.repeat(scales, group, 0)
    want = x.astype(np.float32) @ spread.astype(np.float16).astype(np.float32)
    np.testing.assert_allclose(out.numpy(), want, rtol=2e-3, atol=1e-2)


@triton.jit
def rms_kernel(x, residual, weight, out, columns, eps, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    inside = i < columns
    v = tl.load(x + row * columns + i, mask=inside, other=0.0).to(tl.float32)
    v += tl.load(residual + row * columns + i, mask=inside, other=0.0).to(tl.float32)
    tl.store(residual + row * columns + i, v.to(tl.bfloat16), mask=inside)
    scale = tl.rsqrt(tl.sum(v * v, axis=0) / columns + eps)
    w = tl.load(weight + i, mask=inside).to(tl.float32)
    tl.store(out + row * columns + i, (v * scale * w).to(tl.bfloat16), mask=inside)


@check
def rms_norm_with_residual_in_bfloat16():
    x, r = (rng.standard_normal((33, 500)).astype(np.float32) for _ in range(2))
    w = rng.standard_normal(500).astype(np.float32)
    a, b, c = (rpt.array(v, "bfloat16") for v in (x, r, w))
    total = a.numpy() + b.numpy()
    out = rpt.empty((33, 500), "bfloat16")
    rms_kernel[(33,)](a, b, c, out, 500, 1e-6, BLOCK=512)
    want = total / np.sqrt((total**2).mean(1, keepdims=True) + 1e-6) * c.numpy()
    np.testing.assert_allclose(out.numpy(), want, rtol=1e-2, atol=1e-2)
    np.testing.assert_array_equal(b.numpy(), rpt.array(total, "bfloat16").numpy())


@triton.jit
def sample_kernel(logits, noise, out, vocabulary, temperature, top_p, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(logits + row * vocabulary + i, mask=i < vocabulary, other=-float("inf"))
    v = v / temperature
    powers = tl.exp(v - tl.max(v, axis=0))
    p = powers / tl.sum(powers, axis=0)
    ordered = tl.sort(p, descending=True)
    before = tl.cumsum(ordered, axis=0) - ordered
    smallest = tl.min(tl.where(before < top_p, ordered, 2.0), axis=0)
    kept = tl.where(p >= smallest, p, 0.0)
    gumbel = tl.load(noise + row * BLOCK + i)
    tl.store(out + row, tl.argmax(tl.log(kept + 1e-30) + gumbel, axis=0))


@check
def sampling_by_top_p():
    rows, vocabulary, block = 8, 1000, 1024
    logits = (rng.standard_normal((rows, vocabulary)) * 3).astype(np.float32)
    noise = rng.gumbel(size=(rows, block)).astype(np.float32)
    out = rpt.empty(rows, "int32")
    sample_kernel[(rows,)](
        rpt.array(logits), rpt.array(noise), out, vocabulary, 0.8, 0.9, BLOCK=block
    )
    v = logits.astype(np.float64) / 0.8
    p = np.exp(v - v.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    ordered = -np.sort(-p, axis=1)
    before = np.cumsum(ordered, axis=1) - ordered
    smallest = np.where(before < 0.9, ordered, 2).min(1, keepdims=True)
    kept = np.where(p >= smallest, p, 0)
    want = (np.log(kept + 1e-30) + noise[:, :vocabulary]).argmax(1)
    np.testing.assert_array_equal(out.numpy(), want)


@triton.jit
def rotary_kernel(x, cos, sin, out, HALF: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, HALF)
    a = tl.load(x + row * 2 * HALF + i).to(tl.float32)
    b = tl.load(x + row * 2 * HALF + HALF + i).to(tl.float32)
    c, s = tl.load(cos + row * HALF + i), tl.load(sin + row * HALF + i)
    tl.store(out + row * 2 * HALF + i, (a * c - b * s).to(tl.float16))
    tl.store(out + row * 2 * HALF + HALF + i, (b * c + a * s).to(tl.float16))


@check
def rotary_embedding():
    x = rng.standard_normal((40, 128)).astype(np.float16)
    angle = rng.random((40, 64)).astype(np.float32) * 6
    cos, sin = np.cos(angle), np.sin(angle)
    out = rpt.empty((40, 128), "float16")
    rotary_kernel[(40,)](rpt.array(x), rpt.array(cos), rpt.array(sin), out, HALF=64)
    a, b = x[:, :64].astype(np.float32), x[:, 64:].astype(np.float32)
    want = np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=1)
    np.testing.assert_allclose(out.numpy(), want, rtol=1e-3, atol=2e-3)


@triton.jit
def split_kernel(a, b, c, N, K, SPLIT: tl.constexpr, BLOCK: tl.constexpr):
    m = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    n = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    k = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(tl.program_id(2) * BLOCK, K, BLOCK * SPLIT):
        x = tl.load(a + m[:, None] * K + start + k[None, :])
        total = tl.dot(x, tl.load(b + (start + k[:, None]) * N + n[None, :]), total)
    tl.atomic_add(c + m[:, None] * N + n[None, :], total)


@check
def split_k_with_atomics():
    a = rng.standard_normal((64, 512)).astype(np.float16)
    b = rng.standard_normal((512, 64)).astype(np.float16)
    c = rpt.zeros((64, 64))
    split_kernel[(2, 2, 4)](rpt.array(a), rpt.array(b), c, 64, 512, SPLIT=4, BLOCK=32)
    np.testing.assert_allclose(c.numpy(), a.astype("f4") @ b.astype("f4"), rtol=1e-3, atol=1e-2)


@triton.jit
def grouped_kernel(pointers, out, N: tl.constexpr):
    source = tl.load(pointers + tl.program_id(0)).to(tl.pointer_type(tl.float32))
    i = tl.arange(0, N)
    tl.store(out + tl.program_id(0) * N + i, tl.load(source + i) * 2)


@check
def pointers_in_memory():
    arrays = [rpt.array(rng.standard_normal(128).astype(np.float32)) for _ in range(5)]
    table = rpt.array(np.array([a.data_ptr() for a in arrays], dtype=np.int64))
    out = rpt.empty((5, 128))
    grouped_kernel[(5,)](table, out, N=128)
    np.testing.assert_array_equal(out.numpy(), np.stack([a.numpy() * 2 for a in arrays]))


@triton.jit
def scaled_kernel(a, a_scale, b, b_scale, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n = tl.arange(0, M), tl.arange(0, N)
    k, groups = tl.arange(0, K // 2), tl.arange(0, K // 32)
    x = tl.load(a + m[:, None] * (K // 2) + k[None, :])
    y = tl.load(b + k[:, None] * N + n[None, :])
    xs = tl.load(a_scale + m[:, None] * (K // 32) + groups[None, :])
    ys = tl.load(b_scale + n[:, None] * (K // 32) + groups[None, :])
    tl.store(c + m[:, None] * N + n[None, :], tl.dot_scaled(x, xs, "e2m1", y, ys, "e2m1"))


@check
def four_bit_floats_with_shared_scales():
    if VERSION < (3, 8):
        return  # its compiler does not get through it
    M = N = 32
    K = 128
    table = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6])
    a, b = rng.integers(0, 16, (M, K)), rng.integers(0, 16, (K, N))
    a_scale, b_scale = rng.integers(124, 130, (M, K // 32)), rng.integers(124, 130, (N, K // 32))
    packed_a = (a[:, 0::2] | a[:, 1::2] << 4).astype(np.uint8)
    packed_b = (b[0::2] | b[1::2] << 4).astype(np.uint8)
    c = rpt.empty((M, N))
    scaled_kernel[(1,)](
        rpt.array(packed_a), rpt.array(a_scale.astype(np.uint8)), rpt.array(packed_b),
        rpt.array(b_scale.astype(np.uint8)), c, M=M, N=N, K=K,
    )  # fmt: skip
    x = table[a] * np.repeat(2.0 ** (a_scale - 127), 32, axis=1)
    y = table[b] * np.repeat(2.0 ** (b_scale - 127), 32, axis=1).T
    np.testing.assert_allclose(c.numpy(), x @ y, rtol=1e-5)


def main() -> int:
    failed = 0
    for name in sys.argv[1:] or list(checks):
        try:
            checks[name]()
            print(f"ok {name}", flush=True)
        except Exception as error:
            failed += 1
            print(f"FAILED {name}: {type(error).__name__}: {str(error).strip()[:600]}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
