"""A search space: every valid configuration, as rows of codes into the parameters' values.

The file is JSON: a list of configurations, or an object with "parameters" (name -> values) and
"constraints" (expressions, all of which must hold), or with "configurations".
"""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.autotune import constraint as constraints
from rocm_perf_lab.errors import BadInput, plain

Value = bool | int | float | str
Configuration = dict[str, Value]
Codes = npt.NDArray[np.int32]

MAX_CONFIGURATIONS = 2_000_000
_MAX_FILE_BYTES = 512 << 20
_KEYS = ("parameters", "constraints", "configurations", "tune_params", "restrictions")


@dataclass(frozen=True)
class Space:
    names: tuple[str, ...]
    values: tuple[tuple[Value, ...], ...]  # per parameter; numbers ascending
    codes: Codes  # one row per configuration, one column per parameter

    @property
    def size(self) -> int:
        return len(self.codes)

    def configuration(self, row: int) -> Configuration:
        codes = self.codes[row]
        return {n: v[c] for n, v, c in zip(self.names, self.values, codes, strict=True)}

    @cached_property
    def varying(self) -> tuple[int, ...]:
        """Parameters that really take more than one value."""
        return tuple(
            j for j in range(len(self.names)) if self.size and np.ptp(self.codes[:, j]) > 0
        )

    def numeric(self, parameter: int) -> bool:
        return all(not isinstance(v, str) for v in self.values[parameter])

    def column(self, parameter: int) -> npt.NDArray[np.float64]:
        """The values of a numeric parameter over the rows."""
        table = np.array([float(v) for v in self.values[parameter]])
        return table[self.codes[:, parameter]]


def load(path: Path) -> Space:
    return from_json(read_json(path), str(path))


def read_json(path: Path) -> Any:
    try:
        with path.open("rb") as file:  # a pipe is welcome; one that never ends is not
            content = file.read(_MAX_FILE_BYTES + 1)
        if len(content) > _MAX_FILE_BYTES:
            raise BadInput(f"{path} is larger than {_MAX_FILE_BYTES >> 20} MiB")
        return json.loads(content.decode("utf-8"))
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}") from None
    except (UnicodeDecodeError, RecursionError, ValueError) as error:
        raise BadInput(f"{path} is not JSON: {error}") from None


def from_json(data: Any, where: str) -> Space:
    if isinstance(data, list):
        return from_configurations(data, where)
    if not isinstance(data, dict):
        raise BadInput(f"{where}: a search space is a list or an object", hint=_FORMAT)
    _check_keys(data, where)
    if "configurations" in data:
        return from_configurations(data["configurations"], where)
    given = data.get("parameters", data.get("tune_params"))
    constraints = data.get("constraints", data.get("restrictions", []))
    if given is None and data and all(isinstance(v, list) for v in data.values()):
        given, constraints = data, []  # name -> values, nothing else
    if not isinstance(given, dict) or not given:
        raise BadInput(f"{where} has neither configurations nor parameters", hint=_FORMAT)
    if not isinstance(constraints, list):
        raise BadInput(f"{where}: constraints must be a list of expressions")
    return from_parameters(given, constraints, where)


def _check_keys(data: Mapping[str, Any], where: str) -> None:
    """A misspelt key must not silently widen the space."""
    plain_form = not set(data) & set(_KEYS)
    for key in data:
        near = difflib.get_close_matches(key.lower(), _KEYS, n=1, cutoff=0.8)
        if key not in _KEYS and (near or not plain_form):
            hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(_KEYS)}"
            raise BadInput(f"{where} has the unknown key {plain(key)!r}", hint=hint)


def from_configurations(rows: Any, where: str) -> Space:
    if not isinstance(rows, list) or not rows or not all(isinstance(r, dict) for r in rows):
        raise BadInput(f"{where}: configurations must be a list of objects", hint=_FORMAT)
    names = tuple(rows[0])
    _check_names(names, where)
    for number, row in enumerate(rows):
        if set(row) != set(names):
            raise BadInput(
                f"{where}: configuration {number} has other parameters than the first",
                hint=f"the first has {', '.join(names)}",
            )
    values = tuple(_domain([row[name] for row in rows], name, where) for name in names)
    lookups = [{value_key(v): c for c, v in enumerate(domain)} for domain in values]
    codes = np.array(
        [
            [lookup[value_key(row[name])] for name, lookup in zip(names, lookups, strict=True)]
            for row in rows
        ],
        dtype=np.int32,
    ).reshape(len(rows), len(names))
    _, first = np.unique(codes, axis=0, return_index=True)
    return Space(names, values, codes[np.sort(first)])


