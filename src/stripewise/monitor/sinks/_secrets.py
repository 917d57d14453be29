# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Files with tokens, passwords and keys: nobody else may read them."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from stripewise.inputs import open_input
from stripewise.monitor.sinks._base import SinkError

_MOST_BYTES = 4096


def read_secret(path: Path) -> str:
    """Return the one line of a file; it is read each time, so that a new secret counts at once.

    Raises:
        SinkError: It cannot be read, others may read it, or it holds no such line.
    """
    try:
        with open_input(path) as file:  # a pipe would be waited for
            _check(path, os.fstat(file.fileno()))
            text = file.read(_MOST_BYTES).decode("utf-8").strip()
    except OSError as error:
        raise SinkError(f"{path} cannot be read ({error.strerror}): check its path") from error
    except ValueError as error:
        raise SinkError(f"{path} is not UTF-8: write one line into it") from error
    if not text or not text.isprintable():
        raise SinkError(f"{path} is empty or has several lines: write one line into it")
    return text


def read_token(path: Path, least_characters: int = 1) -> str:
    """Return a token, which a header of HTTP can hold.

    Raises:
        SinkError: As `read_secret`, or it is too short, or has spaces or characters beyond ASCII.
    """
    token = read_secret(path)
    if not token.isascii() or " " in token or len(token) < least_characters:
        raise SinkError(
            f"{path} holds no token of {least_characters} or more letters and digits: make one"
            f" with openssl rand -hex 32"
        )
    return token


def check_private(path: Path) -> None:
    """See that nobody else may read a file.

    Raises:
        SinkError: Others may, or there is no such file.
    """
    try:
        _check(path, path.stat())
    except OSError as error:
        raise SinkError(f"{path} cannot be read ({error.strerror}): check its path") from error


def check_regular(path: Path) -> None:
    """See that something is a file, before OpenSSL opens it: it would wait for a pipe.

    Raises:
        SinkError: It is none, or cannot be opened.
    """
    try:
        open_input(path).close()
    except OSError as error:
        raise SinkError(f"{path} cannot be read ({error.strerror}): check its path") from error


def _check(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise SinkError(f"{path} is no file: check its path")
    if status.st_mode & (stat.S_IROTH | stat.S_IWOTH):
        raise SinkError(f"everybody may read or change {path}: run chmod o-rw on it")
