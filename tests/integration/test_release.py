"""What a release is made of: an sdist with what a build needs, which builds without a compiler."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tarfile
from pathlib import Path
from types import ModuleType

import pytest

import rocm_perf_lab

ROOT = Path(__file__).parents[2]


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("scikit_build_core")
    out = tmp_path_factory.mktemp("dist")
    code = f"import build_backend; build_backend.build_sdist({str(out)!r})"
    subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT / "native"), "PATH": "/usr/bin:/bin"},
        check=True,
        capture_output=True,
    )
    return next(out.iterdir())


def test_the_sdist_holds_what_a_build_needs_and_nothing_else(sdist: Path) -> None:
    load(ROOT / "tools" / "build_release.py").check_sdist(sdist)
    with tarfile.open(sdist) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    tracked = subprocess.run(
        ["git", "ls-files", "src", "native", "examples"], cwd=ROOT, capture_output=True, text=True
    ).stdout.split()
    needed = {name for name in tracked if "/." not in name}  # settings of tools are not
    assert needed <= names, sorted(needed - names)[:5]
    assert sdist.name == f"rocm_perf_lab-{rocm_perf_lab.__version__}.tar.gz"


@pytest.mark.parametrize("strange", ["src/a.pyc", "src/lib/x.so.1", "notes.txt", "src/.cache"])
def test_what_should_not_be_in_it_is_named(strange: str, tmp_path: Path) -> None:
    (tmp_path / "x").touch()
    with tarfile.open(tmp_path / "p.tar.gz", "w:gz") as packed:
        packed.add(tmp_path / "x", arcname=f"p-1/{strange}")
    check = load(ROOT / "tools" / "build_release.py").check_sdist
    with pytest.raises(SystemExit, match="holds what it should not"):
        check(tmp_path / "p.tar.gz")


def test_without_compilers_means_that_none_is_found(tmp_path: Path) -> None:
    tools = load(ROOT / "tools" / "check_release.py")
    path = tools.path_without_compilers(tmp_path / "bin")
    done = subprocess.run(
        ["sh", "-c", "command -v cc c++ gcc g++ clang cmake ninja ld; command -v ls"],
        env={"PATH": path},
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == [f"{path}/ls"]


@pytest.mark.slow
def test_ziglang_alone_builds_it_from_nothing_and_a_hip_program_runs(sdist: Path) -> None:
    """A new environment, no compiler and no build tool on PATH; what pip brings is all there is.

    Many minutes: a C++ library, then ours, then a HIP program, all by one package of PyPI.
    """
    tool = ROOT / "tools" / "check_release.py"
    done = subprocess.run(
        [sys.executable, tool, "--dist", sdist.parent, "--sdist", "zig"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-8000:]
    assert done.stdout.splitlines()[-1].startswith("sdist-zig: installed and works")
