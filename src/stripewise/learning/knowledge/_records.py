# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the records of a lesson: a study's case, classes of files, trials and effect."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from math import log2
from typing import Annotated

from pydantic import Field, StringConstraints

from stripewise.core import FileClass, PatternSummary
from stripewise.settings.tunables import scopes, settings_on

Text = Annotated[str, StringConstraints(max_length=300, pattern=r"^[^\x00-\x1f\x7f-\x9f]*$")]
"""One line of text that a terminal can show."""
Digest = Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{8,64})?$")]
Identity = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{32}$")]
Name = Annotated[
    str,
    StringConstraints(
        pattern=r"^[a-z0-9_]{1,40}\.[A-Za-z0-9_.]{1,80}(@[^\x00-\x1f\x7f-\x9f]{1,300})?$"
    ),
]
"""Name of a setting: that of the tunable, optionally with `@` and the glob of its files."""
Word = Annotated[str, StringConstraints(max_length=1000, pattern=r"^[^\x00-\x1f\x7f-\x9f]*$")]
Count = Annotated[int, Field(ge=0, le=1 << 62)]
Share = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
Logarithm = Annotated[float, Field(ge=-70.0, le=70.0, allow_inf_nan=False)]
Ratio = Annotated[float, Field(ge=0.0, le=1e12, allow_inf_nan=False)]
Moment = Annotated[float, Field(ge=0.0, le=4e10, allow_inf_nan=False)]
Setting = bool | int | Annotated[float, Field(allow_inf_nan=False)] | Word | tuple[int, ...]
Settings = Annotated[Mapping[Name, Setting], Field(max_length=200)]


@dataclass(frozen=True)
class Machine:
    """Description of a machine without its name, so that nodes of one kind are one machine.

    Attributes:
        architecture: Architecture, as `uname -m` names it.
        cpu: Model of the processor.
        processors: Online processors of the node.
        memory_bytes: Memory of the node.
        kernel: Release of the operating system's kernel.
        filesystem: Type of the file system of the study's directory.
        device: Kind of device below it: "rotational", "solid state", "virtual", "network",
            "memory".
        storage: Digest of the source of a network file system, which is the same on all nodes, or
            of the description of an emulated storage.
        emulated: Storage that is emulated in slow motion: "archer2-hdd@1/64"; empty if the
            storage is real.
        described: Name of the description that is used for the file system, which is not
            exported; empty if there is none.
    """

    architecture: Text = ""
    cpu: Text = ""
    processors: Count = 0
    memory_bytes: Count = 0
    kernel: Text = ""
    filesystem: Text = ""
    device: Text = ""
    storage: Digest = ""
    emulated: Text = ""
    described: Text = ""


@dataclass(frozen=True)
class LibraryVersions:
    """Versions of the I/O libraries; empty if unknown.

    Attributes:
        mpi_family / mpi_version: For example "openmpi" and "4.1.4".
        mpiio: Implementation of MPI-IO that the program uses by default.
        mpiio_driver: ROMIO's driver for the file system: "LUSTRE", "UFS".
        hdf5 / netcdf / pnetcdf / adios2: Interface versions of the libraries that the executable
            links, for example "so.103"; empty for those that it does not link.
    """

    mpi_family: Text = ""
    mpi_version: Text = ""
    mpiio: Text = ""
    mpiio_driver: Text = ""
    hdf5: Text = ""
    netcdf: Text = ""
    pnetcdf: Text = ""
    adios2: Text = ""


