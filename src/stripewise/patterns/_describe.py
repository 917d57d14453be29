# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A pattern in plain words."""

from __future__ import annotations

from collections.abc import Callable

from stripewise.model import Pattern, PatternKind
from stripewise.patterns._contiguous import block_bytes, run_bytes


def describe(pattern: Pattern) -> str:
    """Say a pattern in plain words, one sentence and its notes."""
    if pattern.kind == PatternKind.EMPTY:
        return f"nothing is {'written' if pattern.writing else 'read'}"
    parts = [_who(pattern) + _array(pattern), _SAY[pattern.kind](pattern), *_extras(pattern)]
    return "; ".join([part for part in parts if part] + list(pattern.notes))


def _who(pattern: Pattern) -> str:
    verb = "write" if pattern.writing else "read"
    if not pattern.active_ranks:
        return f"ranks {verb}"
    if pattern.active_ranks == 1:
        return f"rank {pattern.first_rank} of {pattern.n_ranks} {verb}s"
    if pattern.active_ranks < pattern.n_ranks:
        return f"{pattern.active_ranks} of {pattern.n_ranks} ranks {verb}"
    return f"{pattern.n_ranks} ranks {verb}"


def _array(pattern: Pattern) -> str:
    sizes = " x ".join(map(str, pattern.extents))
    if not sizes or 0 in pattern.extents:
        return ""
    if pattern.element_bytes == 1:
        return f" an array of {sizes} bytes"
    return f" an array of {sizes} elements of {pattern.element_bytes} bytes"


def _sizes(pattern: Pattern) -> str:
    block = " x ".join(map(str, pattern.block))
    whole, run = block_bytes(pattern), run_bytes(pattern)
    pieces = "in one piece" if run == whole else f"in pieces of {run} bytes"
    return f"{block} ({whole} bytes, {pieces})"


def _distributed(pattern: Pattern) -> str:
    cuts = [
        f"dimension {d} in {_CUT[part.kind].format(k=part.width)} over {n_parts}"
        for d, (part, n_parts) in enumerate(zip(pattern.distributions, pattern.grid, strict=True))
        if part.kind != "*"
    ]
    return f"{', '.join(cuts)}; each process has {_sizes(pattern)}"


_CUT = {"BLOCK": "blocks", "CYCLIC": "turns of {k}"}

_SAY: dict[PatternKind, Callable[[Pattern], str]] = {
    PatternKind.DISTRIBUTED: _distributed,
    PatternKind.REPLICATED: lambda pattern: f"each the same: {_sizes(pattern)}",
    PatternKind.SINGLE: lambda pattern: f"alone: {_sizes(pattern)}",
    PatternKind.MULTIPARTITION: lambda pattern: (
        f"each has several cells of {_sizes(pattern)} on diagonals of "
        f"{' x '.join(map(str, pattern.grid))} cells"
    ),
    PatternKind.IRREGULAR: lambda pattern: "no regular pattern",
}


def _extras(pattern: Pattern) -> list[str]:
    extras = []
    if pattern.rank_order == "F" and pattern.kind == PatternKind.DISTRIBUTED:
        extras.append("ranks in Fortran order")
    if pattern.steps > 1:
        extras.append(f"in {pattern.steps} steps")
    if pattern.halo:
        extras.append(f"neighbours overlap by {' x '.join(map(str, pattern.halo))}")
    if pattern.uneven:
        extras.append("not all blocks are equal")
    if pattern.n_deviating:
        named = ", ".join(map(str, pattern.deviating_ranks))
        more = pattern.n_deviating - len(pattern.deviating_ranks)
        extras.append(f"but not so: rank {named}" + (f" and {more} more" if more else ""))
    extras.append(_calls(pattern.collective))
    return extras


def _calls(collective: float) -> str:
    if collective in (0.0, 1.0):
        return "collective calls" if collective else "independent calls"
    return f"{100 * collective:.0f} % of the calls are collective"
