"""A tuning run in the terminal."""

from __future__ import annotations

from rocm_perf_lab.report.units import percent, spread
from rocm_perf_lab.schema.autotune import AutotuneDocument
from rocm_perf_lab.schema.triton_autotune import TritonAutotuneDocument

_SHOWN = 8


def summary(result: AutotuneDocument) -> str:
    lines = [
        f"{result.evaluated_configs} of {result.search_space_size} configurations measured "
        f"({', '.join(f'{n} {s}' for s, n in result.statuses.items())})"
    ]
    if result.modelled_error is not None:
        lines.append(
            "VIRTUAL GPU: times are modelled, "
            f"at worst {percent(result.modelled_error)} off published ones"
        )
    best = result.best_config
    unit = f" {result.unit}" if result.unit else ""
    if best is not None:
        noun = "sample" if best.samples == 1 else "samples"
        varies = f", CV {spread(best.cv)}" if best.cv is not None else ""
        if best.cv == 0 and result.modelled_error is not None:
            varies = ", repeats exactly"
        lines.append(f"best: {best.value:.6g}{unit} ({best.samples} {noun}{varies})")
        lines += [f"  {name} = {value}" for name, value in best.parameters.items()]
    if result.optimum_fraction is not None:
        lines.append(f"of the recorded optimum: {percent(result.optimum_fraction, 2)}")
    model = result.model
    if model.r2 is not None and model.rank_correlation is not None:
        lines.append(
            f"model out of sample: R2 {model.r2:.2f}, rank correlation "
            f"{model.rank_correlation:.2f}; {result.phases.predict.pruned} pruned"
        )
    top = [p for p in result.influence if p.share is not None][:5]
    if top:
        shares = ", ".join(f"{p.parameter} {percent(p.share, 0)}" for p in top)
        lines.append(f"influence on the time: {shares}")
    if isinstance(result, TritonAutotuneDocument):
        lines += _of_triton(result)
    return "\n".join(lines) + "\n"


def in_words(result: AutotuneDocument) -> str:
    """The best configuration alone, on a line."""
    if isinstance(result, TritonAutotuneDocument):
        return result.best.triton_config if result.best is not None else ""
    best = result.best_config
    return " ".join(f"{k}={v}" for k, v in best.parameters.items()) if best is not None else ""


def _of_triton(result: TritonAutotuneDocument) -> list[str]:
    """The quickest with their resources, and what to paste."""
    rows = [(result.unit, "VGPRs", "LDS", "waves", "configuration")]
    for e in result.evaluations[:_SHOWN]:
        r = e.resources
        waves = r.waves_per_simd if r is not None else None
        rows.append(
            (
                f"{e.value:.6g}" if e.value is not None else e.status.replace("_", " "),
                str(r.vgprs) if r is not None else "",
                f"{r.lds_bytes:,}" if r is not None else "",
                f"{waves:g}" if waves is not None else "",
                " ".join(f"{k}={v}" for k, v in e.configuration.items()),
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    table = [
        "  ".join([*(c.rjust(w) for c, w in zip(row, widths, strict=False)), row[4]])
        for row in rows
    ]
    left = f"{result.ruled_out} ruled out by their code objects before anything ran"
    return ["", *table, "", left, *(["", in_words(result)] if result.best is not None else [])]
