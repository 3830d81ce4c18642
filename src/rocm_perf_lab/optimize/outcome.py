"""What the original left on an input set: enough to tell whether the set says anything."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rocm_perf_lab.optimize.input_sets import InputSet, Subject
from rocm_perf_lab.optimize.judge import Mask
from rocm_perf_lab.optimize.layout import Buffer, column
from rocm_perf_lab.replay.compare import values
from rocm_perf_lab.replay.session import ORIGINAL, ReplaySession, Seen

MAX_KEPT_BYTES = 256 << 20  # of one set, to be compared with another order


@dataclass(frozen=True)
class Left:
    seen: tuple[Seen, ...]  # of every buffer that may be written; empty: too much to keep
    digest: str  # of the bytes that were written
    written_bytes: int
    changed_bytes: int  # of them, those that differ from what was there
    share: float  # of what is always written on the captured inputs
    finite: bool  # some floating-point result is, or there is none
    all_finite: bool
    all_nan: bool  # there are some, none is a number, and nothing else is written


def read_left(session: ReplaySession, subject: Subject, inputs: InputSet) -> Left:
    """After a run of the original on the set."""
    free = [b for b in subject.layout.buffers if not b.const]
    seen = session.look([(b.address, b.size) for b in free], ORIGINAL)
    digest = hashlib.blake2b(digest_size=16)
    total = moved = due = kept = numbers = finite = nan = strange = 0
    others = False
    for buffer, each in zip(free, seen, strict=True):
        mask = each.got != each.initial
        moved += int(mask.sum())
        others |= bool(mask.any()) and not all(leaf.type.floating for leaf in buffer.leaves)
        changed, good, bad = _floats(buffer, each, mask)
        strange += changed - good
        if inputs.less:  # of fewer elements: what is not written this time holds poison
            numbers, finite, nan = numbers + changed, finite + good, nan + bad
        for offset, size in subject.written.get(buffer.address, ()):
            part = slice(offset, offset + size)
            due += size
            if inputs.poison:  # zeros are too often what is written
                kept += int((~mask[part]).sum())
            mask[part] = True
        total += int(mask.sum())
        digest.update(np.packbits(mask).tobytes())
        digest.update(each.got[mask].tobytes())
        if not inputs.less:
            some, good, bad = _floats(buffer, each, mask)
            numbers, finite, nan = numbers + some, finite + good, nan + bad
    small = sum(b.size for b in free) <= MAX_KEPT_BYTES
    share = 1 - kept / due if due else 1.0
    return Left(
        tuple(seen) if small else (),
        digest.hexdigest(),
        total,
        moved,
        share,
        finite=not numbers or finite > 0,
        all_finite=not strange,
        all_nan=0 < numbers == nan and not others,
    )


def _floats(buffer: Buffer, seen: Seen, mask: Mask) -> tuple[int, int, int]:
    """How many floating-point numbers were written, how many of them are finite, and how many are
    not a number."""
    some = good = bad = 0
    for leaf in buffer.leaves:
        if not leaf.type.floating:
            continue
        written = column(mask.view(np.uint8), buffer, leaf).reshape(-1, leaf.type.size).any(axis=1)
        numbers = values(column(seen.got, buffer, leaf), leaf.type)[written]
        some += len(numbers)
        good += int(np.isfinite(numbers).sum())
        bad += int(np.isnan(numbers).sum())
    return some, good, bad


def against(before: Left, now: Left) -> Sequence[Seen] | None:
    """What another order left, against what the first did; None: the same bytes, or not kept."""
    if before.digest == now.digest or not before.seen:
        return None
    return [
        Seen(old.address, old.initial, old.got, new.got)
        for old, new in zip(before.seen, now.seen, strict=True)
    ]
