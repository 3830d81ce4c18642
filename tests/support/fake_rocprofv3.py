"""A rocprofv3 for tests: takes AMD's flags, runs the program, writes databases like AMD's.

The program says what "ran on the GPU" by what it prints: a line `kernel NAME MICROSECONDS` per
launch. Counter values are those of an 8 MiB double copy on MI300X, for every kernel.
Set FAKE_VERSION / FAKE_FAIL_PMC / FAKE_EMPTY_ATT to misbehave.
"""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np

from rocm_perf_lab.trace import att_writer
from rocm_perf_lab.trace.att_writer import CodeLine, Content, Wave
from rocm_perf_lab.trace.rocpd_writer import Argument, Call, Dispatch, RocpdWriter, Value

XCCS = 8

# Totals for one launch, spread evenly over XCCs.
COUNTERS = {
    "GRBM_GUI_ACTIVE": 8 * 21_000,
    "SQ_WAVES": 16384,
    "SQ_WAVE_CYCLES": 8_000_000,
    "SQ_BUSY_CU_CYCLES": 1_500_000,
    "SQ_WAIT_ANY": 7_000_000,
    "SQ_WAIT_INST_ANY": 100_000,
    "SQ_ACTIVE_INST_VALU": 98304,
    "SQ_THREAD_CYCLES_VALU": 98304 * 64,
    "SQ_INSTS_VMEM_RD": 16384,
    "TCC_BUBBLE_sum": 65536,
    "TCC_EA0_RDREQ_sum": 65536,
    "TCC_EA0_WRREQ_sum": 131072,
    "TCC_EA0_WRREQ_64B_sum": 131072,
    "TCC_HIT_sum": 65536,
    "TCC_MISS_sum": 131072,
    "TCP_TOTAL_CACHE_ACCESSES_sum": 524288,
    "TCP_TCC_READ_REQ_sum": 65536,
    "TCP_TCC_WRITE_REQ_sum": 131072,
}

MI300X = {
    "id": {"handle": 5600},
    "cu_count": 304,
    "simd_count": 1216,
    "simd_per_cu": 4,
    "max_waves_per_simd": 8,
    "max_waves_per_cu": 32,
    "lds_size_in_kb": 64,
    "wave_front_size": 64,
    "num_xcc": XCCS,
    "max_engine_clk_fcompute": 2100,
    "gfx_target_version": 90402,
    "mem_banks": [{"width": 8192, "mem_clk_max": 1300, "size_in_bytes": 206141652992}],
}


def install(folder: Path) -> Path:
    """An executable `rocprofv3` in `folder` that runs this file."""
    script = folder / "rocprofv3"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{__file__}" "$@"\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return script


def program(folder: Path, *lines: str, name: str = "app") -> Path:
    """A shell program of the given lines."""
    path = folder / name
    path.write_text("#!/bin/sh\n" + "\n".join(lines) + "\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def main(argv: list[str]) -> int:
    version = os.environ.get("FAKE_VERSION", "1.1.0")
    if argv == ["--version"]:
        print(f"version: {version}\nrocm_version: 7.1.0")
        return 0
    if argv == ["--help"]:
        print("usage: rocprofv3 --pmc --att -f {csv,json,rocpd}")
        return 0
    split = argv.index("--")
    flags, command = argv[:split], argv[split + 1 :]
    counters = _after(flags, "--pmc")
    if counters and os.environ.get("FAKE_FAIL_PMC"):
        print("rocprofv3: counters cannot be collected", file=sys.stderr)
        return 134
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    sys.stdout.write(done.stdout)
    launches = re.findall(r"^kernel (\S+) (\d+)$", done.stdout, re.MULTILINE)
    if launches:
        out = Path(_after(flags, "-d")[0]) / "host"
        out.mkdir(parents=True, exist_ok=True)
        if "--att" in flags:
            _write_att(out.parent)
        else:
            _write(out / f"{os.getpid()}_results.db", launches, counters, command)
    return done.returncode


def _after(flags: list[str], name: str) -> list[str]:
    values: list[str] = []
    taking = False
    for flag in flags:
        if flag.startswith("-"):
            taking = flag == name
        elif taking:
            values.append(flag)
    return values


def _write(
    path: Path, launches: list[tuple[str, str]], counters: list[str], command: list[str]
) -> None:
    with RocpdWriter(path) as db:
        db.process(pid=os.getpid(), command=" ".join(command), hostname="host")
        db.agent(4, "GPU", "gfx942", product="AMD Instinct MI300X", extdata=MI300X)
        db.code_object(1, 4)
        numbers = {name: i for i, name in enumerate(dict.fromkeys(n for n, _ in launches), 1)}
        for name, number in numbers.items():
            db.kernel(number, name, arch_vgprs=4, accum_vgprs=4)
        dispatches, calls = [], []
        clock, free_at = 1_000_000, 0
        for i, (name, microseconds) in enumerate(launches, 1):
            stream = Argument("hipStream_t", "stream", "0x0")
            calls.append(Call("hipLaunchKernel", clock, clock + 2000, correlation=i, args=[stream]))
            start = max(clock + 5000, free_at)
            free_at = start + int(microseconds) * 1000
            values = [
                Value(counter, COUNTERS.get(counter, 0) / XCCS, xcc=xcc)
                for counter in counters
                for xcc in range(XCCS)
            ]
            dispatches.append(
                Dispatch(
                    numbers[name],
                    4,
                    start,
                    free_at,
                    workgroup=(256, 1, 1),
                    grid=(1048576, 1, 1),
                    correlation=i,
                    values=values,
                )
            )
            clock += 3000
        calls.append(
            Call("hipDeviceSynchronize", clock, free_at + 5000, correlation=len(calls) + 1)
        )
        db.calls(calls)
        db.dispatches(dispatches)


def _write_att(out: Path) -> None:
    lines = [
        CodeLine("; _Z4copy", "copy"),
        CodeLine("global_load_dwordx2 v[0:1], v[2:3], off", "copy.hip:7", vaddr=0x100),
        CodeLine("s_waitcnt vmcnt(0)", "copy.hip:7", vaddr=0x108),
        CodeLine("s_endpgm", "copy.hip:8", vaddr=0x10C),
    ]
    instructions = np.array([[0, 3, 0, 4, 1], [4, 9, 900, 904, 2], [908, 11, 0, 4, 3]])
    timeline = np.array([[2, 4], [3, 904], [2, 4]])
    waves = [Wave(0, 0, 0, 1, 0, 912, instructions, timeline, waits=[(2, [1])])]
    if os.environ.get("FAKE_EMPTY_ATT"):
        lines, waves = [], []
    att_writer.write(Content(lines, waves), out, agent_handle=5600, dispatch_id=1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
