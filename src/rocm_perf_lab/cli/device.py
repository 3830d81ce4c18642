"""`rocm-perf device`: what there is to run on."""

from __future__ import annotations

import sys

import typer

from rocm_perf_lab.cli.help import examples
from rocm_perf_lab.cli.options import Json
from rocm_perf_lab.device import discover
from rocm_perf_lab.schema.common import to_json
from rocm_perf_lab.schema.device import DeviceLine, DeviceList

EXAMPLES = examples("rocm-perf device list", "rocm-perf device list --json")

app = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True)


@app.callback(epilog=EXAMPLES)
def device() -> None:
    """The GPUs a program can run on, real and virtual."""


@app.command("list", epilog=EXAMPLES)
def list_(
    json: Json = False,
) -> None:
    """List the devices; the one that is used unless another is asked for is marked."""
    found = discover.devices()
    default = discover.default_name(found)
    if json:
        lines = [DeviceLine.of(device) for device in found]
        sys.stdout.write(to_json(DeviceList(default=default, devices=lines)))
        return
    for device in found:
        mark = "*" if device.name == default else " "
        memory = f"{device.memory_bytes / 2**30:.0f} GiB"
        text = (
            f"{mark} {device.name:<16} {device.kind:<9} {device.architecture:<8} "
            f"{device.compute_units:>4} CUs {memory:>8}  {device.product or ''}"
        )
        print(text.rstrip())
        if device.reason:
            print(f"    not usable: {device.reason}")
