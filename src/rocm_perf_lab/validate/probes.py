"""Latencies, bandwidths, cycles: what a program measures on the model beside published values."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from rocm_perf_lab import scratch
from rocm_perf_lab.arch.load import gpu, parse
from rocm_perf_lab.errors import UsageError
from rocm_perf_lab.validate import matrix
from rocm_perf_lab.validate.build import architecture_of, build, output, recorded
from rocm_perf_lab.virtual import device_names, device_specs, native

ALIKE = ("virtual:mi300x", "virtual:mi300a")  # those that published.toml's probes are of
LAPLACIAN_SIDE = 512
_MATRIX_SOURCES = {"gfx942": "matrix", "gfx90a": "matrix2"}
_MATRIX_BOUND = 0.02
_RATES_OF = {"virtual:mi300x": "MI300X"}  # whose rates arch/data has measured on the whole GPU
_LAPLACIAN_COUNTERS = ("TCC_HIT", "TCC_MISS", "TCC_EA_RDREQ", "TCC_EA_WRREQ")


@dataclass(frozen=True)
class Compared:
    name: str
    words: str
    unit: str
    measured: tuple[float, ...]  # one value, or the least and the most
    modelled: float
    bound: float  # of the error, as a share
    source: str

    @property
    def error(self) -> float:
        """Of the nearest measured value; 0 between the least and the most."""
        low, high = min(self.measured), max(self.measured)
        nearest = min(max(self.modelled, low), high)
        return self.modelled / nearest - 1

    @property
    def time_error(self) -> float:
        """Of the time it takes: at a rate that is too high it is too short."""
        return 1 / (1 + self.error) - 1 if self.unit.endswith("/s") else self.error

    @property
    def ok(self) -> bool:
        return abs(self.error) <= self.bound


@cache
def published() -> dict[str, Any]:
    path = resources.files("rocm_perf_lab.validate") / "published.toml"
    return parse(path.read_text(encoding="utf-8"))


def known(device: str) -> str:
    """The virtual device's whole name; several of them, or a real one, cannot be validated."""
    asked = device_names.wanted(device)
    if asked.kind == "rocm" or len(set(asked.devices)) > 1:
        raise UsageError(
            f"{asked} is not one virtual device",
            f"--device is one of {', '.join(spec.name for spec in device_specs.specs())}",
        )
    return asked.devices[0] if asked.devices else device_specs.DEFAULT


def published_of(device: str) -> dict[str, dict[str, Any]]:
    """Probes of which a value is published for the device: none for some devices."""
    probes = published()["probes"]
    own = published()["devices"].get(device, {})
    shared = probes if device in ALIKE else {}
    names = [n for n, e in shared.items() if n in own or device in e.get("devices", ALIKE)]
    return {n: {**probes.get(n, {}), **own.get(n, {})} for n in dict.fromkeys([*names, *own])}


def compare(text: str, device: str) -> list[Compared]:
    """What the probes printed, in the order of published.toml."""
    modelled = {name: float(value) for name, value in map(str.split, text.splitlines())}
    sources = published()["sources"]
    return [
        Compared(
            name,
            entry["words"],
            entry["unit"],
            tuple(entry["measured"]),
            modelled[name],
            entry["bound_percent"] / 100,
            sources[entry["source"]],
        )
        for name, entry in published_of(device).items()
        if name in modelled
    ]


def run_probes(device: str, quick: bool = False) -> Sequence[Compared]:
    """Empty where nothing is published of the device."""
    wanted = published_of(device)
    if not wanted:
        return []
    environment = native.environment(device, os.environ) | {"ROCM_PERF_VIRTUAL_TIMING": "model"}
    with scratch.folder("rocm-perf-validate-") as folder:
        text = ""
        if wanted.keys() & published()["probes"].keys():
            program = build("probes", folder, device)
            text = output([program, *(["quick"] if quick else [])], environment)
        if "laplacian_ms" in wanted and not quick:
            text += _laplacian(device, folder)
        rates = []
        if device in _RATES_OF and not quick:
            rates = compare_rates(output([build("rates", folder, device)], environment), device)
        return [*compare(text, device), *rates, *_matrix(device, folder, environment)]


def compare_rates(text: str, device: str) -> list[Compared]:
    """What the whole GPU sustains, in the order of published.toml."""
    modelled = {name: float(value) for name, value in map(str.split, text.splitlines())}
    measured = gpu(_RATES_OF[device]).measured
    return [
        Compared(
            name,
            entry["words"],
            measured[entry["ceiling"]].unit,
            (measured[entry["ceiling"]].value,),
            modelled[name],
            entry["bound_percent"] / 100,
            measured[entry["ceiling"]].source,
        )
        for name, entry in published()["rates"].items()
    ]


def _matrix(device: str, folder: Path, environment: Mapping[str, str]) -> list[Compared]:
    architecture = architecture_of(device)
    source = folder / "matrix.hip"
    source.write_text(matrix.source(architecture), "utf-8")
    text = output([build("matrix", folder, device, source)], environment)
    return compare_matrix(text, architecture)


def compare_matrix(text: str, architecture: str) -> list[Compared]:
    """What the matrix kernels printed, in the order of AMD's table."""
    modelled = {name: float(value) for name, value in map(str.split, text.splitlines())}
    source = published()["sources"][_MATRIX_SOURCES[architecture]]
    return [
        Compared(name, name, "cycles", (cycles,), modelled[name], _MATRIX_BOUND, source)
        for name, cycles in matrix.cycles(architecture).items()
    ]


def _laplacian(device: str, folder: Path) -> str:
    """Time without counters, traffic with them, of the second launch; as the probes print."""
    words: list[str | Path] = [build("laplacian", folder, device), str(LAPLACIAN_SIDE), "2"]
    timed = recorded(words, device, folder).dispatches
    last = int(timed.start_ns.argmax())
    counters = recorded(words, device, folder, [f"{c}_sum" for c in _LAPLACIAN_COUNTERS]).counters
    hit, miss, reads, writes = (counters[f"{c}_sum"].total[last] for c in _LAPLACIAN_COUNTERS)
    values = {
        "laplacian_ms": (timed.end_ns[last] - timed.start_ns[last]) / 1e6,
        "laplacian_fetch": reads * 64 / 1e9,
        "laplacian_write": writes * 64 / 1e9,
        "laplacian_l2_hit": 100 * hit / (hit + miss),
    }
    return "".join(f"{name} {value:.6g}\n" for name, value in values.items())
