"""All instances of a kernel's template and the launches of them that a candidate is compared on."""

from __future__ import annotations

import functools
import math
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rocm_perf_lab.codeobject.kernels import Kernel, read_code_object
from rocm_perf_lab.errors import PerfLabError
from rocm_perf_lab.optimize import launches as sample
from rocm_perf_lab.optimize import promises, result_check
from rocm_perf_lab.optimize.build import Built
from rocm_perf_lab.optimize.grown import grow
from rocm_perf_lab.optimize.input_sets import Most
from rocm_perf_lab.optimize.kernel_source import base_name
from rocm_perf_lab.optimize.launches import Feature, features, short
from rocm_perf_lab.optimize.layout import Debug, no_debug
from rocm_perf_lab.optimize.program_guard import instructions
from rocm_perf_lab.optimize.result_check import CheckResult, Plan, SetResult
from rocm_perf_lab.replay.capture import CaptureOptions
from rocm_perf_lab.replay.format import open_capture
from rocm_perf_lab.replay.launches import (
    Launch,
    Launches,
    Want,
    capture_several,
    launch_of,
)
from rocm_perf_lab.replay.session import ReplaySession

MOST_BYTES = 8 << 30  # of all further captures of a kernel together
_RESOURCES = ("vgprs", "agprs", "sgprs", "lds_bytes", "scratch_bytes", "max_threads")

Opens = Callable[[Path], Callable[[int], ReplaySession]]
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Compared:
    """One captured launch beside the main one."""

    launch: Launch
    folder: Path
    opening: Callable[[int], ReplaySession]
    debug: Debug = no_debug
    orders: bool = False  # whether other orders of workgroups and waves are tried on it
    full: bool = False  # whether all input sets are: the code of another instance is other code
    grown: Most | None = None  # its buffers have room for more than that, which alone is tried

    @property
    def name(self) -> str:
        more = ", larger" if self.grown is not None else ""
        return f"launch {self.launch.index} of {short(self.launch.symbol)}{more}"

    @functools.cached_property
    def plan(self) -> Plan:
        try:
            if self.grown is not None:
                return result_check.prepare_larger(self.opening, self.grown, self.debug)
            orders = self.orders or self.full
            return result_check.prepare(self.opening, self.debug, not self.full, orders)
        except PerfLabError as error:
            return Plan((), (), blocked=error.message)


