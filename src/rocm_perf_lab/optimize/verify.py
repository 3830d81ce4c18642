"""Take a ledger or a bundle from anywhere and say whether its claims hold here."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

from rocm_perf_lab import scratch
from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.optimize import ledger as ledger_file
from rocm_perf_lab.optimize.attempt import finite
from rocm_perf_lab.optimize.bundle import is_bundle, members, unpacked
from rocm_perf_lab.optimize.claims import (
    Checked,
    capture_of,
    check_claim,
    launch_folders,
    read_images,
)
from rocm_perf_lab.optimize.family import Compared, comparisons, larger_sizes
from rocm_perf_lab.optimize.kernel_source import base_name
from rocm_perf_lab.optimize.rebuild import rebuild
from rocm_perf_lab.optimize.sandbox import Sandbox, confined
from rocm_perf_lab.optimize.story import Story, check_story
from rocm_perf_lab.optimize.target import open_confined
from rocm_perf_lab.optimize.workspace import LEDGER, digest, newest_ledger
from rocm_perf_lab.replay.format import open_capture
from rocm_perf_lab.replay.launches import Launch, launch_of
from rocm_perf_lab.replay.session import ReplaySession
from rocm_perf_lab.schema.verification import (
    CheckedClaim,
    Claim,
    ClaimVerdict,
    Timing,
    Verdict,
    VerificationDocument,
)

Tell = Callable[[str], None]
NOTHING = "nothing was accepted; nothing is claimed"
ALONE = "a ledger alone: code, results and speed need its bundle or its folder"
NOT_COMPILED = "whether the sources compile to this code cannot be checked here"


@dataclass(frozen=True)
class Found:
    folder: Path | None  # with the files of the claims; None: a ledger by itself
    ledger: ledger_file.Read
    travelled: bool = False  # a bundle: it holds nothing that is not named


@contextmanager
def load(where: Path | None) -> Iterator[Found]:
    path = newest_ledger() if where is None else where
    if path.is_dir():
        path = path / LEDGER
    if not path.exists():
        raise BadInput(f"{path}: no such ledger or bundle")
    if is_bundle(path):
        with unpacked(path) as folder:
            yield Found(folder, ledger_file.read(folder / LEDGER), travelled=True)
    else:
        read = ledger_file.read(path)
        folder_there = (path.parent / "sources").is_dir()
        yield Found(path.parent if folder_there else None, read)


@dataclass(frozen=True)
class Verified:
    verdict: Verdict
    reason: str
    entries: int
    head: str
    timing: Timing | None
    device: str | None
    checked: tuple[Checked, ...] = ()

    def lines(self) -> list[str]:
        found = [f"{self.entries} entries, unbroken; last {self.head[:16]}"]
        for each in self.checked:
            claimed = f"claimed {each.claim.speedup:.3f}x ({each.claim.timing})"
            seen = f", here {each.speedup:.3f}x" if each.speedup is not None else ""
            found += [f"{each.claim.kernel}: {each.verdict}", f"  {claimed}{seen}: {each.reason}"]
            if each.again:
                found.append(f"  {_repeated(each)}")
        where = f" on {self.device}" if self.device else ""
        modelled = " (modelled, not measured: hardware has the last word)"
        note = modelled if self.timing == "modelled" else ""
        found.append(f"{self.verdict}{where}{note}" if self.checked else self.reason)
        return found

    def document(self) -> VerificationDocument:
        return VerificationDocument.of(
            self,
            ledger_head=self.head,
            claims=[
                CheckedClaim.of(
                    each.claim,
                    verdict=each.verdict,
                    reason=each.reason,
                    speedup_here=each.speedup,
                    compared_again=each.again,
                    confidence_interval=finite(each.gate.interval) if each.gate else None,
                )
                for each in self.checked
            ],
        )


def _repeated(checked: Checked) -> str:
    """What of the run's comparisons was made again here, and that the rest was not."""
    held = 1 + len(checked.claim.launches)
    larger = ", and one with larger sizes" if len(checked.again) > held else ""
    return (
        f"results compared again on {held} of the {checked.claim.compared} launches the run "
        f"compared{larger}; the program's own output is not in a bundle"
    )


