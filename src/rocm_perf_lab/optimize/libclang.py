"""The one door to libclang: which library, how a HIP file is parsed, device and host view.

The library that belongs to the compiler is taken where there is one (ROCm's llvm, a system's
clang), so that both read the same language; else the one that PyPI's `libclang` brings.
"""

from __future__ import annotations

import atexit
import contextlib
import enum
import functools
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from rocm_perf_lab import scratch
from rocm_perf_lab.device.toolchain import (
    Toolchain,
    device_flags,
    find_toolchain,
    header_flags,
    include_dir,
    real_hipcc,
    searched,
)
from rocm_perf_lab.device.toolchain_args import parse as parse_hipcc
from rocm_perf_lab.errors import BadInput, MissingTool

Side = Literal["device", "host"]
SIDES: tuple[Side, Side] = ("device", "host")

# The bindings carry no types; these names say what is meant.
Cursor = Any
TranslationUnit = Any

HINT = "pip install libclang, or install the library of your clang (Debian: libclang1-19)"


@functools.lru_cache(maxsize=1)
def bindings() -> Any:
    """`clang.cindex` with its library chosen."""
    try:
        from clang import cindex
    except ImportError as error:
        raise MissingTool("the syntax tree needs libclang, which is not installed", HINT) from error
    if not cindex.Config.loaded:
        beside = next(_beside_compiler(), None)
        if beside is not None:
            cindex.Config.set_library_file(str(beside))
    _name_kinds(cindex)
    try:
        cindex.Index.create()
    except cindex.LibclangError as error:
        raise MissingTool(f"libclang cannot be loaded: {str(error).splitlines()[0]}", HINT) from (
            error
        )
    return cindex


# Kinds of types that the library's bindings do not know yet.
_TYPES = {32: "FLOAT16", 39: "BFLOAT16"}
_MOST_KINDS = 800


def _name_kinds(cindex: Any) -> None:
    """What the library knows and its bindings do not is a kind like others: they would raise an
    error at the first number of half precision."""
    for kinds, names in ((cindex.TypeKind, _TYPES), (cindex.CursorKind, {})):
        if issubclass(kinds, enum.Enum):  # those of newer libraries, which know these
            continue
        for number in range(_MOST_KINDS):
            if number >= len(kinds._kinds) or kinds._kinds[number] is None:
                setattr(kinds, names.get(number, f"KIND_{number}"), kinds(number))


def _beside_compiler() -> Iterator[Path]:
    compiler = _compiler()
    home = Path(compiler.clang[0]).resolve().parent
    for folder in (home.parent / "lib", home.parent / "lib64"):
        yield from sorted(folder.glob("libclang.so*"), reverse=True)
        yield from sorted(folder.glob("libclang-[0-9]*.so*"))


@dataclass(frozen=True)
class Compiler:
    clang: tuple[str, ...]
    resource_dir: str | None
    toolchain: Toolchain | None  # None: ROCm's own, with its own headers
    # Where it looks for <...>: a libclang from elsewhere finds no C++ library, or another one.
    includes: tuple[str, ...] = ()


@functools.lru_cache(maxsize=1)
def _compiler() -> Compiler:
    if os.environ.get("ROCM_PERF_TOOLCHAIN", "") in ("", "rocm") and (amd := real_hipcc()):
        root = amd.resolve().parent.parent
        names = (root / "llvm/bin/clang", root / "lib/llvm/bin/clang", amd.parent / "amdclang")
        clang = next((name for name in names if name.is_file()), None)
        if clang is not None:
            words = (str(clang),)
            return Compiler(words, _resource_dir(words), None, _includes(words))
    ours = find_toolchain()
    if ours.kind != "clang":  # its host_flags say it all
        return Compiler(ours.clang, None, ours)
    return Compiler(ours.clang, _resource_dir(ours.clang), ours, _includes(ours.clang))


def _includes(clang: Sequence[str]) -> tuple[str, ...]:
    folders = searched(*clang)
    words = ["-nostdinc", *(word for folder in folders for word in ("-isystem", folder))]
    return tuple(words) if folders else ()


