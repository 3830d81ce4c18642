"""What hip-python's documentation shows, on whichever version is here: properties, attributes,
streams and copies, hiprtc with a launch, events, graphs of two nodes, errors."""

import ctypes

import numpy as np
from hip import hip, hiprtc


def check(result):
    """The values of a call, or an exception: every call returns its status first."""
    status, *values = result if isinstance(result, tuple) else (result,)
    if int(status) != 0:
        raise RuntimeError(str(status))
    return values[0] if len(values) == 1 else tuple(values)


def properties():
    try:
        found = check(hip.hipGetDeviceProperties(0))  # version 10
    except TypeError:
        found = hip.hipDeviceProp_t()
        check(hip.hipGetDeviceProperties(found, 0))
    return found


def architecture():
    name = properties().gcnArchName
    return name.encode() if isinstance(name, str) else name


def device_properties():
    assert architecture().startswith(b"gfx942")
    assert properties().multiProcessorCount == 304
    attribute = hip.hipDeviceAttribute_t.hipDeviceAttributeWarpSize
    assert check(hip.hipDeviceGetAttribute(attribute, 0)) == 64


SOURCE = b"""
extern "C" __global__ void scale(float* x, float by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= by;
}
"""


def compiled():
    program = check(hiprtc.hiprtcCreateProgram(SOURCE, b"scale", 0, None, None))
    options = [b"--offload-arch=" + architecture()]
    check(hiprtc.hiprtcCompileProgram(program, len(options), options))
    code = bytearray(check(hiprtc.hiprtcGetCodeSize(program)))
    check(hiprtc.hiprtcGetCode(program, code))
    return code


def streams_copies_and_a_kernel_compiled_at_run_time():
    module = check(hip.hipModuleLoadData(compiled()))
    kernel = check(hip.hipModuleGetFunction(module, b"scale"))
    x = np.arange(1000, dtype=np.float32)
    memory = check(hip.hipMalloc(x.nbytes))
    stream = check(hip.hipStreamCreate())
    start, end = (check(hip.hipEventCreate()) for _ in range(2))
    kind = hip.hipMemcpyKind
    check(hip.hipMemcpyAsync(memory, x, x.nbytes, kind.hipMemcpyHostToDevice, stream))
    check(hip.hipEventRecord(start, stream))
    values = (memory, ctypes.c_float(3.0), ctypes.c_int(1000))
    check(hip.hipModuleLaunchKernel(kernel, 4, 1, 1, 256, 1, 1, 0, stream, None, values))
    check(hip.hipEventRecord(end, stream))
    y = np.empty_like(x)
    check(hip.hipMemcpyAsync(y, memory, x.nbytes, kind.hipMemcpyDeviceToHost, stream))
    check(hip.hipStreamSynchronize(stream))
    np.testing.assert_array_equal(y, x * 3)
    assert check(hip.hipEventElapsedTime(start, end)) > 0
    check(hip.hipStreamDestroy(stream))
    check(hip.hipModuleUnload(module))
    check(hip.hipFree(memory))


def memset_and_a_device_array():
    memory = check(hip.hipMalloc(400))
    check(hip.hipMemset(memory, 7, 400))
    back = np.zeros(400, dtype=np.uint8)
    check(hip.hipMemcpy(back, memory, 400, hip.hipMemcpyKind.hipMemcpyDeviceToHost))
    assert (back == 7).all()
    check(hip.hipFree(memory))


def errors_are_values():
    result = hip.hipSetDevice(99)
    status = result[0] if isinstance(result, tuple) else result
    assert status == hip.hipError_t.hipErrorInvalidDevice


for function in (
    device_properties, streams_copies_and_a_kernel_compiled_at_run_time,
    memset_and_a_device_array, errors_are_values,
):  # fmt: skip
    function()
    print("ok", function.__name__)
