"""One kernel to make faster: its captured dispatch, and how it is replayed, checked and timed."""

from __future__ import annotations

import itertools
import math
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rocm_perf_lab import beneath
from rocm_perf_lab.arch.gpu import Gpu
from rocm_perf_lab.codeobject.kernels import read_code_object
from rocm_perf_lab.errors import BadInput, PerfLabError
from rocm_perf_lab.optimize import result_check
from rocm_perf_lab.optimize.build import Built
from rocm_perf_lab.optimize.family import Family, make_family
from rocm_perf_lab.optimize.layout import Debug, no_debug
from rocm_perf_lab.optimize.measure import write_floor_ns
from rocm_perf_lab.optimize.plan import INTERLEAVINGS
from rocm_perf_lab.optimize.reached import SEEING_LINES, Piece
from rocm_perf_lab.optimize.result_check import WATCHED, CheckResult, Plan
from rocm_perf_lab.optimize.sandbox import Sandbox
from rocm_perf_lab.optimize.trial import OpenSession
from rocm_perf_lab.replay.capture import CaptureOptions, capture_program
from rocm_perf_lab.replay.format import Capture, open_capture
from rocm_perf_lab.replay.launches import Launches, launch_of
from rocm_perf_lab.replay.session import ReplaySession
from rocm_perf_lab.schema.profile import KernelProfile, ProfileDocument

REPLAY_LIMIT_S = 600.0
LEAST_SCORE = 0.02  # of the critical path: a kernel with less cannot matter to the whole
EXCHANGE, REPLAY = "exchange", "replay"  # folders in the work folder
FOUND = "found"  # and in the latter: what is noticed while a build runs
# For each order: a NaN or -1, a small number, a large one.
LEFTOVER = dict(zip((0, *INTERLEAVINGS), (0xFF, 0x3C, 0x7F), strict=True))
NO_LARGER = "sizes larger than the program's are not tried: {}"
_SESSIONS = itertools.count(1)
_TOOLS = {WATCHED: "init,race", SEEING_LINES: "reached"}
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Target:
    number: int  # of its capture in the run's folder
    name: str  # as the profiler writes it
    symbol: str
    capture: Path
    device: str | None
    box: Sandbox
    threads: int
    dynamic_lds_bytes: int
    gpu: Gpu | None
    floor_ns: float
    plan: Plan
    family: Family
    score: float | None
    share: float | None

    def open_session(self, interleaving: int | None = None) -> ReplaySession:
        return open_confined(self.capture, self.device, self.box, interleaving)

    def check(self, changed: Sequence[str], built: Built) -> CheckResult:
        """A build on every captured launch of what changed, the main one with all input sets."""
        image = built.code_of(self.symbol).elf.data
        main = result_check.check(self.open_session, self.plan, image)
        if main.reason:
            return main
        return CheckResult((*main.sets, *self.family.check(changed, built).sets))

    def pieces(
        self, changed: Sequence[str], built: Built, lines: tuple[Built, Built]
    ) -> list[Piece]:
        """All that `check` compares, with two builds that tell which lines ran."""
        compared: list[tuple[OpenSession, Plan, str]] = [
            (self.open_session, self.plan, self.symbol)
        ]
        compared += [
            (each.opening, each.plan, each.launch.symbol)
            for each in self.family.compared()
            if each.launch.symbol in changed
        ]
        found = []
        for opening, plan, symbol in compared:
            image = built.code_of(symbol).elf.data
            sets = [*plan.sets, *result_check.of_its_own(opening, plan, image)]
            before, after = (each.code_of(symbol).elf.data for each in lines)
            found.append(Piece(opening, plan, sets, before, after))
        return found

    @property
    def notes(self) -> list[str]:
        family = self.family
        blocked = [
            f"{each.name} is not compared: {each.plan.blocked}"
            for each in family.further
            if each.plan.blocked and each.grown is None
        ]
        missing = family.not_compared()
        left = [f"launches seen but not compared: {', '.join(missing)}"] if missing else []
        if why := family.not_larger():
            left.append(NO_LARGER.format(why))
        return [*self.plan.notes, *blocked, *left]


@dataclass(frozen=True)
class _Confined:
    box: Sandbox
    interleaving: int | None

    @property
    def work(self) -> Path:
        """Read by the worker, written by us: it cannot put links in our way."""
        return self.box.work.parent / EXCHANGE

    def wrap(self, command: Sequence[str]) -> list[str]:
        return self.box.wrap(command)

    def environment(self, extra: Mapping[str, str]) -> dict[str, str]:
        if self.interleaving is None:
            return self.box.environment(extra)
        if tools := _TOOLS.get(self.interleaving):
            return self.box.environment({**extra, **self._watching(tools)})
        # Results are wanted, not times: no model, and one order for each seed.
        chosen = {
            "ROCM_PERF_VIRTUAL_TIMING": "emulation",
            "ROCM_PERF_VIRTUAL_THREADS": "1",
            "ROCM_PERF_VIRTUAL_WAVES": str(self.interleaving),
            # What no wave wrote, in LDS, scratch and registers: never nought, and not the same in
            # every order.
            "ROCM_PERF_VIRTUAL_LEFTOVER": str(LEFTOVER[self.interleaving]),
        }
        return self.box.environment({**extra, **chosen})

    def _watching(self, tools: str) -> dict[str, str]:
        """Every access is looked at, in the usual order."""
        # Of its own: inside a sandbox processes have the same numbers again.
        own = f"{FOUND}/{next(_SESSIONS)}"
        beneath.make_folder(self.box.work, own)
        return {
            "ROCM_PERF_VIRTUAL_TIMING": "emulation",
            "ROCM_PERF_VIRTUAL_TRANSLATE": "off",
            "ROCM_PERF_VIRTUAL_REPEATS": "run",
            "ROCM_PERF_CHECK": tools,
            "ROCM_PERF_CHECK_LOG": str(self.box.work / own),
        }


