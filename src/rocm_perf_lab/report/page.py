"""HTML pages: one way to render them, one style. A room keeps its template beside its code."""

from __future__ import annotations

import jinja2


def environment(package: str) -> jinja2.Environment:
    """Templates of a room, with what all pages share; everything that is filled in is escaped."""
    return jinja2.Environment(
        loader=jinja2.ChoiceLoader(
            [jinja2.PackageLoader(package, "."), jinja2.PackageLoader("rocm_perf_lab.report", ".")]
        ),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
