# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Whose an input may be: nobody can put jobs into somebody else's list.

A record that names a user counts only if the file is that user's, or of somebody who is trusted:
root, and whoever takes it in.  What names no user is its file's owner's.  Of which job it then is
follows from who its owner is shown to be, unless its owner is trusted (`_match`).
"""

from __future__ import annotations

import os
import pwd
from dataclasses import replace
from functools import cache

from stripewise.fleet._records import PairRecord, Record, SourceRecord
from stripewise.fleet.ingest._base import Feed, RefusedError
from stripewise.fleet.ingest._identity import identity
from stripewise.fleet.ingest._walk import Stamp

ROOT = 0


def trusted_users() -> frozenset[int]:
    """Return the users whose files are believed, whatever they say."""
    return frozenset((ROOT, os.geteuid()))


def check_trust(feed: Feed, stamp: Stamp, trusted: frozenset[int]) -> None:
    """Refuse an input that this owner may not give.

    Raises:
        RefusedError: With the reason.
    """
    if stamp.is_mixed:
        raise RefusedError("its files belong to different users: they are not of one run")
    if feed.needs_trust and stamp.owner not in trusted:
        raise RefusedError(
            f"it belongs to {_user(stamp.owner)}, and tells of others: only files of root and of "
            "the user who takes them in are believed"
        )


def owned(record: Record, owner: int, trusted: frozenset[int]) -> Record:
    """Return a record as its owner may give it.

    Raises:
        RefusedError: It tells of another user.
    """
    if isinstance(record, PairRecord):
        # nobody may tell somebody else's study anew
        digest = identity(record.digest, owner)
        return replace(record, digest=digest, user="" if owner == ROOT else name_of(owner))
    if not isinstance(record, SourceRecord):
        return record
    record = replace(record, is_vouched=owner in trusted)
    if record.uid is None and not record.user:
        if owner == ROOT:
            return record
        return replace(record, uid=owner, user=name_of(owner))
    if record.uid == owner:
        return replace(record, user=name_of(owner) or (record.user if owner in trusted else ""))
    if owner not in trusted:
        whose = f"uid {record.uid}" if record.uid is not None else record.user
        raise RefusedError(
            f"it tells of a run of {whose}, and its file belongs to {_user(owner)}: only that "
            "user, root and the user who takes it in are believed"
        )
    return record


@cache
def name_of(uid: int) -> str:
    """Return the name of a user of this host; "" if there is none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except (KeyError, OverflowError):
        return ""


def _user(uid: int) -> str:
    name = name_of(uid)
    return f"{name} (uid {uid})" if name else f"uid {uid}"
