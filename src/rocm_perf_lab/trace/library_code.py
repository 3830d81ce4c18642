"""Which source lines are the program's own.

A cost or a fault in a compiler's or a runtime's header belongs to the line that called it.

native/codeobject/source.cpp is the same for faults and gets its table from here:
`python -m rocm_perf_lab.trace.library_code FOLDER` writes it.
"""

from __future__ import annotations

import sys
from pathlib import Path

CALLED_FROM = " -> "  # between a place and the one that called it, in thread traces

# Compilers, runtimes and frameworks, by where they are installed; other headers are the program's.
STARTS = ("/opt/rocm", "/usr/include/", "/usr/local/include/", "/usr/lib/", "/usr/lib64/")
PARTS = (
    "/rocm_perf_lab/virtual/include/",
    "/rocm/include/",
    "/rocm/lib/",
    "/rocm/llvm/",
    *(f"/rocm-{version}." for version in range(5, 10)),
    "/lib/clang/",
    "/lib64/clang/",
    "/include/c++/",
    "/ziglang/lib/",
    "/triton/language/",
    "/triton/runtime/",
    "/triton/backends/",
    "/site-packages/triton/",
    "/dist-packages/triton/",
    "/site-packages/torch/",
    "/dist-packages/torch/",
)


def is_library_code(path: str) -> bool:
    return path.startswith(STARTS) or any(part in path for part in PARTS)


def own_place(source: str) -> str:
    """The innermost `file:line` of the program's own in a chain of calls.

    Where nothing is the program's, the innermost of all. Line 0 is code the compiler made up.
    """
    places = [place.strip() for place in source.split(CALLED_FROM)]
    known = [place for place in places if place and place.rpartition(":")[2] != "0"] or places
    own = (place for place in known if not is_library_code(place.rpartition(":")[0]))
    return next(own, known[0])


def told(source: str | None, folders: bool = False) -> str:
    """For a person: the program's own line, and what was inlined there."""
    own = own_place(source or "")
    innermost = (source or "").split(CALLED_FROM, 1)[0].strip()
    shown = own if folders else own.rpartition("/")[2]
    if own == innermost or innermost.rpartition(":")[2] in ("", "0"):
        return shown
    return f"{shown} (inlined: {innermost.rpartition('/')[2]})"


def main(folder: Path) -> None:
    def table(name: str, texts: tuple[str, ...]) -> list[str]:
        return [f"constexpr std::string_view {name}[] = {{", *(f'"{t}",' for t in texts), "};"]

    first = "// Written by rocm_perf_lab.trace.library_code; do not edit."
    text = "\n".join([first, *table("kStarts", STARTS), *table("kParts", PARTS), ""])
    (folder / "library_code.inc").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
