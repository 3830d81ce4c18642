"""Prepared proposals through the whole of `rocm-perf optimize`, many of them in one run.

The program is built, profiled and captured once, so that a proposal costs seconds.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from support.cli import rocm_perf

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PROPOSER = Path(__file__).with_name("prepared_proposer.py").resolve()
PROGRAMS = Path(__file__).parents[1] / "catalogue" / "programs"
# What a run may take: the machine may be a busy one, and each proposal is compiled twice.
SECONDS_FOR_THE_PROGRAM, SECONDS_EACH = 600, 120


@dataclass(frozen=True)
class Offer:
    """A kernel to propose; the title is its name and must be one of a kind."""

    title: str
    kernel: str


@dataclass(frozen=True)
class Fate:
    title: str
    stage: str
    reason: str
    seconds: float
    speedup: float | None

    @property
    def accepted(self) -> bool:
        return self.stage == "accepted"


def honest(program: str) -> Offer:
    """The faster kernel beside the program, which does the same."""
    return Offer("honest", (PROGRAMS / f"{program}.fast").read_text("utf-8").strip())


def other_honest() -> dict[str, tuple[str, Offer, str]]:
    """By name: the program, another kernel that does the same faster, and what becomes of it."""
    table = tomllib.loads(PROGRAMS.with_name("faster.toml").read_text("utf-8"))["kernel"]
    return {
        raw["name"]: (
            raw["program"],
            Offer(raw["name"], raw["text"].strip()),
            raw.get("refused", "accepted"),
        )
        for raw in table
    }


def judged(program: str, offers: Sequence[Offer], folder: Path) -> Iterator[Fate]:
    """What becomes of each, in as many runs as it takes: an accepted one ends its run, for the
    next would be held against it instead of the original."""
    left = list(offers)
    for number in range(len(offers)):
        if not left:
            return
        fates = one_run(program, left, folder / f"run{number}")
        yield from fates
        tried = {fate.title for fate in fates}
        left = [offer for offer in left if offer.title not in tried]


def one_run(program: str, offers: Sequence[Offer], folder: Path) -> list[Fate]:
    """One run of the command; ends with the first that is accepted. In a folder where one was
    killed it goes on."""
    source, built = folder / f"{program}.cpp", folder / program
    told = folder / "offers.json"
    if not built.exists():
        shutil.copytree(PROGRAMS, folder, dirs_exist_ok=True)
        done = rocm_perf("hipcc", "-O3", source, "-o", built, timeout=SECONDS_FOR_THE_PROGRAM)
        assert done.returncode == 0, done.stderr
    told.write_text(json.dumps([[o.title, o.kernel] for o in offers]), "utf-8")
    limit = SECONDS_FOR_THE_PROGRAM + SECONDS_EACH * len(offers)
    done = rocm_perf(
        "optimize", built, "--source", source, "--device", "virtual", "--policy", "body",
        "--kernel", rf"\b{program}\b", "--max-iterations", str(len(offers)),
        "--budget", f"{limit}s", "--out", folder / "runs", "--json",
        "--proposer", f"command:{sys.executable} {PROPOSER} {told}",
        cwd=folder, timeout=limit + SECONDS_FOR_THE_PROGRAM,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    fates = [
        Fate(i["proposal"], i["stage"], i["reason"], i["seconds"], i["speedup"])
        for i in document["iterations"]
    ]
    assert fates, f"{program}: nothing was tried: {document['notes']}"
    return fates
