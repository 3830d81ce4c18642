"""Ordinary bad conditions: a sentence, a documented exit code, and finished work is kept."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from rocm_perf_lab.cli import main as cli
from rocm_perf_lab.cli import settings
from rocm_perf_lab.errors import UsageError
from support import fake_rocprofv3
from support.cli import complaint, rocm_perf
from support.hip_build import build, need_virtual_gpu

# Longer than anything here takes on a busy machine; what waits to be killed waits longer still.
PATIENCE_S = 180

SPACE = {"parameters": {"A": [1, 2, 3]}}
TUNE = (
    *("autotune", "--space", "space.json", "--cmd-template", "echo {A}", "--metric", "tail -n 1"),
    *("--budget", "100%"),
)


def shell(line: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """`rocm-perf` in a shell's plumbing; $P is the command."""
    command = f'P() {{ "{sys.executable}" -m rocm_perf_lab "$@"; }}; {line}'
    return subprocess.run(
        ["/bin/bash", "-c", command],
        cwd=cwd,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


@pytest.fixture
def tuning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    (tmp_path / "space.json").write_text(json.dumps(SPACE))
    return tmp_path


# -- streams ------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", ["--help", "--version", "device list", "explain", "profile -h"])
def test_a_full_or_closed_stdout_is_no_defect(tmp_path: Path, words: str) -> None:
    full = shell(f"P {words} > /dev/full", tmp_path)
    assert full.returncode == 3, full.stderr
    assert "No space left on device" in full.stderr
    assert "internal error" not in full.stderr and "Traceback" not in full.stderr
    closed = shell(f"P {words} >&-", tmp_path)
    assert (closed.returncode, closed.stderr) == (0, "")
    assert shell(f"P {words} >&- 2>&- <&-", tmp_path).returncode == 0


def test_a_reader_that_goes_away_is_no_failure(tmp_path: Path) -> None:
    for words in ("arch show gfx942", "explain memory_bandwidth_bound", "autotune --help"):
        line = f"P {words} | head -1; echo ${{PIPESTATUS[0]}}"
        done = shell(line, tmp_path)
        assert done.stdout.splitlines()[-1] in ("0", "141"), done.stdout
        assert done.stderr == ""


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp437"])
def test_letters_the_encoding_lacks_are_spelled_out(tmp_path: Path, encoding: str) -> None:
    name = "datei-\u4f60\u597d.db"
    env = {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    said = complaint(rocm_perf("analyze", name, cwd=tmp_path, env=env), 3)
    assert "\\u4f60\\u597d" in said
    assert rocm_perf("explain", cwd=tmp_path, env=env).returncode == 0


def test_a_name_that_is_no_text_is_told(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "rocm_perf_lab", "analyze", b"caf\xe9.db"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 3
    assert b"caf" in done.stderr and b"internal error" not in done.stderr


def test_a_deleted_working_folder_is_one_sentence(tmp_path: Path) -> None:
    done = shell("mkdir gone && cd gone && rmdir ../gone && P explain", tmp_path)
    assert done.returncode == 3
    assert "the working folder does not exist any more" in done.stderr


def test_control_characters_of_a_name_do_not_reach_the_terminal(tmp_path: Path) -> None:
    said = complaint(rocm_perf("analyze", "x\x1b]0;evil\x07.db", cwd=tmp_path), 3)
    assert "\x1b" not in said and "\x07" not in said and "evil" in said


# -- typing errors ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("ROCM_PERF_VIRTUAL_THREADS", "abc", "a whole number from 1 to 1024"),
        ("ROCM_PERF_VIRTUAL_THREADS", "0", "a whole number from 1 to 1024"),
        ("ROCM_PERF_VIRTUAL_BOUNDS", "pages", "strict, page or report"),
        ("ROCM_PERF_VIRTUAL_THREAD", "4", "did you mean ROCM_PERF_VIRTUAL_THREADS?"),
    ],
)
def test_a_misspelt_variable_is_an_error_before_anything_runs(
    tmp_path: Path, variable: str, value: str, words: str
) -> None:
    touch = tmp_path / "ran"
    done = rocm_perf("run", "/bin/touch", touch, cwd=tmp_path, env={variable: value})
    assert words in complaint(done, 2)
    assert not touch.exists()


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("ROCM_PERF_VIRTUAL_THREADS", "abc"),
        ("ROCM_PERF_VIRTUAL_THREADS", "1025"),
        ("ROCM_PERF_VIRTUAL_THREADS", "1024"),
        ("ROCM_PERF_VIRTUAL_THREAD", "2"),
        ("ROCM_PERF_VIRTAUL_WAVES", "2"),
        ("ROCM_PERF_VIRTUAL_MAX_INSTRUCTION", "2"),
        ("ROCM_PERF_BOUNDS", "page"),
        ("ROCM_PERF_DEVISE", "virtual"),
        ("ROCM_PERF_VIRTUAL_BOUNDS", "Page"),
        ("ROCM_PERF_VIRTUAL_BOUNDS", "page"),
        ("ROCM_PERF_VIRTUAL_MEMORY", "8GB"),
        ("ROCM_PERF_VIRTUAL_MEMORY", "8G"),
        ("ROCM_PERF_VIRTUAL_TIMING", "modell"),
        ("ROCM_PERF_OF_ANOTHER_TOOL", "x"),
    ],
)
def test_a_program_started_by_hand_says_what_the_command_says(
    tiny_program: Path, variable: str, value: str
) -> None:
    told = ""
    try:
        settings.check({variable: value})
    except UsageError as error:
        told = f"{error.message}: {error.hint}" if error.hint else error.message
    environment = {**os.environ, variable: value}
    done = subprocess.run(
        [tiny_program], env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    if told:
        assert done.stderr == f"rocm-perf: {told}\n"
        assert (done.stdout, done.returncode) == ("hipErrorNoDevice\n", 2)
    else:
        assert (done.stderr, done.stdout, done.returncode) == ("", "hipSuccess\n", 0)


@pytest.fixture(scope="session")
def tiny_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """It asks for memory, prints the answer, and thinks all is well."""
    need_virtual_gpu()
    text = """
        #include <hip/hip_runtime.h>
        #include <cstdio>
        int main() {
          int* data;
          std::puts(hipGetErrorName(hipMalloc(&data, 64)));
        }"""
    return build(tmp_path_factory.mktemp("tiny"), text)


def test_every_variable_the_code_reads_is_known() -> None:
    root = Path(cli.__file__).parents[3]
    reads = subprocess.run(
        ["git", "grep", "-hoE", r"(getenv\(|environ\S*\(|environ\[)\"ROCM_PERF_[A-Z_]+"],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    names = {line.rpartition('"')[2] for line in reads.splitlines()}
    if not names:
        pytest.skip("not a checkout")
    assert names <= set(settings.VARIABLES) | {"ROCM_PERF_ISA_HARNESS"}


def test_a_misspelt_key_of_a_space_is_told(tuning: Path) -> None:
    (tuning / "space.json").write_text(json.dumps({**SPACE, "constraint": ["A < 3"]}))
    assert "did you mean constraints?" in complaint(rocm_perf(*TUNE, cwd=tuning), 3)
    (tuning / "space.json").write_text(json.dumps({"A": [1, 2], "constraint": ["A < 3"]}))
    assert "did you mean constraints?" in complaint(rocm_perf(*TUNE, cwd=tuning), 3)


def test_a_bad_regular_expression_is_an_error_before_anything_runs(tmp_path: Path) -> None:
    app = fake_rocprofv3.program(tmp_path, "touch ran")
    done = rocm_perf("profile", "--kernel", "k[", app, cwd=tmp_path)
    assert "not a regular expression" in complaint(done, 2)
    assert not (tmp_path / "ran").exists()


# -- values and shells --------------------------------------------------------------------------


def test_a_value_is_never_run_by_a_shell(tuning: Path) -> None:
    (tuning / "space.json").write_text(json.dumps({"parameters": {"A": ["1", "$(touch PWNED)"]}}))
    words = ("--cmd-template", 'echo "{A}"', "--metric", "wall", "--shell", "--budget", "100%")
    done = rocm_perf("autotune", "--space", "space.json", *words, cwd=tuning)
    assert "could be run as a command" in complaint(done, 5)
    assert not (tuning / "PWNED").exists()


# -- the cache ----------------------------------------------------------------------------------


def test_a_cache_on_a_full_disk_costs_the_cache_not_the_results(tuning: Path) -> None:
    full = Path("/dev/full")
    done = rocm_perf(*TUNE, "--cache", full, cwd=tuning)
    assert "is not a file" in complaint(done, 3)
    (tuning / "link").symlink_to(full)
    assert "is not a file" in complaint(rocm_perf(*TUNE, "--cache", "link", cwd=tuning), 3)


def test_a_cache_that_cannot_be_written_is_told_after_the_results(tuning: Path) -> None:
    cache = tuning / "cache.jsonl"
    limit = f"ulimit -f 1; trap '' XFSZ; P {' '.join(map(repr, TUNE))} --cache cache.jsonl"
    cache.write_text(json.dumps({"filler": "x" * 1020}) + "\n")
    done = shell(limit, tuning)
    assert done.returncode == 0, done.stderr
    assert "best: 1 ms" in done.stdout
    assert "could not be written (File too large)" in done.stderr


def test_entries_of_a_cache_that_no_run_wrote_are_left_aside(tuning: Path) -> None:
    cache = tuning / "cache.jsonl"
    assert rocm_perf(*TUNE, "--cache", cache, cwd=tuning).returncode == 0
    good = json.loads(cache.read_text().splitlines()[0])
    bad = [
        {**good, "samples": [-1.0]},
        {**good, "samples": [float("nan")]},
        {**good, "samples": [float("inf")]},
        {**good, "samples": []},
        {**good, "status": "splendid"},
        {**good, "parameters": {"A": [[]]}},
        [],
        7,
    ]
    cache.write_text("".join(json.dumps(entry) + "\n" for entry in bad))
    done = rocm_perf(*TUNE, "--cache", cache, cwd=tuning)
    assert done.returncode == 0, done.stderr
    assert f"{len(bad)} damaged lines" in done.stderr
    assert "best: 1 ms" in done.stdout


# -- finished work ------------------------------------------------------------------------------


@pytest.fixture
def tools(tmp_path: Path) -> Mapping[str, str]:
    folder = tmp_path / "tools"
    folder.mkdir()
    fake_rocprofv3.install(folder)
    return {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


def runs(folder: Path) -> list[Path]:
    return sorted(p for p in (folder / ".rocpd_profile").glob("*") if not p.is_symlink())


def test_a_folder_called_latest_does_not_cost_the_run(
    tmp_path: Path, tools: Mapping[str, str]
) -> None:
    (tmp_path / ".rocpd_profile" / "latest").mkdir(parents=True)
    app = fake_rocprofv3.program(tmp_path, "echo kernel k 5")
    done = rocm_perf("profile", "--device", "rocm", app, cwd=tmp_path, env=tools)
    assert done.returncode == 0, done.stderr
    assert "is left as it is" in done.stderr
    assert [p.name for p in runs(tmp_path) if (p / "profile.json").exists()]


def test_the_third_timing_run_fails_and_two_are_reported(
    tmp_path: Path, tools: Mapping[str, str]
) -> None:
    app = fake_rocprofv3.program(
        tmp_path,
        "echo x >> count",
        '[ "$(wc -l < count)" -ge 4 ] && { echo "out of luck" >&2; kill -SEGV $$; }',
        "echo kernel k 5",
    )
    done = rocm_perf("profile", "--device", "rocm", app, cwd=tmp_path, env=tools)
    assert done.returncode == 3
    assert "timing run 3 of 3" in done.stderr and "out of luck" in done.stderr
    assert "This rests on 2 of 3" in " ".join(done.stdout.split())
    (folder,) = runs(tmp_path)
    assert json.loads((folder / "profile.json").read_text())["stability"]["runs"] == 2


def test_a_failing_program_can_be_profiled_nevertheless(
    tmp_path: Path, tools: Mapping[str, str]
) -> None:
    app = fake_rocprofv3.program(tmp_path, "echo kernel k 5", "exit 9")
    words = ("profile", "--device", "rocm", "--no-counters", app)
    refused = rocm_perf(*words, cwd=tmp_path, env=tools)
    assert "--ignore-failure" in complaint(refused, 3)
    done = rocm_perf(*words, "--ignore-failure", "--quiet", cwd=tmp_path, env=tools)
    assert (done.returncode, done.stdout) == (0, "0.005\n"), done.stderr


def test_a_full_disk_is_what_is_blamed(tmp_path: Path, tools: Mapping[str, str]) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    app = fake_rocprofv3.program(
        tmp_path, "dd if=/dev/zero of=disk/fill bs=64k 2>/dev/null", "echo kernel k 5", "exit 3"
    )
    script = (
        f'mount -t tmpfs -o size=1M tmpfs disk && P profile --device rocm --out disk/out "{app}"'
    )
    unshared = subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False)
    if unshared.returncode:
        pytest.skip("no user namespaces: a small file system cannot be mounted")
    inner = f'P() {{ "{sys.executable}" -m rocm_perf_lab "$@"; }}; {script}'
    done = subprocess.run(
        ["unshare", "-rm", "/bin/bash", "-c", inner],
        cwd=tmp_path,
        env={**os.environ, **tools},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 3, done.stderr
    assert "No space left on device" in done.stderr
    assert "exited with code 3" not in done.stderr.splitlines()[-1]


def test_a_read_only_folder_still_gets_an_answer(tmp_path: Path, tools: Mapping[str, str]) -> None:
    app = fake_rocprofv3.program(tmp_path, "echo kernel k 5")
    assert rocm_perf("profile", "--device", "rocm", app, cwd=tmp_path, env=tools).returncode == 0
    (folder,) = runs(tmp_path)
    done = rocm_perf("analyze", folder, "--out", "/proc/nowhere", cwd=tmp_path, env=tools)
    assert done.returncode == 3
    assert "k" in done.stdout and "its files are not kept" in done.stderr


def start(*words: str | Path, cwd: Path, env: Mapping[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "rocm_perf_lab", *map(str, words)],
        cwd=cwd,
        env={**os.environ, "COLUMNS": "80", **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def until(condition: Path, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, condition
        time.sleep(0.02)


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def ended(*pids: int) -> bool:
    deadline = time.monotonic() + PATIENCE_S / 3
    while any(map(alive, pids)):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_signal_ends_everything_the_profile_started(
    tmp_path: Path, tools: Mapping[str, str], number: signal.Signals
) -> None:
    """Its program, and a child of it that left the group. What had been measured is kept."""
    app = fake_rocprofv3.program(
        tmp_path,
        "echo x >> count",
        "echo kernel k 5",
        '[ "$(wc -l < count)" = 3 ] || exit 0',
        "setsid sleep 900 & echo $$ $! > pids.new; mv pids.new pids; sleep 900",
    )
    words = ("profile", "--device", "rocm", "--no-counters", app)
    process = start(*words, cwd=tmp_path, env=tools)
    until(tmp_path / "pids", process)
    process.send_signal(number)
    out, said = process.communicate(timeout=PATIENCE_S)
    assert ended(*map(int, (tmp_path / "pids").read_text().split()))
    if number == signal.SIGKILL:
        again = rocm_perf(*words[:-1], fake_rocprofv3.program(tmp_path, "echo kernel k 5"),
                          cwd=tmp_path, env=tools)  # fmt: skip
        assert again.returncode == 0, again.stderr
    else:
        assert process.returncode == 128 + number
        assert "what was measured until then is above and kept in" in said
        assert "This rests on 1 of 3" in " ".join(out.split())
    assert not [p for p in runs(tmp_path) if p.name.startswith(".partial")]


def test_an_interrupt_before_anything_was_measured_says_so(
    tmp_path: Path, tools: Mapping[str, str]
) -> None:
    app = fake_rocprofv3.program(tmp_path, "touch started; sleep 900")
    process = start("profile", "--device", "rocm", app, cwd=tmp_path, env=tools)
    until(tmp_path / "started", process)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 143
    assert "nothing had been measured, nothing is kept" in said
    assert runs(tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_signal_ends_everything_autotune_started(tuning: Path, number: signal.Signals) -> None:
    script = tuning / "slow.sh"
    script.write_text("#!/bin/sh\nsetsid sleep 900 & echo $$ $! > pids.new; mv pids.new pids\n"
                      "[ $1 = 1 ] && { touch waits; sleep 900; }\necho 5\n")  # fmt: skip
    script.chmod(0o755)
    words = [*TUNE, "--cache", "cache.jsonl"]
    words[words.index("echo {A}")] = "./slow.sh {A}"
    process = start(*words, cwd=tuning, env={})
    until(tuning / "waits", process)
    process.send_signal(number)
    _, said = process.communicate(timeout=PATIENCE_S)
    assert ended(*map(int, (tuning / "pids").read_text().split()))
    if number != signal.SIGKILL:
        assert process.returncode == 128 + number
        assert "kept in cache.jsonl" in said
        assert not list((tuning / "tmp").glob("rocm-perf-tune-*"))


# -- first contact ------------------------------------------------------------------------------


def test_arguments_of_the_program_need_no_dashes(tmp_path: Path, tools: Mapping[str, str]) -> None:
    app = fake_rocprofv3.program(tmp_path, 'echo "$@" > said', "echo kernel k 5")
    env = tools
    words = ("profile", "--device", "rocm", "--no-counters", "--runs", "1")
    done = rocm_perf(*words, app, "--size", "4", "-n", "3", cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "said").read_text() == "--size 4 -n 3\n"
    assert rocm_perf(*words[:-2], app, "--runs", "1", cwd=tmp_path, env=env).returncode == 0
    mixed = complaint(rocm_perf("profile", app, "--att", "--size", "4", cwd=tmp_path, env=env), 2)
    assert "go after two dashes" in mixed
    typo = complaint(rocm_perf("profile", app, "--no-conters", cwd=tmp_path, env=env), 2)
    assert "did you mean --no-counters?" in typo


@pytest.mark.parametrize("name", sorted(cli.COMMANDS))
def test_every_command_has_a_short_help_with_examples(tmp_path: Path, name: str) -> None:
    done = rocm_perf(name, "-h", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Examples:" in done.stdout and f"rocm-perf {name} " in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100


def test_a_narrow_terminal_keeps_the_kernels_name(tmp_path: Path, tools: Mapping[str, str]) -> None:
    app = fake_rocprofv3.program(tmp_path, "echo kernel a_kernel_of_some_length 5")
    words = ("profile", "--device", "rocm", "--no-counters", "--runs", "1", app)
    done = rocm_perf(*words, cwd=tmp_path, env={**tools, "COLUMNS": "40"})
    table = done.stdout.split("Runtime")[0]
    assert "a_kernel_of" in table, done.stdout
