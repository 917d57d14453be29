# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Waiting for other ranks as calls of the replay program, in between those of a rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stripewise.model import Op
from stripewise.replay._columns import Columns, combined
from stripewise.replay._meetings import Meeting
from stripewise.replay._order import Wait
from stripewise.replay._tables import Tables

SYNC_VERBS = ("sync.signal", "sync.barrier", "sync.wait")
"""In the order in which they come before one call: so nobody waits in a circle."""


@dataclass(frozen=True, eq=False)
class _Added:
    """Calls that are put in, (n,) int64 each; `at`: before which calls of the program."""

    at: NDArray[np.int64]
    verb: NDArray[np.int64]
    offset: NDArray[np.int64]
    bytes: NDArray[np.int64]
    group: NDArray[np.int64]
    gap: NDArray[np.int64]


def with_waits(
    columns: Columns,
    rank: int,
    tables: Tables,
    waits: Sequence[Wait],
    meetings: Sequence[tuple[int, Meeting]],
    n_verbs: int,
) -> Columns:
    """Put signals, barriers and waits between the calls of a rank.

    Args:
        columns: Of the rank's own calls.
        rank: Whose.
        tables: For the numbers of files.
        waits: Of all ranks.
        meetings: Of all ranks, each with the number of its communicator.
        n_verbs: The verb of the first one of `SYNC_VERBS`.
    """
    parts = [
        *_messages(rank, tables, waits, n_verbs),
        *(_barriers(rank, number, one, n_verbs + 1) for number, one in meetings),
    ]
    parts = [part for part in parts if len(part.at)]
    if not parts:
        return columns
    names = ("at", "verb", "offset", "bytes", "group", "gap")
    added = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
    order = np.lexsort((added["bytes"], added["offset"], added["verb"], added["at"]))
    added = {name: values[order] for name, values in added.items()}
    met = added["verb"] == n_verbs + 1
    columns.values["gap"][added["at"][met]] = 0  # it passes before the barrier
    return _inserted(columns, added)


def _inserted(columns: Columns, added: dict[str, NDArray[np.int64]]) -> Columns:
    n, places = len(added["at"]), np.minimum(added["at"], len(columns.key))
    added["op"] = np.full(n, int(Op.META), np.int64)
    added["flags"] = np.zeros(n, np.int64)
    nothing = np.full(n, -1, np.int64)
    base = int(columns.key.max(initial=-1)) + 1
    keys = base + combined(added["verb"], added["bytes"], added["group"])
    merged = {
        name: np.insert(values, places, added.get(name, nothing))
        for name, values in columns.values.items()
    }
    return Columns(merged, np.insert(columns.key, places, keys))


def _messages(rank: int, tables: Tables, waits: Sequence[Wait], signal: int) -> list[_Added]:
    found: list[tuple[int, int, int, int]] = []
    for wait in waits:
        file = tables.file(wait.file)
        if wait.maker == rank:
            found.append((wait.after + 1, signal, wait.waiter, file))
        if wait.waiter == rank:
            found.append((wait.before, signal + 2, wait.maker, file))
    table = np.array(found, np.int64).reshape(-1, 4)
    none = np.full(len(found), -1, np.int64)
    return [_Added(table[:, 0], table[:, 1], table[:, 2], table[:, 3], none, none * 0)]


def _barriers(rank: int, communicator: int, meeting: Meeting, verb: int) -> _Added:
    places = meeting.of(rank)
    n = len(places)
    return _Added(
        places,
        np.full(n, verb),
        np.full(n, -1),
        np.zeros(n, np.int64),
        np.full(n, communicator),
        meeting.gap[:n],
    )
