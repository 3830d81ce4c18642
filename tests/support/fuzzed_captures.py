"""Captures with something wrong in them, sealed again so that the hashes do not give it away."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

JSON_FILES = ("dispatch.json", "memory_regions.json", "code_objects.json", "manifest.json")

replacements = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 2),
    st.integers(0, 1 << 64),
    st.sampled_from([1 << 20, 1 << 31, 1 << 40, 1 << 56, (1 << 57) - 1, 0.5, "nan"]),
    st.sampled_from(["", "../../etc/passwd", "/etc/passwd", "memory/../..", "\x1b[2J", "x" * 5000]),
    st.just([]),
    st.just({}),
)


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where every value is, containers too."""
    found = [path] if path else []
    items: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    for key, inner in items:
        found += leaves(inner, (*path, key))
    return found


def change_json(folder: Path, name: str, pick: float, value: Any) -> None:
    """Replace one value, chosen by a number between 0 and 1."""
    document = json.loads((folder / name).read_text())
    places = leaves(document)
    place = places[min(int(pick * len(places)), len(places) - 1)]
    target = document
    for key in place[:-1]:
        target = target[key]
    target[place[-1]] = value
    _write(folder / name, json.dumps(document).encode())


def change_bytes(folder: Path, name: str, pick: float, byte: int) -> None:
    data = bytearray((folder / name).read_bytes())
    if data:
        data[min(int(pick * len(data)), len(data) - 1)] = byte
    _write(folder / name, bytes(data))


def seal_again(folder: Path) -> None:
    """Sizes and hashes of the files the manifest lists, as they are now."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    files = manifest.get("files")
    if not isinstance(files, dict):
        return
    for name in files:
        inside = folder / name
        if ".." not in name and inside.is_file() and isinstance(files[name], dict):
            data = inside.read_bytes()
            files[name] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    _write(path, json.dumps(manifest).encode())


def copy(source: Path, target: Path, change: Callable[[Path], None]) -> Path:
    """A fresh copy with the change made, whole by its hashes."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)
    change(target)
    seal_again(target)
    return target


def _write(path: Path, data: bytes) -> None:
    path.chmod(0o600)
    path.write_bytes(data)
