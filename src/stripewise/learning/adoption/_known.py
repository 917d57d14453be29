# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Identifies a program before it starts, and keeps its times and the settings it had.

A run waits for what is here, so this module needs neither numpy nor pydantic.
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


# Whether settings that a program had without being asked brought what was expected.

SAME_BYTES = 0.05
"""Runs whose amounts of data differ by more are not compared, and a program that moves another
amount is observed anew (assumed)."""
LEAST_SECONDS = 0.02
"""I/O that takes less says nothing (assumed: clocks and page faults are of this order)."""
NOISE = 0.15
"""Relative difference of two equal runs where only one is known (assumed)."""
LEAST_NOISE = 0.05
PATIENCE = 2
"""Runs without a gain after which settings are forgotten."""


class Outcome(StrEnum):
    """What came of settings."""

    UNKNOWN = "unknown"
    """There is nothing to compare with, or too little I/O."""
    GAIN = "gain"
    NOTHING = "nothing"
    """No gain that stands out from the noise."""
    LOSS = "loss"
    FAILED = "failed"
    """The program failed under them."""


@dataclass(frozen=True)
class Timed:
    """Times of one run.

    Attributes:
        unix_seconds: When it ended.
        io_seconds: Its I/O time.
        moved_bytes: Read and written.
    """

    unix_seconds: float
    io_seconds: float
    moved_bytes: int

    @property
    def tells(self) -> bool:
        """Whether it had enough I/O to be compared."""
        return self.io_seconds >= LEAST_SECONDS and self.moved_bytes > 0


@dataclass(frozen=True)
class Judgement:
    """A judgement of settings.

    Attributes:
        outcome: Outcome of all runs under them.
        ratio: How many times as fast the I/O was as without them; None: not known.
        words: For people, behind the settings: "made its I/O 1.3x slower".
        is_final: The settings are not to be set again.
    """

    outcome: Outcome
    ratio: float | None
    words: str
    is_final: bool = False


def judge(plain: Sequence[Timed], under: Sequence[Timed], *, idle: bool = False) -> Judgement:
    """Judge settings by the runs with and without them.

    A loss is final after one run, a gain that does not come after two.  Noise is what runs
    without settings differ by among themselves.

    Args:
        plain: Runs of the same program, ranks and storage without settings.
        under: Runs under the settings, the newest last; at least one.
        idle: It was observed that none of the settings could act.
    """
    if idle:
        return Judgement(Outcome.NOTHING, None, "could not act", True)
    here = [run for run in under if run.tells]
    if not here:
        return Judgement(
            Outcome.UNKNOWN, None, "cannot be judged: the program does hardly any I/O"
        )
    amount = here[-1].moved_bytes
    before = [run.io_seconds for run in plain if run.tells and _is_same(run, amount)]
    after = [run.io_seconds for run in here if _is_same(run, amount)]
    if not before:
        words = "cannot be judged: no run without settings that moved as much data is known"
        return Judgement(Outcome.UNKNOWN, None, words)
    ratio = median(before) / median(after)
    limit = 1 + noise(before)
    if ratio < 1 / limit:
        return Judgement(
            Outcome.LOSS, ratio, f"made its I/O {ratio_text(1 / ratio)}x slower", True
        )
    if ratio > limit:
        return Judgement(Outcome.GAIN, ratio, f"made its I/O {ratio_text(ratio)}x as fast")
    number = plural(len(after), "run")
    final = len(after) >= PATIENCE
    return Judgement(Outcome.NOTHING, ratio, f"brought no gain in {number}", final)


def failed(exit_code: int) -> Judgement:
    """Return the verdict on settings under which a program failed that had not before."""
    words = f"were set when it failed with exit code {exit_code}"
    return Judgement(Outcome.FAILED, None, words, True)


def noise(seconds: Sequence[float]) -> float:
    """Return by how much, relative to their median, equal runs differ."""
    if len(seconds) < 2:
        return NOISE
    return max(LEAST_NOISE, (max(seconds) - min(seconds)) / median(seconds))


def _is_same(run: Timed, amount: int) -> bool:
    return abs(run.moved_bytes - amount) <= SAME_BYTES * amount


# What is kept of a program that was run: what it does, its times, what is set next time.

VERSION = 2
MOST_RUNS = 5
MOST_JUDGED = 20


@dataclass(frozen=True)
class Judged:
    """Settings that a run of this program had because of an earlier answer, and what they gave.

    Attributes:
        settings: Tunable name to value.
        unix_seconds: When they were judged.
        words: What came of them: "made its I/O 1.4x slower on 2026-11-03".
    """

    settings: Mapping[str, Value]
    unix_seconds: float
    words: str


