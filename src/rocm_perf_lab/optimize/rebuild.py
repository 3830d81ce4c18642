"""Are the code objects of a claim what its sources compile to? Compiled again here, confined.

The files lie in a tree of their own as they lay where they come from, and the compiler is told to
call them by those names, so that it writes the same. What may be run is a compiler with options
that compile, named by a stranger's ledger but found on this machine: a build by anything else, or
by another compiler, cannot be repeated here, and is said to be unchecked.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from rocm_perf_lab import __version__
from rocm_perf_lab.codeobject.kernels import CodeObject, read_code_object
from rocm_perf_lab.codeobject.loaded import compiler, loaded, unit_like
from rocm_perf_lab.device.host_library import prepare
from rocm_perf_lab.errors import BadInput, MissingTool
from rocm_perf_lab.optimize.build import OUTPUT, SOURCE, Builder, BuildFailed, Recipe
from rocm_perf_lab.optimize.sandbox import Sandbox
from rocm_perf_lab.optimize.story import Start
from rocm_perf_lab.schema.verification import Claim

OWN = ("-m", "rocm_perf_lab", "hipcc")
COMPILERS = ("hipcc", "amdclang++", "clang++")
# Options that say what is compiled and how, and can neither load nor name another program or file.
_OPTIONS = re.compile(
    r"-O[0-3sgz]?|-Ofast|-g[\w-]*|-w|-pthread|-[DU][A-Za-z_]\w*(=[^/@]*)?|-std=[\w+]+"
    r"|-W(?![lap],)[\w=+-]*|-f(?!plugin|pass-plugin|use-ld|profile|sanitize|lto)[a-z0-9-]+(=[\w+-]*)?"
    r"|-m(?!llvm)[\w-]+(=[\w+,-]*)?|--offload-arch=[\w:+,-]+|-l[\w+.-]+|-x|hip|-o"
)
_WITH_PATH = ("-I", "-isystem", "-iquote", "-idirafter", "-include")


class Unchecked(Exception):
    """It cannot be compiled again here; the message says why."""


@dataclass(frozen=True)
class Rebuilt:
    """`differs`: what is not as the bundle has it; `unchecked`: why that cannot be known here."""

    differs: str | None = None
    unchecked: str | None = None


def rebuild(
    claim: Claim,
    start: Start,
    images: tuple[bytes, bytes],
    text_of: Callable[[str], str],
    box: Sandbox,
) -> Rebuilt:
    """Both texts of the claim; the original's first."""
    try:
        if start.tool != __version__:
            raise Unchecked(f"version {start.tool[:40]} built it, and this is {__version__}")
        tree = _Tree(box.work / "tree")
        box = replace(box, readable=(*box.readable, tree.root))
        for path, text in start.files.items():
            tree.write(path, text_of(text))
        first = start.order[0]
        for image, name, file, text, place in (
            (images[0], "the original source", first, start.sources[first], claim.places[0]),
            (images[1], "the accepted source", claim.file, claim.source, claim.places[1]),
        ):
            code = read_code_object(image)
            made = _built(code, claim.symbol, start, tree, file, text_of(text), place, box)
            if loaded(made.elf) == loaded(code.elf):
                continue
            if compiler(made.elf) != compiler(code.elf):
                there, here = (compiler(c.elf)[:80] or "another compiler" for c in (code, made))
                raise Unchecked(f"{there} compiled it, and here is {here}")
            return Rebuilt(differs=f"{name} does not compile to the code that is with it")
    except Unchecked as reason:
        return Rebuilt(unchecked=str(reason))
    return Rebuilt()


def _built(
    code: CodeObject,
    symbol: str,
    start: Start,
    tree: _Tree,
    file: str,
    text: str,
    place: str,
    box: Sandbox,
) -> CodeObject:
    program, words = recipe_here(start.build, tree.mapped)
    extra = [f"-ffile-prefix-map={tree.root}="]
    unit = unit_like(code.elf)
    if len(start.sources) == 1 and unit is not None:
        extra.append(f"-cuid={unit}")
    recipe = Recipe((*program, *extra, *words))
    sources = tuple(tree.place(path) for path in start.order)
    architecture = code.architecture.partition(":")[0]
    try:
        prepare(architecture)
        builder = Builder(recipe, box, sources, architecture)
        built = builder.build(tree.place(file), text, tree.place(place), again=False)
        return built.code_of(symbol)
    except BuildFailed as error:
        lines = [x.strip() for x in error.log.splitlines() if "error:" in x] or [""]
        raise Unchecked(f"it does not build here: {error.reason}: {lines[0]}"[:300]) from None
    except (MissingTool, BadInput) as error:
        raise Unchecked(f"it does not build here: {error.message}"[:300]) from None
    except OSError as error:  # of names that cannot stand beside each other
        raise Unchecked(f"it does not build here: {error.strerror}") from None


def recipe_here(words: Sequence[str], mapped: Callable[[str], str]) -> tuple[list[str], list[str]]:
    """A stranger's build as it may be run here: compiler, options. Unchecked: it may not."""
    if tuple(words[1:4]) == OWN:
        program, rest = [sys.executable, *OWN], list(words[4:])
    else:
        name = PurePosixPath(words[0]).name
        found = shutil.which(name) if name in COMPILERS else None
        if found is None:
            what = "no such compiler is here" if name in COMPILERS else "verify runs compilers only"
            raise Unchecked(f"it was built by {name[:80]!r}: {what}")
        program, rest = [found], list(words[1:])
    kept: list[str] = []
    option = ""
    for word in rest:
        start = next((o for o in _WITH_PATH if word.startswith(o)), "")
        if option:
            kept.append(mapped(word))
            option = ""
        elif start and word != start:
            kept.append(start + mapped(word.removeprefix(start)))
        elif start or word in (SOURCE, OUTPUT) or _OPTIONS.fullmatch(word):
            kept.append(word)
            option = start
        else:
            raise Unchecked(f"it was built with {word[:80]!r}, which verify does not pass on")
    if SOURCE not in kept or OUTPUT not in kept:
        raise Unchecked("its build does not say where the source and the result go")
    return program, kept


class _Tree:
    """A folder that holds files under the absolute paths they had elsewhere."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def place(self, path: str) -> Path:
        pure = PurePosixPath(path)
        odd = not pure.is_absolute() or ".." in pure.parts or "\0" in path or len(path) > 2000
        if odd or str(pure) != path:
            raise BadInput(f"the ledger names a file {path[:80]!r}, which is no path")
        return self.root / path.lstrip("/")

    def write(self, path: str, text: str) -> None:
        target = self.place(path)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text.encode("utf-8", "surrogateescape"))
        except OSError as error:
            raise BadInput(f"{path[:80]!r} of the ledger: {error.strerror}") from None

    def mapped(self, path: str) -> str:
        """An option's path: in the tree if it came along, else this machine's own."""
        here = self.place(path) if path.startswith("/") else None
        return str(here) if here is not None and here.exists() else path
