"""The compute clock of AMD GPUs as the kernel driver shows it, for knowing that it moved."""

from __future__ import annotations

from pathlib import Path

DRM = Path("/sys/class/drm")


def compute_clocks_mhz(drm: Path = DRM) -> tuple[int, ...]:
    """One number for each GPU, in the driver's order; empty where there is none."""
    found = []
    for path in sorted(drm.glob("card[0-9]*/device/hwmon/hwmon*/freq1_input")):
        try:
            found.append(int(path.read_text()) // 1_000_000)
        except (OSError, ValueError):
            continue
    return tuple(found)