@dataclass(frozen=True)
class Fingerprint:
    """Properties of a program and of its first run.

    Attributes:
        program: Name of the program.
        executable_sha256: Digest of its file; empty if it cannot be read.
        n_ranks / n_hosts: Number of ranks and of hosts.
        collective_share / independent_share / posix_share: Share of the bytes that was moved by
            collective MPI-IO, independent MPI-IO and POSIX calls.
        read_share: Share of the moved bytes that was read.
        noncontiguous: Whether it set a noncontiguous file view.
        bytes_per_call_log2 / calls_per_rank_log2: Logarithms of the means; 0 without calls.
        shared_files: Number of files that more than one rank used.
        uses_*: Whether the library was observed in use.
        patterns: How the ranks divide the datasets, with volume and class of files; empty if
            unknown.
        volume_log2: Logarithm of the bytes requested by all ranks; 0 if unknown.
        file_classes: Classes of files that behave differently; empty if all behave alike.
    """

    program: Text = ""
    executable_sha256: Digest = ""
    n_ranks: Count = 1
    n_hosts: Count = 1
    collective_share: Share = 0.0
    independent_share: Share = 0.0
    posix_share: Share = 0.0
    read_share: Share = 0.0
    noncontiguous: bool = False
    bytes_per_call_log2: Logarithm = 0.0
    calls_per_rank_log2: Logarithm = 0.0
    shared_files: Count = 0
    uses_hdf5: bool = False
    uses_parallel_hdf5: bool = False
    uses_pnetcdf: bool = False
    uses_netcdf4: bool = False
    uses_adios2: bool = False
    patterns: Annotated[tuple[PatternSummary, ...], Field(max_length=64)] = ()
    volume_log2: Logarithm = 0.0
    file_classes: Annotated[tuple[FileClass, ...], Field(max_length=64)] = ()


LIBRARIES = tuple(part.name for part in fields(Fingerprint) if part.name.startswith("uses_"))
"""Members of a fingerprint that record which libraries were observed in use."""


@dataclass(frozen=True)
class StudiedCase:
    """Description of a study by which studies are compared.

    Attributes:
        synced: Whether data was on the storage when the clock stopped.
    """

    machine: Machine = field(default_factory=Machine)
    stack: LibraryVersions = field(default_factory=LibraryVersions)
    fingerprint: Fingerprint = field(default_factory=Fingerprint)
    synced: bool = True


class TriedState(StrEnum):
    """Result of trying a configuration."""

    COMPLETE = "complete"
    SLOWER = "slower"
    FAILED = "failed"
    HUNG = "hung"
    """The run exceeded its time limit."""
    REJECTED = "rejected"
    """The output differed."""

    @property
    def is_bad(self) -> bool:
        """Whether such settings should not be tried first again."""
        return self in (TriedState.FAILED, TriedState.HUNG, TriedState.REJECTED)


@dataclass(frozen=True)
class Tried:
    """Configuration that was tried.

    Attributes:
        settings: Tunable name to value.
        io_ratio: I/O time relative to the adjacent baseline; None for a failure.
        n_runs: Number of its runs in the search.
        class_ratios: Glob of a class of files to `io_ratio` of that class.
    """

    settings: Settings
    state: TriedState = TriedState.COMPLETE
    io_ratio: Ratio | None = None
    n_runs: Count = 0
    class_ratios: Annotated[Mapping[Text, Ratio], Field(max_length=64)] = field(
        default_factory=dict
    )


@dataclass(frozen=True)
class Effect:
    """Speed-up from confirmation pairs; the bounds are None if there were too few pairs."""

    median: Ratio
    low: Ratio | None = None
    high: Ratio | None = None
    n_pairs: Count = 0


@dataclass(frozen=True)
class Lesson:
    """Result of one study.

    Attributes:
        study_id: 32 hexadecimal digits.
        recorded_unix_seconds: End of the study.
        stripewise: Version of Stripewise that ran the study.
        improved: Whether the candidate was shown to be an improvement.
        candidate: Settings that reached the confirmation pairs; empty if none did.
        effect / elapsed_effect: Effect of the candidate on the I/O time and on the elapsed time.
        resolution: Smallest effect that the study could detect, in plain words.
        tried: All trials.
        n_runs: Total number of runs.
        strategy: Name of the strategy.
    """

    study_id: Identity
    recorded_unix_seconds: Moment
    case: StudiedCase
    improved: bool = False
    candidate: Settings = field(default_factory=dict)
    effect: Effect | None = None
    elapsed_effect: Effect | None = None
    resolution: Word = ""
    tried: Annotated[tuple[Tried, ...], Field(max_length=5000)] = ()
    n_runs: Count = 0
    strategy: Text = ""
    stripewise: Text = ""

    @property
    def date(self) -> str:
        """Day on which the study ended, in local time."""
        return time.strftime("%Y-%m-%d", time.localtime(self.recorded_unix_seconds))

    def ratios(self) -> Iterator[tuple[Settings, float]]:
        """Yield settings with their I/O time relative to nothing set.

        The candidate's ratio is that of its pairs if there are any.
        """
        proved = {} if self.effect is None else self.candidate
        for tried in self.tried:
            if tried.io_ratio and tried.settings and tried.settings != proved:
                yield tried.settings, tried.io_ratio
        if proved and self.effect is not None:
            yield proved, 1 / self.effect.median

    @property
    def bad(self) -> tuple[Tried, ...]:
        """Trials that failed, hung or changed the output."""
        return tuple(tried for tried in self.tried if tried.state.is_bad)


