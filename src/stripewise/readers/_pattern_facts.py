# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the trace of a run adds to the facts: how the ranks divide the data of each file class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import prod
from pathlib import Path

import numpy as np

from stripewise.formats import matches
from stripewise.model import (
    Evidence,
    FileClass,
    Pattern,
    PatternKind,
    Pieces,
    ProgramFacts,
    Selections,
)
from stripewise.patterns import find_patterns, interleaved, moved_bytes, summaries
from stripewise.readers._files import NamesBelow

_NAMED = (PatternKind.DISTRIBUTED, PatternKind.MULTIPARTITION)
_Key = tuple[str, str, bool]
"""File, dataset ("" where only byte ranges are known), and whether it was written."""


def with_patterns(facts: ProgramFacts, evidence: Evidence, root: Path) -> ProgramFacts:
    """Add the patterns of a run, the one that moved most bytes first; unchanged without a trace.

    Args:
        facts: With the classes of files.
        evidence: Of the run.
        root: Directory of the run; globs of classes match names below it.
    """
    found = [p for p in find_patterns(evidence.accesses) if p.kind != PatternKind.EMPTY]
    if not found:
        return facts
    moved = _moved(found, evidence.accesses)
    name = NamesBelow(root)
    facts = replace(
        facts,
        patterns=summaries(
            found,
            lambda pattern: moved[id(pattern)],
            lambda pattern: _class_of(facts.file_classes, name(pattern.file)),
        ),
    )
    named = [p for p in found if p.kind in _NAMED]
    if not named:
        return facts
    pattern = max(named, key=lambda pattern: moved[id(pattern)])
    of_hdf5 = pattern.source == "hdf5" and bool(pattern.dataset)
    return replace(
        facts,
        pattern=pattern.notation,
        interleaved=interleaved(pattern),
        block=pattern.block if of_hdf5 else (),
        block_bytes=prod(pattern.block) * pattern.element_bytes if of_hdf5 else 0,
    )


def _class_of(classes: Sequence[FileClass], name: str) -> int:
    for number, one in enumerate(classes, start=1):
        if one.match and matches(one.match, name):
            return number
    return 0


def _moved(patterns: Sequence[Pattern], accesses: Iterable[Selections | Pieces]) -> dict[int, int]:
    """Return what was moved of each pattern, by its identity: as traced, where that is known.

    Patterns found in the same accesses share their bytes as their blocks and steps tell.
    """
    traced: Counter[_Key] = Counter()
    for access in accesses:
        dataset = access.dataset if isinstance(access, Selections) else ""
        traced[access.file, dataset, access.writing] += _bytes(access)
    told: Counter[_Key] = Counter()
    for pattern in patterns:
        told[_key(pattern)] += moved_bytes(pattern)
    return {
        id(one): round(moved_bytes(one) * traced[_key(one)] / told[_key(one)])
        if traced[_key(one)] and told[_key(one)]
        else traced[_key(one)] or moved_bytes(one)
        for one in patterns
    }


def _key(pattern: Pattern) -> _Key:
    pieces = pattern.source in ("view", "offsets")
    return pattern.file, "" if pieces else pattern.dataset, pattern.writing


def _bytes(access: Selections | Pieces) -> int:
    if isinstance(access, Pieces):
        return int((access.size * access.repeat).sum())
    elements = np.prod(access.count * access.block, axis=1, dtype=np.int64)
    return int(elements.sum()) * access.element_bytes
