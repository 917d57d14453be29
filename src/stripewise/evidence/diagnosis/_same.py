# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Bytes that are read more than once."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable

from stripewise.evidence.diagnosis._base import Hit, Rule, Run, Told
from stripewise.evidence.figures import READS, FileUse
from stripewise.present import number_text as number
from stripewise.present import seconds_text as seconds
from stripewise.present import size_text as size

LEAST_TIMES = 2.0
LEAST_RANKS = 4
MOST_BYTES = 1 << 30
SMALL_FILE_BYTES = 4 << 20


class RedundantReads(Rule):
    """The same bytes of a file are read again and again."""

    code = "redundant-reads"
    group = "requests"
    basis = "one reading of all; where many ranks read it, that of one rank and a broadcast"

    def hits(self, run: Run) -> Iterable[Hit]:
        """At least twice as many bytes as there are, and as were written; at most 1 GiB."""
        for use in run.files:
            calls = use.calls(READS)
            length = _length(use)
            if not 0 < length <= MOST_BYTES or not calls.count:
                continue
            times = use.read_bytes / length / max(calls.ranks, 1)
            if times >= LEAST_TIMES:
                evidence = _evidence(use, times, "keep")
                gain = run.now(calls.elapsed).scaled(1 - 1 / times)
                yield Hit.of_calls(use, calls, gain, False, evidence)
            elif _is_read_by_many(use, run):
                yield self._broadcast(use, run, times)

    def _broadcast(self, use: FileUse, run: Run, times: float) -> Hit:
        """A namelist: its opening counts too."""
        once = run.storage.bulk(use.extent, writing=False)
        after = run.storage.call("open").plus(once.scaled(1 + math.log2(run.n_ranks)))
        evidence = _evidence(use, times, "broadcast")
        return Hit.of_calls(
            use, use.calls(), run.now(use.calls().elapsed).minus(after), False, evidence
        )

    def phrase(self, told: Told) -> str:
        evidence = told.evidence
        if evidence["way"] == "broadcast":
            return f"{evidence['ranks']} ranks reading all of {told.names}"
        return f"reading {told.names} {number(float(evidence['times']))} times over"

    def text(self, told: Told) -> str:
        evidence = told.evidence
        length = size(float(evidence["file_bytes"]))
        if evidence["way"] == "broadcast":
            return (
                f"{evidence['ranks']} ranks opened and read the same file of {length}; the "
                f"slowest needed {seconds(told.stake)} for it, the fastest "
                f"{seconds(float(evidence['fastest_seconds']))}."
            )
        who = "Each rank" if int(evidence["ranks"]) > 1 else "The program"
        return (
            f"{who} read all of {told.names} ({length}) "
            f"{number(float(evidence['times']))} times on average and spent "
            f"{seconds(told.stake)} in it."
        )

    def remedy(self, told: Told) -> str:
        if told.evidence["way"] == "broadcast":
            return (
                "Read it on rank 0 and MPI_Bcast it. Without a change of source: put a copy on "
                "each node (sbcast, /dev/shm), and keep small files off burst buffers."
            )
        return "Read the file once and keep what was read in memory."

    def lines(self, told: Told, run: Run) -> tuple[str, ...]:
        if told.evidence["way"] != "broadcast":
            return ()
        path = told.files[0]
        name = path.rsplit("/", 1)[-1]
        return (
            f"sbcast {shlex.quote(path)} {shlex.quote('/dev/shm/' + name)}"
            "   # Slurm; then name that file in the program's input",
        )


def _length(use: FileUse) -> int:
    """Bytes of the file: its end, at least what was written (streams do not tell offsets)."""
    return max(use.extent, use.write_bytes)


def _is_read_by_many(use: FileUse, run: Run) -> bool:
    """Whether at least 4 ranks, and half of all, read a small file as a whole."""
    ranks = use.calls(READS).ranks
    whole = use.read_bytes >= use.extent and use.extent <= SMALL_FILE_BYTES
    whole = whole and not use.write_bytes
    return whole and ranks >= max(LEAST_RANKS, run.n_ranks / 2) and run.n_ranks > 0


def _evidence(use: FileUse, times: float, way: str) -> dict[str, float | int | str]:
    return {
        "way": way,
        "file_bytes": _length(use),
        "times": times,
        "ranks": use.calls(READS).ranks,
        "fastest_seconds": use.calls().least,
    }
