# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The board about the origin of load.  Names of jobs and users are shown only in the portal."""

from __future__ import annotations

from boards._board import Board, Row
from boards._common import CHOOSE_FS, FS, MDT, OST, TARGET, TARGET_LINKS, TO_SERVER
from boards._panels import SELDOM, Column, Line, lines, rows, words
from boards._queries import Scope
from stripewise.centre.monitor import metrics as m

_S = Scope(("fs",))
_CLIENT = ("fs", "client")
_SERVER = ("fs", "server")
_QUOTA = ("fs", "type", "id")
_READ, _WRITE = m.TARGET_READ_BYTES, m.TARGET_WRITE_BYTES
_NEEDS = ' It needs "exports = true" in the agents of the servers.'
_BOTH = f"({_S.rate(_READ, TARGET, OST)} + {_S.rate(_WRITE, TARGET, OST)})"
_CLIENTS = f"{_S.rate(m.EXPORT_READ_BYTES, _CLIENT)} + " + _S.rate(m.EXPORT_WRITE_BYTES, _CLIENT)
_GROWTH = f"sum by (fs, type, id) (deriv({_S.series(m.QUOTA_USED_BYTES)}[1h]))"

_TOP = (
    words(
        "Which **job** and which **person** it is, and what to tell them, is in the portal, for "
        "those who may know: [storage](${portal}/storage), [jobs](${portal}/jobs), "
        "[page for staff](${portal}/staff). Here are no jobs: whoever may see a board may ask "
        "this data source anything."
    ),
    lines("By file system", "Bytes read and written a second.",
          [Line(_S.rate(_READ, FS), "{{fs}} read"), Line(_S.rate(_WRITE, FS), "{{fs}} write")],
          "binBps"),
    lines("Imbalance", "The busiest storage target by the mean of all. Near 1 the load is "
          "spread; high values are files with one stripe, or a pool that is too small.",
          [Line(f"max by (fs) {_BOTH} / (avg by (fs) {_BOTH} > 0)", "{{fs}}")], "none",
          steps=((3.0, "orange"),)),
    rows("Clients", "The twenty clients that read and write most, by network identifier." + _NEEDS,
         [Column("bytes", f"topk(20, {_CLIENTS})", "binBps"),
          Column("metadata", f"topk(20, {_S.rate(m.EXPORT_METADATA_OPERATIONS, _CLIENT)})",
                 "ops")], links={}, width=12, height=9, every=SELDOM),
    lines("Share of the busiest client", "Which share of the bytes, and of the metadata "
          "operations, the busiest client has." + _NEEDS,
          [Line(f"max by (fs) ({_CLIENTS}) / (sum by (fs) ({_CLIENTS}) > 0)", "{{fs}} bytes"),
           Line(f"max by (fs) ({_S.rate(m.EXPORT_METADATA_OPERATIONS, _CLIENT)}) / "
                f"(sum by (fs) ({_S.rate(m.EXPORT_METADATA_OPERATIONS, _CLIENT)}) > 0)",
                "{{fs}} metadata")], "percentunit", most=1,
          every=SELDOM),
)  # fmt: skip
_WHERE = (
    rows("Targets", "Where the load is, by target.",
         [Column("read", _S.rate(_READ, TARGET), "binBps"),
          Column("written", _S.rate(_WRITE, TARGET), "binBps"),
          Column("read and write", _S.rate(m.SERVICE_OPERATIONS, TARGET, OST), "ops"),
          Column("metadata", _S.rate(m.METADATA_OPERATIONS, TARGET, MDT), "ops"),
          Column("jobs", _S.level(m.JOBS, TARGET), "none")],
         links=TARGET_LINKS, width=14),
    rows("Servers", "Where the load is, by server.",
         [Column("read", _S.rate(_READ, _SERVER), "binBps"),
          Column("written", _S.rate(_WRITE, _SERVER), "binBps"),
          Column("metadata", _S.rate(m.METADATA_OPERATIONS, _SERVER), "ops")],
         links={"server": TO_SERVER}, width=10),
    lines("Size of a read or write", "Mean bytes of a read or write at the storage targets. "
          "Small ones, under 1 MiB, cost as much as large ones.",
          [Line(f"sum by (fs) {_BOTH} / ({_S.rate(m.SERVICE_OPERATIONS, FS, OST)} > 0)",
                "{{fs}}")], "bytes"),
    lines("Connections", "Most connections to one target of the file system: of clients, and "
          "some of other servers.",
          [Line(_S.level(m.TARGET_EXPORTS, FS, how="max"), "{{fs}}")], "none"),
)  # fmt: skip
_OWNERS = (
    rows("Who grows fastest", "Growth of space over the last hour, by user, group and project "
         "number.",
         [Column("growth", f"topk(20, {_GROWTH} > 0)", "binBps")], links={}, width=12),
    rows("Who has most", "Space and inodes, by user, group and project number.",
         [Column("space", f"topk(20, {_S.level(m.QUOTA_USED_BYTES, _QUOTA)})", "bytes"),
          Column("inodes", f"topk(20, {_S.level(m.QUOTA_USED_FILES, _QUOTA)})", "short")],
         links={}, width=12),
)  # fmt: skip

LOAD = Board(
    "load", "load",
    "Who is loading the storage: which servers, targets, clients, and owners of space?",
    (CHOOSE_FS,),
    (Row("", _TOP), Row("Where", _WHERE), Row("Owners of space", _OWNERS, False)),
)  # fmt: skip
