# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Makes tables for series of files by querying a model on a designed grid of first files."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import sqrt

from stripewise.core import PatternSummary, ProgramFacts, SeriesRule
from stripewise.learning.adoption._answer import WORTH
from stripewise.learning.adoption._promises import best_of
from stripewise.learning.adoption._question import adoptable_space
from stripewise.learning.adoption._series import SeriesTable
from stripewise.learning.performance import Ground, Model, class_of_program, fitted_prediction
from stripewise.settings import Policy
from stripewise.settings.tunables import build_configuration

SIZES, PIECES = 3, 3
"""Number of file sizes and of piece lengths to query within a model's range."""
MOST_SCALES = 4
SLACK = 0.1
"""Relative distance that a file may lie beyond a model's range: it has headers (assumed)."""
SECONDS = 30.0
"""Time limit in seconds after which no further kind of file is queried."""
_GB = 1e9


@dataclass(frozen=True)
class _Cell:
    """Files covered by one query: the value in the middle and the ends of the ranges."""

    size: int
    sizes: tuple[int, int]
    piece: int
    pieces: tuple[int, int]


def make_tables(
    models: Sequence[Model], seen: Sequence[tuple[Ground, ProgramFacts]], policy: Policy
) -> list[SeriesTable]:
    """Return a table for each ground and MPI; none if no model predicts a gain.

    Args:
        models: Models from training.
        seen: Facts and grounds of observed programs, as templates for future programs.
        policy: Policy that limits what may be set.
    """
    tables = []
    end = time.monotonic() + SECONDS
    for ground, family in dict.fromkeys((ground, facts.mpi_family) for ground, facts in seen):
        there = [f for g, f in seen if g == ground and f.mpi_family == family]
        of_ground = [model for model in models if not model.ground.why_not(ground)]
        rules = tuple(
            rule
            for model in of_ground
            for facts, ranks in _scales(model, there)
            for rule in _rules(model, facts, ranks, policy, end)
        )
        if rules:
            tables.append(SeriesTable(ground, family, time.time(), _joined(rules)))
    return tables


def _joined(rules: Sequence[SeriesRule]) -> tuple[SeriesRule, ...]:
    """Join adjacent rules that differ only in their range of sizes."""
    found: list[SeriesRule] = []
    for rule in sorted(rules, key=lambda one: (one.kind, one.ranks, one.run_bytes)):
        before = found[-1] if found else rule
        if rule == replace(before, size_bytes=rule.size_bytes) and (
            before.size_bytes[1] + 1 == rule.size_bytes[0]
        ):
            found[-1] = replace(rule, size_bytes=(before.size_bytes[0], rule.size_bytes[1]))
        else:
            found.append(rule)
    return tuple(found)


def _scales(
    model: Model, there: Sequence[ProgramFacts]
) -> Iterator[tuple[ProgramFacts, tuple[int, int]]]:
    """Yield a program of the model's class for each number of ranks, with the range it covers."""
    known = {f.n_ranks: f for f in there if class_of_program(f) == model.pattern_class}
    numbers = sorted(known)[-MOST_SCALES:]
    ends = [int(sqrt(a * b)) for a, b in itertools.pairwise(numbers)]
    starts = [numbers[0] if numbers else 0, *(end + 1 for end in ends)]
    for number, first, last in zip(numbers, starts, [*ends, *numbers[-1:]], strict=True):
        yield known[number], (first, last)


def _rules(
    model: Model, facts: ProgramFacts, ranks: tuple[int, int], policy: Policy, end: float
) -> Iterator[SeriesRule]:
    for cell in _cells(model, facts.n_ranks):
        if time.monotonic() > end:
            return
        like = _like(model, facts, cell)
        found = fitted_prediction(like, model.ground, [model])
        if found.prediction is None:
            continue
        best = best_of(adoptable_space(like, policy), like, found.prediction)
        if best is None or best.expected_ratio < WORTH:
            continue
        files = build_configuration(best.settings, like).files
        hints = {key: value for rule in files for key, value in rule.mpiio.items()}
        if hints:
            of = model.pattern_class
            yield SeriesRule(
                of.direction == "write",
                of.way == "collective",
                of.shape == "interleaved",
                ranks,
                cell.sizes,
                cell.pieces,
                hints,
            )


def _cells(model: Model, n_ranks: int) -> Iterator[_Cell]:
    """Yield kinds of files over the range of a model, the smallest first."""
    if model.pattern_class.way == "posix" or "f" not in model.ranges:
        return
    whole, piece = model.ranges["f"], model.ranges.get("piece")
    if piece is None:
        return
    for size, sizes in _steps(whole.low * _GB, whole.high * _GB, SIZES):
        for length, lengths in _steps(piece.low, piece.high, PIECES):
            if length * n_ranks <= size:
                yield _Cell(size, sizes, length, lengths)


def _steps(low: float, high: float, count: int) -> list[tuple[int, tuple[int, int]]]:
    """Return values from low to high in equal ratios, each with the range that it represents."""
    low, high = max(low / (1 + SLACK), 1.0), max(high, low, 1.0) * (1 + SLACK)
    if high < 1.5 * low:
        return [(round(sqrt(low * high)), (int(low), int(high) + 1))]
    edges = [low * (high / low) ** (i / count) for i in range(count + 1)]
    ends = [int(edges[0]), *(int(edge) + 1 for edge in edges[1:-1]), int(edges[-1]) + 2]
    return [
        (round(sqrt(edges[i] * edges[i + 1])), (ends[i], ends[i + 1] - 1)) for i in range(count)
    ]


def _like(model: Model, facts: ProgramFacts, cell: _Cell) -> ProgramFacts:
    """Return a copy of an observed program that moves a file of the given size and pieces."""
    of, ranks = model.pattern_class, facts.n_ranks
    rows = max(1, cell.size // (ranks * cell.piece))
    writing, interleaved = of.direction == "write", of.shape == "interleaved"
    pattern = PatternSummary(
        writing,
        ("*", "BLOCK") if interleaved else ("BLOCK",),
        (1, ranks) if interleaved else (ranks,),
        (rows, cell.piece) if interleaved else (cell.piece,),
        extents=(rows, cell.piece * ranks) if interleaved else (cell.piece * ranks,),
        collective=float(of.way == "collective"),
        datasets=1 if interleaved else rows,
        active_ranks=ranks,
        bytes=cell.size,
    )
    calls = 0 if interleaved else rows
    return replace(
        facts,
        patterns=(pattern,),
        file_classes=(),
        noncontiguous=interleaved,
        interleaved=interleaved,
        write_bytes=cell.size if writing else 0,
        read_bytes=0 if writing else cell.size,
        mpiio_read_bytes=0 if writing else cell.size,
        collective_bytes=cell.size if of.way == "collective" else 0,
        independent_bytes=0 if of.way == "collective" else cell.size,
        write_calls=ranks * max(calls, 1) if writing else 0,
        read_calls=0 if writing else ranks * max(calls, 1),
    )
