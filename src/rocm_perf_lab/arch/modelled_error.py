"""How far modelled kernel times are from published ones, by class: data/virtual/errors.toml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, get_args

from rocm_perf_lab.arch.virtual_data import table

ErrorClass = Literal[
    "launch_bound",
    "memory",
    "memory_large",
    "latency",
    "many_launches",
    "compute",
    "lds",
    "matrix",
    "other",
]
ERROR_CLASSES: tuple[ErrorClass, ...] = get_args(ErrorClass)


@dataclass(frozen=True)
class ModelledError:
    """How far modelled times of this class are from published ones; a share of the measured."""

    kind: ErrorClass = field(metadata={"description": "by what limits the kernel or the run"})
    words: str = field(metadata={"description": "the class in words"})
    validated: bool = field(
        metadata={"description": "published times of such kernels were compared"}
    )
    typical: float | None = field(
        metadata={"description": "median error, without its sign; 0.05: 5 % off"}
    )
    worst: float | None
    rows: int = field(metadata={"description": "published times compared"})
    source: str | None = field(metadata={"description": "programs and device of those times"})
    reason: str | None = field(metadata={"description": "why there is no figure"})
    sampling: float | None = field(
        default=None,
        metadata={
            "description": "standard error that comes on top, where a part was simulated and the "
            "rest extrapolated from it (`detailed_fraction`); a share of the modelled time"
        },
    )


@dataclass(frozen=True)
class ModelErrors:
    products: tuple[str, ...]  # whose times `classes` are of
    launch_floor_ns: int  # a kernel no longer than this is hidden by what its launch costs
    sweep_launches: int  # the fewest launches of a published sweep
    large_bytes: int  # what a launch moves from which on memory is slower than the model knows
    classes: Mapping[ErrorClass, ModelledError]
    others: Mapping[tuple[str, ErrorClass], ModelledError]  # what is known of other products

    @property
    def worst(self) -> float:
        """Of every time compared: what two modelled times of no known class may differ by."""
        return max(found.worst for found in self.classes.values() if found.worst is not None)

    def of(self, kind: ErrorClass, product: str | None) -> ModelledError:
        found = self.classes[kind]
        if product in self.products or not found.validated:
            return found
        if product is not None and (product, kind) in self.others:
            return self.others[product, kind]
        why = f"no published kernel times of {product or 'this GPU'} were compared"
        return ModelledError(kind, found.words, False, None, None, 0, None, why)


@cache
def model_errors() -> ModelErrors:
    data, device = table("errors.toml"), table("timeline.toml")["device"]
    return ModelErrors(
        products=tuple(data["validated_products"]),
        launch_floor_ns=device["event_least_ns"]["value"] - device["event_pair_ns"]["value"],
        sweep_launches=data["sweep_launches"],
        large_bytes=data["large_bytes"],
        classes={kind: _class(kind, data["classes"][kind]) for kind in ERROR_CLASSES},
        others={
            (product, kind): _class(kind, entries[kind])
            for product, entries in data["products"].items()
            for kind in ERROR_CLASSES
            if kind in entries
        },
    )


def _class(kind: ErrorClass, entry: Mapping[str, Any]) -> ModelledError:
    if not entry["validated"]:
        return ModelledError(kind, entry["words"], False, None, None, 0, None, entry["reason"])
    return ModelledError(
        kind,
        entry["words"],
        True,
        entry["median_percent"] / 100,
        entry["worst_percent"] / 100,
        entry["rows"],
        f"{', '.join(entry['programs'])}: {entry['source']}",
        None,
    )
