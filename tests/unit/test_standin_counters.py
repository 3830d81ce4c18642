"""Counters by AMD's names: refusals, slots, and what derived ones come to."""

from __future__ import annotations

import pytest

from rocm_perf_lab.arch.counters import counter_groups
from rocm_perf_lab.errors import BadInput, MissingTool
from rocm_perf_lab.virtual.rocprofv3 import counters
from rocm_perf_lab.virtual.rocprofv3.counters import Catalogue, check_slots, evaluate, resolve

KNOWN = Catalogue(
    architecture="gfx942",
    blocks={
        "SQ_WAVES": "SQ",
        "SQ_BUSY_CYCLES": "SQ",
        "TCC_HIT": "TCC",
        "TCC_MISS": "TCC",
        "GRBM_GUI_ACTIVE": "GRBM",
    },
    derived={
        "L2CacheHit": "100*reduce(TCC_HIT,sum)/(reduce(TCC_HIT,sum)+reduce(TCC_MISS,sum))",
        "Both": "TCC_HIT+TCC_MISS*2",
        "PerUnit": "reduce(SQ_WAVES,sum)/CU_NUM/reduce(GRBM_GUI_ACTIVE,max)",
        "Twice": "Both*2",
        "Busy": "reduce(SQ_BUSY_CYCLES,max)",
        "Latency": "reduce(accumulate(SQ_WAVES,HIGH_RES),sum)",
        "Mean": "reduce(TCC_HIT,avr)",
    },
    modelled=frozenset({"SQ_WAVES", "TCC_HIT", "TCC_MISS", "GRBM_GUI_ACTIVE"}),
)
COUNTS = {
    "TCC_HIT": {(0, 0, 0): 30.0, (0, 0, 1): 10.0},
    "TCC_MISS": {(0, 0, 0): 50.0, (0, 0, 1): 10.0},
    "SQ_WAVES": {(0, 0, 0): 8.0, (0, 1, 0): 8.0},
    "GRBM_GUI_ACTIVE": {(0, 0, 0): 2.0, (1, 0, 0): 4.0},
}


def value(name: str) -> dict[tuple[int, int, int], float]:
    (wanted,) = resolve([name], KNOWN)
    return evaluate(wanted, COUNTS, {"CU_NUM": 2.0}, KNOWN)


def test_base_counters_keep_their_instances() -> None:
    assert value("SQ_WAVES") == COUNTS["SQ_WAVES"]


def test_a_sum_is_one_number() -> None:
    assert value("TCC_HIT_sum") == {(0, 0, 0): 40.0}


def test_derived_counters_follow_amd_s_expressions() -> None:
    assert value("L2CacheHit") == {(0, 0, 0): 40.0}
    assert value("PerUnit") == {(0, 0, 0): 2.0}
    assert value("Mean") == {(0, 0, 0): 20.0}
    # Without a reduction, instance by instance.
    assert value("Both") == {(0, 0, 0): 130.0, (0, 0, 1): 30.0}
    assert value("Twice") == {(0, 0, 0): 260.0, (0, 0, 1): 60.0}


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("SQ_WAVE", "SQ_WAVE is not a counter of gfx942"),
        ("SQ_WAVES_sum", "SQ_WAVES_sum is not a counter of gfx942"),
        ("SQ_BUSY_CYCLES", "SQ_BUSY_CYCLES is not modelled on the virtual gfx942"),
        ("Busy", "Busy needs SQ_BUSY_CYCLES, which is not modelled"),
        ("Latency", "Latency needs accumulate(SQ_WAVES), which is not modelled"),
    ],
)
def test_what_cannot_be_had_is_refused_by_name(name: str, sentence: str) -> None:
    with pytest.raises(BadInput) as found:
        resolve(["TCC_HIT", name], KNOWN)
    assert sentence in found.value.message


def test_a_misspelt_counter_gets_a_suggestion() -> None:
    with pytest.raises(BadInput) as found:
        resolve(["TCC_HITS_sum"], KNOWN)
    assert "TCC_HIT_sum" in (found.value.hint or "")


def test_one_pass_has_so_many_slots() -> None:
    names = [f"TCC_X{i}" for i in range(5)]
    wide = Catalogue("gfx942", dict.fromkeys(names, "TCC"), {}, frozenset(names))
    check_slots(resolve(names[:4], wide), "gfx942")
    with pytest.raises(BadInput, match="5 TCC counters do not fit into one pass, which has 4"):
        check_slots(resolve(names, wide), "gfx942")


@pytest.mark.parametrize("architecture", ["gfx942", "gfx90a"])
def test_everything_a_profile_asks_for_can_be_had(architecture: str) -> None:
    try:
        known = counters.catalogue(architecture)
    except MissingTool as error:
        pytest.skip(f"the virtual GPU is not built: {error}")
    groups = counter_groups(architecture)
    assert groups
    for group in groups:
        check_slots(resolve(group, known), architecture)
