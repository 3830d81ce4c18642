"""Which source file a program was built from: its debug information, else its name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from rocm_perf_lab.codeobject.kernels import CodeObject, read_code_objects
from rocm_perf_lab.device.sources import Sources
from rocm_perf_lab.errors import BadInput, UsageError

SUFFIXES = (".cpp", ".hip", ".cu", ".cc", ".cxx", ".c++")
MAX_SOURCE_BYTES = 16 << 20
HINT = "name it with --source FILE"


def find_source(program: Path, given: Sequence[Path]) -> tuple[dict[Path, str], str]:
    """The source files with their texts, and how they were found, in words."""
    if given:
        return {path.resolve(): read_text(path) for path in given}, "given by --source"
    codes = read_code_objects(program)
    by_lines = _from_lines(codes)
    if len(by_lines) > 1:
        names = ", ".join(path.name for path in by_lines)
        raise UsageError(
            f"{program.name} has kernels in several files: {names}",
            hint="name them with --source and say how to build them with --build",
        )
    if by_lines:
        return {path: read_text(path) for path in by_lines}, "from the program's debug information"
    for path in _by_name(program):
        text = read_text(path)
        if "__global__" in text:
            return {path: text}, "by the program's name"
    raise BadInput(
        f"the source of {program.name} was not found: it has no debug information, and no "
        f"file of its name stands beside it",
        hint=HINT,
    )


def has_lines(program: Path) -> bool:
    return any(Sources(code.elf.data).files() for code in read_code_objects(program))


def _from_lines(codes: Sequence[CodeObject]) -> list[Path]:
    """Files that kernels' instructions come from; a header's code is inlined into another's."""
    counted: Counter[Path] = Counter()
    for code in codes:
        for file, rows in Sources(code.elf.data).files().items():
            path = Path(file)
            if path.suffix in SUFFIXES and path.is_absolute():
                counted[path] += rows
    return [path.resolve() for path, _ in counted.most_common() if path.is_file()]


def _by_name(program: Path) -> Iterator[Path]:
    here = program.resolve().parent
    folders = [here, here.parent, here.parent / "src", here.parent.parent, Path.cwd()]
    folders += [Path.cwd() / "src", Path.cwd() / "examples"]
    stem = program.name.partition(".")[0]
    for folder in dict.fromkeys(folders):
        for suffix in SUFFIXES:
            path = folder / f"{stem}{suffix}"
            if path.is_file() and path.stat().st_size <= MAX_SOURCE_BYTES:
                yield path.resolve()


def read_text(path: Path) -> str:
    """A source file as text. What is not UTF-8 would not come back as it was."""
    try:
        if path.stat().st_size > MAX_SOURCE_BYTES:
            raise BadInput(f"{path} is too large to be a source file")
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BadInput(f"{path} is not UTF-8 text", hint=HINT) from None
