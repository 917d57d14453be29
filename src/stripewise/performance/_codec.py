# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Models to and from JSON, with bounds on all that comes from a file."""

from __future__ import annotations

from math import isfinite
from typing import Any

from stripewise.model import from_json, to_json
from stripewise.patterns import DIRECTIONS, SHAPES
from stripewise.patterns import WAYS as CALL_WAYS
from stripewise.performance._features import OF_PROGRAM, OF_SETTINGS, RATIOS
from stripewise.performance._records import BASES, BOOSTED, REGRESSION, WAYS, Model, Tree

FORMAT, VERSION = "stripewise-model", 1
_MOST_TREES, _MOST_NODES, _MOST_TERMS, _MOST_POINTS = 2000, 1023, 81, 100_000
_LONGEST, _LARGEST, _LATEST, _FARTHEST = 300, 1e30, 4e10, 50.0


def model_to_json(model: Model) -> dict[str, Any]:
    """Return a model as plain JSON data."""
    return {"format": FORMAT, "version": VERSION, **to_json(model)}


def model_from_json(data: Any) -> Model:
    """Read a model.

    Raises:
        ValueError: It is none, of another version, or a value is impossible.
    """
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ValueError("it is no model")
    if data.get("version") != VERSION:
        raise ValueError(
            f"it is of version {str(data.get('version'))[:40]}, this Stripewise reads {VERSION}"
        )
    model = from_json(Model, data)
    _check(model)
    return model


def _check(model: Model) -> None:
    of = model.pattern_class
    known = of.direction in DIRECTIONS and of.way in CALL_WAYS and of.shape in SHAPES
    _require(known, "pattern_class", of)
    _require(model.kind in (REGRESSION, BOOSTED), "kind", model.kind)
    _require(model.way in WAYS, "way", model.way)
    _require(len(model.terms) <= _MOST_TERMS, "terms", len(model.terms))
    _require(len(model.trees) <= _MOST_TREES, "trees", len(model.trees))
    _require(len(model.points) <= _MOST_POINTS, "points", len(model.points))
    _require(bool(model.terms) == (model.kind == REGRESSION), "terms", len(model.terms))
    for text in (model.ground.storage, model.ground.stack, model.ground.digest, *model.features):
        _require(len(text) <= _LONGEST and text.isprintable(), "text", text[:40])
    for term in model.terms:
        powers = set(term.powers.values())
        _require(term.powers.keys() <= set(BASES) and powers <= {-1, 1}, "powers", term.powers)
        _require(abs(term.coefficient) < _LARGEST, "coefficient", term.coefficient)
    _require(0 <= model.trained_unix_seconds < _LATEST, "trained", model.trained_unix_seconds)
    _require(abs(model.initial) <= _FARTHEST, "initial", model.initial)
    cost = 0 <= model.runs < _LARGEST and 0 <= model.run_seconds < _LARGEST
    _require(cost, "runs, run_seconds", (model.runs, model.run_seconds))
    _check_features(model)
    for name, one in model.ranges.items():
        sound = 0 <= one.low <= one.high < _LARGEST and 1 <= one.reach < _LARGEST
        _require(sound, f"ranges.{name[:40]}", one)
    for number, tree in enumerate(model.trees):
        _check_tree(f"trees[{number}]", tree, len(model.features))
    for score in model.scores:
        sound = (
            -1.001 <= score.rho <= 1.001 and 0 <= score.top5 <= 1 and 0 <= score.error < _LARGEST
        )
        _require(sound, "scores", score)


def _check_features(model: Model) -> None:
    """Refuse a feature that none is, and one without a range: nothing would be beyond it."""
    used = {name for term in model.terms for name in term.powers} | set(model.features)
    known = {*OF_SETTINGS, *RATIOS, *OF_PROGRAM, *model.levels}
    _require(used <= known, "features", sorted(used - known))
    bare = used - set(RATIOS) - model.levels.keys() - model.ranges.keys()
    _require(not bare, "ranges without", sorted(bare))


def _check_tree(name: str, tree: Tree, features: int) -> None:
    """Refuse a tree that does not end, or looks at what is not there."""
    size = len(tree.feature)
    lengths = {len(one) for one in (tree.threshold, tree.left, tree.right, tree.value)}
    _require(1 <= size <= _MOST_NODES and lengths == {size}, name, size)
    for node, feature in enumerate(tree.feature):
        children = (tree.left[node], tree.right[node])
        inner = 0 <= feature < features and all(node < one < size for one in children)
        _require(feature == -1 or inner, f"{name}, node {node}", children)
    _require(all(isfinite(x) and abs(x) < _LARGEST for x in tree.value), name, "value")


def _require(sound: bool, name: str, value: object) -> None:
    if not sound:
        raise ValueError(f"{name} is {str(value)[:80]}, which is impossible")
