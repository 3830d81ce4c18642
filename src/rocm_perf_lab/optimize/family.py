"""All instances of a kernel's template and the launches of them that a candidate is compared on."""

from __future__ import annotations

import functools
import math
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rocm_perf_lab.codeobject.kernels import Kernel
from rocm_perf_lab.errors import PerfLabError
from rocm_perf_lab.optimize import launches as sample
from rocm_perf_lab.optimize import promises, result_check
from rocm_perf_lab.optimize.build import Built
from rocm_perf_lab.optimize.input_sets import Most
from rocm_perf_lab.optimize.kernel_source import base_name
from rocm_perf_lab.optimize.launches import Feature, features, short
from rocm_perf_lab.optimize.layout import Debug, no_debug
from rocm_perf_lab.optimize.program_guard import instructions
from rocm_perf_lab.optimize.result_check import CheckResult, Plan, SetResult
from rocm_perf_lab.replay.capture import Options
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
    opening: Callable[[int], ReplaySession]
    debug: Debug = no_debug
    orders: bool = False  # whether other orders of workgroups and waves are tried on it
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
            return result_check.prepare(self.opening, self.debug, True, self.orders)
        except PerfLabError as error:
            return Plan((), (), blocked=error.message)


@dataclass(frozen=True)
class Family:
    kernels: Mapping[str, Kernel]  # every instance, by symbol
    launches: Launches  # of these alone
    main: Launch  # on which all input sets are tried
    further: tuple[Compared, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict)  # symbol -> why it was not captured

    @functools.cached_property
    def seen(self) -> promises.Seen:
        return promises.seen(self.launches, self.kernels)

    def compared(self) -> list[Compared]:
        return [each for each in self.further if not each.plan.blocked]

    def not_compared(self) -> list[str]:
        """In words what of the program's launches no comparison sees."""
        done = [self.main, *(each.launch for each in self.compared())]
        found = sample.uncovered(map(self._features, self.launches.all), map(self._features, done))
        return found if self.launches.complete else [*found, "launches after 50,000 different ones"]

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
            f"compared: {1 + len(self.compared())}",
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
        return "; ".join(parts)


def make_family(
    original: Built,
    main: Launch,
    recorded: Launches,
    options: Options,
    folder: Path,
    opens: Opens,
    tell: Tell,
    debug: Debug = no_debug,
    grown: Path | None = None,
) -> Family:
    """Choose launches and capture them into `folder`, or take those an interrupted run left.
    `grown`: a capture of the main launch with room for more."""
    own = base_name(main.symbol)
    kernels = {k.name: k for c in original.codes for k in c.kernels if base_name(k.name) == own}
    ours = tuple(each for each in recorded.all if each.symbol in kernels)
    seen = [features(each, kernels[each.symbol]) for each in (*ours, main)]
    chosen = [ours[at] for at in sample.choose(seen, [len(ours)])]
    failed = _capture(chosen, options, folder, tell) if chosen and not folder.exists() else {}
    further = []
    for path in sorted(folder.iterdir()) if folder.exists() else []:
        with open_capture(path, tell=tell) as opened:
            further.append(Compared(launch_of(opened), opens(path), debug))
    crowded = most_crowded([each.launch for each in further], main)
    further = [replace(each, orders=at in crowded) for at, each in enumerate(further)]
    if grown is not None:
        same = [each for each in (*ours, main) if each.symbol == main.symbol]
        most = sample.most(same, kernels[main.symbol])
        further.append(Compared(main, opens(grown), debug, grown=most))
    return Family(kernels, Launches(ours, recorded.complete), main, tuple(further), failed)


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
    chosen: Sequence[Launch], options: Options, folder: Path, tell: Tell
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
