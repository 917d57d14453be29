# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Bytes that are read more than once."""

from __future__ import annotations

from collections.abc import Iterable

from stripewise.diagnosis._usage import READS, WRITES, FileUse
from stripewise.diagnosis._words import files_of, number, quoted, seconds, size
from stripewise.diagnosis.findings._base import Hit, Rule, Run, Told

LEAST_RANKS = 4
SMALL_FILE_BYTES = 4 << 20
LEAST_REREAD = 2.0


def _read_by_many(use: FileUse, run: Run) -> int:
    """Ranks that read the file, if they are many: at least 4 and half of all."""
    ranks = use.calls(READS).ranks
    return ranks if ranks >= max(LEAST_RANKS, run.n_ranks / 2) else 0


class SameSmallFile(Rule):
    """Every rank reads the same small file (a namelist)."""

    code = "same-small-file"
    group = "requests"
    explains_all = True
    basis = (
        "time of the slowest rank with the file: one rank's read and a broadcast take none of it"
    )

    def hits(self, run: Run) -> Iterable[Hit]:
        """Only read, at most 4 MiB long, by at least 4 ranks and half of all."""
        for use in run.files:
            small = use.write_bytes == 0 and 0 < use.extent <= SMALL_FILE_BYTES
            if not small or use.calls(WRITES).count or use.read_bytes < use.extent:
                continue
            ranks = _read_by_many(use, run)
            if ranks:
                calls = use.calls(READS)
                cost = max(
                    0.0,
                    use.total.elapsed - run.bulk_seconds(use.extent, writing=False, besides=use),
                )
                evidence = {
                    "ranks": ranks,
                    "file_bytes": use.extent,
                    "slowest_rank": use.total.rank,
                    "fastest_seconds": use.total.least,
                }
                yield Hit(use, cost, use.total.elapsed, calls.count, calls.bytes, evidence, False)

    def phrase(self, told: Told) -> str:
        """Who reads what."""
        ranks = told.first.evidence["ranks"]
        return f"{ranks} ranks reading all of {files_of(told.files, told.n_files)}"

    def text(self, told: Told) -> str:
        """Its size, the slowest and the fastest rank."""
        evidence = told.first.evidence
        rank = evidence["slowest_rank"]
        who = f"rank {rank}" if isinstance(rank, int) and rank >= 0 else "the slowest rank"
        return (
            f"{evidence['ranks']} ranks opened and read the same file of "
            f"{size(float(evidence['file_bytes']))}; {who} needed {seconds(told.stake)}"
            f" for it, the fastest {seconds(float(evidence['fastest_seconds']))}."
        )

    def remedy(self, told: Told) -> str:
        """Broadcast."""
        return (
            "Read it on rank 0 and MPI_Bcast it. Without a change of source: put a copy on each "
            "node (sbcast, /dev/shm), and keep small files off burst buffers."
        )

    def lines(self, told: Told, run: Run) -> tuple[str, ...]:
        """A copy on each node."""
        path = told.files[0]
        name = path.rsplit("/", 1)[-1]
        return (
            f"sbcast {quoted(path)} {quoted('/dev/shm/' + name)}"
            "   # Slurm; then name that file in the program's input",
        )


class RedundantReads(Rule):
    """The same bytes of a larger file are read again and again."""

    code = "redundant-reads"
    group = "requests"
    basis = "time of the slowest rank in its reads, less the share that one reading of all takes"

    def hits(self, run: Run) -> Iterable[Hit]:
        """Bytes read, by one rank or by all, at least twice as many as the file has."""
        for use in run.files:
            calls = use.calls(READS)
            if use.extent <= 0 or use.write_bytes or not calls.count:
                continue
            times = use.read_bytes / use.extent
            if times >= LEAST_REREAD:
                evidence = {
                    "file_bytes": use.extent,
                    "times": times,
                    "ranks": calls.ranks,
                    "times_a_rank": times / max(calls.ranks, 1),
                }
                cost = calls.elapsed * (1 - 1 / times)
                yield Hit(
                    use,
                    cost,
                    calls.elapsed,
                    calls.count,
                    calls.bytes,
                    evidence,
                    False,
                    use.only_rank,
                )

    def phrase(self, told: Told) -> str:
        """How often what."""
        times = number(float(told.first.evidence["times"]))
        return f"reading {files_of(told.files, told.n_files)} {times} times over"

    def text(self, told: Told) -> str:
        """Bytes read against bytes there are."""
        evidence = told.first.evidence
        a_rank = float(evidence["times_a_rank"])
        who = (
            f"each rank read it {number(a_rank)} times"
            if a_rank >= LEAST_REREAD
            else f"{evidence['ranks']} ranks read the same parts"
        )
        return (
            f"{size(told.bytes)} were read of {size(float(evidence['file_bytes']))} that the "
            f"file has: {who}. The slowest rank spent {seconds(told.stake)} in it."
        )

    def remedy(self, told: Told) -> str:
        """Keep, or distribute."""
        return (
            "Keep what was read, or read each part on one rank and pass it on. MPI_Bcast "
            "does, and MPI_File_read_all, which aggregates reads of the same bytes."
        )
