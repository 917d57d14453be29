# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What is compared as one thing: a file, or a directory that a library writes as one output."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from stripewise.verify._bytes import bytes_differ, directories_differ
from stripewise.verify.contents import FORMATS, ContentFormat
from stripewise.workspace import OutputFile, OutputSet

_MARKS = {one.mark: one for one in FORMATS if one.mark}


@dataclass(frozen=True)
class Unit:
    """One output.

    Attributes:
        path: Relative to the run's directory.
        size_bytes: Its length, of a directory that of all its members.
        is_link: A symbolic link, compared by its target.
        members: Of a directory, the names of its files that do not differ from run to run.
    """

    path: str
    size_bytes: int
    is_link: bool = False
    members: frozenset[str] = frozenset()


def units_of(outputs: OutputSet | Path) -> dict[str, Unit]:
    """Path to output, for the outputs of a run.

    A directory stands for the files in it that its library makes; others in it are their own.
    """
    given = outputs if isinstance(outputs, OutputSet) else _all_files(outputs)
    kinds = _directories(file.path for file in given.files)
    grouped: dict[str, list[OutputFile]] = {path: [] for path in kinds}
    units = {}
    for file in given.files:
        owner, name = os.path.split(file.path)
        if owner in kinds and _is_member(kinds[owner], name):
            grouped[owner].append(file)
        else:
            units[file.path] = Unit(file.path, file.size_bytes, file.is_link)
    for path, files in grouped.items():
        names = {os.path.basename(file.path) for file in files}
        members = frozenset(names - kinds[path].volatile)
        units[path] = Unit(path, sum(file.size_bytes for file in files), members=members)
    return units


def directory_of(outputs: OutputSet | Path) -> Path:
    """Where the outputs lie."""
    return outputs.directory if isinstance(outputs, OutputSet) else outputs


def unit_bytes_differ(one: Unit, two: Unit, first: Path, second: Path) -> str:
    """Say how two outputs differ, byte for byte; "" if they do not."""
    if bool(one.members) != bool(two.members):
        return "a directory and a file"
    if one.members:
        return directories_differ(first, second, (one.members, two.members))
    return bytes_differ(first, second)


def _directories(paths: Iterable[str]) -> dict[str, ContentFormat]:
    """Directories that hold a mark, with its format; the run's own directory is none."""
    found = (os.path.split(path) for path in paths)
    return {folder: _MARKS[name] for folder, name in found if folder and name in _MARKS}


def _is_member(kind: ContentFormat, name: str) -> bool:
    return kind.members is not None and bool(kind.members.fullmatch(name))


def _all_files(directory: Path) -> OutputSet:
    files = []
    for folder, folders, names in os.walk(directory):
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        for name in (*names, *links):
            path = os.path.join(folder, name)
            if os.path.islink(path):
                files.append(OutputFile(os.path.relpath(path, directory), 0, is_link=True))
            elif os.path.isfile(path):
                size = os.path.getsize(path)
                files.append(OutputFile(os.path.relpath(path, directory), size))
    return OutputSet(directory, tuple(sorted(files, key=lambda file: file.path)))
