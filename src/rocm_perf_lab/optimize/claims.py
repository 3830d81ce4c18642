"""What a run claims of one kernel, with the files that prove it, and the check of a claim here."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field

from rocm_perf_lab.collect.run_folder import write_bytes
from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.optimize import result_check
from rocm_perf_lab.optimize.speed import measure_on
from rocm_perf_lab.replay.format import MANIFEST
from rocm_perf_lab.replay.session import ReplaySession
from rocm_perf_lab.schema.common import Model
from rocm_perf_lab.statistics import GateResult

Sha256 = Field(pattern=r"^[0-9a-f]{64}$")
OpenSession = Callable[[int | None], ReplaySession]  # None: to take times
Verdict = Literal["confirmed", "refuted", "inconclusive"]


class Claim(Model):
    """`number` names its files: claims/N/before.hsaco, after.hsaco and capture-N."""

    number: int = Field(ge=1, le=1000)
    kernel: str
    symbol: str
    rule: str | None
    speedup: float = Field(gt=0, allow_inf_nan=False)
    min_speedup: float = Field(ge=1, allow_inf_nan=False)
    confidence: float = Field(gt=0, lt=1)
    floor_ns: float = Field(ge=0, allow_inf_nan=False)
    timing: Literal["measured", "modelled"]
    before: str = Sha256
    after: str = Sha256
    capture: str = Field(pattern=r"^[0-9a-f]{64}$", description="of its manifest")


def folder_of(run: Path, number: int) -> Path:
    return run / "claims" / str(number)


def capture_of(run: Path, number: int) -> Path:
    return run / f"capture-{number}"


def keep_images(run: Path, number: int, before: bytes, after: bytes) -> tuple[str, str, str]:
    """Write both code objects; their hashes and that of the capture's manifest."""
    folder = folder_of(run, number)
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in (("before.hsaco", before), ("after.hsaco", after)):
        write_bytes(folder / name, data)
    manifest = (capture_of(run, number) / MANIFEST).read_bytes()
    return _sha(before), _sha(after), _sha(manifest)


def read_images(run: Path, claim: Claim) -> tuple[bytes, bytes]:
    """Both code objects, if they and the capture are those of the claim."""
    found = []
    for path, wanted in (
        (folder_of(run, claim.number) / "before.hsaco", claim.before),
        (folder_of(run, claim.number) / "after.hsaco", claim.after),
        (capture_of(run, claim.number) / MANIFEST, claim.capture),
    ):
        try:
            data = path.read_bytes()
        except OSError as error:
            raise BadInput(f"{path.name} of the claim is missing: {error.strerror}") from None
        if _sha(data) != wanted:
            raise BadInput(f"{path.name} is not the one the ledger speaks of")
        found.append(data)
    return found[0], found[1]


def _sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True)
class Checked:
    claim: Claim
    verdict: Verdict
    reason: str
    speedup: float | None
    gate: GateResult | None


def check_claim(claim: Claim, before: bytes, after: bytes, open_session: OpenSession) -> Checked:
    """Results first, then speed, on the machine at hand."""
    plan = result_check.prepare(open_session)
    if plan.blocked:
        return Checked(claim, "inconclusive", plan.blocked, None, None)
    for name, image in (("the original", before), ("the result", after)):
        wrong = result_check.check(open_session, plan, image).reason
        if wrong and name == "the original":
            return Checked(claim, "inconclusive", f"{name} does not repeat: {wrong}", None, None)
        if wrong:
            return Checked(claim, "refuted", f"{name} differs: {wrong}", None, None)
    with open_session(None) as session:
        a, b = session.load(before), session.load(after)
        found = measure_on(
            session, plan, a, b, min_speedup=claim.min_speedup, confidence=claim.confidence,
            rule=claim.rule, floor_ns=claim.floor_ns,
        )  # fmt: skip
    gate = found.gate
    if found.implausible:
        return Checked(claim, "refuted", f"implausible: {found.implausible}", gate.speedup, gate)
    verdicts: dict[str, Verdict] = {"faster": "confirmed", "inconclusive": "inconclusive"}
    verdict = verdicts.get(gate.verdict, "refuted")
    return Checked(claim, verdict, gate.reason, gate.speedup, gate)
