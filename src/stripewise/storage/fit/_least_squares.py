# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Nonlinear least squares (Levenberg and Marquardt): NumPy is enough.

Source: Nocedal and Wright, Numerical Optimization, 2nd edition, section 10.3; the robust loss
is Huber's, by reweighting.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

STEP = 1e-4
"""Of the differences that stand for derivatives; parameters are logarithms, of order one."""
EASIER, HARDER, HARDEST = 0.3, 4.0, 1e9


def least_squares(
    residuals: Callable[[Vector], Vector], start: Vector, *, scale: float, rounds: int = 60
) -> tuple[Vector, float]:
    """Minimise Huber's loss of the residuals.

    Args:
        residuals: Parameters (k,) -> residuals (n,).
        start: Parameters to begin with, shape (k,).
        scale: Residuals greater than this count in proportion only.
        rounds: Most steps.

    Returns:
        Parameters and their loss.
    """
    here, there = start.astype(np.float64), residuals(start)
    damping = 1e-2
    for _ in range(rounds):
        slopes = _forward(residuals, here, there)
        weights = 1.0 / np.maximum(1.0, np.abs(there) / scale)
        normal = slopes.T @ (weights[:, None] * slopes)
        downhill = slopes.T @ (weights * there)
        loss, step = huber_loss(there, scale), np.zeros_like(here)
        while damping < HARDEST:
            ridge = damping * np.diag(np.maximum(np.diag(normal), 1e-9))
            step = np.clip(-np.linalg.solve(normal + ridge, downhill), -1.0, 1.0)
            moved = residuals(here + step)
            if huber_loss(moved, scale) < loss:
                here, there, damping = here + step, moved, damping * EASIER
                break
            damping *= HARDER
        else:
            break
        if np.max(np.abs(step)) < 1e-6 or loss - huber_loss(there, scale) < 1e-9 * loss:
            break
    return here, huber_loss(there, scale)


def slopes_at(residuals: Callable[[Vector], Vector], place: Vector) -> Vector:
    """Return the derivatives of residuals, shape (n, k)."""
    return _forward(residuals, place, residuals(place))


def _forward(residuals: Callable[[Vector], Vector], here: Vector, there: Vector) -> Vector:
    columns = []
    for place in range(len(here)):
        moved = here.copy()
        moved[place] += STEP
        columns.append((residuals(moved) - there) / STEP)
    return np.stack(columns, axis=1)


def huber_loss(values: Vector, scale: float) -> float:
    """Return half the squares of values, shape (n,); beyond `scale` they count in proportion."""
    size = np.abs(values)
    return float(np.sum(np.where(size < scale, size**2 / 2, scale * (size - scale / 2))))
