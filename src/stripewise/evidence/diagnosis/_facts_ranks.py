# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tells facts about how ranks and files share the work."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.evidence.diagnosis._base import WAYS, Numbers
from stripewise.evidence.diagnosis._facts_base import (
    MIB,
    SMALL_BYTES,
    Concern,
    FactRule,
    SeenRun,
    Traffic,
)
from stripewise.evidence.diagnosis._facts_requests import LEAST_CALLS, by_way
from stripewise.evidence.figures import COLLECTIVE, DATA, SYSTEM, Fact, FileUse
from stripewise.evidence.trace import ALL_RANKS, IoLayer, Op
from stripewise.present import count_text as count
from stripewise.present import files_of
from stripewise.present import number_text as number
from stripewise.present import percent_text as percent
from stripewise.present import plural as things
from stripewise.present import seconds_text as seconds
from stripewise.present import size_text as size

LEAST_EXCESS = 0.3
"""Part of the slowest rank's time beyond the others' from which ranks are uneven (assumed).
Drishti names 15 % between the slowest and the fastest rank of a file."""
LEAST_LISTED = 0.15
ONE_RANK_SHARE = 0.9
MANY_FILES = 100
_AROUND = (Op.OPEN, Op.CLOSE, Op.META)
LEAST_WAITING = 0.05
LEAST_INSIDE = 0.5


class OfRanks(FactRule):
    """Fact about runs of several ranks."""

    def concerns(self, run: SeenRun) -> bool:
        return run.n_ranks > 1


class Independent(OfRanks):
    """Ranks that use a shared file in small pieces without collective calls."""

    code = "independent"
    subject = "collective and independent calls to shared files"

    def look(self, run: SeenRun) -> Iterable[Fact]:
        for writing, concern in by_way(part for part in run.traffic if _is_scattered(part)):
            ranks = max(part.asked.ranks for part in concern.parts)
            calls = sum(_independent(part) for part in concern.parts)
            verb = "write" if writing else "read"
            text = (
                f"{things(ranks, 'rank')} made {things(calls, f'independent {verb}')} of "
                f"{size(concern.asked_bytes / max(concern.asked_calls, 1))} to {concern.names}, "
                "which they share."
            )
            numbers: Numbers = {"calls": calls, "ranks": ranks, "way": f"{verb}s"}
            yield run.fact(self.code, text, concern, numbers)

    def why_unknown(self, run: SeenRun) -> str:
        return ""


def _independent(part: Traffic) -> int:
    return part.use.calls(dict(WAYS)[part.writing][:1], layers=[part.use.top]).count


def _is_scattered(part: Traffic) -> bool:
    """Return whether a shared file is used by many small calls, most of them independent."""
    if not part.use.shared or part.use.top is IoLayer.STDIO or part.asked.count < LEAST_CALLS:
        return False
    calls = _independent(part)
    return 2 * calls > part.asked.count and min(_sizes(part)) < SMALL_BYTES


def _sizes(part: Traffic) -> tuple[float, float]:
    return part.mean_bytes, part.asked.mean_bytes


class SlowestRank(OfRanks):
    """One rank that takes far longer than the others, or moves far more."""

    code = "slowest-rank"
    subject = "I/O time and bytes of the ranks"

    def look(self, run: SeenRun) -> Iterable[Fact]:
        if not run.is_timed:
            return
        yield from self._over_all(run)
        yield from self._on_shared_files(run)

    def _over_all(self, run: SeenRun) -> Iterable[Fact]:
        """Compare the ranks over the files that have a record for each rank."""
        spent, moved = _by_rank(run)
        if not spent.any():
            return
        slowest, mean = int(spent.argmax()), float(spent.mean())
        most = float(spent[slowest])
        part = (most - mean) / run.figures.io_seconds if run.figures.io_seconds > 0 else 0.0
        if most - mean < LEAST_EXCESS * most or part < LEAST_LISTED:
            return
        bytes_ratio = float(moved[slowest] / moved.mean()) if moved.any() else 1.0
        why = (
            f"it moved {number(bytes_ratio)} times the mean bytes"
            if bytes_ratio >= 1 + LEAST_EXCESS
            else "it moved no more than the others"
        )
        text = (
            f"Rank {slowest} spent {seconds(most)} in I/O, the mean of {run.n_ranks} ranks is "
            f"{seconds(mean)}; {why}."
        )
        numbers: Numbers = {"rank": slowest, "seconds": most, "mean_seconds": mean,
                   "bytes_ratio": bytes_ratio}  # fmt: skip
        weight = min(part, 1.0)
        yield Fact(self.code, text, weight, most, weight, True, numbers)

    def _on_shared_files(self, run: SeenRun) -> Iterable[Fact]:
        """Compare the slowest and fastest rank of files whose records combine all ranks."""
        uneven = [use for use in run.files if _excess(use) >= LEAST_LISTED]
        if not uneven:
            return
        worst = max(uneven, key=lambda use: float(_compared(use)["slowest_seconds"].max()))
        rows = _compared(worst)
        row = rows[rows["slowest_seconds"].argmax()]
        slow, fast = float(row["slowest_seconds"]), float(row["fastest_seconds"])
        text = (
            f"In {files_of([use.path for use in uneven])}, rank {int(row['slowest_rank'])} spent "
            f"{seconds(slow)} and rank {int(row['fastest_rank'])} {seconds(fast)}, moving "
            f"{size(int(row['slowest_bytes']))} and {size(int(row['fastest_bytes']))}."
        )
        part = (slow - fast) / run.figures.io_seconds if run.figures.io_seconds > 0 else 0.0
        numbers: Numbers = {"rank": int(row["slowest_rank"]), "seconds": slow,
                            "least_seconds": fast}  # fmt: skip
        weight = min(part, 1.0)
        # In collective calls, the fast ranks wait as well: only a large difference says much.
        least = LEAST_EXCESS if worst.calls(COLLECTIVE).count else LEAST_LISTED
        matters = weight >= least and _excess(worst) >= LEAST_EXCESS
        paths = tuple(use.path for use in uneven)
        yield Fact(self.code, text, weight, slow, weight, matters, numbers, paths[:16], len(paths))

    def why_unknown(self, run: SeenRun) -> str:
        return "" if run.is_timed else "the source has no times of I/O"


