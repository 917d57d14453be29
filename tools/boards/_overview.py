# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The board to open first."""

from __future__ import annotations

from boards._board import Board, Row
from boards._common import (
    ANY,
    CHOOSE_FS,
    FS,
    FULL,
    MDT,
    OST,
    RECOVERING,
    SLOW,
    TARGET,
    TARGET_LINKS,
    TO_SERVER,
    full_share,
    inode_share,
    missing,
    service_time,
    service_time_to_others,
)  # fmt: skip
from boards._panels import Column, Line, bars, figure, lines, rows
from boards._queries import Scope, counted
from boards._recorded import AVAILABLE
from stripewise.centre.monitor import metrics as m

_S = Scope(("fs",))
_ALERTS = 'ALERTS{alertstate="firing",source="stripewise"}'
# An agent that is down has no name but its address, whose label tables hide.
_FIRING = f'label_replace({_ALERTS}, "agent", "$1", "instance", "(.+)")'
_NAMES = "alertname, severity, fs, target, server, client, collector, sink, agent"
_UP = 'up{job="stripewise"}'
_HEALTHY = _S.series(m.HEALTHY)
_TO_OTHERS = service_time_to_others(_S)
_RECOVERING = _S.series(m.RECOVERY_STATE, RECOVERING)

_FIGURES = (
    figure("Alerts", "Alerts of Stripewise's rules that are firing now, if Prometheus has them.",
           Line(counted(_ALERTS, AVAILABLE.name), "alerts"), "none", steps=ANY,
           empty="no rules"),
    figure("Targets missing",
           "Targets that were served and that no server has now. None should be missing.",
           Line(counted(missing(_S), _S.series(m.TARGET_MISSING)), "targets"), "none",
           steps=ANY),
    figure("Unhealthy servers", "Servers of which Lustre itself says that they are not healthy.",
           Line(counted(f"{_HEALTHY} == 0", _HEALTHY), "servers"), "none", steps=ANY),
    figure("Targets in recovery",
           "Targets that wait for clients after a restart; programs that use them stand still.",
           Line(counted(f"{_RECOVERING} == 1", _S.series(m.RECOVERY_STATE)), "targets"),
           "none",
           steps=((1.0, "orange"),)),
    figure("Slow targets",
           "Targets whose operations take over three times as long as the median of their kind.",
           Line(counted(f"{_TO_OTHERS} > 3", _TO_OTHERS), "targets"), "none",
           steps=((1.0, "orange"),)),
    figure("Agents that do not answer", "Servers and clients whose agent Prometheus cannot reach.",
           Line(counted(f"{_UP} == 0", _UP), "agents"), "none", steps=ANY),
)  # fmt: skip
_LOAD = (
    lines("Throughput", "Bytes that the file system's targets read and wrote a second.",
          [Line(_S.rate(m.TARGET_READ_BYTES, FS), "{{fs}} read"),
           Line(_S.rate(m.TARGET_WRITE_BYTES, FS), "{{fs}} write")], "binBps"),
    lines("Metadata operations",
          "Operations that clients asked the metadata targets for: open, stat, create, ...",
          [Line(_S.rate(m.METADATA_OPERATIONS, FS), "{{fs}}")], "ops"),
    lines("Time of an operation",
          "Mean time at the servers: of reads and writes (OST), of metadata operations (MDT). If "
          "it rises while the throughput does not, something is wrong, or the load is of "
          "small requests.",
          [Line(_S.mean(m.SERVICE_SECONDS, m.SERVICE_OPERATIONS, FS, OST), "{{fs}} OST"),
           Line(_S.mean(m.SERVICE_SECONDS, m.SERVICE_OPERATIONS, FS, MDT), "{{fs}} MDT"),
           ], "s"),
    bars("Space in use", "Share of the space that is not left to users, by file system.",
         Line(full_share(_S, FS, OST), "{{fs}}"), "percentunit", steps=FULL, width=6, most=1),
    bars("Inodes in use", "Share of the inodes of the metadata targets that is in use.",
         Line(inode_share(_S, FS, MDT), "{{fs}}"), "percentunit", steps=FULL, width=6, most=1),
)  # fmt: skip
_TABLES = (
    rows("Targets", "Every target now. A click on its name opens it.", [
        Column("to others", f"sum by (fs, target) ({_TO_OTHERS})", "none", SLOW),
        Column("time of an operation", service_time(_S), "s"),
        Column("read", _S.rate(m.TARGET_READ_BYTES, TARGET), "binBps"),
        Column("written", _S.rate(m.TARGET_WRITE_BYTES, TARGET), "binBps"),
        Column("metadata", _S.rate(m.METADATA_OPERATIONS, TARGET), "ops"),
        Column("space in use", full_share(_S, TARGET), "percentunit", FULL),
        Column("connections", _S.level(m.TARGET_EXPORTS, TARGET), "none"),
    ], links=TARGET_LINKS, height=10),
    rows("Which targets are missing",
         "Which targets are gone, and from which server. Empty is good.",
         [Column("missing", missing(_S), "none", ANY)],
         links={**TARGET_LINKS, "server": TO_SERVER}, width=8),
    rows("Alerts firing", "What fires now; each alert says in its description what to do. "
         "Empty is good, if Prometheus has the rules.",
         [Column("firing", f"max by ({_NAMES}) ({_FIRING})", "none")],
         links=TARGET_LINKS, width=16),
    rows("Versions", "Lustre and the agent, by server. Differences may be meant, or forgotten.",
         [Column("servers with Lustre",
                 f"count by (version) ({Scope().series(m.VERSION)})", "none"),
          Column("agents", f"count by (version) ({Scope().series(m.INFO)})", "none")],
         links={}, height=6),
)  # fmt: skip

OVERVIEW = Board(
    "overview", "overview",
    "Is the storage healthy, how busy is it, and which part needs a look?",
    (CHOOSE_FS,),
    (Row("", (*_FIGURES, *_LOAD)), Row("Parts", _TABLES[:3]), Row("Versions", _TABLES[3:], False)),
)  # fmt: skip
