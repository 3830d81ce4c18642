"""What mending a limit would gain at most, in one sentence."""

from __future__ import annotations

from rocm_perf_lab.analyze.gain import Gain


def gain_line(gain: Gain) -> str:
    """The kernel's, and every bound that was found."""
    if gain.kernel_at_most is None:
        return "; ".join(gain.reasons)
    return f"{gain.kernel_at_most:.3g}x for the kernel ({'; '.join(gain.reasons)})"
