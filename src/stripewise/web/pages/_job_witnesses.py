# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Three witnesses of what a job moved, side by side."""

from __future__ import annotations

from stripewise.fleet.queries import JobView, Statement, statements
from stripewise.web.content import Block, Compared, Comparison, Notice

_HEADS = {
    "profile": "Profile of the program", "server": "Counters of the servers", "slurm": "Slurm",
}  # fmt: skip


def witnesses(view: JobView) -> list[Block]:
    """Return what profile, servers and Slurm say, and why they may differ; [] if none speaks."""
    is_partial = any(one.about["is_partial"] for one in view.sources)
    found = statements(view.row, is_partial=is_partial)
    if not any(one.known for one in found):
        return []
    rows = [
        Compared(f"{one.direction}_bytes", title, [one.amounts[name] for name in _HEADS], "bytes",
                 _verdict(one))
        for one, title in zip(found, ("Read", "Written"), strict=True)
    ]  # fmt: skip
    table = Comparison(
        "witnesses",
        "Three witnesses",
        tuple(_HEADS.values()),
        rows,
        "The program's own calls, what reached the servers, and what Slurm counted of its "
        "processes are three different things; they agree within a tenth where nothing lies "
        "between them. Numbers of operations are not compared: the servers count requests, which "
        "clients make by joining and splitting the program's calls.",
    )
    reasons = list(dict.fromkeys(reason for one in found for reason in one.reasons))
    if not reasons:
        return [table]
    return [table, Notice("witnesses_words", "Why they may differ", reasons)]


def _verdict(one: Statement) -> str:
    if one.agree is None:
        return "nothing to compare with"
    return "they agree" if one.agree else "they differ"
