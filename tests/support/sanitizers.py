"""Builds of the native part under sanitizers, and what programs need to run with them."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from support import machine
from support.native_build import REPOSITORY, programs

NATIVE = REPOSITORY / "native"


@dataclass(frozen=True)
class Sanitizer:
    tree: str  # under build/
    option: str  # of CMake: RPL_SANITIZE
    library: str  # that programs which are not built with it load first
    variables: dict[str, str]

    def built(self, target: str = "native_tests") -> Path:
        """The folder with the test programs; `all` builds the libraries of HIP as well."""
        return programs(self.tree, [f"-DRPL_SANITIZE={self.option}"], target)

    def preloaded(self) -> dict[str, str]:
        """Variables for a HIP program that was built as usual."""
        compiler = machine.which("c++")
        asked = [compiler or "c++", f"-print-file-name={self.library}"]
        found = "" if compiler is None else subprocess.check_output(asked, text=True).strip()
        if not Path(found).is_absolute():
            pytest.skip(f"the compiler has no {self.library} to load first")
        libraries = REPOSITORY / "build" / self.tree / "lib"
        return {**self.variables, "LD_PRELOAD": found, "LD_LIBRARY_PATH": str(libraries)}


SANITIZERS = {
    "address": Sanitizer(
        "sanitize",
        "ON",
        "libasan.so",
        {
            # The arena is one huge mapping that is meant to stay; leaks are still looked for.
            "ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0:verify_asan_link_order=0",
            "LSAN_OPTIONS": f"print_suppressions=0:suppressions={NATIVE / 'lsan.supp'}",
            "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
        },
    ),
    "thread": Sanitizer(
        "thread",
        "thread",
        "libtsan.so",
        {"TSAN_OPTIONS": f"exitcode=66:suppressions={NATIVE / 'tsan.supp'}"},
    ),
}


def command(*words: str | Path) -> list[str]:
    """Without address randomisation where that can be had: ThreadSanitizer's places are fixed."""
    setarch = shutil.which("setarch")
    return [*([setarch, "-R"] if setarch else []), *map(str, words)]
