# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Stores the campaigns of many nights, and finds what is slower and since when."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np

from stripewise.bench.campaign import Campaign, OfOperation, campaign_text, read_exchange
from stripewise.bench.comparison._cells import Floats, case_words, cells_of
from stripewise.bench.comparison._changes import LEAST_CHANGE, LEAST_NIGHTS, changes
from stripewise.bench.comparison._targets import difference_words, target_effects
from stripewise.core import write_file
from stripewise.core.errors import StorageError, UsageError
from stripewise.core.inputs import HISTORY, parse_json, read_input
from stripewise.present import plural

_DAY = 86400.0
_SAME_TIME = 3
"""Maximum distance in nights of changes that count as one event (chosen)."""


@dataclass(frozen=True)
class FigureHistory(OfOperation):
    """One figure of every night.

    Attributes:
        name: Name for users: "MPI-IO nodes=4, write", "write on target 7, beside the others".
        operation: "write", "create", ...
        case: Key of the case; empty for a target.
        target: Number of the target; -1 for a case.
    """

    name: str
    operation: str
    case: str = ""
    target: int = -1


@dataclass(frozen=True)
class Finding:
    """Lasting change of one figure.

    Attributes:
        series: Series that changed.
        since / earliest / latest: Index of the first night after it, with its interval of 95 %.
        found: Index of the night by which it was certain.
        since_unix_seconds: Start of that first night.
        ratio: Rate after the change relative to the rate before.
        low / high: Interval of 95 % of the ratio.
        versions: Programs whose versions changed then or within the interval, in words.
        is_open: Whether it is for the worse and has not been reversed.
    """

    series: FigureHistory
    since: int
    earliest: int
    latest: int
    found: int
    since_unix_seconds: float
    ratio: float
    low: float
    high: float
    versions: tuple[str, ...] = ()
    is_open: bool = False

    @property
    def sentence(self) -> str:
        """Sentence on what changed and since when, with its figures."""
        beside = " than before, relative to the other targets" if self.series.target >= 0 else ""
        name = (
            f"{self.series.operation} on target {self.series.target}"
            if self.series.target >= 0
            else self.series.name
        )
        text = f"since {day_of(self.since_unix_seconds)}, {name} is {difference_words(self)}"
        with_ = f"; changed at that time: {', '.join(self.versions)}" if self.versions else ""
        return text + beside + with_


def name_of(key: str) -> str:
    """Return the key of a case, a tab and an operation in words: "MPI-IO, 4 nodes, write"."""
    case, operation = key.split("\t")
    return f"{case_words(case)}, {operation}"


def day_of(unix_seconds: float) -> str:
    """Return a date: 2026-05-12."""
    return datetime.fromtimestamp(min(unix_seconds, 2e11), UTC).strftime("%Y-%m-%d")


