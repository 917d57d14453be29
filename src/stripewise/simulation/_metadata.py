# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Rates of operations that many ranks ask of the metadata server, one after another."""

from __future__ import annotations

from math import inf

from stripewise.errors import UsageError
from stripewise.machines import Storage
from stripewise.simulation._rates import Rates

SERVER_OPERATIONS = {
    "create": "create",
    "stat": "stat",
    "read-file": "open",
    "remove": "remove",
    "rename": "remove",
    "create-directory": "remove",
    "stat-directory": "stat",
    "remove-directory": "remove",
}
"""Operation of `stripewise metadata` -> the server's operation, as descriptions name it."""


def metadata_rate(
    storage: Storage, operation: str, ranks: int, stripe_count: int | None = None
) -> float:
    """Return the operations a second of ranks that each make one after another.

    A rank waits for the way to the server and back, and for the server; the server serves one
    operation at a time.  So the rate is that of the ranks, or of the server where it is busy all
    the time.  Files are empty: what is written to them comes on top.
    Source: asymptotic bounds of a closed queueing network, E. D. Lazowska et al., Quantitative
    System Performance (1984), chapter 5; they are reached where all operations take equally long.

    Args:
        storage: With the server's figures.
        operation: As `stripewise metadata` names it: "create", "stat", "read-file", ...
        ranks: Of the job.
        stripe_count: Of each file; None: the storage's default.

    Raises:
        UsageError: There is no such operation.
    """
    if operation not in SERVER_OPERATIONS:
        known = ", ".join(SERVER_OPERATIONS)
        raise UsageError(f"there is no metadata operation {operation!r}: give one of {known}")
    stripes = 1 if operation.endswith("-directory") else _stripes(storage, stripe_count)
    rates = Rates.of(storage)
    once = rates.operation(SERVER_OPERATIONS[operation], stripes)
    waiting = once + rates.latency
    return min(ranks / waiting if waiting > 0 else inf, 1 / once if once > 0 else inf)


def operation_figure(storage: Storage, operation: str, seconds: float) -> float:
    """Return the description's figure of an operation that takes the server so long.

    The inverse of what the server needs for a file of the storage's default layout: without the
    look-up of its objects, which is a figure of its own, and as if it had one stripe.

    Args:
        storage: With `metadata.object` and `metadata.growth`; what they do not say costs nothing.
        operation: Of the server: "open", "create", "stat" or "remove".
        seconds: That the server needs, on average.
    """
    rates, stripes = Rates.of(storage), _stripes(storage, None)
    objects = rates.stripe * stripes if operation in ("open", "create") else 0.0
    alone = seconds - objects
    return float((alone if alone > 0 else seconds) / stripes**rates.growth)


def _stripes(storage: Storage, stripe_count: int | None) -> int:
    count = storage.striping.stripe_count if stripe_count is None else stripe_count
    targets = int(storage.value("servers.targets"))
    return min(count, targets) if count > 0 else targets
