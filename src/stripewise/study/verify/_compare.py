# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Compares a run's outputs with the baseline's, by bytes or by content.

Two baselines determine what can be compared at all: differences between them are not verifiable.
Safe settings must leave every byte unchanged; layout settings must preserve the content of
outputs in a readable format, and every byte of all others.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from stripewise.core import Verification, VerificationStatus
from stripewise.evidence.readers import prints_of_mpi
from stripewise.study.verify._adios import AdiosBp
from stripewise.study.verify._base import WHOLE, ContentFormat, Pair
from stripewise.study.verify._hdf5 import Hdf5
from stripewise.study.verify._netcdf import ClassicNetcdf
from stripewise.study.verify._written import Written
from stripewise.study.workspace import OutputFile, OutputSet

_MOST_UNSTABLE = 100_000
"""Number of items differing between baselines above which content is not comparable."""
NO_FILE = "(all)"
"""Stands for the outputs if there are none."""
_OF_MPI = "a log in which MPI prints its settings and statistics, which settings change"
_MOST_NOTES = 100
"""Maximum number of items of one output that are listed as not verifiable."""


@dataclass(frozen=True)
class _Comparable:
    """Way in which an output can be compared, based on two baselines.

    Attributes:
        by_bytes: Whether it is compared bytewise: the baselines are the same bit for bit.
        ignore: Items of its content that differ between the baselines, with how they differ.
        reason: Why it cannot be compared at all; empty if it can.
        no_reader: Whether it could be compared by content if its reader were installed.
        bytes_lost: Number of its bytes that cannot be compared.
        holes: Items to their bytes that differ between the baselines but no rank wrote.
    """

    by_bytes: bool = True
    ignore: dict[str, str] = field(default_factory=dict)
    reason: str = ""
    no_reader: bool = False
    bytes_lost: int = 0
    holes: dict[str, int] = field(default_factory=dict)


