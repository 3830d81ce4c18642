"""The program a command is given: where it is, or why it cannot be run and what can be."""

from __future__ import annotations

import difflib
import os
import shlex
import shutil
from pathlib import Path

from rocm_perf_lab.errors import BadInput

_COMPILED = {".c", ".cc", ".cpp", ".cxx", ".cu", ".hip"}
_RUNS_ITSELF = (b"\x7fELF", b"#!")


def resolve(program: str) -> str:
    """The program as an absolute path, or a sentence why it cannot be run."""
    found = program if os.sep in program else shutil.which(program)
    here = Path(program)
    if found is None or not Path(found).exists():
        if here.is_file():
            _no_source(here)
        where = "" if os.sep in program else " on PATH"
        hint = f"try ./{program}" if here.is_file() else _near(here)
        raise BadInput(f"the program {program} was not found{where}", hint=hint)
    if Path(found).is_dir():
        raise BadInput(f"{program} is a folder, not a program")
    _no_source(Path(found))
    if not os.access(found, os.X_OK):
        raise BadInput(
            f"{program} is not executable", hint=f"chmod +x {shlex.quote(program)}, or build it"
        )
    return str(Path(found).absolute())


def _no_source(path: Path) -> None:
    """Also where everything is executable by its mode, as on some file systems."""
    suffix = path.suffix.lower()
    if suffix not in {".py", *_COMPILED} or _starts(path).startswith(_RUNS_ITSELF):
        return
    name = shlex.quote(str(path))
    if suffix == ".py":
        raise BadInput(
            f"{path} is a Python program that does not name its interpreter",
            hint=f"give the interpreter as the program: python3 {name}",
        )
    built = path.with_suffix("")
    if built.is_dir():
        built = built.with_name(f"{built.name}.out")
    cuda = "\n  hipify-clang translates what is CUDA's own in it" if suffix == ".cu" else ""
    raise BadInput(
        f"{path} is a source file, not a program",
        hint=f"build it: rocm-perf hipcc -O3 -g {name} -o {shlex.quote(str(built))}\n"
        f"  and give what was built: {_as_command(built)}{cuda}",
    )


def _as_command(path: Path) -> str:
    text = str(path)
    return shlex.quote(text if os.sep in text else f"./{text}")


def _starts(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(4)
    except OSError:
        return b""


def _near(path: Path) -> str | None:
    """A program here whose name is nearly this one."""
    try:
        names = [p.name for p in path.parent.iterdir() if p.is_file() and os.access(p, os.X_OK)]
    except OSError:
        return None
    close = difflib.get_close_matches(path.name, names, n=1)
    return f"did you mean {_as_command(path.parent / close[0])}?" if close else None
