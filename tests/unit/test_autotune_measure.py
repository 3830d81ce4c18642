"""Templates, caches, recordings and single measurements."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from rocm_perf_lab.autotune import gpu_lock, recorded, results_cache, template
from rocm_perf_lab.autotune.evaluation import Measurement
from rocm_perf_lab.autotune.job import parse_budget
from rocm_perf_lab.autotune.measure import Recipe, Task, measure
from rocm_perf_lab.autotune.metric import parse_metric
from rocm_perf_lab.autotune.results_cache import ResultsCache
from rocm_perf_lab.autotune.template import Template
from rocm_perf_lab.collect import process
from rocm_perf_lab.errors import BadInput, Refused, UsageError
from support.analysis import documents
from support.traces import TraceBuilder

NAMES = frozenset({"A", "file name", "x.y"})


# -- templates ----------------------------------------------------------------------------------


def test_a_value_is_one_argument_whatever_it_holds() -> None:
    parsed = template.parse("run --a={A} '{file name}' {x.y} {{literal}}", "--cmd", NAMES)
    nasty = "; rm -rf / $(touch x) `id` \"quoted\" 'single' {A}"
    assert parsed.fill({"A": nasty, "file name": "a b", "x.y": True}) == [
        "run", f"--a={nasty}", "a b", "1", "{literal}",
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["printf %s {A} | cat", 'printf %s "{A}"', "sh -c 'printf {A}'"])
def test_a_shell_gets_harmless_values_only(text: str) -> None:
    parsed = template.parse(text, "--cmd", NAMES, shell=True)  # noqa: S604
    done = subprocess.run(parsed.fill({"A": "gfx942"}), capture_output=True, text=True, check=True)
    assert done.stdout == "gfx942"
    for value in ("$(touch PWNED)", "`id`", "a;b", "a b", "a'b", 'a"b', "a\nb", "$HOME", "*", "~"):
        with pytest.raises(Refused, match="could be run as a command"):
            parsed.fill({"A": value})


@pytest.mark.parametrize("text", ["", "run {unknown}", "run 'open", "run {}"])
def test_a_bad_template_gets_one_sentence(text: str) -> None:
    with pytest.raises(UsageError):
        template.parse(text, "--cmd-template", NAMES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10%", (100, None)),
        ("0.05%", (1, None)),
        ("200", (200, None)),
        ("5000", (1000, None)),
        ("15m", (None, 900.0)),
        ("90s", (None, 90.0)),
        ("1.5h", (None, 5400.0)),
    ],
)
def test_budgets(text: str, expected: tuple[int | None, float | None]) -> None:
    assert parse_budget(text, 1000) == expected


@pytest.mark.parametrize("text", ["", "0", "-3", "ten", "150%", "1.5", "nan", "1e9", "5 days"])
def test_what_is_no_budget(text: str) -> None:
    with pytest.raises(UsageError):
        parse_budget(text, 1000)


# -- measuring ----------------------------------------------------------------------------------


def recipe(
    command: str,
    metric: str = "tail -n 1",
    build: str | None = None,
    verify: str | None = None,
    timeout_s: float = 20.0,
) -> Recipe:
    def parsed(text: str, option: str) -> Template:
        return template.parse(text, option, frozenset({"A"}))

    return Recipe(
        parsed(command, "--cmd-template"),
        parse_metric(metric, frozenset({"A"}), shell=False),
        build=None if build is None else parsed(build, "--build"),
        verify=None if verify is None else parsed(verify, "--verify"),
        timeout_s=timeout_s,
    )


def outcome(made: Recipe, value: int = 1) -> Measurement:
    return measure(Task({"A": value}), made)


def sh(line: str) -> str:
    return f"/bin/sh -c '{line}'"


def test_the_metric_command_reads_the_programs_output() -> None:
    found = outcome(recipe(sh("echo noise 99; echo time: 12.5 ms for {A}"), "sed -n s/ms.*//p"))
    assert found.status == "ok"
    assert found.samples == (12.5,)


def test_wall_time_is_the_programs() -> None:
    found = outcome(recipe(sh("sleep 0.2"), "wall"))
    assert 200 <= found.samples[0] < 5000


@pytest.mark.parametrize(
    ("made", "status"),
    [
        (recipe(sh("echo oops; exit 3")), "failed"),
        (recipe(sh("kill -SEGV $$")), "failed"),
        (recipe("/nowhere/program {A}"), "failed"),
        (recipe(sh("echo no number here")), "failed"),
        (recipe(sh("echo hipErrorOutOfMemory; exit 1")), "out_of_resources"),
        (recipe(sh("echo 1.0"), build=sh("exit 1")), "build_failed"),
        (
            recipe(sh("echo 1"), build=sh("echo error: local memory exceeds limit; exit 1")),
            "out_of_resources",
        ),
        (recipe(sh("echo 1.0"), verify="grep -q 2.0"), "wrong"),
        (recipe(sh("sleep 60"), timeout_s=0.3), "timeout"),
    ],
)
def test_what_goes_wrong_is_recorded_as_what_it_is(made: Recipe, status: str) -> None:
    found = outcome(made)
    assert found.status == status
    assert found.samples == ()
    assert found.reason


def test_a_build_has_a_folder_of_its_own_that_is_gone_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    made = recipe(
        "/bin/sh {workdir}/run.sh",
        build=f"""/bin/sh -c "echo 'echo {{A}}.5' > {{workdir}}/run.sh; pwd > {tmp_path}/seen" """,
        verify="test -f {log}",
    )
    found = measure(Task({"A": 7}), made)
    assert found.samples == (7.5,)
    assert (tmp_path / "seen").exists()
    assert not list(temporary.glob("rocm-perf-tune-*"))


# -- the cache ----------------------------------------------------------------------------------


def test_results_come_back_and_a_torn_line_costs_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "cache.jsonl"
    identity = {"command": "x"}
    keys = [results_cache.key(identity, {"a": i}) for i in range(3)]
    first = ResultsCache(path)
    first.put(keys[0], {"a": 0}, Measurement("ok", (1.0, 1.1)))
    first.put(keys[1], {"a": 1}, Measurement("timeout", reason="slow"))
    with path.open("a") as file:
        file.write('{"key": "torn", "samp')
    again = ResultsCache(path)
    assert again.skipped == 1
    again.put(keys[2], {"a": 2}, Measurement("ok", (3.0,)))
    last = ResultsCache(path)
    assert last.get(keys[0]) == Measurement("ok", (1.0, 1.1))
    assert last.get(keys[1]) == Measurement("timeout", reason="slow")
    assert last.get(keys[2]) == Measurement("ok", (3.0,))


def test_the_key_depends_on_everything_that_decides_a_time() -> None:
    base = {"command": "x {a}", "device": "gfx942", "rocm": "7.0", "files": {"x": "1"}}
    keys = {results_cache.key(base, {"a": 1}), results_cache.key(base, {"a": 2})}
    for field, other in (("command", "y"), ("device", "gfx90a"), ("rocm", "6"), ("files", {})):
        keys.add(results_cache.key({**base, field: other}, {"a": 1}))
    assert len(keys) == 6


def test_two_processes_may_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "cache.jsonl"
    script = (
        "import sys; from pathlib import Path\n"
        "from rocm_perf_lab.autotune.results_cache import ResultsCache\n"
        "from rocm_perf_lab.autotune.evaluation import Measurement\n"
        "c = ResultsCache(Path(sys.argv[1]))\n"
        "for i in range(50):\n"
        "    c.put(sys.argv[2] + str(i), {'a': i}, Measurement('ok', (1.0,) * 200))\n"
    )
    writers = [subprocess.Popen([sys.executable, "-c", script, str(path), n]) for n in "ab"]
    assert [w.wait(60) for w in writers] == [0, 0]
    found = ResultsCache(path)
    assert found.skipped == 0
    assert len(found.known()) == 100


# -- one measurement at a time on a GPU ---------------------------------------------------------


def test_a_gpu_whose_owner_was_killed_is_freed_of_its_orphan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    script = (
        "import sys, tempfile; tempfile.tempdir = sys.argv[1]\n"
        "from pathlib import Path\n"
        "from rocm_perf_lab.autotune import gpu_lock\n"
        "from rocm_perf_lab.collect import process\n"
        "with gpu_lock.hold('0') as held:\n"
        "    process.run(['sleep', '300'], Path(sys.argv[1]) / 'log', {},\n"
        "                keep_open=(held,), on_start=lambda group: print(group, flush=True))\n"
    )
    words = [sys.executable, "-c", script, str(tmp_path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as owner:
        assert owner.stdout is not None
        orphan = int(owner.stdout.readline())
        owner.kill()
    with gpu_lock.hold("0"):
        _until(lambda: not _running(orphan))


def test_a_daemon_the_program_leaves_behind_does_not_keep_the_gpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    log = tmp_path / "log"
    with gpu_lock.hold("0") as held:
        program = "setsid sh -c 'echo $$; exec sleep 300' & until [ -s $0 ]; do sleep 0.01; done"
        command = ["/bin/sh", "-c", program, str(log)]
        process.run(command, log, {}, keep_open=(held,))
    with pytest.raises(ProcessLookupError):
        os.kill(int(log.read_text()), 0)  # it ended with the run
    with gpu_lock.hold("0"):
        pass  # or it would wait for the daemon


def _running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


T = TypeVar("T")


def _until(condition: Callable[[], T], seconds: float = 600) -> T:
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end
        time.sleep(0.05)
    return found


# -- recordings ---------------------------------------------------------------------------------

CACHE = {
    "device_name": "AMD Instinct MI300X",
    "kernel_name": "k",
    "tune_params_keys": ["a", "b"],
    "tune_params": {"a": [1, 2], "b": [1, 2]},
    "cache": {
        "1,1": {"a": 1, "b": 1, "time": 2.0, "times": [2.0, 2.1]},
        "1,2": {"a": 1, "b": 2, "time": "CompilationFailedConfig"},
        "2,1": {"a": 2, "b": 1, "time": "RuntimeFailedConfig"},
        "2,2": {"a": 2, "b": 2, "time": "InvalidConfig"},
    },
}


def _check(path: Path, rows: int) -> None:
    found = recorded.load(path)
    assert found.space.size == rows
    assert found.device == "AMD Instinct MI300X"
    statuses = [r.status for r in found.records]
    assert statuses == ["ok", "build_failed", "failed", "invalid"][:rows]
    assert found.optimum_ms() == 2.0


def test_recordings_are_read_closed_open_torn_and_compressed(tmp_path: Path) -> None:
    text = json.dumps(CACHE)
    path = tmp_path / "cache.json"
    for form, rows in (
        (text, 4),
        (text[:-2], 4),  # Kernel Tuner was killed: the braces are missing
        (text[:-2] + ",\n", 4),
        (text[:-20], 3),  # in the middle of the last entry
    ):
        path.write_text(form)
        _check(path, rows)
    zipped = tmp_path / "cache.json.gz"
    zipped.write_bytes(gzip.compress(text.encode()))
    _check(zipped, 4)


def _load(tmp_path: Path, data: object) -> recorded.RecordedSpace:
    path = tmp_path / "other.json"
    path.write_text(json.dumps(data))
    return recorded.load(path)


def test_caches_of_other_ages_are_read(tmp_path: Path) -> None:
    rows = {
        "1,row": {"time": 2.0},  # the parameters are only in the key
        "2,row": {"a": 2, "b": "row", "time": 1e20},  # a failure in the oldest caches
        "4,row": {"a": 4, "b": "row", "__error__": "CompilationFailedConfig"},  # in the newest
        "8,row": {"a": 8, "b": "row", "time": 3.0, "__error__": "RuntimeFailedConfig"},
        "1,col": {"a": 1, "b": "col", "time": "4.5"},
        "2,col": {"a": 2, "b": "col", "times": [5.0, 7.0]},
        "4,col": {"a": 4, "b": "col", "time": "out of memory"},
        "8,col": {"a": 8, "b": "col", "time": float("nan")},
        "8.0,col": {"a": 8.0, "b": "col", "time": 9.0},  # again, spelt otherwise
    }
    found = _load(
        tmp_path,
        {"tune_params": {"a": [1, 2, 4, 8], "b": ["row", "col"]}, "objective": "GFLOP/s",
         "cache": rows},
    )  # fmt: skip
    assert [r.time_ms for r in found.records][:6] == [2.0, None, None, None, 4.5, 6.0]
    assert [r.status for r in found.records][1:4] == ["failed", "build_failed", "failed"]


def test_a_cache_without_a_list_of_parameters_has_them_first_in_each_row(tmp_path: Path) -> None:
    rows = {"1,True": {"a": 1, "b": True, "time": 2.0}, "2,True": {"a": 2, "b": True, "time": 1.0}}
    found = _load(tmp_path, {"cache": rows})
    assert found.space.names == ("a", "b")
    assert found.optimum_ms() == 1.0


def test_lists_and_null_as_values_are_categories(tmp_path: Path) -> None:
    rows = {str(i): {"grid": g, "time": 1.0 + i} for i, g in enumerate(([16, 1], [1, 16], None))}
    found = _load(tmp_path, {"tune_params_keys": ["grid"], "cache": rows})
    assert set(found.space.values[0]) == {"[16, 1]", "[1, 16]", "null"}


def test_results_in_the_t4_format_are_read(tmp_path: Path) -> None:
    def result(a: int, invalidity: str, **more: object) -> dict[str, object]:
        return {"configuration": {"a": a}, "times": {"runtimes": []}, "invalidity": invalidity,
                "correctness": 1, **more}  # fmt: skip

    found = _load(
        tmp_path,
        {
            "schema_version": "1.0.0",
            "metadata": {"timeunit": "milliseconds"},
            "results": [
                result(1, "correct", measurements=[{"name": "time", "value": 2.0, "unit": "ms"}]),
                result(2, "correct", times={"runtimes": [3.0, 5.0]}),
                result(3, "compile"),
                result(4, "timeout"),
                result(5, "correctness"),
                result(6, "correct", measurements=[{"name": "time", "value": 7, "unit": "us"}]),
            ],
        },
    )
    assert [r.time_ms for r in found.records] == [2.0, 4.0, None, None, None, 0.007]
    assert [r.status for r in found.records][2:5] == ["build_failed", "timeout", "wrong"]


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"{}", b'{"cache": {}}', b'{"cache": {"1": 3}}', b"\x1f\x8bnot gzip", b"\xff\xfe",
     b'{"cache": {"1": {"a": 1, "time": 1}}, "tune_params_keys": ["b"]}',
     b'{"cache": {"2": {"a": 1, "time": 1}}}', b'{"cache": {"1": {"a": 1, "time": "failed"}}}',
     b'{"results": []}', b'{"results": [3]}', b'{"results": [{"configuration": {}}]}'],
)  # fmt: skip
def test_what_is_no_recording_gets_one_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "cache.json"
    path.write_bytes(content)
    with pytest.raises(BadInput):
        recorded.load(path)


def test_a_metric_of_the_profile_is_the_dominant_kernels_and_a_number_to_divide_by() -> None:
    timed, counted = TraceBuilder(pid=1), TraceBuilder(pid=2)
    # Three of `beside` at once take more time than `main`, which ends last.
    for kernel, stream, us, waves in (
        ("beside", 1, 300, 8.0), ("beside", 2, 300, 8.0), ("beside", 3, 300, 8.0),
        ("main", 0, 700, 1024.0),
    ):  # fmt: skip
        timed.dispatch(kernel, 0, us * 1000, stream=stream, queue=stream)
        counters = {"SQ_WAVES": waves, "SQ_LDS_BANK_CONFLICT": 0.0}
        counted.dispatch(kernel, stream * 10**6, stream * 10**6 + us * 1000, counters=counters)
    found = documents(timed.build(), counted.build())
    assert found.roofline is not None and found.roofline.kernels[0].kernel == "beside"

    def value(metric: str) -> float:
        return parse_metric(metric, frozenset(), shell=False).of(found)

    assert value("SQ_WAVES") == value("SQ_WAVES_sum") == 1024.0
    with pytest.raises(BadInput, match="no SQ_INSTS_VALU"):
        value("SQ_INSTS_VALU")
    with pytest.raises(BadInput, match="SQ_LDS_BANK_CONFLICT is 0"):
        value("SQ_LDS_BANK_CONFLICT")