class BaselineOutputs:
    """Outputs of two baselines, compared with each other once, then with any candidate."""

    def __init__(
        self,
        first: OutputSet,
        second: OutputSet,
        written: Callable[[], Mapping[str, Written]] = dict,
    ) -> None:
        """Compare the two baselines.

        Args:
            first: Outputs of a baseline run.
            second: Outputs of another baseline run.
            written: Returns what the program writes to each file, if known; called only if
                something differs.
        """
        self._written = cache(written)
        self._files = units_of(first)
        others = units_of(second)
        self._comparable = {
            path: self._compare_baselines(file, others[path])
            for path, file in self._files.items()
            if path in others
        }
        self._unstable = sorted(self._files.keys() ^ others.keys())
        self._unreadable: dict[str, dict[str, str]] = {}

    def verify(self, candidate: OutputSet, *, layout: bool) -> Verification:
        """Compare a candidate's outputs with the baselines'.

        Args:
            candidate: Outputs of the candidate's run.
            layout: Whether its settings may change the layout of the same content.
        """
        files = units_of(candidate)
        result = _Result()
        for path in self._unstable:
            result.not_verifiable[shown(path)] = "only one of the two baselines wrote it"
        for path, comparable in self._comparable.items():
            if path not in files:
                result.differences[shown(path)] = "missing: the baseline wrote it"
            else:
                self._compare_file(files[path], comparable, layout, result)
        patterns = {_pattern(path) for path in self._unstable}
        for path in files.keys() - self._files.keys() - set(self._unstable):
            if _pattern(path) in patterns:
                result.not_verifiable[shown(path)] = "its name changes from run to run"
            else:
                result.differences[shown(path)] = "extra: the baseline did not write it"
        return result.conclude(self._share_lost(result.bytes_lost))

    def _compare_baselines(self, one: Unit, two: Unit) -> _Comparable:
        different, holes = self._bytes_differ(one, two)
        if not different and prints_of_mpi(one.place):
            return _Comparable(reason=_OF_MPI)
        if not different:
            return _Comparable(holes=holes)
        kind = format_of_units(one, two)
        if kind is None or not kind.matches(two.place):
            reason = f"two baselines differ: {different}"
            return _Comparable(reason=reason, bytes_lost=one.size_bytes)
        if problem := kind.problem():
            return _Comparable(reason=problem, no_reader=True, bytes_lost=one.size_bytes)
        return _by_content(kind, one, two, self._written().get(one.path))

    def _bytes_differ(self, one: Unit, two: Unit) -> tuple[str, dict[str, int]]:
        """Return how two outputs differ, without bytes that no rank wrote; and those, by item."""
        different = unit_bytes_differ(one, two)
        written = self._written().get(one.path) if different else None
        if written is None or one.is_link or one.members or one.size_bytes != two.size_bytes:
            return different, {}
        try:
            holes = _holes(written, one.place, two.place)
            apart = bytes_apart(one.place, two.place)
        except (OSError, ValueError):
            return different, {}
        return ("", holes) if sum(holes.values()) == apart else (different, {})

    def _compare_file(
        self, file: Unit, comparable: _Comparable, layout: bool, result: _Result
    ) -> None:
        name = shown(file.path)
        known = self._files[file.path]
        result.note(name, comparable.ignore)
        if comparable.no_reader and layout:
            different = comparable.reason
        elif comparable.reason:
            result.not_verifiable[name] = comparable.reason
            if known.size_bytes and not file.size_bytes:
                result.differences[name] = f"empty: the baseline wrote {known.size_bytes} bytes"
            return
        else:
            different = self._contents_differ(known, file, comparable, layout, result)
        if different:
            result.differences[name] = different
        else:
            result.compared.append(name)

    def _contents_differ(
        self, known: Unit, file: Unit, comparable: _Comparable, layout: bool, result: _Result
    ) -> str:
        name = shown(file.path)
        different, holes = "by content only", dict[str, int]()
        if comparable.by_bytes:
            different, holes = self._bytes_differ(known, file)
        if not different:
            result.note_holes(name, comparable.holes | holes)
            return ""
        kind = format_of_units(known, file)
        if kind is None or (comparable.by_bytes and not layout):
            return different + _content_hint(kind, known, file)
        if not kind.matches(file.place):
            return f"not {kind.noun}, the baseline's is"
        if problem := kind.problem():
            return problem
        result.same_content = True
        written = self._written().get(file.path)
        pair = Pair(known.place, file.place, comparable.ignore, written=written)
        content = kind.differences(pair)
        result.note_holes(name, comparable.holes | content.holes)
        if WHOLE in content.unknown and not content.differences:
            return content.unknown[WHOLE]
        never = self._never_readable(known, kind) if content.unknown else {}
        notes = {item: why for item, why in content.unknown.items() if item in never}
        result.note(name, notes)
        lost = sum(content.bytes_of.get(item, 0) for item in notes)
        result.bytes_lost += min(lost, known.size_bytes - comparable.bytes_lost)
        damaged = {item: why for item, why in content.unknown.items() if item not in notes}
        return _summary(content.differences | damaged)

    def _never_readable(self, known: Unit, kind: ContentFormat) -> dict[str, str]:
        """Return the items that cannot be read in the baseline either, with the reason."""
        if known.path not in self._unreadable:
            itself = kind.differences(Pair(known.place, known.place))
            self._unreadable[known.path] = itself.unknown
        return self._unreadable[known.path]

    def _share_lost(self, lost: int) -> float:
        """Return the share of the output's bytes that cannot be compared."""
        total = sum(file.size_bytes for file in self._files.values())
        lost += sum(comparable.bytes_lost for comparable in self._comparable.values())
        lost += sum(self._files[path].size_bytes for path in self._unstable if path in self._files)
        return min(1.0, lost / total) if total else 0.0


@dataclass
class _Result:
    compared: list[str] = field(default_factory=list)
    not_verifiable: dict[str, str] = field(default_factory=dict)
    differences: dict[str, str] = field(default_factory=dict)
    same_content: bool = False
    bytes_lost: int = 0

    def note(self, name: str, items: Mapping[str, str]) -> None:
        """Record the items of an output that are not verifiable."""
        for item, reason in islice(items.items(), _MOST_NOTES):
            self.not_verifiable[f"{name} {item}"] = reason
        if (more := len(items) - _MOST_NOTES) > 0:
            self.not_verifiable[f"{name} (more)"] = f"{more} more items"

    def note_holes(self, name: str, holes: Mapping[str, int]) -> None:
        """Record the bytes that differ but no rank wrote: the content is the same."""
        self.same_content = self.same_content or bool(holes)
        for item, size in islice(holes.items(), _MOST_NOTES):
            where = f"{name} {item}" if item != WHOLE else name
            self.not_verifiable[f"{where} (holes)"] = (
                f"{size} bytes differ that no rank wrote; they do not count"
            )

    def conclude(self, share_lost: float) -> Verification:
        """Return the outcome over all files."""
        if self.differences:
            status = VerificationStatus.DIFFERENT
        elif not self.compared or share_lost > 0.5:
            status = VerificationStatus.NOT_VERIFIABLE
            if not self.not_verifiable:
                self.not_verifiable[NO_FILE] = "the program wrote no file in its directory"
        elif self.same_content:
            status = VerificationStatus.SAME_CONTENT
        else:
            status = VerificationStatus.IDENTICAL
        return Verification(
            status, tuple(sorted(self.compared)), self.not_verifiable, self.differences
        )


