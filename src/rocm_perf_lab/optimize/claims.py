"""What a run claims of one kernel, with the files that prove it, and the check of a claim here."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocm_perf_lab.collect.run_folder import write_bytes
from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.optimize import result_check
from rocm_perf_lab.optimize.family import Compared
from rocm_perf_lab.optimize.measure import Bar, Measured, error_of
from rocm_perf_lab.optimize.speed import measure_on
from rocm_perf_lab.replay.format import MANIFEST
from rocm_perf_lab.replay.session import ReplaySession
from rocm_perf_lab.schema.verification import Claim, ClaimVerdict, KeptLaunch, Samples, Timing
from rocm_perf_lab.statistics import GateResult, gate, median, modelled_gate

OpenSession = Callable[[int | None], ReplaySession]  # None: to take times
MAIN = "the main launch"
# What a model says it says again; other inputs may be drawn, so not to the digit.
SAME_MODEL = 1.05


def taken(found: Measured) -> Samples:
    return Samples(
        a=list(found.a_ns), b=list(found.b_ns),
        cold_a=list(found.cold_a_ns), cold_b=list(found.cold_b_ns),
    )  # fmt: skip


def judged(samples: Samples, timing: Timing, rule: str | None, bar: Bar) -> GateResult:
    """What the gate makes of times. ValueError: nothing."""
    if timing == "modelled":
        return modelled_gate(median(samples.a), median(samples.b), error_of(rule), bar.min_speedup)
    return gate(samples.a, samples.b, bar.min_speedup, bar.confidence)


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
    verdict: ClaimVerdict
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
            session,
            plan,
            a,
            b,
            Bar(claim.min_speedup, claim.confidence),
            claim.rule,
            claim.floor_ns,
        )
    here = found.gate
    if found.implausible:
        return Checked(claim, "refuted", f"implausible: {found.implausible}", here.speedup, here)
    verdicts: dict[str, ClaimVerdict] = {"faster": "confirmed", "inconclusive": "inconclusive"}
    verdict, reason = verdicts.get(here.verdict, "refuted"), here.reason
    if verdict == "confirmed":
        verdict, reason = _by_number(claim, here)
    return Checked(claim, verdict, reason, here.speedup, here, tuple(again))


def _by_number(claim: Claim, here: GateResult) -> tuple[ClaimVerdict, str]:
    """It is faster here; as fast as is claimed? A modelled claim is as good as its model."""
    modelled = claim.timing == "modelled"
    then = judged(
        claim.samples_ns, claim.timing, claim.rule, Bar(claim.min_speedup, claim.confidence)
    )
    high, claimed = here.interval[1], then.interval[0]
    if here.modelled and modelled:
        high = min(high, here.speedup * SAME_MODEL)
    if claim.speedup <= high or (here.modelled != modelled and claimed <= high):
        return "confirmed", here.reason
    said = f"{claim.speedup:.3f}x is claimed, and no more than {high:.3f}x was found here"
    return ("inconclusive" if claimed <= high else "refuted"), said
