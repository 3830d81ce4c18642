"""Build a program from a source file, confined, twice: the same text must give the same code."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rocm_perf_lab import beneath
from rocm_perf_lab.codeobject.kernels import CodeObject, Kernel, read_code_objects
from rocm_perf_lab.errors import BadInput, UsageError
from rocm_perf_lab.optimize.sandbox import Sandbox

BUILD_LIMIT_S = 600.0
SOURCE, OUTPUT = "{source}", "{output}"
PROGRAM, MOST_BYTES = "program", 1 << 30
LINES = (
    "-g", "-O1", "-finline-functions", "-fno-unroll-loops", "-fno-vectorize", "-fno-slp-vectorize"
)  # fmt: skip


@dataclass(frozen=True)
class Recipe:
    """Words of a command; `{source}` and `{output}` stand for paths."""

    words: tuple[str, ...]

    @property
    def flags(self) -> tuple[str, ...]:
        """What a compiler's front end would want of them, to read the source the same way."""
        if SOURCE not in self.words or OUTPUT not in self.words:
            return ()
        kept: list[str] = []
        following = False
        for word in self.words:
            if following or word.startswith(("-D", "-I", "-U", "-std=", "-O", "-include", "-f")):
                kept.append(word)
            following = not following and word in ("-D", "-I", "-U", "-include", "-isystem")
        return tuple(kept)

    def with_debug(self) -> Recipe:
        """With debug information, where it is clear how to ask for it."""
        return self if "-g" in self.words else self._with("-g")

    def with_lines(self) -> Recipe:
        """With line numbers, and hardly optimized: most instructions are still the source's."""
        return self._with(*LINES)

    def _with(self, *flags: str) -> Recipe:
        if SOURCE not in self.words:
            return self
        at = self.words.index(SOURCE)
        return Recipe((*self.words[:at], *flags, *self.words[at:]))

    def fill(self, sources: Sequence[Path], output: Path) -> list[str]:
        words: list[str] = []
        for word in self.words:
            if word == SOURCE:
                words += [str(path) for path in sources]
            else:
                word = word.replace(SOURCE, str(sources[0])).replace(OUTPUT, str(output))
                words.append(word)
        return words


def default_recipe(architecture: str, debug: bool = False) -> Recipe:
    own = (sys.executable, "-m", "rocm_perf_lab", "hipcc", "-O3")
    recipe = Recipe((*own, f"--offload-arch={architecture}", SOURCE, "-o", OUTPUT))
    return recipe.with_debug() if debug else recipe


