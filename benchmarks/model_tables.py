"""What benchmarks/model_error.py found, as the docs and the product carry it: tables and figures.

The tables stand in docs/virtual-model.md, the figures in arch/data/virtual/errors.toml. Which rows
the second table shows is decided there: each row that stands in it gets its numbers again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from rocm_perf_lab.report.units import figure
from rocm_perf_lab.validate.probes import Compared
from rocm_perf_lab.validate.times import NAMES, Errors, Result

SECTION = "### Kernel times, MI300A\n"
_BY_PROGRAM = re.compile(r"(\| program \|.*\n\|[-|]+\n)((?:\|.*\n)+)")
_BY_PROBE = re.compile(r"(\| device \| probe \|.*\n\|[-|]+\n)((?:\|.*\n)*)")
_BY_ROW = re.compile(r"(\| kernel \|.*\n\|[-|]+\n)((?:\|.*\n)+)")


def page(text: str, results: Sequence[Result], totals: Mapping[str, Errors]) -> str:
    """docs/virtual-model.md with both tables as these results make them."""
    before, mark, after = text.partition(SECTION)
    if not mark:
        raise SystemExit(f"docs/virtual-model.md has no section {SECTION.strip('# ')!r}")
    found = {label(result): result for result in results}

    def rows(match: re.Match[str]) -> str:
        shown = re.findall(r"^\| (.+?) \|", match[2], re.MULTILINE)
        if missing := [name for name in shown if name not in found]:
            raise SystemExit(f"no row was run that the page shows: {', '.join(missing)}")
        return match[1] + "".join(f"| {name} | {_row(found[name])} |\n" for name in shown)

    def programs(match: re.Match[str]) -> str:
        named = [name for name in (*NAMES, "all") if name in totals]
        return match[1] + "".join(_program(name, totals[name]) for name in named)

    after, first = _BY_PROGRAM.subn(programs, after, count=1)
    after, second = _BY_ROW.subn(rows, after, count=1)
    if not (first and second):
        raise SystemExit("docs/virtual-model.md lacks a table of kernel times")
    return before + mark + after


def probes(text: str, compared: Mapping[str, Sequence[Compared]]) -> str:
    """docs/virtual-model.md with the table of what probes measured on each device."""
    rows = [row for device, lines in compared.items() for row in _probes(device, lines)]
    made, tables = _BY_PROBE.subn(lambda match: match[1] + "".join(rows), text, count=1)
    if not tables:
        raise SystemExit("docs/virtual-model.md lacks the table of probes")
    return made


def _probes(device: str, lines: Sequence[Compared]) -> Iterator[str]:
    """A row each, but one for all matrix instructions: the one furthest off its cycles."""
    matrix = [line for line in lines if line.name.startswith("v_")]
    yield from (_probe(device, line) for line in lines if line not in matrix)
    if matrix:
        worst = 100 * max(abs(line.error) for line in matrix)
        cycles = [value for line in matrix for value in line.measured]
        what = f"{len(matrix)} matrix instructions, cycles | {min(cycles)} to {max(cycles)}"
        yield f"| `{device}` | {what} | the same | at most {worst:.1f} % |\n"


def _probe(device: str, line: Compared) -> str:
    measured = " to ".join(figure(value) for value in line.measured)
    what = f"{line.words}, {line.unit}"
    modelled = figure(line.modelled)
    return f"| `{device}` | {what} | {measured} | {modelled} | {100 * line.error:+.1f} % |\n"


def label(result: Result) -> str:
    """As the page names a row: `fir 1,024, taps 8`, `floydwarshall 8 nodes`."""
    number, _, taps = result.size.partition("_taps")
    digits = re.match(r"\d+", number)
    size = f"{int(digits[0]):,}" if digits else number
    if taps:
        size += f", taps {taps}"
    return f"{result.program} {size}{' nodes' if result.program == 'floydwarshall' else ''}"


def _row(result: Result) -> str:
    error = f"{100 * result.error:+.0f} %"
    return f"{result.measured_us:,.1f} | {result.modelled_us:,.1f} | {error}"


def _program(name: str, total: Errors) -> str:
    median, mean, worst = (100 * part for part in (total.median, total.mean, total.worst))
    return f"| {name} | {total.rows} | {median:.1f} % | {mean:.1f} % | {worst:.0f} % |\n"


def figures(text: str, totals: Mapping[str, Errors]) -> str:
    """errors.toml with the figures of each class that has them."""

    def figure(match: re.Match[str]) -> str:
        total = totals.get(match["name"])
        if total is None:
            raise SystemExit(f"no row of the class {match['name']} was run")
        block = match[0]
        for key, value in (
            ("median_percent", f"{100 * total.median:.1f}"),
            ("worst_percent", f"{100 * total.worst:.1f}"),
            ("rows", str(total.rows)),
        ):
            block = re.sub(rf"^{key} = .*$", f"{key} = {value}", block, flags=re.MULTILINE)
        return block

    validated = r"^\[classes\.(?P<name>\w+)\]\nwords = .*\nvalidated = true\n(?:(?!\[).*\n)*"
    return re.sub(validated, figure, text, flags=re.MULTILINE)
