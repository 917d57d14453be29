# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the record of a run that is stored: its profile, and rows that can be searched.

The profile is authoritative; every row is derived from it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from stripewise.centre.database._records import Row, SourceRecord, known_amount, split
from stripewise.core import Amount, total
from stripewise.evidence.diagnosis import diagnose, profile_to_json
from stripewise.evidence.facts import file_family
from stripewise.evidence.patterns import find_patterns
from stripewise.evidence.trace import Evidence
from stripewise.present import finite, printable
from stripewise.storage.machines import storage_of_files

LONGEST_NAME = 255
_NOT_LISTED = "the profile does not list all files"
_UID = re.compile(r"uid (\d{1,10})", re.ASCII)
_JOB_ID = re.compile(r"0*[1-9]\d{0,17}", re.ASCII)
_WORD = re.compile(r"\S+")


@dataclass(frozen=True)
class Origin:
    """Origin of a profile.

    Attributes:
        kind / digest / name: See `tables.JobSource`.
        cluster: Cluster on which the input was made; "" if not reported.
        mounts: Mount point and name of each file system, the longest first.
    """

    kind: str
    digest: str
    name: str
    cluster: str = ""
    mounts: Sequence[tuple[str, str]] = ()


def source_of(evidence: Evidence, origin: Origin) -> SourceRecord:
    """Return the record of a run, with the profile that `stripewise profile` prints."""
    profile = evidence.profile
    document = next(documents(evidence))
    uid = _UID.fullmatch(profile.user)
    start = profile.start if profile.start > 0 else None
    return record_of(
        document,
        origin,
        user="" if uid else profile.user,
        uid=int(uid[1]) if uid else None,
        start_at=start,
        end_at=None if start is None else start + profile.elapsed_seconds,
    )


def documents(evidence: Evidence, numbers: Iterable[int | None] = (None,)) -> Iterator[Any]:
    """Yield the profile of a run as JSON.

    Args:
        evidence: Evidence of the run.

        numbers: For each number, one profile is made that lists so many files, those that took
            most time; None lists all files.
    """
    profile = evidence.profile
    patterns = find_patterns(evidence.accesses)
    costs = storage_of_files(profile.paths, profile.hosts).costs
    diagnosis = diagnose(evidence, patterns, costs)
    for number in numbers:
        yield profile_to_json(diagnosis, patterns, files=number)


def record_of(
    document: Mapping[str, Any],
    origin: Origin,
    *,
    user: str = "",
    uid: int | None = None,
    start_at: float | None = None,
    end_at: float | None = None,
) -> SourceRecord:
    """Return the record of a profile.

    Args:
        document: Profile as `stripewise profile --json` prints it.
        origin: Origin of the profile.
        user: User of the run; "" if not reported.
        uid: Number of that user; None if not reported.
        start_at: Time when the run began; None if not reported.
        end_at: Time when the run ended.
    """
    document = finite(document)
    head, lists = split(document)
    raw_id = str(document["job_id"])
    return SourceRecord(
        kind=origin.kind,
        digest=origin.digest,
        name=clean(origin.name),
        program=program_of(str(document["command"])),
        figures=document["figures"],
        document=head,
        rows=lists,
        cluster=origin.cluster,
        raw_id=int(raw_id) if _JOB_ID.fullmatch(raw_id) else None,
        user=user,
        uid=uid,
        start_at=start_at,
        end_at=end_at,
        is_partial=bool(document["partial"]),
        io=_io_rows(document["files"], origin.mounts),
        files=tuple(map(_file_row, document["files"])),
        patterns=_pattern_rows(document),
        findings=tuple(map(_finding_row, document["findings"])),
        settings=_setting_rows(document["files"]),
    )


def clean(text: str, longest: int = LONGEST_NAME) -> str:
    """Return foreign text in a form a database accepts: no control characters, limited length."""
    return printable(text)[:longest]


def program_of(command: str) -> str:
    """Return the name of the executable in a command line, without directories."""
    first = _WORD.search(command)
    return clean(PurePosixPath(first[0]).name) if first else ""


def file_class(path: str) -> str:
    """Return a glob pattern for a path and all paths that differ from it only by numbers."""
    name = path if path.startswith("<") else PurePosixPath(path).name
    return printable(file_family(name))


def file_system(path: str, mounts: Sequence[tuple[str, str]]) -> str:
    """Return the file system of a path: by its mount point, else by the first directory."""
    for mount, name in mounts:
        if path == mount or path.startswith(mount.rstrip("/") + "/"):
            return name
    parts = PurePosixPath(path).parts
    return clean("/" + parts[1]) if len(parts) > 1 and parts[0] == "/" else ""


