"""`profile --att` without counters, on the virtual MI300X: verdicts an expert would sign."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.cli import rocm_perf
from support.virtual_profile import PROGRAMS, build, need_profiler

pytestmark = pytest.mark.slow
ALONE = ("profile", "--device", "virtual", "--runs", "1", "--no-counters", "--att", "--json")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need_profiler()
    return build(PROGRAMS / "traced_known.cpp", tmp_path_factory.mktemp("traced"))


@pytest.mark.parametrize(
    ("kernel", "label", "said", "not_said"),
    [
        # 32 bytes a lane of 2,097,152 lanes, all by loads of 16 bytes.
        ("copy", "memory_bandwidth_bound", "32 B a lane x 2,097,152 lanes", "128-bit"),
        # At the ceiling wider loads gain nothing.
        ("reduce", "memory_bandwidth_bound", "109 B a lane x 311,296 lanes", "128-bit"),
        ("small", "under_occupied", "40 workgroups, 304 CUs", "__launch_bounds__"),
        ("matrix", "compute_throughput_limited", "matrix cores busy", "Use matrix"),
        ("uneven", "barrier_bound", "Even out the work", "unroll"),
    ],
)
def test_a_thread_trace_alone_tells_what_limits(
    kernel: str, label: str, said: str, not_said: str, program: Path, tmp_path: Path
) -> None:
    done = rocm_perf(*ALONE, program, kernel, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["bottleneck"]
    assert found["bottleneck"] == label
    assert found["confidence"] in ("high", "medium")
    assert not found["doubts"]  # a usual call was traced, not the first
    words = " ".join([found["meaning"], *found["evidence"], *found["next_steps"]])
    assert said in words and not_said not in words
    assert found["gain"]["kernel_at_most"] > 1
    assert 1 <= found["gain"]["run_at_most"] <= found["gain"]["kernel_at_most"]
