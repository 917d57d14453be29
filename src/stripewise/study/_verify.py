# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Whether a run wrote what the baseline writes.

Two baselines tell first what can be compared at all: what differs between them is not
verifiable.  Safe settings must leave every byte as it was; layout settings the content of
HDF5 files and every byte of all others.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from stripewise.model import Verification, VerificationStatus
from stripewise.study._hdf5_compare import compare_content, is_hdf5
from stripewise.study._sandbox import OutputFile, OutputSet

_BLOCK_BYTES = 8 << 20
_WHOLE = "/"


@dataclass(frozen=True)
class _Comparable:
    """How a file can be compared, by what two baselines have in common.

    Attributes:
        by_bytes: Bytewise: the baselines are the same bit for bit.
        ignore: HDF5 items that differ between the baselines, with what differs.
        reason: Why it cannot be compared at all; "" if it can.
        bytes_lost: Of its bytes, how many cannot be compared.
    """

    by_bytes: bool = True
    ignore: dict[str, str] = field(default_factory=dict)
    reason: str = ""
    bytes_lost: int = 0


class Reference:
    """Two baselines' outputs, compared with one another once, then with any candidate."""

    def __init__(self, first: OutputSet | Path, second: OutputSet | Path) -> None:
        """Compare the two baselines."""
        self.first = _output_set(first)
        self.second = _output_set(second)
        self._files = {file.path: file for file in self.first.files}
        others = {file.path: file for file in self.second.files}
        self._comparable = {
            path: self._compare_baselines(file, others[path])
            for path, file in self._files.items()
            if path in others
        }
        self._unstable = sorted(self._files.keys() ^ others.keys())

    def verify(self, candidate: OutputSet | Path, *, layout: bool) -> Verification:
        """Compare a candidate's outputs with the baselines'.

        Args:
            candidate: What the candidate's run wrote.
            layout: Whether its settings may change the layout of HDF5 files.
        """
        given = _output_set(candidate)
        files = {file.path: file for file in given.files}
        result = _Result()
        for path in self._unstable:
            result.not_verifiable[shown(path)] = "only one of the two baselines wrote it"
        for path, comparable in self._comparable.items():
            if path not in files:
                result.differences[shown(path)] = "missing: the baseline wrote it"
            else:
                self._compare_file(files[path], comparable, given.directory, layout, result)
        patterns = {_pattern(path) for path in self._unstable}
        for path in files.keys() - self._files.keys() - set(self._unstable):
            if _pattern(path) in patterns:
                result.not_verifiable[shown(path)] = "its name changes from run to run"
            else:
                result.differences[shown(path)] = "extra: the baseline did not write it"
        return result.conclude(self._share_lost())

    def _compare_baselines(self, one: OutputFile, two: OutputFile) -> _Comparable:
        if one.is_link or two.is_link:
            same = one.is_link == two.is_link and self._same_link(one.path, self.second.directory)
            reason = "" if same else "two baselines differ: a link with another target"
            return _Comparable(reason=reason)
        paths = self.first.directory / one.path, self.second.directory / two.path
        different = bytes_differ(*paths)
        if not different:
            return _Comparable()
        if not (is_hdf5(paths[0]) and is_hdf5(paths[1])):
            reason = f"two baselines differ: {different}"
            return _Comparable(reason=reason, bytes_lost=one.size_bytes)
        return _by_content(paths, one.size_bytes)

    def _same_link(self, path: str, directory: Path) -> bool:
        return os.readlink(self.first.directory / path) == os.readlink(directory / path)

    def _compare_file(
        self,
        file: OutputFile,
        comparable: _Comparable,
        directory: Path,
        layout: bool,
        result: _Result,
    ) -> None:
        name = shown(file.path)
        known = self._files[file.path]
        for item, reason in comparable.ignore.items():
            result.not_verifiable[f"{name} {item}"] = reason
        if file.is_link or known.is_link:
            same = file.is_link == known.is_link and self._same_link(file.path, directory)
            different = "" if same else "a link with another target"
        elif comparable.reason:
            result.not_verifiable[name] = comparable.reason
            if known.size_bytes and not file.size_bytes:
                result.differences[name] = f"empty: the baseline wrote {known.size_bytes} bytes"
            return
        else:
            different = self._contents_differ(file.path, comparable, directory, layout, result)
        if different:
            result.differences[name] = different
        else:
            result.compared.append(name)

    def _contents_differ(
        self, path: str, comparable: _Comparable, directory: Path, layout: bool, result: _Result
    ) -> str:
        paths = self.first.directory / path, directory / path
        different = bytes_differ(*paths) if comparable.by_bytes else "by content only"
        if not different:
            return ""
        hdf5 = is_hdf5(paths[0])
        if not hdf5 or (comparable.by_bytes and not layout):
            return different + _content_hint(paths, hdf5)
        if not is_hdf5(paths[1]):
            return "not an HDF5 file, the baseline's is"
        result.same_content = True
        content = compare_content(*paths, ignore=comparable.ignore)
        if _WHOLE in content.unknown and not content.differences:
            return content.unknown[_WHOLE]
        for item, why in content.unknown.items():
            result.not_verifiable[f"{shown(path)} {item}"] = why
        return _summary(content.differences)

    def _share_lost(self) -> float:
        """Share of the output's bytes that cannot be compared."""
        total = self.first.size_bytes
        lost = sum(comparable.bytes_lost for comparable in self._comparable.values())
        lost += sum(self._files[path].size_bytes for path in self._unstable if path in self._files)
        return min(1.0, lost / total) if total else 0.0


