# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A recorded surface: runs of one command under many settings, to be drawn from again.

One JSON object a line.  The first is the header {"format": "stripewise-surface",
"version": 1, command, facts, provenance, tunables}; each further one is a run {settings,
elapsed_seconds, io_seconds, read_bytes, write_bytes, status}.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from stripewise.errors import StorageError, UsageError
from stripewise.model import ProgramFacts, RunStatus, Value

_FORMAT = "stripewise-surface"
_VERSION = 1

SettingsKey = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class SurfaceRun:
    """One recorded run."""

    settings: Mapping[str, Value]
    elapsed_seconds: float
    io_seconds: float
    read_bytes: int = 0
    write_bytes: int = 0
    status: RunStatus = RunStatus.OK


@dataclass(frozen=True)
class RecordedTunable:
    """A knob of the surface: the values that were measured, and which one is the default."""

    values: tuple[Value, ...] = ()
    default: Value | None = None


@dataclass(frozen=True)
class Surface:
    """A recorded surface.

    Attributes:
        command: What was run.
        facts: What the program's first run showed.
        provenance: Machine, date, versions; text to text.
        tunables: Knob name to what was measured of it.
        runs: All recorded runs; several of the same settings hold their noise.
    """

    command: tuple[str, ...]
    facts: ProgramFacts = field(default_factory=ProgramFacts)
    provenance: Mapping[str, str] = field(default_factory=dict)
    tunables: Mapping[str, RecordedTunable] = field(default_factory=dict)
    runs: tuple[SurfaceRun, ...] = ()

    @classmethod
    def load(cls, path: Path) -> Surface:
        """Read a surface.

        Raises:
            UsageError: The file is not there, or is not a surface.
        """
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
            entries = [json.loads(line) for line in lines if line.strip()]
        except (OSError, ValueError) as error:
            raise UsageError(f"cannot read the surface {path}: {error}") from error
        if not entries or not isinstance(entries[0], dict) or entries[0].get("format") != _FORMAT:
            raise UsageError(f"{path} is not a surface: its first line has no format {_FORMAT!r}")
        if entries[0].get("version") != _VERSION:
            raise UsageError(
                f"{path} is a surface of version {entries[0].get('version')!r}; "
                f"this Stripewise reads version {_VERSION}"
            )
        try:
            return _from_header(cls, entries[0], tuple(_run(entry) for entry in entries[1:]))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise UsageError(f"the surface {path} is damaged: {error!r}") from error

    def save(self, path: Path) -> None:
        """Write the surface.

        Raises:
            StorageError: The file cannot be written.
        """
        header = {
            "format": _FORMAT,
            "version": _VERSION,
            "command": list(self.command),
            "facts": asdict(self.facts),
            "provenance": dict(self.provenance),
            "tunables": {name: asdict(knob) for name, knob in self.tunables.items()},
        }
        rows = [header, *({**_shallow(run), "settings": dict(run.settings)} for run in self.runs)]
        try:
            path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        except OSError as error:
            raise StorageError(f"cannot write {path}: {error.strerror or error}") from error

    def key(self, settings: Mapping[str, Value]) -> SettingsKey:
        """Canonical form of settings: knobs at their default are left out."""
        pairs = []
        for name, value in settings.items():
            knob = self.tunables.get(name)
            if knob is None or knob.default is None or _text(knob.default) != _text(value):
                pairs.append((name, _text(value)))
        return tuple(sorted(pairs))

    def by_settings(self) -> dict[SettingsKey, list[int]]:
        """Indices of the runs of the same settings."""
        found: dict[SettingsKey, list[int]] = {}
        for index, run in enumerate(self.runs):
            found.setdefault(self.key(run.settings), []).append(index)
        return found

    def nearest(self, settings: Mapping[str, Value]) -> Mapping[str, Value]:
        """Recorded settings that differ in the fewest knobs."""
        wanted = set(self.key(settings))
        return min(
            (run.settings for run in self.runs),
            key=lambda known: len(wanted ^ set(self.key(known))),
            default={},
        )


def _shallow(record: Any) -> dict[str, Any]:
    return {item.name: getattr(record, item.name) for item in fields(record)}


def _text(value: Value) -> str:
    return json.dumps(list(value) if isinstance(value, tuple) else value)


def _value(value: Any) -> Value:
    if isinstance(value, list):
        return tuple(int(item) for item in value)
    if isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"not a setting's value: {value!r}")


def _values(values: Sequence[Any]) -> tuple[Value, ...]:
    return tuple(_value(value) for value in values)


def _run(entry: Mapping[str, Any]) -> SurfaceRun:
    return SurfaceRun(
        settings={str(name): _value(value) for name, value in entry["settings"].items()},
        elapsed_seconds=float(entry["elapsed_seconds"]),
        io_seconds=float(entry["io_seconds"]),
        read_bytes=int(entry.get("read_bytes", 0)),
        write_bytes=int(entry.get("write_bytes", 0)),
        status=RunStatus(entry.get("status", RunStatus.OK)),
    )


def _knob(entry: Any) -> RecordedTunable:
    if isinstance(entry, list):
        return RecordedTunable(_values(entry))
    default = entry.get("default")
    return RecordedTunable(
        _values(entry.get("values", ())), None if default is None else _value(default)
    )


def _from_header(
    cls: type[Surface], header: Mapping[str, Any], runs: tuple[SurfaceRun, ...]
) -> Surface:
    facts = dict(header.get("facts", {}))
    facts["mpiio_alternatives"] = tuple(facts.get("mpiio_alternatives", ()))
    known = {item.name for item in fields(ProgramFacts)}
    return cls(
        command=tuple(header["command"]),
        facts=ProgramFacts(**{name: facts[name] for name in facts if name in known}),
        provenance={str(k): str(v) for k, v in header.get("provenance", {}).items()},
        tunables={name: _knob(entry) for name, entry in header.get("tunables", {}).items()},
        runs=runs,
    )
