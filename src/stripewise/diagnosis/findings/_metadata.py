# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Opens, stats and other calls that move no data.

Times are those of POSIX and stdio, also beneath MPI-IO and HDF5: what the file system took.
A collective open contains waiting for the other ranks, which is no loss of metadata.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from stripewise.diagnosis._sums import REDUCED
from stripewise.diagnosis._usage import SYSTEM, FileUse, rank_keys
from stripewise.diagnosis._words import count, files_of, number, percent, seconds, things
from stripewise.diagnosis.findings._base import Hit, Rule, Run, Told
from stripewise.model import COUNTER_ROW, Op

OPENING = (Op.OPEN, Op.META)
LEAST_OPENS = 10
LEAST_FILES = 1000
LEAST_OPERATIONS = 1000
NEEDED_SECONDS = 1e-3
"""Of one open that is needed. Assumed: a Lustre metadata server makes thousands a second."""


def system_seconds(files: Sequence[FileUse]) -> tuple[float, int, int, int]:
    """Slowest rank's time in opening calls to some files: seconds, rank, calls, its files."""
    system = [int(layer) for layer in SYSTEM]
    parts = [use.rows[np.isin(use.rows["layer"], system)] for use in files]
    rows = np.concatenate([np.zeros(0, COUNTER_ROW), *parts])
    if not len(rows):
        return 0.0, -1, 0, 0
    columns = [int(op) for op in OPENING]
    spent = rows["seconds"][:, columns].sum(axis=1)
    total = int(rows["count"][:, columns].sum())
    single = rows["rank"] != REDUCED
    together = float(spent[~single].sum()) / max(files[0].n_ranks, 1)
    if not single.any():
        return together, -1, total, len(files)
    names, inverse = np.unique(rank_keys(rows[single]), return_inverse=True)
    by_rank = np.bincount(inverse, weights=spent[single])
    slowest = int(by_rank.argmax())
    own = len(np.unique(rows["file"][single][inverse == slowest]))
    return float(by_rank[slowest]) + together, int(names[slowest]), total, own


def _opening(use: FileUse) -> float:
    return use.calls(OPENING, layers=SYSTEM, own=False).elapsed


class OpenPerStep(Rule):
    """The same file is opened over and over."""

    code = "open-per-step"
    group = "metadata"
    basis = "time of the slowest rank in opening the file, less one opening"

    def hits(self, run: Run) -> Iterable[Hit]:
        """At least 10 opens of a file by each rank that uses it."""
        for use in run.files:
            opens = use.calls([Op.OPEN])
            each = opens.count / max(opens.ranks, 1)
            if each >= LEAST_OPENS:
                spent, _, _, _ = system_seconds([use])
                evidence = {"opens_a_rank": each}
                cost = spent * (1 - 1 / each)
                yield Hit(use, cost, spent, opens.count, 0, evidence, None, use.only_rank)

    def phrase(self, told: Told) -> str:
        """How often what."""
        return f"opening {files_of(told.files, told.n_files)} {count(told.calls)} times"

    def text(self, told: Told) -> str:
        """How often a rank, how long."""
        each = number(float(told.first.evidence["opens_a_rank"]))
        return (
            f"Each rank opened the file {each} times; opening took {seconds(told.stake)} of the "
            "slowest rank."
        )

    def remedy(self, told: Told) -> str:
        """Once."""
        return "Open the file once, keep it open over the steps, and close it at the end."


class FilePerProcess(Rule):
    """A file for each rank (and step), very many of them."""

    code = "file-per-process"
    group = "metadata"
    basis = "time of the slowest rank in opening these files, less 1 ms a file of it (assumed)"

    def hits(self, run: Run) -> Iterable[Hit]:
        """At least 1000 files of one rank each, by at least half of the ranks."""
        files = [use for use in run.open_files if use.only_rank >= 0 and use.data_ranks == 1]
        ranks = len({use.only_rank for use in files})
        if len(files) < LEAST_FILES or run.n_ranks < 2 or 2 * ranks < run.n_ranks:
            return
        spent, rank, total, own = system_seconds(files)
        evidence: dict[str, float | int | str] = {"files": len(files), "rank": rank}
        cost = max(0.0, spent - NEEDED_SECONDS * own)
        yield Hit(None, cost, spent, total, 0, evidence)

    def phrase(self, told: Told) -> str:
        """How many."""
        return f"opening {things(int(told.first.evidence['files']), 'file')}, one for each rank"

    def text(self, told: Told) -> str:
        """How many, how long."""
        files = int(told.first.evidence["files"])
        return (
            f"{count(files)} files were each used by a single rank; opening and looking at them "
            f"took {seconds(told.stake)} of the slowest rank."
        )

    def remedy(self, told: Told) -> str:
        """Fewer files."""
        return (
            "Write one shared file with collective calls (MPI-IO, HDF5, PnetCDF), or one file for "
            "each node. Spread directories over metadata servers where there are several."
        )

    def lines(self, told: Told, run: Run) -> tuple[str, ...]:
        """For files that must stay many: one stripe each, several metadata servers."""
        return (
            "lfs mkdir -c -1 DIR   # a directory over all metadata servers",
            "lfs setstripe -c 1 DIR   # small files on one target each",
        )


class MetadataHeavy(Rule):
    """Much time in calls that move no data."""

    code = "metadata-heavy"
    group = "metadata"
    basis = "time of the slowest rank in these calls, less 1 ms for each of its files (assumed)"

    def hits(self, run: Run) -> Iterable[Hit]:
        """At least 1000 opens, stats and the like over all ranks."""
        files = run.open_files
        spent, rank, total, own = system_seconds(files)
        if total < LEAST_OPERATIONS:
            return
        worst = max(files, key=_opening)
        evidence: dict[str, float | int | str] = {
            "rank": rank,
            "share": spent / run.figures.io_seconds if run.figures.io_seconds > 0 else 0.0,
            "worst_file": worst.path,
        }
        cost = max(0.0, spent - NEEDED_SECONDS * own)
        yield Hit(None, cost, spent, total, 0, evidence)

    def phrase(self, told: Told) -> str:
        """How many."""
        return f"{count(told.calls)} opens, stats, seeks and the like at the system"

    def text(self, told: Told) -> str:
        """How many, how long, which file most."""
        evidence = told.first.evidence
        return (
            f"{count(told.calls)} opens, stats, seeks and the like that reached the system took "
            f"{seconds(told.stake)} of the slowest rank, "
            f"{percent(float(evidence['share']))} of its I/O time, most of that on "
            f"{files_of((str(evidence['worst_file']),))}."
        )

    def remedy(self, told: Told) -> str:
        """Fewer."""
        return (
            "Open each file once and on as few ranks as possible; stat and list directories on "
            "one rank and broadcast the answer; keep what does not change."
        )
