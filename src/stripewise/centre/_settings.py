# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads TOML files and secrets in files for the settings of the portal and of the monitor."""

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
    """Read a TOML file with settings and return its content.

    Args:
        path: Path of the file.
        read: Function that returns the bytes of the file.

    Raises:
        ConfigurationError: The file cannot be read, or is not TOML.
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
    """Return the keys that a settings model accepts, including those of nested models."""
    found = set(form.model_fields)
    for field in form.model_fields.values():
        for inner in (field.annotation, *get_args(field.annotation)):
            if isinstance(inner, type) and issubclass(inner, BaseModel):
                found |= keys_of(inner)
    return found


def read_private(path: Path) -> str:
    """Return the text of a file that contains a secret.

    Raises:
        ValueError: The file cannot be read, or everybody may read it. The message does not contain
            its text.
    """
    try:
        with open_input(path) as file:  # does not block on a pipe
            check_private(path, os.fstat(file.fileno()))
            return file.read(KEY.file_bytes).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 text: save it as UTF-8") from error
    except OSError as error:
        raise ValueError(f"{path} cannot be read ({error.strerror}): check its path") from error


def check_private(path: Path, status: os.stat_result) -> None:
    """Check that only the owner and the group of a file may read or change it.

    Raises:
        ValueError: Others may.
    """
    if not stat.S_ISREG(status.st_mode):
        raise ValueError(f"{path} is not a file: check its path")
    if status.st_mode & (stat.S_IROTH | stat.S_IWOTH):
        raise ValueError(f"everybody may read or change {path}: run chmod o-rw on it")
