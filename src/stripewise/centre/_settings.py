# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads what settings of the portal and the monitor share: TOML files, and secrets in files."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel

from stripewise.core.errors import ConfigurationError
from stripewise.core.inputs import KEY, open_input, parse_toml


def read_toml(path: Path, read: Callable[[Path], bytes]) -> dict[str, Any]:
    """Return the content of a file with settings.

    Args:
        path: Of the file.
        read: Returns its bytes.

    Raises:
        ConfigurationError: It cannot be read, or is not TOML.
    """
    try:
        return parse_toml(read(path).decode("utf-8"))
    except ConfigurationError:
        raise
    except OSError as error:
        reason = error.strerror or "error"
        raise ConfigurationError(f"{path} cannot be read ({reason}): check its path") from error
    except ValueError as error:
        raise ConfigurationError(
            f"{path} is not TOML in UTF-8: {error}: fix that place, or name the right file"
        ) from error


def keys_of(form: type[BaseModel]) -> set[str]:
    """Return the keys of a form, and of the forms in it."""
    found = set(form.model_fields)
    for field in form.model_fields.values():
        for inner in (field.annotation, *get_args(field.annotation)):
            if isinstance(inner, type) and issubclass(inner, BaseModel):
                found |= keys_of(inner)
    return found


def read_private(path: Path) -> str:
    """Return the text of a file that holds a secret.

    Raises:
        ValueError: It cannot be read, or everybody may read it; the message has none of it.
    """
    try:
        with open_input(path) as file:  # a pipe would be waited for
            check_private(path, os.fstat(file.fileno()))
            return file.read(KEY.file_bytes).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 text: save it as UTF-8") from error
    except OSError as error:
        raise ValueError(f"{path} cannot be read ({error.strerror}): check its path") from error


def check_private(path: Path, status: os.stat_result) -> None:
    """See that a file is one that nobody but its owner and group may read or change.

    Raises:
        ValueError: It is not.
    """
    if not stat.S_ISREG(status.st_mode):
        raise ValueError(f"{path} is not a file: check its path")
    if status.st_mode & (stat.S_IROTH | stat.S_IWOTH):
        raise ValueError(f"everybody may read or change {path}: run chmod o-rw on it")
