"""From the architecture files to a `Gpu`: by a recorded agent, or by name.

What the recording says about the device (compute units, clock, memory clock and width) comes
before the file; the file supplies what no recording has. Peaks are derived, CUs x clock x
operations per clock, so that a partitioned or cut-down device gets its own.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib import resources
from typing import Any

from rocm_perf_lab.arch.gpu import (
    COMPUTE_PIPES,
    MFMA_PIPES,
    VALU_PIPES,
    Gpu,
    Kind,
    Quantity,
    WaveLimits,
)
from rocm_perf_lab.errors import UsageError
from rocm_perf_lab.trace.trace import Agent

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover
    import tomli as tomllib

Table = Mapping[str, Any]
Numbers = dict[str, Quantity]


def parse(text: str) -> dict[str, Any]:
    parsed: dict[str, Any] = tomllib.loads(text)
    return parsed


@cache
def files() -> dict[str, dict[str, Any]]:
    """Every architecture file as parsed, by architecture, sorted."""
    folder = resources.files("rocm_perf_lab.arch") / "data"
    found = {}
    for entry in sorted(folder.iterdir(), key=lambda e: e.name):
        if entry.name.endswith(".toml"):
            parsed = parse(entry.read_text(encoding="utf-8"))
            found[parsed["architecture"]] = parsed
    return found


def products(file: Table) -> dict[str, dict[str, Any]]:
    """A file's products with inheritance resolved."""
    return {name: _product(file, name, ()) for name in file.get("products", {})}


def _product(file: Table, name: str, seen: tuple[str, ...]) -> dict[str, Any]:
    if name in seen or name not in file["products"]:
        raise ValueError(f"product {name} inherits in a circle or from nothing")
    own = file["products"][name]
    base: dict[str, Any] = {}
    if "inherits" in own:
        base = dict(_product(file, own["inherits"], (*seen, name)))
        for section in own.get("drop", ()):
            base.pop(section, None)
    for key, value in own.items():
        if isinstance(value, Mapping):
            base[key] = {**base.get(key, {}), **value}
        else:
            base[key] = value
    return base


def quantities(file: Table, section: Table) -> Numbers:
    """A section's numbers with their sources spelt out."""
    sources = file["sources"]
    return {
        name: Quantity(float(q["value"]), q["unit"], q["kind"], sources[q["source"]])
        for name, q in section.items()
    }


def file_of(architecture: str) -> dict[str, Any]:
    """The file that describes an architecture; `gfx942:sramecc+:xnack-` is gfx942."""
    bare = architecture.split(":")[0].strip()
    for file in files().values():
        if bare in file["matches"]:
            return file
    known = ", ".join(sorted(m for f in files().values() for m in f["matches"]))
    raise UsageError(
        f"no architecture file for {architecture or 'an unnamed device'}", hint=f"known: {known}"
    )


def gpu(what: Agent | str) -> Gpu:
    """The GPU of a recorded agent, or one by name: `gfx942`, `MI300X`, `gfx942/MI300A`."""
    if isinstance(what, Agent):
        return _of_agent(what)
    return _of_name(what)


def lookup(agent: Agent) -> Gpu | None:
    """As `gpu`, but None where no file describes the agent's architecture."""
    bare = agent.architecture.split(":")[0].strip()
    known = any(bare in file["matches"] for file in files().values())
    return _of_agent(agent) if known else None


def recorded(architecture: str, product_name: str) -> Gpu | None:
    """As `lookup`, of what a document says of its GPU."""
    return lookup(Agent(0, "GPU", architecture, "", product_name))


def _of_name(name: str) -> Gpu:
    architecture, _, product = name.rpartition("/")
    for file in files().values():
        if architecture and architecture not in file["matches"]:
            continue
        wanted = product.casefold().replace(" ", "")
        for title in products(file):
            if wanted == title.casefold().replace(" ", ""):
                return _build(file, file["architecture"], title, {})
    if architecture:
        raise UsageError(f"no product {product} in the file of {architecture}")
    file = file_of(name)
    bare = name.split(":")[0].strip()
    default = file.get("default_product") if bare == file["architecture"] else None
    return _build(file, bare, default, {})


def _of_agent(agent: Agent) -> Gpu:
    file = file_of(agent.architecture)
    recorded = recorded_numbers(agent)
    product = recognise(file, agent)
    return _build(file, agent.architecture.split(":")[0], product, recorded)


