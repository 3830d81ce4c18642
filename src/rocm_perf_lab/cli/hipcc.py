"""`rocm-perf hipcc`: compile HIP. AMD's hipcc where it is installed, else the toolchain here."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Sequence

from rocm_perf_lab.device import toolchain_shim
from rocm_perf_lab.device.toolchain import find_toolchain, real_hipcc
from rocm_perf_lab.device.toolchain_args import parse
from rocm_perf_lab.device.toolchain_build import build
from rocm_perf_lab.errors import MissingTool

HELP = """Usage: rocm-perf hipcc [hipcc's options] FILES...

Compiles and links HIP programs with hipcc's own options. AMD's hipcc does it where ROCm is
installed; elsewhere a system clang (17 or newer, with lld) or PyPI's ziglang, and the program
is linked with the virtual GPU's runtime. ROCM_PERF_TOOLCHAIN=rocm|clang|ziglang|PATH chooses.

Options of this command alone:
  --print-shim-dir  Make a folder with `hipcc` and `hipconfig` for PATH, and print its name.
                    Its parent serves as ROCM_PATH and HIP_PATH for Makefiles that want one.
  --rocm-perf-device-lib=own|amd|auto|FOLDER
                    Whose mathematics device code is linked with. `own` (the default) is this
                    project's; `amd` the ocml.bc of ROCm, rocm-device-libs or Triton's wheel,
                    `auto` that where there is one the compiler can read. ROCM_PERF_DEVICE_LIB
                    says the same for a whole build.

Examples:
  rocm-perf hipcc -O3 -g app.cpp -o app
  rocm-perf hipcc -O3 --offload-arch=gfx942,gfx90a app.cpp -o app
  PATH=$(rocm-perf hipcc --print-shim-dir):$PATH make
"""


def app(args: Sequence[str], prog_name: str = "rocm-perf hipcc") -> None:
    words = list(args)
    if words[:1] == ["--print-shim-dir"]:
        print(toolchain_shim.make_shims())
        return
    if words[:1] == ["--hipconfig"]:
        print(toolchain_shim.hipconfig(words[1:]), end="")
        return
    amd = _amd_hipcc()
    if amd is not None:
        os.execv(amd, [amd, *words])
    if not words or words in (["--help"], ["-h"]):
        print(HELP, end="")
        sys.exit(0 if words else 2)
    words += shlex.split(os.environ.get("HIPCC_COMPILE_FLAGS_APPEND", ""))
    command = parse(words)
    if command.stage == "link":
        command = parse([*words, *shlex.split(os.environ.get("HIPCC_LINK_FLAGS_APPEND", ""))])
    toolchain = find_toolchain()
    if command.question == "--print-shim-dir":
        print(toolchain_shim.make_shims())
        return
    if command.question:
        if command.question == "--version":
            print(toolchain_shim.version_text(), flush=True)
        sys.exit(subprocess.run([*toolchain.clang, command.question], check=False).returncode)
    if command.verbose and not command.inputs:
        sys.exit(subprocess.run([*toolchain.clang, "-v"], check=False).returncode)
    code = build(toolchain, command, lambda text: print(text, file=sys.stderr, flush=True))
    if code:
        sys.exit(code)


def _amd_hipcc() -> str | None:
    wanted = os.environ.get("ROCM_PERF_TOOLCHAIN", "")
    if wanted not in ("", "rocm"):
        return None
    found = real_hipcc()
    if found is None and wanted == "rocm":
        raise MissingTool(
            "ROCM_PERF_TOOLCHAIN is rocm, but there is no hipcc", "install ROCm, or set ROCM_PATH"
        )
    return str(found) if found else None
