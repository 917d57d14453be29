# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Judges imbalance between ranks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from stripewise.evidence.diagnosis._base import Hit, Merged, Numbers, PreparedRun, Rule
from stripewise.evidence.figures import COLLECTIVE, FileUse
from stripewise.present import name_of
from stripewise.present import number_text as number
from stripewise.present import seconds_text as seconds

LEAST_SHARE = 0.3


class Imbalance(Rule):
    """One rank spends far more time in independent calls than the mean of all ranks."""

    code = "imbalance"
    group = "balance"
    claims = False
    basis = (
        "not estimated: it is not known what other ranks could take over, or whether "
        "another node would be faster"
    )
    title = "One rank spends far longer in I/O than the others"
    general_remedy = "Spread the I/O over the ranks; look at the node and at the storage target."

    def hits(self, run: PreparedRun) -> Iterable[Hit]:
        """Compare ranks over all files without collective calls, which make ranks wait."""
        files = [use for use in run.files if not use.calls(COLLECTIVE).count]
        parts = [use.rows[use.rows["rank"] >= 0] for use in files]
        if run.n_ranks < 2 or not sum(map(len, parts)):
            return
        rows = np.concatenate(parts)
        bytes_ = rows["outermost_read_bytes"] + rows["outermost_write_bytes"]
        spent, moved = (
            np.bincount(rows["rank"], weights=values, minlength=run.n_ranks)
            for values in (rows["outermost_seconds"], bytes_)
        )
        slowest, mean = int(spent.argmax()), float(spent.mean())
        beyond = float(spent[slowest]) - mean
        if beyond >= run.least_gain and beyond > LEAST_SHARE * float(spent[slowest]):
            evidence: dict[str, float | int | str] = {
                "rank": slowest,
                "ranks": run.n_ranks,
                "mean_seconds": mean,
                "bytes_ratio": float(moved[slowest] / moved.mean()) if moved.any() else 1.0,
            }
            evidence |= _slow_files(files, slowest)
            yield Hit(None, None, float(spent[slowest]), evidence=evidence)

    def phrase(self, merged: Merged) -> str:
        evidence = merged.evidence
        name = name_of(str(evidence["slowest_file"]))
        return f"rank {evidence['rank']} taking far longer than the others, most of it with {name}"

    def text(self, merged: Merged) -> str:
        evidence = merged.evidence
        ratio = float(evidence["bytes_ratio"])
        alone = ratio > int(evidence["ranks"]) - 0.5
        why = (
            "It alone moved data."
            if alone
            else f"It moved {number(ratio)} times the mean bytes."
            if ratio >= 1 + LEAST_SHARE
            else "It moved no more bytes than the others: its node or its storage target is slow."
        )
        if "storage_target" in evidence:
            why += (
                f" All {evidence['slow_files']} files that took more than half as long lie on "
                f"storage target {evidence['storage_target']}."
            )
        return (
            f"The slowest rank spent {seconds(merged.stake)} in independent calls, the mean of "
            f"{evidence['ranks']} ranks is {seconds(float(evidence['mean_seconds']))}. {why}"
        )

    def remedy(self, merged: Merged) -> str:
        if float(merged.evidence["bytes_ratio"]) >= 1 + LEAST_SHARE:
            return (
                "Spread the I/O over the ranks. That gains time where the storage serves several "
                "ranks faster than one."
            )
        return (
            "Look at that rank's node and at the storage targets of the file (`lfs getstripe`). "
            "If it is the same in every run, leave that target out (`lfs setstripe -o`)."
        )


def _slow_files(files: Sequence[FileUse], rank: int) -> Numbers:
    """Return the slowest file of a rank, and the storage target that all slow files share."""
    longest = {
        use: float(use.rows["outermost_seconds"][use.rows["rank"] >= 0].max(initial=0.0))
        for use in files
    }
    worst = max(
        (use for use in files if (use.rows["rank"] == rank).any()), key=lambda use: longest[use]
    )
    slow = [use for use in files if 2 * longest[use] >= longest[worst] > 0]
    found: dict[str, float | int | str] = {
        "slowest_file": worst.path,
        "slow_files": len(slow),
    }
    shared = set(worst.layout.targets).intersection(*(use.layout.targets for use in slow))
    if len(slow) > 1 and len(shared) == 1:
        found["storage_target"] = next(iter(shared))
    return found
