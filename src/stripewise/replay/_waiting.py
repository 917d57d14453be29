# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Waiting for other ranks as calls of the replay program, in between those of a rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.model import Op
from stripewise.replay._columns import CALL, combined
from stripewise.replay._meetings import Meeting
from stripewise.replay._order import Wait
from stripewise.replay._tables import Tables

SYNC_VERBS = ("sync.signal", "sync.barrier", "sync.wait")
"""In the order in which they come before one call: so nobody waits in a circle."""


_ADDED = np.dtype([(name, "<i8") for name in ("at", "verb", "offset", "bytes", "group", "gap")])
"""A call that is put in; `at`: before which call of the program."""


def with_waits(
    calls: NDArray[Any],
    rank: int,
    tables: Tables,
    waits: Sequence[Wait],
    meetings: Sequence[tuple[int, Meeting]],
    n_verbs: int,
) -> NDArray[Any]:
    """Put signals, barriers and waits between the calls of a rank.

    Args:
        calls: (n,) `CALL`, the rank's own.
        rank: Whose.
        tables: For the numbers of files.
        waits: Of all ranks.
        meetings: Of all ranks, each with the number of its communicator.
        n_verbs: The verb of the first one of `SYNC_VERBS`.
    """
    barriers = (_barriers(rank, number, one, n_verbs + 1) for number, one in meetings)
    added = np.concatenate([_messages(rank, tables, waits, n_verbs), *barriers])
    if not len(added):
        return calls
    added = added[np.lexsort([added[name] for name in ("bytes", "offset", "verb", "at")])]
    met = added["verb"] == n_verbs + 1
    calls["gap"][added["at"][met]] = 0  # it passes before the barrier
    made = np.full(len(added), -1, CALL)
    for name in ("verb", "offset", "bytes", "group", "gap"):
        made[name] = added[name]
    made["op"], made["flags"] = Op.META, 0
    made["key"] = combined(added["verb"], added["bytes"], added["group"])
    made["key"] += calls["key"].max(initial=-1) + 1
    return np.insert(calls, np.minimum(added["at"], len(calls)), made)


def _messages(rank: int, tables: Tables, waits: Sequence[Wait], signal: int) -> NDArray[Any]:
    found = []
    for wait in waits:
        file = tables.file(wait.file)
        if wait.maker == rank:
            found.append((wait.after + 1, signal, wait.waiter, file, -1, 0))
        if wait.waiter == rank:
            found.append((wait.before, signal + 2, wait.maker, file, -1, 0))
    return np.array(found, _ADDED)


def _barriers(rank: int, communicator: int, meeting: Meeting, verb: int) -> NDArray[Any]:
    places = meeting.of(rank)
    added = np.zeros(len(places), _ADDED)
    added["at"], added["verb"], added["offset"] = places, verb, -1
    added["group"], added["gap"] = communicator, meeting.gap[: len(places)]
    return added