def _by_rank(run: SeenRun) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return seconds and bytes of each rank in independent calls: two (n_ranks,) float64.

    Collective calls make ranks wait for each other, so their times compare nothing.
    """
    files = [use for use in run.files if not use.calls(COLLECTIVE).count]
    parts = [use.rows[use.rows["rank"] >= 0] for use in files]
    if not sum(map(len, parts)):
        return np.zeros(1), np.zeros(1)
    rows = np.concatenate(parts)
    moved = rows["outermost_read_bytes"] + rows["outermost_write_bytes"]
    spent, bytes_ = (
        np.bincount(rows["rank"], weights=values, minlength=run.n_ranks).astype(np.float64)
        for values in (rows["outermost_seconds"], moved)
    )
    return spent, bytes_


def _compared(use: FileUse) -> NDArray[Any]:
    """Return the rows of all ranks together that compare the ranks of a file.

    Beneath collective calls only aggregators move data, so there the program's own calls count.
    """
    known = use.reduced & (use.rows["slowest_rank"] >= 0)
    if use.calls(COLLECTIVE, own=False).count:
        known = known & use.own
    rows: NDArray[Any] = use.rows[known]
    return rows


def _excess(use: FileUse) -> float:
    """Return by how much the slowest rank of a shared file exceeds the fastest, 0 to 1.

    In time or in bytes, whichever differ more.
    """
    rows, found = _compared(use), 0.0
    for name in ("seconds", "bytes"):
        ends = np.stack([rows[f"{end}_{name}"] for end in ("slowest", "fastest")]).astype(float)
        most = ends.max(axis=0)
        part = (most - ends.min(axis=0)) / np.where(most > 0, most, 1)
        found = max(found, float(part.max(initial=0.0)))
    return found


class SingleWriter(OfRanks):
    """One rank of many that moves nearly all data."""

    code = "single-writer"
    subject = "ranks that move data"

    def look(self, run: SeenRun) -> Iterable[Fact]:
        for writing in (True, False):
            mine = [part for part in run.traffic if part.writing is writing and part.asked.bytes]
            name = f"outermost_{'write' if writing else 'read'}_bytes"
            if not mine:
                continue
            every = np.concatenate([part.use.rows for part in mine])
            if (every["rank"] == ALL_RANKS).any():
                continue
            moved = np.bincount(np.maximum(every["rank"], 0), every[name], run.n_ranks)
            share = float(moved.max() / moved.sum()) if moved.any() else 0.0
            if share < ONE_RANK_SHARE or moved.sum() < MIB:
                continue
            rank = int(moved.argmax())
            verb = "written" if writing else "read"
            text = (
                f"Rank {rank} of {run.n_ranks} did {percent(share)} of the "
                f"{'writing' if writing else 'reading'}: {size(float(moved.max()))} were {verb} "
                "by one process."
            )
            numbers: Numbers = {"rank": rank, "ranks": run.n_ranks, "share": share}
            yield run.fact(self.code, text, Concern(tuple(mine)), numbers, part=0.9)


class ManyFiles(FactRule):
    """Many small files."""

    code = "many-files"
    subject = "number and size of files"

    def look(self, run: SeenRun) -> Iterable[Fact]:
        moving = [use for use in run.files if use.calls(DATA).bytes]
        moved = sum(use.calls(DATA).bytes for use in moving)
        if len(moving) < MANY_FILES or moved >= SMALL_BYTES * len(moving):
            return
        indices = {use.index for use in moving}
        parts = tuple(part for part in run.traffic if part.use.index in indices)
        spent = sum(use.calls().cumulated for use in moving)
        around = sum(use.calls(_AROUND).cumulated for use in moving)
        text = (
            f"{count(len(moving))} files of {size(moved / len(moving))} on average were read or "
            "written"
        )
        text += (
            "; opening, closing and querying them took longer than moving their data."
            if 2 * around > spent
            else "."
        )
        numbers: Numbers = {"files": len(moving), "mean_bytes": moved / len(moving)}
        found = run.timed_fact(
            self.code, text, spent, math.nan, numbers, Concern(parts).paths if parts else ()
        )
        yield found

    def why_unknown(self, run: SeenRun) -> str:
        return ""


class Interfaces(FactRule):
    """Much data through the buffers of the C library, or ranks that use no MPI-IO."""

    code = "stdio"
    subject = "interfaces"

    def look(self, run: SeenRun) -> Iterable[Fact]:
        moving = [part for part in run.traffic if part.asked.bytes]
        concern = Concern(tuple(part for part in moving if part.use.top is IoLayer.STDIO))
        if concern.asked_bytes >= max(0.1 * run.moved_bytes, 1):
            share = concern.asked_bytes / run.moved_bytes
            text = (
                f"{percent(share)} of the bytes went through stdio (fread, fwrite, streams), "
                "whose buffers are 4 KiB unless the program sets others."
            )
            numbers: Numbers = {"bytes": concern.asked_bytes, "share": share}
            yield run.fact(self.code, text, concern, numbers, is_minor=run.n_ranks < 2, part=0.5)
        if run.n_ranks > 1 and moving and all(p.use.top <= IoLayer.STDIO for p in moving):
            text = f"{things(run.n_ranks, 'rank')} moved all data without MPI-IO."
            whole = Concern(tuple(moving))
            numbers = {"ranks": run.n_ranks}
            yield run.fact("no-mpiio", text, whole, numbers, is_minor=True)

    def why_unknown(self, run: SeenRun) -> str:
        return ""


class Waiting(FactRule):
    """Time in pipes, sockets and devices, which is no I/O to files."""

    code = "waiting"
    subject = "waiting in pipes and sockets"

    def concerns(self, run: SeenRun) -> bool:
        return math.isfinite(run.figures.waiting_seconds)

    def look(self, run: SeenRun) -> Iterable[Fact]:
        waited, whole = run.figures.waiting_seconds, run.figures.run_seconds
        if not waited >= LEAST_WAITING * whole:
            return
        files = things(
            run.figures.n_waiting_files, "pipe, socket or device", "pipes, sockets or devices"
        )
        who = "The slowest rank" if run.n_ranks else "A process"
        text = f"{who} waited {seconds(waited)} in {files}, which is not counted as I/O."
        numbers: Numbers = {"seconds": waited, "files": run.figures.n_waiting_files}
        weight = min(waited / whole, 1.0)
        yield Fact(self.code, text, math.nan, waited, weight, True, numbers)

    def why_unknown(self, run: SeenRun) -> str:
        return ""


class LibraryTime(FactRule):
    """Time inside I/O libraries, between the program's calls and the requests below."""

    code = "library-time"
    subject = "time inside I/O libraries"

    def concerns(self, run: SeenRun) -> bool:
        return any(use.top >= IoLayer.MPIIO for use in run.files)

    def look(self, run: SeenRun) -> Iterable[Fact]:
        mine = [part for part in run.traffic if part.use.top >= IoLayer.MPIIO and part.is_reached]
        files = {part.use.index: part.use for part in mine}
        # Of the slowest rank: ranks that move nothing themselves wait for those that do.
        below = [use.calls(layers=SYSTEM, own=False).elapsed for use in files.values()]
        above = [use.calls().elapsed for use in files.values()]
        inside = sum(max(most - least, 0.0) for most, least in zip(above, below, strict=True))
        io_seconds = run.figures.io_seconds
        if not (run.is_timed and io_seconds > 0 and inside >= LEAST_INSIDE * io_seconds):
            return
        share = min(inside / io_seconds, 1.0)
        names = {IoLayer.HDF5: "HDF5", IoLayer.PNETCDF: "PnetCDF", IoLayer.ADIOS2: "ADIOS2"}
        which = names.get(max(use.top for use in files.values()), "MPI-IO")
        what = ["copying"] if which == "MPI-IO" else ["compression", "conversion", "copying"]
        what += ["exchange between ranks", "waiting for them"] if run.n_ranks > 1 else []
        text = (
            f"{percent(share)} of the I/O time is spent inside {which} ({', '.join(what)}), not "
            "in requests to the file system."
        )
        numbers: Numbers = {"inside_seconds": inside, "request_seconds": sum(below)}
        paths = tuple(use.path for use in files.values())
        yield Fact(self.code, text, share, inside, share, True, numbers, paths[:16], len(paths))

    def why_unknown(self, run: SeenRun) -> str:
        has = any(part.is_reached for part in run.traffic)
        return "" if has else "the source has no requests below the program's own calls"
