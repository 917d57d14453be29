# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads and writes recorded surfaces: runs of one command with many settings.

Each line is a JSON object.  The first is the header {"format": "stripewise-surface",
"version": 1, command, facts, provenance, tunables, plan}; each further one is a run {settings,
elapsed_seconds, io_seconds, read_bytes, write_bytes, status, role, round, sequence,
started_unix_seconds, message}.  An incomplete last line, left by a kill, is not a run.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import inf, isnan, nan
from pathlib import Path
from statistics import median
from typing import Any

from stripewise.core import (
    Figured,
    ProgramFacts,
    RunStatus,
    Value,
    append_durably,
    from_json,
    to_json,
    write_file,
)
from stripewise.core.errors import StorageError, UsageError
from stripewise.core.inputs import SURFACE, parse_json, read_input
from stripewise.settings.tunables import get

_FORMAT = "stripewise-surface"
_VERSION = 1

_SECONDS_DIGITS = 6
_CLOCK_DIGITS = 3

SettingsKey = tuple[tuple[str, str], ...]


class SurfaceRole(StrEnum):
    """Reason for which a run was recorded."""

    POINT = "point"
    """Run of a round, which has every configuration once, in random order."""
    CONTROL = "control"
    """Run of the default in between, to observe drift of the machine."""
    WARM_UP = "warm-up"
    """First run of a session, which is stored but never counted."""


@dataclass(frozen=True)
class SurfaceRun(Figured):
    """One recorded run.

    Attributes:
        settings: Tunable name to value; other tunables had their defaults.
        elapsed_seconds: Elapsed time.
        io_seconds: I/O time.
        read_bytes / write_bytes: Bytes that the program requested to move.
        status: How the run ended.
        role: Purpose of the run.
        round: Number of the round, from 1; 0 if there are no rounds.
        sequence: Position in the plan, from 1; 0 for a warm-up, and if there is no plan.
        started_unix_seconds: Start of the run.
        message: One line on what went wrong, if anything did.
        missing: Figures that are unknown or only a lower bound, with the reason.
    """

    settings: Mapping[str, Value]
    elapsed_seconds: float
    io_seconds: float
    read_bytes: int = 0
    write_bytes: int = 0
    status: RunStatus = RunStatus.OK
    role: SurfaceRole = SurfaceRole.POINT
    round: int = 0
    sequence: int = 0
    started_unix_seconds: float = 0.0
    message: str = ""
    missing: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Surface:
    """Recorded surface: runs of one command with many settings.

    Attributes:
        command: Command that was run.
        facts: Facts of the program's first run.
        provenance: Machine, date, versions; text to text.
        tunables: Tunable name to the values that were measured in addition to not setting it.
        runs: All recorded runs; several runs of the same settings show their noise.
        plan: How it was recorded: repeats, seed, configurations, ...; numbers by name.
    """

    command: tuple[str, ...]
    facts: ProgramFacts = field(default_factory=ProgramFacts)
    provenance: Mapping[str, str] = field(default_factory=dict)
    tunables: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    runs: tuple[SurfaceRun, ...] = ()
    plan: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def load(cls, path: Path) -> Surface:
        """Read a surface.

        Raises:
            UsageError: The file does not exist or is not a surface.
        """
        try:
            entries = _entries(read_input(path, SURFACE).decode())
        except (OSError, ValueError) as error:
            if isinstance(error, UsageError):
                raise
            why = (isinstance(error, OSError) and error.strerror) or error
            raise UsageError(
                f"cannot read the surface {path}: {why}; `stripewise knowledge train` makes them"
            ) from error
        if not entries or not isinstance(entries[0], dict) or entries[0].get("format") != _FORMAT:
            raise UsageError(f"{path} is not a surface: its first line has no format {_FORMAT!r}")
        if entries[0].get("version") != _VERSION:
            raise UsageError(
                f"{path} is a surface of version {entries[0].get('version')!r}; "
                f"this Stripewise reads version {_VERSION}"
            )
        try:
            runs = tuple(run_from_json(entry) for entry in entries[1:])
            tunables = {n: one["values"] for n, one in entries[0].get("tunables", {}).items()}
            return replace(from_json(cls, {**entries[0], "tunables": tunables}), runs=runs)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UsageError(f"the surface {path} is damaged: {error}") from error

    def header_line(self) -> str:
        """Return the first line of the file."""
        data = to_json(replace(self, runs=()))
        left_out = {"runs"} if self.plan else {"runs", "plan"}
        header = {name: value for name, value in data.items() if name not in left_out}
        header["tunables"] = {name: {"values": v} for name, v in data["tunables"].items()}
        return compact({"format": _FORMAT, "version": _VERSION, **header})

    def save(self, path: Path) -> None:
        """Write the surface atomically.

        Raises:
            StorageError: The file cannot be written.
        """
        write_file(path, "".join((self.header_line(), *map(run_to_line, self.runs))))

    def key(self, settings: Mapping[str, Value]) -> SettingsKey:
        """Return settings in a form that can be compared and hashed."""
        return tuple(sorted((name, _text(value)) for name, value in settings.items()))

    def by_settings(self) -> dict[SettingsKey, list[int]]:
        """Return the indices of the runs of each configuration, without warm-ups."""
        found: dict[SettingsKey, list[int]] = {}
        for index, run in enumerate(self.runs):
            if run.role is not SurfaceRole.WARM_UP:
                found.setdefault(self.key(run.settings), []).append(index)
        return found

    def default_and_best_seconds(self) -> tuple[float, float]:
        """Return the median I/O times of the default and of the best configuration.

        Failed configurations, and those with a tunable without effect, are never the best.  Both
        times are NaN if the default was not measured.
        """
        medians = {key: self._median_seconds(at) for key, at in self.by_settings().items()}
        acting = {n for n in self.tunables if not get(n).why_not(self.facts)}
        best = min((t for key, t in medians.items() if acting.issuperset(dict(key))), default=inf)
        default = medians.get((), nan)
        return default, nan if isnan(default) else best

    def _median_seconds(self, indices: list[int]) -> float:
        """Return the median I/O time of some runs; infinite if one of them failed."""
        runs = [self.runs[index] for index in indices]
        good = all(run.status is RunStatus.OK for run in runs)
        return median(run.io_seconds for run in runs) if good else inf


