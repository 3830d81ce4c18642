"""Static features of configurations: what is known before anything runs.

`coordinates` is the geometry the Gaussian process and the local search measure distance in;
`polynomial_features` is the wider, named set of the degree-2 model.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.autotune.space import Space

Matrix = npt.NDArray[np.float64]

# The names a block's extents go by; their product is the number of threads of a workgroup.
_THREADS = (
    ("block_size_x", "block_size_y", "block_size_z"),
    ("block_x", "block_y", "block_z"),
    ("block_dim_x", "block_dim_y", "block_dim_z"),
    ("threads_x", "threads_y", "threads_z"),
    ("mdimc", "ndimc"),
)
_WAVE = 64
_MAX_PAIRS = 45


@dataclass(frozen=True)
class Features:
    names: tuple[str, ...]
    matrix: Matrix  # one row per configuration


def coordinates(space: Space) -> Matrix:
    """Each varying parameter on [0, 1] (log scale where it spans a factor of four), and for
    integers their odd part.

    Sizes that are not powers of two leave remainders and misaligned accesses: 96 can be further
    from 64 and 128 than these are from each other, and only an own axis lets a model see it.
    """
    columns: list[Matrix] = []
    for j in space.varying:
        if not space.numeric(j):
            # Categories have no order: one axis each, so that any two are equally far apart.
            codes = space.codes[:, j]
            present = np.unique(codes)
            columns += [np.where(codes == c, 0.5, 0.0) for c in present]
            continue
        values = space.column(j)
        columns.append(_unit(_log_if_wide(values)))
        if len(np.unique(values)) > 2 and _whole(values):
            odd = _odd_part(values)
            if np.ptp(odd) > 0:
                columns += [(odd > 1).astype(float), _unit(np.log2(odd))]
    return np.stack(columns, axis=1) if columns else np.zeros((space.size, 1))


def polynomial_features(space: Space) -> Features:
    """Parameters, ACC = BLOCK_M * BLOCK_N and its square, threads per block, waves, products and
    ratios of sizes (sums and differences of logarithms), one column per category."""
    found: dict[str, Matrix] = {}
    logs: dict[str, Matrix] = {}
    raw: dict[str, Matrix] = {}
    for j in space.varying:
        name = space.names[j]
        if not space.numeric(j):
            for code, value in enumerate(space.values[j]):
                found[f"{name}={value}"] = (space.codes[:, j] == code).astype(float)
            continue
        values = space.column(j)
        raw[name] = values
        found[name] = values
        if values.min() > 0 and len(np.unique(values)) > 2:
            logs[name] = found[f"log2({name})"] = np.log2(values)
        if len(np.unique(values)) > 2 and _whole(values) and np.ptp(odd := _odd_part(values)) > 0:
            found[f"odd({name})"] = (odd > 1).astype(float)
    found |= _derived(space)
    names = list(logs)
    pairs = [(a, b) for i, a in enumerate(names) for b in names[:i]][:_MAX_PAIRS]
    for a, b in pairs:
        found[f"log2({b}*{a})"] = logs[a] + logs[b]
        found[f"log2({b}/{a})"] = logs[b] - logs[a]
    if len(names) > 2:
        found["log2(product)"] = reduce(np.add, logs.values())
    varying = {name: column for name, column in found.items() if np.ptp(column) > 0}
    if not varying:
        return Features((), np.zeros((space.size, 0)))
    return Features(tuple(varying), np.stack(list(varying.values()), axis=1))


def _derived(space: Space) -> dict[str, Matrix]:
    """What GPU programmers compute from the usual names, where those names are present."""
    column = {
        name.lower(): space.column(j)
        for j, name in enumerate(space.names)
        if space.numeric(j) and space.size
    }
    found: dict[str, Matrix] = {}
    if "block_m" in column and "block_n" in column:
        acc = column["block_m"] * column["block_n"]
        found |= {"ACC": acc, "ACC^2": acc * acc}
        if "block_k" in column:
            tiles = (column["block_m"] + column["block_n"]) * column["block_k"]
            found["tile_elements"] = tiles * column.get("num_stages", np.ones(space.size))
    threads = None
    if "threads_per_block" in column:
        threads = column["threads_per_block"]
    elif "num_warps" in column:
        threads = column["num_warps"] * _WAVE
    else:
        for group in _THREADS:
            present = [column[n] for n in group if n in column]
            if len(present) > 1:
                threads = reduce(np.multiply, present)
                break
    if threads is not None:
        waves = np.ceil(threads / _WAVE)
        found["threads_per_block"] = threads
        found["waves_per_block"] = waves
        found["idle_lanes"] = 1.0 - threads / np.maximum(waves * _WAVE, 1.0)
        if "ACC" in found:
            found["ACC_per_thread"] = found["ACC"] / np.maximum(threads, 1.0)
    return found


def _whole(values: Matrix) -> bool:
    return bool(np.all(values == np.floor(values)) and values.min() >= 0 and values.max() < 2**53)


def _odd_part(values: Matrix) -> Matrix:
    whole = np.maximum(values.astype(np.int64), 1)
    return (whole // (whole & -whole)).astype(float)


def _log_if_wide(values: Matrix) -> Matrix:
    return np.log2(values) if values.min() > 0 and values.max() / values.min() >= 4 else values


def _unit(values: Matrix) -> Matrix:
    return np.asarray((values - values.min()) / (np.ptp(values) or 1.0))
