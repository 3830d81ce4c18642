"""rocpd databases for tests of whole commands: kernels and the times of their launches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rocm_perf_lab.trace.rocpd_writer import Argument, Call, Dispatch, RocpdWriter
from support.fake_rocprofv3 import MI300X


def write_database(
    path: Path,
    kernels: Mapping[str, Sequence[int]],
    *,
    vgprs: int = 32,
    streams: int = 1,
    start: int = 1_000_000,
    pid: int = 100,
) -> Path:
    """`kernels`: name -> duration in ns of each launch. Launches go round the kernels in turn."""
    with RocpdWriter(path) as db:
        db.process(pid=pid, command="./app", hostname="host")
        db.agent(4, "GPU", "gfx942", product="AMD Instinct MI300X", extdata=MI300X)
        db.code_object(1, 4)
        numbers = {name: i for i, name in enumerate(kernels, 1)}
        for name, number in numbers.items():
            db.kernel(number, name, arch_vgprs=vgprs, accum_vgprs=0)
        turns = max(map(len, kernels.values()))
        order = [(name, t[i]) for i in range(turns) for name, t in kernels.items() if i < len(t)]
        calls, dispatches, clock = [], [], start
        free_at = [0] * streams
        for i, (name, duration) in enumerate(order, 1):
            lane = i % streams
            stream = Argument("hipStream_t", "stream", hex(0x10 * lane))
            calls.append(Call("hipLaunchKernel", clock, clock + 1000, correlation=i, args=[stream]))
            begin = max(clock + 2000, free_at[lane])
            free_at[lane] = begin + duration
            dispatches.append(
                Dispatch(
                    numbers[name],
                    4,
                    begin,
                    free_at[lane],
                    stream=lane,
                    workgroup=(256, 1, 1),
                    grid=(65536, 1, 1),
                    correlation=i,
                )
            )
            clock += 1500
        calls.append(
            Call("hipDeviceSynchronize", clock, max(free_at) + 1000, correlation=len(calls) + 1)
        )
        db.calls(calls)
        db.dispatches(dispatches)
    return path
