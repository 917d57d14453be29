# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Blocks in the layout of MPICH_MPIIO_STATS=1, whatever the MPI.

Source: intro_mpi(3) of Cray MPICH, and blocks in published job outputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stripewise.model import MpiioSide, MpiioStats
from stripewise.text import printable

_RULE = "+--------------------------------------------------------+"
_NOT_KNOWN = "NA"


def mpiio_stats_text(blocks: Sequence[MpiioStats]) -> str:
    """All blocks, the writes of a file before its reads; "" without any."""
    lines = []
    for block in blocks:
        for side, writing in ((block.write, True), (block.read, False)):
            if side is not None:
                lines += [_RULE, *_block(block.path, side, writing)]
    return "\n".join([*lines, _RULE]) + "\n" if lines else ""


def _block(path: str, side: MpiioSide, writing: bool) -> Iterator[str]:
    verb, who = ("write", "writers") if writing else ("read", "readers")
    yield f"| MPIIO {verb} access patterns for {printable(path)}"
    for key, value in _fields(side, verb, who):
        yield f"|   {key:<24} = {value}"


def _fields(side: MpiioSide, verb: str, who: str) -> Iterator[tuple[str, str]]:
    yield f"independent {verb}s", str(side.independent)
    yield f"collective {verb}s", str(side.collective)
    yield f"independent {who}", str(side.independent_ranks)
    yield "aggregators", str(side.aggregators)
    yield "stripe count", _known(side.stripe_count)
    yield "stripe size", _known(side.stripe_bytes)
    yield f"system {verb}s", str(side.system_calls)
    if side.stripe_sized is not None:
        yield f"stripe sized {verb}s", str(side.stripe_sized)
    if side.active is not None:
        n = max(side.aggregators, 1)
        counts = ",".join(str(value) for value in side.active)
        yield "aggregators active", f"{counts} (1, <= {max(n // 2, 1)}, > {max(n // 2, 1)}, {n})"
    yield f"total bytes for {verb}s", _total(side.total_bytes)
    yield f"ave system {verb} size", _known(side.average_bytes)
    if verb == "write":
        yield "read-modify-write count", _known(side.modify_reads)
        yield "read-modify-write bytes", _known(side.modify_bytes)
    yield f"number of {verb} gaps", _known(side.gaps)
    yield f"ave {verb} gap size", _known(side.average_gap_bytes)


def _known(value: int | None) -> str:
    return _NOT_KNOWN if value is None else str(value)


def _total(value: int) -> str:
    text = str(value)
    if value >= 1 << 20:
        text += f" = {value >> 20} MiB"
    if value >= 1 << 30:
        text += f" = {value >> 30} GiB"
    return text
