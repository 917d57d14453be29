# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The board of metadata."""

from __future__ import annotations

from boards._board import Board, Choice, Row
from boards._common import CHOOSE_FS, FS, FULL, MDT, TARGET, inode_share
from boards._panels import SELDOM, Line, lines
from boards._queries import Scope, name
from stripewise.centre.monitor import metrics as m

_S = Scope(("fs", "target"))
_F = Scope(("fs",))
_WHICH = "{{fs}}-{{target}}"
_KIND = ("fs", "operation")
_SERVICE = ("service",)
_RATE = _S.rate(m.METADATA_OPERATIONS, TARGET)
_PAST = _S.rate(m.METADATA_OPERATIONS, TARGET, window="5m")

_TOP = (
    lines("By file system", "Metadata operations that clients asked for, a second.",
          [Line(_S.rate(m.METADATA_OPERATIONS, FS), "{{fs}}")], "ops"),
    lines("By kind", "Metadata operations a second, by kind. Much open, close and getattr is "
          "often one program that looks at many small files.",
          [Line(_S.rate(m.TARGET_OPERATIONS, _KIND, MDT), "{{fs}} {{operation}}")], "ops",
          stacked=True),
    lines("By target", "Metadata operations a second, by target.", [Line(_RATE, _WHICH)], "ops",
          width=8),
    lines("Compared with the last day", "The rate by its own median over the last day. Five times "
          "the usual and more is a metadata storm.",
          [Line(f"{_PAST} / quantile_over_time(0.5, ({_PAST})[1d:5m])", _WHICH)], "none",
          steps=((5.0, "orange"),), width=8),
    lines("Time of an operation", "Mean time of a metadata operation, by target.",
          [Line(_S.mean(m.SERVICE_SECONDS, m.SERVICE_OPERATIONS, TARGET, MDT), _WHICH)],
          "s", width=8),
    lines("Time by kind", "Mean time of each kind of operation.",
          [Line(_S.mean(m.TARGET_OPERATION_SECONDS, m.TARGET_OPERATIONS, _KIND, MDT),
                "{{fs}} {{operation}}")], "s"),
    lines("Data on metadata targets", "Bytes of small files that are kept on the metadata "
          "targets (Data-on-MDT), a second.",
          [Line(_S.rate(m.TARGET_READ_BYTES, TARGET, MDT), _WHICH + " read"),
           Line(_S.rate(m.TARGET_WRITE_BYTES, TARGET, MDT), _WHICH + " write")], "binBps"),
)  # fmt: skip
_MORE = (
    lines("Clients that ask most", "The ten clients with most metadata operations a second. It "
          "needs \"exports = true\" in the agents of the servers.",
          [Line(f"topk(10, {_F.rate(m.EXPORT_METADATA_OPERATIONS, ('fs', 'client'))})",
                "{{fs}} {{client}}")], "ops", every=SELDOM),
    lines("Inodes in use", "Share of the inodes of each metadata target that is in use.",
          [Line(inode_share(_S, TARGET, MDT), _WHICH)], "percentunit", steps=FULL, most=1),
    lines("Wait in the queues", "Mean time that requests waited for a thread of the services "
          "of metadata and of locks.",
          [Line(Scope().mean(m.SERVICE_WAIT_SECONDS, m.SERVICE_REQUESTS, _SERVICE,
                             'service=~"(?i).*(mdt|mds|ldlm).*"'), "{{service}}")], "s"),
    lines("Locks", "Locks of the metadata targets, granted or waited for.",
          [Line(_S.level(m.LOCKS, TARGET, MDT), _WHICH)], "short"),
)  # fmt: skip

METADATA = Board(
    "metadata", "metadata",
    "Who or what asks for much metadata, of which kind, and do the metadata servers keep up?",
    (CHOOSE_FS,
     Choice("target", "Target", f'{name(m.TARGET_TOTAL_BYTES)}{{fs=~"$fs",{MDT}}}')),
    (Row("", _TOP), Row("Causes and limits", _MORE, False)),
)  # fmt: skip
