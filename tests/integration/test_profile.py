"""`rocm-perf profile` through the real command line, with a rocprofv3 of the tests' own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

import pytest

from support import fake_rocprofv3
from support.cli import complaint, rocm_perf

QUICK = ("--runs", "1", "--no-counters")

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def profile(tmp_path: Path) -> Run:
    tools = tmp_path / "tools"
    tools.mkdir()
    fake_rocprofv3.install(tools)
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"

    def run(
        *arguments: str | Path, stdin: IO[bytes] | int = subprocess.DEVNULL, **env: str
    ) -> subprocess.CompletedProcess[str]:
        given = ("profile", "--device", "rocm", *arguments)
        return rocm_perf(*given, cwd=tmp_path, env={"PATH": path, **env}, stdin=stdin)

    return run


def runs(tmp_path: Path) -> list[str]:
    root = tmp_path / ".rocpd_profile"
    return sorted(p.name for p in root.iterdir()) if root.exists() else []


def test_a_program_is_profiled_and_its_files_kept(profile: Run, tmp_path: Path) -> None:
    app = fake_rocprofv3.program(tmp_path, "echo kernel vecCopy 4", "echo kernel vecCopy 4")
    done = profile(app, "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["kernel"]["name"] == "vecCopy"
    assert document["runtime_ms"] == pytest.approx(0.008)
    assert document["stability"]["runs"] == 3
    assert document["provenance"]["device"]["kind"] == "hardware"
    assert document["roofline"]["achieved_bandwidth_gbps"] == pytest.approx(16 * 2**20 / 4e3)
    assert document["bottleneck"]["bottleneck"] == "memory_bandwidth_bound"
    latest = tmp_path / ".rocpd_profile" / "latest"
    assert json.loads((latest / "profile.json").read_text()) == document
    for name in ("roofline.json", "dag.json", "analysis.json"):
        assert json.loads((latest / name).read_text())["schema_version"] == "1.0"
    for recorded in document["provenance"]["inputs"]:
        assert (latest / recorded["path"]).is_file()


def test_the_summary_fits_80_columns_and_names_the_verdict(profile: Run, tmp_path: Path) -> None:
    app = fake_rocprofv3.program(tmp_path, "echo kernel vecCopy 4")
    done = profile(app, "--runs", "1")
    assert done.returncode == 0, done.stderr
    assert "memory bandwidth" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert not any(line != line.rstrip() for line in done.stdout.splitlines())


def test_quiet_prints_the_runtime_and_nothing_else(profile: Run, tmp_path: Path) -> None:
    done = profile(fake_rocprofv3.program(tmp_path, "echo kernel k 5"), "--quiet", *QUICK)
    assert (done.stdout, done.stderr) == ("0.005\n", "")


def test_arguments_reach_the_program_untouched(profile: Run, tmp_path: Path) -> None:
    app = fake_rocprofv3.program(tmp_path, 'test "$*" = "-n 5 ; ls --json" && echo kernel k 5')
    done = profile(app, "--quiet", *QUICK, "--", "-n", "5", ";", "ls", "--json")
    assert done.returncode == 0, done.stderr


def test_one_rocprofv3_run_takes_all_groups_where_the_version_can(
    profile: Run, tmp_path: Path
) -> None:
    app = fake_rocprofv3.program(tmp_path, "echo kernel k 5")
    assert profile(app, "--runs", "1", FAKE_VERSION="1.3.0").returncode == 0
    assert (tmp_path / ".rocpd_profile/latest/counters-1").is_dir()
    assert not (tmp_path / ".rocpd_profile/latest/counters-2").exists()


def test_without_counters_the_verdict_says_what_is_missing(profile: Run, tmp_path: Path) -> None:
    app = fake_rocprofv3.program(tmp_path, "echo kernel k 500")
    document = json.loads(profile(app, *QUICK, "--json").stdout)
    assert document["roofline"]["roofline_position"] is None
    assert document["roofline"]["reason"]
    assert document["bottleneck"]["bottleneck"] == "unknown"


def test_a_counter_pass_that_fails_costs_its_counters_only(profile: Run, tmp_path: Path) -> None:
    app = fake_rocprofv3.program(tmp_path, "echo kernel k 500")
    document = json.loads(profile(app, "--json", "--runs", "1", FAKE_FAIL_PMC="1").stdout)
    assert document["runtime_ms"] == pytest.approx(0.5)
    (note,) = (n for n in document["notes"] if n.startswith("counter pass 1 exited with code 134"))
    assert note.endswith("its last lines: rocprofv3: counters cannot be collected")


def test_a_thread_trace_is_taken_of_the_dominant_kernel(profile: Run, tmp_path: Path) -> None:
    app = fake_rocprofv3.program(tmp_path, "echo kernel copy 4")
    done = profile(app, "--att", "--json", *QUICK)
    assert done.returncode == 0, done.stderr
    analysis = json.loads((tmp_path / ".rocpd_profile/latest/analysis.json").read_text())
    (kernel,) = analysis["kernels"]
    assert kernel["thread_trace"]["usable"] is True


def test_an_empty_thread_trace_is_tried_on_another_cu_and_told(
    profile: Run, tmp_path: Path
) -> None:
    app = fake_rocprofv3.program(tmp_path, "echo kernel copy 4")
    document = json.loads(profile(app, "--att", "--json", *QUICK, FAKE_EMPTY_ATT="1").stdout)
    assert [note for note in document["notes"] if "CU 0" in note]


def test_no_rocprof_times_the_program_and_leaves_the_rest_null(
    profile: Run, tmp_path: Path
) -> None:
    app = fake_rocprofv3.program(tmp_path, "true")
    done = profile(app, "--runs", "1", "--no-rocprof", "--json", PATH=os.environ["PATH"])
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["runtime_ms"] is None
    assert document["host_wall_ms"] > 0
    assert document["reasons"]["runtime_ms"] == "no trace: --no-rocprof"
    text = profile(app, "--runs", "1", "--no-rocprof", PATH=os.environ["PATH"])
    assert "by the host's clock" in text.stdout


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (["echo kernel k 5", "exit 3"], "app exited with code 3"),
        (["kill -SEGV $$"], "app was killed by SIGSEGV"),
        (["echo hello"], "launched no kernel"),
    ],
)
def test_a_program_that_does_not_work_is_one_sentence(
    profile: Run, tmp_path: Path, lines: list[str], says: str
) -> None:
    app = fake_rocprofv3.program(tmp_path, *lines)
    assert says in complaint(profile(app, "--json"), 3)
    assert runs(tmp_path) == []


def test_a_hang_is_stopped(profile: Run, tmp_path: Path) -> None:
    app = fake_rocprofv3.program(tmp_path, "sleep 60")
    error = complaint(profile(app, "--timeout", "1"), 3)
    assert "app was still running after 1 s and was stopped" in error
    assert "--timeout" in error


READS = ('test "$(cat)" = "one two" || exit 9', "echo kernel k 5")


def test_every_run_reads_the_whole_standard_input(profile: Run, tmp_path: Path) -> None:
    app = fake_rocprofv3.program(tmp_path, *READS)
    (tmp_path / "input").write_text("one two\n")
    with (tmp_path / "input").open("rb") as file:
        done = profile(app, "--runs", "2", "--quiet", stdin=file)
    assert done.returncode == 0, done.stderr
    with subprocess.Popen(["echo", "one two"], stdout=subprocess.PIPE) as echo:
        done = profile(app, "--runs", "2", "--quiet", stdin=echo.stdout)
    assert done.returncode == 0, done.stderr
    assert "exited with code 9" in complaint(profile(app), 3)


def test_an_open_pipe_holds_up_no_program_that_does_not_read(profile: Run, tmp_path: Path) -> None:
    outlet, inlet = os.pipe()
    done = profile(fake_rocprofv3.program(tmp_path, "echo kernel k 5"), *QUICK, stdin=outlet)
    os.close(outlet)
    os.close(inlet)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("x.cpp", "rocm-perf hipcc -O3 -g x.cpp -o x\n"),
        ("x.hip", "rocm-perf hipcc -O3 -g x.hip -o x\n"),
        ("x.c", "rocm-perf hipcc -O3 -g x.c -o x\n"),
        ("x.cu", "hipify"),
        ("./sub/x y.cc", "rocm-perf hipcc -O3 -g 'sub/x y.cc' -o 'sub/x y'\n"),
        ("x.py", "python3 x.py"),
    ],
)
@pytest.mark.parametrize("mode", [0o644, 0o755])
def test_a_source_file_is_called_one_and_the_command_that_builds_it_named(
    profile: Run, tmp_path: Path, name: str, advice: str, mode: int
) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("x")
    (tmp_path / name).chmod(mode)
    for done in (profile(name), rocm_perf("run", name, cwd=tmp_path)):
        said = complaint(done, 3)
        assert advice in said and "chmod" not in said
        assert ("Python program" if name == "x.py" else "is a source file") in said


def test_a_script_that_names_its_interpreter_is_a_program(profile: Run, tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text(f"#!{sys.executable}\nprint('kernel k 5')\n")
    (tmp_path / "x.py").chmod(0o755)
    assert profile("./x.py", *QUICK, "--quiet").returncode == 0


def test_a_program_nearly_of_that_name_is_named(profile: Run, tmp_path: Path) -> None:
    fake_rocprofv3.program(tmp_path, "true")
    assert "did you mean ./app?" in complaint(profile("./ap"), 3)
    assert "try ./app" in complaint(profile("app"), 3)


def test_a_program_that_is_not_there(profile: Run) -> None:
    assert "was not found" in complaint(profile("./nothing"), 3)


def test_a_program_that_is_not_executable(profile: Run, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("x")
    assert "is not executable" in complaint(profile("./data"), 3)


def test_a_file_that_is_no_program(profile: Run, tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_bytes(b"\0\1\2")
    path.chmod(0o755)
    assert "cannot run" in complaint(profile("./data"), 3)


def test_an_unknown_device(profile: Run, tmp_path: Path) -> None:
    app = fake_rocprofv3.program(tmp_path, "true")
    assert "no device is called mi400" in complaint(profile(app, "--device", "mi400"), 2)


def test_a_killed_run_leaves_nothing_that_looks_complete(tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    fake_rocprofv3.install(tools)
    app = fake_rocprofv3.program(tmp_path, "echo kernel k 5", "sleep 30")
    env = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
    process = subprocess.Popen(
        [sys.executable, "-m", "rocm_perf_lab", "profile", "--device", "rocm", str(app)],
        cwd=tmp_path,
        env=env,
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    while not runs(tmp_path):
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert all(name.startswith(".partial-") for name in runs(tmp_path))
