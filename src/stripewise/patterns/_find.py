# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Find the pattern of each dataset and file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
    groups: dict[object, list[Any]] = {}
    for access in accesses:
        key: object = id(access)
        if isinstance(access, Selections):  # of a dataset that grows they may stand apart
            key = (access.file, access.dataset, access.writing, access.start.shape[1])
        groups.setdefault(key, []).append(access)
    found: list[Pattern] = []
    for parts in groups.values():
        if isinstance(parts[0], Pieces):
            found += patterns_of_pieces(parts[0])
        else:
            found.append(_of_selections(_joined(parts)))
    return tuple(found)


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
    finding = find_finding(boxes, n_ranks, access.extents or (0,) * boxes.n_dims)
    if access.irregular and not access.notes:
        note = f"{access.irregular} irregular selections are not part of it"
        finding = replace(finding, notes=(*finding.notes, note))
    if access.irregular and finding.kind == PatternKind.EMPTY:
        finding = replace(finding, kind=PatternKind.IRREGULAR)
    return replace(
        pattern_of(access, finding, boxes, n_ranks), dataset=access.dataset,
        extents=_extents(access.extents, finding), element_bytes=access.element_bytes,
    )  # fmt: skip


def _extents(known: tuple[int, ...], finding: Finding) -> tuple[int, ...]:
    """Extents of the dataset; those that are not known are as large as what is moved."""
    ends = [end for _, end in finding.span]
    if not known:
        return tuple(ends)
    return tuple(n or end for n, end in zip(known, ends or known, strict=True))
