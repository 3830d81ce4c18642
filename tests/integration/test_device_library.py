"""Whose mathematics device code is linked with, and what ours costs beside AMD's."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from rocm_perf_lab.device import device_library as library
from rocm_perf_lab.device.toolchain import DEFAULT_ARCH, device_flags, find_toolchain
from rocm_perf_lab.errors import BadInput, MissingTool
from support import device_math
from support.hip_build import hipcc, need_compiler, need_virtual_gpu, run

pytestmark = pytest.mark.compiler

# Stands for AMD's: one function that tells which GPU it was told to be.
STAND_IN = """
extern "C" {
__attribute__((constant)) extern const int __oclc_ISA_version;
__attribute__((device, visibility("protected"))) float __ocml_sin_f32(float x) {
  return x + __oclc_ISA_version;
}
}
"""
PROGRAM = """
#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void k(float* p) { p[0] = sinf(p[0]); p[1] = tanf(p[1]); printf("device\\n"); }
int main() {
  float* p;
  if (hipHostMalloc(&p, 8, 0)) return 1;
  p[0] = 1; p[1] = 0;
  k<<<1, 1>>>(p);
  if (hipDeviceSynchronize()) return 2;
  std::printf("%g %g\\n", p[0], p[1]);
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need_virtual_gpu()
    made = tmp_path_factory.mktemp("amdgcn")
    (made / "ocml.hip").write_text(STAND_IN)
    (made / "program.cpp").write_text(PROGRAM)
    flags = ["-fgpu-rdc", "-Xclang", "-mcode-object-version=none", "-O3", "-emit-llvm", "-c"]
    command = [*find_toolchain().clang, *device_flags(DEFAULT_ARCH), *flags]
    subprocess.run([*command, str(made / "ocml.hip"), "-o", str(made / "ocml.bc")], check=True)
    return made


@pytest.mark.parametrize("flag", ["-O2", "-fgpu-rdc"])
def test_amds_functions_come_first_and_ours_fill_in(
    flag: str, folder: Path, tmp_path: Path
) -> None:
    option = f"--rocm-perf-device-lib={folder}"
    hipcc(flag, option, folder / "program.cpp", "-o", tmp_path / "amds")
    assert run(tmp_path / "amds").stdout == "device\n9403 0\n"


def test_a_whole_build_by_the_environment_and_ours_without_it(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hipcc(folder / "program.cpp", "-o", tmp_path / "own")
    assert run(tmp_path / "own").stdout == "device\n0.841471 0\n"
    monkeypatch.setenv("ROCM_PERF_DEVICE_LIB", str(folder))
    hipcc(folder / "program.cpp", "-o", tmp_path / "amds")
    assert run(tmp_path / "amds").stdout == "device\n9403 0\n"


def test_a_library_that_is_not_there_or_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_compiler()
    toolchain = find_toolchain()
    monkeypatch.delenv("ROCM_PERF_DEVICE_LIB", raising=False)
    with pytest.raises(BadInput, match=r"there is no ocml\.bc in"):
        library.device_libraries(toolchain, DEFAULT_ARCH, str(tmp_path))
    monkeypatch.setattr(library, "_folders", lambda: iter([tmp_path]))
    with pytest.raises(MissingTool, match="was not found"):
        library.device_libraries(toolchain, DEFAULT_ARCH, "amd")
    (tmp_path / "ocml.bc").write_bytes(b"BC\xc0\xde of another time")
    with pytest.raises(MissingTool, match="newer LLVM"):
        library.device_libraries(toolchain, DEFAULT_ARCH, "amd")
    ours = library.device_libraries(toolchain, DEFAULT_ARCH, "own")
    assert library.device_libraries(toolchain, DEFAULT_ARCH, "auto") == ours


@pytest.mark.parametrize(
    ("arch", "number"), [("gfx942", 9402), ("gfx90a:xnack+", 9010), ("gfx1100", 11000)]
)
def test_the_number_by_which_amds_library_knows_a_gpu(arch: str, number: int) -> None:
    assert library._version(arch) == number


@pytest.mark.slow
def test_ours_costs_no_more_than_the_page_says(tmp_path: Path) -> None:
    need_virtual_gpu()
    try:
        library.device_libraries(find_toolchain(), DEFAULT_ARCH, "amd")
    except MissingTool as error:
        pytest.skip(f"{error.message}: {error.hint}")
    own = device_math.measure("own", tmp_path / "own")
    amd = device_math.measure("amd", tmp_path / "amd")
    allowed = {f.name: (f.ulp32, f.ulp64) for f in device_math.TABLE}
    for (name, suffix), measured in own.items():
        # The compiler's logarithm of a float is a little over 1.
        limit = max(1.1, allowed[name][suffix == "f64"])
        assert measured.ulp <= limit, f"{name} {suffix}: {measured.ulp:.2f} ulp"
    rows = (
        line.strip("| ").split(" | ") for line in device_math.PAGE.read_text("utf-8").split("\n")
    )
    told = {(row[0], row[1]): float(row[6]) for row in rows if len(row) == 9 and row[2].isdigit()}
    assert told.keys() == own.keys()
    for key, measured in own.items():
        # Another compiler than the page's, or another of AMD's libraries, moves it by so much.
        limit = 1.25 * max(1.0, told[key])
        assert measured.executed <= limit * amd[key].executed, f"{' '.join(key)}: page {told[key]}"