def _holes(written: Written, first: Path, second: Path) -> dict[str, int]:
    """Return, by item, the bytes that differ between two files and no rank wrote."""
    if written.ranges is not None:
        return {WHOLE: bytes_apart(first, second, written.ranges)}
    kind = format_of(first)
    if kind is None or kind.problem():
        return {}
    return kind.differences(Pair(first, second, written=written)).holes


def _by_content(kind: ContentFormat, one: Unit, two: Unit, written: Written | None) -> _Comparable:
    size = one.size_bytes
    pair = Pair(one.place, two.place, most=_MOST_UNSTABLE, written=written)
    content = kind.differences(pair)
    reason = ""
    if WHOLE in content.unknown:
        reason = f"two baselines differ, and it {content.unknown[WHOLE]}"
    elif WHOLE in content.differences:
        reason = f"two baselines differ: {content.differences[WHOLE]}"
    elif content.cut:
        reason = f"two baselines differ in {_MOST_UNSTABLE} items or more"
    if reason:
        return _Comparable(by_bytes=False, reason=reason, bytes_lost=size)
    ignore = {item: f"two baselines differ: {what}" for item, what in content.differences.items()}
    ignore.update(content.unknown)
    lost = sum(content.bytes_of.get(item, 0) for item in ignore)
    return _Comparable(False, ignore, bytes_lost=min(lost, size), holes=content.holes)


def _content_hint(kind: ContentFormat | None, known: Unit, file: Unit) -> str:
    if kind is None or not kind.matches(file.place) or kind.problem():
        return ""
    content = kind.differences(Pair(known.place, file.place))
    if content.differences:
        return f" ({kind.title} content: {_summary(content.differences)})"
    return "" if content.unknown else f" (the {kind.title} content is the same)"


def _summary(differences: dict[str, str]) -> str:
    shown_first = [f"{item}: {what}" for item, what in list(differences.items())[:3]]
    more = len(differences) - len(shown_first)
    return "; ".join(shown_first) + (f"; and {more} more" if more else "")


def _pattern(path: str) -> str:
    """Return a file name without its numbers (process ids, times, unique suffixes)."""
    return re.sub(r"[0-9A-Fa-f]*\d[0-9A-Fa-f]*", "#", path)


def shown(path: str) -> str:
    """Return a path in printable form, whatever its bytes."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def unreadable(outputs: OutputSet) -> str:
    """Return why one of the outputs cannot be compared by content here; empty if all can."""
    for path, unit in units_of(outputs).items():
        kind = format_of(unit.place)
        if kind is not None and (problem := kind.problem()):
            return f"{shown(path)} is {kind.noun}: {problem}"
    return ""


# Bytewise comparison of outputs.

_BLOCK_BYTES = 8 << 20


def bytes_differ(first: Path, second: Path) -> str:
    """Return how two files differ, with the first offset; empty if they do not.

    A file that cannot be read counts as different.
    """
    try:
        sizes = first.stat().st_size, second.stat().st_size
        offset = _first_difference(first, second)
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"
    if offset is None:
        return ""
    place = f"first at offset {offset}" if offset < min(sizes) else "otherwise the same"
    if sizes[0] != sizes[1]:
        return f"{sizes[0]} and {sizes[1]} bytes, {place}"
    return f"bytes differ, {place}"


def _first_difference(first: Path, second: Path) -> int | None:
    """Return the offset of the first byte that differs, or that only one of the files has."""
    for position, a, b in _blocks(first, second):
        if a != b:
            length = min(len(a), len(b))
            unequal = np.frombuffer(a, np.uint8, length) != np.frombuffer(b, np.uint8, length)
            return position + (int(unequal.argmax()) if unequal.any() else length)
    return None


def _blocks(first: Path, second: Path) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield blocks of two files up to the end of the longer one: offset, bytes of each."""
    with first.open("rb") as one, second.open("rb") as two:
        for position in itertools.count(0, _BLOCK_BYTES):
            a, b = one.read(_BLOCK_BYTES), two.read(_BLOCK_BYTES)
            if not a and not b:
                return
            yield position, a, b


