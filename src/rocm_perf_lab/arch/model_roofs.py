"""Which measured roofs of a GPU its virtual device is built with: data/virtual/parameters.toml.

A kernel's share of such a roof compares the model with itself.
"""

from __future__ import annotations

from functools import cache

from rocm_perf_lab.arch.load import gpu
from rocm_perf_lab.arch.virtual_data import table

_PARAMETERS = {"hbm": "hbm_gbps", "mall": "mall_gbps"}


@cache
def model_roofs(product: str | None) -> frozenset[str]:
    """Names of ceilings; none where there is no virtual device of the product."""
    devices, parameters = table("devices.toml")["devices"], table("parameters.toml")["devices"]
    device = next((name for name, entry in devices.items() if entry["product"] == product), None)
    if device is None or product is None:
        return frozenset()
    measured = gpu(product).measured
    found = set()
    for ceiling, parameter in _PARAMETERS.items():
        owner = device
        while parameter not in parameters[owner]:
            owner = parameters[owner]["inherits"]
        if (name := parameters[owner][parameter].get("arch", "")).startswith("measured."):
            given = gpu(devices[owner]["product"]).measured[name.removeprefix("measured.")]
            if ceiling in measured and measured[ceiling].value == given.value:
                found.add(ceiling)
    return frozenset(found)
