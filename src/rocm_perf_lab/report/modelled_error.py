"""What a modelled time is worth, in one sentence."""

from __future__ import annotations

from rocm_perf_lab.arch.modelled_error import ModelledError
from rocm_perf_lab.report.units import percent


def modelled_error(error: ModelledError) -> str:
    sampled = f"; simulated in part: +-{percent(error.sampling)} more" if error.sampling else ""
    if not error.validated:
        return f"not known; {error.words}: {error.reason}{sampled}"
    return (
        f"typically {percent(error.typical)}, at worst {percent(error.worst)}; {error.words}: "
        f"{error.rows} published times ({error.source}){sampled}"
    )
