"""The architecture files: what they say, how a device is recognised, what a fault looks like."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rocm_perf_lab.arch import gpu, load, lookup
from rocm_perf_lab.arch.check import check, check_file, twice_matched
from rocm_perf_lab.cli import main as cli
from rocm_perf_lab.errors import UsageError
from support.traces import MI300X

FILES = load.files()


def test_every_file_is_sound() -> None:
    assert check() == []


@pytest.mark.parametrize("name", sorted(FILES))
def test_every_number_says_unit_kind_and_source(name: str) -> None:
    file = FILES[name]
    for section in ("hardware", "occupancy", "ops_per_cu_clock"):
        for q in load.quantities(file, file[section]).values():
            assert q.unit and q.kind and q.source


Fault = Callable[[dict[str, Any]], object]


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (lambda f: f["hardware"]["wave_size"].pop("source"), "wave_size lacks source"),
        (lambda f: f["hardware"]["wave_size"].update(unit="furlongs"), "unit furlongs"),
        (lambda f: f["hardware"]["wave_size"].update(kind="guess"), "kind guess"),
        (lambda f: f["hardware"]["wave_size"].update(source="hearsay"), "source hearsay"),
        (lambda f: f["hardware"]["wave_size"].update(value=-64), "not a positive number"),
        (lambda f: f["hardware"]["wave_size"].update(value="64"), "not a positive number"),
        (lambda f: f["hardware"].pop("wave_size"), "lacks wave_size"),
        (lambda f: f["occupancy"]["vgpr_granule"].update(value=7), "no multiple of its granule"),
        (lambda f: f["occupancy"]["simds_per_domain"].update(value=2), "SIMDs per domain"),
        (
            lambda f: f["products"]["MI300X"]["numbers"]["clock_mhz"].update(value=1900),
            "the vendor's 81700 GFLOP/s is not 304 CUs x 1900 MHz x 128",
        ),
        (
            lambda f: f["products"]["MI300X"]["numbers"]["hbm_gbps"].update(value=50),
            "hbm_gbps 50 is not clock x width = 5324.8",
        ),
        (
            lambda f: f["products"]["MI300X"]["measured"]["hbm"].update(value=9000),
            "measured 9000 is above the peak",
        ),
        (
            lambda f: f["products"]["MI300X"]["measured"]["hbm"].update(kind="doc"),
            "stands under measured but is doc",
        ),
        (lambda f: f["products"]["MI300X"]["numbers"].pop("cu_count"), "lacks cu_count"),
        (lambda f: f.update(metrics="cdna9"), "no counter formulas called cdna9"),
        (lambda f: f.update(default_product="MI900"), "default product MI900"),
        (lambda f: f["products"]["MI300A"].update(inherits="MI300A"), "in a circle"),
        (lambda f: f.pop("sources"), "not of the expected form"),
    ],
)
def test_a_fault_is_named_in_a_sentence(fault: Fault, sentence: str) -> None:
    file = copy.deepcopy(FILES["gfx942"])
    fault(file)
    problems = check_file("gfx942", file)
    assert problems and any(sentence in p for p in problems), problems
    assert all(p.startswith("gfx942.toml: ") for p in problems)


# --- recognising a device --------------------------------------------------------------------


def test_an_mi300x_is_recognised_and_its_peak_bandwidth_follows_from_what_was_recorded() -> None:
    found = gpu(MI300X)
    assert (found.product, found.cu_count, found.xcc_count) == ("MI300X", 304, 8)
    assert found.datasheet["hbm"].value == pytest.approx(5324.8)
    assert "1300 MHz x 8192 bit" in found.datasheet["hbm"].source
    assert found.measured["hbm"].value == 4218.8
    assert found.datasheet["valu_f32"].value == pytest.approx(163.4e3, rel=1e-3)


def test_a_partition_gets_its_own_peaks_and_no_measured_ceilings() -> None:
    properties = {**MI300X.properties, "cu_count": 38, "num_xcc": 1}
    found = gpu(replace(MI300X, properties=properties))
    assert found.product == "MI300X"
    assert found.datasheet["valu_f32"].value == pytest.approx(163430.4 / 8)
    assert not found.measured
    assert any("38 CUs in 1 XCC" in note for note in found.notes)


@pytest.mark.parametrize(
    ("product_name", "properties", "expected"),
    [
        ("AMD Instinct MI300A", {}, "MI300A"),
        ("AMD Instinct MI325X", {}, "MI325X"),
        ("AMD Instinct MI300X VF", {}, "MI300X"),
        ("", {"device_id": 29857}, "MI300X"),
        ("", {"device_id": "29861"}, "MI325X"),
        ("", {"cu_count": 228}, "MI300A"),
        ("", {"cu_count": 304}, None),  # MI300X and MI325X both have as many
        ("", {"cu_count": 77}, None),
        ("", {}, None),
        ("", {"cu_count": "many", "mem_banks": "none"}, None),
    ],
)
def test_products_are_told_by_device_id_name_and_cu_count(
    product_name: str, properties: dict[str, Any], expected: str | None
) -> None:
    agent = replace(MI300X, product_name=product_name, properties=properties)
    assert gpu(agent).product == expected


def test_two_names_for_the_same_numbers_need_not_be_told_apart() -> None:
    agent = replace(
        MI300X, architecture="gfx90a", product_name="MI200", properties={"cu_count": 104}
    )
    assert gpu(agent).datasheet["hbm"].value == 1638.4


def test_an_unrecognised_product_has_only_what_was_recorded() -> None:
    bare = gpu(replace(MI300X, product_name="", properties={}))
    assert bare.cu_count is None and not bare.datasheet and not bare.measured
    some = gpu(
        replace(
            MI300X,
            product_name="",
            properties={"cu_count": 100, "max_engine_clk_fcompute": 1000},
        )
    )
    assert some.datasheet["valu_f32"].value == pytest.approx(100 * 1000 * 256 / 1e3)
    assert "hbm" not in some.datasheet


def test_target_features_are_no_part_of_the_architecture() -> None:
    assert gpu(replace(MI300X, architecture="gfx942:sramecc+:xnack-")).architecture == "gfx942"


def test_an_unknown_architecture_is_none_to_analyses_and_a_sentence_to_people() -> None:
    stranger = replace(MI300X, architecture="gfx9999")
    assert lookup(stranger) is None
    with pytest.raises(UsageError, match="no architecture file for gfx9999"):
        gpu(stranger)


def test_a_missing_measured_ceiling_falls_back_to_the_datasheet_and_shows_it() -> None:
    found = gpu("MI325X")
    ceiling = found.ceiling("hbm", "measured")
    assert ceiling is not None and ceiling.kind != "measured"


@pytest.mark.parametrize(
    ("name", "pipe", "tflops"),
    [
        ("MI300X", "mfma_bf16", 1307.4),
        ("MI300X", "mfma_f8", 2614.9),
        ("MI300X", "valu_f64", 81.7),
        ("MI355X", "mfma_f16", 2516.6),
        ("MI250X GCD", "mfma_f64", 47.9),
        ("MI100", "mfma_f16", 184.6),
        ("RX 7900 XTX", "valu_f32", 61.4),
    ],
)
def test_derived_peaks_are_the_published_ones(name: str, pipe: str, tflops: float) -> None:
    assert gpu(name).datasheet[pipe].value == pytest.approx(tflops * 1e3, rel=2e-3)


# --- the command -----------------------------------------------------------------------------


def run(*args: str) -> int:
    with pytest.raises(SystemExit) as stop:
        cli.main(list(args))
    assert isinstance(stop.value.code, int)
    return stop.value.code


def test_list_names_every_architecture(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("arch", "list") == 0
    out = capsys.readouterr().out
    assert all(name in out for name in FILES)
    assert run("arch", "list", "--json") == 0
    listed = json.loads(capsys.readouterr().out)["architectures"]
    assert [a["architecture"] for a in listed] == sorted(FILES)


@pytest.mark.parametrize("name", ["gfx942", "MI300A", "gfx1200", "gfx1102", "RX 6900 XT"])
def test_show_gives_every_number_its_source(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("arch", "show", name) == 0
    assert "vgpr_granule" in capsys.readouterr().out
    assert run("arch", "show", name, "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert all(q["source"] and q["unit"] for q in shown["numbers"].values())


def test_a_typo_is_answered_with_the_nearest_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("arch", "show", "gfx924") == 2
    assert "did you mean gfx942?" in capsys.readouterr().err


def test_check_says_that_all_is_well(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("arch", "check") == 0
    assert "all is well" in capsys.readouterr().out
    assert run("arch", "check", "--json") == 0
    assert json.loads(capsys.readouterr().out)["problems"] == []


def test_check_fails_with_sentences(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = copy.deepcopy(FILES)
    del broken["gfx942"]["hardware"]["wave_size"]["unit"]
    monkeypatch.setattr("rocm_perf_lab.arch.check.files", lambda: broken)
    assert run("arch", "check") == 1
    assert "gfx942.toml: [hardware] wave_size lacks unit" in capsys.readouterr().err


def test_a_target_that_two_files_claim_is_a_problem() -> None:
    found = {"a": {"matches": ["gfx1", "gfx2"]}, "b": {"matches": ["gfx2"]}}
    assert twice_matched(found) == ["gfx2 is matched by a.toml and by b.toml"]
    assert twice_matched(load.files()) == []
