# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Stores what jobs did to a file system, as a server counted it under Lustre's job names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from stripewise.centre.database.store._jobs import NameKeys, fitted, key_text, portions, put_all
from stripewise.centre.database.store._samples import file_system_key
from stripewise.centre.database.store._settle import KEY, WorkSums, resum, text_of
from stripewise.centre.database.tables._storage import JobLoad, JobTag
from stripewise.core.errors import UsageError

LONGEST_TAG = 255


class Load(NamedTuple):
    """What one job did to a file system in an interval, as one server counted it.

    Attributes:
        file_system: Name of the file system.
        tag: Job name as Lustre reports it; "" for jobs that are not distinguished.
        kind: "read", "write" or "metadata".
        at / seconds: The interval, in seconds since 1970.
        operations / moved_bytes / busy_seconds: Amounts; None if not reported.
        parts: Count by size of requests in bytes, or by name of operation; {} if not reported.
    """

    file_system: str
    tag: str
    kind: str
    at: int
    seconds: float
    operations: int | None
    moved_bytes: int | None = None
    busy_seconds: float | None = None
    parts: Mapping[str, int] = {}


def store_job_loads(
    connection: Connection,
    cluster: str,
    server: str,
    loads: Sequence[Load],
    templates: Sequence[Template] = (),
) -> set[int]:
    """Add rows; a row that exists already is increased.

    Args:
        connection: Connection within a transaction in which `write_alone` was called.
        cluster: Cluster of the clients; "" if not reported.
        server: Name of the server that counted.
        loads: New data.
        templates: Templates of the names that clients give to jobs.

    Returns:
        The job ids in the names, for which `settle` must be called.
    """
    cluster_id = NameKeys(connection).cluster(cluster)
    found: set[int] = set()
    for portion in portions(loads):  # all at once would take a kilobyte of memory each
        found |= _store(connection, cluster_id, server, portion, templates)
    return found


def _store(
    connection: Connection,
    cluster_id: int,
    server: str,
    loads: Sequence[Load],
    templates: Sequence[Template],
) -> set[int]:
    tags = _tags(connection, cluster_id, {one.tag for one in loads}, templates)
    systems = {name: file_system_key(connection, name) for name in {x.file_system for x in loads}}
    fresh: dict[tuple[Any, ...], WorkSums] = {}
    for one in loads:
        tag_id = tags[_kept(one.tag)][0]
        key = (systems[one.file_system], one.at, tag_id, one.kind, key_text(server, 255))
        row = WorkSums(
            one.at, one.at + one.seconds, one.operations, one.moved_bytes, one.busy_seconds,
            dict(one.parts),
        )  # fmt: skip
        fresh[key] = fresh[key] + row if key in fresh else row
    _add(connection, fresh)
    return {raw_id for _, raw_id in tags.values() if raw_id is not None}


def _add(connection: Connection, fresh: Mapping[tuple[Any, ...], WorkSums]) -> None:
    owners = dict[tuple[Any, ...], int | None]()
    every = dict(fresh)
    for row in _existing_rows(connection, fresh):
        key = tuple(row[: len(KEY)])
        every[key] = WorkSums.of_row(row) + fresh[key]
        owners[key] = row.job_id
    names = [column.name for column in KEY]
    rows = [
        {**dict(zip(names, key, strict=True)), **_row(one), "job_id": owners.get(key)}
        for key, one in sorted(every.items(), key=lambda item: item[0])
    ]
    put_all(connection, JobLoad, names, [fitted(JobLoad, row) for row in rows])
    resum(connection, {job_id for job_id in owners.values() if job_id is not None})


def _existing_rows(
    connection: Connection, fresh: Mapping[tuple[Any, ...], WorkSums]
) -> Iterable[Any]:
    """Yield the rows that exist already, found by the index on names and times."""
    moments = [key[1] for key in fresh]
    for tags in portions(sorted({key[2] for key in fresh})):
        query = select(*JobLoad.__table__.c).where(
            JobLoad.tag_id.in_(tags), JobLoad.at.between(min(moments), max(moments))
        )
        yield from (
            row for row in connection.execute(query).all() if tuple(row[: len(KEY)]) in fresh
        )


