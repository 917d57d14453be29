# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sums up how HDF5 carried out the transfers of each file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stripewise.evidence.trace import Cause, RunProfile, fell_back


@dataclass(frozen=True)
class Share:
    """Some transfers of a file in one direction.

    Attributes:
        count / bytes: Totals over all ranks; `bytes` is 0 where only the number is known.
        cumulated / elapsed: Seconds over all ranks, and of the slowest rank.
    """

    count: int = 0
    bytes: int = 0
    cumulated: float = 0.0
    elapsed: float = 0.0


@dataclass(frozen=True)
class Transfers:
    """HDF5 transfers of a file in one direction, by all processes.

    Attributes:
        file: Index of the file; `writing`: direction.
        collective: Number of transfers that were requested to be collective, and `answered`: for
            how many of these HDF5 reported what it did.
        independent: Those that HDF5 carried out independently, although they were requested to be
            collective.
        causes: Number of calls by `Cause`, largest first; empty if HDF5 gave none.
        converted: Those whose values HDF5 converted.
        members: Those that moved only some members of a compound.
        datasets: Names of the datasets of `independent`, `converted` and `members`, at most one
            each; empty if unknown.
    """

    file: int
    writing: bool
    collective: int
    answered: int
    independent: Share
    causes: tuple[tuple[Cause, int], ...]
    converted: Share
    members: Share
    datasets: tuple[str, str, str]


def transfers_of(profile: RunProfile) -> tuple[Transfers, ...]:
    """Return what HDF5 did in each file and direction; empty if the source does not record it."""
    rows = profile.transfers
    keys = sorted(set(zip(rows["file"].tolist(), rows["writes"].tolist(), strict=True)))
    return tuple(
        _summed(profile, rows[(rows["file"] == file) & (rows["writes"] == writing)])
        for file, writing in keys
    )


def _summed(profile: RunProfile, rows: NDArray[Any]) -> Transfers:
    fallen = fell_back(rows)
    causes = rows["global_causes"].sum(axis=0)
    known = [(cause, int(causes[cause])) for cause in Cause if causes[cause]]
    shares = (
        _share(profile, rows, fallen, "independent"),
        _share(profile, rows, rows["converted"], "converted"),
        _share(profile, rows, rows["members"], "members"),
    )
    return Transfers(
        file=int(rows["file"][0]),
        writing=bool(rows["writes"][0]),
        collective=int(rows["collective"].sum()),
        answered=int(rows["answered"].sum()),
        independent=shares[0],
        causes=tuple(sorted(known, key=lambda one: -one[1])),
        converted=shares[1],
        members=shares[2],
        datasets=(
            _named(profile, rows, fallen),
            _named(profile, rows, rows["converted"]),
            _named(profile, rows, rows["members"]),
        ),
    )


def _share(profile: RunProfile, rows: NDArray[Any], counts: NDArray[Any], name: str) -> Share:
    chosen = rows[counts > 0]
    spent = chosen[f"{name}_seconds"]
    moved = int(chosen[f"{name}_bytes"].sum()) if name != "independent" else 0
    by_rank = np.bincount(np.maximum(chosen["rank"], 0), weights=spent)
    slowest = float(by_rank.max(initial=0.0))
    if len(profile.processes):
        slowest = profile.over_ranks(spent, chosen["process"])
    return Share(int(counts.sum()), moved, float(spent.sum()), slowest)


def _named(profile: RunProfile, rows: NDArray[Any], counts: NDArray[Any]) -> str:
    """Return the name of the dataset with most of these transfers; empty if it has none."""
    if not counts.any():
        return ""
    totals = np.bincount(rows["dataset"], weights=counts, minlength=len(profile.datasets))
    return profile.datasets[int(totals.argmax())]