class SurfaceWriter(AbstractContextManager["SurfaceWriter"]):
    """Appends runs to a surface's file, each flushed to disk before the next begins."""

    def __init__(self, path: Path, surface: Surface) -> None:
        """Create a file with the surface's header, or append to an existing one.

        Raises:
            StorageError: The file cannot be opened or written.
        """
        self._path = path
        try:
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
            self._descriptor = os.open(path, flags, 0o644)
            self._drop_torn_line()
            if not os.fstat(self._descriptor).st_size:
                append_durably(self._descriptor, surface.header_line().encode())
        except OSError as error:
            raise self._failed(error) from error

    def __exit__(self, *error: object) -> None:
        """Close the file."""
        os.close(self._descriptor)

    def append(self, run: SurfaceRun) -> None:
        """Write one run and flush it to disk.

        Raises:
            StorageError: The file cannot be written.
        """
        try:
            append_durably(self._descriptor, run_to_line(run).encode())
        except OSError as error:
            raise self._failed(error) from error

    def _drop_torn_line(self) -> None:
        content = self._path.read_bytes()
        os.ftruncate(self._descriptor, content.rfind(b"\n") + 1)

    def _failed(self, error: OSError) -> StorageError:
        why = error.strerror or error
        return StorageError(f"cannot write {self._path}: {why}; free some space, and try again")


def run_to_line(run: SurfaceRun) -> str:
    """Return a run as a line, leaving out values that equal their defaults."""
    usual = SurfaceRun({}, 0.0, 0.0)
    data: dict[str, Any] = {
        "settings": dict(run.settings),
        "elapsed_seconds": round(run.elapsed_seconds, _SECONDS_DIGITS),
        "io_seconds": round(run.io_seconds, _SECONDS_DIGITS),
    }
    for name in ("read_bytes", "write_bytes", "status", "role", "round", "sequence", "message"):
        if getattr(run, name) != getattr(usual, name):
            data[name] = getattr(run, name)
    if run.missing:
        data["missing"] = dict(run.missing)
    if run.started_unix_seconds:
        data["started_unix_seconds"] = round(run.started_unix_seconds, _CLOCK_DIGITS)
    return compact(data)


def run_from_json(entry: Any) -> SurfaceRun:
    """Restore a run from its JSON.

    Raises:
        ValueError: The data is not a run.
    """
    run = from_json(SurfaceRun, entry, "run")
    if min(run.elapsed_seconds, run.io_seconds, run.read_bytes, run.write_bytes) < 0:
        raise ValueError("run: a time or a size is negative")
    return run


def compact(data: Mapping[str, Any]) -> str:
    """Return JSON on one line without blanks, with a line end."""
    return json.dumps(data, separators=(",", ":")) + "\n"


def _entries(text: str) -> list[Any]:
    """Parse the lines; text after the last line end is incomplete, and the writer removes it."""
    whole, _, _ = text.rpartition("\n")
    return [parse_json(line) for line in whole.splitlines() if line.strip()]


def _text(value: Value) -> str:
    return json.dumps(list(value) if isinstance(value, tuple) else value)
