"""What `rocm-perf check` found, as one HTML page."""

from __future__ import annotations

from rocm_perf_lab.report import check as words
from rocm_perf_lab.report import page
from rocm_perf_lab.schema.check import CheckDocument


def render(document: CheckDocument) -> str:
    return page.render(
        "check.html.j2",
        title=f"Check: {words.verdict(document)}",
        d=document,
        verdict=words.verdict(document),
        words=words,
    )
