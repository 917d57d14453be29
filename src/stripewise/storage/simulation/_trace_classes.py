# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Divides a trace into stretches, and its ranks into classes that do the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from math import log2
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stripewise.evidence.trace import Evidence
from stripewise.storage.simulation._trace_rows import (
    Operation,
    counted_files,
    library_begin,
    own_files,
    own_request_rows,
)
from stripewise.storage.stacks import Stretch, TracedCalls, Turns, sampled_processes

# A traced program's time in stretches, in each of which ranks repeat the same calls. Calls are of
# one kind if they have the same operation, sizes within a factor of two, and files that the same
# number of ranks use. A rank enters its next stretch when it has made many calls of one kind and
# then makes many of another one; rare calls belong to what follows.

LONG = (4, 16, 64, 256, 1024)
"""Number of consecutive calls of one kind that form a stretch: the first of these numbers with
which a rank has at most twice as many stretches (chosen)."""

Ints = NDArray[np.int64]


class CallGroup(NamedTuple):
    """Calls of one kind that one rank makes in one of its stretches.

    Attributes:
        kind: Number of the kind.
        what: `Operation` of the calls.
        sharers: Number of ranks that use the file together.
        number / bytes: Number and bytes of all the calls.
        files: Number of files that they use.
        begin / low / high: Offsets in a file, as in `REQUEST_ROW`.
        granule: Divisor of offsets and sizes, as in `REQUEST_ROW`.
        file: First file.
        start_ns: Start of the first call.
    """

    kind: int
    what: int
    sharers: int
    number: float
    bytes: float
    files: int
    begin: int
    low: int
    high: int
    granule: int
    file: int
    start_ns: int


def parts_of(rows: NDArray[Any]) -> dict[int, list[list[CallGroup]]]:
    """Return the stretches of each rank in order, each with its calls by kind.

    Args:
        rows: (n,) `REQUEST_ROW`, by rank and order.
    """
    if not len(rows):
        return {}
    sharers = _sharers(rows)
    kind = _kinds(rows, sharers)
    stretch = _stretches(rows, kind)
    order = np.lexsort((rows["first"], kind, stretch))
    rows, kind, stretch, sharers = rows[order], kind[order], stretch[order], sharers[order]
    first = np.flatnonzero(_changes(stretch, kind))
    different = _changes(stretch, kind, rows["file"][np.lexsort((rows["file"], kind, stretch))])
    columns = zip(
        stretch[first].tolist(), rows["rank"][first].tolist(), kind[first].tolist(),
        rows["what"][first].tolist(), sharers[first].tolist(),
        np.add.reduceat(rows["number"], first).tolist(),
        np.add.reduceat(rows["number"] * rows["size"], first).tolist(),
        np.add.reduceat(different, first, dtype=np.int64).tolist(),
        rows["begin"][first].tolist(), np.minimum.reduceat(rows["low"], first).tolist(),
        np.maximum.reduceat(rows["high"], first).tolist(),
        np.gcd.reduceat(rows["granule"], first).tolist(), rows["file"][first].tolist(),
        rows["start_ns"][first].tolist(), strict=True,
    )  # fmt: skip
    found: dict[int, list[list[CallGroup]]] = {}
    last = -1
    for number, rank, *of_part in columns:
        mine = found.setdefault(rank, [])
        if number != last:
            mine.append([])
        mine[-1].append(CallGroup(*of_part))
        last = number
    return found


def _sharers(rows: NDArray[Any]) -> Ints:
    """Return how many ranks access the file in the same way, for data calls; otherwise 1."""
    data = rows["what"] <= Operation.WRITE
    keys = np.stack([rows["file"], rows["what"], rows["rank"]], axis=1)[data]
    pairs = np.unique(keys, axis=0)
    files, number = np.unique(pairs[:, :2], axis=0, return_counts=True)
    found = np.ones(len(rows), np.int64)
    if len(files):
        place = np.searchsorted(files[:, 0] * 2 + files[:, 1], keys[:, 0] * 2 + keys[:, 1])
        found[data] = number[place]
    return found


