"""A comparison as a table in the terminal, as Markdown, and as GitHub annotations."""

from __future__ import annotations

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from rocm_perf_lab.errors import plain
from rocm_perf_lab.report.names import short_name
from rocm_perf_lab.report.units import milliseconds
from rocm_perf_lab.schema.comparison import (
    Change,
    Compared,
    ComparisonDocument,
    GateOutcome,
    KernelCompared,
)

MOST_KERNELS = 25
_STYLE = {"faster": "green", "slower": "red", "same": "", "inconclusive": "yellow"}
_MARK = {"passed": "ok", "failed": "FAILED", "undecided": "undecided"}
_SIGN = {"faster": "🟢", "slower": "🔴", "same": "⚪", "inconclusive": "🟡"}


def summary(document: ComparisonDocument) -> RenderableType:
    parts: list[RenderableType] = [Text(headline(document), style="bold")]
    if virtual(document):
        parts.append(Text("VIRTUAL GPU: times are modelled", style="bold yellow"))
    parts += [Text(), _table(document)]
    for kernel in document.kernels[:MOST_KERNELS]:
        if kernel.changes:
            text = Text(f"{short_name(kernel.kernel, 60)}: ", style="bold")
            text.append(", ".join(map(change, kernel.changes)), style="not bold")
            parts.append(text)
    for gate in document.gates:
        style = {"failed": "bold red", "undecided": "yellow", "passed": "green"}[gate.outcome]
        parts.append(Text(plain(gate_line(gate)), style=style))
    parts += [Text(f"- {plain(note)}", style="dim") for note in document.notes]
    return Group(*parts)


def headline(document: ComparisonDocument) -> str:
    r = document.runtime
    if r.speedup is None:
        return f"inconclusive: {r.reason}"
    words = {
        "faster": f"B is {r.speedup:.3g}x as fast as A",
        "slower": f"B takes {1 / r.speedup:.3g}x the time of A",
        "same": "B is as fast as A",
        "inconclusive": f"inconclusive: B looks {r.speedup:.3g}x as fast as A",
    }[r.verdict]
    return f"{words} ({r.reason})"


def virtual(document: ComparisonDocument) -> bool:
    return "virtual" in (document.a.device.kind, document.b.device.kind)


def change(c: Change) -> str:
    return f"{c.name} {_value(c.a)} → {_value(c.b)}"


def gate_line(gate: GateOutcome) -> str:
    return f"{gate.rule}: {_MARK[gate.outcome]}: {gate.reason}"


def _value(value: float | str | None) -> str:
    if value is None:
        return "unknown"
    return plain(value) if isinstance(value, str) else f"{value:.4g}"


def interval(time: Compared) -> str:
    if time.speedup_interval is None:
        return ""
    low, high = time.speedup_interval
    return f"{low:.3f} to {high:.3f}" if low and high else "open"


def speedup(time: Compared | None) -> str:
    return "-" if time is None or time.speedup is None else f"{time.speedup:.3f}x"


def _table(document: ComparisonDocument) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1), expand=True)
    table.add_column(_what(document), no_wrap=True, overflow="ellipsis", ratio=1)
    for title in ("A ms", "B ms", "Speed-up", "Interval"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("Verdict", no_wrap=True)
    for k in document.kernels[:MOST_KERNELS]:
        table.add_row(*row(k, 60), style=_STYLE[k.time.verdict] if k.time else None)
    if len(document.kernels) > 1:
        a = sum(k.total_ms_a for k in document.kernels)
        b = sum(k.total_ms_b for k in document.kernels)
        r = document.runtime
        table.add_section()
        table.add_row("all", f"{a:.4g}", f"{b:.4g}", speedup(r), interval(r), r.verdict)
    rest = len(document.kernels) - MOST_KERNELS
    if rest > 0:
        table.add_row(f"… and {rest} more (--json has all)", *[""] * 5)
    return table


def _what(document: ComparisonDocument) -> str:
    return "Command" if document.a.kind == "timings" else "Kernel"


def row(k: KernelCompared, width: int) -> tuple[str, str, str, str, str, str]:
    verdict = k.time.verdict if k.time else "gone" if k.present == "a" else "new"
    return (
        short_name(k.kernel, width),
        f"{k.total_ms_a:.4g}" if k.present != "b" else "-",
        f"{k.total_ms_b:.4g}" if k.present != "a" else "-",
        speedup(k.time),
        interval(k.time) if k.time else "",
        verdict,
    )


def markdown(document: ComparisonDocument) -> str:
    """For a pull request's comment. Names are code spans: nothing in them is markup."""
    r = document.runtime
    lines = [f"### {_SIGN[r.verdict]} {_plain(headline(document))}", ""]
    if virtual(document):
        lines += ["**Virtual GPU:** times are modelled, not measured.", ""]
    lines += [
        f"A: {_code(document.a.name)}, B: {_code(document.b.name)}",
        "",
        f"| {_what(document).lower()} | A ms | B ms | speed-up | interval | verdict |",
        "|---|--:|--:|--:|--:|---|",
    ]
    for k in document.kernels[:MOST_KERNELS]:
        name, *cells = row(k, 80)
        sign = _SIGN[k.time.verdict] + " " if k.time else ""
        lines.append(f"| {_code(name)} | {' | '.join(cells[:-1])} | {sign}{cells[-1]} |")
    rest = len(document.kernels) - MOST_KERNELS
    if rest > 0:
        lines.append(f"| … and {rest} more | | | | | |")
    changed = [k for k in document.kernels[:MOST_KERNELS] if k.changes]
    if changed:
        lines += ["", "What changed:", ""]
        lines += [
            f"- {_code(short_name(k.kernel, 80))}: {_plain(', '.join(map(change, k.changes)))}"
            for k in changed
        ]
    if document.gates:
        lines += ["", "| gate | | |", "|---|---|---|"]
        lines += [
            f"| {_code(g.rule)} | {_MARK[g.outcome]} | {_plain(g.reason)} |" for g in document.gates
        ]
    if document.notes:
        lines += ["", "<details><summary>Notes</summary>", ""]
        lines += [f"- {_plain(note)}" for note in document.notes]
        lines += ["", "</details>"]
    return "\n".join(lines) + "\n"


def github_annotations(document: ComparisonDocument) -> str:
    """GitHub's workflow commands: https://docs.github.com/actions, one line each."""
    lines = []
    for gate in document.gates:
        level = {"failed": "error", "undecided": "warning", "passed": "notice"}[gate.outcome]
        lines.append(f"::{level} title={_property(gate.rule)}::{_data(gate_line(gate))}")
    r = document.runtime
    total = "" if r.speedup is None else f", {milliseconds(document.b.runtime_ms or 0)}"
    modelled = " (virtual GPU: modelled)" if virtual(document) else ""
    lines.append(
        f"::notice title=rocm-perf compare::{_data(headline(document) + total + modelled)}"
    )
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    """Text from files in Markdown: no markup, no HTML, no table cells, no mentions."""
    text = plain(text)
    for char in "\\`*_{}[]<>|@#~":
        text = text.replace(char, f"&#{ord(char)};")
    return text


def _code(text: str) -> str:
    text = plain(text).replace("`", "'").replace("|", "\\|")
    return f"`{text or ' '}`"


def _data(text: str) -> str:
    text = plain(text)
    return text.replace("%", "%25")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