@dataclass(frozen=True)
class Watched:
    """A file or directory that an answer depends on, as it was."""

    path: str
    mtime_ns: int
    size: int

    @classmethod
    def of(cls, path: Path | str) -> Watched:
        """Look at a path; one that is not there is watched as well."""
        try:
            found = os.stat(path)
        except OSError:
            return cls(str(path), -1, -1)
        return cls(str(path), found.st_mtime_ns, found.st_size)

    @property
    def is_as_it_was(self) -> bool:
        """Whether nothing has changed since."""
        return Watched.of(self.path) == self


class Level(StrEnum):
    """Where settings come from, the surest first."""

    PROGRAM = "program"
    """A study of the same program, on as many ranks, with the same I/O."""
    PATTERN = "pattern"
    """A study of another program, or of another number of ranks, whose I/O is alike."""
    MODEL = "model"
    """A model of the storage, for the pattern of this program."""
    DEFAULT = "default"
    """Nowhere: nothing is set."""


@dataclass(frozen=True)
class Answer:
    """Settings for a program, and where they come from.

    Attributes:
        level: Where it comes from.
        settings: Tunable name to value; behind `@` the files that a setting is for.
        configuration: Settings, as they are applied.
        sentence: One line for people: level, distance, source, what to expect.
        source: Name of the study's program, or of the model; "" for none.
        distance: Distance to the case that it comes from; None where there is none.
        expected_ratio: How many times as fast the I/O is expected to be; None: not known.
        refused: Settings of the source that are not set, with the reason, a line each.
    """

    level: Level
    settings: Mapping[str, Value]
    configuration: Configuration
    sentence: str
    source: str = ""
    distance: float | None = None
    expected_ratio: float | None = None
    refused: tuple[str, ...] = ()


def default_answer(why: str, refused: Sequence[str] = ()) -> Answer:
    """Return the answer that sets nothing, and says why."""
    said = f"nothing is set: {why}"
    return Answer(Level.DEFAULT, {}, Configuration(), said, refused=tuple(refused))


@dataclass(frozen=True)
class Prepared(Answer):
    """An answer for the next run, computed when there was time.

    Attributes:
        state: State of the studies and the version of Stripewise that it was computed from.
        watched: What else it was computed from.
    """

    state: str = ""
    watched: tuple[Watched, ...] = ()

    def holds(self, state: str) -> bool:
        """Return whether nothing that it was computed from has changed."""
        return self.state == state and all(one.is_as_it_was for one in self.watched)


@dataclass(frozen=True)
class Known:
    """A program with its arguments, on so many ranks, on a storage.

    Attributes:
        notation: Notation of its pattern.
        facts / case: Facts and case of its last run without settings, as JSON data; empty: to be
            found out.
        plain / under: Runs without settings, and under those that are prepared; newest last.
        judged: Settings that brought nothing.
        prepared: For the next run; None: not known.
        pending: Run under the prepared settings that began and has not ended; "" for none.
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
        """Add a run under the prepared settings."""
        return replace(self, under=(*self.under, run)[-MOST_RUNS:])

    def with_judged(self, one: Judged) -> Known:
        """Add settings that brought nothing."""
        return replace(self, judged=(*self.judged, one)[-MOST_JUDGED:], under=(), prepared=None)


def known_to_json(known: Known) -> dict[str, Any]:
    """Return what is kept as plain JSON data."""
    return {"version": VERSION, **to_json(known)}


def known_from_json(data: Mapping[str, Any]) -> Known:
    """Read what is kept; of a newer version nothing is known.

    Raises:
        StorageError: It is damaged.
    """
    if data.get("version") not in (1, VERSION):
        return Known()
    if data["version"] == 1:
        data = {**data, "prepared": None}  # it was written otherwise, and is soon made again
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
    """Return the state of the own store with the version and the variables that count as well."""
    import stripewise

    words = [f"{name}={os.environ[name]}" for name in sorted(os.environ) if _counts(name)]
    text = "\0".join(words).encode("utf-8", "surrogateescape")
    return f"{stripewise.__version__} {zlib.crc32(text):08x} {state}"


def _counts(name: str) -> bool:
    """Return whether a variable says where knowledge is, or sets what else would be set."""
    own = name.startswith("STRIPEWISE_") and name.endswith(("MODELS", "KNOWLEDGE", "PACKS"))
    return own or name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME") or name.startswith("OMPI_MCA_")


# Which program a command runs, and where: known before it starts.

_ENV_RANKS = ("SLURM_NTASKS", "PBS_NP")


@dataclass(frozen=True)
class Identity:
    """A program that is about to run.

    Attributes:
        program: Its name.
        file: Its file; None where that is not known.
        executable_sha256: Of that file; "" where it is not known.
        n_ranks: Number of ranks that the command asks for; 1 where it does not say.
        ground: Digest of ranks and storage.
        identity: Digest of all of it and the arguments.
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
    """Find out which program a command runs.

    Args:
        command: Command to run.
        directory: It runs in.
        profiles: Keep digests of executables.
        storage: Storage that is emulated.
        sync: Whether it waits for the storage.
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
