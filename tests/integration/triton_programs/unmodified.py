"""A program that knows nothing of rocm-perf: HIP by ctypes for memory, Triton for the rest."""

import ctypes

import triton
import triton.language as tl


class Pointer:
    dtype = "float32"

    def __init__(self, values):
        self.address = ctypes.c_void_p()
        size = 4 * len(values)
        assert hip.hipMalloc(ctypes.byref(self.address), ctypes.c_size_t(size)) == 0
        host = (ctypes.c_float * len(values))(*values)
        assert hip.hipMemcpy(self.address, host, ctypes.c_size_t(size), 1) == 0

    def data_ptr(self):
        return self.address.value


@triton.jit
def double(x, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)


hip = ctypes.CDLL("libamdhip64.so")
x = Pointer([float(n) for n in range(100)])
double[(1,)](x, 100, BLOCK=128)
out = (ctypes.c_float * 100)()
assert hip.hipMemcpy(out, x.address, ctypes.c_size_t(400), 2) == 0
assert list(out) == [2.0 * n for n in range(100)]
driver = triton.runtime.driver.active
print(type(driver).__name__, driver.get_current_target())
