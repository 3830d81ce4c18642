"""One self-contained HTML file: the templates, the style and the script that every page shares.

Nothing is loaded from elsewhere, and everything that comes from a file is escaped.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup

from rocm_perf_lab.report.gain import gain_line
from rocm_perf_lab.report.modelled_error import modelled_error
from rocm_perf_lab.report.units import spread

# In the order of use; readable on light and dark ground.
COLOURS = (
    *("#3b76c4", "#d9731a", "#2f9e6e", "#b9487f"),
    *("#8a63c9", "#b08a1e", "#2f97a8", "#a3533f"),
)
OTHER = "#8493a3"


def render(template: str, **content: Any) -> str:
    return (
        _environment()
        .get_template(template)
        .render(style=_file("style.css"), script=_file("script.js"), **content)
    )


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("rocm_perf_lab.report", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        percent=percent,
        spread=spread,
        number=number,
        ms=ms,
        duration=duration,
        short=short,
        thousands=thousands,
        modelled_error=modelled_error,
        gain=gain_line,
    )
    return environment


@cache
def _file(name: str) -> Markup:
    """Ours, not a user's: goes into the page as it is."""
    return Markup(
        resources.files("rocm_perf_lab.report.templates").joinpath(name).read_text("utf-8")
    )


def colour(rank: int) -> str:
    return COLOURS[rank] if 0 <= rank < len(COLOURS) else OTHER


def percent(value: float | None, digits: int = 1) -> str:
    return "–" if value is None else f"{100 * value:.{digits}f} %"


def number(value: float | None, digits: int = 4) -> str:
    if value is None:
        return "–"
    if value and (abs(value) >= 1e7 or abs(value) < 1e-4):
        return f"{value:.{digits - 1}e}"
    return f"{value:,.{digits}g}" if abs(value) < 10**digits else f"{value:,.0f}"


def thousands(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"


def ms(value: float | None) -> str:
    return duration(None if value is None else value * 1e6)


def duration(ns: float | None) -> str:
    if ns is None:
        return "–"
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if abs(ns) >= size:
            return f"{ns / size:.4g} {unit}"
    return f"{ns:.0f} ns"


def short(name: str, width: int = 70) -> str:
    from rocm_perf_lab.report.names import short_name

    return short_name(name, width)
