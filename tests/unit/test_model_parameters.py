"""The parameters of the virtual GPU's models: complete, and each with where it comes from."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocm_perf_lab.arch.load import gpu
from rocm_perf_lab.arch.model_roofs import model_roofs
from rocm_perf_lab.virtual.device_specs import specs
from rocm_perf_lab.virtual.model_parameters import by_device, main, table

KINDS = {"measured", "doc", "fitted", "assumed"}


def test_every_virtual_device_has_parameters() -> None:
    assert sorted(by_device()) == sorted(spec.name for spec in specs())


@pytest.mark.parametrize("device", sorted(by_device()))
def test_every_number_says_where_it_comes_from(device: str) -> None:
    sources = table()["sources"]
    for name, entry in by_device()[device].items():
        assert set(entry) == {"value", "unit", "kind", "source"}, name
        assert isinstance(entry["value"], int), name
        assert entry["kind"] in KINDS, name
        assert entry["source"] in sources, name
        assert (entry["kind"] == "assumed") == (entry["source"] == "ours"), name


def test_the_lds_serves_every_lane_once() -> None:
    lds = table()["lds"]
    runs = [first for pair in lds["read_128_lanes"]["value"] for first in pair]
    assert sorted(runs) == list(range(0, 64, 4))
    for entry in lds.values():
        assert entry["kind"] in KINDS
        assert entry["source"] in table()["sources"]


def test_latencies_grow_with_distance() -> None:
    for values in by_device().values():
        near_to_far = ["l1_latency", "l2_latency", "mall_latency", "hbm_latency"]
        cycles = [values[name]["value"] for name in near_to_far]
        assert cycles == sorted(cycles)


def test_the_native_build_gets_the_same_numbers(tmp_path: Path) -> None:
    main(tmp_path)
    text = (tmp_path / "model_parameters.inc").read_text()
    for device, values in by_device().items():
        line = next(row for row in text.splitlines() if f'"{device}"' in row)
        for name, entry in values.items():
            assert f".{name} = {entry['value']}u" in line


def test_what_stands_in_arch_is_read_from_there() -> None:
    read = {
        (device, name): entry["arch"]
        for device, entries in table()["devices"].items()
        for name, entry in entries.items()
        if isinstance(entry, dict) and "arch" in entry
    }
    assert read["virtual:mi300x", "hbm_gbps"] == "measured.hbm"
    assert by_device()["virtual:mi300x"]["hbm_gbps"]["value"] == round(
        gpu("MI300X").measured["hbm"].value
    )
    # The device's own product's, though it inherits from another.
    assert by_device()["virtual:mi300a"]["l2_latency"] == {
        "value": 266,
        "unit": "cycles",
        "kind": "measured",
        "source": "mt4g300a",
    }
    # What is inherited is of the product it is inherited from.
    mall = gpu("MI300X").measured["mall"].value
    assert by_device()["virtual:mi300a"]["mall_gbps"]["value"] == round(mall)


@pytest.mark.parametrize(
    ("product", "roofs"),
    [
        ("MI300X", {"hbm", "mall"}),
        ("MI300A", {"hbm"}),  # its Infinity Cache's roof is what kernels reached
        ("MI325X", {"mall"}),  # its memory's is the datasheet's
        ("MI210", {"hbm"}),
        ("MI100", set()),
        (None, set()),
    ],
)
def test_which_roofs_the_model_is_built_with(product: str | None, roofs: set[str]) -> None:
    assert model_roofs(product) == roofs
