# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Recorded series by file system and target, whichever server has the target."""

from __future__ import annotations

from boards._common import OST, TARGET, service_time
from boards._queries import Scope, kinds
from boards._rules import Recorded
from stripewise.centre.monitor import Metric, metrics

_S = Scope()
_WINDOW = "5m"
BUSY_PER_SECOND = 1
"""Least operations per second for which a target's mean is meaningful."""


def _rate(metric: Metric, by: tuple[str, ...] = TARGET, where: str = "") -> str:
    return _S.rate(metric, by, where, _WINDOW)


_BUSY = f"{_rate(metrics.SERVICE_OPERATIONS)} > {BUSY_PER_SECOND}"
TIME = Recorded(
    "fs_target:lustre_target_service_seconds:mean5m",
    kinds(f"{service_time(_S, window=_WINDOW)} and on (fs, target) {_BUSY}"),
)
USUAL_TIME = Recorded(
    "fs_kind:lustre_target_service_seconds:median5m",
    f"quantile by (fs, kind) (0.5, {TIME.name})",
)
BYTES = Recorded(
    "fs_target:lustre_target_bytes:rate5m",
    f"{_rate(metrics.TARGET_READ_BYTES, where=OST)}\n"
    f"+ {_rate(metrics.TARGET_WRITE_BYTES, where=OST)}",
)
TIME_OF_BYTE = Recorded(
    "fs_target:lustre_target_byte_seconds:mean5m",
    kinds(f"{_rate(metrics.SERVICE_SECONDS, where=OST)} / ({BYTES.name} > 0)"),
)
USUAL_TIME_OF_BYTE = Recorded(
    "fs_kind:lustre_target_byte_seconds:median5m",
    f"quantile by (fs, kind) (0.5, {TIME_OF_BYTE.name})",
)
OPERATIONS = Recorded("fs_target:lustre_target_service_operations:rate5m", kinds(_BUSY))
_DISKS = (*TARGET, "direction")
# The bucket of all is the one with the largest growth.
_BUSY_DISKS = f"max by (fs, target, direction) ({_rate(metrics.IO_TIME, _DISKS, OST)}) > 1"
DISK_TIME = Recorded(
    "fs_target_direction:lustre_target_io_time_seconds:median5m",
    kinds(f"histogram_quantile(0.5, {_rate(metrics.IO_TIME, _DISKS, OST)})\n"
          f"and on (fs, target, direction) {_BUSY_DISKS}"),
)  # fmt: skip
REQUEST_PAGES = Recorded(
    "fs_target_direction:lustre_target_rpc_pages:median5m",
    kinds(f"histogram_quantile(0.5, {_rate(metrics.RPC_PAGES, _DISKS, OST)})"),
)
METADATA = Recorded(
    "fs_target:lustre_target_metadata_operations:rate5m", _rate(metrics.METADATA_OPERATIONS)
)
AVAILABLE = Recorded(
    "fs_target:lustre_target_available_bytes:max",
    _S.level(metrics.TARGET_AVAILABLE_BYTES, TARGET, how="max"),
)
FREE_FILES = Recorded(
    "fs_target:lustre_target_free_files:max",
    _S.level(metrics.TARGET_FREE_FILES, TARGET, how="max"),
)
_CLIENT = ("fs", "client")
CLIENT_BYTES = Recorded(
    "fs_client:lustre_export_bytes:rate5m",
    f"{_rate(metrics.EXPORT_READ_BYTES, _CLIENT)} + {_rate(metrics.EXPORT_WRITE_BYTES, _CLIENT)}",
)
CLIENT_METADATA = Recorded(
    "fs_client:lustre_export_metadata_operations:rate5m",
    _rate(metrics.EXPORT_METADATA_OPERATIONS, _CLIENT),
)
RECORDED = (
    *(TIME, USUAL_TIME, BYTES, TIME_OF_BYTE, USUAL_TIME_OF_BYTE, OPERATIONS, DISK_TIME),
    *(REQUEST_PAGES, METADATA, AVAILABLE, FREE_FILES, CLIENT_BYTES, CLIENT_METADATA),
)
