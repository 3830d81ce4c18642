"""How a program launches its kernels, and several of these launches captured in one run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path

from rocm_perf_lab import scratch
from rocm_perf_lab.collect.program import resolve
from rocm_perf_lab.device.target import choose
from rocm_perf_lab.errors import BadInput, PerfLabError
from rocm_perf_lab.replay import finish, native_log
from rocm_perf_lab.replay.capture import CaptureOptions, observed, provenance, why_not
from rocm_perf_lab.replay.format import Capture

Tell = Callable[[str], None]
Dimensions = tuple[int, int, int]
NO_LIMIT = (1 << 64) - 1


@dataclass(frozen=True)
class Launch:
    symbol: str
    index: int  # among the launches of this kernel, the first of its kind
    process: int
    grid: Dimensions
    block: Dimensions
    group_bytes: int
    kernarg: bytes | None  # None: it could not be read
    # Where in the arguments a word points into memory, and the base and size of that allocation.
    allocations: Mapping[int, tuple[int, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Launches:
    """Every different launch of a run; not `complete` where there were too many to keep."""

    all: tuple[Launch, ...]
    complete: bool = True


def record_launches(options: CaptureOptions, tell: Tell = lambda _: None) -> Launches:
    """Run the program once; of the options program, arguments, device and time limit count."""
    program, target = (
        resolve(options.program),
        choose(options.device, rocprofv3_installed=True),
    )
    with scratch.folder("rocm-perf-launches-") as folder:
        with observed(program, options, ["launches"], target, folder, tell) as (outcome, sentence):
            if not outcome.ok:
                raise BadInput(sentence, hint=outcome.tail() or None)
        return parse(native_log.lines(folder, native_log.LAUNCHES))


def parse(rows: Sequence[Sequence[str]]) -> Launches:
    """The library's lines; it is part of the program's process, so nothing in them is believed."""
    found: list[Launch] = []
    try:
        for row in rows:
            if row[0] != "launch":
                continue
            number = [int(word) for word in row[4:11]]
            found.append(
                Launch(
                    symbol=native_log.string(row[3]),
                    index=int(row[2]),
                    process=int(row[1]),
                    grid=(number[0], number[1], number[2]),
                    block=(number[3], number[4], number[5]),
                    group_bytes=number[6],
                    kernarg=None if row[11] == "?" else bytes.fromhex(row[11].strip("-")),
                    allocations=dict(_allocation(word) for word in row[12:]),
                )
            )
    except (ValueError, IndexError) as error:
        raise BadInput(f"the record of launches cannot be read: {error}") from None
    return Launches(tuple(found), complete=not any(row[0] == "more" for row in rows))


def _allocation(word: str) -> tuple[int, tuple[int, int]]:
    at, base, size = map(int, word.split(":"))
    return at, (base, size)


def launch_of(capture: Capture) -> Launch:
    """What the record would have said of a captured launch."""
    dispatch, kernarg = capture.dispatch, capture.kernarg
    regions = [r for r in capture.regions if r.kind in ("pool", "host", "svm", "registered")]
    allocations = {}
    for at in range(0, len(kernarg) - 7, 8):
        word = int.from_bytes(kernarg[at : at + 8], "little")
        region = next((r for r in regions if r.base <= word < r.base + r.size), None)
        if region is not None:
            allocations[at] = (region.base, region.size)
    return Launch(
        symbol=dispatch.kernel.symbol,
        index=dispatch.index,
        process=0,
        grid=dispatch.grid,
        block=dispatch.workgroup,
        group_bytes=dispatch.group_segment_size,
        kernarg=kernarg,
        allocations=allocations,
    )


@dataclass(frozen=True)
class Want:
    symbol: str
    index: int
    out: Path  # the capture's folder, to be made
    max_bytes: int = NO_LIMIT


def capture_several(
    options: CaptureOptions, wants: Sequence[Want], tell: Tell = lambda _: None
) -> list[PerfLabError | None]:
    """Capture them all in one run of the program; why one could not be had, in their order."""
    program, target = (
        resolve(options.program),
        choose(options.device, rocprofv3_installed=True),
    )
    if target.notice is not None:
        tell(target.notice)
    started = datetime.now(timezone.utc).isoformat(timespec="seconds")
    config = [
        f"want {place} {want.index} {want.max_bytes} {want.symbol}"
        for place, want in enumerate(wants)
    ]
    results: list[PerfLabError | None] = []
    with scratch.folder(".partial-", wants[0].out.absolute().parent) as partial:
        for place in range(len(wants)):
            (partial / str(place)).mkdir(mode=0o700)
        with observed(program, options, config, target, partial, tell) as (outcome, sentence):
            for place, want in enumerate(wants):
                folder = partial / str(place)
                try:
                    if not (folder / native_log.LINES).exists():
                        if not native_log.lines(folder, native_log.STATUS):
                            raise BadInput(f"launch {want.index} of {want.symbol} did not come")
                        asked = replace(options, max_bytes=want.max_bytes)
                        raise why_not(asked, folder, sentence, outcome)
                    finish.finish(folder, provenance(target, started, folder))
                    folder.rename(want.out)
                    results.append(None)
                except OSError as error:
                    results.append(BadInput(f"the capture cannot be written: {error.strerror}"))
                except PerfLabError as error:
                    results.append(error)
    return results
