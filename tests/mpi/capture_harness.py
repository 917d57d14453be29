# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Programs run under capture; their calls, one by one, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runtime_harness import run

from stripewise.evidence.readers import read_evidence
from stripewise.evidence.trace import EventFlag, IoLayer, Op, Trace, expand


@dataclass(frozen=True)
class Call:
    """One call of a rank.

    Attributes:
        offset: None: not known.
        path: Name of the file, "" for none.
        under: The call that it serves, None for the program's own.
    """

    name: str
    layer: IoLayer
    op: Op
    flags: EventFlag
    offset: int | None
    bytes: int
    path: str
    object: int
    shape: int
    view: int
    under: str | None


def captured(
    stack: str,
    n_ranks: int,
    command: Sequence[str | Path],
    where: Path,
    *,
    mode: str = "fold",
    io: str = "",
) -> Trace:
    """Run a program under capture, and read its trace."""
    before = set(where.glob("containers-*"))
    ran = run(stack, n_ranks, command, where, io=io, extra={"STRIPEWISE_CAPTURE": mode})
    assert ran.code == 0, ran.out + ran.err
    (directory,) = set(where.glob("containers-*")) - before
    trace = read_evidence(directory).trace
    assert trace is not None
    assert trace.lost_calls == 0
    return trace


def calls(trace: Trace, rank: int, layer: IoLayer | None = None, path: str = "") -> list[Call]:
    """The calls of a rank in their order; of one layer, to one file, if given."""
    rows = expand(trace)
    rows = rows[rows["rank"] == rank]
    found = [_call(trace, row) for row in rows]
    return [
        call
        for call in found
        if (layer is None or call.layer == layer) and (not path or call.path == path)
    ]


def _call(trace: Trace, row: Any) -> Call:
    flags = EventFlag(int(row["flags"]))
    return Call(
        name=trace.names[row["name"]],
        layer=IoLayer(int(row["layer"])),
        op=Op(int(row["op"])),
        flags=flags & ~EventFlag.NO_OFFSET,
        offset=None if flags & EventFlag.NO_OFFSET else int(row["offset"]),
        bytes=int(row["bytes"]),
        path=Path(trace.paths[row["file"]]).name if row["file"] >= 0 else "",
        object=int(row["object"]),
        shape=int(row["shape"]),
        view=int(row["view"]),
        under=trace.names[row["parent"]] if row["parent"] >= 0 else None,
    )
