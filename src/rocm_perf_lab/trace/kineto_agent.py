"""Which GPU a device of a PyTorch trace is: the file names it, and gives no architecture."""

from __future__ import annotations

import re
from typing import Any

from rocm_perf_lab.trace.columns import as_integer, ordinary_text
from rocm_perf_lab.trace.describe import number
from rocm_perf_lab.trace.trace import Agent

Object = dict[str, Any]

_BY_PRODUCT = (
    (r"MI3(00|25|08)", "gfx942"),
    (r"MI35[05]", "gfx950"),
    (r"MI2[0-9]{2}", "gfx90a"),
    (r"MI100", "gfx908"),
    (r"MI[56]0", "gfx906"),
    (r"7900|W7[89]00", "gfx1100"),
    (r"6[89]00|W6800", "gfx1030"),
)
# HIP reports no stepping: what a compute capability can be, told apart by the CU count.
_BY_CAPABILITY: dict[tuple[int, int], tuple[tuple[range, str], ...]] = {
    (9, 4): ((range(1, 1000), "gfx942"),),
    (9, 5): ((range(1, 1000), "gfx950"),),
    (9, 0): ((range(104, 111), "gfx90a"), (range(120, 121), "gfx908")),
    (11, 0): ((range(84, 97), "gfx1100"),),
    (10, 3): ((range(60, 81), "gfx1030"),),
}


def agent_of(device: int, listed: object) -> Agent:
    """`listed`: the file's deviceProperties."""
    known = [p for p in listed if isinstance(p, dict)] if isinstance(listed, list) else []
    properties = next((p for p in known if as_integer(p.get("id")) == device), None)
    alike = {(str(p.get("name")), as_integer(p.get("numSms"))) for p in known}
    if properties is None or len(alike) == 1:
        # Numbers of nodes and of devices differ; where all devices are alike it does not matter.
        properties = known[0] if len(alike) == 1 else None
    if properties is None:
        return Agent(0, "GPU", "", "", "", index=number(device))
    name = ordinary_text(properties.get("name")) or ""
    cus = as_integer(properties.get("numSms"))
    found = {
        "cu_count": cus,
        "wave_front_size": as_integer(properties.get("warpSize")),
    }
    return Agent(
        process=0,
        kind="GPU",
        architecture=_architecture(name, properties, cus),
        model_name=name,
        product_name=name,
        index=number(device),
        properties={key: value for key, value in found.items() if value > 0},
    )


def _architecture(name: str, properties: Object, cus: int) -> str:
    for pattern, architecture in _BY_PRODUCT:
        if re.search(pattern, name):
            return architecture
    major, minor = (as_integer(properties.get(k)) for k in ("computeMajor", "computeMinor"))
    for counts, architecture in _BY_CAPABILITY.get((major, minor), ()):
        if cus in counts:
            return architecture
    return ""
