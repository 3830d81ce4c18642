"""What mending a limit would gain at most, in one sentence."""

from __future__ import annotations

from rocm_perf_lab.analyze.gain import Gain


def gain_line(gain: Gain) -> str:
    """The kernel's, and every bound that was found."""
    kernel = gain.kernel_at_most
    text = f"{kernel:.3g}x for the kernel" if kernel is not None else "not known for the kernel"
    return f"{text} ({'; '.join(gain.reasons)})"
