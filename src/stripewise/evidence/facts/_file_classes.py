# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Divides files into classes by glob, and describes how the ranks divide the data of each."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.core import FileClass, ProgramFacts
from stripewise.evidence.facts._files import NamesBelow, owners, system_rows
from stripewise.evidence.patterns import (
    Pattern,
    PatternKind,
    find_patterns,
    interleaved,
    moved_bytes,
    summaries,
)
from stripewise.evidence.trace import (
    ALL_RANKS,
    COLLECTIVE_OPS,
    DATA_OPS,
    SYSTEM_LAYERS,
    Evidence,
    FileFlag,
    IoLayer,
    Pieces,
    RunProfile,
    Selections,
    groups,
    requested_bytes,
)
from stripewise.present import printable, size_text
from stripewise.settings.formats import literal_glob, matches

REAL_SHARE = 0.1
"""Share of the I/O time below which a class is not worth settings of its own (chosen)."""
APART = 8.0
"""Factor by which the sizes of requests, or the ratios of bytes that reach the storage, of files
with different behaviour differ (chosen).
"""
_NAMES = {
    "posix": "POSIX", "stdio": "stdio", "mpiio": "MPI-IO", "pnetcdf": "PnetCDF", "hdf5": "HDF5",
    "adios2": "ADIOS2",
}  # fmt: skip
_MANIFOLD = 2.0
"""Amplification of bytes below which the phrase does not mention it."""


@dataclass(frozen=True)
class _File:
    """One file: its name below the run's directory, and its behaviour as a file class."""

    name: str
    behaviour: FileClass
    seconds: float

    @property
    def kind(self) -> FileClass:
        """Properties that are the same for all files of a class."""
        return replace(self.behaviour, call_bytes=0, amplification=0.0)


def file_classes(profile: RunProfile, root: Path) -> tuple[FileClass, ...]:
    """Divide files into classes, the one with most I/O time first.

    Returns:
        Classes with a relevant share of the I/O time; none unless at least two of them behave
        differently.

    Args:
        profile: Profile of the run.
        root: Directory of the run; names are relative to it.
    """
    files = list(_files(profile, root))
    seconds = sum(file.seconds for file in files)
    groups = [g for g in _groups(files) if _seconds(g) >= REAL_SHARE * seconds > 0]
    if len(groups) < 2:
        return ()
    seen = [file.name for file in files]
    found = [_class(part, match, seconds) for g in groups for part, match in _named(g, seen)]
    real = [one for one in found if one.io_share >= REAL_SHARE]
    return tuple(sorted(real, key=lambda one: (-one.io_share, one.match)))


def _files(profile: RunProfile, root: Path) -> Iterator[_File]:
    rows, name = profile.counters, NamesBelow(root)
    for (path,), places in groups(owners(rows, profile.paths)):
        own, by = rows[places], profile.actors[places]
        used = own["count"][:, DATA_OPS].any(axis=1)
        if used.any() and requested_bytes(own).any():
            yield _File(
                name(profile.paths[path]),
                _behaviour(profile, own[used], by[used], own),
                float(own["outermost_seconds"].sum()),
            )


def _behaviour(
    profile: RunProfile, used: NDArray[Any], actors: NDArray[np.int64], rows: NDArray[Any]
) -> FileClass:
    """Describe a file by its `rows`, of which those in `used` moved data."""
    read = int(rows["outermost_read_bytes"].sum())
    written = int(rows["outermost_write_bytes"].sum())
    layers = sorted({IoLayer(int(layer)) for layer in used["layer"]}, reverse=True)
    if len(layers) > 1:
        layers = [layer for layer in layers if layer not in SYSTEM_LAYERS] or layers[:1]
    top = used[used["layer"] == layers[0]]
    mpiio = used[used["layer"] == IoLayer.MPIIO]
    system = system_rows(profile, rows)["bytes"][:, DATA_OPS].sum()
    together = int(mpiio["bytes"][:, COLLECTIVE_OPS].sum())
    return FileClass(
        match="",
        layers=tuple(layer.name.lower() for layer in layers),
        writes=written >= REAL_SHARE * (read + written),
        reads=read >= REAL_SHARE * (read + written),
        collective=2 * together > int(mpiio["bytes"][:, DATA_OPS].sum()),
        noncontiguous=bool((mpiio["flags"] & FileFlag.INTERLEAVED).any()),
        shared=bool((actors == ALL_RANKS).any() or len(np.unique(actors)) > 1),
        amplification=round(float(system / (read + written)), 2),
        call_bytes=int(top["bytes"][:, DATA_OPS].sum() / top["count"][:, DATA_OPS].sum()),
    )


def _groups(files: Sequence[_File]) -> Iterator[list[_File]]:
    """Yield groups of files that behave alike, without wide gaps between their figures."""
    alike: dict[FileClass, list[_File]] = defaultdict(list)
    for file in files:
        alike[file.kind].append(file)
    for group in alike.values():
        for part in _split_at_gaps(group, lambda file: file.behaviour.call_bytes):
            yield from _split_at_gaps(part, lambda file: file.behaviour.amplification)


def _split_at_gaps(files: list[_File], figure: Callable[[_File], float]) -> Iterator[list[_File]]:
    """Split files where the figure of one is many times that of the next smaller one."""
    ordered = sorted(files, key=figure)
    part = ordered[:1]
    for before, file in pairwise(ordered):
        if figure(file) >= APART * max(1.0, figure(before)):
            yield part
            part = []
        part.append(file)
    yield part