def bytes_apart(first: Path, second: Path, ranges: NDArray[np.int64] | None = None) -> int:
    """Return the number of differing bytes of two files of one length, outside of some ranges.

    Args:
        first: Path of a file.
        second: Path of another file.
        ranges: (n, 2) int64, begin and end, disjoint and ascending; None for none.

    Raises:
        OSError: A file cannot be read.
        ValueError: The files have different lengths.
    """
    number = 0
    for position, a, b in _blocks(first, second):
        if len(a) != len(b):
            raise ValueError(f"{first} and {second} are of different lengths")
        if a != b:
            apart = np.frombuffer(a, np.uint8) != np.frombuffer(b, np.uint8)
            places = position + np.flatnonzero(apart)
            number += len(places) - (0 if ranges is None else _inside(places, ranges))
    return number


def _inside(places: NDArray[np.int64], ranges: NDArray[np.int64]) -> int:
    before = np.searchsorted(ranges[:, 0], places, side="right") - 1
    return int(((before >= 0) & (places < ranges[before, 1])).sum()) if len(ranges) else 0


def directories_differ(
    first: Path, second: Path, names: tuple[frozenset[str], frozenset[str]]
) -> str:
    """Return how two directories differ that are one output each; empty if they do not.

    Args:
        first: Path of a directory.
        second: Path of another directory.
        names: Relevant files of each, relative to it.
    """
    for name in sorted(names[0] ^ names[1]):
        return f"{name} is {'missing' if name in names[0] else 'new'}"
    for name in sorted(names[0]):
        if different := bytes_differ(first / name, second / name):
            return f"{name}: {different}"
    return ""


# Registry of the formats.

FORMATS: tuple[ContentFormat, ...] = (AdiosBp(), ClassicNetcdf(), Hdf5())


def format_of(path: Path) -> ContentFormat | None:
    """Return the format of an output; None if it is in none of the known formats."""
    return next((one for one in FORMATS if one.matches(path)), None)


# Outputs that are compared as a unit: files, and directories that a library writes as one output.

_MARKS = {one.mark: one for one in FORMATS if one.mark}


@dataclass(frozen=True)
class Unit:
    """One output of a run.

    Attributes:
        path: Path relative to the run's directory.
        place: Absolute path.
        size_bytes: Length; for a directory the sum over its members.
        is_link: Whether it is a symbolic link, which is compared by its target.
        members: Names of a directory's files that do not differ from run to run.
    """

    path: str
    place: Path
    size_bytes: int
    is_link: bool = False
    members: frozenset[str] = frozenset()


def units_of(outputs: OutputSet) -> dict[str, Unit]:
    """Return the outputs of a run by their paths.

    A directory represents the files that its library creates in it; others are separate outputs.
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
    """Return the format of an output and of its counterpart; links have none."""
    return None if one.is_link or two.is_link else format_of(one.place)


def unit_bytes_differ(one: Unit, two: Unit) -> str:
    """Return how two outputs differ, byte for byte; empty if they do not."""
    if one.is_link or two.is_link:
        same = one.is_link == two.is_link and os.readlink(one.place) == os.readlink(two.place)
        return "" if same else "a link with another target"
    if bool(one.members) != bool(two.members):
        return "a directory and a file"
    if one.members:
        return directories_differ(one.place, two.place, (one.members, two.members))
    return bytes_differ(one.place, two.place)


def _directories(paths: Iterable[str]) -> dict[str, ContentFormat]:
    """Return the directories with a format's mark, with its format, except the run's own."""
    found = (os.path.split(path) for path in paths)
    return {folder: _MARKS[name] for folder, name in found if folder and name in _MARKS}
