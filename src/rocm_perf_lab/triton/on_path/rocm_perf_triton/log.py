"""What made each kernel, for a profiler outside: one line of JSON per code object loaded.

Configurations of one kernel share its name. `rocm-perf profile` names a folder in
ROCM_PERF_TRITON_LOG; the n-th line of a name belongs to the n-th code object that has it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

VARIABLE = "ROCM_PERF_TRITON_LOG"
_OPTIONS = ("num_warps", "num_stages", "waves_per_eu", "matrix_instr_nonkdim", "kpack", "num_ctas")
_latest: dict[str, Any] = {}


def made_by(source: Any, metadata: Any) -> None:
    """A kernel is about to be loaded; Triton tells what it is before it hands over its code."""
    if not os.environ.get(VARIABLE):
        return
    function = getattr(source, "fn", None)
    declared = [p.name for p in getattr(function, "params", ()) if p.is_constexpr]
    names = list(getattr(function, "arg_names", ()))
    values = {}
    for key, value in dict(getattr(source, "constants", None) or {}).items():
        index = key[0] if isinstance(key, tuple) and len(key) == 1 else key
        name = names[index] if isinstance(index, int) and index < len(names) else index
        if name in declared:  # others were found to be one, and made constant for that
            values[name] = value if isinstance(value, (int, float, bool, str)) else str(value)
    options = {name: getattr(metadata, name) for name in _OPTIONS if hasattr(metadata, name)}
    python = getattr(function, "fn", None)
    kinds = dict(getattr(source, "signature", None) or {})
    _latest.clear()
    _latest.update(
        constants=values,
        options={name: value for name, value in options.items() if isinstance(value, int)},
        arguments=[[str(n), k] for n, k in kinds.items() if k != "constexpr"],
        shared=metadata.shared,
        file=getattr(getattr(python, "__code__", None), "co_filename", None),
        line=getattr(function, "starting_line_number", None),
    )


def loaded(name: str, image: bytes) -> None:
    folder = os.environ.get(VARIABLE)
    if not folder or not _latest:
        return
    line = json.dumps({"kernel": name, "bytes": len(image), **_latest}, default=str)
    try:
        with (Path(folder) / f"{os.getpid()}.jsonl").open("a", encoding="utf-8") as file:
            file.write(line + "\n")
    except OSError:
        pass  # the program matters more than its profile
