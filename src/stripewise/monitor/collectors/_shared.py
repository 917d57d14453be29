# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What collectors have in common: files and commands that may fail, problems in bounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

from pydantic import AfterValidator, Field

from stripewise.monitor._host import TEXT_BYTES, Host, HostError
from stripewise.monitor.collectors._base import Problem

_MOST_PROBLEMS = 20


def damages(where: str, sentences: Sequence[str]) -> Iterator[Problem]:
    """Yield a problem for each sentence; of many, the first and how many more there are."""
    for sentence in sentences[:_MOST_PROBLEMS]:
        yield Problem(f"{where}: {sentence}", "malformed")
    if (more := len(sentences) - _MOST_PROBLEMS) > 0:
        yield Problem(f"{where}: {more} more of this kind", "malformed")


def partial_output(
    host: Host, words: Sequence[str], timeout_seconds: float, given: bytes = b""
) -> tuple[str, HostError | None]:
    """Return what a command printed, and the error if it failed after that.

    Raises:
        HostError: It printed nothing, or is too large.
    """
    found = bytearray()
    failure = None
    try:
        for piece in host.pieces(words, timeout_seconds, given):
            found += piece
            if len(found) > TEXT_BYTES:
                raise HostError("malformed", f"{words[0]}: more than {TEXT_BYTES >> 20} MiB")
    except HostError as error:
        if not found or error.reason == "malformed":
            raise
        failure = error
    return found.decode("utf-8", "replace"), failure


def _absolute(path: str) -> str:
    if path and (not path.startswith("/") or not path.isprintable()):
        raise ValueError("give the whole path of a command, such as /usr/bin/beegfs")
    return path


Command = Annotated[str, AfterValidator(_absolute)]
"""Whole path of a command, without arguments."""
Seconds = Annotated[float, Field(gt=0.0, le=600.0)]
