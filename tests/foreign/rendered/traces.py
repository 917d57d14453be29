# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Renders figures in the forms of traces and logs other than Darshan's present one.

Source: darshan-log-format.h and darshan-logutils.c of Darshan 2.2 to 2.3 (a gzip or bzip2 stream
that begins with the version and the magic number); Cray's `intro_mpi` on MPICH_MPIIO_STATS;
Recorder 2.5's recorder2text.c; ROMIO's adio/common/system_hints.c.
"""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from support.foreign_traces import ForeignCall, write_recorder_directory, write_recorder_text

_MAGIC = 6567223


def darshan_2(given: Mapping[str, Any], directory: Path) -> list[Path]:
    """Write the beginning of a log of Darshan 2: "version", "compression", "order"."""
    head = given["version"].encode().ljust(8, b"\0")
    head += _MAGIC.to_bytes(8, given.get("order", "little")) + bytes(4096)
    packed = gzip.compress(head) if given["compression"] == "gzip" else bz2.compress(head)
    suffix = {"gzip": ".darshan.gz", "bzip2": ".darshan.bz2"}[given["compression"]]
    path = directory / given.get("file", f"user_prog_id4711_1-2-3_4{suffix}")
    path.write_bytes(packed)
    return [path]


def mpiio_stats(given: Mapping[str, Any], directory: Path) -> list[Path]:
    """Write a job's output with the statistics of Cray MPICH on each file that is given."""
    lines = list(given.get("before", ()))
    for file in given["files"]:
        for what in ("write", "read"):
            if what in file:
                lines += _stats(file["path"], what, file[what])
    newline = given.get("newline", "\n")
    path = directory / "slurm-4711.out"
    prefix = given.get("prefix", "")
    path.write_bytes("".join(prefix + line + newline for line in lines).encode())
    return [path]


def _stats(path: str, what: str, side: Mapping[str, Any]) -> Iterator[str]:
    rule = f"+{'-' * 56}+"
    writing = what == "write"
    system, total = side["system"], side["bytes"]
    rows: list[tuple[str, object]] = [
        (f"independent {what}s", side.get("independent", 0)),
        (f"collective {what}s", side.get("collective", 0)),
        (f"independent {'writers' if writing else 'readers'}", side.get("processes", 0)),
        ("aggregators", side.get("aggregators", 0)), ("stripe count", side.get("count", 1)),
        ("stripe size", side.get("stripe", 1 << 20)), (f"system {what}s", system),
        (f"stripe sized {what}s", 0),
    ]  # fmt: skip
    rows += [(f"total bytes for {what}s", total),
             (f"ave system {what} size", total // system if system else 0)]  # fmt: skip
    if writing:
        rows += [("read-modify-write count", side.get("rmw", 0)),
                 ("read-modify-write bytes", side.get("rmw_bytes", 0))]  # fmt: skip
    gaps = side.get("gaps", 0)
    rows += [(f"number of {what} gaps", gaps), (f"ave {what} gap size", 4096 if gaps else "NA")]
    yield rule
    yield f"| MPIIO {what} access patterns for {path}"
    yield from (f"|   {name:<23} = {value}" for name, value in rows)
    yield '| See "Optimizing MPI I/O on Cray XE Systems" S-0013-20 for explanations.'
    yield rule


def recorder(given: Mapping[str, Any], directory: Path) -> list[Path]:
    """Write a trace of Recorder: "ranks", "writes" and "reads" of "size" bytes each; "text"."""
    ranks = [list(_calls(given, rank)) for rank in range(given["ranks"])]
    target = directory / "recorder-20231105"
    if given.get("text"):
        return [write_recorder_text(target, ranks)]
    return [write_recorder_directory(target, ranks, merged=given.get("merged", False))]


def _calls(given: Mapping[str, Any], rank: int) -> Iterator[ForeignCall]:
    path, size, now = f"/scratch/rank{rank}.dat", str(given["size"]), 100
    yield ForeignCall(now, now + 50, "open", 0, (path, "66", "438"))
    for what in ("write", "read"):
        for step in range(given[f"{what}s"]):
            now += 1000
            offset = str(step * given["size"])
            arguments = (path, "0x7ffd10", size, offset)
            yield ForeignCall(now, now + 500, f"p{what}", 0, arguments)
    yield ForeignCall(now + 1000, now + 1100, "close", 0, (path,))


def hints(given: Mapping[str, Any], directory: Path) -> list[Path]:
    """Write a file of the text that is given."""
    path = directory / given.get("file", "hints.romio")
    path.write_bytes(given["text"].encode())
    return [path]
