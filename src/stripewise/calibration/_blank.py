# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a fit begins with: a storage of which hardly anything is known."""

from __future__ import annotations

from dataclasses import replace
from statistics import median

from stripewise.calibration.readers import Results
from stripewise.errors import UsageError
from stripewise.machines import Evidence, Figure, Storage

_UNKNOWN = 1e15
"""Bytes a second that limit nothing, and still take a time."""
_TARGETS = ("servers.target_write", "servers.target_read")


def blank_storage(
    results: Results, *, name: str, targets: int, kind: str = "lustre", stack: str = "romio"
) -> Storage:
    """Return a storage that nothing limits, on the nodes that the results were measured on.

    Args:
        results: To be fitted to.
        name: Of the description.
        targets: OSTs, burst-buffer nodes or disks.
        kind: One of `stripewise.machines.KINDS`.
        stack: MPI-IO of its users.
    """
    works = [one.workload for one in results.measured]
    nodes = max((one.nodes for one in works), default=1)
    ranks = max((one.ranks_per_node for one in works), default=1)
    given = "given to `stripewise machine fit`"
    figures = {
        "machine.nodes": Figure(nodes, Evidence.ASSUMED, "the most nodes of the results"),
        "machine.ranks_per_node": Figure(ranks, Evidence.ASSUMED, "the most of the results"),
        "servers.targets": Figure(targets, Evidence.DOCUMENTED, given),
        **{one: Figure(_UNKNOWN, Evidence.ASSUMED, "not known") for one in _TARGETS},
    }
    return Storage(name, "Fitted to benchmark results", kind, stack, figures)


def finished(storage: Storage, results: Results) -> Storage:
    """Return the storage with a speed of targets in both directions.

    Args:
        storage: That was fitted.
        results: The fastest run stands for what no run tells.

    Raises:
        UsageError: Nothing is known of the targets.
    """
    missing = [one for one in _TARGETS if storage.value(one) >= _UNKNOWN]
    seen = {True: 0.0, False: 0.0}
    for one in results.measured:
        seen[one.writing] = max(seen[one.writing], median(one.rates))
    if missing and not any(seen.values()):
        raise UsageError(
            "the results say nothing of how fast a target is: add bandwidths, or name a "
            "description to begin with by --like"
        )
    figures = dict(storage.figures)
    for name in missing:
        way = name.rpartition("_")[2]
        most = storage.value(f"servers.whole_{way}")
        value = min(seen[way == "write"] or max(seen.values()), most)
        source = "not told by the results: as fast as the fastest configuration"
        figures[name] = Figure(float(f"{value:.4g}"), Evidence.ASSUMED, source)
    return replace(storage, figures=figures)
