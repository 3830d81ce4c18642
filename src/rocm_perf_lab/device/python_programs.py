"""What Python programs are given on top: the folder with Triton's driver on their path."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

# Beside the package, not imported from it: the program's Python may be another one.
DRIVER_FOLDER = Path(__file__).resolve().parent.parent / "triton" / "on_path"


def environment(base: Mapping[str, str]) -> dict[str, str]:
    """`base` with the driver's folder last on PYTHONPATH, so that it is in nobody's way."""
    folder = str(DRIVER_FOLDER)
    given = [p for p in base.get("PYTHONPATH", "").split(":") if p and p != folder]
    return {**base, "PYTHONPATH": ":".join([*given, folder])}
