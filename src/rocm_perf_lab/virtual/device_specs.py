"""The virtual devices by name: what the native library reports to programs.

The native build runs this module before the package's dependencies are installed, so it uses the
standard library only: `python -m rocm_perf_lab.virtual.device_specs FOLDER` writes the C++ tables,
the limits on waves among them.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DEFAULT = "virtual:mi300x"
_PACKAGE = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class DeviceSpec:
    name: str
    marketing_name: str
    architecture: str
    compute_units: int
    xccs: int
    shader_engines: int
    simds_per_cu: int
    waves_per_simd: int
    clock_mhz: int
    memory_clock_mhz: int
    memory_bus_bits: int
    memory_bytes: int
    lds_bytes_per_cu: int
    l1_bytes: int
    l2_bytes: int
    l3_bytes: int
    chip_id: int
    revision: int
    apu: bool


def specs() -> tuple[DeviceSpec, ...]:
    return tuple(_device(name, entry) for name, entry in _table()["devices"].items())


def published(name: str, section: str, key: str) -> dict[str, Any]:
    """A number of the device's product in arch/data: value, unit, kind, and its source in words."""
    entry = _table()["devices"][name]
    arch = _read(_PACKAGE / "arch" / "data" / f"{entry['architecture']}.toml")
    found: dict[str, Any] = arch["products"][entry["product"]][section][key]
    return {**found, "source": arch["sources"][found["source"]]}


def not_executed() -> dict[str, str]:
    """Names of GPUs that are described but cannot run code, with their architecture."""
    found: dict[str, str] = _table()["not_executed"]
    return found


def _table() -> dict[str, Any]:
    return _read(_PACKAGE / "arch" / "data" / "virtual" / "devices.toml")


def _read(path: Path) -> dict[str, Any]:
    table: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    return table


def _device(name: str, entry: dict[str, Any]) -> DeviceSpec:
    arch = _read(_PACKAGE / "arch" / "data" / f"{entry['architecture']}.toml")
    numbers = _numbers(arch["products"], entry["product"])
    return DeviceSpec(
        name=name,
        marketing_name=entry["marketing_name"],
        architecture=entry["architecture"],
        compute_units=numbers["cu_count"],
        xccs=numbers["xcc_count"],
        shader_engines=entry["shader_engines"],
        simds_per_cu=arch["hardware"]["simds_per_cu"]["value"],
        waves_per_simd=arch["occupancy"]["max_waves_per_simd"]["value"],
        clock_mhz=numbers["clock_mhz"],
        memory_clock_mhz=numbers["memory_clock_mhz"],
        memory_bus_bits=numbers["memory_width_bits"],
        memory_bytes=entry["memory_gib"] << 30,
        lds_bytes_per_cu=arch["occupancy"]["lds_bytes_per_domain"]["value"],
        l1_bytes=entry["l1_kib"] << 10,
        l2_bytes=entry["l2_kib"] << 10,
        l3_bytes=entry["l3_kib"] << 10,
        chip_id=entry["chip_id"],
        revision=entry["revision"],
        apu=entry["apu"],
    )


def _numbers(products: dict[str, Any], product: str) -> dict[str, int]:
    entry = products[product]
    base = _numbers(products, entry["inherits"]) if "inherits" in entry else {}
    own = {key: quantity["value"] for key, quantity in entry.get("numbers", {}).items()}
    return {**base, **own}


def _cpp(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else f"{value}u"


def _wave_limits(architecture: str) -> str:
    """residency::Limits of an architecture, from the numbers that occupancy in Python uses."""
    table = _read(_PACKAGE / "arch" / "data" / f"{architecture}.toml")
    limits = {key: quantity["value"] for key, quantity in table["occupancy"].items()}
    steps = table["registers"]["sgpr_steps"]
    fields = {
        "architecture": architecture,
        "waves_per_simd": limits["max_waves_per_simd"],
        "simds": limits["simds_per_domain"],
        "vgprs": limits["vgprs"],
        "vgpr_granule": limits["vgpr_granule"],
        "workgroups": limits["max_workgroups_per_domain"],
        "lds_bytes": limits["lds_bytes_per_domain"],
        "lds_bytes_per_workgroup": limits["lds_bytes_per_workgroup"],
        "lds_granule_bytes": limits["lds_granule_bytes"],
    }
    row = ", ".join(f".{key} = {_cpp(value)}" for key, value in fields.items())
    sgprs = ", ".join(f"{{{up_to}, {waves}}}" for up_to, waves in steps)
    return f"{{{row}, .sgpr_steps = {{{sgprs}}}}},"


def _write(output: Path, rows: list[str]) -> None:
    text = "\n".join(["// Written by rocm_perf_lab.virtual.device_specs; do not edit.", *rows, ""])
    output.write_text(text, encoding="utf-8")


def main(folder: Path) -> None:
    every = specs()
    rows = [
        "{" + ", ".join(f".{key} = {_cpp(value)}" for key, value in vars(device).items()) + "},"
        for device in every
    ]
    _write(folder / "devices.inc", rows)
    missing = [f"{{{_cpp(name)}, {_cpp(isa)}}}," for name, isa in not_executed().items()]
    _write(folder / "not_executed.inc", missing)
    architectures = sorted({device.architecture for device in every})
    _write(folder / "wave_limits.inc", [_wave_limits(name) for name in architectures])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
