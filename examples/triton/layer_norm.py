"""Layer norm with weight and bias, in half and single precision."""

import numpy as np
import triton
import triton.language as tl

import rocm_perf_lab.triton as rpt


@triton.jit
def layer_norm(x, weight, bias, out, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    inside = i < columns
    values = tl.load(x + row * columns + i, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(values, axis=0) / columns
    centred = tl.where(inside, values - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / columns + eps)
    w = tl.load(weight + i, mask=inside)
    b = tl.load(bias + i, mask=inside)
    tl.store(out + row * columns + i, centred * scale * w + b, mask=inside)


def main() -> None:
    rng = np.random.default_rng(0)
    rows, columns = 128, 1000
    for dtype, tolerance in ((np.float32, 1e-5), (np.float16, 2e-3)):
        x = (rng.standard_normal((rows, columns)) * 2 + 1).astype(dtype)
        weight, bias = (rng.standard_normal(columns).astype(dtype) for _ in range(2))
        out = rpt.empty((rows, columns), dtype)
        layer_norm[(rows,)](
            rpt.array(x), rpt.array(weight), rpt.array(bias), out, columns, 1e-5, BLOCK=1024
        )
        wide = x.astype(np.float64)
        centred = wide - wide.mean(1, keepdims=True)
        want = centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5) * weight + bias
        np.testing.assert_allclose(out.numpy(), want, rtol=tolerance, atol=tolerance)
        print(f"layer_norm {np.dtype(dtype)}: equal to numpy within {tolerance}")


if __name__ == "__main__":
    main()
