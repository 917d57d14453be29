# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What programs for a job are put together from: they are for any sh, and need no other file."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.resources import files


def shell_parts(*names: str) -> tuple[str, ...]:
    """Return files of this package, without their first lines."""
    return tuple(map(_part, names))


def names_function(calls: Iterable[str]) -> tuple[str, ...]:
    """Return the lines of the function `names`, which calls its argument for each name.

    Args:
        calls: Its lines, in which "$1" stands for that argument.
    """
    return ("names() {", ":", *calls, "}")


@cache
def _part(name: str) -> str:
    text = files(__package__).joinpath(f"{name}.sh").read_text(encoding="utf-8")
    return text.partition("\n")[2]
