# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tells facts about requests: how large they are, what became of them, where they begin."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np

from stripewise.core import ReportedPart
from stripewise.evidence.diagnosis._base import Numbers
from stripewise.evidence.diagnosis._facts_base import (
    MIB,
    SMALL_BYTES,
    Concern,
    FactRule,
    SeenRun,
    Traffic,
)
from stripewise.evidence.figures import DATA, SYSTEM, Fact, FileUse
from stripewise.evidence.trace import FileFlag, IoLayer
from stripewise.present import count_text as count
from stripewise.present import number_text as number
from stripewise.present import percent_text as percent
from stripewise.present import plural as things
from stripewise.present import size_text as size

LEAST_CALLS = 100
MANY_CALLS = 1000
LEAST_UNALIGNED = 0.1
LEAST_FORWARD = 0.7
"""Share of requests that begin at or after the end of the previous one, from which they go forward
with gaps. Of requests to random places it is a half."""
LEAST_AMPLIFICATION = 1.5
LEAST_SPLIT = 16
TINY_BYTES = 64 << 10
BLOCK_BYTES = 4096


def by_way(parts: Iterable[Traffic]) -> Iterator[tuple[bool, Concern]]:
    """Yield the traffic of each direction that has any, writes first."""
    listed = list(parts)
    for writing in (True, False):
        mine = tuple(part for part in listed if part.writing is writing)
        if mine:
            yield writing, Concern(mine)


class RequestSize(FactRule):
    """Many requests that are small for a parallel file system.

    Small is below 1 MiB, the usual stripe. Files whose requests are small on average make a fact
    that matters; small requests to files that also have large ones are only listed.
    """

    code = "request-size"
    subject = "sizes of requests"

    def look(self, run: SeenRun) -> Iterable[Fact]:
        for writing, concern in by_way(part for part in run.traffic if part.count):
            small = [part for part in concern.parts if part.mean_bytes < SMALL_BYTES]
            if small and Concern(tuple(small)).total("count") >= LEAST_CALLS:
                yield self._mean(run, Concern(tuple(small)), writing)
            elif concern.total("small") >= max(MANY_CALLS, 0.1 * concern.total("count")):
                yield self._some(run, concern, writing)

    def _mean(self, run: SeenRun, concern: Concern, writing: bool) -> Fact:
        calls, moved, mean = concern.total("count"), concern.total("bytes"), concern.mean_bytes
        was, verb = ("written", "write") if writing else ("read", "read")
        text = (
            f"{size(moved)} were {was} in {things(calls, verb)} of {size(mean)} on average "
            f"{'to' if writing else 'from'} {concern.names}."
        )
        numbers: Numbers = {"calls": calls, "bytes": moved, "mean_bytes": mean, "way": f"{verb}s"}
        return run.fact(self.code, text, concern, numbers)

    def _some(self, run: SeenRun, concern: Concern, writing: bool) -> Fact:
        calls, small, mean = concern.total("count"), concern.total("small"), concern.mean_bytes
        way = "writes" if writing else "reads"
        text = (
            f"{count(small)} of {count(calls)} {way} are smaller than 1 MiB; all have "
            f"{size(mean)} on average."
        )
        numbers: Numbers = {"calls": calls, "small_calls": small, "mean_bytes": mean, "way": way}
        return run.fact(self.code, text, concern, numbers, is_minor=True)


class Amplification(FactRule):
    """More bytes reached the file system than the program asked for."""

    code = "amplification"
    subject = "bytes that reached the file system against those requested"

    def look(self, run: SeenRun) -> Iterable[Fact]:
        seen = [part for part in run.traffic if part.is_reached and part.use.top > IoLayer.POSIX]
        for writing, concern in by_way(part for part in seen if self._is_larger(part)):
            asked, reached = concern.asked_bytes, concern.total("bytes")
            verb = "written" if writing else "read"
            text = (
                f"The program asked for {size(asked)} to be {verb} and {size(reached)} were "
                f"{verb}, {number(reached / asked)} times as much."
            )
            numbers: Numbers = {
                "asked_bytes": asked,
                "reached_bytes": reached,
                "times": reached / asked,
                "way": "writes" if writing else "reads",
            }
            yield run.fact(self.code, text, concern, numbers)
        yield from self._read_to_write(run, seen)

    @staticmethod
    def _is_larger(part: Traffic) -> bool:
        asked = part.asked.bytes
        return asked > 0 and part.bytes >= max(LEAST_AMPLIFICATION * asked, asked + MIB)

    def _read_to_write(self, run: SeenRun, seen: Iterable[Traffic]) -> Iterator[Fact]:
        """Yield bytes that a library read from files that the program only writes."""
        reads = {part.use.index: part for part in seen if not part.writing}
        pairs = [
            (part, reads[part.use.index])
            for part in run.traffic
            if part.writing and part.use.index in reads and part.asked.bytes
        ]
        pairs = [
            (wrote, read)
            for wrote, read in pairs
            if not read.asked.bytes and read.bytes >= max(0.5 * wrote.asked.bytes, MIB)
        ]
        if not pairs:
            return
        concern = Concern(tuple(wrote for wrote, _ in pairs))
        back = sum(read.bytes for _, read in pairs)
        text = (
            f"To write {size(concern.asked_bytes)}, the libraries also read {size(back)} of the "
            "same files (read-modify-write)."
        )
        numbers: Numbers = {
            "asked_bytes": concern.asked_bytes,
            "read_back_bytes": back,
            "way": "writes",
        }
        yield run.fact(self.code, text, concern, numbers)


