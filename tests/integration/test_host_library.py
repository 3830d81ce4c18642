"""ziglang's C++ library is compiled once: confined builds find it, and cannot change it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rocm_perf_lab.device import host_library
from rocm_perf_lab.device.toolchain import find_toolchain
from rocm_perf_lab.optimize.build import Builder, default_recipe
from rocm_perf_lab.optimize.sandbox import Kind, Sandbox
from support.hip_build import need_virtual_gpu
from support.sandboxes import python, works

SOURCE = """
#include <hip/hip_runtime.h>
#include <iostream>
__global__ void one(int* out) { *out = 1; }
int main() { std::cout << "hello\\n"; }
"""
COMPILING_S = 20.0  # of processor time; the library takes twice that


@pytest.fixture(scope="module")
def kept() -> Path:
    need_virtual_gpu()
    if not find_toolchain().own_libcxx:
        pytest.skip("programs are linked with the machine's C++ library here")
    host_library.prepare("gfx942")
    found = host_library._compiled(find_toolchain())
    assert found is not None
    return found


@pytest.fixture(params=["bubblewrap", "landlock"])
def box(request: pytest.FixtureRequest, tmp_path: Path) -> Sandbox:
    kind: Kind = request.param
    if not works(kind, True):
        pytest.skip(f"{kind} does not work on this machine")
    (tmp_path / "work").mkdir()
    return Sandbox(kind, tmp_path / "work")


def test_a_confined_build_does_not_compile_it_again(
    kept: Path, box: Sandbox, tmp_path: Path
) -> None:
    source = tmp_path / "hello.cpp"
    source.write_text(SOURCE)
    builder = Builder(default_recipe("gfx942"), box, (source,), "gfx942")
    before, began = seen(kept), os.times()
    builder.build(source, SOURCE, box.work / "build", again=False)
    took = os.times()
    spent = took.children_user + took.children_system
    assert spent - began.children_user - began.children_system < COMPILING_S
    assert seen(kept) == before


def test_a_confined_program_cannot_change_it(kept: Path, box: Sandbox) -> None:
    library = next((kept / "o").rglob("libc++*.a"))
    before = seen(kept)
    for attempt in (
        f"open({str(library)!r}, 'ab')",
        f"os.symlink({str(library)!r}, 'mine.a'); open('mine.a', 'ab')",
        f"os.link({str(library)!r}, 'same.a'); open('same.a', 'ab')",
        f"os.unlink({str(library)!r})",
        f"os.mkdir({str(kept / 'o' / 'more')!r})",
    ):
        ended = python(box, f"import os\nos.chdir({str(box.work)!r})\n{attempt}")
        assert not ended.ok and "Error" in ended.output, attempt
    assert seen(kept) == before


def seen(folder: Path) -> dict[Path, tuple[int, int, int]]:
    found = ((path, path.stat()) for path in sorted(folder.rglob("*")))
    return {path: (stat.st_ino, stat.st_mtime_ns, stat.st_size) for path, stat in found}
