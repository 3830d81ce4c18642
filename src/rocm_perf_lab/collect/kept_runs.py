"""The runs kept under .rocpd_profile/: find one, list them, remove old ones."""

from __future__ import annotations

import difflib
import os
import re
import shutil
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from rocm_perf_lab.collect.run_folder import LATEST
from rocm_perf_lab.errors import BadInput

MAIN_FILE = "profile.json"
_NAME = re.compile(r"(\d{8}T\d{6}Z)-(.+)")


@dataclass(frozen=True)
class KeptRun:
    folder: Path
    label: str
    made: datetime | None  # from its name
    bytes: int
    latest: bool


def find(name: str | Path | None, root: Path) -> Path:
    """A run's folder: given as a path, by its name under `root`, or none for the latest."""
    if name is not None and (Path(name) / MAIN_FILE).is_file():
        return Path(name)
    names = [run.name for run in _folders(root)]
    if name is None or str(name) == LATEST:
        latest = root / LATEST
        if (latest / MAIN_FILE).is_file():
            return latest.resolve()
        if names:
            return root / names[-1]
        raise BadInput(f"no run is kept under {root}", hint="make one: rocm-perf profile ./app")
    if str(name) in names:
        return root / str(name)
    if Path(name).exists():
        raise BadInput(
            f"{name} is no run folder: it has no {MAIN_FILE}",
            hint="`rocm-perf runs` lists the runs that are kept",
        )
    matching = [other for other in names if str(name) in other]
    if len(matching) == 1:
        return root / matching[0]
    if matching:
        raise BadInput(f"{name} means several runs", hint=", ".join(matching[:10]))
    close = difflib.get_close_matches(str(name), names, n=1)
    raise BadInput(
        f"no run {name} under {root}",
        hint=f"did you mean {close[0]}?" if close else "`rocm-perf runs` lists them",
    )


def kept(root: Path) -> list[KeptRun]:
    """Oldest first."""
    latest = (root / LATEST).resolve() if (root / LATEST).is_symlink() else None
    return [_describe(folder, latest) for folder in _folders(root)]


def remove(run: KeptRun) -> None:
    """Out of sight first, so that a half-removed run is never taken for one."""
    hidden = run.folder.with_name(f".partial-{os.getpid()}-removed-{run.folder.name}")
    try:
        run.folder.rename(hidden)
    except OSError as error:
        raise BadInput(f"cannot remove {run.folder}: {error.strerror}") from None
    shutil.rmtree(hidden, ignore_errors=True)


def point_latest(root: Path) -> None:
    """`latest` onto the newest run that is left; nowhere if none is."""
    link = root / LATEST
    if not link.is_symlink() or (link / MAIN_FILE).is_file():
        return
    link.unlink()
    folders = _folders(root)
    if folders:
        link.symlink_to(folders[-1].name)


def _folders(root: Path) -> list[Path]:
    """Only what rocm-perf made: named like a run, not a link, with its main file."""
    if not root.is_dir():
        return []
    return sorted(
        p
        for p in root.iterdir()
        if _NAME.fullmatch(p.name) and not p.is_symlink() and (p / MAIN_FILE).is_file()
    )


def _describe(folder: Path, latest: Path | None) -> KeptRun:
    match = _NAME.fullmatch(folder.name)
    made = None
    if match:
        try:
            made = datetime.strptime(match[1], "%Y%m%dT%H%M%SZ").replace(tzinfo=timezone.utc)
        except ValueError:
            made = None
    size = sum(p.stat().st_size for p in folder.rglob("*") if p.is_file() and not p.is_symlink())
    return KeptRun(
        folder=folder,
        label=match[2] if match else folder.name,
        made=made,
        bytes=size,
        latest=latest is not None and folder.resolve() == latest,
    )
