"""Where a kernel stands in its source: from the profiler's name to the definition's extent."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.optimize import libclang
from rocm_perf_lab.optimize.libclang import Cursor, TranslationUnit
from rocm_perf_lab.optimize.proposal import Extent

SCOPES = ("TRANSLATION_UNIT", "NAMESPACE", "LINKAGE_SPEC", "UNEXPOSED_DECL")


def base_name(name: str) -> str:
    """`void ns::softmax<256>(float const*, int) [clone .kd]` -> `softmax`."""
    text = re.sub(r"\s*\[clone [^\]]*\]$|\.kd$", "", name.strip())
    if text.startswith("_Z"):
        return _mangled_base(text)
    text = text.replace("(anonymous namespace)", "anonymous")
    kept, depth = [], 0
    for character in text:
        if character in "<(":
            if character == "(" and depth == 0:
                break
            depth += 1
        elif character in ">)":
            depth -= 1
        elif depth == 0:
            kept.append(character)
    return "".join(kept).strip().rpartition("::")[2].rpartition(" ")[2]


def _mangled_base(name: str) -> str:
    """`_ZN5inner5twiceILi64EEvPfi` -> `twice`: the last plain name before parameters."""
    at, found = 2 + (name[2:3] == "N"), name
    while match := re.compile(r"[KVrL]*(\d+)").match(name, at):
        length = int(match[1])
        found, at = name[match.end() : match.end() + length], match.end() + length
        if name[2:3] != "N":
            break
    return found


def definitions(unit: TranslationUnit, path: Path) -> Iterator[Cursor]:
    """Every top-level or namespace-level declaration that stands in this file."""

    found: list[Cursor] = []
    waiting = [unit.cursor]
    while waiting:
        child = waiting.pop()
        if child.kind.name in SCOPES:
            inside = (c for c in child.get_children() if not c.kind.is_preprocessing())
            waiting += reversed([c for c in inside if _stands_in(c, path)])
        else:
            found.append(child)
    # Instantiations are listed beside the template they come from.
    templates = {c.location.offset for c in found if "TEMPLATE" in c.kind.name}
    for cursor in found:
        if "TEMPLATE" in cursor.kind.name or cursor.location.offset not in templates:
            yield cursor


def _stands_in(cursor: Cursor, path: Path) -> bool:
    file = cursor.location.file
    return file is not None and Path(file.name) == path


def body_of(cursor: Cursor) -> Cursor | None:
    return next((c for c in cursor.get_children() if c.kind.name == "COMPOUND_STMT"), None)


def is_kernel(cursor: Cursor) -> bool:
    return cursor.kind.name in ("FUNCTION_DECL", "FUNCTION_TEMPLATE") and any(
        child.kind.name == "CUDAGLOBAL_ATTR" for child in cursor.get_children()
    )


def find_kernel(unit: TranslationUnit, path: Path, name: str) -> Cursor:
    """The definition of one kernel; `name` as the profiler or the code object writes it."""
    wanted = base_name(name)
    kernels = [
        c for c in definitions(unit, path) if is_kernel(c) and c.is_definition() and body_of(c)
    ]
    found = [c for c in kernels if c.mangled_name == name] or [
        c for c in kernels if c.spelling == wanted
    ]
    if len(found) > 1:
        exact = [c for c in found if _parameters(c) == _parameters_in(name)]
        found = exact if len(exact) == 1 else found
    if not found:
        there = ", ".join(dict.fromkeys(c.spelling for c in kernels)) or "none"
        raise BadInput(f"{path.name} does not define the kernel {wanted} (kernels there: {there})")
    if len(found) > 1:
        raise BadInput(f"{path.name} defines {len(found)} kernels called {wanted}")
    return found[0]


def _parameters(cursor: Cursor) -> int:
    return sum(1 for child in cursor.get_children() if child.kind.name == "PARM_DECL")


def _parameters_in(name: str) -> int | None:
    """How many parameters a demangled name lists."""
    text = re.sub(r"\s*\[clone [^\]]*\]$", "", name.strip())
    if not text.endswith(")"):
        return None
    depth, count, at = 0, 1, len(text) - 1
    while at >= 0:
        depth += (text[at] in ")>") - (text[at] in "(<")
        count += text[at] == "," and depth == 1
        if depth == 0:
            break
        at -= 1
    return 0 if text[at + 1 : -1].strip() in ("", "void") else count


@dataclass(frozen=True)
class Located:
    path: Path
    source: str  # the text it was found in
    kernel: str  # the function's own name
    extent: Extent
    first_line: int
    last_line: int
    used: tuple[str, ...]  # texts of what it uses from the same file


def locate(path: Path, source: str, name: str, flags: Sequence[str], architecture: str) -> Located:
    """Find the kernel's definition, or say why it cannot be edited."""
    unit = libclang.parse(path, source, flags, architecture, "device")
    if problems := libclang.errors(unit):
        raise BadInput(f"{path.name} does not compile as it stands: {problems[0]}")
    cursor = find_kernel(unit, path, name)
    return Located(
        path=path,
        source=source,
        kernel=cursor.spelling,
        extent=extent_of(cursor, source, path),
        first_line=cursor.extent.start.line,
        last_line=cursor.extent.end.line,
        used=tuple(_used(unit, cursor, source, path)),
    )


