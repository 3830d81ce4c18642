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
from rocm_perf_lab.report.units import (
    duration,
    milliseconds,
    number,
    percent,
    spread,
    thousands,
)

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
        ms=milliseconds,
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


def short(name: str, width: int = 70) -> str:
    from rocm_perf_lab.report.names import short_name

    return short_name(name, width)
