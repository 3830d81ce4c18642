"""Gluon on CDNA3, against numpy: matrix instructions, buffer operations, LDS layouts (Triton 3.9)."""

import itertools

import numpy as np
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

import rocm_perf_lab.triton as rpt

rng = np.random.default_rng(5)


@gluon.jit
def grid_of(M: gl.constexpr, N: gl.constexpr, layout: gl.constexpr):
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, layout))
    columns = gl.arange(0, N, layout=gl.SliceLayout(0, layout))
    return rows[:, None] * N + columns[None, :]


@gluon.jit
def product_kernel(a, b, c, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr,
                   tiles: gl.constexpr, blocks: gl.constexpr, width: gl.constexpr,
                   total: gl.constexpr):  # fmt: skip
    left: gl.constexpr = gl.DotOperandLayout(operand_index=0, parent=tiles, k_width=width)
    right: gl.constexpr = gl.DotOperandLayout(operand_index=1, parent=tiles, k_width=width)
    x = gl.amd.cdna3.buffer_load(ptr=a, offsets=grid_of(M, K, blocks))
    y = gl.load(b + grid_of(K, N, blocks))
    x, y = gl.convert_layout(x, left), gl.convert_layout(y, right)
    z = gl.amd.cdna3.mfma(x, y, gl.zeros([M, N], total, tiles))
    gl.amd.cdna3.buffer_store(
        stored_value=gl.convert_layout(z, blocks), ptr=c, offsets=grid_of(M, N, blocks)
    )


# type, rows of the instruction, its depth, elements a lane holds side by side, type of the sums
PRODUCTS = [
    ("float16", 16, 16, 4, "float32"), ("float16", 32, 8, 4, "float32"),
    ("bfloat16", 16, 16, 4, "float32"), ("bfloat16", 32, 8, 4, "float32"),
    ("float32", 16, 4, 1, "float32"), ("float32", 32, 2, 1, "float32"),
    ("int8", 16, 32, 8, "int32"), ("int8", 32, 16, 8, "int32"),
    ("float8_e4m3fnuz", 16, 32, 8, "float32"), ("float8_e5m2fnuz", 32, 16, 8, "float32"),
]  # fmt: skip


def products() -> None:
    size = (64, 32, 64)
    for (kind, rows, depth, width, total), transposed in itertools.product(PRODUCTS, (False, True)):
        bits = {"element_bitwidth": 32} if total == "int32" else {}
        tiles = gl.amd.AMDMFMALayout(
            version=3, instr_shape=[rows, rows, depth], transposed=transposed,
            warps_per_cta=[2, 1], **bits,
        )  # fmt: skip
        a = rng.integers(-4, 5, (size[0], size[2])).astype(np.float32)
        b = rng.integers(-4, 5, (size[2], size[1])).astype(np.float32)
        given = [rpt.array(v.astype("int8") if kind == "int8" else v, kind) for v in (a, b)]
        out = rpt.empty(size[:2], total)
        blocks = gl.BlockedLayout([1, 4], [8, 8], [2, 1], [1, 0])
        product_kernel[(1,)](
            *given, out, *size, tiles, blocks, width, getattr(gl, total), num_warps=2
        )
        np.testing.assert_array_equal(out.numpy(), a @ b, err_msg=f"{kind} {rows} {transposed}")


@gluon.jit
def masked_kernel(x, out, counts, limit, N: gl.constexpr, layout: gl.constexpr):
    i = gl.arange(0, N, layout=layout)
    nine = gl.full([N], 9, gl.float32, layout)
    v = gl.amd.cdna3.buffer_load(ptr=x, offsets=i, mask=i < limit, other=nine)
    gl.amd.cdna3.buffer_store(stored_value=v, ptr=out, offsets=i, mask=i % 3 != 0)
    gl.amd.cdna3.buffer_atomic_add(counts, i % 4, gl.full([N], 1, gl.float32, layout))


def buffers() -> None:
    for side_by_side in (1, 2, 4):
        n = 256 * side_by_side
        x = rng.standard_normal(n).astype(np.float32)
        out, counts = rpt.zeros(n), rpt.zeros(4)
        layout = gl.BlockedLayout([side_by_side], [64], [4], [0])
        masked_kernel[(1,)](rpt.array(x), out, counts, n - 7, n, layout, num_warps=4)
        x[n - 7 :] = 9
        x[::3] = 0
        np.testing.assert_array_equal(out.numpy(), x)
        assert counts.numpy().tolist() == [n // 4] * 4


@gluon.jit
def through_lds_kernel(x, out, M: gl.constexpr, N: gl.constexpr, source: gl.constexpr,
                       between: gl.constexpr, target: gl.constexpr):  # fmt: skip
    kept = gl.allocate_shared_memory(x.dtype.element_ty, (M, N), between)
    kept.store(gl.load(x + grid_of(M, N, source)))
    gl.store(out + grid_of(M, N, target), kept.load(target))


def layouts() -> None:
    m, n = 64, 32
    tiles = gl.amd.AMDMFMALayout(
        version=3, instr_shape=[16, 16, 16], transposed=True, warps_per_cta=[2, 2]
    )
    registers = [
        gl.BlockedLayout([1, 1], [64, 1], [2, 2], [0, 1]),
        gl.BlockedLayout([1, 8], [16, 4], [4, 1], [1, 0]),
        tiles,
        gl.DotOperandLayout(operand_index=0, parent=tiles, k_width=4),
    ]
    lds = [
        gl.SwizzledSharedLayout(vec=1, per_phase=1, max_phase=1, order=[0, 1]),
        gl.SwizzledSharedLayout(vec=4, per_phase=2, max_phase=4, order=[1, 0]),
        gl.PaddedSharedLayout.with_identity_for([[32, 8]], [m, n], [1, 0]),
    ]
    for kind, between in itertools.product(("float16", "int8", "float64"), lds):
        x = rng.integers(-100, 100, (m, n)).astype(kind)
        for source, target in itertools.permutations(registers, 2):
            out = rpt.zeros((m, n), kind)
            through_lds_kernel[(1,)](rpt.array(x), out, m, n, source, between, target, num_warps=4)
            np.testing.assert_array_equal(out.numpy(), x)


products()
buffers()
layouts()
print("equal to numpy")
