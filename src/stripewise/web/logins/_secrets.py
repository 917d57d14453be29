# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Secrets in settings: as they are, or where they stand."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from stripewise.inputs import KEY, open_input

_FILE = "file:"
_VARIABLE = "env:"
IS_OPEN = "is_open"
"""Key of the validation's context: everybody may read the file with the settings."""


def resolve(text: str, *, is_open: bool) -> str:
    """Return a secret.

    Args:
        text: The secret, "file:PATH" or "env:NAME".
        is_open: Everybody may read where the text stands.

    Raises:
        ValueError: There is none, or everybody may read it; the message has no part of it.
    """
    if text.startswith(_FILE):
        secret = _of_file(Path(text.removeprefix(_FILE)))
    elif text.startswith(_VARIABLE):
        name = text.removeprefix(_VARIABLE)
        secret = os.environ.get(name, "")
        if not secret.strip():
            raise ValueError(f"the environment variable {name!r} is empty or not set: set it")
    else:
        secret = text
        if secret.strip() and is_open:
            raise ValueError(
                "everybody may read this file: take the right away (chmod o-r), or write "
                "file:PATH or env:NAME instead of the secret"
            )
    secret = secret.rstrip("\r\n")
    if not secret.strip():
        raise ValueError("an empty secret protects nothing: give one")
    return secret


def everybody_reads(path: Path) -> bool:
    """Whether everybody may read a file."""
    return bool(os.stat(path).st_mode & stat.S_IROTH)


def _of_file(path: Path) -> str:
    if not path.is_absolute():
        raise ValueError("give the absolute path of the secret's file")
    try:
        with open_input(path) as file:
            if os.fstat(file.fileno()).st_mode & stat.S_IROTH:
                raise ValueError(
                    f"everybody may read {path}: take the right away (chmod o-r {path})"
                )
            return file.read(KEY.file_bytes).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 text: save it as UTF-8") from error
    except OSError as error:
        raise ValueError(f"{path} cannot be read ({error.strerror}): check its path") from error
