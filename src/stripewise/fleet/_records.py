# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What inputs are read into before anything is stored: plain, frozen, checked.

Times are seconds since 1970 (UTC); None is what an input does not tell.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from stripewise.model import Amount

Row = Mapping[str, Any]


def known_amount(row: Row, name: str) -> Amount:
    """Return a figure of a row, with what its `missing` says of it."""
    return Amount.of(row.get(name), row.get("missing", {}).get(name, ""))


@dataclass(frozen=True)
class JobRecord:
    """One run of a job, as the scheduler's accounting tells it.

    Attributes:
        cluster / raw_id / submit_at: Together its key.
        sluid: Slurm's identity of the run; "" before 24.11.
        user / uid / account: Whose.
        columns: Further columns of `tables.Job` by name.
    """

    cluster: str
    raw_id: int
    submit_at: int
    sluid: str = ""
    user: str = ""
    uid: int | None = None
    account: str = ""
    start_at: int | None = None
    end_at: int | None = None
    columns: Row = field(default_factory=dict)


@dataclass(frozen=True)
class SourceRecord:
    """The profile of one run of a program, and the rows that follow from it.

    Attributes:
        kind / digest / name: As in `tables.JobSource`.
        cluster: "" if the input does not tell it.
        raw_id: Of Slurm; None: it ran in no job, or its job is not told.
        user / uid: Whose; "" and None if they are not told.
        is_vouched: Its file belongs to root, or to whoever takes it in.
        program: Name of the executable, without directories.
        start_at / end_at: Of the program.
        figures: Of the profile.
        document / rows: Compressed JSON.
        io / files / patterns / findings / settings: Rows of the tables, without their source.
    """

    kind: str
    digest: str
    name: str
    program: str
    figures: Row
    document: bytes
    rows: bytes
    cluster: str = ""
    raw_id: int | None = None
    user: str = ""
    uid: int | None = None
    start_at: float | None = None
    end_at: float | None = None
    is_partial: bool = False
    is_vouched: bool = False
    io: tuple[Row, ...] = ()
    files: tuple[Row, ...] = ()
    patterns: tuple[Row, ...] = ()
    findings: tuple[Row, ...] = ()
    settings: tuple[Row, ...] = ()


@dataclass(frozen=True)
class PairRecord:
    """A gain that a study showed; the columns of `tables.PairedRun` by name.

    Without columns the study shows none, whatever it showed before.
    """

    digest: str
    program: str
    user: str
    columns: Row


@dataclass(frozen=True)
class CampaignRecord:
    """A campaign of benchmarks, and its figures."""

    digest: str
    columns: Row
    figures: tuple[Row, ...]


@dataclass(frozen=True)
class SampleRecord:
    """Samples of one series: rows of (at, seconds, value)."""

    file_system: str
    server: str
    target: str
    metric: str
    unit: str
    is_counter: bool
    values: tuple[tuple[int, float, float], ...]


@dataclass(frozen=True)
class EventRecord:
    """An event of a storage, or advice of the site."""

    file_system: str
    at: int
    until: int | None
    kind: str
    text: str


Record = (
    JobRecord | SourceRecord | PairRecord | CampaignRecord | SampleRecord | EventRecord
)  # fmt: skip
