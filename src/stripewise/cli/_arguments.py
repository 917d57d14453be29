# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the words on the command line of `stripewise tune` mean."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stripewise.core.errors import UsageError

if TYPE_CHECKING:
    from stripewise.study.plan import Case

_SECONDS = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}
_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([a-z]*)")


class Duration(click.ParamType[float]):
    """A time such as 90, 90s, 15min, 2h; in seconds."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return seconds."""
        if isinstance(value, float):
            return value
        match = _DURATION.fullmatch(str(value).strip().lower())
        if match is None or match[2] not in _SECONDS or not float(match[1]):
            self.fail(f"{value!r} is no duration; write 90s, 15min or 2h", param, ctx)
        return float(match[1]) * _SECONDS[match[2]]


class Numbers(click.ParamType[tuple[int, ...]]):
    """Numbers such as 1,2,4; each at least 1."""

    name = "numbers"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return them without repetitions."""
        if isinstance(value, tuple):
            return value
        words = [word.strip() for word in str(value).split(",")]
        if not all(word.isascii() and word.isdigit() and int(word) > 0 for word in words):
            self.fail(f"{value!r}: give numbers of at least 1, as 1,2,4", param, ctx)
        return tuple(dict.fromkeys(int(word) for word in words))


def find_cases(
    program: Sequence[str], values: Sequence[str], path: Path | None
) -> tuple[Case, ...]:
    """Return the cases that --case or --cases name; none in a study of one command.

    Raises:
        UsageError: They contradict one another or the command, or the file is malformed.
    """
    from stripewise.study.plan import expand_cases, read_cases

    if path is None:
        return expand_cases(program, values)
    if values:
        raise UsageError("give --case or --cases, not both")
    if program:
        raise UsageError(f"the commands stand in {path}; leave out the one after --")
    return read_cases(path)


def strategy_options(texts: Sequence[str]) -> dict[str, str]:
    """Read the words of `--strategy-option`.

    Raises:
        UsageError: One is not NAME=VALUE.
    """
    for text in texts:
        if "=" not in text.strip("="):
            raise UsageError(f"--strategy-option {text!r}: write NAME=VALUE, as population=15")
    return {name.strip(): value.strip() for name, _, value in (t.partition("=") for t in texts)}
