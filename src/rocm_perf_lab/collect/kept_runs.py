"""The runs kept under .rocpd_profile/: find one, list them, remove old ones."""

from __future__ import annotations

import contextlib
import difflib
import os
import re
import shutil
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from rocm_perf_lab.collect.run_folder import LATEST, PROFILE
from rocm_perf_lab.errors import BadInput

# When, the how-manieth of that second, which program: `run_folder` names them.
_NAME = re.compile(r"(\d{8}T\d{6}Z)(?:\.(\d+))?-(.+)")


@dataclass(frozen=True)
class KeptRun:
    folder: Path
    label: str
    made: datetime | None  # from its name
    bytes: int
    latest: bool


@dataclass(frozen=True)
class Found:
    folder: Path
    fitting: int = 1  # runs the name fits: this is the newest of them


def latest(root: Path) -> Path:
    """The run that `latest` points to, else the newest."""
    link = root / LATEST
    if (link / PROFILE).is_file():
        return link.resolve()
    runs = _folders(root)
    if not runs:
        raise BadInput(f"no run is kept under {root}", hint="make one: rocm-perf profile ./app")
    return runs[-1]


def named(name: str, root: Path) -> Found | None:
    """The run that is called so; of several runs of one program the newest.

    First whole names count, then what the programs are called, then parts of names: these must
    all be of one program, for a part that fits two of them means neither.
    """
    runs = _folders(root)
    fitting = [run for run in runs if run.name == name]
    fitting = fitting or [run for run in runs if _label(run) == name]
    fitting = fitting or [run for run in runs if name in run.name]
    if not fitting:
        return None
    programs = sorted({_label(run) for run in fitting})
    if len(programs) > 1:
        raise BadInput(
            f"{name} means runs of several programs: {', '.join(programs[:10])}",
            hint="give more of the name; `rocm-perf runs` lists the runs that are kept",
        )
    return Found(fitting[-1], len(fitting))


def unknown(name: str, root: Path) -> BadInput:
    runs = _folders(root)
    known = {known: None for run in runs for known in (_label(run), run.name)}
    close = difflib.get_close_matches(name, known, n=1)
    return BadInput(
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
    if not link.is_symlink() or (link / PROFILE).is_file():
        return
    link.unlink()
    folders = _folders(root)
    if folders:
        link.symlink_to(folders[-1].name)


def _folders(root: Path) -> list[Path]:
    """Only what rocm-perf made: named like a run, not a link, with its main file. Oldest first."""
    if not root.is_dir():
        return []
    found = {
        p: match
        for p in root.iterdir()
        if (match := _NAME.fullmatch(p.name)) and not p.is_symlink() and (p / PROFILE).is_file()
    }
    return sorted(found, key=lambda p: (found[p][1], int(found[p][2] or 1), found[p][3]))


def _label(folder: Path) -> str:
    match = _NAME.fullmatch(folder.name)
    return match[3] if match else folder.name


def _describe(folder: Path, latest: Path | None) -> KeptRun:
    made = None
    with contextlib.suppress(ValueError):
        stamp = folder.name.partition("Z")[0]
        made = datetime.strptime(stamp, "%Y%m%dT%H%M%S").replace(tzinfo=timezone.utc)
    size = sum(p.stat().st_size for p in folder.rglob("*") if p.is_file() and not p.is_symlink())
    return KeptRun(
        folder=folder,
        label=_label(folder),
        made=made,
        bytes=size,
        latest=latest is not None and folder.resolve() == latest,
    )
