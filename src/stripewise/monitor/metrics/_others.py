# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Metrics of hosts, local disks and other file systems.

Labels: "device" a block device, "interface" of the network, "fs" a name of a file system (never a
path), "operation" as the file system names it.
"""

from __future__ import annotations

from stripewise.monitor.metrics._base import counter, level

# -- the host ------------------------------------------------------------------------------------

HOST_CPU_SECONDS = counter(
    "host_cpu_seconds", "seconds", 'Time of all processors by "mode": user, system, idle, ...',
    ("mode",))  # fmt: skip
HOST_BUSY_SHARE = level(
    "host_busy_share", "share", "Share of the processors that was busy since the last reading.",
    series="load")  # fmt: skip
HOST_LOAD = level("host_load", "processes", "Load average over one minute.")
HOST_MEMORY_BYTES = level("host_memory_bytes", "bytes", "Memory of the host.")
HOST_AVAILABLE_BYTES = level("host_memory_available_bytes", "bytes", "Memory that is available.")
HOST_DIRTY_BYTES = level("host_memory_dirty_bytes", "bytes", "Memory that waits to be written.")
HOST_BOOT = level("host_boot_time_seconds", "seconds", "When the host was started.")
NETWORK_RECEIVED = counter(
    "host_network_received_bytes", "bytes", "Received by an interface.", ("interface",)
)
NETWORK_SENT = counter("host_network_sent_bytes", "bytes", "Sent by an interface.", ("interface",))
NETWORK_ERRORS = counter(
    "host_network_errors", "packets",
    'Packets that an interface lost, by "direction": "receive", "send".',
    ("interface", "direction"))  # fmt: skip

OF_HOST = (
    *(HOST_CPU_SECONDS, HOST_BUSY_SHARE, HOST_LOAD, HOST_MEMORY_BYTES, HOST_AVAILABLE_BYTES),
    *(HOST_DIRTY_BYTES, HOST_BOOT, NETWORK_RECEIVED, NETWORK_SENT, NETWORK_ERRORS),
)

# -- local disks ---------------------------------------------------------------------------------

_DISK = ("device",)
DISK_READ_BYTES = counter("disk_read_bytes", "bytes", "Read from a disk.", _DISK)
DISK_WRITE_BYTES = counter("disk_write_bytes", "bytes", "Written to a disk.", _DISK)
DISK_OPERATIONS = counter(
    "disk_operations", "operations",
    'Requests of a disk by "direction": "read", "write", "discard", "flush".',
    (*_DISK, "direction"))  # fmt: skip
DISK_OPERATION_SECONDS = counter(
    "disk_operation_seconds", "seconds", "Time of requests, summed up.", (*_DISK, "direction")
)
DISK_BUSY_SECONDS = counter(
    "disk_busy_seconds", "seconds", "Time in which a disk had requests.", _DISK
)
DISK_IN_FLIGHT = level("disk_in_flight", "requests", "Requests that are in flight.", _DISK)

OF_DISKS = (
    DISK_READ_BYTES, DISK_WRITE_BYTES, DISK_OPERATIONS, DISK_OPERATION_SECONDS,
    DISK_BUSY_SECONDS, DISK_IN_FLIGHT,
)  # fmt: skip

# -- NFS -----------------------------------------------------------------------------------------

_FS = ("fs",)
NFS_READ_BYTES = counter("nfs_read_bytes", "bytes", "Read from the server.", _FS)
NFS_WRITE_BYTES = counter("nfs_write_bytes", "bytes", "Written to the server.", _FS)
NFS_PROGRAM_READ_BYTES = counter(
    "nfs_program_read_bytes", "bytes", "Read by programs, also from the cache.", _FS
)
NFS_PROGRAM_WRITE_BYTES = counter("nfs_program_write_bytes", "bytes", "Written by programs.", _FS)
NFS_OPERATIONS = counter(
    "nfs_operations", "operations", "Operations of an NFS client.", (*_FS, "operation")
)
NFS_OPERATION_SECONDS = counter(
    "nfs_operation_seconds", "seconds", "Time from request to end of operations.",
    (*_FS, "operation"))  # fmt: skip
NFS_QUEUE_SECONDS = counter(
    "nfs_queue_seconds", "seconds", "Time before operations were sent.", (*_FS, "operation")
)
NFS_TIMEOUTS = counter(
    "nfs_timeouts", "operations", "Times that the server did not answer operations in time.",
    (*_FS, "operation"))  # fmt: skip
NFS_ERRORS = counter("nfs_errors", "operations", "Operations that failed.", (*_FS, "operation"))

OF_NFS = (
    *(NFS_READ_BYTES, NFS_WRITE_BYTES, NFS_PROGRAM_READ_BYTES, NFS_PROGRAM_WRITE_BYTES),
    *(NFS_OPERATIONS, NFS_OPERATION_SECONDS, NFS_QUEUE_SECONDS, NFS_TIMEOUTS, NFS_ERRORS),
)

# -- GPFS (IBM Storage Scale) --------------------------------------------------------------------

GPFS_READ_BYTES = counter(
    "gpfs_read_bytes", "bytes", "Read by programs of this client, also from its cache.", _FS
)
GPFS_WRITE_BYTES = counter("gpfs_write_bytes", "bytes", "Written by programs of this client.", _FS)
GPFS_OPERATIONS = counter(
    "gpfs_operations", "operations", "Operations of programs of this client.", (*_FS, "operation")
)

OF_GPFS = (GPFS_READ_BYTES, GPFS_WRITE_BYTES, GPFS_OPERATIONS)

# -- BeeGFS --------------------------------------------------------------------------------------

BEEGFS_TARGET_TOTAL_BYTES = level(
    "beegfs_target_total_bytes", "bytes", "Capacity of a target.", (*_FS, "target"),
    series="total_bytes")  # fmt: skip
BEEGFS_TARGET_FREE_BYTES = level(
    "beegfs_target_free_bytes", "bytes", "Free space of a target.", (*_FS, "target")
)
BEEGFS_TARGET_USED_BYTES = level(
    "beegfs_target_used_bytes", "bytes", "Used space of a target.", (*_FS, "target"),
    series="used_bytes")  # fmt: skip
BEEGFS_TARGET_MISSING = level(
    "beegfs_target_missing", "flag", "1: the target is offline, or probably so.", (*_FS, "target"),
    series="is_failed")  # fmt: skip

OF_BEEGFS = (
    BEEGFS_TARGET_TOTAL_BYTES, BEEGFS_TARGET_FREE_BYTES, BEEGFS_TARGET_USED_BYTES,
    BEEGFS_TARGET_MISSING,
)  # fmt: skip
