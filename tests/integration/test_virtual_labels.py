"""What ran on the virtual GPU says so everywhere, and how much of it was simulated."""

from __future__ import annotations

import json
from pathlib import Path

from support.cli import rocm_perf
from support.hip_build import REPOSITORY
from support.virtual_profile import PROGRAMS, build, document, profile


def test_what_ran_on_the_virtual_gpu_says_so_without_a_trace_too(tmp_path: Path) -> None:
    program = build(PROGRAMS / "profile_launches.cpp", tmp_path)
    words = ("--no-rocprof", "--runs", "1", "--json", program, "--", "5")
    done = rocm_perf("profile", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["provenance"]["device"]["kind"] == "virtual"
    assert any("emulation's time" in note for note in found["notes"])
    space = tmp_path / "space.json"
    space.write_text('{"parameters": {"N": [1, 2]}}')
    tuned = rocm_perf(
        "autotune", "--space", space, "--cmd-template", f"{program} {{N}}", "--metric", "wall",
        "--repeats", "1", "--json", cwd=tmp_path,
    )  # fmt: skip
    assert tuned.returncode == 0, tuned.stderr
    assert json.loads(tuned.stdout)["provenance"]["device"]["kind"] == "virtual"


def test_how_much_of_a_kernel_was_simulated_reaches_documents_and_table(tmp_path: Path) -> None:
    program = build(REPOSITORY / "examples" / "vcopy.cpp", tmp_path)
    folder = profile(program, tmp_path, "--no-counters", "--runs", "1")
    shown = document(folder, "profile.json")
    (kernel,) = [k for k in shown["kernels"] if not k["helper"]]
    assert 0 < kernel["detailed_fraction"] <= 1
    error = kernel["modelled_error"]  # without counters nobody knows what limits it
    assert (error["kind"], error["typical"]) == ("other", None) and error["reason"]
    judged = {k["kernel"]: k for k in document(folder, "analysis.json")["kernels"]}
    assert judged[kernel["kernel"]["name"]]["detailed_fraction"] == kernel["detailed_fraction"]
    if kernel["detailed_fraction"] < 1:
        done = rocm_perf("analyze", folder / "trace-1", cwd=tmp_path)
        assert "Simulated" in done.stdout


def test_a_program_that_compiles_at_run_time_finds_its_compiler(tmp_path: Path) -> None:
    source = REPOSITORY / "tests" / "native" / "hip" / "rtc.hip"
    program = build(source, tmp_path, "-I", str(source.parent), "-lhiprtc")
    done = rocm_perf(
        "run", "--device", "virtual", program, cwd=tmp_path, env={"PATH": "/usr/bin:/bin"}
    )
    assert done.returncode == 0, done.stdout + done.stderr
