"""Take a ledger or a bundle from anywhere and say whether its claims hold here."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from rocm_perf_lab import scratch
from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.optimize import ledger as ledger_file
from rocm_perf_lab.optimize.attempt import finite
from rocm_perf_lab.optimize.bundle import is_bundle, unpacked
from rocm_perf_lab.optimize.claims import Checked, Claim, capture_of, check_claim, read_images
from rocm_perf_lab.optimize.sandbox import Sandbox, confined
from rocm_perf_lab.optimize.target import open_confined
from rocm_perf_lab.optimize.workspace import LEDGER, digest, newest_ledger
from rocm_perf_lab.replay.format import open_capture

Tell = Callable[[str], None]
Verdict = Literal["confirmed", "refuted", "inconclusive", "unbroken"]


@dataclass(frozen=True)
class Found:
    folder: Path | None  # with the files of the claims; None: a ledger by itself
    ledger: ledger_file.Read
    name: str


@contextmanager
def load(where: Path | None) -> Iterator[Found]:
    path = newest_ledger() if where is None else where
    if path.is_dir():
        path = path / LEDGER
    if not path.exists():
        raise BadInput(f"{path}: no such ledger or bundle")
    if is_bundle(path):
        with unpacked(path) as folder:
            yield Found(folder, ledger_file.read(folder / LEDGER), path.name)
    else:
        read = ledger_file.read(path)
        folder_there = (path.parent / "claims").is_dir()
        yield Found(path.parent if folder_there else None, read, str(path))


@dataclass(frozen=True)
class Verified:
    verdict: Verdict
    reason: str
    entries: int
    head: str
    timing: Literal["measured", "modelled"] | None
    device: str | None
    checked: tuple[Checked, ...] = ()

    def lines(self) -> list[str]:
        found = [f"{self.entries} entries, unbroken; last {self.head[:16]}"]
        for each in self.checked:
            claimed = f"claimed {each.claim.speedup:.3f}x ({each.claim.timing})"
            seen = f", here {each.speedup:.3f}x" if each.speedup is not None else ""
            found += [f"{each.claim.kernel}: {each.verdict}", f"  {claimed}{seen}: {each.reason}"]
        where = f" on {self.device}" if self.device else ""
        modelled = " (modelled, not measured: hardware has the last word)"
        note = modelled if self.timing == "modelled" else ""
        found.append(f"{self.verdict}{where}{note}" if self.checked else self.reason)
        return found

    def as_json(self) -> dict[str, Any]:
        return {
            "verdict": self.verdict,
            "reason": self.reason,
            "entries": self.entries,
            "ledger_head": self.head,
            "timing": self.timing,
            "device": self.device,
            "claims": [
                {
                    **each.claim.model_dump(mode="json"),
                    "verdict": each.verdict,
                    "reason": each.reason,
                    "speedup_here": each.speedup,
                    "confidence_interval": finite(each.gate.interval) if each.gate else None,
                }
                for each in self.checked
            ],
        }


def verify_claims(found: Found, device: str, tell: Tell) -> Verified:
    read = found.ledger
    plain = Verified("unbroken", "", len(read.entries), read.head, None, None)
    if not read.entries or read.entries[-1].kind != "end":
        return _but(plain, "the run did not end; nothing is claimed")
    claims = _claims(read.entries[-1].data)
    if not claims:
        return _but(plain, "nothing was accepted; nothing is claimed")
    if found.folder is None:
        return _but(plain, "a ledger alone: results and speed need its bundle or its folder")
    _check_sources(found.folder, read.entries[-1].data)
    kind = confined("a stranger's code is not run without one")
    checked, timing, name = [], None, None
    with scratch.folder("rocm-perf-verify-") as work:
        for claim in claims:
            tell(f"checking {claim.kernel}")
            before, after = read_images(found.folder, claim)
            capture = capture_of(found.folder, claim.number).resolve()
            with open_capture(capture, tell=tell) as opened:
                if opened.dispatch.kernel.symbol != claim.symbol:
                    raise BadInput(f"the capture is not of {claim.symbol}")
            box = Sandbox(kind, Path(work), (capture,))
            opening = functools.partial(open_confined, capture, device, box)
            with opening() as session:
                timing, name = session.timing, session.device.name
            checked.append(check_claim(claim, before, after, opening))
    order: tuple[Verdict, ...] = ("confirmed", "inconclusive", "refuted")
    worst = max((c.verdict for c in checked), key=order.index)
    reason = next(c.reason for c in checked if c.verdict == worst)
    return Verified(worst, reason, plain.entries, plain.head, timing, name, tuple(checked))


def _but(verified: Verified, reason: str) -> Verified:
    return Verified("unbroken", reason, verified.entries, verified.head, None, None)


def _claims(end: Any) -> list[Claim]:
    try:
        return [Claim.model_validate(each) for each in end.get("claims", [])]
    except (ValidationError, TypeError) as error:
        raise BadInput(f"the ledger's last entry makes no sense: {error}"[:300]) from None


def _check_sources(folder: Path, end: Any) -> None:
    """The sources that came along are those the ledger names."""
    try:
        names = [
            str(pair[side]) for pair in end["sources"].values() for side in ("before", "after")
        ]
    except (KeyError, TypeError, AttributeError):
        raise BadInput("the ledger's last entry names no sources") from None
    for name in names:
        if not re.fullmatch("[0-9a-f]{64}", name):
            raise BadInput("the ledger's last entry names no sources")
        path = folder / "sources" / name
        try:
            text = path.read_bytes().decode("utf-8", "surrogateescape")
        except OSError:
            raise BadInput(f"the source {name[:16]} is missing") from None
        if digest(text) != name:
            raise BadInput(f"the source {name[:16]} was changed")