def recognise(file: Table, agent: Agent) -> str | None:
    """A product by device id, by the longest of its names found, then by its CU count alone."""
    known = products(file)
    device_id = _integer(agent.properties.get("device_id"))
    cus = _integer(agent.properties.get("cu_count"))
    by_id = [n for n, p in known.items() if device_id in p.get("device_ids", ())]
    if len(by_id) == 1:
        return by_id[0]
    text = f"{agent.product_name} {agent.model_name}".casefold().replace(" ", "")
    named = [
        (len(alias), name)
        for name, product in known.items()
        for alias in product.get("names", ())
        if alias.casefold().replace(" ", "") in text
    ]
    if named:
        return max(named)[1]
    candidates = by_id or list(known)
    by_cu = [
        name
        for name in candidates
        if cus is not None
        and known[name].get("numbers", {}).get("cu_count", {}).get("value") == cus
    ]
    # Two names for the same numbers (MI210 and a GCD of MI250) need not be told apart.
    alike = all(known[name]["numbers"] == known[by_cu[0]]["numbers"] for name in by_cu)
    return by_cu[0] if by_cu and alike else None


def recorded_numbers(agent: Agent) -> Numbers:
    """What the profiler recorded about the device, under the names the files use."""
    properties = agent.properties
    banks = properties.get("mem_banks")
    first = banks[0] if isinstance(banks, (list, tuple)) and banks else None
    bank = first if isinstance(first, Mapping) else {}
    found = {
        "cu_count": (properties.get("cu_count"), "1"),
        "xcc_count": (properties.get("num_xcc"), "1"),
        "simds_per_cu": (properties.get("simd_per_cu"), "1"),
        "wave_size": (properties.get("wave_front_size"), "lanes"),
        "clock_mhz": (properties.get("max_engine_clk_fcompute"), "MHz"),
        "memory_clock_mhz": (bank.get("mem_clk_max", properties.get("mem_clk_max")), "MHz"),
        "memory_width_bits": (bank.get("width", properties.get("mem_width")), "bit"),
    }
    source = "recorded agent properties"
    return {
        name: Quantity(float(number), unit, "measured", source)
        for name, (value, unit) in found.items()
        if (number := _integer(value)) is not None and number > 0
    }


