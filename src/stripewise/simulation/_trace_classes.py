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
from stripewise.simulation._trace_asked import Asked
from stripewise.simulation._trace_names import files_here
from stripewise.simulation._trace_rows import asked_rows, library_begin, own_files
from stripewise.simulation._trace_stretches import Part, parts_of
from stripewise.simulation._traced import Stretch, TracedCalls, TracedTurns
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
    at: defaultdict[tuple[int, int], list[tuple[int, Part]]] = defaultdict(list)
    for one in done:
        for rank, parts in zip(one.ranks, one.parts, strict=True):
            for part in parts:
                at[part.kind, part.file].append((rank, part))
    turns = tuple(_turns(one, at, ranks_per_node) for one in done)
    start = min(part.start_ns for one in done for part in one.parts[0])
    nodes = len({rank // ranks_per_node for one in done for rank in one.ranks})
    return Stretch(_name(turns), turns, nodes, first=start < begin)


def _turns(
    done: _Done, at: dict[tuple[int, int], list[tuple[int, Part]]], ranks_per_node: int
) -> TracedTurns:
    calls, metadata = [], defaultdict[str, float](float)
    for number, part in enumerate(done.parts[0]):
        alike = [parts[number] for parts in done.parts]
        mean = sum(one.number for one in alike) / len(alike)
        if part.what <= Asked.WRITE:
            beside = at[part.kind, part.file]
            calls.append(_calls(alike, mean, beside, ranks_per_node))
        else:
            metadata[Asked(part.what).name.lower()] += mean
    nodes = len({rank // ranks_per_node for rank in done.ranks})
    return TracedTurns(len(done.ranks), nodes, tuple(calls), dict(metadata))


def _calls(
    alike: Sequence[Part], mean: float, beside: Sequence[tuple[int, Part]], ranks_per_node: int
) -> TracedCalls:
    """Return equal calls of a class; `beside`: who makes such calls to its first file."""
    part = alike[0]
    together = len(beside)
    chosen = [beside[number] for number in looked_at(together)]
    return TracedCalls(
        writing=part.what == Asked.WRITE,
        count=mean,
        size=sum(one.bytes for one in alike) / sum(one.number for one in alike),
        files=part.files,
        different=len({one.file for one in alike}),
        reach_bytes=max(part.high - part.low, 1),
        granule=max(part.granule, 1),
        sharers=together,
        begins=tuple(one.begin for _, one in chosen) if together > 1 else (),
        on_nodes=tuple(rank // ranks_per_node for rank, _ in chosen) if together > 1 else (),
        span_bytes=max(one.high for _, one in beside) - min(one.low for _, one in beside),
    )  # fmt: skip


def _name(turns: Sequence[TracedTurns]) -> str:
    words = {
        f"{'write' if call.writing else 'read'} of {'shared' if call.sharers > 1 else 'own'} files"
        for one in turns
        for call in one.calls
    }
    return "the program's own " + (", ".join(sorted(words)) or "metadata operations")
