# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Classes of patterns: what one model of performance can hold for."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from stripewise.model import PatternKind, PatternSummary

DIRECTIONS = ("write", "read")
WAYS = ("collective", "independent", "posix")
SHAPES = ("contiguous", "interleaved", "irregular")


@dataclass(frozen=True)
class PatternClass:
    """A class of patterns; `str` gives "write collective interleaved".

    Attributes:
        direction: One of `DIRECTIONS`.
        way: One of `WAYS`: how most calls of the pattern are made.
        shape: "contiguous": what a rank moves of a dataset is one piece in the file;
            "interleaved": several, between those of other ranks; "irregular": no regular ones.
    """

    direction: str = "write"
    way: str = "collective"
    shape: str = "contiguous"

    def __str__(self) -> str:
        return f"{self.direction} {self.way} {self.shape}"


def class_of(summary: PatternSummary, *, mpiio: bool = True) -> PatternClass:
    """Return the class of a pattern.

    Args:
        summary: Of the pattern.
        mpiio: The program moves its data through MPI-IO; otherwise through POSIX calls.
    """
    way = "collective" if summary.collective >= 0.5 else "independent"
    return PatternClass(
        "write" if summary.writing else "read", way if mpiio else "posix", _shape(summary)
    )


def _shape(summary: PatternSummary) -> str:
    kind = summary.kind
    if kind == PatternKind.MULTIPARTITION:
        return "interleaved"
    if kind == PatternKind.IRREGULAR or not summary.distributions:
        return (
            "irregular"
            if kind in (PatternKind.IRREGULAR, PatternKind.DISTRIBUTED)
            else "contiguous"
        )
    first = moved_in_steps(summary)
    cut = [d for d in range(first, len(summary.grid)) if summary.grid[d] > 1]
    if not cut:
        return "contiguous"
    if any(
        name.startswith("CYCLIC") and size > _width(name)
        for name, size in zip(summary.distributions[first:], summary.block[first:], strict=True)
    ):
        return "interleaved"
    return "contiguous" if prod(summary.block[first : cut[-1]]) == 1 else "interleaved"


def moved_in_steps(summary: PatternSummary) -> int:
    """Return the number of leading dimensions of which each call moves one element.

    Without names of datasets, those that follow one another look like one more dimension.
    """
    length = 1
    for place, name in enumerate(summary.distributions):
        if name != "*":
            return 0
        length *= summary.block[place]
        if length > 1 and length == summary.steps:
            return place + 1
    return 0


def _width(name: str) -> int:
    return int(name[7:-1]) if name.startswith("CYCLIC(") else 1