@dataclass
class _Result:
    compared: list[str] = field(default_factory=list)
    not_verifiable: dict[str, str] = field(default_factory=dict)
    differences: dict[str, str] = field(default_factory=dict)
    same_content: bool = False

    def conclude(self, share_lost: float) -> Verification:
        """Outcome over all files."""
        if self.differences:
            status = VerificationStatus.DIFFERENT
        elif not self.compared or share_lost > 0.5:
            status = VerificationStatus.NOT_VERIFIABLE
            if not self.not_verifiable:
                self.not_verifiable["(all)"] = "the program wrote no file in its directory"
        elif self.same_content:
            status = VerificationStatus.SAME_CONTENT
        else:
            status = VerificationStatus.IDENTICAL
        return Verification(
            status, tuple(sorted(self.compared)), self.not_verifiable, self.differences
        )


def compare(
    baseline_a: OutputSet | Path,
    baseline_b: OutputSet | Path,
    candidate: OutputSet | Path,
    *,
    layout: bool,
) -> Verification:
    """Verify one candidate; use `Reference` for several."""
    return Reference(baseline_a, baseline_b).verify(candidate, layout=layout)


def bytes_differ(first: Path, second: Path) -> str:
    """Say how two files differ, the first offset included; "" if they do not.

    A file that cannot be read differs.
    """
    try:
        with first.open("rb", buffering=0) as one, second.open("rb", buffering=0) as two:
            sizes = os.fstat(one.fileno()).st_size, os.fstat(two.fileno()).st_size
            offset = _first_difference(one.fileno(), two.fileno(), min(sizes))
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"
    if offset is None and sizes[0] == sizes[1]:
        return ""
    place = f"first at offset {offset}" if offset is not None else "otherwise the same"
    if sizes[0] != sizes[1]:
        return f"{sizes[0]} and {sizes[1]} bytes, {place}"
    return f"bytes differ, {place}"


def _first_difference(one: int, two: int, size: int) -> int | None:
    position = 0
    while position < size:
        wanted = min(_BLOCK_BYTES, size - position)
        a, b = _read_fully(one, wanted), _read_fully(two, wanted)
        if a != b:
            length = min(len(a), len(b))
            unequal = np.frombuffer(a, np.uint8, length) != np.frombuffer(b, np.uint8, length)
            return position + (int(unequal.argmax()) if unequal.any() else length)
        if not a:
            return None
        position += len(a)
    return None


def _read_fully(file: int, wanted: int) -> bytes:
    data = os.read(file, wanted)
    while len(data) < wanted and (more := os.read(file, wanted - len(data))):
        data += more
    return data


def _by_content(paths: tuple[Path, Path], size: int) -> _Comparable:
    content = compare_content(*paths)
    if _WHOLE in content.unknown:
        reason = f"two baselines differ, and it {content.unknown[_WHOLE]}"
        return _Comparable(by_bytes=False, reason=reason, bytes_lost=size)
    ignore = {item: f"two baselines differ: {what}" for item, what in content.differences.items()}
    ignore.update(content.unknown)
    lost = sum(content.bytes_of.get(item, 0) for item in ignore)
    return _Comparable(by_bytes=False, ignore=ignore, bytes_lost=min(lost, size))


def _content_hint(paths: tuple[Path, Path], hdf5: bool) -> str:
    if not hdf5 or not is_hdf5(paths[1]):
        return ""
    content = compare_content(*paths)
    if content.differences:
        return f" (HDF5 content: {_summary(content.differences)})"
    return "" if content.unknown else " (the HDF5 content is the same)"


def _summary(differences: dict[str, str]) -> str:
    shown_first = [f"{item}: {what}" for item, what in list(differences.items())[:3]]
    more = len(differences) - len(shown_first)
    return "; ".join(shown_first) + (f"; and {more} more" if more else "")


def _output_set(outputs: OutputSet | Path) -> OutputSet:
    """Take a directory for all the files in it."""
    if isinstance(outputs, OutputSet):
        return outputs
    files = []
    for folder, folders, names in os.walk(outputs):
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        for name in (*names, *links):
            path = os.path.join(folder, name)
            if os.path.islink(path):
                files.append(OutputFile(os.path.relpath(path, outputs), 0, is_link=True))
            elif os.path.isfile(path):
                size = os.path.getsize(path)
                files.append(OutputFile(os.path.relpath(path, outputs), size))
    return OutputSet(outputs, tuple(sorted(files, key=lambda file: file.path)))


def _pattern(path: str) -> str:
    """A file name without the numbers in it (process ids, times, unique suffixes)."""
    return re.sub(r"[0-9A-Fa-f]*\d[0-9A-Fa-f]*", "#", path)


def shown(path: str) -> str:
    """Show a path of any bytes."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
