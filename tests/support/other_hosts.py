# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Texts of hosts as kernels and tools print them, made by hand."""

from __future__ import annotations

from stripewise.testing.collector_suite import FakeHost

# -- /proc/diskstats, by age of the kernel -----------------------------------------------------

DISKS_3_10 = """\
   8       0 sda 1000 20 80000 500 300 40 64000 900 2 1200 1400
   8       1 sda1 900 20 79000 480 300 40 64000 900 0 1190 1380
   7       0 loop0 5 0 10 1 0 0 0 0 0 1 1
 253       0 dm-0 1010 0 80000 510 340 0 64000 950 2 1200 1460
"""
DISKS_4_18 = """\
   8       0 sda 1000 20 80000 500 300 40 64000 900 2 1200 1400 7 0 4096 30
 259       0 nvme0n1 7 0 56 1 9 0 72 2 0 3 3 0 0 0 0
"""
DISKS_5_5 = """\
   8       0 sda 1000 20 80000 500 300 40 64000 900 2 1200 1400 7 0 4096 30 11 25
 104       0 cciss/c0d0 1 0 8 1 0 0 0 0 0 1 1 0 0 0 0 0 0
   1       0 ram0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
"""
_BLOCK = {
    **{f"/sys/block/{name}/stat": "" for name in ("sda", "nvme0n1", "cciss!c0d0", "dm-0")},
    **{f"/sys/block/{name}/stat": "" for name in ("loop0", "ram0", "nvme0c0n1", "sr0")},
    "/sys/block/dm-0/slaves/sda": "",
}


def disk_host(text: str = DISKS_5_5) -> FakeHost:
    return FakeHost({"/proc/diskstats": text, **_BLOCK})


# -- NFS -----------------------------------------------------------------------------------------

MOUNTINFO = """\
22 27 0:21 / /proc rw,relatime - proc proc rw
36 35 0:50 / /home rw,relatime shared:7 - nfs4 filer:/home rw,vers=4.2
37 35 0:50 /a /srv/a rw,relatime shared:8 - nfs4 filer:/home/a rw,vers=4.2
38 35 0:51 / /mnt/old\\040data rw,relatime - nfs filer:/old rw,vers=3
39 35 0:52 / /other/home rw,relatime - nfs4 other:/home rw,vers=4.1
"""
_HOME = """\
\topts:\trw,vers=4.2,rsize=1048576,wsize=1048576,namlen=255,hard,proto=tcp,sec=sys
\tage:\t5000
\tcaps:\tcaps=0xfffbc0bf,wtmult=512,dtsize=1048576,bsize=0,namlen=255
\tnfsv4:\tbm0=0xfdffbfff,bm1=0x40f9be3e,bm2=0x28803,acl=0x0,sessions,pnfs=not configured
\tsec:\tflavor=1,pseudoflavor=1
\tevents:\t120 500 3 4 90 10 700 60 0 40 0 5 20 0 30 9 0 8 0 0 4 0 0 0 0 0 0
\tbytes:\t1000 2000 30 40 900 1900 12 13
\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)
\txprt:\ttcp 0 0 1 0 20 300 300 0 300 0 4 10 20
\tper-op statistics
\t        NULL: 1 1 0 44 24 0 0 0 0
\t        READ: {reads} {reads} 0 8000 900 1500 2500 4500 2
\t       WRITE: 30 31 1 5000 700 0 100 125 0
\t      ACCESS: 0 0 0 0 0 0 0 0 0
\t   LAYOUTGET: 0 0 0 0 0 0 0 0 0
\t    SEQUENCE: 9 9 0 90 90 1 2 3 0

"""
_OLD = """\
\topts:\trw,vers=3,rsize=32768
\tage:\t77
\tbytes:\t1 2 0 0 3 4 0 0
\tRPC iostats version: 1.0  p/v: 100003/3 (nfs)
\txprt:\ttcp 0 0 1 0 20 300 300 0 300 0
\tper-op statistics
\t        NULL: 0 0 0 0 0 0 0 0
\t        READ: 3 3 0 300 3000 10 20 40
"""


