"""What a run claims of one kernel, with the files that prove it, and the check of a claim here."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from rocm_perf_lab.collect.run_folder import write_bytes
from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.optimize import result_check
from rocm_perf_lab.optimize.family import Compared
from rocm_perf_lab.optimize.measure import Measured, error_of
from rocm_perf_lab.optimize.speed import measure_on
from rocm_perf_lab.replay.format import MANIFEST
from rocm_perf_lab.replay.session import ReplaySession
from rocm_perf_lab.schema.common import Model
from rocm_perf_lab.statistics import GateResult, gate, median, modelled_gate

Sha256 = Field(pattern=r"^[0-9a-f]{64}$")
OpenSession = Callable[[int | None], ReplaySession]  # None: to take times
Timing = Literal["measured", "modelled"]
Verdict = Literal["confirmed", "unchecked", "inconclusive", "refuted"]  # each worse than the last


Time = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Times = Annotated[list[Time], Field(max_length=10_000)]
Some = Annotated[Times, Field(min_length=1)]


MAIN = "the main launch"
# What a model says it says again; other inputs may be drawn, so not to the digit.
SAME_MODEL = 1.05


class Samples(Model):
    """Every time of a measurement, original and result in turns; cold: with flushed caches."""

    a: Some
    b: Some
    cold_a: Times
    cold_b: Times

    @classmethod
    def taken(cls, found: Measured) -> Samples:
        return cls(
            a=list(found.a_ns), b=list(found.b_ns),
            cold_a=list(found.cold_a_ns), cold_b=list(found.cold_b_ns),
        )  # fmt: skip

    def judged(
        self, timing: Timing, rule: str | None, min_speedup: float, confidence: float
    ) -> GateResult:
        """What the gate makes of them. ValueError: nothing."""
        if timing == "modelled":
            return modelled_gate(median(self.a), median(self.b), error_of(rule), min_speedup)
        return gate(self.a, self.b, min_speedup, confidence)


class KeptLaunch(Model):
    """A captured launch beside the main one, on which results were compared."""

    folder: str = Field(pattern=r"^\d{2}$", description="in launches/N")
    capture: str = Field(pattern=r"^[0-9a-f]{64}$", description="of its manifest")


class Claim(Model):
    """`number` names its files: claims/N/before.hsaco, after.hsaco, capture-N and launches/N."""

    number: int = Field(ge=1, le=1000)
    kernel: str
    symbol: str
    rule: str | None
    speedup: float = Field(gt=0, allow_inf_nan=False)
    min_speedup: float = Field(ge=1, allow_inf_nan=False)
    confidence: float = Field(gt=0, lt=1)
    floor_ns: float = Field(ge=0, allow_inf_nan=False)
    timing: Timing
    samples_ns: Samples
    file: str = Field(description="the source that was changed, by its path in the first entry")
    source: str = Field(pattern=r"^[0-9a-f]{64}$", description="the text `after` was built from")
    places: tuple[str, str] = Field(description="folders that before and after were built in")
    before: str = Sha256
    after: str = Sha256
    capture: str = Field(pattern=r"^[0-9a-f]{64}$", description="of its manifest")
    launches: list[KeptLaunch] = Field(max_length=100, description="beside the main one")
    compared: int = Field(ge=1, description="launches that results were compared on in the run")

    def judged(self) -> GateResult:
        """What was measured when the claim was made."""
        return self.samples_ns.judged(self.timing, self.rule, self.min_speedup, self.confidence)


def folder_of(run: Path, number: int) -> Path:
    return run / "claims" / str(number)


def capture_of(run: Path, number: int) -> Path:
    return run / f"capture-{number}"


def launches_of(run: Path, number: int) -> Path:
    return run / "launches" / str(number)


def launch_folders(run: Path, claim: Claim) -> list[Path]:
    return [launches_of(run, claim.number) / each.folder for each in claim.launches]


def kept_launch(folder: Path) -> KeptLaunch:
    return KeptLaunch(folder=folder.name, capture=_sha((folder / MANIFEST).read_bytes()))


def keep_images(run: Path, number: int, before: bytes, after: bytes) -> tuple[str, str, str]:
    """Write both code objects; their hashes and that of the capture's manifest."""
    folder = folder_of(run, number)
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in (("before.hsaco", before), ("after.hsaco", after)):
        write_bytes(folder / name, data)
    manifest = (capture_of(run, number) / MANIFEST).read_bytes()
    return _sha(before), _sha(after), _sha(manifest)


def read_images(run: Path, claim: Claim) -> tuple[bytes, bytes]:
    """Both code objects, if they and the captures are those of the claim."""
    found = []
    folders = launch_folders(run, claim)
    for path, wanted in (
        (folder_of(run, claim.number) / "before.hsaco", claim.before),
        (folder_of(run, claim.number) / "after.hsaco", claim.after),
        (capture_of(run, claim.number) / MANIFEST, claim.capture),
        *((f / MANIFEST, each.capture) for f, each in zip(folders, claim.launches, strict=True)),
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
    again: tuple[str, ...] = ()  # what results were compared on here


def check_claim(
    claim: Claim,
    before: bytes,
    after: bytes,
    open_session: OpenSession,
    further: Sequence[Compared] = (),
) -> Checked:
    """Results first, then speed, here. `further`: launches beside the main one."""
    plan = result_check.prepare(open_session)
    if plan.blocked:
        return Checked(claim, "inconclusive", plan.blocked, None, None)
    for name, image in (("the original", before), ("the result", after)):
        wrong = result_check.check(open_session, plan, image).reason
        if wrong and name == "the original":
            return Checked(claim, "inconclusive", f"{name} does not repeat: {wrong}", None, None)
        if wrong:
            return Checked(claim, "refuted", f"{name} differs: {wrong}", None, None)
    again = [MAIN]
    for each in further:
        if each.plan.blocked and each.grown is None:
            return Checked(claim, "inconclusive", f"{each.name}: {each.plan.blocked}", None, None)
        if each.plan.blocked:
            continue  # no size can be larger
        if wrong := result_check.check(each.opening, each.plan, after).reason:
            why = f"the result differs: {each.name}: {wrong}"
            return Checked(claim, "refuted", why, None, None)
        again.append(each.name)
    with open_session(None) as session:
        a, b = session.load(before), session.load(after)
        found = measure_on(
            session, plan, a, b, min_speedup=claim.min_speedup, confidence=claim.confidence,
            rule=claim.rule, floor_ns=claim.floor_ns,
        )  # fmt: skip
    here = found.gate
    if found.implausible:
        return Checked(claim, "refuted", f"implausible: {found.implausible}", here.speedup, here)
    verdicts: dict[str, Verdict] = {"faster": "confirmed", "inconclusive": "inconclusive"}
    verdict, reason = verdicts.get(here.verdict, "refuted"), here.reason
    if verdict == "confirmed":
        verdict, reason = _by_number(claim, here)
    return Checked(claim, verdict, reason, here.speedup, here, tuple(again))


def _by_number(claim: Claim, here: GateResult) -> tuple[Verdict, str]:
    """It is faster here; as fast as is claimed? A modelled claim is as good as its model."""
    modelled = claim.timing == "modelled"
    high, claimed = here.interval[1], claim.judged().interval[0]
    if here.modelled and modelled:
        high = min(high, here.speedup * SAME_MODEL)
    if claim.speedup <= high or (here.modelled != modelled and claimed <= high):
        return "confirmed", here.reason
    said = f"{claim.speedup:.3f}x is claimed, and no more than {high:.3f}x was found here"
    return ("inconclusive" if claimed <= high else "refuted"), said
