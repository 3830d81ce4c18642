"""Counters by AMD's names: which can be had, what they need, and what they come to.

A base counter is one the models give per hardware instance; a derived one is AMD's expression over
base counters. Anything else is refused by name, before the program runs.
"""

from __future__ import annotations

import ctypes
import difflib
import re
from collections import Counter as Tally
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from rocm_perf_lab import expression
from rocm_perf_lab.arch.counters import block_of, metric_set
from rocm_perf_lab.arch.load import file_of, parse
from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.virtual import native

Instance = tuple[int, int, int]  # xcc, shader engine, instance
Column = dict[Instance, float]
Value = float | Column

SUMMED_BLOCKS = ("TA", "TD", "TCP", "TCC")
CONSTANTS = ("CU_NUM", "SIMD_NUM", "SE_NUM", "MAX_WAVE_SIZE")
_REDUCE: dict[str, Callable[[list[float]], float]] = {
    "sum": sum,
    "max": max,
    "min": min,
    "avr": lambda numbers: sum(numbers) / len(numbers),
}


def _reduce(value: Value, kind: str) -> float:
    return _REDUCE[kind](list(value.values()) if isinstance(value, dict) else [value])


_GRAMMAR = expression.Grammar(
    "counters, numbers, + - * /, reduce(counter, sum|max|min|avr)",
    expression.ARITHMETIC.operators,
    functions={"reduce": _reduce},
)


@dataclass(frozen=True)
class Wanted:
    """A counter that can be collected."""

    name: str
    block: str
    formula: str  # "" for a base counter
    bases: frozenset[str]


@dataclass(frozen=True)
class Catalogue:
    architecture: str
    blocks: Mapping[str, str]  # base counter -> block
    derived: Mapping[str, str]
    modelled: frozenset[str]


@cache
def catalogue(architecture: str) -> Catalogue:
    path = resources.files("rocm_perf_lab.arch") / "data" / "virtual" / "counters.toml"
    data = parse(path.read_text(encoding="utf-8"))
    blocks: dict[str, str] = {}
    derived: dict[str, str] = {}
    for part in ("common", architecture):
        for block, names in data["blocks"].get(part, {}).items():
            blocks |= dict.fromkeys(names.split(), block)
        derived |= data["derived"].get(part, {})
    return Catalogue(architecture, blocks, derived, frozenset(_modelled(architecture)))


def _modelled(architecture: str) -> list[str]:
    """What the models of the built library give."""
    library = ctypes.CDLL(str(native.library_dir() / native.HSA_LIBRARY))
    ask = library.hsa_rocm_perf_counters
    ask.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_ulong]
    size = ask(architecture.encode(), None, 0)
    text = ctypes.create_string_buffer(size + 1)
    ask(architecture.encode(), text, size + 1)
    return text.value.decode("ascii").split()


def resolve(names: Iterable[str], known: Catalogue) -> list[Wanted]:
    """Every counter asked for, or a refusal that names the first that cannot be had."""
    return [_resolve(name, known) for name in dict.fromkeys(names)]


def _resolve(name: str, known: Catalogue) -> Wanted:
    formula = _formula(name, known)
    if formula is None:
        if name not in known.blocks and name not in known.modelled:
            raise BadInput(
                f"{name} is not a counter of {known.architecture}", hint=_close(name, known)
            )
        if name not in known.modelled:
            raise _not_modelled(name, name, known)
        return Wanted(name, known.blocks.get(name, block_of(name)), "", frozenset({name}))
    return Wanted(name, "", formula, _bases(formula, known, name))


def _formula(name: str, known: Catalogue) -> str | None:
    if name in known.blocks or name in known.modelled:
        return None
    if name in known.derived:
        return known.derived[name]
    base = name.removesuffix("_sum")
    listed = base in known.blocks or base in known.modelled
    if base != name and listed and block_of(base) in SUMMED_BLOCKS:
        return f"reduce({base},sum)"
    return None


def _bases(formula: str, known: Catalogue, asked: str) -> frozenset[str]:
    found: set[str] = set()
    if "accumulate(" in formula:
        name = re.findall(r"accumulate\((\w+)", formula)[0]
        raise _not_modelled(asked, f"accumulate({name})", known)
    for name in _parsed(formula).names:
        inner = _formula(name, known)
        if inner is not None:
            found |= _bases(inner, known, asked)
        elif name in known.modelled:
            found.add(name)
        elif name not in CONSTANTS and name not in _REDUCE:
            raise _not_modelled(asked, name, known)
    return frozenset(found)


@cache
def _parsed(text: str) -> expression.Expression:
    return expression.parse(text, _GRAMMAR)


def _close(name: str, known: Catalogue) -> str:
    sums = [f"{n}_sum" for n, block in known.blocks.items() if block in SUMMED_BLOCKS]
    close = difflib.get_close_matches(name, [*known.blocks, *known.derived, *sums], n=3)
    return f"did you mean {' or '.join(close)}?" if close else "names are AMD's, in capitals"


def _not_modelled(asked: str, base: str, known: Catalogue) -> BadInput:
    what = asked if asked == base else f"{asked} needs {base}, which"
    return BadInput(
        f"{what} is not modelled on the virtual {known.architecture}",
        hint="docs/virtual-model.md lists the counters that are",
    )


def check_slots(wanted: Iterable[Wanted], architecture: str) -> None:
    """One pass has so many counter slots per block; more is refused, as hardware would."""
    slots = metric_set(file_of(architecture)["metrics"]).slots
    used = Tally(block_of(base) for base in {b for w in wanted for b in w.bases})
    for block, count in sorted(used.items()):
        room = slots.get(block, 2)
        if count > room:
            raise BadInput(
                f"{count} {block} counters do not fit into one pass, which has {room} {block} "
                "slots",
                hint="give each group a run of its own: one --pmc per run, or -i with several jobs",
            )


def evaluate(
    wanted: Wanted,
    counts: Mapping[str, Column],
    constants: Mapping[str, float],
    known: Catalogue,
) -> Column:
    """Its value per hardware instance; a derived counter may have a single one."""
    if not wanted.formula:
        return counts[wanted.name]

    def value_of(name: str) -> Value | str:
        if name in _REDUCE:  # the second word of reduce(), not a counter
            return name
        if name in constants:
            return constants[name]
        inner = _formula(name, known)
        return counts[name] if inner is None else _parsed(inner).evaluate(scope)

    # A quotient by zero is zero, as rocprofv3 shows it.
    scope = expression.Scope(value_of, at_zero=lambda _: 0.0, pairwise=_apply)
    value = _parsed(wanted.formula).evaluate(scope)
    return value if isinstance(value, dict) else {(0, 0, 0): float(value)}


def _apply(function: Callable[[float, float], float], left: Value, right: Value) -> Value:
    """Between two columns instance by instance; a single number goes with every instance."""
    if isinstance(left, dict) and isinstance(right, dict):
        both = sorted({*left, *right})
        return {key: function(left.get(key, 0.0), right.get(key, 0.0)) for key in both}
    if isinstance(left, dict):
        assert not isinstance(right, dict)
        return {key: function(value, right) for key, value in left.items()}
    if isinstance(right, dict):
        return {key: function(left, value) for key, value in right.items()}
    return function(left, right)