def from_parameters(given: Mapping[str, Any], texts: Sequence[Any], where: str) -> Space:
    names = tuple(given)
    _check_names(names, where)
    values = tuple(_domain(_expand(given[name], name, where), name, where) for name in names)
    known = frozenset(names)
    waiting = [constraints.parse(text, known) for text in texts]
    tables = [_table(domain) for domain in values]
    codes = np.zeros((1, 0), dtype=np.int32)
    # Parameter by parameter, each constraint as soon as its last name is bound: the invalid part
    # of the product is never built.
    for bound, domain in enumerate(values, 1):
        if len(codes) * len(domain) > 20 * MAX_CONFIGURATIONS:
            raise _too_large(where)
        codes = np.hstack(
            [
                np.repeat(codes, len(domain), axis=0),
                np.tile(np.arange(len(domain), dtype=np.int32), len(codes))[:, None],
            ]
        )
        ready = [c for c in waiting if c.names <= set(names[:bound])]
        waiting = [c for c in waiting if c not in ready]
        for constraint in ready:
            columns = {n: tables[j][codes[:, j]] for j, n in enumerate(names[:bound])}
            codes = codes[constraint.holds(columns)]
    if not len(codes):
        raise BadInput(f"{where}: no configuration satisfies every constraint")
    if len(codes) > MAX_CONFIGURATIONS:
        raise _too_large(where)
    return Space(names, values, codes)


def _too_large(where: str) -> BadInput:
    return BadInput(
        f"{where}: more than {MAX_CONFIGURATIONS} configurations",
        hint="give fewer values or more constraints",
    )


def _expand(values: Any, name: str, where: str) -> list[Any]:
    """A list of values, or {"min", "max", "step" | "factor"}."""
    if isinstance(values, dict) and {"min", "max"} <= set(values) <= {
        "min",
        "max",
        "step",
        "factor",
    }:
        numbers = {k: values[k] for k in values}
        if any(isinstance(v, bool) or not isinstance(v, (int, float)) for v in numbers.values()):
            raise BadInput(f"{where}: the range of {name} must be made of numbers")
        low, high, factor = numbers["min"], numbers["max"], numbers.get("factor")
        step = numbers.get("step", 1)
        if (factor is not None and (factor <= 1 or low <= 0)) or step <= 0:
            raise BadInput(f"{where}: the range of {name} never ends")
        result: list[Any] = []
        while low <= high:
            if len(result) > 100_000:
                raise BadInput(f"{where}: the range of {name} has more than 100000 values")
            result.append(low)
            low = low * factor if factor is not None else low + step
        return result
    return values if isinstance(values, list) else [values]


def _domain(values: Sequence[Any], name: str, where: str) -> tuple[Value, ...]:
    unique: dict[tuple[str, Any], Value] = {}
    for value in values:
        if not isinstance(value, (bool, int, float, str)) or (
            isinstance(value, float) and not math.isfinite(value)
        ):
            raise BadInput(
                f"{where}: {name} has the value {value!r}; "
                "values are integers, floats, booleans or strings"
            )
        unique.setdefault(value_key(value), value)
    if not unique:
        raise BadInput(f"{where}: {name} has no value")
    found = list(unique.values())
    if all(not isinstance(v, str) for v in found):
        found.sort(key=float)
    return tuple(found)


def value_key(value: Value) -> tuple[str, Any]:
    """Equal values are one value, but 1, true and "1" are three."""
    kind = "number" if not isinstance(value, (bool, str)) else type(value).__name__
    return kind, value


def _table(domain: tuple[Value, ...]) -> npt.NDArray[Any]:
    kinds = {type(v) for v in domain}
    if kinds <= {bool}:
        return np.array(domain, dtype=bool)
    if str not in kinds:
        whole = kinds <= {int, bool} and all(
            not isinstance(v, str) and abs(v) < 2**62 for v in domain
        )
        return np.array(domain, dtype=np.int64 if whole else np.float64)
    return np.array(domain, dtype=object)


def _check_names(names: tuple[str, ...], where: str) -> None:
    if not names:
        raise BadInput(f"{where}: a configuration without parameters")
    for name in names:
        if not isinstance(name, str) or not name or set(name) & set("{}\0\n"):
            raise BadInput(f"{where}: {name!r} cannot be a parameter name", hint="no braces in it")


_FORMAT = (
    'a list of objects like [{"BLOCK_M": 64}, ...], or '
    '{"parameters": {"BLOCK_M": [32, 64]}, "constraints": ["BLOCK_M <= 128"]}'
)
