"""Large traces for analyze_large.py: a rocpd database, and a trace of PyTorch's profiler."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rocm_perf_lab.trace.rocpd_writer import Argument, Call, Dispatch, RocpdWriter

STREAMS = 3
GPU = 4
KERNELS = ("gemm(float*, float*, float*, int)", "softmax(float*, int)", "reduce(double*)", "fill")
# Per kernel of the PyTorch trace, as in a recorded inference step of a small BERT.
FRAMES, OPERATORS, CALLS, INSTANTS = 23, 9, 3, 4
LAYERS = ("nn.Module: Linear_{}", "nn.Module: LayerNorm_{}", "torch/nn/functional.py({}): linear")
FUNCTIONS = ("aten::linear", "aten::addmm", "aten::view", "aten::t", "aten::empty", "aten::add_")


def calls(count: int) -> Iterator[Call]:
    """Launches in turn on the streams; now and then an event orders one stream after another."""
    for i in range(count):
        stream = Argument("ihipStream_t*", "stream", hex(0x7F0000001000 + 0x100 * (i % STREAMS)))
        start = 1_000_000 + 4000 * i
        if i % 50 == 48:
            event = Argument("ihipEvent_t*", "event", hex(0x7F0000800000 + 0x40 * (i // 50 % 64)))
            yield Call("hipEventRecord", start, start + 900, 1, i + 1, args=(event, stream))
        elif i % 50 == 49:
            event = Argument("ihipEvent_t*", "event", hex(0x7F0000800000 + 0x40 * (i // 50 % 64)))
            flags = Argument("unsigned int", "flags", "0")
            yield Call(
                "hipStreamWaitEvent", start, start + 700, 1, i + 1, args=(stream, event, flags)
            )
        else:
            yield Call(
                "hipLaunchKernel",
                start,
                start + 2500,
                1,
                i + 1,
                args=(
                    Argument("void const*", "function_address", "0x55d0c0ffee00"),
                    Argument("dim3", "numBlocks", "{z=1, y=1, x=1024}"),
                    Argument("dim3", "dimBlocks", "{z=1, y=1, x=256}"),
                    Argument("unsigned long", "sharedMemBytes", "0"),
                    stream,
                ),
            )


def dispatches(count: int) -> Iterator[Dispatch]:
    for i in range(count):
        start = 1_004_000 + 2000 * i
        yield Dispatch(
            kernel=1 + (i * 7 % 11) % len(KERNELS),
            agent=GPU,
            start=start,
            end=start + 1500 + 37 * (i % 29),
            workgroup=(256, 1, 1),
            grid=(256 * (1 + i % 64), 1, 1),
            queue=1 + i // 2 % STREAMS,
            stream=1 + i // 2 % STREAMS,
            tid=1,
            correlation=1 + i // 2,
            lds=1024 * (i % 4),
        )


def generate(path: Path, count: int) -> None:
    with RocpdWriter(path, guid="0000bead-0000-7000-8000-000000000001") as db:
        db.process(pid=1, command="./generated", start=1, end=2_000_000 + 2000 * count)
        db.agent(
            GPU,
            "GPU",
            "gfx942",
            product="AMD Instinct MI300X",
            extdata={"id": {"handle": 5600}, "cu_count": 304, "num_xcc": 8, "wave_front_size": 64},
        )
        db.code_object(1, GPU)
        for number, name in enumerate(KERNELS, 1):
            db.kernel(number, name, arch_vgprs=64, sgprs=32)
        db.calls(calls(count // 2))
        db.dispatches(dispatches(count))


def generate_kineto(path: Path, megabytes: float) -> None:
    """As kineto lays it out: frames around operators around the calls that launch kernels."""
    with path.open("w") as file:
        file.write('{\n  "schemaVersion": 1,\n  "deviceProperties": [\n    {"id": 0, "name": ')
        file.write('"AMD Instinct MI300X", "numSms": 304, "warpSize": 64}\n  ],\n')
        file.write('  "hip_runtime_version": 60443483,\n  "traceEvents": [\n')
        step = 0
        while file.tell() < megabytes * 1e6:
            file.write(",\n".join(_around_a_kernel(step)) + ",\n")
            step += 1
        file.write('  {"ph": "M", "name": "process_name", "pid": 7, "tid": 0, "ts": 0}\n  ],\n')
        file.write('  "traceName": "generated.json"\n}\n')


def _around_a_kernel(step: int) -> Iterator[str]:
    """What the profiler writes of 120 microseconds in which the host launches one kernel."""
    base = 2_204_338_000_000_000 + 120_000 * step  # ns

    def event(
        category: str,
        name: str,
        begin: int,
        took: int,
        args: str,
        thread: int = 7,
        process: int = 7,
    ) -> str:
        begin += base
        return (
            f'  {{\n    "ph": "X", "cat": "{category}", "name": "{name}", "pid": {process}, '
            f'"tid": {thread},\n    "ts": {begin // 1000}.{begin % 1000:03}, '
            f'"dur": {took // 1000}.{took % 1000:03},\n    "args": {{\n      {args}\n    }}\n  }}'
        )

    for depth in range(FRAMES):
        number = FRAMES * step + depth
        layer = LAYERS[depth % len(LAYERS)].format(number % 397)
        args = f'"Python parent id": {number - 1}, "Python id": {number}, "Ev Idx": {number}'
        yield event("python_function", layer, 100 * depth, 118_000 - 200 * depth, args)
    for depth in range(OPERATORS):
        number = OPERATORS * step + depth + 1
        args = (
            f'"External id": {number},"Record function id": 0, "Concrete Inputs": ["", "0", "1"], '
            '"Input type": ["float", "Scalar", "Scalar"], "Input Strides": [[512, 1], [], []], '
            f'"Input Dims": [[1, 512], [], []], "Ev Idx": {number}'
        )
        name = FUNCTIONS[(step + depth) % len(FUNCTIONS)]
        yield event("cpu_op", name, 5_000 + 1_000 * depth, 100_000 - 3_000 * depth, args)
    for place in range(CALLS):
        number = CALLS * step + place + 1
        launches = place == CALLS - 1
        name = "hipLaunchKernel" if launches else "hipGetDevice"
        external = f'"External id": {OPERATORS * (step + 1)}, ' if launches else ""
        args = f'{external}"cid": {200 + place}, "correlation": {number}'
        begin = 20_000 + 9_000 * place
        yield event("cuda_runtime", name, begin, 4_000, args)
        at = base + begin
        yield (
            f'  {{\n    "ph": "{"s" if launches else "f"}", "id": {number}, "pid": 7, "tid": 7, '
            f'"ts": {at // 1000}.{at % 1000:03},\n    '
            '"cat": "ac2g", "name": "ac2g", "bp": "e"\n  }'
        )
    args = (
        f'"External id": {OPERATORS * (step + 1)}, "device": 2, "stream": {step % STREAMS}, '
        f'"correlation": {CALLS * (step + 1)}, "kind": "Dispatch Kernel", '
        f'"grid": [{1 + step % 64}, 1, 1], "block": [256, 1, 1]'
    )
    name = f"void {KERNELS[step % len(KERNELS)]}"
    yield event("kernel", name, 50_000, 30_000 + 37 * (step % 29), args, step % STREAMS, 2)
    for place in range(INSTANTS):
        at = base + 60_000 + 500 * place
        yield (
            '  {\n    "ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", '
            f'"pid": 7, "tid": 7, "ts": {at // 1000}.{at % 1000:03},\n    "args": {{\n      '
            f'"Total Reserved": 224395264, "Total Allocated": {57_950_720 + 512 * place}, '
            f'"Bytes": 512, "Device Id": 0, "Device Type": 6, "Ev Idx": {step}\n    }}\n  }}'
        )