def _kinds(rows: NDArray[Any], sharers: Ints) -> Ints:
    size = np.frexp(rows["size"])[1].astype(np.int64)  # 0 for no bytes
    keys = np.stack([rows["what"], size, sharers], axis=1)
    return np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _stretches(rows: NDArray[Any], kind: Ints) -> Ints:
    """Return the number of each row's stretch, over all ranks: (n,) int64, ascending."""
    rank = rows["rank"]
    latest = _latest(rank, rows["last"])
    beside = np.zeros(len(rows), np.bool_)  # whether it begins before all earlier rows have ended
    beside[1:] = (rank[1:] == rank[:-1]) & (rows["first"][1:] < latest[:-1])
    run = np.cumsum(_changes(rank, kind) & ~beside) - 1
    first = np.flatnonzero(_changes(run))
    runs = _Runs(
        np.unique(rank[first], return_inverse=True)[1].reshape(-1),
        np.minimum.reduceat(kind, first),
        np.maximum.reduceat(kind, first),
        np.add.reduceat(rows["number"], first),
    )
    begins = _changes(runs.rank)
    left = np.ones(int(runs.rank[-1]) + 1, np.bool_)  # ranks that still have too many stretches
    for long in LONG:
        found = _begins(runs, long)
        few = left & (np.bincount(runs.rank, found) <= 2 * long)
        begins |= found & few[runs.rank]
        left &= ~few
    return np.asarray((np.cumsum(begins) - 1)[run])


class _Runs(NamedTuple):
    """Consecutive calls of one kind, or of several in turn: (n,) each.

    Attributes:
        rank: Rank, numbered from 0.
        low / high: Range of the kinds.
        number: Number of calls.
    """

    rank: Ints
    low: Ints
    high: Ints
    number: NDArray[np.float64]


def _begins(runs: _Runs, long: int) -> NDArray[np.bool_]:
    """Return which runs begin a stretch: those after a long run if the next long one differs."""
    chosen = np.flatnonzero(runs.number >= long)
    low, high, rank = runs.low[chosen], runs.high[chosen], runs.rank[chosen]
    other = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
    begins = np.zeros(len(runs.rank), np.bool_)
    begins[chosen[:-1][other & (rank[1:] == rank[:-1])] + 1] = True
    return begins


def _latest(rank: Ints, last: Ints) -> Ints:
    """Return the largest value so far of each rank; the entries of a rank are contiguous."""
    span = int(last.max()) - int(last.min()) + 1 if len(last) else 1
    number = np.cumsum(_changes(rank)) - 1
    shifted = last - last.min() + number * span
    return np.asarray(np.maximum.accumulate(shifted) - number * span + last.min())


def _changes(*columns: NDArray[Any]) -> NDArray[np.bool_]:
    """Return whether each entry differs from the previous one: (n,) bool."""
    new = np.zeros(len(columns[0]), np.bool_)
    new[:1] = True
    for column in columns:
        new[1:] |= column[1:] != column[:-1]
    return new


# Requests that a traced program makes itself, in classes of equal ranks.

_STEPS_OF_TWO = 32
"""Steps per factor of two: numbers that differ by less than about 2 % are equal (chosen)."""


class TracedProgram(NamedTuple):
    """Requests that a program makes itself.

    Attributes:
        stretches: Stretches in order.
        ranks: Number of ranks of the run; processes without MPI.
        files: Number of files whose data MPI-IO does not move.
        left_out: Number of these that are outside the directories of the program's data.
    """

    stretches: tuple[Stretch, ...]
    ranks: int
    files: frozenset[str]
    left_out: int = 0


class _Done(NamedTuple):
    """Parts of the ranks of a class in one stretch: (n_ranks, n_kinds)."""

    ranks: tuple[int, ...]
    parts: tuple[tuple[CallGroup, ...], ...]

    @property
    def kinds(self) -> tuple[int, ...]:
        """Numbers of the kinds of calls."""
        return tuple(part.kind for part in self.parts[0])


def traced_program(evidence: Evidence, ranks_per_node: int = 0) -> TracedProgram:
    """Return the requests of a traced program to the storage without MPI-IO.

    Args:
        evidence: Evidence of the run; without a trace the result is empty.
        ranks_per_node: Ranks per node, in blocks; 0 if all are on one node.
    """
    trace = evidence.trace
    if trace is None:
        return TracedProgram((), 0, frozenset())
    rows = own_request_rows(evidence)
    by_rank = parts_of(rows)
    if not trace.n_ranks:
        by_rank = {number: by_rank[rank] for number, rank in enumerate(sorted(by_rank))}
    ranks = trace.n_ranks or len(by_rank)
    begin, here, own = library_begin(trace), counted_files(trace), own_files(trace)
    files = frozenset(trace.paths[file] for file in own)
    stretches = tuple(_stretch(done, ranks_per_node or ranks, begin) for done in _aligned(by_rank))
    return TracedProgram(stretches, ranks, files, sum(not here[file] for file in own))