def _row(one: WorkSums) -> dict[str, Any]:
    return {
        "seconds": one.until - one.at,
        "operations": one.operations,
        "moved_bytes": one.moved_bytes,
        "busy_seconds": one.busy_seconds,
        "parts": text_of(one.parts),
    }


def _kept(tag: str) -> str:
    return key_text(tag, LONGEST_TAG)


def _tags(
    connection: Connection, cluster_id: int, texts: Iterable[str], templates: Sequence[Template]
) -> dict[str, tuple[int, int | None]]:
    """Return the keys of tags by their stored texts, creating new ones, and their job ids."""
    given = {_kept(text): text for text in texts}
    found = _known(connection, cluster_id, given)
    rows = [
        fitted(JobTag, {"cluster_id": cluster_id, "text": kept,
                        **parse_tag(given[kept], templates)._asdict()})
        for kept in sorted(given.keys() - found.keys())
    ]  # fmt: skip
    if rows:
        put_all(connection, JobTag, ("cluster_id", "text"), rows)
        found |= _known(connection, cluster_id, [row["text"] for row in rows])
    return found


def _known(
    connection: Connection, cluster_id: int, texts: Iterable[str]
) -> dict[str, tuple[int, int | None]]:
    found: dict[str, tuple[int, int | None]] = {}
    for portion in portions(sorted(texts)):
        query = select(JobTag.text, JobTag.id, JobTag.raw_id).where(
            JobTag.cluster_id == cluster_id, JobTag.text.in_(portion)
        )
        found |= {row.text: (row.id, row.raw_id) for row in connection.execute(query)}
    return found


# Templates of the names that Lustre gives to jobs, as in `jobid_name`.
#
# Source: jobid_interpret_string in Lustre's obdclass/jobid.c, and its manual, "jobid_name".

_CODE = re.compile(r"%(?:\.(\d{1,3}))?(.)|([^%]+|%$)", re.DOTALL)
_NUMBER = "(?:0|[1-9][0-9]*)"
_PATTERNS = {
    "e": r".+",
    "u": _NUMBER,
    "g": _NUMBER,
    "p": _NUMBER,
    "j": rf"(?:{_NUMBER})?",
    "h": r"[0-9.-]*[A-Za-z_][A-Za-z0-9._-]*",
    "H": r"[0-9-]*[A-Za-z_][A-Za-z0-9_-]*",
}
"""Patterns of values by code: executable, uid, gid, pid, job id ("" outside of jobs, and numeric
like Slurm's), host name and short host name (which is not a number)."""
KEPT = {"e": "program", "u": "uid", "j": "raw_id", "h": "host", "H": "host"}
"""Codes with information about the job."""
LONGEST_BYTES = 31
"""Length to which Lustre cuts its names. Source: LUSTRE_JOBID_SIZE."""
_MOST_STEPS = 20_000
_PART_MOST = 16


@dataclass(frozen=True)
class _Part:
    """A code with its maximum number of characters (0 for any), or literal text."""

    code: str
    most: int
    text: str
    whole: re.Pattern[str]


class Template:
    """One `jobid_name`, such as "%e.%u"; alternatives are separated by "?", as in "%j?%H"."""

    def __init__(self, text: str) -> None:
        """Parse a template.

        Raises:
            UsageError: It has no code, or one that Lustre does not know.
        """
        self.text = text
        self._forms = [_parts("".join(form.split())) for form in text.split("?")]
        if not any(part.code for form in self._forms for part in form):
            raise UsageError(
                f"the jobid_name {text!r} has no code: give it as Lustre has it: %e.%u"
            )

    def readings(self, tag: str) -> set[tuple[tuple[str, str], ...]] | None:
        """Return what a name may mean, each way as pairs (field, value) sorted by field.

        Values that may have been cut off are left out. None if there are too many ways.
        """
        found: set[tuple[tuple[str, str], ...]] = set()
        is_cut = len(tag.encode("utf-8", "replace")) >= LONGEST_BYTES
        steps = [0]
        for form in self._forms:
            for values in _ways(tag, form, 0, 0, steps):
                found.add(_parts_kept(form, values, is_cut))
                if len(found) > 1:
                    return found
        return None if steps[0] > _MOST_STEPS else found


