"""Our environment variables: misspelt names and values are errors before anything runs.

The virtual GPU's libraries check them too, for programs started by hand, by the same table:
`python -m rocm_perf_lab.cli.settings FOLDER` writes it as C++ when the native part is configured.
"""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from rocm_perf_lab.errors import UsageError, plain

# name -> (what it takes, in words; a pattern for it, or None: anything). Patterns mean the same to
# Python and to C++.
VARIABLES: dict[str, tuple[str, str | None]] = {
    "ROCM_PERF_DEBUG": ("0 or 1", r"[01]?"),
    "ROCM_PERF_DEVICE_LIB": ("own, amd, auto or a folder", None),
    "ROCM_PERF_DEVICE": ("a device's name", None),
    "ROCM_PERF_NATIVE_LIB": ("a folder", None),
    "ROCM_PERF_AMD_HIP": ("a library", None),
    "ROCM_PERF_CAPTURE": ("a folder", None),
    "ROCM_PERF_CACHE_DIR": ("a folder", None),
    "ROCM_PERF_CHECK": (
        "memory, init, race, sync, hazards, with commas between",
        r"((memory|init|race|sync|hazards|reached)(,(memory|init|race|sync|hazards|reached))*)?",
    ),
    "ROCM_PERF_CHECK_KERNEL": ("a regular expression", None),
    "ROCM_PERF_CHECK_LOG": ("a folder", None),
    "ROCM_PERF_FINDINGS": ("a folder", None),
    "ROCM_PERF_HIPCC": ("a program", None),
    "ROCM_PERF_HIP_TOOL": ("a library", None),
    "ROCM_PERF_PORTABLE": ("0 or 1", r"[01]?"),
    "ROCM_PERF_RECORD": ("a folder", None),
    "ROCM_PERF_REPRODUCIBLE": ("0 or 1", r"[01]?"),
    "ROCM_PERF_SHARED": ("a folder", None),
    "ROCM_PERF_TIMES": ("a file", None),
    "ROCM_PERF_TRANSLATE_FOR": ("avx, avx2 or avx512", r"(avx|avx2|avx512)?"),
    "ROCM_PERF_TRANSLATIONS": ("a folder", None),
    "ROCM_PERF_TRANSLATOR": ("a command", None),
    "ROCM_PERF_TOOLCHAIN": ("rocm, clang, ziglang or a program", None),
    "ROCM_PERF_VIRTUAL_BARRIER": ("strict or hardware", r"(strict|hardware)?"),
    "ROCM_PERF_VIRTUAL_BOUNDS": ("strict, page or report", r"(strict|page|report)?"),
    "ROCM_PERF_VIRTUAL_LEFTOVER": (
        "a byte, 0 to 255",
        r"(0*(\d{1,2}|1\d\d|2[0-4]\d|25[0-5]))?",
    ),
    "ROCM_PERF_VIRTUAL_MAX_INSTRUCTIONS": ("a whole number", r"\d{0,19}"),
    "ROCM_PERF_VIRTUAL_MEMORY": ("bytes, like 8G", r"(\d+[KMGT]?)?"),
    "ROCM_PERF_VIRTUAL_PROGRESS": ("seconds", r"(\d{1,6}(\.\d{1,6})?)?"),
    "ROCM_PERF_VIRTUAL_REPEATS": ("run or skip", r"(run|skip)?"),
    "ROCM_PERF_VIRTUAL_TIMING": ("emulation or model", r"(emulation|model)?"),
    "ROCM_PERF_VIRTUAL_TRANSLATE": ("off, on or always", r"(off|on|always)?"),
    "ROCM_PERF_VIRTUAL_WAVES": ("a whole number", r"\d{0,9}"),
    "ROCM_PERF_VIRTUAL_THREADS": (
        "a whole number from 1 to 1024",
        r"(0*([1-9]\d{0,2}|10[01]\d|102[0-4]))?",
    ),
}
_PREFIX = "ROCM_PERF_"
_NEAR = 0.8


def check(environment: Mapping[str, str]) -> None:
    for name, value in sorted(environment.items()):
        if not name.startswith(_PREFIX):
            continue
        if name not in VARIABLES:
            own = [known.removeprefix(_PREFIX) for known in VARIABLES]
            near = difflib.get_close_matches(name.removeprefix(_PREFIX), own, n=1, cutoff=_NEAR)
            if near:
                raise UsageError(
                    f"{plain(name)} is no variable of rocm-perf",
                    hint=f"did you mean {_PREFIX}{near[0]}?",
                )
            continue  # somebody else's, or of another version
        takes, pattern = VARIABLES[name]
        if pattern is not None and re.fullmatch(pattern, value) is None:
            raise UsageError(f"{name}={plain(value)[:60]}: it takes {takes}")


def main(folder: Path) -> None:
    rows = [
        f'{{"{name}", "{takes}", ' + ("nullptr" if pattern is None else f'R"({pattern})"') + "},"
        for name, (takes, pattern) in sorted(VARIABLES.items())
    ]
    text = "\n".join(
        [
            "// Written by rocm_perf_lab.cli.settings; do not edit.",
            f'constexpr std::string_view kPrefix = "{_PREFIX}";',
            f"constexpr double kNear = {_NEAR};",
            "constexpr Setting kSettings[] = {",
            *rows,
            "};",
            "",
        ]
    )
    (folder / "settings.inc").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
