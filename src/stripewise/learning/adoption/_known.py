# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Identifies a program before it starts and stores its times and the settings it had.

A run waits for this module, so it imports neither numpy nor pydantic.
"""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from stripewise.core import Configuration, JobSettings, Value, from_json, to_json
from stripewise.core.errors import StorageError
from stripewise.learning.knowledge import Profiles
from stripewise.present import plural, ratio_text
from stripewise.run.runtime import program_file, program_name, program_word, ranks_of_command
from stripewise.storage.machines import find_mount

if TYPE_CHECKING:
    from stripewise.storage.emulation import EmulatedStorage


# Whether settings that were applied automatically brought the expected gain.

SAME_BYTES = 0.05
"""Largest relative difference of the amounts of data at which runs are compared.  A program that
moves a different amount is observed again (assumed).
"""
LEAST_SECONDS = 0.02
"""Shortest I/O time that can be judged (assumed: clocks and page faults are of this order)."""
NOISE = 0.15
"""Relative difference of two equal runs, used if there is only one run (assumed)."""
LEAST_NOISE = 0.05
PATIENCE = 2
"""Number of runs without a gain after which settings are dropped."""


class AppliedOutcome(StrEnum):
    """Outcome of applying settings."""

    UNKNOWN = "unknown"
    """Nothing to compare with, or too little I/O."""
    GAIN = "gain"
    NOTHING = "nothing"
    """No gain beyond the noise."""
    LOSS = "loss"
    FAILED = "failed"
    """The program failed with the settings."""


@dataclass(frozen=True)
class Timed:
    """Times of one run.

    Attributes:
        unix_seconds: End of the run.
        io_seconds: I/O time of the run.
        moved_bytes: Number of bytes read and written.
    """

    unix_seconds: float
    io_seconds: float
    moved_bytes: int

    @property
    def is_comparable(self) -> bool:
        """Whether the run had enough I/O to be compared."""
        return self.io_seconds >= LEAST_SECONDS and self.moved_bytes > 0


@dataclass(frozen=True)
class Judgement:
    """Verdict on settings after one or more runs.

    Attributes:
        outcome: Outcome of all runs with the settings.
        ratio: Speed-up of the I/O relative to runs without the settings; None if unknown.
        words: Predicate of a sentence about the settings: "made its I/O 1.3x slower".
        is_final: Whether the settings must not be set again.
    """

    outcome: AppliedOutcome
    ratio: float | None
    words: str
    is_final: bool = False


def judge(plain: Sequence[Timed], under: Sequence[Timed], *, idle: bool = False) -> Judgement:
    """Judge settings by comparing runs with and without them.

    A loss is final after one run, a missing gain after two.  The noise is the difference between
    runs without settings.

    Args:
        plain: Runs of the same program, ranks and storage without settings.
        under: Runs with the settings, the newest last; at least one.
        idle: Whether none of the settings was observed to have any effect.
    """
    if idle:
        return Judgement(AppliedOutcome.NOTHING, None, "could not act", True)
    here = [run for run in under if run.is_comparable]
    if not here:
        return Judgement(
            AppliedOutcome.UNKNOWN, None, "cannot be judged: the program does hardly any I/O"
        )
    amount = here[-1].moved_bytes
    before = [run.io_seconds for run in plain if run.is_comparable and _is_same(run, amount)]
    after = [run.io_seconds for run in here if _is_same(run, amount)]
    if not before:
        words = "cannot be judged: no run without settings that moved as much data is known"
        return Judgement(AppliedOutcome.UNKNOWN, None, words)
    ratio = median(before) / median(after)
    limit = 1 + noise(before)
    if ratio < 1 / limit:
        return Judgement(
            AppliedOutcome.LOSS, ratio, f"made its I/O {ratio_text(1 / ratio)}x slower", True
        )
    if ratio > limit:
        return Judgement(AppliedOutcome.GAIN, ratio, f"made its I/O {ratio_text(ratio)}x as fast")
    number = plural(len(after), "run")
    final = len(after) >= PATIENCE
    return Judgement(AppliedOutcome.NOTHING, ratio, f"brought no gain in {number}", final)


def failed(exit_code: int) -> Judgement:
    """Return the verdict on settings with which a program failed that had not failed before."""
    words = f"were set when it failed with exit code {exit_code}"
    return Judgement(AppliedOutcome.FAILED, None, words, True)


def noise(seconds: Sequence[float]) -> float:
    """Return how much equal runs differ, relative to their median."""
    if len(seconds) < 2:
        return NOISE
    return max(LEAST_NOISE, (max(seconds) - min(seconds)) / median(seconds))


def _is_same(run: Timed, amount: int) -> bool:
    return abs(run.moved_bytes - amount) <= SAME_BYTES * amount


# What is stored about a program: what it does, its times, and the settings for its next run.

VERSION = 2
MOST_RUNS = 5
MOST_JUDGED = 20


@dataclass(frozen=True)
class Judged:
    """Settings of an earlier answer that a run of this program had, and their outcome.

    Attributes:
        settings: Tunable name to value.
        unix_seconds: Time of the judgement.
        words: Outcome as the predicate of a sentence: "made its I/O 1.4x slower on 2026-11-03".
    """

    settings: Mapping[str, Value]
    unix_seconds: float
    words: str


@dataclass(frozen=True)
class Watched:
    """State of a file or directory that an answer depends on."""

    path: str
    mtime_ns: int
    size: int

    @classmethod
    def of(cls, path: Path | str) -> Watched:
        """Record the state of a path, which need not exist."""
        try:
            found = os.stat(path)
        except OSError:
            return cls(str(path), -1, -1)
        return cls(str(path), found.st_mtime_ns, found.st_size)

    @property
    def is_as_it_was(self) -> bool:
        """Whether the path is unchanged since then."""
        return Watched.of(self.path) == self


class Level(StrEnum):
    """Source of settings, the most reliable first."""

    PROGRAM = "program"
    """A study of the same program, on as many ranks, with the same I/O."""
    PATTERN = "pattern"
    """A study of another program, or of another number of ranks, whose I/O is alike."""
    MODEL = "model"
    """A model of the storage, for the pattern of this program."""
    DEFAULT = "default"
    """No source: nothing is set."""


@dataclass(frozen=True)
class KnownSettings:
    """Settings for a program and their source.

    Attributes:
        level: Kind of the source.
        settings: Tunable name to value; a name may end in `@` and the glob of files it is for.
        configuration: The settings in the form in which they are applied.
        sentence: One line for users: level, distance, source and expected speed-up.
        source: Name of the study's program or of the model; empty if there is none.
        distance: Distance to the case of the source; None if there is none.
        expected_ratio: Expected speed-up of the I/O; None if unknown.
        refused: Settings of the source that are not applied, one line each with the reason.
    """

    level: Level
    settings: Mapping[str, Value]
    configuration: Configuration
    sentence: str
    source: str = ""
    distance: float | None = None
    expected_ratio: float | None = None
    refused: tuple[str, ...] = ()


def default_answer(why: str, refused: Sequence[str] = ()) -> KnownSettings:
    """Return the answer that sets nothing and gives the reason."""
    sentence = f"nothing is set: {why}"
    return KnownSettings(Level.DEFAULT, {}, Configuration(), sentence, refused=tuple(refused))


@dataclass(frozen=True)
class Prepared(KnownSettings):
    """Answer for the next run, computed in advance.

    Attributes:
        state: State of the studies and version of Stripewise that the answer was computed from.
        watched: Other files that the answer was computed from.
    """

    state: str = ""
    watched: tuple[Watched, ...] = ()

    def holds(self, state: str) -> bool:
        """Return whether nothing that the answer was computed from has changed."""
        return self.state == state and all(one.is_as_it_was for one in self.watched)


@dataclass(frozen=True)
class Known:
    """Stored record of a program with given arguments, ranks and storage.

    Attributes:
        notation: Notation of the program's pattern.
        facts / case: Facts and case of its last run without settings, as JSON data; empty if they
            still have to be observed.
        plain / under: Runs without settings, and runs with the prepared settings; newest last.
        judged: Settings that brought no gain.
        prepared: Answer for the next run; None if not computed yet.
        pending: Mark of a run with the prepared settings that has started but not ended; empty if
            there is none.
    """

    notation: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    case: Mapping[str, Any] = field(default_factory=dict)
    plain: tuple[Timed, ...] = ()
    under: tuple[Timed, ...] = ()
    judged: tuple[Judged, ...] = ()
    prepared: Prepared | None = None
    pending: str = ""

    def with_plain(self, run: Timed) -> Known:
        """Add a run without settings."""
        return replace(self, plain=(*self.plain, run)[-MOST_RUNS:])

    def with_under(self, run: Timed) -> Known:
        """Add a run with the prepared settings."""
        return replace(self, under=(*self.under, run)[-MOST_RUNS:])

    def with_judged(self, one: Judged) -> Known:
        """Add settings that brought no gain."""
        return replace(self, judged=(*self.judged, one)[-MOST_JUDGED:], under=(), prepared=None)


def known_to_json(known: Known) -> dict[str, Any]:
    """Return the stored record as plain JSON data."""
    return {"version": VERSION, **to_json(known)}


def known_from_json(data: Mapping[str, Any]) -> Known:
    """Read a stored record; one of a newer version counts as empty.

    Raises:
        StorageError: The record is damaged.
    """
    if data.get("version") not in (1, VERSION):
        return Known()
    if data["version"] == 1:
        data = {**data, "prepared": None}  # stored in another form; it is soon computed again
    try:
        known = from_json(Known, data)
        if known.prepared is not None:
            job = known.prepared.configuration.job
            if job != JobSettings(job.mca):
                raise ValueError("it sets what is never set automatically")
        return known
    except ValueError as error:
        raise StorageError(
            "the record of this program's earlier runs is damaged; "
            "`stripewise knowledge forget --runs` removes it"
        ) from error


def full_state(state: str) -> str:
    """Return the state of the own store, with the version and the variables that matter."""
    import stripewise

    words = [f"{name}={os.environ[name]}" for name in sorted(os.environ) if _counts(name)]
    text = "\0".join(words).encode("utf-8", "surrogateescape")
    return f"{stripewise.__version__} {zlib.crc32(text):08x} {state}"


def _counts(name: str) -> bool:
    """Return whether a variable locates stored knowledge or itself sets a tunable."""
    own = name.startswith("STRIPEWISE_") and name.endswith(("MODELS", "KNOWLEDGE", "PACKS"))
    return own or name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME") or name.startswith("OMPI_MCA_")


# Which program a command runs, and where; determined before it starts.

_ENV_RANKS = ("SLURM_NTASKS", "PBS_NP")


@dataclass(frozen=True)
class Identity:
    """A program that is about to run.

    Attributes:
        program: Name of the program.
        file: File of the program; None if unknown.
        executable_sha256: Digest of that file; empty if unknown.
        n_ranks: Number of ranks that the command requests; 1 if it requests none.
        ground: Digest of ranks and storage.
        identity: Digest of executable, arguments, ranks and storage.
    """

    program: str
    file: Path | None
    executable_sha256: str
    n_ranks: int
    ground: str
    identity: str


def identify(
    command: Sequence[str],
    directory: Path,
    profiles: Profiles,
    *,
    storage: EmulatedStorage | None = None,
    sync: bool = False,
) -> Identity:
    """Determine which program a command runs.

    Args:
        command: Command to run.
        directory: Working directory of the command.
        profiles: Store that caches the digests of executables.
        storage: Storage that is emulated.
        sync: Whether the run waits until its data is on the storage.
    """
    file = program_file(command, directory)
    executable = profiles.digest_of(file) if file is not None else ""
    ranks = ranks_of_command(command) or next(filter(None, map(os.environ.get, _ENV_RANKS)), "")
    if storage is not None:
        place = (storage.identity, storage.digest)
    else:
        mount = find_mount(directory)
        place = (mount.kind, mount.source)
    ground = _digest("1", str(ranks), str(sync), *place)
    arguments = _arguments_after(command, program_word(command))
    name = program_name(command)
    n_ranks = int(ranks) if str(ranks).isdigit() else 1
    whole = _digest(ground, executable, *arguments)
    return Identity(name, file, executable, n_ranks, ground, whole)


def _arguments_after(command: Sequence[str], word: str) -> Sequence[str]:
    return command[list(command).index(word) + 1 :] if word in command else ()


def _digest(*words: str) -> str:
    text = "\0".join(words).encode("utf-8", "surrogateescape")
    return hashlib.sha256(text).hexdigest()[:32]
