"""`rocm-perf autotune` through the real command line: programs, a cache, Ctrl-C, a Dask cluster."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from rocm_perf_lab.autotune import template
from rocm_perf_lab.autotune.evaluation import Measurement
from rocm_perf_lab.autotune.executors import DaskCluster
from rocm_perf_lab.autotune.measure import Recipe, Task, measure
from rocm_perf_lab.autotune.metric import WALL, parse_metric
from support.cli import complaint, rocm_perf
from support.hip_build import REPOSITORY, hipcc, need_virtual_gpu
from support.recorded_data import recorded

LIMIT_S = 600  # of what ends by an event: it bounds a hang, a loaded machine stays far below

# A "kernel": logs that it ran, is slow by a formula, fails, hangs or lies for some parameters.
KERNEL = """#!/bin/sh
echo "$1 $2 $3" >> "$LOG_DIR/ran.txt"
if [ "$1" = 64 ] && [ "$2" = 64 ]; then echo "hipErrorOutOfMemory" >&2; exit 1; fi
if [ "$1" = 16 ] && [ "$2" = 16 ]; then sleep 100; fi
if [ "$3" = wrong ]; then echo "result 41"; else echo "result 42"; fi
d=$(( ($1 - 32) * ($1 - 32) + ($2 - 48) * ($2 - 48) ))
echo "time $(( 100 + d )).25 ms"
"""
SPACE = {
    "parameters": {"BM": [16, 32, 48, 64], "BN": [16, 32, 48, 64], "mode": ["right", "wrong"]},
    "constraints": ["BM * BN <= 4096"],
}


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    # Locks of GPUs live in the temporary folder: another run of these tests must not hold ours.
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    (tmp_path / "kernel.sh").write_text(KERNEL)
    (tmp_path / "kernel.sh").chmod(0o755)
    (tmp_path / "space.json").write_text(json.dumps(SPACE))
    return tmp_path


def command(*more: str) -> list[str]:
    return [
        "autotune", "--space", "space.json", "--cmd-template", "./kernel.sh {BM} {BN} {mode}",
        "--metric", "tail -n 1", "--verify", "grep -q 'result 42'", "--timeout", "4",
        "--budget", "100%", *more,
    ]  # fmt: skip


def ran(folder: Path) -> Counter[str]:
    path = folder / "ran.txt"
    return Counter(path.read_text().splitlines()) if path.exists() else Counter()


def test_bad_configurations_are_recorded_and_the_best_is_found(kernel: Path) -> None:
    report = kernel / "report.html"
    done = rocm_perf(
        *command("--json", "--report", str(report)), cwd=kernel, env={"LOG_DIR": str(kernel)}
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["search_space_size"] == result["evaluated_configs"] == 32
    assert result["best_config"]["parameters"] == {"BM": 32, "BN": 48, "mode": "right"}
    assert result["best_config"]["runtime_ms"] == 100.25
    assert result["best_config"]["samples"] >= 5  # measured again until it was certain
    assert result["statuses"] == {"ok": 14, "out_of_resources": 2, "timeout": 2, "wrong": 14}
    assert all(e["reason"] for e in result["evaluations"] if e["status"] != "ok")
    # Re-measurement aside, nothing ran twice.
    once = [line for line, count in ran(kernel).items() if count > 1]
    assert once == ["32 48 right"]
    assert {"r2", "residual_std", "rank_correlation"} <= set(result["model"])
    times = [point["runtime_ms"] for point in result["convergence"]]
    assert times == sorted(times, reverse=True)
    page = report.read_text()
    assert "<svg" in page and "BM" in page


def test_killed_and_run_again_it_resumes(kernel: Path) -> None:
    env = {**os.environ, "LOG_DIR": str(kernel)}
    first = subprocess.Popen(
        [sys.executable, "-m", "rocm_perf_lab", *command("--cache", "c.jsonl")],
        cwd=kernel, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    _until(lambda: (kernel / "c.jsonl").exists() and len(_lines(kernel)) >= 5)
    first.send_signal(signal.SIGKILL)
    first.wait()
    before = _lines(kernel)
    done = rocm_perf(*command("--cache", "c.jsonl", "--json"), cwd=kernel, env=env)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["evaluated_configs"] == 32
    assert sum(e["cached"] for e in result["evaluations"]) == len(before)
    counts = ran(kernel)
    assert all(counts[line] == 1 for line in before if line != "32 48 right")
    # Once more: everything is known, only the program's own change makes it measure again.
    again = rocm_perf(*command("--cache", "c.jsonl", "--json"), cwd=kernel, env=env)
    assert sum(e["cached"] for e in json.loads(again.stdout)["evaluations"]) == 32


def _lines(folder: Path) -> list[str]:
    found = []
    for line in (folder / "c.jsonl").read_text().splitlines():
        with contextlib.suppress(ValueError):
            p = json.loads(line)["parameters"]
            found.append(f"{p['BM']} {p['BN']} {p['mode']}")
    return found


def test_ctrl_c_gives_the_best_so_far_and_ends_what_runs(kernel: Path) -> None:
    (kernel / "kernel.sh").write_text('#!/bin/sh\necho "$$" >> "$LOG_DIR/ran.txt"\n'
                                      "[ $(wc -l < $LOG_DIR/ran.txt) -gt 3 ] && sleep 100\n"
                                      "echo result 42; echo 5.5\n")  # fmt: skip
    running = subprocess.Popen(
        [sys.executable, "-m", "rocm_perf_lab", *command("--json", "--timeout", "90")],
        cwd=kernel, env={**os.environ, "LOG_DIR": str(kernel)}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    _until(lambda: sum(ran(kernel).values()) == 4)
    time.sleep(0.3)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=LIMIT_S)
    assert running.returncode == 130, err
    result = json.loads(out)
    assert result["interrupted"] and result["best_config"]["runtime_ms"] == 5.5
    assert result["evaluated_configs"] == 3
    last = int((kernel / "ran.txt").read_text().splitlines()[-1])
    _until(lambda: not Path(f"/proc/{last}").exists())


def test_workers_share_the_gpus_and_no_gpu_is_used_twice_at_once(kernel: Path) -> None:
    (kernel / "kernel.sh").write_text(
        "#!/bin/sh\nd=$LOG_DIR/gpu-$ROCR_VISIBLE_DEVICES\n"
        'mkdir "$d" || { echo busy; exit 9; }\nsleep 0.1\nrmdir "$d"\n'
        'echo "$1 $2 $3 $ROCR_VISIBLE_DEVICES" >> "$LOG_DIR/ran.txt"\necho result 42\necho $1.5\n'
    )
    done = rocm_perf(*command("--workers", "3", "--json"), cwd=kernel, env={"LOG_DIR": str(kernel)})
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["statuses"] == {"ok": 32}
    assert {line.split()[-1] for line in ran(kernel)} == {"0", "1", "2"}


def test_a_time_budget_ends_the_run(kernel: Path) -> None:
    (kernel / "kernel.sh").write_text("#!/bin/sh\nsleep 0.2\necho result 42\necho $1.5\n")
    done = rocm_perf(*command("--budget", "2s", "--json"), cwd=kernel)
    assert done.returncode == 0, done.stderr
    assert 1 <= json.loads(done.stdout)["evaluated_configs"] < 32


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([], 2),
        (["--space", "space.json"], 2),
        (["--space", "none.json", "--cmd-template", "./kernel.sh {BM}"], 3),
        (["--space", "space.json", "--cmd-template", "./kernel.sh {NOPE}"], 2),
        (["--space", "space.json", "--cmd-template", "./kernel.sh"], 2),
        (["--space", "space.json", "--cmd-template", "x {BM}", "--strategy", "magic"], 2),
        (["--space", "space.json", "--cmd-template", "x {BM}", "--budget", "lots"], 2),
        (["--space", "space.json", "--cmd-template", "./kernl.sh {BM}"], 2),
        (["--space", "space.json", "--cmd-template", "./kernel.sh {BM}", "--metric", "wal"], 2),
        (["--space", "space.json", "--cmd-template", "./kernel.sh {BM}", "--device", "mi300"], 2),
        (["--space", "space.json", "--cmd-template", "x {BM}", "--prune-factor", "0.5"], 2),
        (["--simulate", "space.json"], 3),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(
    kernel: Path, arguments: list[str], code: int
) -> None:
    assert complaint(rocm_perf("autotune", *arguments, cwd=kernel), code)


def test_a_space_without_a_working_configuration_is_a_failed_gate(kernel: Path) -> None:
    done = rocm_perf(
        "autotune", "--space", "space.json", "--cmd-template", "/bin/false {BM}",
        "--metric", "wall", "--budget", "4", "--json", cwd=kernel,
    )  # fmt: skip
    assert done.returncode == 1
    assert json.loads(done.stdout)["best_config"] is None
    assert "none of 4 configurations worked" in done.stderr


def test_without_a_profiler_the_run_ends_at_once_and_says_what_to_use(kernel: Path) -> None:
    path = "/usr/bin:/bin"
    if Path("/opt/rocm").exists() or shutil.which("rocprofv3", path=path):
        pytest.skip("this machine has a profiler")
    done = rocm_perf(
        "autotune", "--space", "space.json", "--cmd-template", "./kernel.sh {BM} {BN} right",
        "--device", "rocm", cwd=kernel, env={"PATH": path, "LOG_DIR": str(kernel)},
    )  # fmt: skip
    assert "--metric wall" in complaint(done, 4)


def test_a_replay_gives_the_same_bytes_every_time(tmp_path: Path) -> None:
    rows: dict[str, dict[str, float | str]] = {
        f"{a},{b}": {"a": a, "b": b, "time": float((a - 3) ** 2 + (b - 5) ** 2 + 1)}
        for a in range(8)
        for b in range(8)
    }
    rows["0,0"]["time"] = "RuntimeFailedConfig"
    data = {"tune_params_keys": ["a", "b"], "cache": rows}
    (tmp_path / "cache.json").write_text(json.dumps(data)[:-2])  # left open
    runs = [
        rocm_perf("autotune", "--simulate", "cache.json", "--budget", "50%", "--json", cwd=tmp_path)
        for _ in range(2)
    ]
    assert runs[0].returncode == 0, runs[0].stderr
    assert runs[0].stdout == runs[1].stdout
    result = json.loads(runs[0].stdout)
    assert result["simulated"] and result["optimum_fraction"] == 1.0


# -- a cluster ----------------------------------------------------------------------------------


@pytest.fixture
def cluster(kernel: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    pytest.importorskip("distributed")
    file = kernel / "scheduler.json"
    environment = {**os.environ, "LOG_DIR": str(kernel)}
    dask = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    processes = [
        subprocess.Popen(
            [*dask, "--scheduler-file", str(file), "--port", "0", "--no-dashboard"],
            cwd=kernel, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
    ]  # fmt: skip
    try:
        _until(lambda: (file.exists() and file.stat().st_size > 10) or _ended(processes))
        for gpu in range(3):
            processes.append(
                subprocess.Popen(
                    [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file",
                     str(file), "--nthreads", "1", "--no-nanny", "--no-dashboard",
                     "--local-directory", str(kernel / "dask")],
                    cwd=kernel, env={**environment, "ROCR_VISIBLE_DEVICES": str(gpu)},
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                )
            )  # fmt: skip
        yield json.loads(file.read_text())["address"], processes[1:]
    finally:
        for process in processes:
            process.kill()
            process.wait()


def test_a_cluster_loses_a_worker_and_nothing_else(
    kernel: Path, cluster: tuple[str, list[subprocess.Popen[bytes]]]
) -> None:
    address, workers = cluster
    (kernel / "kernel.sh").write_text(
        "#!/bin/sh\nd=$LOG_DIR/gpu-$ROCR_VISIBLE_DEVICES\n"
        'mkdir "$d" || { echo busy; exit 9; }\nsleep 0.3\nrmdir "$d"\n'
        'echo "$1 $2 $3 $ROCR_VISIBLE_DEVICES" >> "$LOG_DIR/ran.txt"\necho result 42\necho $1.5\n'
    )
    running = subprocess.Popen(
        [sys.executable, "-m", "rocm_perf_lab", *command("--scheduler", address, "--json")],
        cwd=kernel, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    _until(lambda: sum(ran(kernel).values()) >= 6 or _ended([running, *workers]))
    assert not _ended([running, *workers]), running.communicate()
    workers[0].kill()
    out, err = running.communicate(timeout=LIMIT_S)
    assert running.returncode == 0, err
    result = json.loads(out)
    assert result["evaluated_configs"] == 32
    assert result["statuses"] == {"ok": 32}
    assert len({json.dumps(e["parameters"]) for e in result["evaluations"]}) == 32
    assert len({line.split()[-1] for line in ran(kernel)}) == 3


def test_a_result_that_went_with_its_worker_is_measured_again(
    kernel: Path, cluster: tuple[str, list[subprocess.Popen[bytes]]]
) -> None:
    address, workers = cluster
    (kernel / "kernel.sh").write_text(
        '#!/bin/sh\necho "$ROCR_VISIBLE_DEVICES" >> "$LOG_DIR/ran.txt"\n'
    )
    program = template.parse(str(kernel / "kernel.sh"), "", frozenset())
    executor = DaskCluster(Recipe(program, WALL), address)
    try:
        executor.submit(7, Task({}))
        (future,) = executor._futures.values()
        _until(lambda: future.status == "finished" or _ended(workers))
        workers[int(*ran(kernel))].kill()
        _until(lambda: future.status == "lost" or sum(ran(kernel).values()) > 1)
        ((row, measurement),) = executor.wait(LIMIT_S)
    finally:
        executor.close()
    assert (row, measurement.status) == (7, "ok")
    assert len(ran(kernel)) == 2


def _ended(processes: Sequence[subprocess.Popen[Any]]) -> bool:
    return any(process.poll() is not None for process in processes)


def _until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.slow
def test_the_tiled_gemm_is_tuned_on_the_virtual_mi300x(tmp_path: Path) -> None:
    listed = rocm_perf("device", "list", "--json", cwd=tmp_path)
    devices = {d["name"]: d for d in json.loads(listed.stdout)["devices"]}
    if not devices["virtual:mi300x"]["usable"]:
        pytest.skip(f"no virtual GPU: {devices['virtual:mi300x']['reason']}")
    source = Path(__file__).parents[2] / "examples" / "gemm.cpp"
    compiler = f"{sys.executable} -m rocm_perf_lab hipcc"
    if rocm_perf("hipcc", source, "-O3", "-o", "gemm", cwd=tmp_path, timeout=300).returncode == 4:
        pytest.skip("no compiler for AMD GPUs")
    space = {"parameters": {"EACH": [1, 2, 4, 8], "DEPTH": [8, 16, 32]}}
    (tmp_path / "space.json").write_text(json.dumps(space))
    done = rocm_perf(
        "autotune", "--space", "space.json", "--build",
        f"{compiler} -O3 -DTILE_EACH={{EACH}} -DTILE_DEPTH={{DEPTH}} {source} -o {{workdir}}/gemm",
        "--cmd-template", "{workdir}/gemm -n 128 -k tiled", "--verify", "grep -q PASS",
        "--device", "virtual:mi300x", "--budget", "8", "--json",
        cwd=tmp_path, timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["statuses"] == {"ok": 8}
    assert result["provenance"]["device"]["kind"] == "virtual"
    times = [e["runtime_ms"] for e in result["evaluations"]]
    assert result["best_config"]["runtime_ms"] == min(times) < max(times)
    for line in result["evaluations"]:
        tile, depth = 16 * line["parameters"]["EACH"], line["parameters"]["DEPTH"]
        assert line["static_features"]["lds_bytes"] >= depth * (2 * tile + 4) * 4
        assert line["runtime_features"]["vgpr_per_thread"] > 0


@pytest.fixture(scope="module")
def saxpy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need_virtual_gpu()
    program = tmp_path_factory.mktemp("saxpy") / "saxpy"
    hipcc("-O3", REPOSITORY / "examples" / "saxpy.cpp", "-o", program)
    return program


def on_the_virtual_gpu(command: str, metric: str, timeout_s: float = LIMIT_S) -> Measurement:
    names = frozenset({"A"})
    parsed = template.parse(command, "--cmd-template", names)
    own = parse_metric(metric, names, shell=False)
    return measure(Task({"A": 1}), Recipe(parsed, own, timeout_s=timeout_s, device="virtual"))


@pytest.mark.parametrize(
    ("metric", "expected"),
    # x and y are read once, beside code and arguments; a lane takes one element.
    [("fabric_read_bytes", 2 * 4 * 65536), ("SQ_WAVES", 65536 / 64)],
)
def test_any_number_of_a_profile_can_be_made_small(
    saxpy: Path, metric: str, expected: float
) -> None:
    found = on_the_virtual_gpu(f"{saxpy} -n 65536", metric)
    assert found.reason is None
    assert found.samples == pytest.approx((expected,), rel=0.03)


def test_a_program_that_outlives_its_limit_is_a_timeout(saxpy: Path, tmp_path: Path) -> None:
    slow = tmp_path / "slow.sh"
    slow.write_text(f"#!/bin/sh\n{saxpy} -n 4096\nsleep 60\n")
    slow.chmod(0o755)
    found = on_the_virtual_gpu(f"{slow} {{A}}", "runtime", timeout_s=1.5)
    assert (found.status, found.samples) == ("timeout", ())


@pytest.mark.slow
def test_brute_forced_spaces_are_solved_with_a_twentieth_of_them(tmp_path: Path) -> None:
    spaces = sorted(recorded("tuning").glob("*.json*"))
    assert spaces
    for path in spaces:
        found = []
        for seed in range(3):
            done = rocm_perf(
                "autotune", "--simulate", path.resolve(), "--budget", "5%", "--json",
                "--seed", str(seed), cwd=tmp_path, timeout=600,
            )  # fmt: skip
            found.append(json.loads(done.stdout)["optimum_fraction"])
        assert sum(found) / len(found) >= 0.97, (path.name, found)
