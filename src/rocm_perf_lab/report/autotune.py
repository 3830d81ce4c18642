"""A tuning run in the terminal."""

from __future__ import annotations

from rocm_perf_lab.report.units import spread
from rocm_perf_lab.schema.autotune import AutotuneDocument


def summary(result: AutotuneDocument) -> str:
    lines = [
        f"{result.evaluated_configs} of {result.search_space_size} configurations measured "
        f"({', '.join(f'{n} {s}' for s, n in result.statuses.items())})"
    ]
    if result.modelled_error is not None:
        lines.append(
            "VIRTUAL GPU: times are modelled, "
            f"at worst {100 * result.modelled_error:.1f} % off published ones"
        )
    best = result.best_config
    unit = f" {result.unit}" if result.unit else ""
    if best is not None:
        noun = "sample" if best.samples == 1 else "samples"
        varies = f", CV {spread(best.cv)}" if best.cv is not None else ""
        if best.cv == 0 and result.modelled_error is not None:
            varies = ", repeats exactly"
        lines.append(f"best: {best.runtime_ms:.6g}{unit} ({best.samples} {noun}{varies})")
        lines += [f"  {name} = {value}" for name, value in best.parameters.items()]
    if result.optimum_fraction is not None:
        lines.append(f"of the recorded optimum: {100 * result.optimum_fraction:.2f} %")
    model = result.model
    if model.r2 is not None and model.rank_correlation is not None:
        lines.append(
            f"model out of sample: R2 {model.r2:.2f}, rank correlation "
            f"{model.rank_correlation:.2f}; {result.phases.predict.pruned} pruned"
        )
    top = [p for p in result.influence if p.share is not None][:5]
    if top:
        shares = ", ".join(f"{p.parameter} {100 * (p.share or 0):.0f} %" for p in top)
        lines.append(f"influence on the time: {shares}")
    return "\n".join(lines) + "\n"