def mountstats(reads: int = 20) -> str:
    home = _HOME.format(reads=reads)
    return (
        "device proc mounted on /proc with fstype proc\n"
        "no device mounted on /sys/fs/bpf with fstype bpf\n"
        f"device filer:/home mounted on /home with fstype nfs4 statvers=1.1\n{home}"
        f"device filer:/home/a mounted on /srv/a with fstype nfs4 statvers=1.1\n{home}"
        f"device filer:/old mounted on /mnt/old\\040data with fstype nfs statvers=1.0\n{_OLD}"
        f"device other:/home mounted on /other/home with fstype nfs4 statvers=1.1\n{_OLD}"
        "device tmpfs mounted on /run with fstype tmpfs\n"
    )


def nfs_host(reads: int = 20) -> FakeHost:
    return FakeHost(
        {"/proc/self/mountstats": mountstats(reads), "/proc/self/mountinfo": MOUNTINFO}
    )


# -- GPFS ----------------------------------------------------------------------------------------

MMPMON = ("/usr/lpp/mmfs/bin/mmpmon", "-p")
_GPFS = (
    "_fs_io_s_ _n_ 10.1.2.3 _nn_ node1 _rc_ 0 _t_ 1700000000 _tu_ 11 _cl_ {cluster} _fs_ {fs} "
    "_d_ 48 _br_ {read} _bw_ 600 _oc_ 7 _cc_ 6 _rdc_ 50 _wc_ 40 _dir_ 3 _iu_ 2\n"
)


def gpfs_line(fs: str, read: int = 500, cluster: str = "centre.example") -> str:
    return _GPFS.format(fs=fs, read=read, cluster=cluster)


def gpfs_host(read: int = 500) -> FakeHost:
    text = gpfs_line("scratch", read) + gpfs_line("project", 0)
    return FakeHost({MMPMON[0]: ""}, {MMPMON: text.encode()})


# -- BeeGFS --------------------------------------------------------------------------------------

TARGETS_7 = """\
TargetID     Reachability  Consistency        Total         Free    %      ITotal       IFree    %   NodeID
========     ============  ===========        =====         ====    =      ======       =====    =   ======
     101           Online         Good    1024.0GiB     512.5GiB  50%      107.4M      107.0M 100%      1
     102          Offline         Good       0.0GiB       0.0GiB   0%        0.0M        0.0M   0%      2
"""  # noqa: E501  # as the tool has it
TARGETS_8 = """\
[{"id":{"num_id":101,"node_type":2},"reachability":"Online","space":"1099511627776","sfree":"549755813888"}]

[{"id":"s:102","reachability":"Probably-offline","space":"-","sfree":"-"}]

"""
META_7 = TARGETS_7.splitlines(keepends=True)[0] + (
    "       1           Online Needs-resync     100.0GiB      99.0GiB  99%       50.0M"
    "       49.0M  98%      1\n"
)
META_8 = (
    '[{"id":{"num_id":1,"node_type":"meta"},"reachability":"Online","space":"10","sfree":"9"}]'
)

# -- the host ------------------------------------------------------------------------------------

STAT = """\
cpu  1000 20 300 {idle} 50 6 7 8 100 1
cpu0 500 10 150 2500 25 3 4 4 50 0
intr 12345 0 1 2
ctxt 999
btime 1700000000
processes 12
"""
MEMINFO = """\
MemTotal:       24684084 kB
MemFree:        23908520 kB
MemAvailable:   24229980 kB
Dirty:              5276 kB
HugePages_Total:       0
"""
NET_DEV = """\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:    3193      29    0    0    0     0          0         0     3193      29    0    0    0     0       0          0
  eth0: {received} 17151    1    2    0     0          0         0   892248   10009    3    4    0     0       0          0
 bond0:672112106   17151    1    2    0     0          0         0   892248   10009    3    4    0     0       0          0
"""  # noqa: E501  # as the kernel has it


def proc_host(idle: int = 5000, received: int = 672112106) -> FakeHost:
    return FakeHost(
        {
            "/proc/stat": STAT.format(idle=idle),
            "/proc/loadavg": "1.25 0.50 0.11 1/93 12192\n",
            "/proc/meminfo": MEMINFO,
            "/proc/net/dev": NET_DEV.format(received=received),
            "/sys/class/net/eth0/device": "",
            "/sys/class/net/bond0/speed": "",
        }
    )
