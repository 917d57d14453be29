# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reading of the #DW lines that copy to and from a tier."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from stripewise.tiers._base import TierRequest
from stripewise.tiers._words import options_of, place_in

Line = Sequence[str]
MARKER = "#DW"


def directives_of(words: Sequence[Line]) -> list[Line]:
    """Return the lines with the marker and a keyword."""
    return [line for line in words if len(line) > 1 and line[0] == MARKER]


def with_stages(
    request: TierRequest,
    lines: Sequence[Line],
    staged: Callable[[TierRequest, Line], TierRequest | None],
) -> TierRequest:
    """Return the request with what the lines copy; others are kept as they are.

    All that is read has one place in the tier: what is copied elsewhere is kept as it is, too.

    Args:
        request: Of the line that allocates.
        lines: The others.
        staged: Returns the request with one line; None if it has to stay as it is.
    """
    kept: list[str] = []
    places: list[str] = []
    for line in lines:
        stage = staged(request, line)
        if stage is None or places not in ([], [stage.place]):
            kept.append(" ".join(line))
            continue
        places = [stage.place]
        request = stage
    return replace(request, kept=tuple(kept))


def with_stage(
    request: TierRequest, line: Line, variable: str, copy_in: str, copy_out: str
) -> TierRequest | None:
    """Return the request with one line that copies a directory; None if it is another line.

    Args:
        request: So far; what it copies already is not replaced.
        line: Of a script.
        variable: That holds the tier's directory.
        copy_in: Keyword of lines that copy to the tier.
        copy_out: Of those that copy from it.
    """
    if line[1] not in (copy_in, copy_out):
        return None
    is_in, options = line[1] == copy_in, options_of(line[2:])
    outside, inside = ("source", "destination") if is_in else ("destination", "source")
    path, place = options.get(outside, ""), place_in(options.get(inside, ""), variable)
    if place is None or not path.startswith("/"):
        return None
    if is_in:
        return None if request.stage_in else replace(request, stage_in=Path(path), place=place)
    return None if request.stage_out else replace(request, stage_out=Path(path), place=place)
