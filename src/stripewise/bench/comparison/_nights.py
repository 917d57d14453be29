# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Nights on disk: a file of the exchange format for each, and one line with its figures.

`campaigns/` has all that is known of each night.  `nights.jsonl` has what the verdict and the page
need, so that years are read at once; it is only appended to, and is made anew from `campaigns/`
where it is missing or damaged.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import exp
from pathlib import Path
from typing import Any

import numpy as np

from stripewise.bench.campaign import Campaign, campaign_text, read_exchange
from stripewise.bench.comparison._cells import cells_of
from stripewise.bench.comparison._targets import target_effects
from stripewise.core import write_file
from stripewise.core.errors import StorageError, UsageError
from stripewise.core.inputs import HISTORY, parse_json, read_input

LINES = "nights.jsonl"
CAMPAIGNS = "campaigns"
VERSION = 1


@dataclass(frozen=True)
class Night:
    """One campaign of a history, in figures.

    Attributes:
        file: Its name below `campaigns/`.
        suite: Name of its suite.
        started_unix_seconds: When it began.
        rates: Key of a case, a tab, and an operation -> median, lowest and highest rate.
        targets: Operation, a blank and the number of a target -> rate on it by that on others.
        failed: Runs that did not end well.
        versions: Of what it ran with.
    """

    file: str
    suite: str
    started_unix_seconds: float
    rates: Mapping[str, tuple[float, float, float]]
    targets: Mapping[str, float] = field(default_factory=dict)
    failed: int = 0
    versions: Mapping[str, str] = field(default_factory=dict)


def night_of(campaign: Campaign, file: str) -> Night:
    """Return a campaign in figures."""
    rates = {
        f"{cell.case.key}\t{cell.operation}": tuple(
            float(f"{one:.6g}") for one in np.exp(np.quantile(cell.logs, (0.5, 0, 1)))
        )
        for cell in cells_of(campaign)
    }
    targets = {
        f"{operation} {target}": float(f"{exp(effect):.6g}")
        for (operation, target), effect in target_effects(campaign).items()
    }
    versions = campaign.about.get("versions")
    return Night(
        file,
        campaign.suite.name,
        campaign.started_unix_seconds,
        rates,  # type: ignore[arg-type]
        targets,
        sum(1 for run in campaign.runs if run.status != "ok"),
        {str(key): str(one) for key, one in versions.items()}
        if isinstance(versions, Mapping)
        else {},
    )


def add_night(directory: Path, campaign: Campaign) -> str:
    """Put a campaign into a history, which is made if need be; return the name of its file.

    A campaign that is in the history already is not added again.

    Raises:
        UsageError: The history is of another suite, or the campaign has no figures.
        StorageError: It cannot be written.
    """
    night = night_of(campaign, "")
    if not night.rates:
        raise UsageError(f"{campaign.name}: no run of this campaign ended well: nothing to add")
    before = _before(directory)
    if before and before[-1].suite != night.suite:
        raise UsageError(
            f"{directory} is a history of the suite {before[-1].suite}, and {campaign.name} is of "
            f"{night.suite}: keep a history for each suite"
        )
    text = campaign_text(campaign)
    file = _free_name(directory, night, text)
    if file in {one.file for one in before}:
        return file
    try:
        (directory / CAMPAIGNS).mkdir(parents=True, exist_ok=True)
        write_file(directory / CAMPAIGNS / file, text)
        _append(directory / LINES, [night_of(campaign, file)])
    except OSError as error:
        why = error.strerror or error
        raise StorageError(f"cannot write {directory}: {why}: choose another place") from error
    return file


def _before(directory: Path) -> list[Night]:
    """Return the nights of a history; none where it is still to be made."""
    if (directory / CAMPAIGNS).is_dir():
        return read_nights(directory)
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise UsageError(
            f"{directory} is no history, and is not empty: give a directory that is not there yet"
        )
    return []


