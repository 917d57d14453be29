# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads and writes tables of settings for the later files of a series in a first run.

Training writes the tables, which takes seconds; a run reads them and checks all settings again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from stripewise.core import (
    SITE_POLICY,
    Configuration,
    FileRule,
    SeriesRule,
    from_json,
    to_json,
    user_policy_path,
    write_file,
)
from stripewise.core.errors import StorageError, StripewiseError
from stripewise.core.inputs import MODEL, parse_json, read_input
from stripewise.learning.performance import TABLES, Ground, ground_on, own_models, site_models

if TYPE_CHECKING:
    from stripewise.storage.emulation import EmulatedStorage

VERSION = 1
_MOST_TABLES = 100
_MOST_RULES = 1000


@dataclass(frozen=True)
class SeriesTable:
    """Rules for one ground, in the order in which they apply.

    Attributes:
        ground: Ground on which the rules apply.
        mpi_family: MPI of the programs that the rules were made for: "mpich" or "openmpi".
        made_unix_seconds: Time at which the table was made.
        rules: Rules for every kind of first file that was considered.
    """

    ground: Ground
    mpi_family: str
    made_unix_seconds: float
    rules: tuple[SeriesRule, ...]


def save_table(table: SeriesTable, directory: Path | None = None) -> Path:
    """Write a table, replacing an older one of the same ground and MPI.

    Args:
        table: Table to write.
        directory: Directory of models; None for the user's own.

    Raises:
        StorageError: The table cannot be written.
    """
    import hashlib

    ground = table.ground
    words = (ground.storage, ground.digest, ground.stack, table.mpi_family)
    home = (directory or own_models()) / TABLES
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"cannot keep tables in {home}: {error.strerror}") from error
    path = home / f"{hashlib.sha256(chr(0).join(words).encode()).hexdigest()[:12]}.json"
    write_file(path, json.dumps({"version": VERSION, **to_json(table)}) + "\n")
    return path


def read_table(path: Path) -> SeriesTable:
    """Read one table.

    Raises:
        StorageError: The table cannot be read, is damaged or has another version.
    """
    try:
        data = parse_json(read_input(path, MODEL))
        if not isinstance(data, dict) or data.get("version") != VERSION:
            raise ValueError("it is of another version of Stripewise")
        table = from_json(SeriesTable, data)
        if len(table.rules) > _MOST_RULES:
            raise ValueError(f"it has more than {_MOST_RULES} rules")
        return table
    except (OSError, ValueError) as error:
        raise StorageError(
            f"the table {path} cannot be used: {error}; remove it, or train again"
        ) from error


def series_rules(
    command: Sequence[str], directory: Path, storage: EmulatedStorage | None = None
) -> tuple[tuple[SeriesRule, ...], tuple[str, ...]]:
    """Return the rules for later files of a series in a first run, and warnings.

    Args:
        command: Command of the run.
        directory: Working directory of the command.
        storage: Emulated storage; None if the real storage is used.
    """
    warnings: list[str] = []
    try:
        homes = (own_models(), *site_models(_policy_models()))
        paths = [path for home in homes for path in _tables(home)]
        if not paths:
            return (), ()
        here, family = _ground_of_directory(directory, storage), _family(command)
        found = [one for one in _read_all(paths, warnings) if _is_of(one, family, here)]
        newest = max(found, key=lambda table: table.made_unix_seconds, default=None)
        rules = () if newest is None else newest.rules
        _check(rules)
        return rules, tuple(warnings)
    except StripewiseError as error:
        return (), (*warnings, f"files of a series get no settings: {error}")


def _policy_models() -> tuple[str, ...]:
    if any(os.path.lexists(path) for path in (SITE_POLICY, user_policy_path())):
        from stripewise.settings import load_policy  # its import takes a tenth of a second

        return tuple(load_policy().models)
    return ()


def _tables(home: Path) -> list[Path]:
    try:
        return sorted((home / TABLES).glob("*.json"))[:_MOST_TABLES]
    except OSError:
        return []


def _read_all(paths: Sequence[Path], warnings: list[str]) -> Iterator[SeriesTable]:
    for path in paths:
        try:
            yield read_table(path)
        except StripewiseError as error:
            warnings.append(str(error))


def _ground_of_directory(directory: Path, storage: EmulatedStorage | None) -> Ground:
    """Return the ground of a directory without its stack, which no run has shown yet."""
    from stripewise.storage.machines import find_mount, known_storage

    described = storage.storage if storage is not None else None
    if described is None:
        known, _ = known_storage(directory)
        described = known.storage if known else None
    return ground_on(described, find_mount(directory).kind)


def _is_of(table: SeriesTable, family: str, here: Ground) -> bool:
    same = not table.ground.why_not(replace(here, stack=table.ground.stack))
    return same and table.mpi_family == family


def _family(command: Sequence[str]) -> str:
    import shutil

    from stripewise.run.runtime import launcher_family

    located = shutil.which(command[0]) if command else None
    return launcher_family(Path(os.path.realpath(located))) if located else ""


def _check(rules: Sequence[SeriesRule]) -> None:
    """Refuse rules with a setting that must not be applied here without being requested."""
    from stripewise.learning.adoption._question import check_adoptable

    for hints in {tuple(sorted(rule.mpiio.items())): rule.mpiio for rule in rules}.values():
        check_adoptable(Configuration((FileRule("*", mpiio=hints),)))
