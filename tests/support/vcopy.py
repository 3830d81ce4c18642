"""Counters of the vcopy sample recorded on four GPUs, as traces."""

from __future__ import annotations

import csv
from collections import defaultdict
from dataclasses import replace

from rocm_perf_lab.trace.trace import Agent, Trace
from support.recorded_data import recorded
from support.traces import MI300X, TraceBuilder

KERNEL = "vecCopy(double*, double*, double*, int, int)"
BYTES = 8 * 1024 * 1024  # read, and as much written

AGENTS = {
    "MI300X_A1_rocpd": MI300X,
    "MI300X_A1": MI300X,
    "MI350": replace(MI300X, architecture="gfx950", product_name="AMD Instinct MI350X"),
    "MI200": replace(MI300X, architecture="gfx90a", product_name="AMD Instinct MI210"),
    "MI100": replace(MI300X, architecture="gfx908", product_name="AMD Instinct MI100"),
}
PROPERTIES = {
    "MI350": {"cu_count": 256, "num_xcc": 8, "max_engine_clk_fcompute": 2200},
    "MI200": {"cu_count": 104, "num_xcc": 1, "max_engine_clk_fcompute": 1700},
    "MI100": {"cu_count": 120, "num_xcc": 1, "max_engine_clk_fcompute": 1502},
}


def passes(folder: str) -> list[Trace]:
    """One trace per counter pass; the wide tables hold all passes in one row per dispatch."""
    agent = replace(AGENTS[folder], properties=PROPERTIES.get(folder, MI300X.properties))
    with recorded(f"vcopy/{folder}/pmc_perf.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    if "Counter_Name" in rows[0]:
        return _long(rows, agent)
    builder = TraceBuilder(agent=agent)
    for row in rows:
        start, end = float(row["Start_Timestamp"]), float(row["End_Timestamp"])
        counters = {
            name: float(value)
            for name, value in row.items()
            if name.isupper() or name.endswith("_sum")
            if "[" not in name and value
        }
        builder.dispatch(
            KERNEL,
            int(start),
            int(max(end, start + 6700)),  # the MI300X table rounded its timestamps away
            grid=(int(row["Grid_Size"]), 1, 1),
            counters=counters,
        )
    return [builder.build()]


def _long(rows: list[dict[str, str]], agent: Agent) -> list[Trace]:
    grouped: dict[tuple[int, int, int], dict[str, list[float]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for row in rows:
        when = (int(row["Start_Timestamp"]), int(row["End_Timestamp"]), int(row["Dispatch_ID"]))
        if "[" not in row["Counter_Name"]:
            grouped[when][row["Counter_Name"]].append(float(row["Counter_Value"]))
    builders: dict[frozenset[str], TraceBuilder] = {}
    for (start, end, _), counters in sorted(grouped.items()):
        builder = builders.setdefault(frozenset(counters), TraceBuilder(agent=agent))
        builder.dispatch(KERNEL, start, end, grid=(1048576, 1, 1), counters=counters)
    return [b.build() for b in builders.values()]
