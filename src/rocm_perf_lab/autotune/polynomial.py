"""The degree-2 polynomial model: ridge on standardised static features, log time.

Its quality is measured out of sample only (leave one out): in sample, 27 terms explain ten points
of pure noise perfectly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.autotune.features import Matrix

_PENALTIES = (1e-3, 1e-2, 1e-1, 1.0, 10.0)  # relative to the mean square of the features
_SQUARED = 20  # features whose squares and products are terms; the rest enter linearly
_MIN_ROWS = 8


@dataclass(frozen=True)
class Quality:
    """Of predictions of rows the model has not seen."""

    r2: float | None
    rank_correlation: float | None
    residual_std: float | None  # of log time: 0.1 is about 10 %
    samples: int


@dataclass(frozen=True)
class Polynomial:
    mean: Matrix
    scale: Matrix
    linear: Matrix
    quadratic: Matrix  # lower triangle: squares and products
    intercept: float
    quality: Quality

    def predict(self, x: Matrix) -> Matrix:
        """Log time of each row; as a quadratic form, since the expanded matrix is wide."""
        scaled = (x - self.mean) / self.scale
        core = scaled[:, : len(self.quadratic)]
        squares = np.einsum("ij,ij->i", core @ self.quadratic, core)
        return np.asarray(scaled @ self.linear + squares + self.intercept)


def fit(x: Matrix, y: Matrix) -> Polynomial | None:
    """Ridge with the penalty that predicts left-out rows best. None: too little to fit."""
    rows = len(y)
    if rows < _MIN_ROWS or not x.shape[1] or np.ptp(y) == 0:
        return None
    mean, scale = x.mean(axis=0), x.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    expanded = _expand((x - mean) / scale)
    centre = expanded.mean(axis=0)
    expanded = expanded - centre
    # In the dual: rows are fewer than terms, and one decomposition serves every penalty.
    squares, vectors = np.linalg.eigh(expanded @ expanded.T)
    squares = np.maximum(squares, 0.0)
    target = y - y.mean()
    projected = vectors.T @ target
    best: tuple[float, float, Matrix] | None = None
    for relative in _PENALTIES:
        penalty = relative * float(squares.mean()) + 1e-9
        shrink = squares / (squares + penalty)
        leverage = 1 / rows + (vectors**2) @ shrink
        residual = (target - vectors @ (shrink * projected)) / np.maximum(1 - leverage, 1e-3)
        error = float(residual @ residual)
        if best is None or error < best[0]:
            best = error, penalty, y - residual
    assert best is not None
    _, penalty, left_out = best
    weights = expanded.T @ (vectors @ (projected / (squares + penalty)))
    features = x.shape[1]
    quadratic = np.zeros((min(features, _SQUARED),) * 2)
    quadratic[np.tril_indices(len(quadratic))] = weights[features:]
    intercept = float(y.mean() - centre @ weights)
    return Polynomial(mean, scale, weights[:features], quadratic, intercept, quality(left_out, y))


def quality(predicted: Matrix, true: Matrix) -> Quality:
    if len(true) < 5 or np.ptp(true) == 0:
        return Quality(None, None, None, len(true))
    residual = true - predicted
    r2 = 1 - float(residual @ residual) / float(((true - true.mean()) ** 2).sum())
    return Quality(r2, rank_correlation(predicted, true), float(residual.std(ddof=1)), len(true))


def rank_correlation(a: Matrix, b: Matrix) -> float:
    """Spearman's; 0 where one side is constant."""
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return 0.0
    return float(np.corrcoef(ranks(a), ranks(b))[0, 1])


def ranks(values: Matrix) -> npt.NDArray[np.float64]:
    """Ranks from 0, ties sharing their mean."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts + 1) / 2)[inverse])


def _expand(x: Matrix) -> Matrix:
    core = x[:, :_SQUARED]
    a, b = np.tril_indices(core.shape[1])
    return np.hstack([x, core[:, a] * core[:, b]])