def _aligned(by_rank: dict[int, list[list[CallGroup]]]) -> Iterator[list[_Done]]:
    """Yield what different classes of ranks do at the same time.

    The largest class sets the pace; stretches of others are inserted at their place in the order.
    """
    classes: defaultdict[object, list[int]] = defaultdict(list)
    for rank, stretches in sorted(by_rank.items()):
        classes[tuple(tuple(map(_rounded, parts)) for parts in stretches)].append(rank)
    line: list[list[_Done]] = []
    for ranks in sorted(classes.values(), key=len, reverse=True):
        of_ranks = zip(*(by_rank[rank] for rank in ranks), strict=True)
        mine = [_Done(tuple(ranks), tuple(map(tuple, parts))) for parts in of_ranks]
        line = _merged(line, mine)
    yield from line


def _merged(line: list[list[_Done]], mine: list[_Done]) -> list[list[_Done]]:
    matcher = SequenceMatcher(
        None, [done[0].kinds for done in line], [one.kinds for one in mine], autojunk=False
    )
    found: list[list[_Done]] = []
    for _, first, end, first_of_mine, end_of_mine in matcher.get_opcodes():
        theirs, ours = line[first:end], mine[first_of_mine:end_of_mine]
        for place in range(max(len(theirs), len(ours))):
            found.append([*(theirs[place : place + 1] or [[]])[0], *ours[place : place + 1]])
    return found


def _rounded(part: CallGroup) -> tuple[int, ...]:
    """Return the properties that are equal in ranks of one class."""
    numbers = (part.number, part.bytes, part.files)
    return part.kind, *(round(_STEPS_OF_TWO * log2(number)) for number in numbers if number > 0)


def _stretch(done: Sequence[_Done], ranks_per_node: int, begin: int) -> Stretch:
    by_kind: defaultdict[int, list[tuple[int, CallGroup]]] = defaultdict(list)
    for one in done:
        for rank, parts in zip(one.ranks, one.parts, strict=True):
            for part in parts:
                if part.what <= Operation.WRITE:
                    by_kind[part.kind].append((rank, part))
    calls = tuple(_calls(of_kind, ranks_per_node) for of_kind in by_kind.values())
    turns = tuple(_turns(one, tuple(by_kind)) for one in done)
    start = min(part.start_ns for one in done for part in one.parts[0])
    return Stretch(_name(calls), calls, turns, first=start < begin)


def _turns(done: _Done, kinds: Sequence[int]) -> Turns:
    counts, metadata = dict.fromkeys(kinds, 0.0), defaultdict[str, float](float)
    for parts in zip(*done.parts, strict=True):
        mean = sum(part.number for part in parts) / len(parts)
        if parts[0].what <= Operation.WRITE:
            counts[parts[0].kind] += mean
        else:
            metadata[Operation(parts[0].what).name.lower()] += mean
    return Turns(len(done.ranks), tuple(counts.values()), dict(metadata))


def _calls(of_kind: Sequence[tuple[int, CallGroup]], ranks_per_node: int) -> TracedCalls:
    """Return calls of one kind, by all ranks that make them."""
    parts = [part for _, part in of_kind]
    first, number = parts[0], sum(part.number for part in parts)
    beside = [(rank, part) for rank, part in of_kind if part.file == first.file]
    together = len(beside)
    chosen = [beside[place] for place in sampled_processes(together)]
    return TracedCalls(
        writing=first.what == Operation.WRITE,
        processes=len(of_kind),
        nodes=len({rank // ranks_per_node for rank, _ in of_kind}),
        count=number / len(parts),
        size=sum(part.bytes for part in parts) / number,
        files=first.files,
        different=len({part.file for part in parts}),
        reach_bytes=max(first.high - first.low, 1),
        granule=max(first.granule, 1),
        sharers=together,
        begins=tuple(part.begin for _, part in chosen) if together > 1 else (),
        on_nodes=tuple(rank // ranks_per_node for rank, _ in chosen) if together > 1 else (),
        span_bytes=max(part.high for _, part in beside) - min(part.low for _, part in beside),
    )


def _name(calls: Sequence[TracedCalls]) -> str:
    words = {
        f"{'write' if call.writing else 'read'} of {'shared' if call.sharers > 1 else 'own'} files"
        for call in calls
    }
    return "the program's own " + (", ".join(sorted(words)) or "metadata operations")