def parse_recipe(text: str) -> Recipe:
    """A command line without a shell: quotes group words, nothing else is special."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"--build cannot be read: {error}") from None
    if not words:
        raise UsageError("--build is empty")
    for place in (SOURCE, OUTPUT):
        if not any(place in word for word in words):
            raise UsageError(
                f"--build does not say where {place} goes",
                hint='for example --build "hipcc -O3 {source} -o {output}"',
            )
    if words[0] == "rocm-perf":
        words[:1] = [sys.executable, "-m", "rocm_perf_lab"]
    return Recipe(tuple(words))


@dataclass(frozen=True)
class Built:
    program: Path
    codes: tuple[CodeObject, ...]  # for the device's architecture
    log: str  # what the compiler said

    def code_of(self, symbol: str) -> CodeObject:
        return self._found(symbol)[0]

    def kernel(self, symbol: str) -> Kernel:
        return self._found(symbol)[1]

    def _found(self, symbol: str) -> tuple[CodeObject, Kernel]:
        for code in self.codes:
            for kernel in code.kernels:
                if kernel.name == symbol:
                    return code, kernel
        raise BuildFailed(f"the rebuilt program has no kernel {symbol}", self.log)


class BuildFailed(Exception):
    """The compiler refused it, or the two builds differ; the text goes back to the proposer."""

    def __init__(self, reason: str, log: str) -> None:
        super().__init__(reason)
        self.reason, self.log = reason, log


@dataclass(frozen=True)
class Builder:
    """Everything about a build but the text."""

    recipe: Recipe
    box: Sandbox
    sources: tuple[Path, ...]
    architecture: str
    limit_s: float = BUILD_LIMIT_S

    def build(self, changed: Path, text: str, folder: Path, again: bool = True) -> Built:
        """Build with `text` in the place of `changed`, one of the sources, in `folder`."""
        return self.build_all({changed: text}, folder, again)

    def build_all(self, texts: Mapping[Path, str], folder: Path, again: bool = True) -> Built:
        """Build with these texts in the places of sources; `again`, to see that it gives the same.

        The files themselves are never touched: the texts lie in `folder` under the same names, and
        the originals' folders are searched for what they include.
        """
        # The build can write to this folder, and to no other: what others built stays theirs.
        beneath.remove(folder.parent, folder.name)
        folder.mkdir(parents=True)
        first = self._written(texts, folder)
        return self.built_again(first, texts, folder) if again else first

    def built_again(self, first: Built, texts: Mapping[Path, str], folder: Path) -> Built:
        """The same once more, in the same folder and under one name: compilers write it into what
        they make. BuildFailed where it gives other code."""
        beneath.remove(folder, PROGRAM)
        second = self._written(texts, folder)
        if [c.elf.data for c in first.codes] != [c.elf.data for c in second.codes]:
            raise BuildFailed(
                "two builds of the same text give different code: nothing can be proved of it",
                first.log,
            )
        return second

    def _written(self, texts: Mapping[Path, str], folder: Path) -> Built:
        box = replace(self.box, work=folder)
        copies = {path: folder / path.name for path in texts}
        if len(set(copies.values())) < len(copies):
            raise BuildFailed("two sources that were changed have the same name", "")
        files = [copies.get(path, path) for path in self.sources]
        includes = list(dict.fromkeys(path.parent for path in texts))
        for path, text in texts.items():  # each time: a build could change it
            beneath.remove(folder, path.name)
            beneath.write(folder, path.name, text.encode("utf-8", "surrogateescape"))
        return self._once(box, files, includes)

    def debug_build(self, changed: Path, text: str, folder: Path) -> Built | None:
        """Built once, with debug information: to read types of, not to run, because compilers may
        order instructions in another way then. None: it cannot be had."""
        return self._otherwise(self.recipe.with_debug(), changed, text, folder)

    @property
    def can_show_lines(self) -> bool:
        """Whether it is clear how to ask for that."""
        return self.recipe.with_lines() != self.recipe

    def lines_build(self, changed: Path, text: str, folder: Path) -> Built | None:
        """Built once so that instructions tell which lines ran. None: it cannot be had."""
        return self._otherwise(self.recipe.with_lines(), changed, text, folder)

    def _otherwise(self, recipe: Recipe, changed: Path, text: str, folder: Path) -> Built | None:
        if recipe == self.recipe:
            return None
        try:
            return replace(self, recipe=recipe).build_all({changed: text}, folder, again=False)
        except BuildFailed:
            return None

    def _once(self, box: Sandbox, files: Sequence[Path], includes: Sequence[Path]) -> Built:
        output = box.work / PROGRAM
        words = self.recipe.fill(files, output)
        ended = box.run(words, {"CPATH": os.pathsep.join(map(str, includes))}, self.limit_s)
        if not ended.ok:
            raise BuildFailed(f"the build {ended.sentence()}", ended.output)
        # From here on nothing that was proposed can write there: it may be read by its path.
        size = beneath.file_size(box.work, PROGRAM)
        if size is None:
            raise BuildFailed(f"the build ended well but wrote no {PROGRAM}", ended.output)
        if size > MOST_BYTES:
            raise BuildFailed(f"the {PROGRAM} has {size:,} bytes, over {MOST_BYTES:,}", "")
        try:
            codes = code_objects(output, self.architecture)
        except BadInput as error:
            log = "\n".join(filter(None, (ended.output, error.hint)))
            raise BuildFailed(error.message, log) from None
        return Built(output, codes, ended.output)


def code_objects(program: Path, architecture: str) -> tuple[CodeObject, ...]:
    """The code objects of a program for an architecture."""
    found = read_code_objects(program)
    plain = architecture.partition(":")[0]
    matching = tuple(c for c in found if c.architecture.partition(":")[0] == plain)
    if not matching:
        raise BadInput(
            f"{program.name} is built for {found[0].architecture}, the device is a {plain}",
            hint=f"add --offload-arch={plain} to the build",
        )
    return matching
