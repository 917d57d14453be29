# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Find the pattern of each dataset and file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from stripewise.model import Pattern, PatternKind, Pieces, Selections
from stripewise.patterns._arrays import patterns_of_pieces
from stripewise.patterns._boxes import boxes_of
from stripewise.patterns._name import Finding
from stripewise.patterns._naming import find_finding, pattern_of, ranks_of_run


def find_patterns(accesses: Iterable[Selections | Pieces]) -> tuple[Pattern, ...]:
    """Find the pattern of every dataset (or file), reads and writes apart.

    Accesses of one dataset in one direction are taken together.  A file of which only byte
    ranges are known has one pattern for each array that is found in it.

    Args:
        accesses: Of all ranks.
    """
    found: list[Pattern] = []
    for access in _together(accesses):
        if isinstance(access, Pieces):
            found += patterns_of_pieces(access)
        else:
            found.append(_of_selections(access))
    return tuple(found)


def _together(accesses: Iterable[Selections | Pieces]) -> Iterator[Selections | Pieces]:
    """Join selections of one dataset that stand apart, as one that grows may."""
    groups: dict[object, list[Selections]] = {}
    pieces: dict[object, Pieces] = {}
    for access in accesses:
        if isinstance(access, Pieces):
            pieces[id(access)] = access
            groups[id(access)] = []
        else:
            key: object = (access.file, access.dataset, access.writing, access.start.shape[1])
            groups.setdefault(key, []).append(access)
    for key, parts in groups.items():
        yield _joined(parts) if parts else pieces[key]


def _joined(parts: Sequence[Selections]) -> Selections:
    if len(parts) == 1:
        return parts[0]
    columns = ("rank", "start", "stride", "count", "block", "order", "collective")
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in columns
    }
    extents = tuple(max(sizes) for sizes in zip(*(p.extents for p in parts), strict=True))
    notes = dict.fromkeys(note for part in parts for note in part.notes)
    return replace(
        parts[0], **arrays, extents=extents, notes=tuple(notes),
        n_ranks=max(part.n_ranks for part in parts),
        irregular=sum(part.irregular for part in parts),
    )  # fmt: skip


def _of_selections(access: Selections) -> Pattern:
    boxes = boxes_of(access)
    n_ranks = ranks_of_run(access.n_ranks, boxes.rank)
    extents = access.extents or (0,) * boxes.n_dims
    finding = find_finding(boxes, n_ranks, extents)
    notes = [*finding.notes, *access.notes]
    if access.irregular:
        if not access.notes:
            notes.append(f"{access.irregular} irregular selections are not part of it")
        if finding.kind == PatternKind.EMPTY:
            finding = replace(finding, kind=PatternKind.IRREGULAR)
    return replace(
        pattern_of(finding, boxes, n_ranks), file=access.file, dataset=access.dataset,
        writing=access.writing, extents=_extents(access.extents, finding),
        element_bytes=access.element_bytes, source=access.source, notes=tuple(notes),
        collective=float(access.collective.mean()) if access.collective.size else 0.0,
    )  # fmt: skip


def _extents(known: tuple[int, ...], finding: Finding) -> tuple[int, ...]:
    """Extents of the dataset; those that are not known are as large as what is moved."""
    ends = [end for _, end in finding.span]
    if not known:
        return tuple(ends)
    return tuple(n or end for n, end in zip(known, ends or known, strict=True))
