"""Names for Triton's kernels: configurations of one kernel share its symbol, and all look alike.

The driver that rocm-perf gives Triton programs writes a line for each code object it loads
(`triton/on_path`). The n-th line of a name and process belongs to that process's n-th code object
with a kernel of that name; where the numbers differ, nothing is renamed.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rocm_perf_lab.trace.trace import Trace

VARIABLE = "ROCM_PERF_TRITON_LOG"
# Options left at what the compiler chose say nothing.
_DEFAULTS = {"waves_per_eu": 0, "matrix_instr_nonkdim": 0, "kpack": 1, "num_ctas": 1}
_SUFFIX = re.compile(r" \[[A-Za-z_]\w*=[^\[\]]*\]$")
_MOST_LINES = 100_000
_LONGEST_VALUE = 40


@dataclass(frozen=True)
class Made:
    """What one code object was compiled from."""

    kernel: str
    parameters: dict[str, str]

    @property
    def shown(self) -> str:
        inside = ", ".join(f"{name}={value}" for name, value in self.parameters.items())
        return f"{self.kernel} [{inside}]" if inside else self.kernel


def plain_name(shown: str) -> str:
    """The symbol's own name: what a profiler's filter knows a kernel by."""
    return _SUFFIX.sub("", shown)


def parameters_of(shown: str) -> dict[str, str]:
    """Constexpr values and options of a kernel shown with them; empty for any other kernel."""
    found = _SUFFIX.search(shown)
    if found is None:
        return {}
    pairs = (part.split("=", 1) for part in found[0][2:-1].split(", "))
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2}


def read_log(folder: Path) -> dict[int, list[Made]]:
    """Lines by process; what is not a line of ours is left out."""
    found: dict[int, list[Made]] = {}
    for path in sorted(folder.glob("*.jsonl")) if folder.is_dir() else ():
        if not path.stem.isdigit():
            continue
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()[:_MOST_LINES]
        found[int(path.stem)] = [made for line in lines if (made := _made(line)) is not None]
    return found


def _made(line: str) -> Made | None:
    try:
        record = json.loads(line)
        kernel = record["kernel"]
        constants, options = dict(record["constants"]), dict(record["options"])
    except (ValueError, KeyError, TypeError):
        return None
    if not isinstance(kernel, str):
        return None
    chosen = {name: value for name, value in options.items() if value != _DEFAULTS.get(name)}
    return Made(kernel, {str(k): _value(v) for k, v in {**constants, **chosen}.items()})


_BYTES = {
    **dict.fromkeys(("i1", "i8", "u8"), 1),
    **dict.fromkeys(("i16", "u16", "fp16", "bf16"), 2),
    **dict.fromkeys(("i32", "u32", "fp32"), 4),
    **dict.fromkeys(("i64", "u64", "fp64"), 8),
}


def argument_names(folder: Path) -> dict[str, dict[int, str]]:
    """By kernel: the names of its arguments by where they stand in the argument block.

    Configurations of one kernel that pass other arguments make its names unknown.
    """
    found: dict[str, dict[int, str]] = {}
    for record in _records(folder):
        names = _offsets(record.get("arguments"))
        if found.setdefault(record["kernel"], names) != names:
            found[record["kernel"]] = {}
    return found


def _offsets(arguments: Any) -> dict[int, str]:
    names: dict[int, str] = {}
    at = 0
    for argument in arguments if isinstance(arguments, list) else ():
        name, kind = argument
        size = 8 if str(kind).startswith("*") else _BYTES.get(str(kind))
        if size is None:  # a tuple or a descriptor: from here on it is not known
            break
        at = -(-at // size) * size
        names[at] = str(name)
        at += size
    return names


def _records(folder: Path) -> Iterator[dict[str, Any]]:
    for path in sorted(folder.glob("*.jsonl")) if folder.is_dir() else ():
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()[:_MOST_LINES]
        for line in lines:
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if isinstance(record, dict) and isinstance(record.get("kernel"), str):
                yield record


def _value(value: Any) -> str:
    """Short, and without what would end the list it stands in."""
    return re.sub(r"[\[\],=\s]+", " ", str(value))[:_LONGEST_VALUE]


def named(trace: Trace, folder: Path) -> Trace:
    """The trace with Triton's kernels shown as their configurations."""
    made = read_log(folder)
    if not made:
        return trace
    by_name: dict[tuple[int, str], list[int]] = defaultdict(list)
    for index, kernel in enumerate(trace.kernels):
        by_name[kernel.process, _symbol(kernel.mangled_name or kernel.name)].append(index)
    kernels = list(trace.kernels)
    for (process, name), indices in by_name.items():
        lines = [m for m in made.get(trace.processes[process].pid or -1, []) if m.kernel == name]
        if len(lines) != len(indices):
            continue
        indices.sort(key=lambda i: trace.kernels[i].code_object_id or 0)
        for index, line in zip(indices, lines, strict=True):
            kernels[index] = replace(kernels[index], name=line.shown)
    return replace(trace, kernels=tuple(kernels))


def _symbol(name: str) -> str:
    return name.removesuffix(".kd")
