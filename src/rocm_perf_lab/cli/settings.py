"""Our environment variables: misspelt names and values are errors before anything runs."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping

from rocm_perf_lab.errors import UsageError, plain

# name -> (what it takes, in words; a pattern for it, or None: anything)
VARIABLES: dict[str, tuple[str, str | None]] = {
    "ROCM_PERF_DEBUG": ("0 or 1", r"[01]?"),
    "ROCM_PERF_DEVICE": ("a device's name", None),
    "ROCM_PERF_NATIVE_LIB": ("a folder", None),
    "ROCM_PERF_AMD_HIP": ("a library", None),
    "ROCM_PERF_CAPTURE": ("a folder", None),
    "ROCM_PERF_CACHE_DIR": ("a folder", None),
    "ROCM_PERF_HIPCC": ("a program", None),
    "ROCM_PERF_HIP_TOOL": ("a library", None),
    "ROCM_PERF_PORTABLE": ("0 or 1", r"[01]?"),
    "ROCM_PERF_RECORD": ("a folder", None),
    "ROCM_PERF_REPRODUCIBLE": ("0 or 1", r"[01]?"),
    "ROCM_PERF_SHARED": ("a folder", None),
    "ROCM_PERF_TOOLCHAIN": ("rocm, clang, ziglang or a program", None),
    "ROCM_PERF_VIRTUAL_BARRIER": ("strict or hardware", r"(strict|hardware)?"),
    "ROCM_PERF_VIRTUAL_BOUNDS": ("strict or page", r"(strict|page)?"),
    "ROCM_PERF_VIRTUAL_CLOCK": ("host or model", r"(host|model)?"),
    "ROCM_PERF_VIRTUAL_MAX_INSTRUCTIONS": ("a whole number", r"\d{0,19}"),
    "ROCM_PERF_VIRTUAL_MEMORY": ("bytes, like 8G", r"(\d+[KMGT]?)?"),
    "ROCM_PERF_VIRTUAL_REPEATS": ("run or skip", r"(run|skip)?"),
    "ROCM_PERF_VIRTUAL_TIMING": ("what docs/run.md says", None),
    "ROCM_PERF_VIRTUAL_WAVES": ("a whole number", r"\d{0,9}"),
    "ROCM_PERF_VIRTUAL_THREADS": ("a whole number from 1 to 1024", r"(0*[1-9]\d{0,3})?"),
}
_PREFIX = "ROCM_PERF_"
_MAX_THREADS = 1024


def check(environment: Mapping[str, str]) -> None:
    for name, value in sorted(environment.items()):
        if not name.startswith(_PREFIX):
            continue
        if name not in VARIABLES:
            own = [known.removeprefix(_PREFIX) for known in VARIABLES]
            near = difflib.get_close_matches(name.removeprefix(_PREFIX), own, n=1, cutoff=0.8)
            if near:
                raise UsageError(
                    f"{plain(name)} is no variable of rocm-perf",
                    hint=f"did you mean {_PREFIX}{near[0]}?",
                )
            continue  # somebody else's, or of another version
        takes, pattern = VARIABLES[name]
        wrong = pattern is not None and re.fullmatch(pattern, value, re.IGNORECASE) is None
        if name.endswith("_THREADS") and value.isdigit():
            wrong |= int(value) > _MAX_THREADS
        if wrong:
            raise UsageError(f"{name}={plain(value)[:60]}: it takes {takes}")