def _integer(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        return int(value)
    except (ValueError, OverflowError):
        return None


def _build(file: Table, architecture: str, product: str | None, recorded: Numbers) -> Gpu:
    hardware = quantities(file, file["hardware"])
    chosen = products(file)[product] if product else {}
    listed = quantities(file, chosen.get("numbers", {}))
    numbers = {**hardware, **listed, **recorded}
    notes = []
    if product is None:
        notes.append(f"product not recognised: {architecture} with what was recorded about it")
    same_chip = all(
        name not in recorded or name not in listed or recorded[name].value == listed[name].value
        for name in ("cu_count", "xcc_count")
    )
    if product and not same_chip:
        notes.append(
            f"recorded with {_count(recorded, 'cu_count')} CUs in {_count(recorded, 'xcc_count')} "
            f"XCC, not {_count(listed, 'cu_count')} in {_count(listed, 'xcc_count')} as a whole "
            f"{product}: peaks follow the recording, measured and cache ceilings do not apply"
        )
        for whole_chip in ("l2_channels", "mall_gbps", "mall_bytes"):
            numbers.pop(whole_chip, None)
    operations = quantities(file, file["ops_per_cu_clock"])
    measured = quantities(file, chosen.get("measured", {})) if same_chip else {}
    measured = best_sustained(measured, {pipe: q.value for pipe, q in operations.items()})
    datasheet = _memory_peaks(numbers, recorded) | _compute_peaks(operations, numbers)
    if "hbm" in datasheet and "memory_clock_mhz" in recorded:
        notes.append(f"peak memory bandwidth: {datasheet['hbm'].source}")
    limits = wave_limits(file)
    wave_size = int(numbers["wave_size"].value)
    waves_per_cu = limits.max_waves_per_simd * limits.simds_per_domain // limits.cus_per_domain
    return Gpu(
        architecture=architecture,
        family=file["family"],
        product=product,
        metrics=file["metrics"],
        limits=replace(limits, wave_size=int(hardware["wave_size"].value)),
        wave_size=wave_size,
        simds_per_cu=int(numbers["simds_per_cu"].value),
        cu_count=_count(numbers, "cu_count"),
        xcc_count=_count(numbers, "xcc_count"),
        clock_mhz=numbers["clock_mhz"].value if "clock_mhz" in numbers else None,
        max_waves_per_cu=waves_per_cu,
        mall_bytes=_count(numbers, "mall_bytes"),
        datasheet=datasheet,
        measured=measured,
        notes=tuple(notes),
    )


def _count(numbers: Numbers, name: str) -> int | None:
    return int(numbers[name].value) if name in numbers else None


def wave_limits(file: Table) -> WaveLimits:
    values = {name: int(q.value) for name, q in quantities(file, file["occupancy"]).items()}
    registers = file["registers"]
    return WaveLimits(
        **values,
        agprs=registers["agprs"],
        sgpr_steps=tuple((int(up_to), int(waves)) for up_to, waves in registers["sgpr_steps"]),
        wave_size=int(file["hardware"]["wave_size"]["value"]),
    )


def _memory_peaks(numbers: Numbers, recorded: Numbers) -> Numbers:
    peaks: Numbers = {}
    clocked = ("memory_clock_mhz", "memory_width_bits", "memory_transfers_per_clock")
    if all(name in recorded for name in clocked[:2]) or "hbm_gbps" not in numbers:
        if all(name in numbers for name in clocked):
            clock, width, transfers = (numbers[name] for name in clocked)
            peaks["hbm"] = _derived(
                clock.value * width.value / 8 * transfers.value / 1e3,
                "GB/s",
                f"{clock.value:g} MHz x {width.value:g} bit / 8 x {transfers.value:g} per clock",
                (clock, width, transfers),
            )
    else:
        peaks["hbm"] = numbers["hbm_gbps"]
    if "mall_gbps" in numbers:
        peaks["mall"] = numbers["mall_gbps"]
    for level, per_clock, count, of_what in (
        ("l2", "l2_bytes_per_channel_clock", "l2_channels", "channels"),
        ("l1", "l1_bytes_per_cu_clock", "cu_count", "CU"),
        ("lds", "lds_bytes_per_cu_clock", "cu_count", "CU"),
    ):
        if per_clock in numbers and count in numbers and "clock_mhz" in numbers:
            each, many, clock = numbers[per_clock], numbers[count], numbers["clock_mhz"]
            peaks[level] = _derived(
                each.value * many.value * clock.value / 1e3,
                "GB/s",
                f"{many.value:g} {of_what} x {clock.value:g} MHz x {each.value:g} B per clock",
                (each, many, clock),
            )
    return peaks


def _compute_peaks(operations: Numbers, numbers: Numbers) -> Numbers:
    if "cu_count" not in numbers or "clock_mhz" not in numbers:
        return {}
    cus, clock = numbers["cu_count"], numbers["clock_mhz"]
    return {
        pipe: _derived(
            cus.value * clock.value * operations[pipe].value / 1e3,
            f"G{operations[pipe].unit}/s",
            f"{cus.value:g} CU x {clock.value:g} MHz x {operations[pipe].value:g} "
            f"{operations[pipe].unit} per clock ({operations[pipe].source})",
            (cus, clock, operations[pipe]),
        )
        for pipe in COMPUTE_PIPES
        if pipe in operations
    }


def best_sustained(measured: Numbers, rates: Mapping[str, float]) -> Numbers:
    """Types of one unit and one rate (per CU and clock, or peak) share the best figure of theirs.

    A benchmark that stays below another at the same rate met a limit of its own, not the unit's.
    """
    best = dict(measured)
    for unit in (VALU_PIPES, MFMA_PIPES):
        timed = [p for p in unit if p in measured and p in rates]
        for pipe in timed:
            top = max(
                (p for p in timed if rates[p] == rates[pipe]), key=lambda p: measured[p].value
            )
            if measured[top].value > measured[pipe].value:
                best[pipe] = replace(
                    measured[pipe],
                    value=measured[top].value,
                    source=f"{measured[top].source}: {top}'s, at the same rate per CU; "
                    f"{pipe}'s own benchmark reached {measured[pipe].value:g}",
                )
    return best


def _derived(value: float, unit: str, formula: str, inputs: tuple[Quantity, ...]) -> Quantity:
    """A product of known numbers is a datasheet figure, or as unchecked as its worst input."""
    kind: Kind = "unchecked" if any(q.kind == "unchecked" for q in inputs) else "datasheet"
    return Quantity(value, unit, kind, formula)