# Classes of a program's files as separate cases, so that each can learn from others.

WHOLE = ""
"""Glob of the part that consists of all files of a program."""


def parts_of(case: StudiedCase) -> dict[str, StudiedCase]:
    """Return the whole case and, by glob, each class of files as if there were no others."""
    print_ = case.fingerprint
    classes = {
        one.match: replace(case, fingerprint=_fingerprint_of_class(print_, one, number))
        for number, one in enumerate(print_.file_classes, start=1)
        if one.match
    }
    return {WHOLE: case, **classes}


def lesson_of_part(lesson: Lesson, match: str) -> Lesson:
    """Return a study's lesson for one part of its program, without settings for other files.

    The effect of each trial on a class of files is known.  A winner with settings for only some
    files has no ratio for all files; then only the other trials are used.  The interval of a
    class's gain has the same relative width as that of the whole.

    Args:
        lesson: Lesson of a study.
        match: Glob of one of the study's classes; empty for all files.
    """
    if match:
        tried = tuple(_on_class(trial, match) for trial in lesson.tried)
        same = [t for t in lesson.tried if dict(t.settings) == dict(lesson.candidate)]
        ratio = same[0].class_ratios.get(match) if same else None
        effect = _scaled(lesson.effect, ratio)
        candidate = settings_on(lesson.candidate, match)
        improved = lesson.improved and (effect is None or (effect.low or 0) > 1)
        return replace(lesson, candidate=candidate, effect=effect, improved=improved, tried=tried)
    plain = tuple(trial for trial in lesson.tried if not scopes(trial.settings))
    if scopes(lesson.candidate):
        return replace(lesson, candidate={}, effect=None, improved=False, tried=plain)
    return replace(lesson, tried=plain)


def _on_class(trial: Tried, match: str) -> Tried:
    ratio = trial.class_ratios.get(match, trial.io_ratio) if not trial.state.is_bad else None
    return replace(trial, settings=settings_on(trial.settings, match), io_ratio=ratio)


def _scaled(effect: Effect | None, ratio: float | None) -> Effect | None:
    if effect is None or not ratio or not effect.median:
        return effect
    factor = 1 / (ratio * effect.median)
    low, high = (None if b is None else b * factor for b in (effect.low, effect.high))
    return Effect(1 / ratio, low, high, effect.n_pairs)


def _fingerprint_of_class(whole: Fingerprint, files: FileClass, number: int) -> Fingerprint:
    patterns = _as_only_patterns([one for one in whole.patterns if one.file_class == number])
    volume = sum(one.bytes for one in patterns)
    logarithm = log2(volume) if volume else whole.volume_log2
    call = log2(files.call_bytes) if files.call_bytes else 0.0
    through_mpi = "mpiio" in files.layers
    return replace(
        whole,
        patterns=patterns,
        file_classes=(),
        collective_share=float(through_mpi and files.collective),
        independent_share=float(through_mpi and not files.collective),
        posix_share=float(not through_mpi),
        read_share=0.5 if files.reads and files.writes else float(files.reads),
        noncontiguous=files.noncontiguous,
        bytes_per_call_log2=round(call, 3),
        calls_per_rank_log2=round(logarithm - call - log2(max(1, whole.n_ranks)), 3),
        volume_log2=round(logarithm, 3),
        shared_files=files.n_files if files.shared else 0,
        uses_hdf5="hdf5" in files.layers,
        uses_parallel_hdf5="hdf5" in files.layers and through_mpi,
        uses_pnetcdf="pnetcdf" in files.layers,
        uses_netcdf4=whole.uses_netcdf4 and "hdf5" in files.layers,
        uses_adios2="adios2" in files.layers,
    )


def _as_only_patterns(patterns: list[PatternSummary]) -> tuple[PatternSummary, ...]:
    whole = sum(one.share for one in patterns) or 1.0
    return tuple(replace(one, share=round(one.share / whole, 4), file_class=0) for one in patterns)
