"""A gain is what it is on the worst of the inputs, and one gain or none."""

from __future__ import annotations

import pytest

from rocm_perf_lab.optimize.measure import Measured
from rocm_perf_lab.optimize.speed import worst
from rocm_perf_lab.statistics import GateResult


def faster(speedup: float, error: float, modelled: bool) -> Measured:
    interval = (speedup / (1 + error), speedup * (1 + error))
    gate = GateResult("faster", speedup, interval, 1, f"{speedup}x", modelled)
    return Measured(gate, (speedup,), (1.0,))


def test_the_claim_is_the_worst() -> None:
    found = worst([("captured", faster(2.0, 0.1, True)), ("another seed", faster(1.9, 0.1, True))])
    assert found.gate.speedup == 1.9
    assert found.implausible is None


@pytest.mark.parametrize("modelled", [True, False])
def test_a_gain_of_the_captured_values_is_refused(modelled: bool) -> None:
    sets = [("captured", faster(22.0, 0.1, modelled)), ("another seed", faster(1.3, 0.1, modelled))]
    found = worst(sets)
    assert found.implausible is not None
    assert "22.00x on captured and 1.30x on another seed" in found.implausible


def test_two_measured_gains_that_differ_a_little_are_one() -> None:
    sets = [("captured", faster(2.0, 0.001, False)), ("another seed", faster(1.9, 0.001, False))]
    assert worst(sets).implausible is None


def test_what_gains_more_on_other_values_knows_none() -> None:
    sets = [("captured", faster(2.8, 0.05, True)), ("another seed", faster(4.5, 0.05, True))]
    assert worst(sets).implausible is None
    assert worst(sets).gate.speedup == 2.8


def test_a_loop_that_ends_early_takes_what_its_data_take() -> None:
    sets = [("captured", faster(2.6, 0.05, True)), ("another seed", faster(1.93, 0.05, True))]
    assert worst(sets).implausible is None
    assert worst(sets).gate.speedup == 1.93
