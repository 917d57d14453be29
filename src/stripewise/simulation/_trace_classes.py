# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A trace -> what its program asks of the storage by itself, in classes of equal ranks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from math import log2
from typing import NamedTuple

from stripewise.model import Evidence
from stripewise.simulation._requests import Turns
from stripewise.simulation._trace_asked import Asked
from stripewise.simulation._trace_names import files_here
from stripewise.simulation._trace_rows import asked_rows, library_begin, own_files
from stripewise.simulation._trace_stretches import Part, parts_of
from stripewise.simulation._traced import Stretch, TracedCalls
from stripewise.simulation.stacks import looked_at

_STEPS_OF_TWO = 32
"""Ranks whose numbers differ by less than about 2 % count as equal (chosen)."""


class TracedProgram(NamedTuple):
    """What a program asks by itself.

    Attributes:
        stretches: In order.
        ranks: Of the run; processes without MPI.
        files: Whose data no MPI-IO moves.
        left_out: How many of them are not where the program's data is.
    """

    stretches: tuple[Stretch, ...]
    ranks: int
    files: frozenset[str]
    left_out: int = 0


class _Done(NamedTuple):
    """What the ranks of a class do in one stretch: (n_ranks, n_kinds) parts."""

    ranks: tuple[int, ...]
    parts: tuple[tuple[Part, ...], ...]

    @property
    def kinds(self) -> tuple[int, ...]:
        """Numbers of the kinds of calls."""
        return tuple(part.kind for part in self.parts[0])


def traced_program(evidence: Evidence, ranks_per_node: int = 0) -> TracedProgram:
    """Return what a traced program asks of the storage without MPI-IO.

    Args:
        evidence: Of the run; without a trace there is nothing.
        ranks_per_node: Ranks lie on nodes in blocks; 0: all on one node.
    """
    trace = evidence.trace
    if trace is None:
        return TracedProgram((), 0, frozenset())
    rows = asked_rows(evidence)
    by_rank = parts_of(rows)
    if not trace.n_ranks:
        by_rank = {number: by_rank[rank] for number, rank in enumerate(sorted(by_rank))}
    ranks = trace.n_ranks or len(by_rank)
    begin, here, own = library_begin(trace), files_here(trace), own_files(trace)
    files = frozenset(trace.paths[file] for file in own)
    stretches = tuple(_stretch(done, ranks_per_node or ranks, begin) for done in _aligned(by_rank))
    return TracedProgram(stretches, ranks, files, sum(not here[file] for file in own))


def _aligned(by_rank: dict[int, list[list[Part]]]) -> Iterator[list[_Done]]:
    """Yield what different classes of ranks do at the same time.

    The largest class sets the pace; what others do besides comes where it stands in their order.
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


def _rounded(part: Part) -> tuple[int, ...]:
    """Return what is equal in ranks of one class."""
    numbers = (part.number, part.bytes, part.files)
    return part.kind, *(round(_STEPS_OF_TWO * log2(number)) for number in numbers if number > 0)


def _stretch(done: Sequence[_Done], ranks_per_node: int, begin: int) -> Stretch:
    by_kind: defaultdict[int, list[tuple[int, Part]]] = defaultdict(list)
    for one in done:
        for rank, parts in zip(one.ranks, one.parts, strict=True):
            for part in parts:
                if part.what <= Asked.WRITE:
                    by_kind[part.kind].append((rank, part))
    calls = tuple(_calls(of_kind, ranks_per_node) for of_kind in by_kind.values())
    turns = tuple(_turns(one, tuple(by_kind)) for one in done)
    start = min(part.start_ns for one in done for part in one.parts[0])
    return Stretch(_name(calls), calls, turns, first=start < begin)


def _turns(done: _Done, kinds: Sequence[int]) -> Turns:
    counts, metadata = dict.fromkeys(kinds, 0.0), defaultdict[str, float](float)
    for parts in zip(*done.parts, strict=True):
        mean = sum(part.number for part in parts) / len(parts)
        if parts[0].what <= Asked.WRITE:
            counts[parts[0].kind] += mean
        else:
            metadata[Asked(parts[0].what).name.lower()] += mean
    return Turns(len(done.ranks), tuple(counts.values()), dict(metadata))


def _calls(of_kind: Sequence[tuple[int, Part]], ranks_per_node: int) -> TracedCalls:
    """Return calls of one kind, by all ranks that make them."""
    parts = [part for _, part in of_kind]
    first, number = parts[0], sum(part.number for part in parts)
    beside = [(rank, part) for rank, part in of_kind if part.file == first.file]
    together = len(beside)
    chosen = [beside[place] for place in looked_at(together)]
    return TracedCalls(
        writing=first.what == Asked.WRITE,
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
