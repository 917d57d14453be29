# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Texts of counters, parsed.  Pure: nothing is read here.  Each is imported when it is needed."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.monitor.texts._beegfs import BeeGfsTarget as BeeGfsTarget
    from stripewise.monitor.texts._beegfs import read_beegfs_json as read_beegfs_json
    from stripewise.monitor.texts._beegfs import read_beegfs_table as read_beegfs_table
    from stripewise.monitor.texts._disks import DiskLine as DiskLine
    from stripewise.monitor.texts._disks import read_diskstats as read_diskstats
    from stripewise.monitor.texts._gpfs import GpfsLine as GpfsLine
    from stripewise.monitor.texts._gpfs import read_fs_io_s as read_fs_io_s
    from stripewise.monitor.texts._host import Interface as Interface
    from stripewise.monitor.texts._host import read_loadavg as read_loadavg
    from stripewise.monitor.texts._host import read_meminfo as read_meminfo
    from stripewise.monitor.texts._host import read_net_dev as read_net_dev
    from stripewise.monitor.texts._host import read_stat as read_stat
    from stripewise.monitor.texts._nfs import NfsMount as NfsMount
    from stripewise.monitor.texts._nfs import NfsOperation as NfsOperation
    from stripewise.monitor.texts._nfs import read_devices as read_devices
    from stripewise.monitor.texts._nfs import read_mountstats as read_mountstats
    from stripewise.monitor.texts._nfs import unescaped as unescaped
else:
    __getattr__, __all__ = lazy_exports(__name__)
