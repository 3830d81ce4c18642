"""What the language can do, kernel by kernel, each against numpy. Prints a line for each."""

from __future__ import annotations

import sys

import numpy as np
import triton
import triton.language as tl
from triton.language.extra import libdevice
from triton.tools.tensor_descriptor import TensorDescriptor

import rocm_perf_lab.triton as rpt

VERSION = tuple(int(n) for n in triton.__version__.split(".")[:2])
rng = np.random.default_rng(7)
checks = {}


def check(function):
    checks[function.__name__] = function
    return function


@triton.jit
def masked_kernel(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    tl.store(out + i, tl.load(x + i, mask=m, other=0) * 2 + tl.load(y + i, mask=m), mask=m)


@check
def masks():
    for dtype in ("float32", "float16", "int32", "int8", "int64", "float64", "uint16"):
        a, b = (rng.integers(0, 50, 1000).astype(dtype) for _ in range(2))
        out = rpt.empty(1000, dtype)
        masked_kernel[(4,)](rpt.array(a), rpt.array(b), out, 1000, BLOCK=256)
        np.testing.assert_array_equal(out.numpy(), a * 2 + b)


@triton.jit
def reductions_kernel(x, out, index, N: tl.constexpr):
    i = tl.arange(0, 16)[:, None] * N + tl.arange(0, N)[None, :]
    v = tl.load(x + i)
    rows = tl.arange(0, 16)
    tl.store(out + rows, tl.sum(v, axis=1))
    tl.store(out + 16 + rows, tl.max(v, axis=1))
    tl.store(out + 32 + rows, tl.min(v, axis=1))
    tl.store(out + 48, tl.sum(tl.sum(v, axis=1)))
    tl.store(index + rows, tl.argmax(v, axis=1))
    tl.store(index + 16 + rows, tl.argmin(v, axis=1))


@check
def reductions():
    x = rng.standard_normal((16, 256)).astype(np.float32)
    out, index = rpt.zeros(49), rpt.zeros(32, "int32")
    reductions_kernel[(1,)](rpt.array(x), out, index, N=256)
    got, places = out.numpy(), index.numpy()
    np.testing.assert_allclose(got[:16], x.sum(1), rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(got[16:32], x.max(1))
    np.testing.assert_array_equal(got[32:48], x.min(1))
    np.testing.assert_allclose(got[48], x.sum(), rtol=1e-4)
    np.testing.assert_array_equal(places[:16], x.argmax(1))
    np.testing.assert_array_equal(places[16:], x.argmin(1))


@triton.jit
def add_xor(a, b):
    return a + b


@triton.jit
def scans_kernel(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(out + i, tl.cumsum(v, axis=0))
    tl.store(out + N + i, tl.associative_scan(v, 0, add_xor, reverse=True))
    tl.store(out + 2 * N + i, tl.sort(v))
    tl.store(out + 3 * N + i, tl.flip(v, 0))
    tl.store(out + 4 * N + tl.arange(0, 64), tl.histogram(v & 63, 64))


@check
def scans_and_sorts():
    x = rng.integers(0, 1000, 512).astype(np.int32)
    out = rpt.zeros(4 * 512 + 64, "int32")
    scans_kernel[(1,)](rpt.array(x), out, N=512)
    got = out.numpy()
    np.testing.assert_array_equal(got[:512], np.cumsum(x))
    np.testing.assert_array_equal(got[512:1024], np.cumsum(x[::-1])[::-1])
    np.testing.assert_array_equal(got[1024:1536], np.sort(x))
    np.testing.assert_array_equal(got[1536:2048], x[::-1])
    np.testing.assert_array_equal(got[2048:], np.bincount(x & 63, minlength=64))


@triton.jit
def dot_kernel(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, OUT: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + m[:, None] * K + k[None, :])
    y = tl.load(b + k[:, None] * N + n[None, :])
    tl.store(c + m[:, None] * N + n[None, :], tl.dot(x, y, out_dtype=OUT))


@check
def dots_of_every_type():
    for kind, tolerance in (
        ("float16", 1e-3), ("bfloat16", 1e-3), ("float32", 1e-2), ("int8", 0),
        ("float8_e4m3fnuz", 1e-3), ("float8_e5m2fnuz", 1e-3), ("float64", 1e-12),
    ):  # fmt: skip
        if kind == "float64" and VERSION < (3, 8):
            continue  # its compiler has none
        whole = kind == "int8"
        a, b = (
            rng.integers(-9, 9, (64, 64)).astype(np.int8) if whole
            else rng.standard_normal((64, 64)).astype(np.float64 if kind == "float64" else np.float32)
            for _ in range(2)
        )  # fmt: skip
        x, y = rpt.array(a, kind), rpt.array(b, kind)
        out = rpt.empty(
            (64, 64), "int32" if whole else "float64" if kind == "float64" else "float32"
        )
        result = tl.int32 if whole else tl.float64 if kind == "float64" else tl.float32
        dot_kernel[(1,)](x, y, out, M=64, N=64, K=64, OUT=result)
        want = x.numpy().astype(np.float64) @ y.numpy().astype(np.float64)
        np.testing.assert_allclose(out.numpy(), want, rtol=tolerance, atol=tolerance * 30)


@triton.jit
def atomics_kernel(counter, place, top, half, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.atomic_add(counter + i % 7, 1.0)
    tl.atomic_max(top, tl.program_id(0))
    tl.atomic_add(half + i % 8, tl.full((BLOCK,), 0.5, tl.float16))
    if tl.atomic_cas(place, 0, 1) == 0:
        tl.store(place + 1, 42)
    tl.atomic_xchg(place + 2, 9)


@check
def atomics():
    counter, place, top = rpt.zeros(7), rpt.zeros(3, "int32"), rpt.zeros(1, "int32")
    half = rpt.zeros(8, "float16")
    atomics_kernel[(10,)](counter, place, top, half, BLOCK=128)
    want = np.bincount(np.arange(128) % 7, minlength=7) * 10.0
    np.testing.assert_array_equal(counter.numpy(), want)
    np.testing.assert_array_equal(half.numpy(), np.full(8, 80.0))
    np.testing.assert_array_equal(place.numpy(), [1, 42, 9])
    assert top.numpy()[0] == 9


@triton.jit
def random_kernel(out, normal, seed, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.rand(seed, i))
    tl.store(normal + i, tl.randn(seed, i))


@check
def random_numbers():
    out, normal = rpt.empty(4096), rpt.empty(4096)
    random_kernel[(1,)](out, normal, 1234, N=4096)
    u, z = out.numpy(), normal.numpy()
    assert u.min() >= 0 and u.max() < 1 and abs(u.mean() - 0.5) < 0.02
    assert abs(z.mean()) < 0.06 and abs(z.std() - 1) < 0.05
    again = rpt.empty(4096)
    random_kernel[(1,)](again, normal, 1234, N=4096)
    np.testing.assert_array_equal(again.numpy(), u)


@triton.jit
def asm_kernel(x, y, out, N: tl.constexpr):
    i = tl.arange(0, N)
    value = tl.inline_asm_elementwise(
        "v_and_b32 $0, $1, $2", "=v,v,v", [tl.load(x + i), tl.load(y + i)],
        dtype=tl.int32, is_pure=True, pack=1,
    )  # fmt: skip
    tl.store(out + i, value)


@check
def inline_assembly():
    x, y = (rng.integers(0, 1 << 30, 256).astype(np.int32) for _ in range(2))
    out = rpt.empty(256, "int32")
    asm_kernel[(1,)](rpt.array(x), rpt.array(y), out, N=256)
    np.testing.assert_array_equal(out.numpy(), x & y)


@triton.jit
def libdevice_kernel(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(out + i, libdevice.exp(v))
    tl.store(out + N + i, libdevice.tanh(v))
    tl.store(out + 2 * N + i, libdevice.pow(v, v))
    tl.store(out + 3 * N + i, tl.math.sqrt(v) + tl.sin(v) + tl.log(v) + tl.erf(v) * 0)


@check
def device_library():
    x = rng.uniform(0.1, 3, 512).astype(np.float32)
    out = rpt.empty((4, 512))
    libdevice_kernel[(1,)](rpt.array(x), out, N=512)
    want = [np.exp(x), np.tanh(x), x**x, np.sqrt(x) + np.sin(x) + np.log(x)]
    np.testing.assert_allclose(out.numpy(), np.stack(want), rtol=2e-5, atol=1e-6)


@triton.jit
def device_descriptor_kernel(x, out, M, N, BLOCK: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [M, N], [N, 1], [BLOCK, BLOCK])
    sink = tl.make_tensor_descriptor(out, [M, N], [N, 1], [BLOCK, BLOCK])
    at = [tl.program_id(0) * BLOCK, tl.program_id(1) * BLOCK]
    sink.store(at, source.load(at) + 1)


@triton.jit
def host_descriptor_kernel(source, sink, BLOCK: tl.constexpr):
    at = [tl.program_id(0) * BLOCK, tl.program_id(1) * BLOCK]
    sink.store(at, source.load(at) + 1)


@check
def descriptors():
    triton.set_allocator(lambda size, align, stream: rpt.empty(size, "int8"))
    x = rng.standard_normal((100, 112)).astype(np.float32)
    out = rpt.zeros((100, 112))
    device_descriptor_kernel[(4, 4)](rpt.array(x), out, 100, 112, BLOCK=32)
    np.testing.assert_array_equal(out.numpy(), x + 1)
    source, out = rpt.array(x), rpt.zeros((100, 112))
    wrap = TensorDescriptor.from_tensor
    host_descriptor_kernel[(4, 4)](wrap(source, [32, 32]), wrap(out, [32, 32]), BLOCK=32)
    np.testing.assert_array_equal(out.numpy(), x + 1)


@triton.jit
def persistent_kernel(x, out, n, BLOCK: tl.constexpr, PROGRAMS: tl.constexpr):
    for tile in range(tl.program_id(0), tl.cdiv(n, BLOCK), PROGRAMS):
        i = tile * BLOCK + tl.arange(0, BLOCK)
        tl.store(out + i, tl.load(x + i, mask=i < n) * 3, mask=i < n)


@check
def persistent_kernels():
    x = rng.standard_normal(10_000).astype(np.float32)
    out = rpt.zeros(10_000)
    persistent_kernel[(8,)](rpt.array(x), out, 10_000, BLOCK=256, PROGRAMS=8)
    np.testing.assert_array_equal(out.numpy(), x * 3)


@triton.jit
def meeting_kernel(counter, out, PROGRAMS: tl.constexpr):
    tl.atomic_add(counter, 1)
    while tl.atomic_add(counter, 0) < PROGRAMS:
        pass
    tl.store(out + tl.program_id(0), tl.atomic_add(counter, 0))


@check
def cooperative_kernels():
    counter, out = rpt.zeros(1, "int32"), rpt.zeros(16, "int32")
    meeting_kernel[(16,)](counter, out, PROGRAMS=16, launch_cooperative_grid=True)
    np.testing.assert_array_equal(out.numpy(), np.full(16, 16))


@triton.jit
def shapes_kernel(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i[:, None] * N + i[None, :])
    tl.store(out + i[:, None] * N + i[None, :], tl.trans(v))
    a, b = tl.split(tl.reshape(tl.join(i, i * 2), (N, 2)))
    tl.store(out + N * N + i, tl.where(a < b, a, b).to(tl.float32))
    tl.store(
        out + N * N + N + i, tl.gather(v, tl.flip(i, 0)[:, None] * 0 + 3, axis=1).reshape((N,))
    )


@check
def shapes():
    x = rng.standard_normal((64, 64)).astype(np.float32)
    out = rpt.zeros(64 * 64 + 128)
    shapes_kernel[(1,)](rpt.array(x), out, N=64)
    got = out.numpy()
    np.testing.assert_array_equal(got[: 64 * 64].reshape(64, 64), x.T)
    np.testing.assert_array_equal(got[64 * 64 : 64 * 65], np.arange(64))
    np.testing.assert_array_equal(got[64 * 65 :], x[:, 3])


@triton.jit
def convert_kernel(x, out, N: tl.constexpr, TO: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.load(x + i).to(TO).to(tl.float32))


@check
def conversions():
    x = np.concatenate([rng.standard_normal(250) * 10, [0, -0.0, 240, 0.001, 1e-9, 3]])
    x = x.astype(np.float32)
    kinds = {"float8_e4m3fnuz": tl.float8e4b8, "float8_e5m2fnuz": tl.float8e5b16,
             "bfloat16": tl.bfloat16, "float16": tl.float16, "float8_e5m2": tl.float8e5}  # fmt: skip
    if VERSION < (3, 5):
        del kinds["float8_e5m2"]  # rounded twice there, by way of half precision
    for name, kind in kinds.items():
        out = rpt.empty(256)
        convert_kernel[(1,)](rpt.array(x), out, N=256, TO=kind)
        np.testing.assert_array_equal(out.numpy(), rpt.array(x, name).numpy(), err_msg=name)
        back = rpt.empty(256)
        convert_kernel[(1,)](rpt.array(x, name), back, N=256, TO=tl.float32)
        np.testing.assert_array_equal(back.numpy(), rpt.array(x, name).numpy(), err_msg=name)


@triton.jit
def print_kernel(x, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.device_print("value", tl.load(x + i))


@check
def device_print():
    print_kernel[(1,)](rpt.array(np.arange(64, dtype=np.int32)), N=64)
    rpt.synchronize()


@triton.jit
def tuple_kernel(pair, out, scale: tl.constexpr):
    i = tl.arange(0, 64)
    tl.store(out + i, tl.load(pair[0] + i) * pair[1] * scale)


@check
def tuples():
    x = rng.standard_normal(64).astype(np.float32)
    out = rpt.empty(64)
    tuple_kernel[(1,)]((rpt.array(x), 3), out, scale=2)
    np.testing.assert_array_equal(out.numpy(), x * 6)


@triton.jit
def number_kernel(out, number: tl.int32):
    tl.store(out, number)


@check
def numbers_that_do_not_fit():
    """As AMD's driver reads them: by a C long, of which the argument takes the low bits."""
    out = rpt.zeros(1, "int32")
    for number in (7, -7, True, 2**40 + 5):
        number_kernel[(1,)](out, number)
        assert out.numpy()[0] == np.int64(number).astype(np.int32), number
    for number, problem in (
        (2**63, OverflowError),
        (-(2**63) - 1, OverflowError),
        (1.5, TypeError),
    ):
        try:
            number_kernel[(1,)](out, number)
        except problem:
            continue
        raise AssertionError(f"{number} was taken")


@check
def gluon():
    if VERSION < (3, 5):
        return  # not for AMD yet
    source = """
from triton.experimental import gluon as g
from triton.experimental.gluon import language as gl

@g.jit
def kernel(x, out, n, BLOCK: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([4], [64], [4], [0])
    i = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout=layout)
    gl.store(out + i, gl.load(x + i, mask=i < n) + 1, mask=i < n)
"""
    import importlib.util
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "gluon_kernel.py"
        path.write_text(source)
        spec = importlib.util.spec_from_file_location("gluon_kernel", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        x = rng.standard_normal(1000).astype(np.float32)
        out = rpt.zeros(1000)
        module.kernel[(1,)](rpt.array(x), out, 1000, BLOCK=1024, num_warps=4)
    np.testing.assert_array_equal(out.numpy(), x + 1)


def main() -> int:
    wanted = sys.argv[1:] or list(checks)
    failed = 0
    for name in wanted:
        try:
            checks[name]()
            print(f"ok {name}", flush=True)
        except Exception as error:
            failed += 1
            text = str(error).strip() or repr(error)
            print(f"FAILED {name}: {type(error).__name__}: {text[:600]}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
