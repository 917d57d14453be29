# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads and writes models as JSON files, those of the user and of the site."""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from stripewise.core import from_json, to_json, write_file
from stripewise.core.errors import StorageError, StripewiseError
from stripewise.core.inputs import MODEL, parse_json, read_input
from stripewise.evidence.patterns import DIRECTIONS, SHAPES, WAYS
from stripewise.learning.performance._features import OF_PROGRAM, OF_SETTINGS, RATIOS
from stripewise.learning.performance._ground import OWN_VARIABLE, own_models, site_models
from stripewise.learning.performance._records import BASES, BOOSTED, REGRESSION, Model, Tree

MOST_FILES = 500
"""Maximum number of files of a directory that are read."""


@dataclass(frozen=True)
class Loaded:
    """Models that were read, with their files.

    Attributes:
        models: All models, the user's own first.
        paths: Files of the models.
        warnings: One line for each damaged file.
    """

    models: tuple[Model, ...] = ()
    paths: tuple[Path, ...] = ()
    warnings: tuple[str, ...] = ()


def load_models(directories: Iterable[Path] | None = None) -> Loaded:
    """Read all models; damaged files are skipped with a warning.

    If several models apply to the same, the first counts: the user's own before the site's.

    Args:
        directories: Directories to read; None for the user's own and the site's, without those of
            policies.
    """
    found: dict[str, tuple[Path, Model]] = {}
    warnings: list[str] = []
    for directory in (own_models(), *site_models()) if directories is None else directories:
        for path in _files(directory, warnings):
            try:
                model = read_model(path)
                found.setdefault(model_id(model), (path, model))
            except StripewiseError as error:
                warnings.append(str(error))
    paths, models = (
        (tuple(part) for part in zip(*found.values(), strict=True)) if found else ((), ())
    )
    return Loaded(models, paths, tuple(warnings))


def read_model(path: Path) -> Model:
    """Read one model.

    Raises:
        StorageError: The file cannot be read or is damaged.
    """
    try:
        return model_from_json(parse_json(read_input(path, MODEL)))
    except (OSError, ValueError) as error:
        why = (isinstance(error, OSError) and error.strerror) or error
        raise StorageError(
            f"the model {path} cannot be used: {why}; remove it, or train it again"
        ) from error


def save_model(model: Model, directory: Path | None = None) -> Path:
    """Write a model, replacing an older one of the same ground and class.

    Args:
        model: Model to write.
        directory: Directory of models; None for the user's own.

    Raises:
        StorageError: The model cannot be written.
    """
    path = make_home(directory) / f"{model_id(model)}.json"
    write_file(path, json.dumps(model_to_json(model), separators=(",", ":")) + "\n")
    return path


def make_home(directory: Path | None = None) -> Path:
    """Create the directory of models if necessary, and return it.

    Args:
        directory: Directory of models; None for the user's own.

    Raises:
        StorageError: The directory cannot be created or written.
    """
    home = directory or own_models()
    try:
        home.mkdir(parents=True, exist_ok=True)
        if not os.access(home, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise StorageError(
            f"cannot keep models in {home}: {error.strerror}: name another directory in "
            f"{OWN_VARIABLE}"
        ) from error
    return home


def model_id(model: Model) -> str:
    """Return 12 hexadecimal digits that identify what a model applies to: ground and class."""
    ground = model.ground
    words = (ground.storage, ground.digest, ground.stack, str(model.pattern_class))
    return hashlib.sha256("\0".join(words).encode()).hexdigest()[:12]


def _files(directory: Path, warnings: list[str]) -> list[Path]:
    try:
        found = sorted(path for path in directory.iterdir() if path.suffix == ".json")
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        warnings.append(f"models in {directory} cannot be read: {error.strerror}")
        return []
    if len(found) > MOST_FILES:
        warnings.append(f"{directory} has {len(found)} models: only {MOST_FILES} are read")
    return found[:MOST_FILES]


# Conversion of models to and from JSON, with bounds on everything that is read from a file.

FORMAT, VERSION = "stripewise-model", 1
_MOST_TREES, _MOST_NODES, _MOST_TERMS, _MOST_POINTS = 2000, 1023, 81, 100_000
_LONGEST, _LARGEST, _LATEST, _FARTHEST = 300, 1e30, 4e10, 50.0


def model_to_json(model: Model) -> dict[str, Any]:
    """Return a model as plain JSON data."""
    return {"format": FORMAT, "version": VERSION, **to_json(model)}


def model_from_json(data: Any) -> Model:
    """Read a model.

    Raises:
        ValueError: The data is not a model, has another version, or contains an impossible value.
    """
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ValueError("it is not a model")
    if data.get("version") != VERSION:
        raise ValueError(
            f"it is of version {str(data.get('version'))[:40]}, this Stripewise reads {VERSION}"
        )
    model = from_json(Model, data)
    _check(model)
    return model


def _check(model: Model) -> None:
    of = model.pattern_class
    known = of.direction in DIRECTIONS and of.way in WAYS and of.shape in SHAPES
    _require(known, "pattern_class", of)
    _require(model.kind in (REGRESSION, BOOSTED), "kind", model.kind)
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
    """Refuse unknown features, and features without a range, which would be unlimited."""
    used = {name for term in model.terms for name in term.powers} | set(model.features)
    known = {*OF_SETTINGS, *RATIOS, *OF_PROGRAM, *model.levels}
    _require(used <= known, "features", sorted(used - known))
    bare = used - set(RATIOS) - model.levels.keys() - model.ranges.keys()
    _require(not bare, "ranges without", sorted(bare))


def _check_tree(name: str, tree: Tree, features: int) -> None:
    """Refuse a tree that does not terminate or refers to missing nodes or features."""
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
