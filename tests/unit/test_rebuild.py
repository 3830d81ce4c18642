"""Sources that travelled are compiled again: what may run, and what counts as the same."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from rocm_perf_lab.codeobject.elf import Elf
from rocm_perf_lab.codeobject.kernels import read_code_object
from rocm_perf_lab.codeobject.loaded import compiler, loaded, unit_hash, unit_like
from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.optimize.included import own_files
from rocm_perf_lab.optimize.rebuild import Unchecked, _Tree, recipe_here
from support.hip_build import hipcc, need_virtual_gpu


def as_it_is(path: str) -> str:
    return path


def test_our_own_compiler_is_this_installation_s() -> None:
    words = [
        "/elsewhere/python",
        "-m",
        "rocm_perf_lab",
        "hipcc",
        "-O3",
        "{source}",
        "-o",
        "{output}",
    ]
    program, rest = recipe_here(words, as_it_is)
    assert program == [sys.executable, "-m", "rocm_perf_lab", "hipcc"]
    assert rest == ["-O3", "{source}", "-o", "{output}"]


def test_another_compiler_is_looked_for_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = tmp_path / "hipcc"
    there.write_text("#!/bin/sh\n")
    there.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    program, _ = recipe_here(["/evil/hipcc", "{source}", "{output}"], as_it_is)
    assert program == [str(there)]
    there.unlink()
    with pytest.raises(Unchecked, match="no such compiler is here"):
        recipe_here(["/evil/hipcc", "{source}", "{output}"], as_it_is)


@pytest.mark.parametrize(
    "word",
    ["-fplugin=evil.so", "-fpass-plugin=evil.so", "-Xclang", "-mllvm", "-Wl,-rpath,/x", "@words",
     "-B/x", "-fuse-ld=/x", "evil.o", "-specs=x", "-wrapper", "--config=x", "-L/x", "-T", "-DX=@y",
     "sh"],
)  # fmt: skip
def test_options_that_load_or_link_other_things_are_not_passed_on(word: str) -> None:
    words = ["python", "-m", "rocm_perf_lab", "hipcc", word, "{source}", "-o", "{output}"]
    with pytest.raises(Unchecked, match=re.escape(repr(word))):
        recipe_here(words, as_it_is)


def test_folders_are_those_of_the_tree(tmp_path: Path) -> None:
    tree = _Tree(tmp_path)
    tree.write("/home/me/include/a.h", "")
    words = ["p", "-m", "rocm_perf_lab", "hipcc", "-I/home/me/include", "-isystem",
             "/opt/rocm/include", "{source}", "-o", "{output}"]  # fmt: skip
    _, rest = recipe_here(words, tree.mapped)
    assert rest[:3] == [f"-I{tmp_path}/home/me/include", "-isystem", "/opt/rocm/include"]


@pytest.mark.parametrize(
    "path", ["relative", "/a/../../b", "/a//b", "/a/./b", "/a\0b", "/" + "x" * 3000]
)
def test_a_tree_holds_only_plain_absolute_paths(tmp_path: Path, path: str) -> None:
    with pytest.raises(BadInput, match="which is no path"):
        _Tree(tmp_path).place(path)


def test_own_files_are_the_sources_and_what_they_include(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "a.cpp").write_text(
        '#include <hip/hip_runtime.h>\n  #  include "deep/b.h"\n#include <d.h>\n#include "none.h"\n'
    )
    (tmp_path / "deep/b.h").write_text('#include "c.h"\n#include "../a.cpp"\n')
    (tmp_path / "deep/c.h").write_bytes(b"// \xff is not UTF-8\n")
    (tmp_path / "other/d.h").write_text("")
    (tmp_path / "unused.h").write_text("")
    source = tmp_path / "a.cpp"
    found = own_files({source: source.read_text()}, ("-I", str(tmp_path / "other")))
    names = [path.relative_to(tmp_path).as_posix() for path in found]
    assert names == ["a.cpp", "deep/b.h", "other/d.h", "deep/c.h"]


SOURCE = """
#include <hip/hip_runtime.h>
__device__ int shown = 3;
__global__ void k(int* out, int n) { out[threadIdx.x] = n * FACTOR + shown; }
"""


@pytest.mark.parametrize("digits", [16, 15, 14])
def test_what_is_loaded_does_not_depend_on_where_it_was_compiled(
    tmp_path: Path, digits: int
) -> None:
    need_virtual_gpu()

    def compiled(place: str, unit: str, factor: int = 2) -> Elf:
        folder = tmp_path / place
        folder.mkdir(parents=True)
        (folder / "k.cpp").write_text(SOURCE)
        hipcc("-O2", "-g", "--genco", "--no-gpu-bundle-output", f"-DFACTOR={factor}",
              f"-cuid={unit}", folder / "k.cpp", "-o", folder / "k.hsaco")  # fmt: skip
        return read_code_object((folder / "k.hsaco").read_bytes()).elf

    numbers = (f"unit {n}" for n in range(1 << 16))
    first = compiled("a", next(u for u in numbers if len(unit_hash(u)) == digits))
    unit = unit_like(first)
    assert unit is not None
    moved = compiled("quite/another", unit)
    assert first.data != moved.data
    assert loaded(first) == loaded(moved)
    assert compiler(first) == compiler(moved) != ""
    assert loaded(first) != loaded(compiled("third", unit, factor=3))
