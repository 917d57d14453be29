# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines the records of a lesson: a study's case, its classes of files, trials and effect."""

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
"""One line that a terminal can show."""
Digest = Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{8,64})?$")]
Identity = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{32}$")]
Name = Annotated[
    str,
    StringConstraints(
        pattern=r"^[a-z0-9_]{1,40}\.[A-Za-z0-9_.]{1,80}(@[^\x00-\x1f\x7f-\x9f]{1,300})?$"
    ),
]
"""Name of a setting: the tunable's, and behind `@` the glob of the files that it is for."""
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
    """A machine without its name: studies on nodes of one kind are of one machine.

    Attributes:
        architecture: Architecture, as `uname -m` names it.
        cpu: Model of the processor.
        processors: Online processors of the node.
        memory_bytes: Memory of the node.
        kernel: Release of the operating system's kernel.
        filesystem: Type of the file system of the study's directory.
        device: What it lies on: "rotational", "solid state", "virtual", "network", "memory".
        storage: Digest of a network file system's source, which nodes have in common; of an
            emulated storage, of its description.
        emulated: Storage that is emulated there, in slow motion: "archer2-hdd@1/64"; "" where
            the storage is what it is.
        described: Name of the description that stands for the file system, which is not
            exported; "" if none does.
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
class Stack:
    """The I/O libraries; "" where a version is not known.

    Attributes:
        mpi_family / mpi_version: E.g. "openmpi", "4.1.4".
        mpiio: Implementation of MPI-IO that the program has by default.
        mpiio_driver: Driver of ROMIO for the file system: "LUSTRE", "UFS".
        hdf5 / netcdf / pnetcdf / adios2: Interface numbers of the libraries that the
            executable names, e.g. "so.103"; "" for those that it does not name.
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
    """A program and what its first run did.

    Attributes:
        program: Its name.
        executable_sha256: Of its file; "" if that cannot be read.
        n_ranks / n_hosts: Where it ran.
        collective_share / independent_share / posix_share: Collective share and independent share
            and posix share of the bytes, by interface.
        read_share: Share of the bytes moved that were read.
        noncontiguous: It set a noncontiguous file view.
        bytes_per_call_log2 / calls_per_rank_log2: Logarithms of means; 0 for none.
        shared_files: Files that more than one rank used.
        uses_*: Libraries seen at work.
        patterns: How its ranks divide the datasets, with volume and class of files; empty where
            that is not known.
        volume_log2: Logarithm of the bytes that all ranks asked to move; 0 where not known.
        file_classes: Classes of files that behave differently; empty where all behave alike.
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
"""Members of a fingerprint that tell which libraries were seen at work."""


@dataclass(frozen=True)
class Case:
    """What studies are compared by.

    Attributes:
        synced: Whether data was on the storage when the clock stopped.
    """

    machine: Machine = field(default_factory=Machine)
    stack: Stack = field(default_factory=Stack)
    fingerprint: Fingerprint = field(default_factory=Fingerprint)
    synced: bool = True


class TriedState(StrEnum):
    """What became of a configuration."""

    COMPLETE = "complete"
    SLOWER = "slower"
    FAILED = "failed"
    HUNG = "hung"
    """It ran into its time limit."""
    REJECTED = "rejected"
    """Its output differed."""

    @property
    def is_bad(self) -> bool:
        """Whether such settings are not to be tried first again."""
        return self in (TriedState.FAILED, TriedState.HUNG, TriedState.REJECTED)


@dataclass(frozen=True)
class Tried:
    """A configuration that was tried.

    Attributes:
        settings: Tunable name to value.
        io_ratio: I/O time relative to the baseline beside it; None for a failure.
        n_runs: How many runs it had in the search.
        class_ratios: The same as `io_ratio` for each class of files that has a glob, by that.
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
    """A speed-up from fresh pairs; bounds are None where there were too few of them."""

    median: Ratio
    low: Ratio | None = None
    high: Ratio | None = None
    n_pairs: Count = 0


@dataclass(frozen=True)
class Lesson:
    """One study.

    Attributes:
        study_id: 32 hexadecimal digits.
        recorded_unix_seconds: When it ended.
        stripewise: Version that made it.
        improved: Whether the candidate was shown to be an improvement.
        candidate: Settings that came to the fresh pairs; empty if none did.
        effect / elapsed_effect: Effect and elapsed effect of the candidate, on I/O time and on the
            whole time.
        resolution: What the study could see, in plain words.
        tried: Every trial.
        n_runs: Executions in all.
        strategy: Its name.
    """

    study_id: Identity
    recorded_unix_seconds: Moment
    case: Case
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
        """Day on which it ended, local time."""
        return time.strftime("%Y-%m-%d", time.localtime(self.recorded_unix_seconds))

    def ratios(self) -> Iterator[tuple[Settings, float]]:
        """Yield settings with their I/O time relative to that with nothing set.

        Of the candidate it is what the pairs say, where there were pairs.
        """
        proved = {} if self.effect is None else self.candidate
        for tried in self.tried:
            if tried.io_ratio and tried.settings and tried.settings != proved:
                yield tried.settings, tried.io_ratio
        if proved and self.effect is not None:
            yield proved, 1 / self.effect.median

    @property
    def bad(self) -> tuple[Tried, ...]:
        """What failed, hung or changed the output."""
        return tuple(tried for tried in self.tried if tried.state.is_bad)


# Classes of a program's files as cases of their own, so that each can learn by itself.

WHOLE = ""
"""Glob of the part that is all of a program's files."""


def parts_of(case: Case) -> dict[str, Case]:
    """Return the case itself and, by its glob, each class of files as if there were no others."""
    print_ = case.fingerprint
    classes = {
        one.match: replace(case, fingerprint=_of_class(print_, one, number))
        for number, one in enumerate(print_.file_classes, start=1)
        if one.match
    }
    return {WHOLE: case, **classes}


def as_part(lesson: Lesson, match: str) -> Lesson:
    """Return what a study says of one part of its program, without settings for other files.

    What acted on a class is known of each trial.  A winner with settings for some files says
    nothing of all files alike: then the trials alone speak.  The interval of a class's gain is
    as wide, relative to it, as that of the whole.

    Args:
        lesson: Lesson of a study.
        match: Glob of one of its classes; "" for all files.
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


def _of_class(whole: Fingerprint, files: FileClass, number: int) -> Fingerprint:
    patterns = _alone([one for one in whole.patterns if one.file_class == number])
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


def _alone(patterns: list[PatternSummary]) -> tuple[PatternSummary, ...]:
    whole = sum(one.share for one in patterns) or 1.0
    return tuple(replace(one, share=round(one.share / whole, 4), file_class=0) for one in patterns)
