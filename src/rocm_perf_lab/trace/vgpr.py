"""VGPR counts as rocprofiler-sdk reports them, and what they really are.

Two bugs of the SDK (docs of both: its own issue tracker; checked against code object metadata):

- gfx90a and gfx94x: ACCUM_OFFSET is read with 5 of its 6 bits, so the architectural count of a
  kernel using more than 128 is too low by 128 and the accumulation count too high by 128. Their
  sum is right.
- gfx950 (before May 2026): the unified allocation is read in granules of 4 instead of 8 and the
  accumulation count is always 0, so the allocated total is twice the number reported.
"""

from __future__ import annotations

from dataclasses import dataclass

_WRAP = 128
_MOST_ACCUM = 256


@dataclass(frozen=True)
class Vgprs:
    arch: int | None
    accum: int | None
    total: int | None
    corrections: tuple[str, ...] = ()


def true_counts(
    architecture: str, arch: int | None, accum: int | None, accum_never_seen: bool
) -> Vgprs:
    """Counts as recorded, mended. `accum_never_seen`: no kernel of the trace reports any."""
    if arch is None or arch < 0 or (arch == 0 and not accum):
        return Vgprs(None, None, None)
    if accum is None or accum < 0:
        accum = 0
    total = arch + accum
    if architecture == "gfx950" and accum_never_seen:
        return Vgprs(
            None,
            None,
            2 * arch,
            (
                f"rocprofiler-sdk reports half of gfx950's VGPRs ({arch}); the allocated total is "
                f"{2 * arch}, its split into architectural and accumulation registers is unknown",
            ),
        )
    if architecture != "gfx90a" and not architecture.startswith("gfx94"):
        return Vgprs(arch, accum, total)
    if accum < _WRAP or arch > _WRAP:
        return Vgprs(arch, accum, total)
    if accum > _MOST_ACCUM:
        return Vgprs(
            arch + _WRAP,
            accum - _WRAP,
            total,
            (
                f"rocprofiler-sdk reports {arch} architectural and {accum} accumulation VGPRs; "
                f"its 5-bit ACCUM_OFFSET wrapped: {arch + _WRAP} and {accum - _WRAP}",
            ),
        )
    return Vgprs(
        None,
        None,
        total,
        (
            f"rocprofiler-sdk reports {arch} architectural and {accum} accumulation VGPRs, which "
            f"may be {arch + _WRAP} and {accum - _WRAP} (5-bit ACCUM_OFFSET); the total of "
            f"{total} is right either way",
        ),
    )