@dataclass(frozen=True)
class Family:
    kernels: Mapping[str, Kernel]  # every instance, by symbol
    launches: Launches  # of these alone
    main: Launch  # on which all input sets are tried
    further: tuple[Compared, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict)  # symbol -> why it was not captured
    not_grown: Mapping[str, str] = field(default_factory=dict)  # symbol -> why no room for more

    @functools.cached_property
    def seen(self) -> promises.Seen:
        return promises.seen(self.launches, self.kernels)

    def compared(self) -> list[Compared]:
        return [each for each in self.further if not each.plan.blocked]

    @property
    def launches_compared(self) -> int:
        """Of the program's own, the main one with them."""
        return 1 + sum(each.grown is None for each in self.compared())

    def not_compared(self) -> list[str]:
        """In words what of the program's launches no comparison sees."""
        done = [self.main, *(each.launch for each in self.compared())]
        found = sample.uncovered(map(self._features, self.launches.all), map(self._features, done))
        return found if self.launches.complete else [*found, "launches after 50,000 different ones"]

    def not_larger(self) -> str | None:
        """Why no size was tried that is larger than those of the program; None: one was."""
        blocked = {
            each.launch.symbol: each.plan.blocked
            for each in self.further
            if each.grown is not None and each.plan.blocked
        }
        found = {**self.not_grown, **blocked}
        if why := found.pop(self.main.symbol, None):
            return why
        return next((f"{short(symbol)}: {why}" for symbol, why in found.items()), None)

    def of_code(self, before: Built, after: Built) -> list[Compared]:
        """The captured launches that are compared of all that changed, and whose code lies in the
        same code objects as the main launch's."""
        changed, ours = self.changed(before, after), self.main.symbol
        return [
            each
            for each in self.compared()
            if each.grown is None
            and each.launch.symbol in changed
            and all(b.code_of(each.launch.symbol) is b.code_of(ours) for b in (before, after))
        ]

    def _features(self, launch: Launch) -> frozenset[Feature]:
        return features(launch, self.kernels[launch.symbol])

    def changed(self, before: Built, after: Built) -> list[str]:
        """Instances of which the two builds have other code, or code with other needs."""
        found = []
        for symbol in self.kernels:
            old, new = before.kernel(symbol), after.kernel(symbol)
            same = instructions(old.code) == instructions(new.code)
            if not same or any(getattr(old, r) != getattr(new, r) for r in _RESOURCES):
                found.append(symbol)
        return found

    def of(self, built: Built) -> dict[str, Kernel]:
        return {symbol: built.kernel(symbol) for symbol in self.kernels}

    def unchecked(self, changed: Sequence[str]) -> str | None:
        """Why what changed cannot be checked at all; None: it can."""
        launched = {launch.symbol for launch in self.launches.all} | {self.main.symbol}
        never = [short(symbol) for symbol in changed if symbol not in launched]
        if never:
            return (
                f"it changes {', '.join(never[:5])} as well, which the program never launches: "
                "that cannot be checked"
            )
        return None

    def check(self, changed: Sequence[str], after: Built) -> CheckResult:
        """A build on every further launch of what changed; stops at the first difference."""
        sets: list[SetResult] = []
        for each in self.compared():
            if each.launch.symbol not in changed:
                continue
            image = after.code_of(each.launch.symbol).elf.data
            found = result_check.check(each.opening, each.plan, image)
            compared = found.sets or (SetResult("captured", False, found.reason),)
            sets += [replace(s, name=f"{each.name}: {s.name}") for s in compared]
            if found.reason:
                return CheckResult(tuple(sets))
        seen = {self.main.symbol, *(each.launch.symbol for each in self.compared())}
        for symbol in sorted(set(changed) - seen):
            why = self.failed.get(symbol) or next(
                (c.plan.blocked for c in self.further if c.launch.symbol == symbol), "not captured"
            )
            text = f"it changes as well, and no launch of it can be compared: {why}"
            return CheckResult((*sets, SetResult(short(symbol), False, text)))
        return CheckResult(tuple(sets))

    def limit(self) -> str:
        """What a patch says of itself: what it was proved on, and what that had in common."""
        known = self.seen
        parts = [
            f"{short(self.main.symbol)}, different launches: {known.launches}",
            f"compared: {self.launches_compared}",
            f"blocks of at most {known.threads} threads",
        ]
        pairs = {(each.first, each.second) for each in known.sharing}
        parts.append(
            "parameters "
            + ", ".join(f"{a + 1} and {b + 1}" for a, b in sorted(pairs))
            + " share memory"
            if pairs
            else "no two pointers into the same allocation"
        )
        if known.unknown:
            parts.append(f"{len(known.unknown)} pointers into memory that is not known")
        if known.alignment:
            parts.append(f"pointers at multiples of {min(known.alignment.values())} bytes")
        if missing := self.not_compared():
            parts.append("not compared: " + ", ".join(missing))
        if why := self.not_larger():
            parts.append(f"no larger sizes tried ({why})")
        return "; ".join(parts)