def _free_name(directory: Path, night: Night, text: str) -> str:
    """Return the file's name; that of the same campaign, if it is there."""
    when = datetime.fromtimestamp(min(night.started_unix_seconds, 2e11), UTC)
    for number in range(1, 10_000):
        name = f"{when:%Y-%m-%dT%H%M%SZ}{f'-{number}' if number > 1 else ''}.json"
        place = directory / CAMPAIGNS / name
        if not place.exists() or place.read_text("utf-8", errors="replace") == text:
            return name
    raise UsageError(f"{directory} has 10,000 campaigns of one second: give their begin")


def _append(path: Path, nights: list[Night]) -> None:
    """Append lines in one write; after a line that was cut off, on a new one."""
    text = "".join(_line(one) for one in nights)
    if path.exists() and path.stat().st_size:
        with path.open("rb") as file:
            file.seek(-1, os.SEEK_END)
            text = text if file.read(1) == b"\n" else "\n" + text
    with path.open("ab") as file:
        file.write(text.encode())
        file.flush()
        os.fsync(file.fileno())


def _line(night: Night) -> str:
    document = {
        "version": VERSION,
        "file": night.file,
        "suite": night.suite,
        "started_unix_seconds": night.started_unix_seconds,
        "rates": night.rates,
        "targets": night.targets,
        "failed": night.failed,
        "versions": night.versions,
    }
    return json.dumps(document, allow_nan=False) + "\n"


def read_nights(directory: Path) -> list[Night]:
    """Return all nights of a history, by their begin.

    Lines that are missing or damaged are made anew from the campaigns; where the directory can be
    written they are kept.

    Raises:
        UsageError: It is no history.
    """
    if not (directory / CAMPAIGNS).is_dir():
        raise UsageError(
            f"{directory}: no history of campaigns: begin one with `stripewise bench history "
            f"{directory} --add CAMPAIGN`"
        )
    known = {night.file: night for night in _read_lines(directory / LINES)}
    names = {one.name for one in os.scandir(directory / CAMPAIGNS) if _is_night(one.name)}
    missing = [
        night_of(read_exchange(directory / CAMPAIGNS / name), name)
        for name in sorted(names - known.keys())
    ]
    if missing:
        _keep(directory / LINES, missing)
    found = [night for name, night in known.items() if name in names] + missing
    return sorted(found, key=lambda one: (one.started_unix_seconds, one.file))


def _is_night(name: str) -> bool:
    return name.endswith(".json") and not name.startswith(".")


def _keep(path: Path, nights: list[Night]) -> None:
    try:
        _append(path, nights)
    except OSError:
        return  # somebody else's history: it is only read


def _read_lines(path: Path) -> Iterator[Night]:
    try:
        text = read_input(path, HISTORY).decode("utf-8", errors="replace")
    except OSError:
        return
    for line in text.splitlines():
        try:
            yield _parsed(parse_json(line))
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
            continue  # cut off; its campaign is read instead


def _parsed(data: dict[str, Any]) -> Night:
    if data["version"] != VERSION:
        raise ValueError(data["version"])
    rates = {
        str(key): (float(one[0]), float(one[1]), float(one[2]))
        for key, one in data["rates"].items()
    }
    targets = {str(key): float(one) for key, one in data["targets"].items()}
    if min([one for three in rates.values() for one in three] + [*targets.values(), 1.0]) <= 0:
        raise ValueError("a rate is positive")
    for key in targets:
        operation, number = key.split(" ")
        if operation not in ("write", "read") or int(number) < 0:
            raise ValueError(key)
    if any("\t" not in key for key in rates):
        raise ValueError("a case has an operation")
    versions = {str(key): str(one) for key, one in data["versions"].items()}
    return Night(
        str(data["file"]), str(data["suite"]), float(data["started_unix_seconds"]), rates,
        targets, int(data["failed"]), versions,
    )  # fmt: skip
