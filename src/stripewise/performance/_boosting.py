# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Gradient boosting of what a simulation leaves: log(measured / simulated)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stripewise.extras import require
from stripewise.performance._records import Tree

_TREES, _DEPTH, _RATE, _LEAF, _SHARE = 60, 3, 0.08, 8, 0.7


def fit_trees(
    rows: Sequence[Sequence[float]], residuals: Sequence[float]
) -> tuple[float, tuple[Tree, ...]]:
    """Fit trees; the same samples give the same trees.

    Args:
        rows: (n_samples, n_features).
        residuals: Log of measured over simulated, of each sample.

    Returns:
        The mean of the residuals, and the trees, whose leaves hold what they add to it.

    Raises:
        RuntimeMissingError: scikit-learn is not installed.
    """
    require("models", "training of boosted models")
    from sklearn.ensemble import GradientBoostingRegressor

    mean = float(np.mean(residuals))
    fitted = GradientBoostingRegressor(
        init="zero", n_estimators=_TREES, max_depth=_DEPTH, learning_rate=_RATE,
        min_samples_leaf=_LEAF, subsample=_SHARE, random_state=0,
    ).fit(np.asarray(rows, dtype=np.float32), np.asarray(residuals) - mean)  # fmt: skip
    return mean, tuple(_tree(one.tree_) for one in fitted.estimators_[:, 0])


def _tree(fitted: object) -> Tree:
    leaf = fitted.children_left < 0  # type: ignore[attr-defined]
    return Tree(
        feature=tuple(int(n) for n in np.where(leaf, -1, fitted.feature)),  # type: ignore[attr-defined]
        threshold=tuple(float(x) for x in np.where(leaf, 0.0, fitted.threshold)),  # type: ignore[attr-defined]
        left=tuple(int(n) for n in np.where(leaf, 0, fitted.children_left)),  # type: ignore[attr-defined]
        right=tuple(int(n) for n in np.where(leaf, 0, fitted.children_right)),  # type: ignore[attr-defined]
        value=tuple(float(x) * _RATE for x in np.where(leaf, fitted.value[:, 0, 0], 0.0)),  # type: ignore[attr-defined]
    )