def make_family(
    original: Built,
    capture: Path,
    main: Launch,
    recorded: Launches,
    options: CaptureOptions,
    folder: Path,
    opens: Opens,
    tell: Tell,
    debug: Debug = no_debug,
) -> Family:
    """Choose launches beside `capture` and capture them into `folder`, or take those that an
    interrupted run left; those with room for more go to another folder beside it."""
    own = base_name(main.symbol)
    kernels = {k.name: k for c in original.codes for k in c.kernels if base_name(k.name) == own}
    ours = tuple(each for each in recorded.all if each.symbol in kernels)
    seen = [features(each, kernels[each.symbol]) for each in (*ours, main)]
    chosen = [ours[at] for at in sample.choose(seen, [len(ours)])]
    failed = _capture(chosen, options, folder, tell) if chosen and not folder.exists() else {}
    captures = sorted(folder.iterdir()) if folder.exists() else []
    further = comparisons(captures, main, opens, tell, debug)
    room = folder.with_name(f"{folder.name}-larger")
    shutil.rmtree(room, ignore_errors=True)  # of a run that was interrupted while it was written
    room.mkdir(parents=True)
    larger, why = larger_sizes(capture, main, further, ours, room, opens, tell, debug)
    known = Launches(ours, recorded.complete)
    return Family(kernels, known, main, (*further, *larger), failed, why)


def comparisons(
    captures: Sequence[Path], main: Launch, opens: Opens, tell: Tell, debug: Debug = no_debug
) -> list[Compared]:
    """What a candidate is compared on beside the main launch."""
    found = []
    for path in captures:
        with open_capture(path, tell=tell) as opened:
            found.append(Compared(launch_of(opened), path, opens(path), debug))
    crowded = most_crowded([each.launch for each in found], main)
    first = {each.launch.symbol: at for at, each in reversed([*enumerate(found)])}
    others = {at for symbol, at in first.items() if symbol != main.symbol}
    return [replace(each, orders=at in crowded, full=at in others) for at, each in enumerate(found)]


def larger_sizes(
    capture: Path,
    main: Launch,
    further: Sequence[Compared],
    launches: Sequence[Launch],
    room: Path,
    opens: Opens,
    tell: Tell,
    debug: Debug = no_debug,
) -> tuple[list[Compared], dict[str, str]]:
    """One launch of every instance, with sizes beyond those of all its launches; by symbol why
    there is none. The captures with room for more are written to `room`."""
    found, why_not = list[Compared](), dict[str, str]()
    own = [(capture, main), *((each.folder, each.launch) for each in further if each.full)]
    for number, (path, launch) in enumerate(own):
        grown = room / f"{number:02d}"
        with open_capture(path, tell=tell) as opened:
            code = read_code_object(opened.kernel_hsaco())
            why = grow(opened, grown)
        if why is not None:
            why_not[launch.symbol] = why
            continue
        same = [each for each in (*launches, launch) if each.symbol == launch.symbol]
        most = sample.most(same, next(k for k in code.kernels if k.name == launch.symbol))
        found.append(Compared(launch, grown, opens(grown), debug, grown=most))
    return found, why_not


def most_crowded(launches: Sequence[Launch], main: Launch) -> set[int]:
    """Which launches have most threads in a workgroup, and which most workgroups, of each instance
    and beyond the main launch, on which orders are tried anyway: a race may need a second wave."""
    found: set[int] = set()
    for symbol in {launch.symbol for launch in launches}:
        for size in (_threads, _groups):
            least = size(main) if symbol == main.symbol else 0
            mine = [(size(each), -at) for at, each in enumerate(launches) if each.symbol == symbol]
            most, at = max(mine)
            if most > least:
                found.add(-at)
    return found


def _threads(launch: Launch) -> int:
    return math.prod(launch.block)


def _groups(launch: Launch) -> int:
    return math.prod(
        -(-grid // block) for grid, block in zip(launch.grid, launch.block, strict=True)
    )


def _capture(
    chosen: Sequence[Launch], options: CaptureOptions, folder: Path, tell: Tell
) -> dict[str, str]:
    """Into a folder that gets its name when all are there; by symbol why one could not be had."""
    tell(f"capturing further launches of {short(chosen[0].symbol)}: {len(chosen)}")
    partial = folder.with_name(f".{folder.name}")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    most = MOST_BYTES // len(chosen)
    wants = [
        Want(each.symbol, each.index, partial / f"{at:02d}", most) for at, each in enumerate(chosen)
    ]
    errors = capture_several(options, wants, tell)
    partial.rename(folder)
    return {w.symbol: e.message for w, e in zip(wants, errors, strict=True) if e is not None}
