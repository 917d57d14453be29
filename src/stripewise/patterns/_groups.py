# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Datasets of one pattern together, under one name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from stripewise.model import Pattern


@dataclass(frozen=True)
class PatternGroup:
    """Datasets, or files, of the same pattern.

    Attributes:
        pattern: Of the first one.
        members: (file, dataset) of each.
    """

    pattern: Pattern
    members: tuple[tuple[str, str], ...]

    @property
    def name(self) -> str:
        """`out.h5:/unk_*`; the path of the file is given in full."""
        files = [file for file, _ in self.members]
        datasets = [dataset for _, dataset in self.members]
        if not any(datasets):
            return common_name(files)
        return f"{common_name(files)}:{common_name(datasets)}"


def group_patterns(patterns: Iterable[Pattern]) -> list[PatternGroup]:
    """Put together the datasets, of one file or of several, whose patterns are equal."""
    groups: dict[Pattern, list[Pattern]] = {}
    for pattern in patterns:
        anywhere = replace(pattern, file="", dataset="", file_offset=0)
        groups.setdefault(anywhere, []).append(pattern)
    return [
        PatternGroup(members[0], tuple((one.file, one.dataset) for one in members))
        for members in groups.values()
    ]


def common_name(names: Sequence[str]) -> str:
    """Return what names have in common, with * for what they do not."""
    different = sorted(set(names))
    if len(different) == 1:
        return different[0]
    before = _common_start(different)
    after = _common_start([name[len(before) :][::-1] for name in different])[::-1]
    return f"{before}*{after}"


def _common_start(names: Sequence[str]) -> str:
    alike = takewhile(lambda column: len(set(column)) == 1, zip(*names, strict=False))
    return "".join(column[0] for column in alike)
