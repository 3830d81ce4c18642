"""Data recorded by public projects, which is not ours to ship: it lies in a folder beside the
repository, or where ROCM_PERF_SHARED says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

FOLDER = (
    Path(os.environ.get("ROCM_PERF_SHARED", Path(__file__).resolve().parents[3] / "shared"))
    / "data"
)


def recorded(name: str) -> Path:
    """A file or folder of it, or a skip where it is not at hand."""
    path = FOLDER / name
    if not path.exists():
        pytest.skip(f"recorded data {name} is not at hand (set ROCM_PERF_SHARED)")
    return path
