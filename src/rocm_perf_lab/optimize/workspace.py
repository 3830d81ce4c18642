"""A run's folder: ledger, sources tried, builds, captures. An interrupted run is found again."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from rocm_perf_lab import beneath
from rocm_perf_lab.collect.run_folder import write_file
from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.optimize.ledger import Ledger, read

ROOT = ".rocpd_optimize"
LEDGER, OUTCOME, WORK = "ledger.jsonl", "outcome.json", "work"
_RUN = re.compile(r"\d{8}T\d{6}Z-")
_ABANDONED_S = 3600.0  # a folder that has no ledger by then will not get one


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


@dataclass(frozen=True)
class Workspace:
    folder: Path
    ledger: Ledger
    resumed: bool

    @property
    def ended(self) -> bool:
        """The search is over; what it found may still have to be handed over."""
        return bool(self.ledger.entries) and self.ledger.entries[-1].kind == "end"

    @property
    def outcome(self) -> Path:
        """What the search found: there from just before its end to when all was handed over."""
        return self.folder / OUTCOME

    @property
    def builds(self) -> Path:
        return self.folder / WORK / "builds"

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
        found: Workspace | None = None
        for folder in sorted(root.iterdir(), reverse=True):
            unfinished = found is None and _unfinished(folder, key, settings)
            if unfinished and (ledger := _taken(folder)):
                found = Workspace(folder, ledger, resumed=True)
            else:
                _sweep(folder)
        if found is not None:
            return found
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


def _unfinished(folder: Path, key: str, settings: Mapping[str, Any]) -> bool:
    """The same search, interrupted before its end; or ended, and its result not handed over."""
    try:
        entries = read(folder / LEDGER).entries
    except BadInput:
        return False
    if not entries or entries[-1].kind != "end":
        return bool(entries) and entries[0].data.get("key") == key
    if not (folder / OUTCOME).is_file():
        return False
    return _same_but_applied(entries[0].data, entries[-1].data.get("sources", {}), settings)


def _same_but_applied(
    start: Mapping[str, Any], changed: Mapping[str, Any], settings: Mapping[str, Any]
) -> bool:
    """Each file is as it was, or what it was to become: the run may have been killed while it
    wrote them."""
    texts = {"sources", "files"}
    if any(start.get(name) != value for name, value in settings.items() if name not in texts):
        return False
    then, now = start.get("files", {}), settings["files"]
    return set(then) == set(now) and all(
        text in (then[path], changed.get(path, {}).get("after")) for path, text in now.items()
    )


def _sweep(folder: Path) -> None:
    """What a run needs only while it runs, of one that was killed. It can still be gone on with."""
    if (folder / LEDGER).exists():
        # With what a removal had put beside it when it was killed itself.
        left = [p.name for p in (folder / WORK, *folder.glob(f".{WORK}-*")) if p.exists()]
        if left and (ledger := _taken(folder)):
            with ledger:
                for name in left:
                    beneath.remove(folder, name)
        return
    with contextlib.suppress(OSError):  # killed before its first entry: empty folders only
        if _RUN.match(folder.name) and time.time() - folder.stat().st_mtime > _ABANDONED_S:
            (folder / WORK).rmdir()
            folder.rmdir()


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
        (folder / WORK).mkdir()
        return folder
    raise BadInput(f"cannot name a run folder {name} under {root}")
