# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a job did, by kind, from the operations that Lustre counts.  Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stripewise.monitor._records import OperationCount

METADATA_KINDS = frozenset({
    "open", "close", "mknod", "link", "unlink", "mkdir", "rmdir", "rename", "getattr", "setattr",
    "getxattr", "setxattr", "statfs", "sync",
})  # fmt: skip
"""Operations of a metadata target that make up lustre_target_metadata_operations: what clients
asked for.  Others are parts of these, or work of the servers."""
_MICROSECONDS = 1e-6


class Work:
    """Work of one kind; `moved_bytes` and `busy` (microseconds) None: not told."""

    __slots__ = ("busy", "moved_bytes", "operations", "parts")

    def __init__(
        self, operations: int | None = 0, moved_bytes: int | None = None, busy: int | None = None,
        parts: Mapping[str, int] | None = None,
    ) -> None:  # fmt: skip
        self.operations = operations
        self.moved_bytes = moved_bytes
        self.busy = busy
        self.parts = dict(parts or {})

    def add(self, other: Work) -> None:
        """Add more of the same kind."""
        self.operations = _both(self.operations, other.operations)
        self.moved_bytes = _both(self.moved_bytes, other.moved_bytes)
        self.busy = _both(self.busy, other.busy)
        for name, number in other.parts.items():
            self.parts[name] = self.parts.get(name, 0) + number

    @property
    def size(self) -> tuple[int, int]:
        """By which jobs are compared: bytes, then operations."""
        return self.moved_bytes or 0, self.operations or 0

    @property
    def busy_seconds(self) -> float | None:
        """That the servers spent."""
        return None if self.busy is None else self.busy * _MICROSECONDS

    def as_list(self) -> list[Any]:
        """Return plain data, from which `Work(*list)` is made."""
        return [self.operations, self.moved_bytes, self.busy, self.parts]


def works_of(target: str, operations: Mapping[str, OperationCount]) -> dict[str, Work]:
    """Return what operations on a target are, by kind.

    Args:
        target: "MDT..." or another.
        operations: By Lustre's name; on a metadata target "read_bytes" is of files that lie there.
    """
    found: dict[str, Work] = {}
    for kind in ("read", "write"):
        moved, took = operations.get(f"{kind}_bytes"), operations.get(kind)
        work = _moving(moved, took)
        if work is not None:
            found[kind] = work
    if target.startswith("MDT"):
        asked = {name: one for name, one in operations.items() if name in METADATA_KINDS}
        if asked:
            found["metadata"] = _metadata(asked)
    return found


def _moving(moved: OperationCount | None, took: OperationCount | None) -> Work | None:
    busy = took.total if took is not None and took.unit in ("usec", "usecs") else None
    if moved is None:
        return Work(0, None, busy) if busy else None
    sizes = {str(size): number for size, number in moved.sizes or ()}
    return Work(moved.samples, moved.total, busy, sizes)


def _metadata(asked: Mapping[str, OperationCount]) -> Work:
    times = [one.total for one in asked.values() if one.unit in ("usec", "usecs")]
    return Work(
        sum(one.samples for one in asked.values()),
        None,
        sum(times) if times else None,
        {name: one.samples for name, one in asked.items()},
    )


def _both(one: int | None, other: int | None) -> int | None:
    if one is None or other is None:
        return other if one is None else one
    return one + other
