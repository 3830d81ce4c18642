"""How rocprofv3 is asked, for what the installed version can do."""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path

import pytest

from rocm_perf_lab.collect import rocprofv3
from rocm_perf_lab.errors import MissingTool

MODERN = rocprofv3.Profiler(("rocprofv3",), "1.3.2", "7.14.0", True, True, True, True)
OLD = rocprofv3.Profiler(("rocprofv3",), "0.4.0", "6.2.0", False, False, False, False)


def fake(tmp_path: Path, version: str, help_text: str) -> tuple[str, ...]:
    script = tmp_path / "rocprofv3"
    script.write_text(
        f"#!/bin/sh\ncase $1 in --version) echo '{version}';; --help) echo '{help_text}';; esac\n"
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return (str(script),)


def test_what_a_version_offers_is_read_from_itself(tmp_path: Path) -> None:
    command = fake(
        tmp_path, "version: 1.1.0\nrocm_version: 7.1.0", "--pmc --att -f {csv,json,rocpd}"
    )
    assert rocprofv3.find(command) == rocprofv3.Profiler(
        command, "1.1.0", "7.1.0", True, True, True, False
    )


def test_an_unknown_version_is_treated_as_the_plainest(tmp_path: Path) -> None:
    found = rocprofv3.find(fake(tmp_path, "", "usage"))
    assert not (found.writes_rocpd or found.takes_pmc or found.takes_att or found.repeats_pmc)


def test_no_rocprofv3_is_a_missing_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("ROCM_PATH", str(tmp_path))
    monkeypatch.delenv("ROCM_HOME", raising=False)
    if Path("/opt/rocm").exists():
        pytest.skip("this machine has ROCm")
    with pytest.raises(MissingTool) as error:
        rocprofv3.find()
    assert error.value.exit_code == 4
    assert "--no-rocprof" in (error.value.hint or "")


def test_traces_ask_for_kernels_hip_calls_and_copies(tmp_path: Path) -> None:
    command = rocprofv3.trace_command(MODERN, tmp_path, ["./app", "-n", "1; rm"])
    assert command[1:4] == ["--kernel-trace", "--hip-trace", "--memory-copy-trace"]
    assert command[-4:] == ["--", "./app", "-n", "1; rm"]
    assert "-o" not in command  # without the pid in the name, processes overwrite each other


def test_counters_of_an_old_version_go_through_a_file(tmp_path: Path) -> None:
    command = rocprofv3.counter_command(OLD, [["A", "B"]], tmp_path, ["./app"])
    job = Path(command[command.index("-i") + 1])
    assert job.read_text() == "pmc: A B\n"
    assert "json" in command


def test_several_groups_are_repeated_flags(tmp_path: Path) -> None:
    command = rocprofv3.counter_command(MODERN, [["A"], ["B", "C"]], tmp_path, ["./app"])
    assert command[1:6] == ["--pmc", "A", "--pmc", "B", "C"]


@pytest.mark.parametrize(
    ("name", "regex"),
    [
        ("vecCopy(double*, double*, int)", "vecCopy"),
        ("void gemm<float, 16>(float const*)", "gemm"),
        ("ns::kernel(int)", "ns::kernel"),
        ("a.b$c(int)", r"a\.b\$c"),
        ("(anonymous namespace)::k(int)", r"\(anonymous namespace\)::k"),
        ("", ".*"),
    ],
)
def test_one_kernel_as_a_regular_expression(name: str, regex: str) -> None:
    assert rocprofv3.kernel_regex(name) == regex


def test_a_thread_trace_is_of_one_launch_where_the_profiler_can_choose(tmp_path: Path) -> None:
    ranged = replace(MODERN, takes_ranges=True)
    command = rocprofv3.att_command(ranged, tmp_path, ["./app"], "k", launch=3)
    at = command.index("--kernel-iteration-range")
    assert command[at + 1] == "[3-3]"
    assert "--kernel-iteration-range" not in rocprofv3.att_command(
        MODERN, tmp_path, ["./app"], "k", launch=3
    )
