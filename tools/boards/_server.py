# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The board of servers: their services and hosts."""

from __future__ import annotations

from boards import _hosts as hosts
from boards._board import Board, Row
from boards._common import CHOOSE_FS, CHOOSE_SERVER, SERVER
from boards._panels import FLAG_GOOD, Line, figure, lines
from boards._queries import Scope
from stripewise.centre.monitor import metrics as m

_S = Scope(("server",))
_T = Scope(("fs", "server"))
_SERVICE = ("server", "service")
_KIND = (*_SERVICE, "operation")
_BOOT = _S.series(m.HOST_BOOT)
_REQUESTS = _S.rate(m.SERVICE_REQUESTS, _SERVICE)

_TOP = (
    figure("Health", "What Lustre says of itself on each server.",
           Line(_S.series(m.HEALTHY), "{{server}}"), "none", names=FLAG_GOOD, width=8),
    figure("Up for", "Time since each server was started.",
           Line(f"time() - {_BOOT}", "{{server}}"), "s", width=8),
    figure("Targets", "Targets that each server has now.",
           Line(_T.level(m.TARGET_TOTAL_BYTES, SERVER, how="count"), "{{server}}"), "none",
           width=8),
    lines("Throughput", "Bytes that the targets of each server read and wrote a second.",
          [Line(_T.rate(m.TARGET_READ_BYTES, SERVER), "{{server}} read"),
           Line(_T.rate(m.TARGET_WRITE_BYTES, SERVER), "{{server}} write")], "binBps"),
    lines("Metadata operations", "Metadata operations a second, by server.",
          [Line(_T.rate(m.METADATA_OPERATIONS, SERVER), "{{server}}")], "ops"),
    hosts.load(), hosts.load_average(), hosts.memory(),
)  # fmt: skip
_SERVICES = (
    lines("Requests", "Requests that each service of Lustre began a second: ost_io has bulk "
          "data, mdt metadata, ldlm locks.", [Line(_REQUESTS, "{{server}} {{service}}")],
          "reqps"),
    lines("Wait in the queue", "Mean time that a request waited for a thread. If it is long "
          "while the disks are idle, the service has too few threads.",
          [Line(_S.mean(m.SERVICE_WAIT_SECONDS, m.SERVICE_REQUESTS, _SERVICE),
                "{{server}} {{service}}")], "s"),
    lines("New requests", "Mean number of requests that had come in and were not looked at yet, "
          "in a partition (CPT) of the service. The wait in the queue tells more.",
          [Line(_S.mean(m.SERVICE_QUEUE_SUM, m.SERVICE_REQUESTS, _SERVICE),
                "{{server}} {{service}}")], "short", width=8),
    lines("Requests at work", "Mean number of requests at work in a partition (CPT) of the "
          "service, and the threads of all its partitions: all of them are busy when the first is "
          "near the second divided by the partitions, mostly one a NUMA node.",
          [Line(_S.mean(m.SERVICE_ACTIVE_SUM, m.SERVICE_REQUESTS, _SERVICE),
                "{{server}} {{service}} at work"),
           Line(_S.level(m.SERVICE_THREADS, _SERVICE, 'state="started"'),
                "{{server}} {{service}} threads")], "short", width=8),
    lines("Expected time", "Mean of how long Lustre expects a request to take, by which timeouts "
          "are set.",
          [Line(_S.mean(m.SERVICE_TIMEOUT_SUM, m.SERVICE_REQUESTS, _SERVICE),
                "{{server}} {{service}}")], "s", width=8),
    lines("Requests by kind", "Requests a second, by service and kind.",
          [Line(_S.rate(m.SERVICE_OPERATION_COUNT, _KIND),
                "{{server}} {{service}} {{operation}}")], "reqps"),
    lines("Time of a request by kind", "Mean time that a service spent on one kind of request, "
          "with disks and network, without the queue.",
          [Line(_S.mean(m.SERVICE_OPERATION_SECONDS, m.SERVICE_OPERATION_COUNT, _KIND),
                "{{server}} {{service}} {{operation}}")], "s"),
)  # fmt: skip

SERVERS = Board(
    "server", "servers",
    "Is a server the bottleneck: its threads, its processors, its memory or its network?",
    (CHOOSE_FS, CHOOSE_SERVER),
    (
        Row("", _TOP),
        Row("Services of Lustre", _SERVICES, False),
        Row("Host", (hosts.processors(), hosts.network(), hosts.network_errors(),
                     hosts.disk_bytes()), False),
    ),
)  # fmt: skip
