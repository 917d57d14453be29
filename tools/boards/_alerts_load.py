# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Alerts about load.  Prometheus has no job data: the portal shows jobs to authorised users."""

from __future__ import annotations

from boards._recorded import (
    BYTES,
    CLIENT_BYTES,
    CLIENT_METADATA,
    METADATA,
    USUAL_TIME,
    USUAL_TIME_OF_BYTE,
)  # fmt: skip
from boards._rules import Alert, shown

_PORTAL = "/storage/{{$labels.fs|urlquery}}/top"
_BOARD = shown("load", fs="fs")
_TIME = USUAL_TIME.name
_PAST = f"quantile_over_time(0.5, {_TIME}[1d])"


_BYTE = USUAL_TIME_OF_BYTE.name
# Larger requests take longer without anybody waiting longer for their bytes.
_BYTE_TOO = (
    f"and on (fs, kind) ({_BYTE} > 2 * quantile_over_time(0.5, {_BYTE}[1d])\n"
    f'  or {_TIME}{{kind="MDT"}})'
)
# After an hour a burst of two would count as usual.
_WITH_PAST = f"and on (fs, kind) {_TIME} offset 6h"


def _share(recorded: str, kind: str, at_least: float, word: str) -> str:
    """Return clients with over half of a load while a kind of targets is slower than usual.

    Unless another client has a hundredth of a high load, nobody is affected.
    """
    busy = f"sum by (fs) ({recorded}) > {at_least:g}"
    others = f"count by (fs) ({recorded} > {at_least / 100:g}) > 1"
    time = f'{_TIME}{{kind="{kind}"}}'
    slower = f"{time} > 2 * quantile_over_time(0.5, {time}[1d])\n  {_BYTE_TOO}\n  {_WITH_PAST}"
    share = f"{recorded} / on (fs) group_left () ({busy}) > 0.5\n  and on (fs) ({slower})"
    return f'label_replace({share}\n  and on (fs) {others},\n  "of", "{word}", "", "")'


# Three times the mean of all: with three targets or fewer none can have more.
IMBALANCE = Alert(
    "LustreImbalance", "info", 30,
    "one storage target has over three times the mean throughput of all, which takes four "
    "targets, at over 100 MB/s in the file system",
    f"{BYTES.name} / on (fs) group_left () avg by (fs) ({BYTES.name}) > 3\n"
    f"and on (fs) sum by (fs) ({BYTES.name}) > 1e8",
    "{{ $labels.fs }}-{{ $labels.target }} has {{ $value | humanize }} times the load of the "
    "mean target",
    "The bandwidth of the other targets is not used. Mostly a large shared file has one stripe, "
    "or a pool or default layout is too narrow.",
    "See in the portal whose files they are; advise more stripes, or a progressive layout.",
    _BOARD, _PORTAL,
)  # fmt: skip
STORM = Alert(
    "LustreMetadataStorm", "warning", 10,
    "a metadata target has over five times the operations of its median over the last day, and "
    "over 5,000 a second; with at least six hours of past",
    f"{METADATA.name} > 5 * quantile_over_time(0.5, {METADATA.name}[1d])\n"
    f"and on (fs, target) {METADATA.name} > 5000\n"
    f"and on (fs, target) {METADATA.name} offset 6h",
    "{{ $labels.fs }}-{{ $labels.target }} has {{ $value | humanize }} metadata operations a "
    "second, far more than usual",
    "The ls, open and create of others may wait. Mostly one job opens, stats or creates many "
    "small files.",
    "See which kind of operation it is; the portal names the job to staff.",
    shown("metadata", fs="fs", target="target"), _PORTAL,
)  # fmt: skip
SLOWER = Alert(
    "LustreSlowerThanUsual", "warning", 10,
    "half of the targets of a kind take over three times as long for an operation as the median "
    "of the last day, and over 5 ms, and for storage targets over twice as long for a byte; with "
    "at least six hours of past",
    f"{_TIME} / {_PAST} > 3\nand {_TIME} > 0.005\nand {_TIME} offset 6h\n{_BYTE_TOO}",
    "The {{ $labels.kind }}s of {{ $labels.fs }} take {{ $value | humanize }} times as long as "
    "usual",
    "Half of them or more are slow at once. If they are several, it is rather the load, often of "
    "one job, or what they share (network, controller) than one disk. Prometheus knows no jobs.",
    "See how the load differs from usual; the portal names to staff the jobs that have most of "
    "it.",
    _BOARD, _PORTAL,
)  # fmt: skip
CLIENT = Alert(
    "LustreClientHurtsOthers", "warning", 10,
    "one client has over half of the bytes (of over 100 MB/s) or of the metadata operations (of "
    "over 2,000 a second) of a file system, while its targets take over twice as long as usual, "
    "and storage targets also for a byte, and another client has over 1 MB/s or 20 operations a "
    'second; with at least six hours of past; needs "exports = true" in the agents of the servers',
    _share(CLIENT_BYTES.name, "OST", 1e8, "bytes")
    + "\nor\n"
    + _share(CLIENT_METADATA.name, "MDT", 2000, "metadata operations"),
    "{{ $labels.client }} has {{ $value | humanizePercentage }} of the {{ $labels.of }} of "
    "{{ $labels.fs }}, which is slower than usual",
    "What runs on this client has most of the load while others have work there, too: they "
    "likely wait for it.",
    "Ask the batch system what runs there; the portal names the job to staff. Talk with its "
    "owner before anything is stopped.",
    _BOARD, _PORTAL,
)  # fmt: skip

LOAD = (IMBALANCE, STORM, SLOWER, CLIENT)
