"""Output file names: rocprofv3's placeholders."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path

DEFAULT = "%hostname%/%pid%"


def expand(
    text: str, *, pid: int, parent: int, hostname: str, program: str, environment: Mapping[str, str]
) -> str:
    """`%pid%`, `%hostname%`, `%env{NAME}%`, `$ENV{NAME}` and the like; others stay as they are."""
    now = datetime.now()
    rank = next((environment[n] for n in _RANKS if n in environment), "0")
    size = next((environment[n] for n in _SIZES if n in environment), "1")
    values = {
        "pid": str(pid),
        "ppid": str(parent),
        "hostname": hostname,
        "cwd": str(Path.cwd()),
        "argt": Path(program).name,
        "tag": Path(program).name,
        "rank": rank,
        "nid": rank,
        "size": size,
        "launch_date": now.strftime("%Y-%m-%d"),
        "launch_time": now.strftime("%H.%M"),
        "p": str(pid),
        "h": hostname,
    }

    def named(match: re.Match[str]) -> str:
        return values.get(match[1], match[0])

    text = re.sub(r"%env\{(\w+)\}%|\$ENV\{(\w+)\}", _variable(environment), text)
    return re.sub(r"%(\w+)%", named, text)


_RANKS = ("OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID")
_SIZES = ("OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS")


def _variable(environment: Mapping[str, str]) -> Callable[[re.Match[str]], str]:
    return lambda match: environment.get(match[1] or match[2], "")


def hostname() -> str:
    return os.uname().nodename
