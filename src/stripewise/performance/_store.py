# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Where models are kept: a JSON file each, the user's own and the site's."""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from stripewise.errors import StorageError, StripewiseError
from stripewise.inputs import MODEL, parse_json, read_input
from stripewise.outputs import write_file
from stripewise.performance._codec import model_from_json, model_to_json
from stripewise.performance._homes import OWN_VARIABLE, own_models, site_models
from stripewise.performance._records import Model

MOST_FILES = 500
"""Files of a directory that are looked at."""


@dataclass(frozen=True)
class Loaded:
    """What was read.

    Attributes:
        models: The user's own first.
        paths: Their files.
        warnings: One line for each file that is damaged.
    """

    models: tuple[Model, ...] = ()
    paths: tuple[Path, ...] = ()
    warnings: tuple[str, ...] = ()


def load_models(directories: Iterable[Path] | None = None) -> Loaded:
    """Read all models; what is damaged is passed over and said.

    Of those that hold for the same, the first counts: the user's own before the site's.

    Args:
        directories: None: the user's own, then the site's without its policy's.
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
        StorageError: It cannot be read, or is damaged.
    """
    try:
        return model_from_json(parse_json(read_input(path, MODEL)))
    except (OSError, ValueError) as error:
        why = (isinstance(error, OSError) and error.strerror) or error
        raise StorageError(
            f"the model {path} cannot be used: {why}; remove it, or train it again"
        ) from error


def save_model(model: Model, directory: Path | None = None) -> Path:
    """Keep a model in place of an older one of the same ground and class.

    Args:
        model: To be kept.
        directory: None: the user's own.

    Raises:
        StorageError: It cannot be written.
    """
    path = made_home(directory) / f"{model_id(model)}.json"
    write_file(path, json.dumps(model_to_json(model), separators=(",", ":")) + "\n")
    return path


def made_home(directory: Path | None = None) -> Path:
    """Make the directory of models, if need be, and return it.

    Args:
        directory: None: the user's own.

    Raises:
        StorageError: Nothing can be kept in it.
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
    """Return 12 hexadecimal digits of what a model holds for: ground and class."""
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
