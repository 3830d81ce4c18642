"""Facts about devices and kernels, said the same way by every reader."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from rocm_perf_lab.codeobject.demangle import demangle
from rocm_perf_lab.trace import vgpr
from rocm_perf_lab.trace.columns import MISSING, as_integer, ordinary_text
from rocm_perf_lab.trace.trace import KernelSymbol

_KD = re.compile(r"(\.kd| \(\.kd\)| \[clone \.kd\])$")

_MISREAD_BF16 = "bool _Accum"  # what demanglers that do not know DF16b make of it


def unknown_kernel(number: int) -> KernelSymbol:
    name = "<unknown kernel>" if number == MISSING else f"<unknown kernel {number}>"
    return KernelSymbol(0, name)


def symbol_name(*candidates: object) -> str | None:
    """The first usable of several recorded names, without the descriptor's suffix."""
    for candidate in candidates:
        name = _KD.sub("", (ordinary_text(candidate) or "").strip())
        if name:
            return name
    return None


def kernel_name(*candidates: object) -> str | None:
    """The same as the source has it, also where the profiler's demangler gave up or went wrong."""
    name = symbol_name(*candidates)
    if name is None:
        return None
    return demangle(name) if name.startswith("_Z") else name.replace(_MISREAD_BF16, "__bf16")


def kernel_symbol(
    *,
    process: int,
    name: str,
    architecture: str,
    accum_never_seen: bool,
    mangled: str | None = None,
    code_object_id: int | None = None,
    sgprs: int | None,
    arch_vgprs: int | None,
    accum_vgprs: int | None,
    lds: int | None = None,
    scratch: int | None = None,
) -> KernelSymbol:
    counts = vgpr.true_counts(architecture, arch_vgprs, accum_vgprs, accum_never_seen)
    return KernelSymbol(
        process=process,
        name=name,
        mangled_name=mangled,
        code_object_id=code_object_id,
        sgprs=sgprs,
        arch_vgprs=counts.arch,
        accum_vgprs=counts.accum,
        total_vgprs=counts.total,
        static_lds_bytes=lds,
        scratch_bytes=scratch,
        corrections=counts.corrections,
    )


def json_object(text: object) -> dict[str, Any]:
    """A JSON object recorded as text; {} for anything else, it is only ever extra."""
    if not isinstance(text, (str, bytes)):
        return {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def fractions(facts: Mapping[str, Any], most: float = 1) -> dict[str, float]:
    """Kernel name -> a share; what is none is left out."""
    return {
        ordinary_text(name) or "": float(value)
        for name, value in facts.items()
        if isinstance(value, (int, float)) and 0 <= value <= most and value < float("inf")
    }


def agent_properties(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The scalar facts about a device, its caches (alike ones counted) and its memory banks."""
    result: dict[str, Any] = {}
    for key, value in facts.items():
        name = ordinary_text(key) or ""
        if isinstance(value, str):
            result[name] = ordinary_text(value)
        elif isinstance(value, (bool, int)) or (isinstance(value, float) and math.isfinite(value)):
            result[name] = value
    caches: dict[tuple[tuple[str, int], ...], int] = {}
    for cache in _objects(facts.get("caches")):
        shape = tuple(
            (name, int(cache[name]))
            for name in ("level", "size", "cache_line_size", "latency")
            if isinstance(cache.get(name), int)
        )
        caches[shape] = caches.get(shape, 0) + 1
    if caches:
        result["caches"] = tuple({**dict(shape), "count": n} for shape, n in sorted(caches.items()))
    banks = tuple(
        {
            name: bank[name]
            for name in ("width", "mem_clk_max", "size_in_bytes", "heap_type")
            if isinstance(bank.get(name), int)
        }
        for bank in _objects(facts.get("mem_banks"))
    )
    if banks:
        result["mem_banks"] = banks
    return dict(sorted(result.items()))


def _objects(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def number(value: object) -> int | None:
    number = as_integer(value)
    return number if number >= 0 else None
