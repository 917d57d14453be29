# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Requests that are too small for what each costs."""

from __future__ import annotations

from collections.abc import Iterable

from stripewise.diagnosis._usage import SYSTEM, FileUse
from stripewise.diagnosis._words import count, files_of, seconds, size
from stripewise.diagnosis.findings._base import (
    BULK_BYTES,
    Hit,
    Rule,
    Run,
    Told,
    directions,
    mostly_independent,
    toward,
    word,
)
from stripewise.diagnosis.findings._independent import (
    in_program,
    pattern_evidence,
    pattern_words,
    tune_independent,
    without_change,
)
from stripewise.model import IoLayer

LEAST_CALLS = 100
SEQUENTIAL_BYTES = 64 << 10
STDIO_BYTES = 512

_AGAINST_LARGE = (
    "time of the slowest rank in these calls, less the time of the same bytes in large requests "
    "(best rate seen in this run, otherwise 1 GiB/s assumed)"
)


def _low_level(use: FileUse) -> bool:
    return use.top in SYSTEM


class SmallIndependent(Rule):
    """Small independent requests on a file that several ranks share."""

    code = "small-independent"
    group = "requests"
    basis = _AGAINST_LARGE
    tunes = True

    def hits(self, run: Run) -> Iterable[Hit]:
        """Shared files, requests below 1 MiB on average, most bytes independent."""
        for use in run.files:
            if not use.shared:
                continue
            for writing, _, calls in directions(use):
                small = 0 < calls.mean_bytes < BULK_BYTES and calls.count >= LEAST_CALLS
                if small and mostly_independent(use, writing):
                    evidence: dict[str, float | int | str] = {"ranks": calls.ranks}
                    evidence["interface"] = use.top.name.lower()
                    evidence |= pattern_evidence(run, use, writing)
                    cost = run.loss(use, calls, writing=writing)
                    yield Hit.of_calls(use, calls, cost, writing, evidence)

    def phrase(self, told: Told) -> str:
        """Size, direction, file."""
        writing = bool(told.first.writing)
        return (
            f"{size(told.mean_bytes)} independent {word(writing)} {toward(writing)} "
            f"{files_of(told.files, told.n_files)}"
        )

    def text(self, told: Told) -> str:
        """How many, by how many ranks, how long."""
        ranks = told.first.evidence["ranks"]
        return (
            f"{ranks} ranks made {count(told.calls)} independent calls of "
            f"{size(told.mean_bytes)} on average to a shared file; the slowest rank spent "
            f"{seconds(told.stake)} in them."
            f"{pattern_words(dict(told.first.evidence), told.mean_bytes)}"
        )

    def remedy(self, told: Told) -> str:
        """Collective calls, of the interface that is used."""
        interface = str(told.first.evidence["interface"])
        return (
            f"{in_program(interface, bool(told.first.writing))} MPI then merges the pieces of all "
            f"ranks into large requests by a few aggregators.{without_change(interface)}"
        )

    def tune_options(self, told: Told) -> str | None:
        """Nothing can be tuned beneath POSIX."""
        return tune_independent(told)


class SmallSequential(Rule):
    """Small requests, one after the other, by one process on its own file."""

    code = "small-sequential"
    group = "requests"
    basis = _AGAINST_LARGE

    def hits(self, run: Run) -> Iterable[Hit]:
        """POSIX, at least 100 calls, below 64 KiB on average, mostly in sequence."""
        for use in run.files:
            if use.shared or not _low_level(use) or use.top is IoLayer.STDIO:
                continue
            for writing, _, calls in directions(use):
                small = 0 < calls.mean_bytes < SEQUENTIAL_BYTES
                if not small or calls.count < LEAST_CALLS:
                    continue
                if use.order_share("sequential", "write" if writing else "read") >= 0.5:
                    cost = run.loss(use, calls, writing=writing)
                    yield Hit.of_calls(use, calls, cost, writing)

    def phrase(self, told: Told) -> str:
        """Size, direction, file."""
        writing = bool(told.first.writing)
        return (
            f"{size(told.mean_bytes)} sequential {word(writing)} {toward(writing)} "
            f"{files_of(told.files, told.n_files)}"
        )

    def text(self, told: Told) -> str:
        """How many, how long."""
        return (
            f"{count(told.calls)} calls of {size(told.mean_bytes)} on average, one after the "
            f"other, took {seconds(told.stake)}; each is a system call of its own."
        )

    def remedy(self, told: Told) -> str:
        """A buffer."""
        return (
            "Buffer: collect at least 1 MiB before each call. Fortran runtimes buffer on request; "
            "C programs can use stdio with setvbuf(file, NULL, _IOFBF, 1 << 20)."
        )

    def lines(self, told: Told, run: Run) -> tuple[str, ...]:
        """Buffers of the Fortran runtimes.  Source: manuals of GNU Fortran and of Intel's."""
        return (
            "export GFORTRAN_UNFORMATTED_BUFFER_SIZE=1048576   # GNU Fortran 10 or newer",
            "export GFORTRAN_FORMATTED_BUFFER_SIZE=1048576   # GNU Fortran 10 or newer",
            "export FORT_BUFFERED=true FORT_BLOCKSIZE=1048576   # Intel Fortran",
        )


class TinyStdio(Rule):
    """Very many tiny calls of stdio."""

    code = "tiny-stdio"
    group = "requests"
    basis = _AGAINST_LARGE

    def hits(self, run: Run) -> Iterable[Hit]:
        """The program's own stdio calls, at least 100, below 512 bytes on average."""
        for use in run.files:
            if use.top is not IoLayer.STDIO:
                continue
            for writing, _, calls in directions(use):
                if calls.count >= LEAST_CALLS and 0 < calls.mean_bytes < STDIO_BYTES:
                    cost = run.loss(use, calls, writing=writing)
                    yield Hit.of_calls(use, calls, cost, writing)

    def phrase(self, told: Told) -> str:
        """Size, direction, file."""
        writing = bool(told.first.writing)
        return (
            f"stdio {word(writing)} of {size(told.mean_bytes)} {toward(writing)} "
            f"{files_of(told.files, told.n_files)}"
        )

    def text(self, told: Told) -> str:
        """How many, how long."""
        return (
            f"{count(told.calls)} calls of stdio moved {size(told.mean_bytes)} each and took "
            f"{seconds(told.stake)}."
        )

    def remedy(self, told: Told) -> str:
        """A larger buffer, or binary data."""
        return (
            "Give stdio a larger buffer: setvbuf(file, NULL, _IOFBF, 1 << 20) after fopen. Write "
            "binary arrays (fwrite of whole arrays, HDF5) instead of formatting each value."
        )
