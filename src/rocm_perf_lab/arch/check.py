"""Whether the architecture files hold together: units, sources, and what must follow from what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rocm_perf_lab.arch.counters import metric_set, metric_sets
from rocm_perf_lab.arch.gpu import COMPUTE_PIPES, KINDS, MEMORY_LEVELS
from rocm_perf_lab.arch.load import files, products, wave_limits

UNITS = frozenset(
    {
        *("1", "lanes", "waves", "registers", "workgroups", "B", "bit", "MHz", "GB/s", "cycles"),
        *("FLOP", "IOP", "GFLOP/s", "GIOP/s"),
    }
)
# Vendor figures are rounded to three or four digits.
VENDOR_WITHIN = 0.01
# A benchmark cannot beat the hardware; boost clocks and rounding get this much.
MEASURED_WITHIN = 0.05
REQUIRED = {
    "hardware": ("simds_per_cu", "wave_size", "memory_transfers_per_clock"),
    "occupancy": (
        *("max_waves_per_simd", "simds_per_domain", "cus_per_domain", "vgprs", "vgpr_granule"),
        *("lds_bytes_per_domain", "lds_bytes_per_workgroup", "lds_granule_bytes"),
        "max_workgroups_per_domain",
    ),
}
Table = Mapping[str, Any]


def check() -> list[str]:
    """What is wrong, one sentence each; nothing if all is well."""
    found = files()
    return [
        *(problem for name, file in found.items() for problem in check_file(name, file)),
        *twice_matched(found),
    ]


def twice_matched(found: Mapping[str, Table]) -> list[str]:
    """Targets that two files claim: whichever comes first would be taken."""
    owner: dict[str, str] = {}
    problems = []
    for name, file in found.items():
        for target in file.get("matches", ()):
            if owner.setdefault(target, name) != name:
                problems.append(f"{target} is matched by {owner[target]}.toml and by {name}.toml")
    return problems


def check_file(name: str, file: Table) -> list[str]:
    """One file, as parsed."""
    try:
        return [f"{name}.toml: {problem}" for problem in _problems(file)]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        return [f"{name}.toml: not of the expected form ({type(error).__name__}: {error})"]


def _problems(file: Table) -> Iterator[str]:
    yield from _quantities(file)
    for section, names in REQUIRED.items():
        for name in names:
            if name not in file[section]:
                yield f"[{section}] lacks {name}"
                return
    yield from _occupancy(file)
    if file["metrics"] not in metric_sets():
        yield f"no counter formulas called {file['metrics']}"
    else:
        metric_set(file["metrics"])
    if file["architecture"] not in file["matches"]:
        yield "does not match its own architecture"
    default = file.get("default_product")
    if default is not None and default not in file.get("products", {}):
        yield f"default product {default} is not in it"
    for name, product in products(file).items():
        yield from (f"{name}: {problem}" for problem in _product(file, product))


def _quantities(file: Table) -> Iterator[str]:
    sections = {
        "hardware": file["hardware"],
        "occupancy": file["occupancy"],
        "ops_per_cu_clock": file["ops_per_cu_clock"],
    }
    for name, product in file.get("products", {}).items():
        for section in ("numbers", "vendor_gflops", "measured", "latency_cycles"):
            sections[f"{name} {section}"] = product.get(section, {})
    for section, numbers in sections.items():
        for name, q in numbers.items():
            where = f"[{section}] {name}"
            missing = [key for key in ("value", "unit", "kind", "source") if key not in q]
            if missing:
                yield f"{where} lacks {', '.join(missing)}"
                continue
            if not isinstance(q["value"], (int, float)) or not 0 < q["value"] < 1e9:
                yield f"{where} is {q['value']!r}, not a positive number"
            if q["unit"] not in UNITS:
                yield f"{where} has unit {q['unit']}, which is none of ours"
            if q["kind"] not in KINDS:
                yield f"{where} has kind {q['kind']}, not one of {', '.join(KINDS)}"
            if not file["sources"].get(q["source"]):
                yield f"{where} names source {q['source']}, which is not listed"
            if section.endswith(" measured") and q["kind"] != "measured":
                yield f"{where} stands under measured but is {q['kind']}"
            if q["source"] == "memory" and q["kind"] != "unchecked":
                yield f"{where} has no document and must be unchecked"


def _occupancy(file: Table) -> Iterator[str]:
    limits = wave_limits(file)
    if limits.vgprs % limits.vgpr_granule:
        yield "the register file is no multiple of its granule"
    if limits.lds_bytes_per_domain % limits.lds_granule_bytes:
        yield "LDS is no multiple of its granule"
    if limits.lds_bytes_per_workgroup > limits.lds_bytes_per_domain:
        yield "a workgroup may have more LDS than there is"
    if limits.agprs not in ("none", "separate", "unified"):
        yield f"agprs is {limits.agprs}"
    simds = file["hardware"]["simds_per_cu"]["value"] * limits.cus_per_domain
    if simds != limits.simds_per_domain:
        yield f"{limits.simds_per_domain} SIMDs per domain, but its CUs have {simds}"
    steps = limits.sgpr_steps
    if sorted(steps, key=lambda s: (s[0], -s[1])) != list(steps):
        yield "more SGPRs must not allow more waves"


def _product(file: Table, product: Table) -> Iterator[str]:
    numbers = {name: q["value"] for name, q in product["numbers"].items()}
    for name in ("cu_count", "xcc_count", "clock_mhz", "hbm_gbps"):
        if name not in numbers:
            yield f"lacks {name}"
            return
    if numbers["cu_count"] % numbers["xcc_count"]:
        yield f"{numbers['cu_count']} CUs do not divide over {numbers['xcc_count']} XCCs"
    operations = {pipe: q["value"] for pipe, q in file["ops_per_cu_clock"].items()}
    peak = {
        pipe: numbers["cu_count"] * numbers["clock_mhz"] * ops / 1e3
        for pipe, ops in operations.items()
    }
    unknown = (operations.keys() | product.get("vendor_gflops", {}).keys()) - set(COMPUTE_PIPES)
    unknown |= product.get("measured", {}).keys() - {*COMPUTE_PIPES, *MEMORY_LEVELS}
    for name in sorted(unknown):
        yield f"{name} is no pipe or level"
    for pipe, q in product.get("vendor_gflops", {}).items():
        if pipe not in peak:
            yield f"a vendor peak for {pipe}, but no operations per clock"
        elif abs(q["value"] / peak[pipe] - 1) > VENDOR_WITHIN:
            yield (
                f"{pipe}: the vendor's {q['value']:g} GFLOP/s is not "
                f"{numbers['cu_count']} CUs x {numbers['clock_mhz']} MHz x {operations[pipe]} "
                f"= {peak[pipe]:.0f}"
            )
    if all(f"memory_{n}" in numbers for n in ("clock_mhz", "width_bits")):
        transfers = file["hardware"]["memory_transfers_per_clock"]["value"]
        derived = numbers["memory_clock_mhz"] * numbers["memory_width_bits"] / 8 * transfers / 1e3
        if abs(derived / numbers["hbm_gbps"] - 1) > VENDOR_WITHIN:
            yield f"hbm_gbps {numbers['hbm_gbps']} is not clock x width = {derived:.1f}"
    ceilings = {**peak, "hbm": numbers["hbm_gbps"]}
    for name, q in product.get("measured", {}).items():
        if name in ceilings and q["value"] > ceilings[name] * (1 + MEASURED_WITHIN):
            yield f"{name}: measured {q['value']:g} is above the peak of {ceilings[name]:.0f}"
