"""A PATH without what the machine happens to have, and a way past it for tests that ask.

`make test` runs with it, so that what passes here passes on a machine nobody prepared: every
compiler, LLVM's tools and ROCm are hidden, and what the project installs is used instead (ziglang).
Only the native part is built before with the machine's own C++ compiler where there is one, which
takes half the time. Run as a program it makes the folder:

    python tests/support/machine.py FOLDER
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

SHOWN = "ROCM_PERF_MACHINE_PATH"  # what PATH was before it was hidden
HIDDEN = re.compile(
    r"""(?:.*-)? clang.* | llvm-.* | llc.* | lli.* | opt(?:-\d+)? | (?:ld\.|ld64\.|wasm-)?lld.*
    | (?:.*-)? (?:c\+\+|g\+\+|gcc|cc|cpp|c89|c99|gfortran) (?:-[\d.]+)?
    | hip.* | roc.* | amdclang.* | nvcc.* | zig""",
    re.VERBOSE,
)


def which(name: str) -> str | None:
    """A program of the machine, hidden or not."""
    return shutil.which(name, path=os.environ.get(SHOWN))


def path() -> str:
    """PATH as it was."""
    return os.environ.get(SHOWN) or os.environ["PATH"]


def hide(folder: Path, path: str) -> None:
    """Fill `folder` with links to all programs of `path` but those."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for place in filter(Path.is_dir, map(Path, path.split(os.pathsep))):
        for program in sorted(place.iterdir()):
            link = folder / program.name
            if not HIDDEN.fullmatch(program.name) and not link.is_symlink():
                link.symlink_to(program.absolute())


def hidden() -> list[str]:
    """Compilers that the machine has and PATH does not show."""
    if SHOWN not in os.environ:
        return []
    names = ("g++", "clang", *(f"clang-{n}" for n in range(30, 16, -1)), "hipcc")
    return [name for name in names if which(name) and not shutil.which(name)]


if __name__ == "__main__":
    hide(Path(sys.argv[1]), path())
