# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that wait for one of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from stripewise.diagnosis._sums import REDUCED
from stripewise.diagnosis._usage import COLLECTIVE, DATA, INDEPENDENT, FileUse, rank_keys
from stripewise.diagnosis._words import files_of, name_of, number, percent, seconds, size
from stripewise.diagnosis.findings._base import Hit, Rule, Run, Told

LEAST_SHARE = 0.95
LEAST_RANKS = 4
LEAST_BYTES = 16 << 20
MOST_SPREAD = 4
LEAST_IMBALANCE = 0.3


class SerialIo(Rule):
    """One rank does nearly all I/O of a parallel program."""

    code = "serial-io"
    group = "balance"
    basis = (
        "that rank's time in data calls, if the work were spread over the hosts, at most 4 "
        "(4 on one host; assumed)"
    )

    def hits(self, run: Run) -> Iterable[Hit]:
        """At least 4 ranks, one of which moves 95 % of at least 16 MiB."""
        profile = run.profile
        if run.n_ranks < LEAST_RANKS or not run.files:
            return
        rows = profile.counters
        moved = (rows["outermost_read_bytes"] + rows["outermost_write_bytes"]).astype(np.float64)
        total = float(moved.sum())
        single = rows["rank"] >= 0
        if not single.any() or total < LEAST_BYTES:
            return
        by_rank = np.bincount(rows["rank"][single], weights=moved[single])
        rank = int(by_rank.argmax())
        if by_rank[rank] < LEAST_SHARE * total:
            return
        stake, calls = _data_seconds(run.files, rank)
        spread = min(MOST_SPREAD, run.n_hosts if run.n_hosts > 1 else run.n_ranks)
        evidence = {"rank": rank, "share": by_rank[rank] / total, "ranks": run.n_ranks}
        yield Hit(None, stake * (1 - 1 / spread), stake, calls, int(by_rank[rank]), evidence)

    def phrase(self, told: Told) -> str:
        """Who."""
        evidence = told.first.evidence
        return f"rank {evidence['rank']} doing the I/O of all {evidence['ranks']} ranks"

    def text(self, told: Told) -> str:
        """How much, how long."""
        evidence = told.first.evidence
        return (
            f"Rank {evidence['rank']} moved {percent(float(evidence['share']))} of all bytes "
            f"({size(told.bytes)}) and spent {seconds(told.stake)} in it, while the other "
            f"{int(evidence['ranks']) - 1} ranks had nothing to do with files."
        )

    def remedy(self, told: Told) -> str:
        """In parallel."""
        return (
            "Let all ranks take part, each with its own data. Use MPI_File_write_at_all, parallel "
            "HDF5 or PnetCDF instead of gathering on one rank."
        )


