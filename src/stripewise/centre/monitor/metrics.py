# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Lists every metric that the agent reports: name, unit, labels, and where it is stored.

Labels: "fs" is the file system, "target" a name such as "OST0000" or "MDT0000", "operation"
Lustre's name of it, "client" a network identifier (NID).
"""

from __future__ import annotations

from stripewise.centre.monitor._records import (
    Metric,
    counter,
    histogram,
    level,
)

_TARGET = ("fs", "target")
_OPERATION = (*_TARGET, "operation")
_DIRECTION = (*_TARGET, "direction")

# Lustre measures the time of a read or write (ofd_io.c) from the start of its handling. The time
# of a read ends with its disk I/O, in newer versions with its transfer to the client; that of a
# write ends before its data go to the disks, in newer versions after they have arrived from the
# client. Only brw_stats reports how long disks take to write.

# -- targets -------------------------------------------------------------------------------------

TARGET_READ_BYTES = counter(
    "lustre_target_read_bytes", "bytes", "Bytes read from a target, also from a metadata target.",
    _TARGET, series="read_bytes")  # fmt: skip
TARGET_WRITE_BYTES = counter(
    "lustre_target_write_bytes", "bytes", "Bytes written to a target, also to a metadata target.",
    _TARGET, series="write_bytes")  # fmt: skip
TARGET_OPERATIONS = counter(
    "lustre_target_operations", "operations", "Operations of a target by kind.", _OPERATION
)
TARGET_OPERATION_SECONDS = counter(
    "lustre_target_operation_seconds", "seconds",
    "Time of a target's operations, by kind; what it holds of reads and writes: see "
    "lustre_target_service_seconds.", _OPERATION)  # fmt: skip
METADATA_OPERATIONS = counter(
    "lustre_target_metadata_operations", "operations",
    "Operations that clients requested of a metadata target, all kinds together.",
    _TARGET, series="metadata_operations")  # fmt: skip
SERVICE_SECONDS = counter(
    "lustre_target_service_seconds", "seconds",
    "Time of reads and writes (OST) or metadata operations (MDT) at a target. A read's holds its "
    "disk I/O, a write's does not; newer versions count the transfer over the network, too.",
    _TARGET, series="service_seconds")  # fmt: skip
SERVICE_OPERATIONS = counter(
    "lustre_target_service_operations", "operations",
    "Operations whose time is in lustre_target_service_seconds.",
    _TARGET, series="service_operations")  # fmt: skip
TARGET_TOTAL_BYTES = level(
    "lustre_target_total_bytes", "bytes", "Capacity of a target.", _TARGET, series="total_bytes"
)
TARGET_FREE_BYTES = level("lustre_target_free_bytes", "bytes", "Free space of a target.", _TARGET)
TARGET_AVAILABLE_BYTES = level(
    "lustre_target_available_bytes", "bytes", "Space of a target that users can fill.", _TARGET
)
TARGET_USED_BYTES = level(
    "lustre_target_used_bytes", "bytes", "Used space of a target.", _TARGET, series="used_bytes"
)
TARGET_TOTAL_FILES = level(
    "lustre_target_total_files", "files", "Inodes of a target.", _TARGET, series="total_files"
)
TARGET_FREE_FILES = level("lustre_target_free_files", "files", "Free inodes.", _TARGET)
TARGET_USED_FILES = level(
    "lustre_target_used_files", "files", "Inodes in use.", _TARGET, series="used_files"
)
TARGET_MISSING = level(
    "lustre_target_missing", "flag",
    "1: the target was served here and is gone; 0: it is there.", _TARGET, series="is_failed",
)  # fmt: skip
TARGET_EXPORTS = level(
    "lustre_target_exports", "clients",
    "Connections to a target: of clients, and of metadata servers and other targets.", _TARGET,
)  # fmt: skip
TARGET_STARTED = level(
    "lustre_target_stats_start_seconds", "seconds",
    "When a target began to count, by its own clock (Lustre 2.14.56 and newer).", _TARGET,
)  # fmt: skip

# -- requests at targets: brw_stats --------------------------------------------------------------

IO_SIZE = histogram(
    "lustre_target_io_size_bytes", "bytes",
    "Sizes of I/O to the disks of a target; on ZFS of requests.", _DIRECTION)  # fmt: skip
IO_TIME = histogram(
    "lustre_target_io_time_seconds", "seconds",
    "Times that the disks took for a request of a client; ZFS does not tell those of writes.",
    _DIRECTION)  # fmt: skip
RPC_PAGES = histogram(
    "lustre_target_rpc_pages", "pages",
    "Pages of a bulk request of a client that went to the disks.", _DIRECTION)  # fmt: skip
DISCONTIGUOUS_PAGES = histogram(
    "lustre_target_discontiguous_pages", "pages",
    "Discontiguous pages in a request: file offsets that do not follow one another.", _DIRECTION,
)  # fmt: skip
DISCONTIGUOUS_BLOCKS = histogram(
    "lustre_target_discontiguous_blocks", "blocks", "Discontiguous disk blocks in a request.",
    _DIRECTION)  # fmt: skip
FRAGMENTS = histogram(
    "lustre_target_io_fragments", "requests", "I/Os to the disks that a request became.",
    _DIRECTION)  # fmt: skip
IN_FLIGHT = histogram(
    "lustre_target_io_in_flight", "requests",
    "I/Os to the disks in flight when one began, itself among them.", _DIRECTION)  # fmt: skip

# -- jobs, without their ids ---------------------------------------------------------------------

JOBS = level("lustre_target_jobs", "jobs", "Jobs that a target has counters of.", _TARGET)

# -- quota, exports, recovery, locks, services ---------------------------------------------------

_QUOTA = ("fs", "type", "id")
QUOTA_USED_BYTES = level(
    "lustre_quota_used_bytes", "bytes",
    "Space of a user, group or project on the targets of this server.", _QUOTA)  # fmt: skip
QUOTA_USED_FILES = level(
    "lustre_quota_used_files", "files",
    "Inodes of a user, group or project on the metadata targets of this server. Those of storage "
    "targets are objects, not files, and count against no limit.", _QUOTA)  # fmt: skip
QUOTA_LIMIT_BYTES = level(
    "lustre_quota_limit_bytes", "bytes", "Limit of a user, group or project.", (*_QUOTA, "limit")
)
QUOTA_LIMIT_FILES = level(
    "lustre_quota_limit_files", "files", "Limit of a user, group or project.", (*_QUOTA, "limit")
)

_CLIENT = ("fs", "client")
EXPORT_READ_BYTES = counter(
    "lustre_export_read_bytes", "bytes", "Data that a client read from this server.", _CLIENT
)
EXPORT_WRITE_BYTES = counter(
    "lustre_export_write_bytes", "bytes", "Data that a client wrote to this server.", _CLIENT
)
EXPORT_METADATA_OPERATIONS = counter(
    "lustre_export_metadata_operations", "operations", "Metadata operations of a client.", _CLIENT
)

RECOVERY_STATE = level(
    "lustre_target_recovery_state", "flag", "1 for the state that recovery is in.",
    (*_TARGET, "state"))  # fmt: skip
RECOVERY_CLIENTS = level(
    "lustre_target_recovery_clients", "clients",
    'Clients in recovery, by "connected", "completed", "evicted".', (*_TARGET, "state"),
)  # fmt: skip
RECOVERY_REMAINING = level(
    "lustre_target_recovery_remaining_seconds", "seconds", "Time that is left for recovery.",
    _TARGET)  # fmt: skip
RECOVERY_DURATION = level(
    "lustre_target_recovery_duration_seconds", "seconds", "How long the last recovery took.",
    _TARGET)  # fmt: skip

LOCKS = level("lustre_target_locks", "locks", "Locks of a target, granted or waited for.", _TARGET)
LOCK_TIMEOUTS = counter(
    "lustre_target_lock_timeouts", "locks",
    "Locks that clients did not give back in time, for which Lustre evicts them.",
    _TARGET)  # fmt: skip
LOCK_GRANT_RATE = level(
    "lustre_target_lock_grants_per_second", "locks",
    "Locks granted since Lustre's last recalculation, about every second: a low estimate.",
    _TARGET)  # fmt: skip
LOCK_CANCEL_RATE = level(
    "lustre_target_lock_cancels_per_second", "locks",
    "Locks cancelled since Lustre's last recalculation, about every second: a low estimate.",
    _TARGET)  # fmt: skip
LOCK_LIMIT = level(
    "lustre_target_lock_limit", "locks", "Locks that the pool of a target allows.", _TARGET
)

_SERVICE = ("service",)
SERVICE_REQUESTS = counter(
    "lustre_service_requests", "operations",
    "Requests that a service of the server began to handle.", _SERVICE)  # fmt: skip
SERVICE_WAIT_SECONDS = counter(
    "lustre_service_wait_seconds", "seconds", "Time that requests waited in the queue.", _SERVICE
)
SERVICE_QUEUE_SUM = counter(
    "lustre_service_queue_depth_sum", "requests",
    "Sum of the requests that had arrived and were not yet looked at, in the same partition (CPT) "
    "of the service, whenever one began to be handled.", _SERVICE)  # fmt: skip
SERVICE_ACTIVE_SUM = counter(
    "lustre_service_active_sum", "requests",
    "Sum of the requests at work in the same partition (CPT) of the service, whenever one began "
    "to be handled.", _SERVICE)  # fmt: skip
SERVICE_TIMEOUT_SUM = counter(
    "lustre_service_timeout_sum_seconds", "seconds",
    "Sum of Lustre's estimates of how long a request takes (adaptive timeouts), whenever one "
    "began to be handled.", _SERVICE)  # fmt: skip
SERVICE_THREADS = level(
    "lustre_service_threads", "threads", 'Threads of a service: "started", "min", "max".',
    (*_SERVICE, "state"))  # fmt: skip
SERVICE_OPERATION_SECONDS = counter(
    "lustre_service_operation_seconds", "seconds",
    "Time of handling one kind of request, with disks and network, without the queue.",
    (*_SERVICE, "operation"))  # fmt: skip
SERVICE_OPERATION_COUNT = counter(
    "lustre_service_operations", "operations", "Requests of one kind.", (*_SERVICE, "operation")
)

# -- the server ----------------------------------------------------------------------------------

HEALTHY = level("lustre_healthy", "flag", "1: Lustre says that this server is healthy.")
VERSION = level("lustre_version_info", "flag", "1 for the version of Lustre.", ("version",))

# -- clients: llite ------------------------------------------------------------------------------

_MOUNT = ("fs",)
MOUNT_READ_BYTES = counter(
    "lustre_mount_read_bytes", "bytes",
    "Data that programs of this client read by calls; not through mmap.", _MOUNT)  # fmt: skip
MOUNT_WRITE_BYTES = counter(
    "lustre_mount_write_bytes", "bytes",
    "Data that programs of this client wrote by calls; not through mmap.", _MOUNT)  # fmt: skip
MOUNT_OPERATIONS = counter(
    "lustre_mount_operations", "operations", "Operations of programs of this client.",
    (*_MOUNT, "operation"))  # fmt: skip
MOUNT_OPERATION_SECONDS = counter(
    "lustre_mount_operation_seconds", "seconds", "Time in operations (Lustre 2.13 and newer).",
    (*_MOUNT, "operation"))  # fmt: skip


# Metrics of hosts, local disks and other file systems.
#
# Labels: "device" is a block device, "interface" a network interface, "fs" the name of a file
# system (never a path), "operation" the file system's name of it.

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
HOST_DIRTY_BYTES = level(
    "host_memory_dirty_bytes", "bytes", "Dirty memory that waits to be written."
)
HOST_BOOT = level("host_boot_time_seconds", "seconds", "When the host was started.")
NETWORK_RECEIVED = counter(
    "host_network_received_bytes", "bytes", "Data that an interface received.", ("interface",)
)
NETWORK_SENT = counter(
    "host_network_sent_bytes", "bytes", "Data that an interface sent.", ("interface",)
)
NETWORK_ERRORS = counter(
    "host_network_errors", "packets",
    'Packets that an interface lost, by "direction": "receive", "send".',
    ("interface", "direction"))  # fmt: skip


# -- local disks ---------------------------------------------------------------------------------

_DISK = ("device",)
DISK_READ_BYTES = counter("disk_read_bytes", "bytes", "Data read from a disk.", _DISK)
DISK_WRITE_BYTES = counter("disk_write_bytes", "bytes", "Data written to a disk.", _DISK)
DISK_OPERATIONS = counter(
    "disk_operations", "operations",
    'Requests of a disk by "direction": "read", "write", "discard", "flush".',
    (*_DISK, "direction"))  # fmt: skip
DISK_OPERATION_SECONDS = counter(
    "disk_operation_seconds", "seconds", "Total time of requests.", (*_DISK, "direction")
)
DISK_BUSY_SECONDS = counter(
    "disk_busy_seconds", "seconds", "Time in which a disk had requests.", _DISK
)
DISK_IN_FLIGHT = level("disk_in_flight", "requests", "Requests that are in flight.", _DISK)


# -- NFS -----------------------------------------------------------------------------------------

_FS = ("fs",)
NFS_READ_BYTES = counter("nfs_read_bytes", "bytes", "Data read from the server.", _FS)
NFS_WRITE_BYTES = counter("nfs_write_bytes", "bytes", "Data written to the server.", _FS)
NFS_PROGRAM_READ_BYTES = counter(
    "nfs_program_read_bytes", "bytes", "Data that programs read, also from the cache.", _FS
)
NFS_PROGRAM_WRITE_BYTES = counter(
    "nfs_program_write_bytes", "bytes", "Data that programs wrote.", _FS
)
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


# -- GPFS (IBM Storage Scale) --------------------------------------------------------------------

GPFS_READ_BYTES = counter(
    "gpfs_read_bytes", "bytes", "Data that programs of this client read, also from its cache.", _FS
)
GPFS_WRITE_BYTES = counter(
    "gpfs_write_bytes", "bytes", "Data that programs of this client wrote.", _FS
)
GPFS_OPERATIONS = counter(
    "gpfs_operations", "operations", "Operations of programs of this client.", (*_FS, "operation")
)


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


# Metrics of the monitoring itself.

_COLLECTOR = ("collector",)
_SINK = ("sink",)

INFO = level("stripewise_monitor_info", "flag", "1 for the version of the agent.", ("version",))
COLLECTOR_OK = level(
    "stripewise_collector_ok", "flag",
    "1: the last round of a collector was complete; 0: it failed, or read a part.  Where lines of "
    "Lustre alone were left out it is 1: stripewise_collector_problems counts them.", _COLLECTOR,
)  # fmt: skip
COLLECTOR_SECONDS = level(
    "stripewise_collector_duration_seconds", "seconds", "Length of the last round.", _COLLECTOR
)
COLLECTOR_LAST = level(
    "stripewise_collector_last_success_seconds", "seconds",
    "When the last complete round ended, since 1970.", _COLLECTOR)  # fmt: skip
COLLECTOR_FAILURES = counter(
    "stripewise_collector_failures", "rounds",
    'Rounds that failed, by "reason": missing, denied, slow, malformed, error.',
    (*_COLLECTOR, "reason"))  # fmt: skip
COLLECTOR_SKIPPED = counter(
    "stripewise_collector_skipped_rounds", "rounds",
    "Rounds that did not begin because the one before had not ended.", _COLLECTOR)  # fmt: skip
PROBLEMS = counter(
    "stripewise_collector_problems", "lines",
    "Lines or files that could not be read for what they are, and were left out.", _COLLECTOR,
)  # fmt: skip
CLOCK_STEPS = counter(
    "stripewise_monitor_clock_steps", "steps", "Steps of this host's clock of over a second."
)
JOBS_TRACKED = level(
    "stripewise_monitor_jobs", "jobs", "Jobs on targets whose last counters are kept."
)
JOBS_UNTRACKED = counter(
    "stripewise_monitor_jobs_untracked", "jobs",
    'Jobs on targets beyond the limit: what they do is in "rest".')  # fmt: skip
SINK_OK = level("stripewise_sink_ok", "flag", "1: the last delivery to a sink succeeded.", _SINK)
SINK_LAST = level(
    "stripewise_sink_last_success_seconds",
    "seconds",
    "Time of the last successful delivery, since 1970.",
    _SINK,
)
SINK_QUEUED = level(
    "stripewise_sink_queued_rounds", "rounds", "Rounds that wait for delivery.", _SINK
)
SINK_LOST = counter(
    "stripewise_sink_lost_rounds", "rounds",
    "Rounds that were dropped: a sink could not be reached for long, or refused them.",
    _SINK)  # fmt: skip
SINK_FAILURES = counter("stripewise_sink_failures", "deliveries", "Failed deliveries.", _SINK)
SINK_PROBLEMS = counter(
    "stripewise_sink_problems", "readings",
    "Readings that a sink left out: given twice, or no number that it can hold.",
    _SINK)  # fmt: skip


# All metrics, and those with a given prefix.

METRICS: tuple[Metric, ...] = tuple(one for one in vars().values() if isinstance(one, Metric))
"""Every metric of our own, in the order of this file; plug-ins add theirs."""


def metrics_named(*beginnings: str) -> tuple[Metric, ...]:
    """Return the metrics whose names begin with one of some prefixes."""
    return tuple(one for one in METRICS if one.name.startswith(beginnings))