def open_confined(
    capture: Path, device: str | None, box: Sandbox, interleaving: int | None = None
) -> ReplaySession:
    """`interleaving` None: to take times; else to compare results, in the order of that seed."""
    for folder in (EXCHANGE, REPLAY):
        beneath.make_folder(box.work, folder)
    readable = (*box.readable, box.work / EXCHANGE)
    inside = replace(box, work=box.work / REPLAY, readable=readable)
    return ReplaySession(
        capture,
        device=device,
        verify=False,  # hashed when the target was made
        timeout_s=REPLAY_LIMIT_S,
        exact_bounds=interleaving is not None,
        confinement=_Confined(inside, interleaving),
    )


def ranked(profile: ProfileDocument, pattern: str | None) -> list[KernelProfile]:
    """The user's kernels by what they contribute to the critical path, most first."""
    wanted = re.compile(pattern) if pattern else None
    kernels = [
        kernel
        for kernel in profile.kernels
        if not kernel.helper and (wanted is None or wanted.search(kernel.kernel.name))
    ]
    if not kernels:
        names = ", ".join(k.kernel.name for k in profile.kernels if not k.helper)
        raise BadInput(f"no kernel matches {pattern!r}", hint=f"launched were: {names}"[:300])
    kernels.sort(key=lambda kernel: (-weight(kernel), kernel.kernel.name))
    return [k for k in kernels if weight(k) >= LEAST_SCORE] or kernels[:1]


def weight(kernel: KernelProfile) -> float:
    score = kernel.critical_path.critical_path_score
    return score if score is not None else kernel.share or 0.0


def make_target(
    kernel: KernelProfile,
    original: Built,
    arguments: Sequence[str],
    recorded: Launches,
    number: int,
    folders: tuple[Path, Path],
    device: str,
    gpu: Gpu | None,
    box: Sandbox,
    tell: Tell,
    debug: Debug = no_debug,
) -> Target:
    """Capture one dispatch of the kernel, or take the capture an interrupted run left; then find
    out what can be checked on it. Further launches of it go to the second folder."""
    name, (folder, beside) = kernel.kernel.name, folders
    capture = _reopened(folder, tell)
    options = CaptureOptions(
        program=str(original.program),
        arguments=tuple(arguments),
        kernel=f"^{re.escape(name)}$",
        # Not the first launch, where there are others: it pays for what is new.
        index=min(kernel.dispatches - 1, kernel.dispatches // 2),
        out=folder,
        device=device,
    )
    if capture is None:
        tell(f"capturing {name}")
        capture_program(options, tell)
        capture = open_capture(folder, tell=tell)
    with capture:
        dispatch, totals = capture.dispatch, capture.manifest.totals
        static, main = _static_lds(capture), launch_of(capture)

    def opens(path: Path) -> Callable[[int], ReplaySession]:
        seeing = replace(box, readable=(*box.readable, path.resolve()))
        return lambda seed: open_confined(path, device, seeing, seed)

    family = make_family(original, folder, main, recorded, options, beside, opens, tell, debug)
    seeing = replace(box, readable=(*box.readable, folder.resolve()))
    tell(f"trying inputs on {name}")
    return Target(
        number=number,
        name=name,
        symbol=dispatch.kernel.symbol,
        capture=folder,
        device=device,
        box=seeing,
        threads=math.prod(dispatch.workgroup),
        dynamic_lds_bytes=max(0, dispatch.group_segment_size - static),
        gpu=gpu,
        floor_ns=write_floor_ns(gpu, totals.changed_bytes),
        plan=result_check.prepare(opens(folder), debug),
        family=family,
        score=kernel.critical_path.critical_path_score,
        share=kernel.share,
    )


def _reopened(folder: Path, tell: Tell) -> Capture | None:
    if not folder.exists():
        return None
    try:
        return open_capture(folder, tell=tell)
    except PerfLabError:
        shutil.rmtree(folder)
        return None


def _static_lds(capture: Capture) -> int:
    code = read_code_object(capture.kernel_hsaco())
    symbol = capture.dispatch.kernel.symbol
    return next((k.lds_bytes for k in code.kernels if k.name == symbol), 0)