class SplitCalls(FactRule):
    """Calls of the program that became many small requests each."""

    code = "split-calls"
    subject = "requests for each call of the program"

    def look(self, run: SeenRun) -> Iterable[Fact]:
        split = (
            part
            for part in run.traffic
            if part.is_reached
            and part.count >= max(LEAST_SPLIT * part.asked.count, LEAST_CALLS)
            and part.asked.count
            and part.mean_bytes < TINY_BYTES
        )
        for writing, concern in by_way(split):
            calls, reached = concern.asked_calls, concern.total("count")
            verb = "write" if writing else "read"
            asked = things(calls, f"{verb} call")
            text = (
                f"{asked} of {size(concern.asked_bytes / calls)} became "
                f"{count(reached)} requests of {size(concern.mean_bytes)} on average."
            )
            numbers: Numbers = {
                "calls": calls,
                "requests": reached,
                "mean_bytes": concern.mean_bytes,
                "way": f"{verb}s",
            }
            yield run.fact(self.code, text, concern, numbers)

    def why_unknown(self, run: SeenRun) -> str:
        return _why_no_requests(run) or super().why_unknown(run)


def _why_no_requests(run: SeenRun) -> str:
    if run.traffic and not any(part.is_reached for part in run.traffic):
        return "the source has no requests below the program's own calls"
    return ""


class Order(FactRule):
    """Small requests that do not begin where the previous one of the process ended."""

    code = "random"
    subject = "order of requests"

    def look(self, run: SeenRun) -> Iterable[Fact]:
        known = [(part, *self._shares(part)) for part in run.traffic if self._counts(part)]
        jumping = [part for part, forward, _ in known if forward < LEAST_FORWARD]
        strided = [part for part, forward, on in known if forward >= LEAST_FORWARD and on < 0.5]
        for writing, concern in by_way(jumping):
            way = "writes" if writing else "reads"
            share = self._share(concern, "sequential")
            text = (
                f"{percent(1 - share)} of {count(concern.total('count'))} {way} of "
                f"{size(concern.mean_bytes)} go backwards in the file (random access)."
            )
            numbers: Numbers = {"share": 1 - share, "calls": concern.total("count"), "way": way}
            yield run.fact(self.code, text, concern, numbers)
        for writing, concern in by_way(strided):
            way = "writes" if writing else "reads"
            share = self._share(concern, "consecutive")
            text = (
                f"{percent(1 - share)} of {count(concern.total('count'))} {way} of "
                f"{size(concern.mean_bytes)} leave a gap to the previous one of the process "
                "(strided access)."
            )
            numbers = {"share": 1 - share, "calls": concern.total("count"), "way": way}
            yield run.fact("gaps", text, concern, numbers)

        yield from self._views(run, {part.use.index for part in strided})

    def _views(self, run: SeenRun, told: set[int]) -> Iterator[Fact]:
        """Yield files whose MPI-IO calls go through views with gaps."""
        gapped = (
            part
            for part in run.traffic
            if part.use.index not in told and part.asked.count and _has_gaps(part.use)
        )
        for writing, concern in by_way(gapped):
            verb = "write" if writing else "read"
            text = (
                f"{things(concern.asked_calls, f'MPI-IO {verb}')} of {concern.names} "
                f"{'goes' if concern.asked_calls == 1 else 'go'} through a file view with gaps "
                "(strided access)."
            )
            numbers: Numbers = {"calls": concern.asked_calls, "way": f"{verb}s"}
            yield run.fact("gaps", text, concern, numbers, is_minor=True)

    @staticmethod
    def _counts(part: Traffic) -> bool:
        return part.count >= LEAST_CALLS and part.mean_bytes < SMALL_BYTES

    @staticmethod
    def _shares(part: Traffic) -> tuple[float, float]:
        """Return the shares of sequential and of consecutive requests; NaN if unknown."""
        return tuple(
            part.use.order_share(kind, part.writing) for kind in ("sequential", "consecutive")
        )  # type: ignore[return-value]

    @staticmethod
    def _share(concern: Concern, kind: str) -> float:
        """Return the share over several files, by their numbers of requests."""
        known = [(part.use.order_share(kind, part.writing), part.count) for part in concern.parts]
        return sum(share * calls for share, calls in known) / sum(calls for _, calls in known)

    def why_unknown(self, run: SeenRun) -> str:
        shares = [self._shares(part)[0] for part in run.traffic if self._counts(part)]
        if shares and all(map(math.isnan, shares)):
            return "the source does not record the order of requests"
        return ""


