# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What is kept of a program that was run: what it does, its times, what is set next time.

A run waits for what is here, so this module needs neither numpy nor pydantic.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from stripewise.adoption._feedback import Timed
from stripewise.errors import StorageError
from stripewise.model import FILE_LAYERS, Configuration, FileRule, JobSettings, Value

VERSION = 1
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


@dataclass(frozen=True)
class Prepared:
    """An answer for the next run, computed when there was time.

    Attributes:
        level / settings / sentence / source / distance / expected_ratio / refused: Of the answer.
        configuration: Its configuration.
        state: Of the studies and the version of Stripewise that it was computed from.
        watched: What else it was computed from.
    """

    level: str
    settings: Mapping[str, Value]
    configuration: Configuration
    sentence: str
    source: str = ""
    distance: float | None = None
    expected_ratio: float | None = None
    refused: tuple[str, ...] = ()
    state: str = ""
    watched: tuple[Watched, ...] = ()

    def holds(self, state: str) -> bool:
        """Whether nothing that it was computed from has changed."""
        return self.state == state and all(one.is_as_it_was for one in self.watched)


@dataclass(frozen=True)
class Known:
    """A program with its arguments, on so many ranks, on a storage.

    Attributes:
        notation: Of its pattern.
        facts / case: Of its last run without settings, as JSON data; empty: to be found out.
        plain / under: Runs without settings, and under those that are prepared; newest last.
        judged: Settings that brought nothing.
        prepared: For the next run; None: not known.
        pending: Which run under the prepared settings began and has not ended; "" for none.
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
    data = {
        "version": VERSION,
        "notation": known.notation,
        "facts": dict(known.facts),
        "case": dict(known.case),
        "plain": [asdict(run) for run in known.plain],
        "under": [asdict(run) for run in known.under],
        "judged": [{**vars(one), "settings": dict(one.settings)} for one in known.judged],
        "pending": known.pending,
    }
    prepared = known.prepared
    if prepared is not None:
        data["prepared"] = {
            **vars(prepared),
            "settings": dict(prepared.settings),
            "configuration": _configuration_data(prepared.configuration),
            "watched": [[one.path, one.mtime_ns, one.size] for one in prepared.watched],
        }
    return data


def known_from_json(data: Mapping[str, Any]) -> Known:
    """Read what is kept; of a newer version nothing is known.

    Raises:
        StorageError: It is damaged.
    """
    if data.get("version") != VERSION:
        return Known()
    try:
        prepared = data.get("prepared")
        return Known(
            str(data["notation"]),
            dict(data["facts"]),
            dict(data["case"]),
            _runs(data["plain"]),
            _runs(data["under"]),
            tuple(
                Judged(_settings(d["settings"]), float(d["unix_seconds"]), str(d["words"]))
                for d in data["judged"]
            ),
            _prepared(prepared) if prepared else None,
            str(data["pending"]),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise StorageError(
            "what was kept of this program's runs is damaged; "
            "`stripewise knowledge forget --runs` removes it"
        ) from error


def _runs(data: Iterable[Mapping[str, Any]]) -> tuple[Timed, ...]:
    return tuple(
        Timed(float(d["unix_seconds"]), float(d["io_seconds"]), int(d["moved_bytes"]))
        for d in data
    )


def _prepared(data: Mapping[str, Any]) -> Prepared:
    return Prepared(
        str(data["level"]),
        _settings(data["settings"]),
        _configuration(data["configuration"]),
        str(data["sentence"]),
        str(data["source"]),
        _perhaps(float, data["distance"]),
        _perhaps(float, data["expected_ratio"]),
        tuple(map(str, data["refused"])),
        str(data["state"]),
        tuple(Watched(str(path), int(mtime), int(size)) for path, mtime, size in data["watched"]),
    )


def _configuration_data(configuration: Configuration) -> dict[str, Any]:
    return {
        "files": [
            {"match": rule.match, **{name: dict(rule.layers[name]) for name in FILE_LAYERS}}
            for rule in configuration.files
        ],
        "mca": dict(configuration.job.mca),
    }


def _configuration(data: Mapping[str, Any]) -> Configuration:
    rules = tuple(map(_rule, data["files"]))
    return Configuration(rules, JobSettings(_settings(data["mca"])))


def _rule(data: Mapping[str, Any]) -> FileRule:
    layers: dict[str, Any] = {name: _settings(data[name]) for name in FILE_LAYERS}
    return FileRule(str(data["match"]), override=True, **layers)


def _settings(data: Mapping[str, Any]) -> dict[str, Value]:
    return {str(name): _value(value) for name, value in data.items()}


def _value(value: Any) -> Value:
    if isinstance(value, list):
        return tuple(int(each) for each in value)
    if isinstance(value, bool | int | float | str):
        return value
    raise TypeError("a value is none")


def _perhaps(kind: Callable[[Any], float], value: Any) -> float | None:
    return None if value is None else kind(value)


def full_state(state: str) -> str:
    """Return the state of the own store with the version and the variables that count as well."""
    import stripewise

    words = [f"{name}={os.environ[name]}" for name in sorted(os.environ) if _counts(name)]
    text = "\0".join(words).encode("utf-8", "surrogateescape")
    return f"{stripewise.__version__} {zlib.crc32(text):08x} {state}"


def _counts(name: str) -> bool:
    """Whether a variable says where knowledge is, or sets what else would be set."""
    own = name.startswith("STRIPEWISE_") and name.endswith(("MODELS", "KNOWLEDGE", "PACKS"))
    return own or name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME") or name.startswith("OMPI_MCA_")
