"""VGPR counts: what a kernel uses, what it is allocated, and what rocprofiler-sdk reports of that.

From gfx90a on one file holds both kinds. The compiler counts what a kernel uses (`.vgpr_count` of
the metadata note is both together, `.agpr_count` the accumulation registers among them). Allocated
is more: architectural registers up to a multiple of four, where the accumulation registers begin
(ACCUM_OFFSET of the kernel descriptor), and the whole up to a multiple of eight. The SDK reads the
descriptor and calls all that lies behind ACCUM_OFFSET accumulation registers: 4 + 4 for a kernel
that uses three VGPRs. So less than a granule there is no sign of any.

Two bugs of the SDK (docs of both: its own issue tracker; checked against code object metadata):

- gfx90a and gfx94x: ACCUM_OFFSET is read with 5 of its 6 bits, so the architectural count of a
  kernel using more than 128 is too low by 128 and the accumulation count too high by 128. Their
  sum is right.
- gfx950 (before May 2026): the unified allocation is read in granules of 4 instead of 8 and the
  accumulation count is always 0, so the allocated total is twice the number reported.
"""

from __future__ import annotations

from dataclasses import dataclass

_GRANULE = 8
_ACCUM_GRANULE = 4
_WRAP = 128
_MOST_ACCUM = 256


@dataclass(frozen=True)
class Vgprs:
    arch: int | None
    accum: int | None
    total: int | None
    corrections: tuple[str, ...] = ()


def together(vgprs: int, agprs: int) -> int:
    """What a kernel uses of a file that holds both kinds, the gap between them included."""
    return _up_to(vgprs, _ACCUM_GRANULE) + agprs if agprs else vgprs


def described(vgprs: int, agprs: int) -> tuple[int, int]:
    """As the SDK reads the descriptor of a kernel that uses so many: up to the first accumulation
    register, and from there to the end of what is allocated."""
    arch = max(_up_to(vgprs, _ACCUM_GRANULE), _ACCUM_GRANULE)
    return arch, _up_to(arch + agprs, _GRANULE) - arch


def _up_to(count: int, granule: int) -> int:
    return -(-count // granule) * granule


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
    if architecture not in ("gfx90a", "gfx950") and not architecture.startswith("gfx94"):
        return Vgprs(arch, accum, total)
    if 0 < accum < _GRANULE:
        return Vgprs(
            arch,
            None,
            total,
            (
                f"{total} VGPRs are allocated, {arch} of them architectural: whether the kernel "
                f"uses the other {accum} as AGPRs, or they only fill the granule, is not recorded",
            ),
        )
    if architecture == "gfx950" or accum < _WRAP or arch > _WRAP:
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