def verify_claims(found: Found, device: str, tell: Tell) -> Verified:
    """Seals are checked by reading; then the story, the files, the code, results and speed."""
    read, folder = found.ledger, found.folder
    if read.torn_bytes:
        raise BadInput("the ledger's last line was cut off")
    story = Story(read.entries)
    claims = story.end.claims
    if folder is None:
        return _of_ledger_alone(read, story)
    texts = functools.partial(_text, folder)
    check_story(story, texts)
    if found.travelled:
        _nothing_else(folder, story)
    if not claims:
        return Verified("unbroken", NOTHING, len(read.entries), read.head, None, None)
    kind = confined("a stranger's code is not run without one")
    checked, timing, name = [], None, None
    with scratch.folder("rocm-perf-verify-") as work, scratch.folder("rocm-perf-larger-") as room:
        for claim in claims:
            tell(f"checking {claim.kernel}")
            images = read_images(folder, claim)
            capture = capture_of(folder, claim.number).resolve()
            main, code = _checked_capture(capture, claim, images[0], tell), images[0]
            launches = [each.resolve() for each in launch_folders(folder, claim)]
            for each in launches:
                _checked_capture(each, claim, code, tell)
            box = Sandbox(kind, Path(work), (capture,))
            tell(f"compiling {claim.kernel} again")
            built = rebuild(claim, story.start, images, texts, box)
            if built.differs:
                checked.append(Checked(claim, "refuted", built.differs, None, None))
                continue
            opening = functools.partial(open_confined, capture, device, box)
            with opening() as session:
                timing, name = session.timing, session.device.name
            further = _further(capture, launches, main, device, box, room, tell)
            one = check_claim(claim, *images, opening, further)
            if built.unchecked and one.verdict == "confirmed":
                one = replace(one, verdict="unchecked", reason=f"{NOT_COMPILED}: {built.unchecked}")
            checked.append(one)
    worst = max((c.verdict for c in checked), key=get_args(ClaimVerdict).index)
    reason = next(c.reason for c in checked if c.verdict == worst)
    return Verified(worst, reason, len(read.entries), read.head, timing, name, tuple(checked))


def _of_ledger_alone(read: ledger_file.Read, story: Story) -> Verified:
    """Without its files nothing of a claim can be seen."""
    verdict: Verdict = "unchecked" if story.end.claims else "unbroken"
    reason = ALONE if story.end.claims else NOTHING
    return Verified(verdict, reason, len(read.entries), read.head, None, None)


def _text(folder: Path, name: str) -> str:
    """A source that came along, if it is the one the ledger names."""
    if not re.fullmatch("[0-9a-f]{64}", name):
        raise BadInput("the ledger names a source by what is no hash")
    try:
        text = (folder / "sources" / name).read_bytes().decode("utf-8", "surrogateescape")
    except OSError:
        raise BadInput(f"the source {name[:16]} is missing") from None
    if digest(text) != name:
        raise BadInput(f"the source {name[:16]} was changed")
    return text


def _checked_capture(folder: Path, claim: Claim, before: bytes, tell: Tell) -> Launch:
    """The capture is whole, of the claim's kernel (of those beside the main one: of an instance of
    its template), and of the code it says was there before."""
    main = folder.name == capture_of(folder.parent, claim.number).name
    with open_capture(folder, tell=tell) as opened:
        symbol = opened.dispatch.kernel.symbol
        same = symbol == claim.symbol if main else base_name(symbol) == base_name(claim.symbol)
        if not same:
            raise BadInput(f"the capture is not of {claim.symbol[:200]}")
        if not opened.kernel_hsaco() == opened.code_object(opened.dispatch.code_object) == before:
            raise BadInput("before.hsaco is not the code that was captured")
        return launch_of(opened)


def _further(
    capture: Path,
    launches: Sequence[Path],
    main: Launch,
    device: str,
    box: Sandbox,
    room: Path,
    tell: Tell,
) -> list[Compared]:
    """The launches beside the main one, and one of every instance with larger sizes where that can
    be, for which captures are written to `room`: nothing confined can write there."""

    def opens(path: Path) -> Callable[[int], ReplaySession]:
        seeing = replace(box, readable=(*box.readable, path))
        return lambda seed: open_confined(path, device, seeing, seed)

    found = comparisons(launches, main, opens, tell)
    grown = room.resolve() / capture.name
    grown.mkdir()
    seen = [each.launch for each in found]
    larger, _ = larger_sizes(capture, main, found, seen, grown, opens, tell)
    return [*found, *larger]


def _nothing_else(folder: Path, story: Story) -> None:
    """A bundle holds what its ledger and its captures name, and no other file."""
    named = members(folder, story)
    there = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    if other := sorted(there ^ named):
        wrong = "which nothing in it names" if other[0] in there else "and it is not there"
        verb = "holds" if other[0] in there else "names"
        raise BadInput(f"the bundle {verb} {other[0][:120]}, {wrong}")
