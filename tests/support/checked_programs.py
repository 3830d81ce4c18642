"""Programs with planted mistakes and their corrected twins, through `rocm-perf check`."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

from support.cli import rocm_perf
from support.hip_build import REPOSITORY, hipcc, need_virtual_gpu

PROGRAMS = REPOSITORY / "tests" / "integration" / "programs"
TWIN = re.compile(r"\b(\w+)<(true|false)>")
Document = dict[str, Any]


def built(folder: Path, name: str) -> Path:
    need_virtual_gpu()
    hipcc("-O2", "-g", PROGRAMS / f"{name}.cpp", "-o", folder / name)
    return folder / name


def check(program: Path, *options: str, arguments: tuple[str, ...] = (), code: int = 1) -> Document:
    done = rocm_perf("check", "--json", *options, program, "--", *arguments, cwd=program.parent)
    assert done.returncode == code, (done.stdout, done.stderr)
    found: Document = json.loads(done.stdout)
    return found


def planted(source: str) -> set[str]:
    """Every kernel and function of a program that has twins."""
    text = (PROGRAMS / f"{source}.cpp").read_text()
    names = re.findall(r"^(?:__global__|__attribute__\(\(noinline\)\)) void (\w+)\(", text, re.M)
    assert len(names) == len(set(names))
    return set(names)


def by_name(document: Document, right: str) -> dict[str, list[Document]]:
    """The findings at `name<right>`, by that name."""
    found: dict[str, list[Document]] = defaultdict(list)
    for finding in document["findings"]:
        names = [side["kernel"] for side in finding["sides"]]
        for side in finding["sides"]:
            called = [f["function"] or "" for f in side["called"]]
            names += [name for name in called if TWIN.search(name)][:1]
        names += [frame["function"] or "" for frame in finding["called"][:1]]
        for name, which in {m.groups() for n in names for m in TWIN.finditer(n)}:
            if which == right:
                found[name].append(finding)
    return found