def locate_among(
    sources: Mapping[Path, str], name: str, flags: Sequence[str], architecture: str
) -> Located:
    """In the one of several files that defines it."""
    for path, source in sources.items():
        try:
            return locate(path, source, name, flags, architecture)
        except BadInput:
            if len(sources) == 1:
                raise
    raise BadInput(f"no source given defines {name}")


def extent_of(cursor: Cursor, source: str, path: Path) -> Extent:
    body = body_of(cursor)
    assert body is not None
    extent = Extent(cursor.extent.start.offset, body.extent.start.offset, body.extent.end.offset)
    data = source.encode()
    # Inside a macro's expansion libclang gives the place of the macro's use.
    if data[extent.body : extent.body + 1] != b"{" or data[extent.end - 1 : extent.end] != b"}":
        raise BadInput(f"{path.name}: the kernel {cursor.spelling} is written by a macro")
    return extent


def _used(unit: TranslationUnit, kernel: Cursor, source: str, path: Path) -> Iterator[str]:
    """Texts of the file's own definitions that the kernel refers to, directly or through one."""
    data = source.encode()
    known = {c.get_usr(): c for c in definitions(unit, path) if c.get_usr()}
    wanted, queue = set[str](), [kernel]
    while queue:
        for node in libclang.walk(queue.pop()):
            target = node.referenced
            usr = target.get_usr() if target is not None else ""
            if usr in known and usr not in wanted and usr != kernel.get_usr():
                wanted.add(usr)
                queue.append(known[usr])
    pieces = [(known[u].extent.start.offset, known[u].extent.end.offset) for u in wanted]
    names = {
        child.spelling
        for child in unit.cursor.get_children()
        if child.kind.name == "MACRO_INSTANTIATION"
        and child.location.file is not None
        and Path(child.location.file.name) == path
        and any(
            begin <= child.location.offset < end
            for begin, end in [
                (kernel.extent.start.offset, kernel.extent.end.offset),
                *pieces,
            ]
        )
    }
    for child in unit.cursor.get_children():
        file = child.location.file
        if (
            child.kind.name == "MACRO_DEFINITION"
            and child.spelling in names
            and file is not None
            and Path(file.name) == path
        ):
            line = data.rfind(b"\n", 0, child.extent.start.offset) + 1
            pieces.append((line, child.extent.end.offset))
    reach = 0  # `int a = 1, b = 2;` is one piece, not two
    for begin, end in sorted(pieces, key=lambda piece: (piece[0], -piece[1])):
        if end <= reach:
            continue
        reach = end
        yield data[begin:end].decode("utf-8", "replace")
