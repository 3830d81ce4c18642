"""Two configurations under the autotuner; prints what was launched and how long each took."""

import sys

import numpy as np
import triton
import triton.language as tl

import rocm_perf_lab.triton as rpt

launches = []


@triton.autotune(
    configs=[
        triton.Config({"BLOCK": 64}, num_warps=1, pre_hook=lambda args: launches.append(64)),
        triton.Config({"BLOCK": 1024}, num_warps=4, pre_hook=lambda args: launches.append(1024)),
    ],
    key=["n"],
)
@triton.jit
def scale(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) * 3, mask=i < n)


n = 200_000
x = np.arange(n, dtype=np.float32)
out = rpt.empty(n)
scale[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](rpt.array(x), out, n)
np.testing.assert_array_equal(out.numpy(), x * 3)
print("launches", len(launches) - 1, scale.best_config)
triton.testing.do_bench(lambda: scale.fn[(1,)](out, out, 64, BLOCK=64))
if "idle" in sys.argv:
    for _ in range(2):
        triton.testing.do_bench(lambda: np.sort(x))
for config, took in scale.configs_timings.items():
    print(config.kwargs["BLOCK"], took[0])