@dataclass(frozen=True, eq=False)
class History:
    """Nights of one suite on one storage.

    Attributes:
        name: Name of its directory.
        nights: Nights by their start.
    """

    name: str
    nights: tuple[Night, ...] = field(repr=False)

    @classmethod
    def read(cls, directory: Path) -> History:
        """Read a history.

        Raises:
            UsageError: There is no history.
        """
        return cls(directory.resolve().name, tuple(read_nights(directory)))

    @cached_property
    def series(self) -> tuple[FigureHistory, ...]:
        """All series with a figure in at least one night: cases first, then targets."""
        keys = dict.fromkeys(key for night in self.nights for key in night.rates)
        targets = {key for night in self.nights for key in night.targets}
        cases = [FigureHistory(name_of(key), key.split("\t")[1], key) for key in keys]
        parted = sorted((key.split(" ")[0], int(key.split(" ")[1])) for key in targets)
        return (
            *cases,
            *(
                FigureHistory(
                    f"{way} on target {number}, relative to the others", way, target=number
                )
                for way, number in parted
            ),
        )

    @cached_property
    def values(self) -> Floats:
        """Natural logs of medians, or of rates on a target relative to others; NaN if missing."""
        found = np.full((len(self.nights), len(self.series)), np.nan)
        column = {one.case or f"{one.operation} {one.target}": at
                  for at, one in enumerate(self.series)}  # fmt: skip
        for row, night in enumerate(self.nights):
            for key, rate in night.rates.items():
                found[row, column[key]] = log(rate[0])
            for key, ratio in night.targets.items():
                found[row, column[key]] = log(ratio)
        return found

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """All lasting changes, the latest first; at the same time targets first."""
        days = np.array(
            [int(one.started_unix_seconds // _DAY) % 7 for one in self.nights], dtype=np.int64
        )
        found = changes(self.values, days)
        of_series: dict[int, list[int]] = {}
        for place, change in enumerate(found):
            of_series.setdefault(change.series, []).append(place)
        still_open = {
            place
            for places in of_series.values()
            for place in _unrecovered([(one, log(found[one].ratio)) for one in places])
        }
        findings = [
            Finding(
                self.series[one.series], one.since, one.earliest, one.latest, one.found,
                self.nights[one.since].started_unix_seconds, one.ratio, one.low, one.high,
                self._versions(one.earliest, one.latest), place in still_open,
            )
            for place, one in enumerate(found)
        ]  # fmt: skip
        return tuple(_in_report_order(findings))

    def _versions(self, earliest: int, latest: int) -> tuple[str, ...]:
        """Return the programs whose versions changed between nights, in words."""
        programs: dict[str, None] = {}
        for night in range(max(earliest, 1), min(latest + 1, len(self.nights))):
            old, new = self.nights[night - 1].versions, self.nights[night].versions
            for key in sorted(old.keys() & new.keys()):
                if old[key] != new[key]:
                    programs[f"{key} from {old[key]} to {new[key]}"] = None
        return tuple(programs)

    @property
    def open_findings(self) -> tuple[Finding, ...]:
        """Changes for the worse that have not been reversed."""
        return tuple(one for one in self.findings if one.is_open)

    @property
    def verdict(self) -> str:
        """Verdict on the last night: "learning", "unchanged" or "slower"."""
        if self.open_findings:
            return "slower"
        return "unchanged" if len(self.nights) > LEAST_NIGHTS else "learning"

    @property
    def sentences(self) -> tuple[str, ...]:
        """Verdict in sentences."""
        if not self.nights:
            return ("there is no night yet",)
        last, number = self.nights[-1], len(self.nights)
        texts = []
        if self.verdict == "learning":
            more = LEAST_NIGHTS + 1 - number
            texts.append(f"{plural(number, 'night')} so far: the first verdict needs {more} more")
        elif self.verdict == "unchanged":
            texts.append(
                f"nothing is slower after {plural(number, 'night')}, the last of them "
                f"{day_of(last.started_unix_seconds)}"
            )
        texts += [one.sentence for one in self.open_findings]
        texts += _missing(self.nights)
        return tuple(texts)


def _in_report_order(findings: Sequence[Finding]) -> Iterator[Finding]:
    """Yield findings in the order of the report: events by time, targets before cases."""
    left = sorted(findings, key=lambda one: -one.since)
    while left:
        latest = left[0].since
        together = [one for one in left if one.since >= latest - _SAME_TIME]
        left = left[len(together) :]
        yield from sorted(together, key=lambda one: (one.series.target < 0, one.ratio))


def _unrecovered(steps: Sequence[tuple[int, float]]) -> list[int]:
    """Return the indices of changes for the worse of which less than half was recovered later."""
    found = []
    for at, (place, step) in enumerate(steps):
        if step >= -LEAST_CHANGE:
            continue
        later = 0.0
        best = 0.0
        for _, other in steps[at + 1 :]:
            later += other
            best = max(best, later)
        if best < -step / 2:
            found.append(place)
    return found


def _missing(nights: Sequence[Night]) -> list[str]:
    """Return which figures the last night lacks."""
    last = nights[-1]
    texts = []
    if last.failed:
        texts.append(f"{plural(last.failed, 'run')} of the last night did not succeed")
    if len(nights) > 1:
        lost = _lost(nights[-2].rates, last.rates)
        if lost:
            more = f" and {lost - 1} more" if lost > 1 else ""
            name = name_of(next(key for key in nights[-2].rates if key not in last.rates))
            texts.append(f"the last night has no figure of {name}{more}")
    return texts


def _lost(before: Mapping[str, object], after: Mapping[str, object]) -> int:
    return sum(1 for key in before if key not in after)


# Nights on disk: a file of the exchange format for each, and one line with its figures.
#
# `campaigns/` contains all data of each night.  `nights.jsonl` contains what the verdict and the
# page need, so that years can be read at once; it is only appended to, and is rebuilt from
# `campaigns/` if it is missing or damaged.


LINES = "nights.jsonl"
CAMPAIGNS = "campaigns"
VERSION = 1


@dataclass(frozen=True)
class Night:
    """One campaign of a history, in figures.

    Attributes:
        file: Name of its file below `campaigns/`.
        suite: Name of its suite.
        started_unix_seconds: Start of the campaign.
        rates: Key of a case, a tab, and an operation to median, lowest and highest rate.
        targets: Operation, a blank and the number of a target to rate on it relative to others.
        failed: Number of failed runs.
        versions: Versions of the software that it used.
    """

    file: str
    suite: str
    started_unix_seconds: float
    rates: Mapping[str, tuple[float, float, float]]
    targets: Mapping[str, float] = field(default_factory=dict)
    failed: int = 0
    versions: Mapping[str, str] = field(default_factory=dict)


def night_of(campaign: Campaign, file: str) -> Night:
    """Return the figures of a campaign as a night."""
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
    """Add a campaign to a history, which is created if necessary; return the name of its file.

    A campaign that is already in the history is not added again.

    Raises:
        UsageError: The history is of another suite, or the campaign has no figures.
        StorageError: The history cannot be written.
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
    """Return the nights of a history; empty if it does not exist yet."""
    if (directory / CAMPAIGNS).is_dir():
        return read_nights(directory)
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise UsageError(
            f"{directory} is not a history, and is not empty: give a directory that does not "
            "exist yet"
        )
    return []


def _free_name(directory: Path, night: Night, text: str) -> str:
    """Return an unused file name; that of the same campaign if it is already there."""
    when = datetime.fromtimestamp(min(night.started_unix_seconds, 2e11), UTC)
    for number in range(1, 10_000):
        name = f"{when:%Y-%m-%dT%H%M%SZ}{f'-{number}' if number > 1 else ''}.json"
        place = directory / CAMPAIGNS / name
        if not place.exists() or place.read_text("utf-8", errors="replace") == text:
            return name
    raise UsageError(
        f"{directory} has 10,000 campaigns that began in the same second: give each its own start "
        "time"
    )


def _append(path: Path, nights: list[Night]) -> None:
    """Append lines in one write, starting a new line if the last one was cut off."""
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
    return json.dumps({"version": VERSION, **asdict(night)}, allow_nan=False) + "\n"


def read_nights(directory: Path) -> list[Night]:
    """Return all nights of a history, by their start.

    Lines that are missing or damaged are rebuilt from the campaigns, and stored if the directory
    is writable.

    Raises:
        UsageError: The directory is not a history.
    """
    if not (directory / CAMPAIGNS).is_dir():
        raise UsageError(
            f"{directory}: no history of campaigns: start one with `stripewise bench history "
            f"{directory} --add CAMPAIGN`"
        )
    known = {night.file: night for night in _read_lines(directory / LINES)}
    names = {one.name for one in os.scandir(directory / CAMPAIGNS) if _is_night(one.name)}
    missing = [
        night_of(read_exchange(directory / CAMPAIGNS / name), name)
        for name in sorted(names - known.keys())
    ]
    if missing:
        _try_append(directory / LINES, missing)
    found = [night for name, night in known.items() if name in names] + missing
    return sorted(found, key=lambda one: (one.started_unix_seconds, one.file))


def _is_night(name: str) -> bool:
    return name.endswith(".json") and not name.startswith(".")


def _try_append(path: Path, nights: list[Night]) -> None:
    try:
        _append(path, nights)
    except OSError:
        return  # another user's history, which is only read


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
