# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What is compared as one thing: a file, or a directory that a library writes as one output."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePath

from stripewise.study._bytes import bytes_differ, directories_differ
from stripewise.study._sandbox import OutputFile, OutputSet
from stripewise.study.contents import FORMATS

_MARKS = {one.mark: one for one in FORMATS if one.mark}
_VOLATILE = frozenset().union(*(one.volatile for one in _MARKS.values()))


@dataclass(frozen=True)
class Unit:
    """One output.

    Attributes:
        path: Relative to the run's directory.
        size_bytes: Its length, of a directory that of all its files.
        is_link: A symbolic link, compared by its target.
        members: Of a directory, its files relative to it that do not differ from run to run.
    """

    path: str
    size_bytes: int
    is_link: bool = False
    members: frozenset[str] = frozenset()


def units_of(outputs: OutputSet | Path) -> dict[str, Unit]:
    """Path to output, for the outputs of a run (a directory stands for all files in it)."""
    given = outputs if isinstance(outputs, OutputSet) else _all_files(outputs)
    directories = _directories(file.path for file in given.files)
    grouped: dict[str, list[OutputFile]] = {path: [] for path in directories}
    units = {}
    for file in given.files:
        owner = next((d for d in directories if file.path.startswith(d + "/")), "")
        if owner:
            grouped[owner].append(file)
        else:
            units[file.path] = Unit(file.path, file.size_bytes, file.is_link)
    for path, files in grouped.items():
        inside = (file.path[len(path) + 1 :] for file in files)
        members = frozenset(name for name in inside if name not in _VOLATILE)
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


def _directories(paths: Iterable[str]) -> list[str]:
    """Directories that hold a mark, the outermost ones; the run's own directory is none."""
    marked = {os.path.dirname(path) for path in paths if os.path.basename(path) in _MARKS} - {""}
    return [path for path in sorted(marked) if not marked & set(map(str, PurePath(path).parents))]


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
