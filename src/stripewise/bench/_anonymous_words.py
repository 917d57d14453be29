# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The words that may leave a centre: those of the field, none that a user or a site chose."""

from __future__ import annotations

import re
from functools import cache

_FIELD = """
    a access adios adios2 aggregate aggregator aggregators all and api array array3d async at
    baseline beside best block blocks bp bp4 bp5 btio buffer burst bytes c cache cached cephfs
    checkpoint chunk chunked close collective column columns container contiguous count create
    cray create-directory daos data default delete depth deep dfs dir direct directories directory
    dirs disk drop easy ext4 f fabric fast fifo file files find first flash flash-io flat fpp full
    fullstriped fsync gather gcrm gpfs group hard hdd hdf5 hint hints home hybrid in independent
    interleaved into io io500 ior is kernel large latency layout libraries library local lock
    locks lustre many mdtest md md-workbench mean median metadata mib gib kib mb gb kb tb tib b
    mixed mode mpi mpi-io mpich mpiio multiplier n netcdf netcdf4 nfs node nodes none nvme object
    of off ofi ofi own on one open openmpi openmpi ompio only operation ops or ost osts parallel
    part pattern per per-node per-process per-rank plain pnetcdf pool posix process processes
    project random rank ranks read read-file readback remove remove-directory rename restart
    romio row rows s scaling scratch segment segments serial server servers setting settings
    shared shift shuffle single single-target size sizes slow small smp spread ssd stage stat
    stat-directory step steps stonewall stripe striped stripes subfiling sync synced target
    targets the through throughput time to transfer transport tree trees two type ucx unique
    unstriped unsync unsynced up vorpal vpic weak whole with without work workload wrf write
    write-read x xfer xfs zfs btrfs tmpfs beegfs lustre weka orangefs panfs scatefs ext3 wekafs
    compute release wait exchange barrier flush define enddef initialise finalise
"""
_UNITS = re.compile(r"[0-9]+(\.[0-9]+)?([kmgtpe]i?)?b?|[0-9]+[dxk]", re.IGNORECASE)
_SPLIT = re.compile(r"[^A-Za-z0-9.]+")

PROGRAMS = (
    "Stripewise", "Open MPI", "Cray MPICH", "Intel MPI", "MVAPICH2", "MVAPICH", "MPICH", "HDF5",
    "NetCDF", "PnetCDF", "ADIOS2", "Lustre", "Linux", "IOR", "mdtest", "benchio", "Slurm",
    "Python", "GPFS", "BeeGFS", "OFI", "UCX", "ROMIO", "OMPIO", "glibc", "gcc",
)  # fmt: skip
"""Names of software, as versions mention them."""

VERSION_KEYS = frozenset(
    "stripewise mpi library hdf5 netcdf netcdf4 pnetcdf adios2 lustre linux kernel os ior mdtest "
    "benchio slurm python runtime launcher romio ompio posix mpiio metadata gpfs beegfs".split()
)
_VERSION = re.compile(
    r"[0-9]{1,6}(?:\.[0-9]{1,6}){1,4}(?:(?:\.|-)?(?:rc|a|b|p|dev|post)[0-9]{1,3})?"
)

FILE_SYSTEMS = (
    "lustre", "gpfs", "beegfs", "scatefs", "daos", "nfs4", "nfs", "ext4", "xfs", "btrfs", "zfs",
    "tmpfs", "wekafs", "cephfs", "orangefs", "panfs", "overlay",
)  # fmt: skip


@cache
def _known() -> frozenset[str]:
    """Words of the field, and those that the suites of Stripewise use for their lines."""
    from stripewise.bench._suite import find_suite, suite_names

    words = set(_FIELD.split())
    for name in suite_names():
        suite = find_suite(name)
        names = {name, *suite.directories, *(one.series for one in suite.cases)}
        words |= {word.lower() for one in names for word in _words(one)}
    return frozenset(words)


def _words(name: str) -> list[str]:
    return [word for word in _SPLIT.split(name) if word]


def is_plain(name: str) -> bool:
    """Whether a name is made of words of the field and of numbers alone."""
    words = _words(name)
    return (
        bool(words)
        and name.isascii()
        and name.isprintable()
        and all(word.lower() in _known() or _UNITS.fullmatch(word) for word in words)
    )


def version_words(text: str) -> str:
    """Return the program and the number that a text about a version has; "": it has no number."""
    number = _VERSION.search(text)
    if number is None:
        return ""
    lower = text.lower()
    program = next((one for one in PROGRAMS if one.lower() in lower), "")
    return f"{program} {number[0]}".strip()


def file_system_word(text: str) -> str:
    """Return the type of file system that a text names; "": none that is known."""
    words = {word.lower() for word in _words(text)}
    return next((one for one in FILE_SYSTEMS if one in words), "")