def _resource_dir(clang: Sequence[str]) -> str | None:
    words = [*clang, "-print-resource-dir"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.stdout.strip() or None


# Warnings that are looked at; clang's analysis finds what is used on every path, or on one.
UNINITIALISED = (
    "-Wuninitialized", "-Wsometimes-uninitialized", "-Wconditional-uninitialized",
    "-Wuninitialized-const-reference",
)  # fmt: skip


def arguments(flags: Sequence[str], architecture: str, side: Side) -> list[str]:
    """The compile line of one side, as `rocm-perf hipcc` would write it."""
    command = parse_hipcc(list(flags))
    compiler = _compiler()
    words = ["-resource-dir", compiler.resource_dir] if compiler.resource_dir else []
    if compiler.toolchain is not None and compiler.toolchain.own_libcxx:
        # Before everything else: ziglang's headers are newer than libclang.
        words += ["-include", str(include_dir() / "__rocm_perf_older_parser.h")]
    if compiler.toolchain is None:
        view = "--offload-device-only" if side == "device" else "--offload-host-only"
        words += ["-x", "hip", view, f"--offload-arch={architecture}", "-nogpulib"]
    else:
        if side == "device":
            words += device_flags(architecture)
        else:
            words += ["-x", "hip", "--offload-host-only", "-nogpulib", "-nogpuinc"]
        words += [*header_flags(), *compiler.toolchain.host_flags]
    words += compiler.includes
    own = command.device_flags if side == "device" else command.host_flags
    skip = re.compile(r"-fopenmp|-march=|-mtune=|-fsanitize|-pg$|--coverage|-g|-fplugin|-Xclang")
    given = (f for f in (*command.compile_flags, *own) if not skip.match(f))
    return [*words, *given, "-Wno-everything", *UNINITIALISED]


# What stands between a text's includes is parsed once and kept by libclang; the least recently
# used of these goes first. Each holds some tens of MB.
_KEEP = 4
_CREATE_PREAMBLE_ON_FIRST_PARSE = 0x100
_units: dict[tuple[object, ...], TranslationUnit] = {}
atexit.register(_units.clear)  # before the library they need is gone


@functools.lru_cache(maxsize=1)
def _own_folder() -> Path:
    """For libclang's files, some tens of MB each: a killed process's are removed by the next."""
    kept = contextlib.ExitStack()
    atexit.register(kept.close)
    return kept.enter_context(scratch.folder("rocm-perf-syntax-"))


@contextlib.contextmanager
def _preambles_in(folder: Path) -> Iterator[None]:
    before = os.environ.get("TMPDIR")
    os.environ["TMPDIR"] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ["TMPDIR"]
        else:
            os.environ["TMPDIR"] = before


def parse(
    path: Path, source: str, flags: Sequence[str], architecture: str, side: Side
) -> TranslationUnit:
    """The syntax tree of `source` as if it stood in `path`; nothing is written.

    Good until the next call for the same file and side: take what you need as plain data.
    """
    cindex = bindings()
    unit_class = cindex.TranslationUnit
    key = (path, tuple(flags), architecture, side)
    unit = _units.pop(key, None)
    words = arguments(flags, architecture, side)
    try:
        with _preambles_in(_own_folder()):
            if unit is None:
                unit = cindex.Index.create(excludeDecls=True).parse(
                    str(path),
                    args=words,
                    unsaved_files=[(str(path), source)],
                    options=unit_class.PARSE_DETAILED_PROCESSING_RECORD
                    | unit_class.PARSE_PRECOMPILED_PREAMBLE
                    | _CREATE_PREAMBLE_ON_FIRST_PARSE,
                )
            # Also the first time: a tree with its preamble lists other entities than one without.
            unit.reparse(unsaved_files=[(str(path), source)])
    except cindex.TranslationUnitLoadError as error:
        raise BadInput(f"{path.name} cannot be parsed ({side} side)") from error
    _units[key] = unit
    while len(_units) > _KEEP:
        del _units[next(iter(_units))]
    return unit


def prepare(path: Path, source: str, flags: Sequence[str], architecture: str, side: Side) -> None:
    """Parse what the file includes, for the next calls and for processes forked from this one."""
    if (path, tuple(flags), architecture, side) not in _units:
        parse(path, source, flags, architecture, side)


def uninitialised(unit: TranslationUnit) -> list[tuple[int, int, str]]:
    """(offset, line, message) of uses of a variable before it has a value."""
    return [
        (d.location.offset, d.location.line, d.spelling)
        for d in unit.diagnostics
        if d.option in UNINITIALISED
    ]


def errors(unit: TranslationUnit) -> list[str]:
    """What a compiler would refuse, as `line:column: message`."""
    return [
        f"{d.location.line}:{d.location.column}: {d.spelling}"
        for d in unit.diagnostics
        if d.severity >= bindings().Diagnostic.Error
    ]


def walk(cursor: Cursor) -> Iterator[Cursor]:
    """A tree from its top, each node before its children. No recursion: a tree may be deeper than
    Python's stack, and an exception in libclang's callback would only cut it short."""
    waiting = [cursor]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(list(node.get_children())))


def overloads(cursor: Cursor) -> list[Cursor]:
    """The functions a name may mean."""
    library = bindings().conf.lib
    count = library.clang_getNumOverloadedDecls(cursor)
    found = [library.clang_getOverloadedDecl(cursor, index) for index in range(count)]
    for each in found:
        each._tu = cursor._tu  # as the bindings' own functions do
    return found


@contextlib.contextmanager
def complete() -> Iterator[None]:
    """What is read of a tree inside is all of it: ctypes drops exceptions of callbacks, and what
    was dropped is raised here."""
    dropped: list[BaseException] = []
    before = sys.unraisablehook

    def keep(what: Any) -> None:
        dropped.append(what.exc_value or what.exc_type())

    sys.unraisablehook = keep
    try:
        yield
    finally:
        sys.unraisablehook = before
    if dropped:
        raise RuntimeError(f"the tree was not read to its end: {dropped[0]!r}") from dropped[0]
