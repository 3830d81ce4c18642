"""The files of data/virtual, which the virtual GPU is built from."""

from __future__ import annotations

from importlib import resources
from typing import Any

from rocm_perf_lab.arch.load import parse


def table(name: str) -> dict[str, Any]:
    path = resources.files("rocm_perf_lab.arch") / "data" / "virtual" / name
    return parse(path.read_text(encoding="utf-8"))