def _has_gaps(use: FileUse) -> bool:
    """Return whether MPI-IO calls on a file had a view with gaps."""
    flags = use.of_layer(IoLayer.MPIIO)["flags"]
    return bool(np.bitwise_or.reduce(flags, initial=0) & FileFlag.INTERLEAVED)


class Unaligned(FactRule):
    """Requests that do not begin at the boundaries of blocks or stripes."""

    code = "unaligned"
    subject = "alignment of requests"

    def look(self, run: SeenRun) -> Iterable[Fact]:
        known = [(use, *found) for use in run.files if (found := self._misaligned(use))]
        bad = [one for one in known if one[1] >= LEAST_UNALIGNED * one[2]]
        if not bad:
            return
        indices = {use.index for use, *_ in bad}
        concern = Concern(tuple(part for part in run.traffic if part.use.index in indices))
        off, calls = sum(one[1] for one in bad), sum(one[2] for one in bad)
        units = {one[3] for one in bad}
        unit = size(units.pop()) if len(units) == 1 else "the unit of its file"
        matters = calls >= LEAST_CALLS and off >= 0.5 * calls
        matters &= any(use.shared for use, *_ in bad)
        text = (
            f"{percent(off / calls)} of {count(calls)} requests to {concern.names} do not begin "
            f"at a multiple of {unit}."
        )
        numbers: Numbers = {"unaligned_calls": off, "calls": calls}
        yield run.fact(self.code, text, concern, numbers, part=0.5, is_minor=not matters)

    @staticmethod
    def _misaligned(use: FileUse) -> tuple[int, int, int] | None:
        """Return unaligned requests, all requests and the unit in bytes; None if unknown."""
        rows = use.lowest
        rows = rows[(rows["unaligned"] >= 0) & (rows["layer"] != IoLayer.STDIO)]
        # Our own recordings have the alignment of writes at known offsets, logs that of all calls.
        placed = rows["write_alignment"].sum(axis=1)
        calls = int(np.where(placed > 0, placed, rows["count"][:, DATA].sum(axis=1)).sum())
        if not calls:
            return None
        unit = int(rows["alignment"].max(initial=0)) or BLOCK_BYTES
        return int(rows["unaligned"].sum()), calls, unit

    def why_unknown(self, run: SeenRun) -> str:
        rows = run.profile.counters
        is_known = len(rows) and bool(np.any(rows["unaligned"] >= 0))
        return "" if is_known else "the source does not record it"


class ReReads(FactRule):
    """Bytes that are read, or written, again and again, by one process or by all ranks."""

    code = "re-reads"
    subject = "bytes moved more than once"

    def look(self, run: SeenRun) -> Iterable[Fact]:
        again = (part for part in run.traffic if _moved(part) > _length(part) > 0)
        for writing, concern in by_way(again):
            length = sum(map(_length, concern.parts))
            moved = sum(_moved(part) for part in concern.parts)
            ranks = max(part.asked.ranks for part in concern.parts)
            who = f" by {things(ranks, 'rank')}" if ranks > 1 else ""
            has = "has" if len(concern.paths) == 1 else "have"
            way = "written to" if writing else "read from"
            text = f"{size(moved)} were {way} {concern.names}, "
            if moved < 1.1 * length:
                text += f"slightly more than the length of {size(length)}."
            else:
                text += f"which {has} {size(length)}: {number(moved / length)} times over{who}."
            numbers: Numbers = {"moved_bytes": moved, "file_bytes": length}
            code = "re-writes" if writing else self.code
            matters = concern.asked_bytes >= 2 * length
            yield run.fact(code, text, concern, numbers, is_minor=not matters)

    def why_unknown(self, run: SeenRun) -> str:
        return run.profile.why_missing(ReportedPart.BYTES)


def _length(part: Traffic) -> int:
    """Return the length of the file in bytes, 0 if unknown: streams have no offsets."""
    rows = part.use.rows
    moving = rows[np.isin(rows["layer"], SYSTEM) & rows["count"][:, DATA].any(axis=1)]
    return part.use.extent if (moving["maximum_offset"] >= 0).all() else 0


def _moved(part: Traffic) -> int:
    """Return the bytes of the program's own calls, or if more of the requests below."""
    return max(part.asked.bytes, part.bytes)
