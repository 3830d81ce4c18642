"""Triton's kernels by configuration, and advice in Triton's words."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rocm_perf_lab.analyze.keys import KernelKey
from rocm_perf_lab.analyze.occupancy import of_kernel
from rocm_perf_lab.analyze.thread_trace import ThreadTraceFinding, summarize
from rocm_perf_lab.analyze.triton_advice import advice
from rocm_perf_lab.arch.load import gpu as architecture
from rocm_perf_lab.collect.run_folder import label_of
from rocm_perf_lab.trace.att_writer import Content
from rocm_perf_lab.trace.merge import merge
from rocm_perf_lab.trace.rocpd import read_rocpd
from rocm_perf_lab.trace.rocpd_writer import Dispatch, RocpdWriter
from rocm_perf_lab.trace.trace import KernelSymbol, Trace
from rocm_perf_lab.trace.triton_log import named, parameters_of, plain_name
from support.att import code, wave, written


def line(kernel: str, block: int, **options: int) -> str:
    given = {"num_warps": 4, "num_stages": 2, "kpack": 1, "waves_per_eu": 0, **options}
    return json.dumps({"kernel": kernel, "constants": {"BLOCK": block}, "options": given})


def symbol(name: str, **changed: Any) -> KernelSymbol:
    return replace(KernelSymbol(0, name, name, 1, 32, 64, 0, 64, 0, 0), **changed)


def test_a_name_and_its_parameters_come_apart_again() -> None:
    shown = "matmul [BLOCK_M=64, ACTIVATION=leaky, num_warps=4]"
    assert plain_name(shown) == "matmul"
    assert parameters_of(shown) == {"BLOCK_M": "64", "ACTIVATION": "leaky", "num_warps": "4"}
    for other in ("void f<int>(int*) [clone .kd]", "matmul", "a[b=1]", "operator[](int)"):
        assert plain_name(other) == other and parameters_of(other) == {}


def two_configurations(path: Path) -> Trace:
    with RocpdWriter(path) as db:
        db.process(pid=77, command="python tune.py", start=1, end=10_000)
        gpu = db.agent(4, "GPU", "gfx942", product="AMD Instinct MI300X")
        for number in (1, 2):
            db.code_object(number, gpu)
            db.kernel(10 + number, "matmul", code_object=number)
        db.dispatches(
            Dispatch(kernel=10 + n, agent=gpu, start=100 * n, end=100 * n + 50) for n in (1, 2)
        )
    return merge(read_rocpd(path))


def test_configurations_are_told_apart_by_code_object(tmp_path: Path) -> None:
    trace = two_configurations(tmp_path / "x_results.db")
    log = tmp_path / "triton"
    log.mkdir()
    assert named(trace, log) is trace
    (log / "77.jsonl").write_text(line("matmul", 64) + "\nnot json\n" + line("matmul", 128) + "\n")
    shown = [k.name for k in named(trace, log).kernels]
    assert shown == [
        "matmul [BLOCK=64, num_warps=4, num_stages=2]",
        "matmul [BLOCK=128, num_warps=4, num_stages=2]",
    ]
    (log / "77.jsonl").write_text(line("matmul", 64) + "\n")
    assert {k.name for k in named(trace, log).kernels} == {"matmul"}, "one line for two: unknown"


def test_runs_are_called_after_the_script_not_after_python() -> None:
    assert label_of("./vcopy", ["x"]) == "vcopy"
    assert label_of("/usr/bin/python3.11", ["-W", "ignore", "dir/tune.py", "a.py"]) == "tune"
    assert label_of("python", ["-m", "pkg.tool"]) == "pkg.tool"
    assert label_of("python", ["-c", "pass"]) == "python" == label_of("python")


def test_advice_names_the_options_that_made_the_kernel() -> None:
    gpu = architecture("gfx942")
    key = KernelKey("k", (256 * 20, 1, 1), (256, 1, 1), 40_000)
    spilling = symbol("k [BLOCK_M=128, num_warps=4, num_stages=3]", scratch_bytes=96)
    said = advice(spilling, key, of_kernel(gpu, spilling, key.workgroup, key.lds_bytes))
    assert "spills: 96 bytes" in said[0] and "BLOCK_M" in said[0] and "num_warps=4" in said[0]
    assert "num_stages=3" in said[1] and "40,000 bytes" in said[1]
    assert "20 programs" in said[2]
    over = symbol("k [BLOCK=64, num_warps=4, num_stages=1]", arch_vgprs=132, total_vgprs=136)
    wide = replace(key, lds_bytes=0, grid=(256 * 4096, 1, 1))
    said = advice(over, wide, of_kernel(gpu, over, wide.workgroup, 0))
    assert len(said) == 1 and "136 registers" in said[0] and "waves_per_eu=4" in said[0]
    assert advice(symbol("k"), key, of_kernel(gpu, symbol("k"), key.workgroup, 0)) == ()


def looping(isa: str, rounds: int, folder: Path, stall: int = 50) -> ThreadTraceFinding:
    """Two waves that come by one instruction so many times."""
    rows = [[n * 100, 5, stall, stall + 4, 1] for n in range(rounds)]
    waves = [wave(rows, end=rounds * 100, simd=simd) for simd in range(2)]
    return summarize(written(Content(code=code(isa), waves=waves), folder))


@pytest.mark.parametrize(
    ("isa", "rounds", "said"),
    [
        ("ds_read_b64 v[0:1], v2", 9, "ds_read_b64 (k.cpp:0), 8 bytes a lane"),
        ("ds_read_u16_d16_hi v0, v2", 9, "2 bytes a lane"),
        ("ds_read2_b32 v[0:1], v2 offset1:1", 9, "8 bytes a lane"),
        ("global_load_dwordx2 v[0:1], v[2:3], off", 9, "loads less than 16 bytes a lane"),
        ("ds_read_b64 v[0:1], v2", 1, None),
        ("ds_read_b128 v[0:3], v4", 9, None),
        ("ds_read2_b64 v[0:3], v4 offset1:1", 9, None),
        ("global_load_dwordx4 v[0:3], v[4:5], off", 9, None),
        ("ds_write_b32 v0, v1", 9, None),
    ],
)
def test_advice_finds_small_reads_in_loops(
    isa: str, rounds: int, said: str | None, tmp_path: Path
) -> None:
    kernel = symbol("k [BLOCK_M=128, num_warps=4, num_stages=1]")
    key = KernelKey("k", (256 * 4096, 1, 1), (256, 1, 1), 0)
    found = advice(
        kernel,
        key,
        of_kernel(architecture("gfx942"), kernel, key.workgroup, 0),
        looping(isa, rounds, tmp_path),
    )
    assert found == () if said is None else said in " ".join(found), found


def test_advice_asks_for_kpack_only_where_it_is_not_set(tmp_path: Path) -> None:
    key = KernelKey("k", (256 * 4096, 1, 1), (256, 1, 1), 0)
    att = looping("ds_read_b64 v[0:1], v2", 9, tmp_path)
    for options, asked in (("num_warps=4", True), ("num_warps=4, kpack=2", False)):
        kernel = symbol(f"k [{options}]")
        fits = of_kernel(architecture("gfx942"), kernel, key.workgroup, 0)
        assert ("kpack=2" in advice(kernel, key, fits, att)[0]) == asked