def _named(group: list[_File], seen: Sequence[str]) -> Iterator[tuple[list[_File], str]]:
    """Yield a group with its glob; split by families of names if no one glob fits all of it."""
    match = glob_of([file.name for file in group], seen)
    if match:
        yield group, match
        return
    families: dict[str, list[_File]] = defaultdict(list)
    for file in group:
        families[file_family(file.name)].append(file)
    for part in families.values():
        yield part, glob_of([file.name for file in part], seen)


def _class(files: Sequence[_File], match: str, seconds: float) -> FileClass:
    middle = sorted(files, key=lambda file: file.behaviour.call_bytes)[len(files) // 2]
    return replace(
        middle.behaviour,
        match=match,
        n_files=len(files),
        io_share=round(_seconds(files) / seconds, 4),
    )


def _seconds(files: Sequence[_File]) -> float:
    return sum(file.seconds for file in files)


def class_phrase(files: FileClass) -> str:
    """Return a phrase on the files and how they are used.

    Example: "plt*.h5 (3 files written through HDF5 and MPI-IO, collective, each shared by ranks, 1
        MiB a call, 61 % of the I/O time)"
    """
    ways = " and ".join(
        word for word, used in (("written", files.writes), ("read", files.reads)) if used
    )
    through = " and ".join(_NAMES.get(layer, layer) for layer in files.layers)
    phrases = [f"{files.n_files} file{'' if files.n_files == 1 else 's'} {ways} through {through}"]
    if "mpiio" in files.layers:
        phrases.append("collective" if files.collective else "independent")
    if files.noncontiguous:
        phrases.append("in pieces that lie apart")
    phrases.append("shared by ranks" if files.shared else "each used by one rank")
    phrases.append(f"{size_text(files.call_bytes)} a call")
    if files.amplification >= _MANIFOLD:
        phrases.append(f"{files.amplification:.0f} times the bytes at the storage")
    phrases.append(f"{100 * files.io_share:.0f} % of the I/O time")
    name = printable(files.match) if files.match else "no name of their own"
    return f"{name} ({', '.join(phrases)})"


# Names of files, generalised to a glob that is not too wide.

_DEPTH = 3
"""Maximum number of components of a path in a glob."""
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]*$")
_NUMBER = re.compile(r"\d+(?![A-Za-z\d])")
"""Digits that count something, unlike those in `2d` or `x86_64a`."""
_SOLID = re.compile(r"[A-Za-z0-9]")
_LEAST_SOLID = 2
"""Minimum number of letters and digits in a glob of several kinds of names; `*` has none."""


def file_family(name: str, number: str = "*") -> str:
    """Return the glob of the names that differ from this one only by numbers.

    Args:
        name: Name of a file.
        number: Glob that replaces a number.
    """
    return _general(name, number)


def glob_of(names: Sequence[str], seen: Sequence[str]) -> str:
    """Return a glob that matches these files and no other seen one; empty if there is none.

    Args:
        names: Paths below the run's directory; numbers in them may differ between runs.
        seen: Paths of all files, including these.
    """
    own = set(names)
    others = [name for name in seen if name not in own]
    for depth in range(1, _DEPTH + 1):
        tails = list(dict.fromkeys("/".join(name.split("/")[-depth:]) for name in names))
        for glob in _candidates(tails):
            if glob.isprintable() and _is_exact(glob, names, others):
                return glob
    return ""


def _is_exact(glob: str, names: Sequence[str], others: Sequence[str]) -> bool:
    return all(matches(glob, n) for n in names) and not any(matches(glob, n) for n in others)


def _candidates(tails: Sequence[str]) -> Iterator[str]:
    """Yield globs for these ends of paths, the most general first."""
    families = sorted({file_family(tail) for tail in tails})
    if len(families) == 1:
        yield from (families[0], _general(tails[0], "[0-9]*"))
        if len(tails) == 1:
            yield literal_glob(tails[0])
        return
    start = _common_start(families)
    end = _common_start([glob[len(start) :][::-1] for glob in families])[::-1]
    if len(_SOLID.findall(start + end)) >= _LEAST_SOLID:
        yield f"{start.rstrip('*')}*{end.lstrip('*')}"


def _common_start(texts: Sequence[str]) -> str:
    equal = (len(set(letters)) == 1 for letters in zip(*texts, strict=False))
    return texts[0][: sum(takewhile(bool, equal))]


def _general(path: str, number: str) -> str:
    return "/".join(_general_component(part, number) for part in path.split("/"))


def _general_component(name: str, number: str) -> str:
    extension = _EXTENSION.search(name)
    stem = name[: extension.start()] if extension else name
    text = number.join(literal_glob(part) for part in _NUMBER.split(stem))
    return text + (literal_glob(extension.group()) if extension else "")


# Facts from the trace of a run: how the ranks divide the data of each file class.

_NAMED = (PatternKind.DISTRIBUTED, PatternKind.MULTIPARTITION)
_Key = tuple[str, str, bool]
"""File, dataset (empty if only byte ranges are known), and whether it was written."""


def with_patterns(facts: ProgramFacts, evidence: Evidence, root: Path) -> ProgramFacts:
    """Add the patterns of a run, most bytes first; without a trace the facts are unchanged.

    Args:
        facts: Facts with the classes of files.
        evidence: Evidence of the run.
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
    """Return the bytes moved with each pattern by its identity, as traced if that is known.

    Patterns found in the same accesses share their bytes in proportion to their blocks and steps.
    """
    traced: Counter[_Key] = Counter()
    for access in accesses:
        dataset = access.dataset if isinstance(access, Selections) else ""
        traced[access.file, dataset, access.writing] += _bytes(access)
    summed: Counter[_Key] = Counter()
    for pattern in patterns:
        summed[_key(pattern)] += moved_bytes(pattern)
    return {
        id(one): round(moved_bytes(one) * traced[_key(one)] / summed[_key(one)])
        if traced[_key(one)] and summed[_key(one)]
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
