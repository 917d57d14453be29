# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Formats the fit of likeness as Markdown tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_WORDS = {
    "patterns": "all that patterns tell", "counters": "all that counters tell",
    "n_ranks": "ranks, of 5 octaves", "n_hosts": "nodes, of 5 octaves",
    "volume": "bytes moved, of 10 octaves", "mpi": "another MPI family",
    "driver": "another driver of the same MPI-IO", "storage": "another storage of the type",
}  # fmt: skip


def markdown(document: dict[str, Any]) -> str:
    """Return weights, errors, and the outcomes of settings at each distance."""
    lines = ["| difference | weight | 90 % interval |", "|---|---|---|"]
    lines += [
        f"| {_WORDS.get(name, name)} | {weight:.2f} | {low:.2f} to {high:.2f} |"
        for name, weight, low, high in _weights(document)
    ]
    lines += ["", _errors(document), ""]
    lines += [
        "| distance, octaves | bandwidth of the best, median | at least 90 % of the best "
        "| slower than the default | against the default, median |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {one['from']:.2f} to {one['to']:.2f} | {one['median']:.0%} | {one['ninety']:.0%} "
        f"| {one['slower']:.0%} | {one['gain']:.1f}x |"
        for one in document["tenths"]
    ]
    return "\n".join(lines).replace(" %", "%").replace("%", " %")


def _weights(document: dict[str, Any]) -> Iterator[tuple[str, float, float, float]]:
    for name, weight in document["weights"].items():
        yield (name, weight, *document["intervals"][name])


def _errors(document: dict[str, Any]) -> str:
    found, near = document, document["nearest"]
    return (
        f"{found['pairs']:,} pairs of {found['families']} families of cases. Families that had no "
        f"part in the fit: rank correlation of distance and loss {found['rho']:.2f}, root mean "
        f"square error {found['error']:.2f} octaves (spread of the losses {found['spread']:.2f}). "
        "Rank correlation with the weights that were assumed before: "
        f"{found['assumed_rho']:.2f}; with those of the code: {found['shipped_rho']:.2f}. "
        f"Settings of the nearest of up to five other cases lose {near['fitted']:.2f} octaves on "
        f"average ({near['assumed']:.2f} with the assumed weights, {near['any']:.2f} by settings "
        f"of any of them, {near['best']:.2f} by those of the best one)."
    )
