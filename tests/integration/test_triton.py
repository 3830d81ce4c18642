"""Triton programs on the virtual MI300X, without torch and without a C compiler."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.cli import rocm_perf
from support.triton_programs import EXAMPLES, PROGRAMS, need_triton, run_python


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need_triton()
    return tmp_path_factory.mktemp("triton-cache")


def test_the_language_kernel_by_kernel_against_numpy(cache: Path) -> None:
    done = run_python(cache, PROGRAMS / "language.py", CC="/nonexistent", PATH="/nonexistent")
    lines = done.stdout.splitlines()
    assert "ok gluon" in lines and "ok dots_of_every_type" in lines
    printed = [line for line in lines if "value" in line]
    assert len(printed) >= 64, "device_print prints every element"


def test_kernels_of_models_against_numpy(cache: Path) -> None:
    done = run_python(cache, PROGRAMS / "model_kernels.py")
    assert done.stdout.count("ok ") == 8


def run_torch(cache: Path, program: str, *options: str) -> subprocess.CompletedProcess[str]:
    if importlib.util.find_spec("torch") is None:
        pytest.skip("needs torch, the CPU build")
    words = ["run", "--device", "virtual", *options, sys.executable, "-W", "ignore"]
    return rocm_perf(*words, PROGRAMS / program, cwd=cache, env={"TRITON_CACHE_DIR": str(cache)})


def test_cuda_tensors_of_torchs_cpu_build(cache: Path) -> None:
    done = run_torch(cache, "with_torch.py")
    assert "torch and Triton agree" in done.stdout, done.stderr[-2000:]


def test_past_a_torch_tensors_end_is_told_and_a_fault_only_where_asked_for(cache: Path) -> None:
    done = run_torch(cache, "past_the_end.py")
    assert done.stdout == "went on\n", done.stderr[-2000:]
    assert "out of bounds in kernel fill, " in done.stderr
    assert "past_the_end.py:10, write of 16 bytes" in done.stderr
    strict = run_torch(cache, "past_the_end.py", "--bounds", "strict")
    assert "GPU fault in kernel fill" in strict.stderr and "went on" not in strict.stdout


def test_gluon_on_cdna3_against_numpy(cache: Path) -> None:
    done = run_python(cache, PROGRAMS / "gluon_cdna3.py")
    assert "equal to numpy" in done.stdout


@pytest.mark.parametrize("name", sorted(p.stem for p in EXAMPLES.glob("*.py")))
def test_examples_check_themselves_against_numpy(cache: Path, name: str) -> None:
    done = run_python(cache, EXAMPLES / f"{name}.py")
    assert "equal to numpy" in done.stdout


def test_tuning_decides_by_modelled_time_the_same_on_every_run(cache: Path) -> None:
    runs = [run_python(cache, PROGRAMS / "tuned.py") for _ in range(2)]
    assert runs[0].stdout == runs[1].stdout
    timings = [float(line.split()[-1]) for line in runs[0].stdout.splitlines()[1:]]
    assert len(set(timings)) > 1, "configurations differ in time"
    assert min(timings) > 0.0015, "no kernel is quicker than its launch"
    assert "launches 4" in runs[0].stdout.splitlines()[0], "one warm-up and one timed launch each"
    assert runs[0].stderr.count("times are modelled") == 1
    assert "launches no kernel" not in runs[0].stderr
    idle = run_python(cache, PROGRAMS / "tuned.py", "idle")
    assert idle.stderr.count("launches no kernel was timed") == 1


def test_an_unmodified_program_runs_under_rocm_perf(cache: Path) -> None:
    """Nothing of ours is imported: Triton finds the driver as an entry point."""
    words = ["run", "--device", "virtual", sys.executable, "-W", "ignore"]
    done = rocm_perf(
        *words, PROGRAMS / "unmodified.py", cwd=cache, env={"TRITON_CACHE_DIR": str(cache)}
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "HipDriver" in done.stdout and "gfx942" in done.stdout


def test_a_launch_is_captured_and_replayed(cache: Path, tmp_path: Path) -> None:
    words = ["capture", "--device", "virtual", "--kernel", "^softmax$", "--out", "softmax", "--"]
    program = [sys.executable, "-W", "ignore", str(EXAMPLES / "softmax.py")]
    env = {"TRITON_CACHE_DIR": str(cache)}
    done = rocm_perf(*words, *program, cwd=tmp_path, env=env)
    assert done.returncode == 0 and "warning" not in done.stderr, done.stderr[-2000:]
    replayed = rocm_perf("replay", "full-vm", "softmax", "--iterations", "2", cwd=tmp_path)
    # 256 rows of 781 floats
    assert "bit for bit as captured (799.7 kB compared)" in replayed.stdout, replayed.stderr


def test_a_missing_mask_is_a_fault_that_names_the_python_line(cache: Path) -> None:
    done = run_python(cache, PROGRAMS / "missing_mask.py", code=1)
    at = 1 + (PROGRAMS / "missing_mask.py").read_text().splitlines().index(
        "    tl.store(out + i, tl.load(x + i))  # no mask"
    )
    assert f"missing_mask.py:{at}" in done.stderr


def test_a_failed_device_assert_says_where(cache: Path) -> None:
    done = run_python(cache, PROGRAMS / "device_assert.py", code=1, TRITON_DEBUG="1")
    assert "every value is small" in done.stdout + done.stderr


def test_another_version_gets_one_sentence(cache: Path, tmp_path: Path) -> None:
    program = tmp_path / "other.py"
    program.write_text(
        "import triton\ntriton.__version__ = '4.0.0'\ntriton.runtime.driver.active\n"
    )
    folder = Path(__file__).parents[2] / "src" / "rocm_perf_lab" / "triton" / "on_path"
    from rocm_perf_lab.virtual.native import environment

    extra = environment("virtual:mi300x", {"PYTHONPATH": str(folder)})
    done = run_python(cache, program, code=1, **extra)
    assert "rocm-perf drives Triton 3.4 to 3.9, and this is 4.0.0" in done.stderr


def test_a_profile_shows_one_configuration_and_what_made_it(cache: Path, tmp_path: Path) -> None:
    """The warm-up tunes; the runs that are timed launch its choice alone."""
    done = rocm_perf(
        "profile", "--device", "virtual", "--no-counters", "--runs", "1", "--json",
        sys.executable, "--", EXAMPLES / "matmul.py",
        cwd=tmp_path, env={"TRITON_CACHE_DIR": str(cache), "PYTHONWARNINGS": "ignore"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    profile = json.loads(done.stdout)
    kernel = {**profile["kernels"][0], **profile["kernels"][0]["kernel"]}
    assert kernel["name"].startswith("matmul [BLOCK_M=") and "num_stages=" in kernel["name"]
    assert "matrix_instr_nonkdim=16" in kernel["name"] and kernel["dispatches"] == 1
    assert profile["resources"]["lds_bytes"] > 0, "Triton's LDS is dynamic"
    assert any("programs; AMD" in s for s in profile["bottleneck"]["next_steps"])
    assert (tmp_path / ".rocpd_profile" / "latest").resolve().name.endswith("-matmul")


def test_a_kernel_is_tuned_over_a_space_verified_and_resumed(cache: Path, tmp_path: Path) -> None:
    space = tmp_path / "space.json"
    rows = [{"SLICE": 32, "FORGET": 0}, {"SLICE": 128, "FORGET": 0}, {"SLICE": 32, "FORGET": 1}]
    space.write_text(json.dumps([*({**r, "num_stages": 2} for r in rows),
                                 {"SLICE": 512, "FORGET": 0, "num_stages": 2}]))  # fmt: skip
    words = ["autotune", "--triton", f"{PROGRAMS / 'tunable.py'}:product", "--space", str(space),
             "--cache", "kept.jsonl", "--device", "virtual", "--json"]  # fmt: skip
    environment = {"TRITON_CACHE_DIR": str(cache), "PYTHONWARNINGS": "ignore"}
    done = rocm_perf(*words, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    by_slice = {
        (e["configuration"]["SLICE"], e["configuration"]["FORGET"]): e for e in found["evaluations"]
    }
    assert by_slice[32, 1]["status"] == "wrong" and "float32" in by_slice[32, 1]["reason"]
    assert by_slice[512, 0]["status"] == "ruled_out" and "LDS" in by_slice[512, 0]["reason"]
    assert found["best"]["time_ms"] == min(by_slice[n, 0]["time_ms"] for n in (32, 128))
    assert found["best"]["triton_config"].startswith('triton.Config({"SLICE": ')
    assert found["time_source"] == "modelled" and found["ruled_out"] == 1
    again = rocm_perf(*words, cwd=tmp_path, env=environment)
    assert json.loads(again.stdout)["best"] == found["best"]
    repeated = json.loads(again.stdout)
    assert repeated["best_config"] == found["best_config"]
    assert all(e["cached"] for e in repeated["evaluations"] if e["order"]), (
        "nothing is measured twice"
    )


def tuned(
    cache: Path, folder: Path, rows: list[dict[str, int]], *words: str | Path
) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    (folder / "space.json").write_text(json.dumps(rows))
    program = PROGRAMS / "tunable.py"
    done = rocm_perf("autotune", "--triton", f"{program}:product", "--space", "space.json",
                     "--device", "virtual", "--json", *words, cwd=folder, timeout=600,
                     env={"TRITON_CACHE_DIR": str(cache), "PYTHONWARNINGS": "ignore"})  # fmt: skip
    return done, json.loads(done.stdout) if done.stdout else {}


def test_the_search_and_the_page_are_those_of_commands(cache: Path, tmp_path: Path) -> None:
    rows = [{"SLICE": 16 << n, "FORGET": 0} for n in range(3)]
    words = ("--strategy", "random", "--seed", "5", "--repeats", "2", "--budget", "2")
    done, found = tuned(cache, tmp_path, rows, *words, "--report", "page.html")
    assert done.returncode == 0, done.stderr[-2000:]
    assert (found["strategy"], found["seed"], found["evaluated_configs"]) == ("random", 5, 2)
    measured = [e for e in found["evaluations"] if e["order"]]
    assert all(len(e["samples_ms"]) >= 2 for e in measured), "repeats"
    assert found["best_config"]["samples"] >= 5, "the leaders are measured again"
    assert found["modelled_error"] is not None and found["phases"]["confirm"]["certain"]
    page = (tmp_path / "page.html").read_text()
    assert "Convergence" in page and "triton.Config(" in page
    _, again = tuned(cache, tmp_path, rows, *words)
    assert [e["configuration"] for e in again["evaluations"]] == [
        e["configuration"] for e in found["evaluations"]
    ]


def test_any_other_metric_is_the_whole_programs(cache: Path, tmp_path: Path) -> None:
    rows = [{"SLICE": 32, "FORGET": 0}, {"SLICE": 32, "FORGET": 1}]
    done, found = tuned(cache, tmp_path, rows, "--metric", "fabric_read_bytes")
    assert done.returncode == 0, done.stderr[-2000:]
    by_forget = {e["configuration"]["FORGET"]: e for e in found["evaluations"]}
    right = by_forget[0]
    assert found["unit"] == "B" and right["value"] >= 2 * 64 * 1024 * 2 / 2, right
    assert (right["samples_ms"], right["runtime_ms"], right["time_ms"]) == ([], None, None)
    assert right["samples"] and right["resources"]["vgprs"] > 0
    assert by_forget[1]["status"] == "wrong", "verified whatever is measured"
    done, found = tuned(cache, tmp_path, rows[:1], "--metric", "grep -c never", "--shell")
    assert found["best_config"]["value"] == 1.0, "it went on to its end"


def test_a_configuration_that_takes_too_long_costs_itself_only(cache: Path, tmp_path: Path) -> None:
    program = tmp_path / "slow.py"
    program.write_text(
        "import time\nimport triton\nimport triton.language as tl\n"
        "import rocm_perf_lab.triton as rpt\n"
        "@triton.jit\ndef twice(x, SLOW: tl.constexpr):\n"
        "    i = tl.arange(0, 64)\n    tl.store(x + i, 2 * tl.load(x + i))\n"
        "def grid(meta):\n    time.sleep(600 * meta['SLOW'])\n    return (1,)\n"
        "twice[grid](rpt.zeros((64,)), SLOW=0)\n"
    )
    (tmp_path / "space.json").write_text(json.dumps([{"SLOW": 0}, {"SLOW": 1}]))
    done = rocm_perf("autotune", "--triton", f"{program}:twice", "--space", "space.json",
                     "--device", "virtual", "--timeout", "20", "--json", cwd=tmp_path,
                     env={"TRITON_CACHE_DIR": str(cache), "PYTHONWARNINGS": "ignore"})  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    found = {e["configuration"]["SLOW"]: e for e in json.loads(done.stdout)["evaluations"]}
    assert found[0]["status"] == "ok"
    assert found[1]["status"] == "timeout" and "after 20 s" in found[1]["reason"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--shell"], "--shell runs templates: with --triton only a --metric command is one"),
        (["--build", "make"], "--triton runs the program itself: no --cmd-template, no --build"),
        (["--simulate", "x"], "--simulate replays a recording"),
    ],
)
def test_what_means_nothing_to_a_kernel_is_refused(
    words: list[str], said: str, cache: Path, tmp_path: Path
) -> None:
    done, _ = tuned(cache, tmp_path, [{"SLICE": 32, "FORGET": 0}], *words)
    assert done.returncode == 2
    assert said in done.stderr


def test_a_reference_of_the_user_s_own_and_a_budget(cache: Path, tmp_path: Path) -> None:
    space = tmp_path / "space.json"
    # The first one is wrong: only a reference can tell.
    rows = [{"SLICE": 32, "FORGET": 1}, {"SLICE": 32, "FORGET": 0}, {"SLICE": 64, "FORGET": 0}]
    space.write_text(json.dumps(rows))
    reference = tmp_path / "reference.py"
    reference.write_text(
        "def product(a, b, c, K, **rest):\n"
        "    assert a.shape == (64, K) and not c.any()\n"
        "    return {'c': a.astype('f4') @ b.astype('f4')}\n"
    )
    words = ["autotune", "--triton", f"{PROGRAMS / 'tunable.py'}:product", "--space", str(space),
             "--verify", f"{reference}:product", "--budget", "2", "--device", "virtual",
             "--json"]  # fmt: skip
    environment = {"TRITON_CACHE_DIR": str(cache), "PYTHONWARNINGS": "ignore"}
    done = rocm_perf(*words, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    told = {e["configuration"]["FORGET"]: e for e in found["evaluations"]}
    assert len(found["evaluations"]) == 2, "the budget"
    assert told[1]["status"] == "wrong" and told[1]["reason"].startswith("c is off by")
    assert told[0]["status"] == "ok"