def _parts(text: str) -> list[_Part]:
    found = []
    for most, code, plain in _CODE.findall(text):
        if plain and plain != "%":
            found.append(_Part("", 0, plain, re.compile(re.escape(plain))))
        elif code in _PATTERNS:
            found.append(_Part(code, int(most or 0), "", re.compile(_PATTERNS[code], re.DOTALL)))
        else:
            raise UsageError(
                f"{'%' + code!r} is not a code of a jobid_name: use %e, %g, %h, %H, %j, %p and %u"
            )
    if sum(1 for part in found if part.code) > _PART_MOST:
        raise UsageError(f"the jobid_name {text[:40]!r} has over {_PART_MOST} codes: shorten it")
    return found


def _ways(
    tag: str, form: list[_Part], index: int, place: int, steps: list[int]
) -> Iterator[list[str]]:
    """Yield the values of all parts, in every way in which they can form a name."""
    steps[0] += 1
    if steps[0] > _MOST_STEPS:
        return
    if index == len(form):
        if place == len(tag):
            yield []
        return
    part = form[index]
    if not part.code:
        if tag.startswith(part.text, place):
            for rest in _ways(tag, form, index + 1, place + len(part.text), steps):
                yield [part.text, *rest]
        return
    last = len(tag) if not part.most else min(len(tag), place + part.most)
    for end in range(place, last + 1):
        if part.whole.fullmatch(tag, place, end):
            for rest in _ways(tag, form, index + 1, end, steps):
                yield [tag[place:end], *rest]


def _parts_kept(form: list[_Part], values: list[str], is_cut: bool) -> tuple[tuple[str, str], ...]:
    found: dict[str, str] = {}
    for number, (part, value) in enumerate(zip(form, values, strict=True)):
        whole = not (part.most and len(value) >= part.most)
        if is_cut and number == len(form) - 1:
            whole = False
        if part.code in KEPT and value and whole:
            found.setdefault(KEPT[part.code], value)
    return tuple(sorted(found.items()))


# Interpretation of the names that Lustre gives to jobs.

_NUMBER_TAGS = re.compile(r"0|[1-9][0-9]{0,18}", re.ASCII)
_MOST_ID = 1 << 63
_MOST_UID = 1 << 32


class TagParts(NamedTuple):
    """Facts in a job name; None if it does not contain them.

    Attributes:
        raw_id: Slurm's job number; tasks of arrays and components of heterogeneous jobs have their
            own.
        user / uid / program / host: User, executable and host of the processes.
    """

    raw_id: int | None = None
    user: str | None = None
    uid: int | None = None
    program: str | None = None
    host: str | None = None


UNKNOWN = TagParts()


def parse_tag(text: str, templates: Sequence[Template]) -> TagParts:
    """Return the facts that a job name contains.

    A name that is a number is a job id, as `jobid_var=SLURM_JOB_ID` produces it; other names have
    a form of `jobid_name`. A name that fits no form, or several forms with different results,
    yields nothing: nothing is guessed. The same holds for a value at the end of a name that Lustre
    has cut off.

    Args:
        text: Name as Lustre reports it.
        templates: All templates that the clients use, or have used.
    """
    ways: set[tuple[tuple[str, str], ...]] = set()
    if _NUMBER_TAGS.fullmatch(text) and int(text) > 0 and len(text) < LONGEST_BYTES:
        ways.add((("raw_id", text),))
    for template in templates:
        found = template.readings(text)
        if found is None:
            return UNKNOWN
        ways |= found
    return _tag_parts(dict(ways.pop())) if len(ways) == 1 else UNKNOWN


def _tag_parts(facts: dict[str, str]) -> TagParts:
    return TagParts(
        raw_id=_number(facts.get("raw_id"), _MOST_ID) or None,  # 0 is not a job
        uid=_number(facts.get("uid"), _MOST_UID),
        program=facts.get("program"),
        host=facts.get("host"),
    )


def _number(text: str | None, bound: int) -> int | None:
    if text is None or not _NUMBER_TAGS.fullmatch(text):
        return None
    number = int(text)
    return number if number < bound else None
