"""Timing two builds: what counts as faster, and what is not believed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
import pytest

from rocm_perf_lab.arch.load import gpu
from rocm_perf_lab.arch.modelled_error import model_errors
from rocm_perf_lab.optimize.measure import (
    CLASSES,
    KIND_OF_RULE,
    Bar,
    Measured,
    error_of,
    error_of_kind,
    measure,
    write_floor_ns,
)
from rocm_perf_lab.replay.session import RunResult, Sample

A, B = 1, 2
Timing = Literal["modelled", "measured"]
Times = Callable[[int, int, bool, np.random.Generator], float]  # build, dispatch, cold


class Session:
    """Stands for a replay whose dispatches take the times a test wants."""

    def __init__(self, times: Times, timing: Timing = "measured") -> None:
        self.timing: Timing = timing
        self._times, self._rng = times, np.random.default_rng(3)
        self.dispatches = 0

    def run(self, order: Sequence[int], *, flush: bool = False, compare: bool = True) -> RunResult:
        samples = []
        for build in order:
            ns = self._times(build, self.dispatches, flush, self._rng)
            samples.append(Sample(build, ns, 0.0, None))
            self.dispatches += 1
        return RunResult(tuple(samples), 0.0, 0, 0, ())


def found(times: Times, timing: Timing = "measured", **more: Any) -> Measured:
    options: dict[str, Any] = {"bar": Bar(1.02, 0.95), "rule": "unroll", **more}
    return measure(Session(times, timing), A, B, **options)


def noisy(gain: float, noise: float = 0.01) -> Times:
    def times(build: int, at: int, cold: bool, rng: np.random.Generator) -> float:
        return 50e3 * (1 + noise * rng.standard_normal()) / (gain if build == B else 1)

    return times


def test_a_real_gain_is_found_in_few_pairs() -> None:
    result = found(noisy(1.2))
    assert result.gate.verdict == "faster"
    assert result.implausible is None
    assert len(result.a_ns) < 60
    assert result.a_median_ns > result.b_median_ns


def test_nothing_is_found_where_nothing_is() -> None:
    assert found(noisy(1.0)).gate.verdict == "same"
    assert found(noisy(0.8)).gate.verdict == "slower"


def test_a_gain_of_the_warm_cache_alone_is_not_believed() -> None:
    def times(build: int, at: int, cold: bool, rng: np.random.Generator) -> float:
        return {(A, False): 100.0, (B, False): 76.0, (A, True): 200.0, (B, True): 900.0}[
            build, cold
        ]

    assert "cold" in (found(times).implausible or "")


def test_less_time_than_the_results_need_to_be_written_is_not_believed() -> None:
    assert "written" in (found(noisy(50.0), floor_ns=5e3).implausible or "")


def test_a_clock_that_moved_is_noticed() -> None:
    def times(build: int, at: int, cold: bool, rng: np.random.Generator) -> float:
        clock = 1.0 if at < 14 else 0.7
        return 50e3 / clock / (1.3 if build == B else 1)

    assert "clock" in (found(times).implausible or "")


def test_a_modelled_time_needs_the_model_s_margin() -> None:
    for gain, rule, verdict in (
        (1.15, "unroll", "faster"),
        (1.15, "vector_loads", "inconclusive"),
        (1.15, None, "inconclusive"),
        (1.3, "restrict+vector_loads", "faster"),
        (1.05, "unroll", "inconclusive"),
    ):
        result = found(noisy(gain, 0.0), "modelled", rule=rule)
        assert (result.gate.verdict, result.gate.modelled) == (verdict, True)
        assert len(result.a_ns) == 2


def test_a_first_dispatch_that_is_slower_favours_nobody() -> None:
    def times(build: int, at: int, cold: bool, rng: np.random.Generator) -> float:
        return 100.0 if at else 120.0

    assert found(times, "modelled").gate.verdict == "same"
    assert found(times).gate.verdict == "same"


def test_joined_rules_take_the_larger_margin() -> None:
    assert error_of("unroll") < error_of("unroll+prefetch") == error_of("prefetch")
    assert error_of("something new") == error_of(None) == max(map(error_of_kind, CLASSES))


def test_the_margin_is_the_worst_published_error_of_such_kernels() -> None:
    errors = {kind: found.worst or 1 for kind, found in model_errors().classes.items()}
    assert errors["latency"] <= error_of("unroll") < errors["latency"] + 0.01
    memory = max(errors["launch_bound"], errors["memory"])
    assert memory <= error_of("prefetch") < memory + 0.01


def test_every_rule_with_the_smaller_margin_exists() -> None:
    from pathlib import Path

    import rocm_perf_lab.optimize.rules as rules

    texts = "".join(p.read_text("utf-8") for p in Path(rules.__file__).parent.glob("*.py"))
    for name in KIND_OF_RULE:
        assert f'"{name}"' in texts, name


def test_the_floor_is_bytes_over_the_fastest_memory() -> None:
    mi300x = gpu("mi300x")
    fastest = max(mi300x.datasheet[level].value for level in ("l2", "mall", "hbm")
                  if level in mi300x.datasheet)  # fmt: skip
    assert write_floor_ns(mi300x, 1_000_000) == pytest.approx(1_000_000 / fastest)
    assert write_floor_ns(None, 1_000_000) == 0
