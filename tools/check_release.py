"""Install what tools/build_release.py made into clean environments, and use it.

    python tools/check_release.py [--dist DIR] [--python PYTHON ...] [--sdist system|zig ...]

Without options: the wheel with every Python 3.10 to 3.14 that is to be had, then the sdist with
the system's compiler, then with ziglang alone. Interpreters are looked for on PATH and in pyenv's
folder; one that is not there is named, and that it was not tried.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build" / "release"
VERSIONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
COMPILERS = ("cc", "c++", "gcc", "g++", "clang", "clang++", "ld", "ar", "as", "zig")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--dist", type=Path, default=ROOT / "dist")
    parser.add_argument("--python", action="append", help="only these: 3.12, or a program")
    parser.add_argument("--sdist", action="append", choices=["system", "zig"])
    asked = parser.parse_args()
    asked.dist = asked.dist.resolve()
    every = not asked.python and not asked.sdist
    tried: list[str] = []
    for wanted in VERSIONS if every else asked.python or ():
        python = find_python(wanted)
        if python is None:
            tried.append(f"Python {wanted}: not to be had here, not tried")
            continue
        wheel = next(asked.dist.glob("*.whl"))
        tried.append(check(f"python{wanted}", python, wheel, dict(os.environ)))
    for compiler in ("system", "zig") if every else asked.sdist or ():
        sdist = next(asked.dist.glob("*.tar.gz"))
        tried.append(check_sdist(compiler, sdist))
    print("\n".join(tried))
    return 0


def find_python(wanted: str) -> str | None:
    if "/" in wanted:
        return wanted
    homes = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    kept = sorted(homes.glob(f"{wanted}.*/bin/python"))
    for candidate in (*map(str, kept), shutil.which(f"python{wanted}")):
        if candidate is not None:
            # A shim of pyenv's is on PATH for versions that are not active.
            done = subprocess.run([candidate, "-c", "import venv"], capture_output=True)
            if done.returncode == 0:
                return candidate
    return None


def check_sdist(compiler: str, sdist: Path) -> str:
    env = dict(os.environ)
    if compiler == "zig":
        env["PATH"] = path_without_compilers(WORK / "bin")
        for name in ("CC", "CXX", "CMAKE_C_COMPILER_LAUNCHER", "CMAKE_CXX_COMPILER_LAUNCHER"):
            env.pop(name, None)
    return check(f"sdist-{compiler}", sys.executable, sdist, env)


def path_without_compilers(folder: Path) -> str:
    """A folder of links to everything on PATH but compilers, binutils and build tools."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    hidden = (*COMPILERS, "cmake", "ninja", "make", "hipcc")
    for directory in os.environ["PATH"].split(os.pathsep):
        for program in Path(directory).glob("*") if directory else ():
            stem = program.name.rpartition("-")[0] if program.name[-1:].isdigit() else program.name
            one_of = any(stem == name or stem.endswith(f"-{name}") for name in hidden)
            one_of |= program.name.startswith("ld.")
            link = folder / program.name
            if not one_of and not link.is_symlink():
                link.symlink_to(program)
    assert not any(shutil.which(name, path=str(folder)) for name in hidden)
    return str(folder)


def check(name: str, python: str, package: Path, env: dict[str, str]) -> str:
    """A clean environment with the package, and ziglang if no compiler is there for HIP."""
    started = time.monotonic()
    place = WORK / "check" / name
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for taken in ("PYTHONPATH", "VIRTUAL_ENV", "ROCM_PERF_NATIVE_LIB", "ROCM_PERF_DEVICE"):
        env.pop(taken, None)
    run([python, "-m", "venv", place / "venv"], place, env)
    bin_ = place / "venv" / "bin"
    pip: list[str | Path] = [bin_ / "python", "-m", "pip", "install", "--quiet"]
    run([*pip, package], place, env)
    env = {**env, "PATH": f"{bin_}:{env['PATH']}"}
    perf = bin_ / "rocm-perf"
    if subprocess.run([perf, "hipcc", "--version"], env=env, capture_output=True).returncode:
        # Not package[toolchain]: pip would build an sdist once more.
        asked = [bin_ / "python", "-c", TOOLCHAIN]
        extra = subprocess.run(asked, env=env, capture_output=True, text=True, check=True)
        run([*pip, *extra.stdout.split("\n")[:-1]], place, env)
    run([perf, "--version"], place, env)
    run([perf, "doctor"], place, env)
    run([perf, "hipcc", "-O3", ROOT / "examples" / "vcopy.cpp", "-o", "vcopy"], place, env)
    run([perf, "run", "--device", "virtual", "./vcopy"], place, env)
    run([perf, "profile", "--device", "virtual", "--runs", "1", "./vcopy"], place, env)
    run([perf, "report", "--out", "report.html"], place, env)
    run([bin_ / "python", "-c", IN_PYTHON], place, env)
    kernels = (place / "report.html").read_text("utf-8").count("vecCopy")
    assert kernels, "the report does not name the kernel"
    return f"{name}: installed and works, {time.monotonic() - started:.0f} s"


IN_PYTHON = """
import rocm_perf_lab as rpl
run = rpl.load()
assert run.virtual and any("vecCopy" in k.kernel.name for k in run.kernels), run.kernels
assert "site-packages" in rpl.__file__, rpl.__file__
"""


TOOLCHAIN = """
from importlib.metadata import requires
for requirement in requires("rocm-perf-lab"):
    name, _, condition = requirement.partition(";")
    if "toolchain" in condition:
        print(name.strip())
"""


def run(words: list[str | Path], cwd: Path, env: dict[str, str]) -> None:
    print("$", *words, flush=True)
    done = subprocess.run([str(word) for word in words], cwd=cwd, env=env)
    if done.returncode:
        raise SystemExit(f"{words[0]} ended with {done.returncode}")


if __name__ == "__main__":
    sys.exit(main())
