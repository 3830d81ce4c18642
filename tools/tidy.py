"""clang-tidy over the C++ that is ours: `python tools/tidy.py [--changed]`, after `make native`.

Every file is checked once, with the commands of the native build; what the build generates is not
ours. With --changed: only what differs from the main branch, or includes a header that does.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "native"
BIN = Path(sys.executable).parent


def output(*command: str | Path, folder: Path = ROOT) -> str:
    words = [str(word) for word in command]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True).stdout


def sources() -> dict[Path, set[Path]]:
    """What is compiled of native/, with all it includes."""
    includes: dict[str, set[Path]] = {}
    current: set[Path] = set()
    for line in output(BIN / "ninja", "-t", "deps", folder=BUILD).splitlines():
        if line.startswith(" "):
            current.add((BUILD / line.strip()).resolve())
        elif line:
            current = includes.setdefault(line.split(":")[0], set())
    found: dict[Path, set[Path]] = {}
    for entry in json.loads((BUILD / "compile_commands.json").read_text("utf-8")):
        file = (Path(entry["directory"]) / entry["file"]).resolve()
        if file.is_relative_to(ROOT / "native"):
            found.setdefault(file, {file}).update(includes.get(entry["output"], set()))
    return found


def changed() -> set[Path]:
    """Files that differ from where this branch left main; on main, from the last commit."""
    base = output("git", "merge-base", "HEAD", "main").strip()
    listed = output("git", "diff", "--name-only", base)
    return {ROOT / name for name in listed.splitlines()}


def check(file: Path) -> tuple[int, str]:
    command = [str(BIN / "clang-tidy"), "-p", str(BUILD), "--quiet", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout if done.returncode else ""


def main() -> int:
    parser = argparse.ArgumentParser(description="clang-tidy over the native sources.")
    parser.add_argument("--changed", action="store_true", help="only what differs from main")
    compiled = sources()
    chosen = sorted(compiled)
    if parser.parse_args().changed:
        try:
            differ = changed()
        except (OSError, subprocess.CalledProcessError):
            print("clang-tidy: no branch called main to compare with; make tidy checks every file")
            return 0
        chosen = [file for file in chosen if compiled[file] & differ]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(check, chosen))
    sys.stdout.write("".join(text for _, text in results))
    bad = sum(code != 0 for code, _ in results)
    print(f"clang-tidy: {len(chosen)} of {len(compiled)} files, {bad} with findings")
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
