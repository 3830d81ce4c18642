"""A run's folder: ledger, sources tried, builds, captures. An interrupted run is found again."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from rocm_perf_lab.collect.run_folder import write_file
from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.optimize.ledger import Ledger, read

ROOT = ".rocpd_optimize"
LEDGER = "ledger.jsonl"


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


@dataclass(frozen=True)
class Workspace:
    folder: Path
    ledger: Ledger
    resumed: bool

    @property
    def builds(self) -> Path:
        return self.folder / "work" / "builds"

    def keep_source(self, text: str) -> str:
        """On disk before the ledger names it; by its hash."""
        name = digest(text)
        path = self.folder / "sources" / name
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            write_file(path, text)
        return name

    def source(self, name: str) -> str:
        text = (self.folder / "sources" / name).read_bytes().decode("utf-8", "surrogateescape")
        if digest(text) != name:
            raise BadInput(f"{self.folder / 'sources' / name} was changed")
        return text


def open_workspace(root: Path, label: str, settings: Mapping[str, Any]) -> Workspace:
    """The unfinished run with the same settings, else a new folder."""
    key = digest(json.dumps(settings, sort_keys=True))
    try:
        root.mkdir(parents=True, exist_ok=True)
        for folder in sorted(root.iterdir(), reverse=True):
            if _unfinished(folder, key) and (ledger := _taken(folder)):
                return Workspace(folder, ledger, resumed=True)
        folder = _new_folder(root, label)
    except OSError as error:
        raise BadInput(
            f"cannot create a run folder under {root}: {error.strerror}",
            hint="choose another place with --out",
        ) from None
    ledger = Ledger(folder / LEDGER)
    ledger.append("start", {"key": key, **settings})
    return Workspace(folder, ledger, resumed=False)


def newest_ledger(root: Path = Path(ROOT)) -> Path:
    found = sorted(root.glob(f"*/{LEDGER}"))
    if not found:
        raise BadInput(
            f"there is no ledger under {root}",
            hint="`rocm-perf optimize` writes one; or name a ledger or a bundle",
        )
    return found[-1]


def _unfinished(folder: Path, key: str) -> bool:
    try:
        entries = read(folder / LEDGER).entries
    except BadInput:
        return False
    return bool(entries) and entries[0].data.get("key") == key and entries[-1].kind != "end"


def _taken(folder: Path) -> Ledger | None:
    try:
        return Ledger(folder / LEDGER)
    except BadInput:
        return None  # another process is at it


def _new_folder(root: Path, label: str) -> Path:
    stamp = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    name = f"{stamp}-{re.sub(r'[^A-Za-z0-9._-]+', '_', label)[:60]}"
    for attempt in range(1, 1000):
        folder = root / (name if attempt == 1 else f"{name}-{attempt}")
        try:
            folder.mkdir(mode=0o700)
        except FileExistsError:
            continue
        (folder / "work").mkdir()
        return folder
    raise BadInput(f"cannot name a run folder {name} under {root}")