class Imbalance(Rule):
    """One rank takes far longer than the mean with independent I/O."""

    code = "imbalance"
    group = "balance"
    basis = "slowest rank less the mean over the ranks that used the file, in independent calls"

    def hits(self, run: Run) -> Iterable[Hit]:
        """Shared files, and all files of single ranks together; collective calls left out."""
        for use in run.files:
            if use.shared and not use.calls(COLLECTIVE).count:
                yield from self._shared(use)
        yield from self._own_files(run)

    def _shared(self, use: FileUse) -> Iterable[Hit]:
        calls = use.calls(INDEPENDENT)
        ranks = max(use.total.ranks, calls.ranks)
        mean = calls.cumulated / max(ranks, 1)
        if ranks > 1 and _imbalanced(calls.elapsed, mean):
            evidence: dict[str, float | int | str] = {
                "rank": calls.rank,
                "mean_seconds": mean,
                "ranks": ranks,
                "bytes_ratio": _bytes_ratio(use, calls.rank),
            }
            cost = calls.elapsed - mean
            yield Hit(use, cost, calls.elapsed, calls.count, calls.bytes, evidence)

    def _own_files(self, run: Run) -> Iterable[Hit]:
        files = [use for use in run.files if use.only_rank >= 0 and use.data_ranks == 1]
        if run.n_ranks < 2 or len({use.only_rank for use in files}) < 2:
            return
        spent, moved = np.zeros(run.n_ranks), np.zeros(run.n_ranks)
        for use in files:
            if use.only_rank < run.n_ranks:
                spent[use.only_rank] += use.calls(INDEPENDENT).elapsed
                moved[use.only_rank] += use.read_bytes + use.write_bytes
        slowest = int(spent.argmax())
        if _imbalanced(float(spent[slowest]), float(spent.mean())):
            mean_bytes = float(moved.mean())
            evidence: dict[str, float | int | str] = {
                "rank": slowest,
                "mean_seconds": float(spent.mean()),
                "ranks": run.n_ranks,
                "bytes_ratio": float(moved[slowest]) / mean_bytes if mean_bytes else 1.0,
            }
            evidence |= _slow_files(files, slowest)
            cost = float(spent[slowest] - spent.mean())
            total = int(moved.sum())
            yield Hit(None, cost, float(spent[slowest]), 0, total, evidence)

    def phrase(self, told: Told) -> str:
        """Who waits where."""
        evidence = told.first.evidence
        rank = evidence["rank"]
        who = f"rank {rank}" if isinstance(rank, int) and rank >= 0 else "one rank"
        if told.files:
            name = files_of(told.files, told.n_files)
            return f"{who} taking far longer than the others with {name}"
        name = name_of(str(evidence["slowest_file"]))
        return f"{who} taking far longer with {name} than the others with their own files"

    def text(self, told: Told) -> str:
        """Slowest against mean, and whether it had more to do."""
        evidence = told.first.evidence
        ratio = float(evidence["bytes_ratio"])
        why = (
            f"It moved {number(ratio)} times the mean bytes."
            if ratio >= 1 + LEAST_IMBALANCE
            else "It moved no more bytes than the others: its node or its storage target is slow."
        )
        if "storage_target" in evidence:
            why += (
                f" All {evidence['slow_files']} files that took more than half as long lie on "
                f"storage target {evidence['storage_target']}."
            )
        return (
            f"The slowest rank spent {seconds(told.stake)}, the mean of "
            f"{evidence['ranks']} ranks is {seconds(float(evidence['mean_seconds']))}. {why}"
        )

    def remedy(self, told: Told) -> str:
        """Spread, or look at the machine."""
        if float(told.first.evidence["bytes_ratio"]) >= 1 + LEAST_IMBALANCE:
            return (
                "Spread the data evenly over the ranks, or use collective calls, which balance "
                "the work over aggregators."
            )
        return (
            "Look at that rank's node and at the storage targets of the file (`lfs getstripe`). "
            "If it is the same in every run, leave that target out (`lfs setstripe -o`)."
        )


def _slow_files(files: Sequence[FileUse], rank: int) -> dict[str, float | int | str]:
    """The slowest file of a rank, and the storage target that all slow files share, if any."""
    worst = max((use for use in files if use.only_rank == rank), key=_independent_seconds)
    least = _independent_seconds(worst) / 2
    slow = [use for use in files if _independent_seconds(use) >= least]
    found: dict[str, float | int | str] = {"slowest_file": worst.path, "slow_files": len(slow)}
    shared = set(worst.layout.targets).intersection(*(use.layout.targets for use in slow))
    if len(slow) > 1 and len(shared) == 1:
        found["storage_target"] = next(iter(shared))
    return found


def _independent_seconds(use: FileUse) -> float:
    return use.calls(INDEPENDENT).elapsed


def _imbalanced(slowest: float, mean: float) -> bool:
    return slowest > 0 and (slowest - mean) / slowest > LEAST_IMBALANCE


def _bytes_ratio(use: FileUse, rank: int) -> float:
    """Bytes of a rank against the mean over the ranks that used the file."""
    moved: NDArray[np.float64] = (
        use.rows["outermost_read_bytes"] + use.rows["outermost_write_bytes"]
    ).astype(np.float64)
    reduced = use.rows["rank"] == REDUCED
    if reduced.any():
        row = use.rows[reduced][use.rows["slowest_seconds"][reduced].argmax()]
        mean = float(moved.sum()) / max(use.n_ranks, 1)
        return float(row["slowest_bytes"]) / mean if mean else 1.0
    keys = rank_keys(use.rows)
    mean = float(moved.sum()) / max(len(np.unique(keys)), 1)
    return float(moved[keys == rank].sum()) / mean if mean else 1.0


def _data_seconds(files: Iterable[FileUse], rank: int) -> tuple[float, int]:
    """Time and number of a rank's own data calls."""
    columns = [int(op) for op in DATA]
    spent, calls = 0.0, 0
    for use in files:
        mine = use.keys == rank
        if mine.any():
            weight, counted = use.weight[mine][:, columns], use.counted[mine][:, columns]
            spent += float((use.rows["seconds"][mine][:, columns] * weight).sum())
            calls += round(float((use.rows["count"][mine][:, columns] * counted).sum()))
    return spent, calls
