# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Four runs with the figures of a published survey of applications.

Source: T. Nakagawa (JAMSTEC), Approach to provide supercomputer storage I/O information toward
users, 28th WSSP, 2018, CASE1 to CASE4.  What the survey does not tell is assumed: each file
belongs to one rank, and all files of a kind have equal shares of bytes, calls and time, but that
those of rank 0 take longer, by as much as makes its I/O time the published one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stripewise.evidence.trace import SIZE_EDGES, Evidence, IoLayer, Op, RunProfile
from synthetic_centre._evidence import SYNTHETIC, empty_rows

REQUEST_BYTES = 1 << 20


@dataclass(frozen=True)
class Case:
    """Figures of one program as the survey prints them.

    Attributes:
        program: Its name here; the survey says what it computes.
        read_seconds / write_seconds / meta_seconds: Summed over ranks.
        io_seconds: Of the slowest rank, as it is printed. That of the last case counts its
            metadata twice: it is more than all its times together.
    """

    program: str
    area: str
    n_ranks: int
    run_seconds: float
    read_only: int
    write_only: int
    read_bytes: int
    write_bytes: int
    meta_operations: int
    read_seconds: float
    write_seconds: float
    meta_seconds: float
    io_seconds: float

    @property
    def n_files(self) -> int:
        """Files that are read or written."""
        return self.read_only + self.write_only

    @property
    def cumulated_seconds(self) -> float:
        """Of all ranks together."""
        return self.read_seconds + self.write_seconds + self.meta_seconds

    @property
    def reading(self) -> NDArray[np.bool_]:
        """(n,) whether a file is read; otherwise it is written."""
        return np.arange(self.n_files) < self.read_only

    @property
    def ranks(self) -> NDArray[np.int64]:
        """(n,) rank that uses a file."""
        return np.arange(self.n_files) % self.n_ranks

    @property
    def paths(self) -> list[str]:
        """Of all files, below the run's directory."""
        parts = (("in", self.read_only), ("out", self.write_only))
        return [f"{way}/{number:05d}.dat" for way, many in parts for number in range(many)]


CASES = (
    Case("regional_atmosphere", "Atmosphere", 1024, 1632.0, 10_385, 4_320, 60_640_000_000,
         261_870_000_000, 2_120_040, 1053.70, 234.72, 1124.43, 9.05),
    Case("global_ocean", "Ocean", 1024, 898.0, 12, 1_029, 21_300_000_000, 28_700_000_000,
         908_193, 123.11, 667.73, 183.99, 42.6),
    Case("tsunami", "Solid Earth", 16, 795.0, 99, 4_006, 125_500_000, 5_200_000_000,
         710_292, 4.53, 23.51, 5.31, 8.45),
    Case("seqsearch", "Bio", 1, 334.0, 383, 1, 650, 326_010, 2_267,
         0.000813, 0.00194, 0.295, 0.593),
)  # fmt: skip


def shares(total: int, of: NDArray[np.bool_]) -> NDArray[np.int64]:
    """(n,) whole numbers that add up to a total, equal but for one; 0 where `of` is False."""
    each, rest = divmod(total, int(of.sum()))
    return np.where(of, each + (np.cumsum(of) <= rest), 0)


def times(case: Case) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Yield "READ", "WRITE" and "META" with (n,) seconds of each file."""
    weights = _weights(case)
    for what, total, of in _totals(case):
        yield what, total * np.where(of, weights, 0.0) / weights[of].sum()


def _totals(case: Case) -> tuple[tuple[str, float, NDArray[np.bool_]], ...]:
    return (
        ("READ", case.read_seconds, case.reading),
        ("WRITE", case.write_seconds, ~case.reading),
        ("META", case.meta_seconds, np.ones(case.n_files, np.bool_)),
    )


def _weights(case: Case) -> NDArray[np.float64]:
    """(n,) shares of the times: found by halving, so that rank 0 has the I/O time."""
    weights, first = np.ones(case.n_files), case.ranks == 0
    low, high = 1.0, 1e9
    for _ in range(200 if case.n_ranks > 1 else 0):
        weights[first] = middle = (low * high) ** 0.5
        slowest = sum(
            total * weights[of & first].sum() / weights[of].sum() for _, total, of in _totals(case)
        )
        low, high = (middle, high) if slowest < case.io_seconds else (low, middle)
    return weights


def survey_evidence(
    case: Case, *, job_id: int, user_id: int, directory: str, start: float
) -> Evidence:
    """Return what the run of a case leaves.

    Args:
        case: Whose figures it has.
        job_id: Of the scheduler.
        user_id: Of its user.
        directory: Of its files.
        start: Seconds since 1970.
    """
    rows, whole = empty_rows(case.n_files), np.ones(case.n_files, np.bool_)
    rows["file"], rows["layer"] = np.arange(case.n_files), IoLayer.POSIX
    rows["rank"] = case.ranks
    rows["count"][:, Op.OPEN] = 1
    rows["count"][:, Op.META] = shares(case.meta_operations - case.n_files, whole)
    for way, op, total, of in (
        ("read", Op.READ, case.read_bytes, case.reading),
        ("write", Op.WRITE, case.write_bytes, ~case.reading),
    ):
        moved = shares(total, of)
        calls = -(-moved // REQUEST_BYTES)
        rows["bytes"][:, op], rows["count"][:, op] = moved, calls
        rows[f"outermost_{way}_bytes"] = moved
        rows[f"consecutive_{way}s"] = rows[f"sequential_{way}s"] = np.maximum(calls - 1, 0)
        size = int(moved.max() // max(calls.max(), 1))
        rows[f"{way}_sizes"][:, int(np.searchsorted(SIZE_EDGES, size, "right")) - 1] = calls
    for what, seconds in times(case):
        rows["seconds"][:, Op[what]] = seconds
    rows["outermost_seconds"] = rows["seconds"].sum(axis=1)
    rows["maximum_offset"] = rows["bytes"].sum(axis=1)
    rows["first"], rows["last"] = 1.0, case.run_seconds - 1.0
    profile = RunProfile(
        source="Darshan 3.1.5 log",
        command=f"/apps/{case.program}/survey/bin/{case.program} run.nml",
        job_id=str(job_id),
        user=f"uid {user_id}",
        n_ranks=case.n_ranks,
        n_processes=case.n_ranks,
        start=start,
        elapsed_seconds=case.run_seconds,
        paths=tuple(f"{directory}/{path}" for path in case.paths),
        counters=rows,
        layers=("posix", "stdio", "mpiio"),
        notes=(SYNTHETIC, "its figures are those of a run that JAMSTEC published in 2018"),
    )
    return Evidence(profile)
