# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What is compared as one thing: a file, or a directory that a library writes as one output."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from stripewise.verify._bytes import bytes_differ, directories_differ
from stripewise.verify.contents import FORMATS, ContentFormat, format_of
from stripewise.workspace import OutputFile, OutputSet

_MARKS = {one.mark: one for one in FORMATS if one.mark}


@dataclass(frozen=True)
class Unit:
    """One output.

    Attributes:
        path: Relative to the run's directory.
        place: Where it lies.
        size_bytes: Its length, of a directory that of all its members.
        is_link: A symbolic link, compared by its target.
        members: Of a directory, the names of its files that do not differ from run to run.
    """

    path: str
    place: Path
    size_bytes: int
    is_link: bool = False
    members: frozenset[str] = frozenset()


def units_of(outputs: OutputSet) -> dict[str, Unit]:
    """Path to output, for the outputs of a run.

    A directory stands for the files in it that its library makes; others in it are their own.
    """
    kinds = _directories(file.path for file in outputs.files)
    grouped: dict[str, list[OutputFile]] = {path: [] for path in kinds}
    units = {}
    for file in outputs.files:
        owner, name = os.path.split(file.path)
        if owner in kinds and kinds[owner].members.fullmatch(name):
            grouped[owner].append(file)
        else:
            place = outputs.directory / file.path
            units[file.path] = Unit(file.path, place, file.size_bytes, file.is_link)
    for path, files in grouped.items():
        names = {os.path.basename(file.path) for file in files}
        members = frozenset(names - kinds[path].volatile)
        size = sum(file.size_bytes for file in files)
        units[path] = Unit(path, outputs.directory / path, size, members=members)
    return units


def format_of_units(one: Unit, two: Unit) -> ContentFormat | None:
    """Return the format of an output and of what it is compared with; a link has none."""
    return None if one.is_link or two.is_link else format_of(one.place)


def unit_bytes_differ(one: Unit, two: Unit) -> str:
    """Say how two outputs differ, byte for byte; "" if they do not."""
    if one.is_link or two.is_link:
        same = one.is_link == two.is_link and os.readlink(one.place) == os.readlink(two.place)
        return "" if same else "a link with another target"
    if bool(one.members) != bool(two.members):
        return "a directory and a file"
    if one.members:
        return directories_differ(one.place, two.place, (one.members, two.members))
    return bytes_differ(one.place, two.place)


def _directories(paths: Iterable[str]) -> dict[str, ContentFormat]:
    """Directories that hold a mark, with its format; the run's own directory is none."""
    found = (os.path.split(path) for path in paths)
    return {folder: _MARKS[name] for folder, name in found if folder and name in _MARKS}