def form_of(notation: str) -> str:
    """Return a pattern without its sizes: "<3D, (BLOCK, *, *)>"."""
    text = notation.strip()
    head, cut, _ = text.rpartition("), (")
    return clean(f"{head})>" if cut else text)


def _io_rows(files: Sequence[Row], mounts: Sequence[tuple[str, str]]) -> tuple[Row, ...]:
    found: dict[str, list[Row]] = defaultdict(list)
    for one in files:
        if name := file_system(one["path"], mounts):
            found[name].append(one)
    return tuple({"file_system": name, **_sums(rows)} for name, rows in sorted(found.items()))


def _sums(files: Sequence[Row]) -> dict[str, Any]:
    """Sum figures over files; if one is unknown, the sum is marked as a lower bound."""
    sums = {
        name: total(known_amount(one, name) for one in files)
        for name in ("read_bytes", "write_bytes", "cumulated_seconds", "meta_operations")
    }
    return {
        "file_count": len(files),
        **{name: amount.value for name, amount in sums.items()},
        "missing": {name: amount.why for name, amount in sums.items() if amount.why},
    }


_FILE_COLUMNS = (
    *("read_bytes", "write_bytes", "read_calls", "write_calls", "meta_operations"),
    *("elapsed_seconds", "rank_count"),
)


def _file_row(one: Row) -> Row:
    layout = one["layout"]
    return {
        "path": printable(one["path"]),
        "file_class": file_class(one["path"]),
        "interface": clean(one["interface"], 64),
        **{column: one[column] for column in _FILE_COLUMNS},
        "stripe_count": layout["stripe_count"] or None,
        "stripe_bytes": layout["stripe_bytes"] or None,
        "missing": one.get("missing", {}),
    }


def _pattern_rows(document: Mapping[str, Any]) -> tuple[Row, ...]:
    """Return one row for each kind of pattern in each class of files, the largest first."""
    lost: dict[str, float] = {}
    for found in document["findings"]:
        cost = found["cost_seconds"]
        for name in {file_class(path) for path in found["files"]} if cost is not None else ():
            lost[name] = max(lost.get(name, cost), cost)
    moved = {one["path"]: one for one in document["files"]}
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    amounts: dict[tuple[Any, ...], list[Amount]] = defaultdict(list)
    counted: set[tuple[Any, ...]] = set()
    for one in document["patterns"]:
        name, form = file_class(one["file"]), form_of(one["notation"])
        key = (name, one["writing"], form)
        rows.setdefault(
            key,
            {
                "file_class": name,
                "dataset": printable(one["dataset"]),
                "is_write": one["writing"],
                "form": form,
                "notation": printable(one["notation"]),
                "element_bytes": one["element_bytes"],
                "lost_seconds": lost.get(name),
            },
        )
        if (key, one["file"]) not in counted:
            counted.add((key, one["file"]))
            amounts[key].append(_moved(moved.get(one["file"]), one["writing"]))
    for key, row in rows.items():
        amount = total(amounts[key])
        row["moved_bytes"] = amount.value
        row["missing"] = {"moved_bytes": amount.why} if amount.why else {}
    return tuple(sorted(rows.values(), key=lambda row: -(row["moved_bytes"] or 0)))


def _moved(file: Row | None, writing: bool) -> Amount:
    """Return the bytes moved in a file that has a pattern; unknown if not reported."""
    if file is None:
        return Amount.of(None, _NOT_LISTED)
    amount = known_amount(file, "write_bytes" if writing else "read_bytes")
    return Amount.of(amount.value or None, amount.why)


def _finding_row(one: Row) -> Row:
    return {
        "code": clean(one["code"], 64),
        "severity": one["severity"],
        "phrase": printable(one["phrase"]),
        "cost_seconds": one["cost_seconds"],
        "least_seconds": one["least_seconds"],
        "most_seconds": one["most_seconds"],
        "is_measured": one["measured"],
        "file_count": one["n_files"],
    }


def _setting_rows(files: Sequence[Row]) -> tuple[Row, ...]:
    """Return the requested, applied and reported hints by class of files."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for one in files:
        hints = one["hints"]
        for column, kind in (
            ("requested", "requested"), ("applied", "applied"), ("effective", "reported"),
        ):  # fmt: skip
            for key, value in hints[kind].items():
                row = found.setdefault(
                    (file_class(one["path"]), clean(key, 64)),
                    {"requested": None, "applied": None, "effective": None},
                )
                row[column] = printable(value)
    return tuple(
        {"file_class": name, "name": key, **row} for (name, key), row in sorted(found.items())
    )
