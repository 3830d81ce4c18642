"""Parameters of the virtual GPU's model and clock, from arch/data/virtual/*.toml.

The native build runs this module before the package's dependencies are installed, so it uses the
standard library only: `python -m rocm_perf_lab.virtual.model_parameters OUTDIR` writes the C++.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from rocm_perf_lab.virtual import device_specs
from rocm_perf_lab.virtual.isa.op import ARCHES
from rocm_perf_lab.virtual.isa.table import all_ops

FOLDER = Path(__file__).resolve().parent.parent / "arch" / "data" / "virtual"
FILE = FOLDER / "parameters.toml"
COSTS = FOLDER / "timeline.toml"
WAYS = ("H2D", "D2H", "D2D", "H2H", "FILL")  # as the C++ counts them (device_clock::Way)
MATRIX_ISSUE = 4  # cycles of the vector unit, where [matrix_alone] says nothing else


def table(path: Path = FILE) -> dict[str, Any]:
    parsed: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    return parsed


def by_device() -> dict[str, dict[str, dict[str, Any]]]:
    """Every device's parameters, inheritance resolved: name -> {value, unit, kind, source}."""
    tables = table()["devices"]
    sources = {words: name for name, words in table()["sources"].items()}

    def read(name: str, entry: dict[str, Any]) -> dict[str, Any]:
        if "arch" not in entry:
            return entry
        found = device_specs.published(name, *entry["arch"].split("."))
        return {**found, "value": round(found["value"]), "source": sources[found["source"]]}

    def resolved(name: str) -> dict[str, dict[str, Any]]:
        own = dict(tables[name])
        base = resolved(own.pop("inherits")) if "inherits" in own else {}
        return {**base, **{key: read(name, entry) for key, entry in own.items()}}

    return {name: resolved(name) for name in sorted(tables)}


def _struct(names: list[str]) -> str:
    fields = "".join(f"  uint32_t {name};\n" for name in names)
    return (
        "// Written by rocm_perf_lab.virtual.model_parameters; do not edit.\n#pragma once\n"
        "#include <cstdint>\n\nnamespace gpu {\nstruct Parameters {\n"
        f"  const char* device;\n{fields}}};\n"
        "}  // namespace gpu\n"
    )


def _lds() -> str:
    lds = table()["lds"]
    pairs = ", ".join(f"{{{a}, {b}}}" for a, b in lds["read_128_lanes"]["value"])
    return (
        f"constexpr uint32_t kBanks = {lds['banks']['value']};\n"
        f"constexpr uint8_t kRead128[8][2] = {{{pairs}}};\n"
    )


def _costs() -> str:
    tables = table(COSTS)
    whole = {**tables["host"], **tables["device"]}
    lines = [f"inline constexpr uint64_t {n} = {int(v['value'])};\n" for n, v in whole.items()]
    calls = (f'    {{"{n}", {int(v["value"])}}},\n' for n, v in tables["calls"].items())
    lines.append("struct Call {\n  const char* name;\n  uint64_t ns;\n};\n")
    lines.append(f"inline constexpr Call kCalls[] = {{\n{''.join(calls)}}};\n")
    usual = tables["copies"]
    lines.append("struct CopyRates {\n  const char* device;\n  double bytes_per_ns[5];\n};\n")
    rows = [("", usual), *((n, {**usual, **own}) for n, own in tables["slower_copies"].items())]
    rates = (", ".join(str(ways[way]["value"]) for way in WAYS) for _, ways in rows)
    named = (f'    {{"{name}", {{{row}}}}},\n' for (name, _), row in zip(rows, rates, strict=True))
    lines.append(f"inline constexpr CopyRates kCopyRates[] = {{\n{''.join(named)}}};\n")
    return (
        "// Written by rocm_perf_lab.virtual.model_parameters; do not edit.\n#pragma once\n"
        f"#include <cstdint>\n\nnamespace cost {{\n{''.join(lines)}}}  // namespace cost\n"
    )


def _matrix(arch: str) -> list[str]:
    """By the instruction's place in matrix_table: cycles, and those without the vector unit.

    0: not listed.
    """
    cycles, alone = table()["matrix_cycles"][arch], table()["matrix_alone"][arch]
    names = [op.name for op in all_ops() if "matrix" in op.flags]
    return [f"{{{cycles.get(name, 0)}, {alone.get(name, MATRIX_ISSUE)}}}" for name in names]


def main(folder: Path) -> None:
    known = by_device()
    names = sorted(next(iter(known.values())))
    rows = []
    for device, values in known.items():
        if sorted(values) != names:
            raise ValueError(f"{device} lacks {sorted(set(names) ^ set(values))}")
        fields = ", ".join(f".{name} = {int(values[name]['value'])}u" for name in names)
        rows.append(f'{{.device = "{device}", {fields}}},')
    matrix = [f"{{{', '.join(_matrix(arch))}}}," for arch in ARCHES]
    (folder / "model_parameters.h").write_text(_struct(names), encoding="utf-8")
    (folder / "model_parameters.inc").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (folder / "matrix_cycles.inc").write_text("\n".join(matrix) + "\n", encoding="utf-8")
    (folder / "lds_banks.inc").write_text(_lds(), encoding="utf-8")
    (folder / "timeline_costs.h").write_text(_costs(), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
