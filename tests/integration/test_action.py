"""action.yml as GitHub runs it: its steps' scripts, in a repository with a change."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from rocm_perf_lab.device.toolchain import runtime_library_dir
from support import fake_rocprofv3

ACTION = yaml.safe_load((Path(__file__).parents[2] / "action.yml").read_text())
STEP = ACTION["runs"]["steps"][-1]


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def repository(folder: Path, before_us: int, after_us: int) -> Path:
    """Its `build` makes a program of the text in `time`."""
    folder.mkdir()
    git(folder, "init", "-q")
    for time in (before_us, after_us):
        (folder / "app.in").write_text("#!/bin/sh\n" + f"echo kernel work {time}\n" * 30)
        git(folder, "add", ".")
        git(folder, "commit", "-q", "--allow-empty", "-m", f"{time}")
    return folder


@pytest.mark.parametrize(("after", "code", "check"), [(50, 0, "race"), (100, 1, "")])
def test_the_gate_compares_the_change_with_its_base(
    tmp_path: Path, after: int, code: int, check: str
) -> None:
    if check and runtime_library_dir() is None:
        pytest.skip("the virtual GPU's runtime is not built: make native")
    repo = repository(tmp_path / "repo", 50, after)
    tools = tmp_path / "tools"
    tools.mkdir()
    fake_rocprofv3.install(tools)
    (tools / "rocm-perf").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m rocm_perf_lab "$@"\n')
    (tools / "rocm-perf").chmod(0o755)
    done = subprocess.run(
        ["bash", "-c", STEP["run"]],
        cwd=repo,
        env={
            **os.environ,
            "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
            "TMPDIR": str(tmp_path),
            "BUILD": "cp app.in app && chmod +x app",
            "RUN": "./app --with arguments",
            "BASE": "HEAD~1",
            "FAIL_ON": "runtime>5%\nkernel:work>10%\n",
            "RUNS": "1",
            "CHECK": check,
            "DEVICE": "rocm",
            "GITHUB_OUTPUT": str(tmp_path / "output"),
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode == code, (done.stdout, done.stderr)
    assert ("::error title=runtime>5%25" in done.stdout) == bool(code)
    assert ("checked: race; the program exited with code 0" in done.stdout) == bool(check)
    key, _, path = (tmp_path / "output").read_text().strip().partition("=")
    assert key == "comparison"
    assert json.loads(Path(path).read_text())["kernels"][0]["kernel"] == "work"
    assert "| kernel |" in (tmp_path / "summary.md").read_text()
    trees = subprocess.run(["git", "worktree", "list"], cwd=repo, capture_output=True, text=True)
    assert len(trees.stdout.splitlines()) == 1  # the base's checkout is gone again


def test_every_input_reaches_a_script_through_the_environment() -> None:
    # An expression inside a script is code injection from a pull request's title or branch.
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step["run"]
