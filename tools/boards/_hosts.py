# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Panels about a host and its disks, for the boards of servers and of clients."""

from __future__ import annotations

from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models.dashboard import Panel

from boards._panels import Line, lines
from boards._queries import Scope
from stripewise.centre.monitor import metrics as m

_S = Scope(("server",))
_DISK = ("server", "device")
_BUSY = ((0.9, "orange"),)


def processors() -> Builder[Panel]:
    """Return the panel of processor use."""
    modes = _S.rate(m.HOST_CPU_SECONDS, ("server", "mode"), 'mode!="idle"')
    cores = _S.rate(m.HOST_CPU_SECONDS, ("server",))
    return lines(
        "Processors", "Share of the processors that is busy, by what they do; idle is left out. "
        "Much \"iowait\" means waiting for disks.",
        [Line(f"{modes} / on (server) group_left () {cores}", "{{server}} {{mode}}")],
        "percentunit", stacked=True,
    )  # fmt: skip


def load() -> Builder[Panel]:
    """Return the panel of processor use and load average."""
    return lines(
        "Busy share", "Share of the processors that was busy, all kinds together.",
        [Line(_S.level(m.HOST_BUSY_SHARE, ("server",)), "{{server}}")], "percentunit",
        steps=_BUSY, most=1, width=8,
    )  # fmt: skip


def load_average() -> Builder[Panel]:
    """Return the panel of the load average."""
    return lines(
        "Load", "Load average over one minute: processes that run or wait for disks.",
        [Line(_S.level(m.HOST_LOAD, ("server",)), "{{server}}")], "short", width=8,
    )  # fmt: skip


def memory() -> Builder[Panel]:
    """Return the panel of available memory."""
    whole = _S.level(m.HOST_MEMORY_BYTES, ("server",))
    return lines(
        "Memory", "Share of the memory that is in use, and that waits to be written to disk.",
        [Line(f"1 - {_S.level(m.HOST_AVAILABLE_BYTES, ('server',))} / {whole}",
              "{{server}} in use"),
         Line(f"{_S.level(m.HOST_DIRTY_BYTES, ('server',))} / {whole}",
              "{{server}} to be written")],
        "percentunit", most=1, width=8,
    )  # fmt: skip


def network() -> Builder[Panel]:
    """Return the panel of network traffic."""
    by = ("server", "interface")
    return lines(
        "Network", "Bytes received and sent a second. RDMA (InfiniBand verbs) goes past these "
        "counters.",
        [Line(_S.rate(m.NETWORK_RECEIVED, by), "{{server}} {{interface}} received"),
         Line(_S.rate(m.NETWORK_SENT, by), "{{server}} {{interface}} sent")], "binBps",
    )  # fmt: skip


def network_errors() -> Builder[Panel]:
    """Return the panel of lost packets."""
    by = ("server", "interface", "direction")
    return lines(
        "Packets lost", "Packets that an interface lost a second: a cable, a switch, or full "
        "buffers. It should be zero.",
        [Line(_S.rate(m.NETWORK_ERRORS, by), "{{server}} {{interface}} {{direction}}")],
        "pps",
    )  # fmt: skip


def disk_bytes() -> Builder[Panel]:
    """Return the panel of disk traffic."""
    return lines(
        "Disks: throughput", "Bytes read from and written to local disks a second.",
        [Line(_S.rate(m.DISK_READ_BYTES, _DISK), "{{server}} {{device}} read"),
         Line(_S.rate(m.DISK_WRITE_BYTES, _DISK), "{{server}} {{device}} write")], "binBps",
    )  # fmt: skip


def disk_operations() -> Builder[Panel]:
    """Return the panel of disk requests."""
    by = (*_DISK, "direction")
    return lines(
        "Disks: requests", "Requests of local disks a second.",
        [Line(_S.rate(m.DISK_OPERATIONS, by), "{{server}} {{device}} {{direction}}")],
        "iops", width=8,
    )  # fmt: skip


def disk_times() -> Builder[Panel]:
    """Return the panel of disk request times."""
    by = (*_DISK, "direction")
    mean = _S.mean(m.DISK_OPERATION_SECONDS, m.DISK_OPERATIONS, by)
    return lines(
        "Disks: time of a request", "Mean time of a request. A disk that is much slower than its "
        "like is about to fail.",
        [Line(mean, "{{server}} {{device}} {{direction}}")], "s", width=8,
    )  # fmt: skip


def disk_busy() -> Builder[Panel]:
    """Return the panel of disk use."""
    return lines(
        "Disks: busy share and queue", "Share of the time in which a disk had requests, and how "
        "many were in flight. An SSD that is always busy may still have room.",
        [Line(_S.rate(m.DISK_BUSY_SECONDS, _DISK), "{{server}} {{device}} busy"),
         Line(_S.level(m.DISK_IN_FLIGHT, _DISK), "{{server}} {{device}} in flight")],
        "short", width=12,
    )  # fmt: skip
