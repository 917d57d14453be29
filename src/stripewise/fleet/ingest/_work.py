# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a worker does with an input: look at it, then read it into records.

It runs in a process of its own, so that a reader that crashes or hangs takes nothing along.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from stripewise.errors import RuntimeMissingError, StripewiseError
from stripewise.fleet._of_profile import Origin
from stripewise.fleet._records import Record
from stripewise.fleet.ingest._base import HEAD_BYTES, RefusedError
from stripewise.fleet.ingest._held import ChangedError, held
from stripewise.fleet.ingest._identity import content_digest, identity
from stripewise.fleet.ingest._owner import check_trust, owned, trusted_users
from stripewise.fleet.ingest._registry import FEEDS, feed_of
from stripewise.fleet.ingest._walk import UNREADABLE, Input, stamp_of
from stripewise.inputs import open_input


@dataclass(frozen=True)
class Look:
    """Task: of which kind an input is, and the digest of its content."""

    input: Input


@dataclass(frozen=True)
class Read:
    """Task: read an input of which these facts are known."""

    input: Input
    feed: str
    digest: str
    cluster: str = ""
    mounts: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class Looked:
    """Answer: its feed, "" for none, and digest."""

    feed: str
    digest: str


@dataclass(frozen=True)
class Stored:
    """Answer: records to store."""

    kind: str
    records: tuple[Record, ...]
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class Refused:
    """Answer: why an input is not taken in.

    Attributes:
        kind: Of the input.
        reason: One sentence.
        of_owner: The same content is good if somebody else gives it.
    """

    kind: str
    reason: str
    of_owner: bool = False


@dataclass(frozen=True)
class Later:
    """Answer: why an input is left for the next time."""

    reason: str


Task = Look | Read
Answer = Looked | Stored | Refused | Later


def work(task: Task) -> Answer:
    """Carry out a task; whatever an input does to its reader becomes an answer."""
    answer = _answer(task)
    if isinstance(answer, Later):
        return answer
    try:
        stamp = stamp_of([path for _, path in task.input.files])
    except OSError as error:
        return Later(_unreadable(error))
    return answer if stamp == task.input.stamp else Later("it changed while it was read")


def _answer(task: Task) -> Answer:
    place = task.input.path
    try:
        with ExitStack() as stack:
            if task.input.stamp.owner not in trusted_users():
                place = stack.enter_context(held(task.input))
            return _look(task.input, place) if isinstance(task, Look) else _read(task, place)
    except (RuntimeMissingError, ChangedError) as error:
        return Later(str(error))
    except OSError as error:
        if isinstance(error, StripewiseError):
            return _refused(task, error, place)
        return Later(_unreadable(error))
    except RefusedError as error:
        return Refused(_kind(task), str(error), of_owner=True)
    except Exception as error:
        return _refused(task, error, place)


def _look(one: Input, place: Path) -> Looked:
    head = b""
    if not one.names:
        with open_input(place) as file:
            head = file.read(HEAD_BYTES)
    feed = feed_of(place, head)
    if feed is None:
        return Looked("", "")
    files = ((name, place / name) for name, _ in one.files)
    return Looked(feed.name, content_digest(files, feed.content_bytes))


def _read(task: Read, place: Path) -> Stored:
    feed = next(one for one in FEEDS if one.name == task.feed)
    trusted = trusted_users()
    check_trust(feed, task.input.stamp, trusted)
    origin = Origin(feed.name, task.digest, task.input.path.name, task.cluster, task.mounts)
    reading = feed.read(place, origin)
    owner = task.input.stamp.owner
    records = tuple(owned(record, owner, trusted) for record in reading.records)
    kinds = {one.kind for one in records if hasattr(one, "kind")}
    kind = kinds.pop() if len(kinds) == 1 else feed.name
    return Stored(kind, records, reading.problems)


def _kind(task: Task) -> str:
    return task.feed if isinstance(task, Read) else ""


def _refused(task: Task, error: Exception, place: Path) -> Refused:
    what = _sentence(error, task.input.path, place)
    if not isinstance(error, StripewiseError):
        what = f"{type(error).__name__}: {what}"
    return Refused(_kind(task), what)


def _unreadable(error: OSError) -> str:
    """Return why, in words that are the same for many inputs: they are counted by them."""
    return f"{UNREADABLE}: {error.strerror or error}"


def _sentence(error: BaseException, path: Path, place: Path) -> str:
    """Return an error in one line, without the path that stands beside it.

    Args:
        error: Any.
        path: Of the input.
        place: Where it was read.
    """
    text = " ".join(str(error).replace(os.fspath(place), os.fspath(path)).split())[:1000]
    return text.removeprefix(f"{os.fspath(path)}: ") or type(error).__name__


def digest_of_owner(digest: str, owner: int) -> str:
    """Return the digest of a content as this owner gave it."""
    return identity("owner", digest, owner)
