# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Darshan logs with given records of one module, or with those of another log, by its library.

The library is that of PyDarshan, which exports what Darshan's own tools (darshan-convert) write
logs with: darshan-logutils.h of Darshan 3.4 and 3.5.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_ZLIB = 0  # enum darshan_comp_type
_MODULES = {
    "POSIX": (1, 4), "H5F": (3, 3), "PNETCDF_FILE": (5, 3), "STDIO": (9, 2), "MDHIM": (12, 1),
    "DFS": (16, 1), "DAOS": (17, 1),
}  # fmt: skip
"""Number (enum darshan_module_id) and version of the format."""
_TAILS = {"DFS": [("pool", "V16"), ("container", "V16")]}
_TAILS["DAOS"] = [*_TAILS["DFS"], ("oid", "V16")]
_LONGEST_MOUNT = 3015
_LARGEST_MODULE = 64 << 20


class _Job(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_int64) for name in (
            "uid", "start_seconds", "start_ns", "end_seconds", "end_ns", "nprocs", "jobid")),
        ("metadata", ctypes.c_char * 1024),
    ]  # fmt: skip


class _Mount(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_char * _LONGEST_MOUNT), ("path", ctypes.c_char * _LONGEST_MOUNT)]


class _Module(ctypes.Structure):
    """`struct darshan_mod_info`."""

    _fields_ = [("name", ctypes.c_char_p), ("len", ctypes.c_int), ("ver", ctypes.c_int),
                ("idx", ctypes.c_int), ("partial", ctypes.c_int)]  # fmt: skip


class _Entry(ctypes.Structure):
    """A name in a hash of uthash.h; of its handle only `next` is followed."""


_Entry._fields_ = [
    ("record", ctypes.c_char_p),  # the id, then the name
    ("table", ctypes.c_void_p),
    ("prev", ctypes.c_void_p),
    ("next", ctypes.POINTER(_Entry)),
    *((name, ctypes.c_void_p) for name in ("hash_prev", "hash_next", "key")),
    ("key_bytes", ctypes.c_uint),
    ("hash", ctypes.c_uint),
]


@cache
def _library() -> Any:
    from darshan.discover_darshan import discover_darshan_wheel

    (path,) = Path(discover_darshan_wheel()).glob("libdarshan-util*.so*")
    library = ctypes.CDLL(str(path))
    for name in ("create", "open"):
        getattr(library, f"darshan_log_{name}").restype = ctypes.c_void_p
    return library


def posix_record() -> np.dtype[np.void]:
    """Return the type of a record of POSIX."""
    return record_of("POSIX")


@cache
def record_of(module: str) -> np.dtype[np.void]:
    """Return the type of a record, with a member for each counter: "OPENS", "F_READ_TIME"."""
    from darshan.backend import cffi_backend as backend

    prefix = f"{module}_"
    names = backend.counter_names(module) or []
    times = backend.fcounter_names(module) or []
    return np.dtype([
        ("id", "<u8"), ("rank", "<i8"),
        *((name.removeprefix(prefix), "<i8") for name in names),
        *((name.removeprefix(prefix), "<f8") for name in times),
        *_TAILS.get(module, []),
    ])  # fmt: skip


def write_log(
    path: Path,
    records: NDArray[np.void],
    names: Sequence[str],
    *,
    command: str,
    n_ranks: int,
    start: int,
    run_seconds: float,
    job_id: int = 1,
    uid: int = 1000,
    mounts: Sequence[tuple[str, str]] = (("lustre", "/work"),),
    module: str = "POSIX",
) -> Path:
    """Write a log of format 3.41.

    Args:
        path: Of the log, which must not exist.
        records: (n,) `record_of` the module, each with an id of its own.
        names: Paths of the files, one for each record.
        command: Of the program.
        n_ranks: Of the run; 1 for a program without MPI.
        start: Seconds since 1970.
        run_seconds: Of the run.
        job_id: Of Slurm.
        uid: Of the user.
        mounts: (type, place) of file systems.
        module: Of the records.

    Raises:
        OSError: The library refuses.
    """
    library = _library()
    log = library.darshan_log_create(str(path).encode(), _ZLIB, 0)
    if not log:
        raise OSError(f"{path} cannot be made")
    handle = ctypes.c_void_p(log)
    whole, rest = divmod(run_seconds, 1.0)
    job = _Job(uid, start, 0, start + int(whole), round(rest * 1e9), n_ranks, job_id,
               b"lib_ver=3.4.4\n")  # fmt: skip
    table = (_Mount * len(mounts))(*(_Mount(a.encode(), b.encode()) for a, b in mounts))
    entries = _hash(records["id"], names)
    data = np.ascontiguousarray(records).tobytes()
    number, version = _MODULES[module]

    steps = (
        ("job", lambda: library.darshan_log_put_job(handle, ctypes.byref(job))),
        ("exe", lambda: library.darshan_log_put_exe(handle, command.encode())),
        ("mounts", lambda: library.darshan_log_put_mounts(handle, table, len(mounts))),
        ("names", lambda: library.darshan_log_put_namehash(handle, entries)),
        ("records",
         lambda: library.darshan_log_put_mod(handle, number, data, len(data), version)),
    )  # fmt: skip
    for what, step in steps:
        if step() < 0:
            raise OSError(f"{path}: the {what} cannot be written")
    library.darshan_log_close(handle)
    return path


def _hash(ids: NDArray[np.uint64], names: Sequence[str]) -> Any:
    """Return the entries of all names."""
    entries = (_Entry * len(names))()
    for place, (entry, one, name) in enumerate(zip(entries, ids, names, strict=True)):
        entry.record = int(one).to_bytes(8, "little") + name.encode()
        if place + 1 < len(names):
            entry.next = ctypes.pointer(entries[place + 1])
    return entries


def copy_log(source: Path, path: Path, *, job_id: int) -> Path:
    """Write a log that tells what another does, as of another job.

    Args:
        source: The other log.
        path: Of the log, which must not exist.
        job_id: Of Slurm.

    Raises:
        OSError: The library refuses.
    """
    library = _library()
    old, new = (ctypes.c_void_p(made) for made in (
        library.darshan_log_open(str(source).encode()),
        library.darshan_log_create(str(path).encode(), _ZLIB, 0),
    ))  # fmt: skip
    if not old or not new:
        raise OSError(f"{source if not old else path} cannot be opened")
    try:
        _copy(library, old, new, job_id)
    finally:
        library.darshan_log_close(new)
        library.darshan_log_close(old)
    return path


def _copy(library: Any, old: ctypes.c_void_p, new: ctypes.c_void_p, job_id: int) -> None:
    def get(what: str, *into: Any) -> None:
        if getattr(library, f"darshan_log_get_{what}")(old, *into) < 0:
            raise OSError(f"its {what} cannot be read")

    def put(what: str, *values: Any) -> None:
        if getattr(library, f"darshan_log_put_{what}")(new, *values) < 0:
            raise OSError(f"its {what} cannot be written")

    job, command = _Job(), ctypes.create_string_buffer(4096)
    mounts, names = ctypes.c_void_p(), ctypes.c_void_p()
    modules, number = ctypes.POINTER(_Module)(), ctypes.c_int()
    get("job", ctypes.byref(job))
    job.jobid = job_id
    put("job", ctypes.byref(job))
    get("exe", command)
    put("exe", command)
    get("mounts", ctypes.byref(mounts), ctypes.byref(number))
    put("mounts", mounts, number)
    get("namehash", ctypes.byref(names))
    put("namehash", names)
    library.darshan_log_get_modules(old, ctypes.byref(modules), ctypes.byref(number))
    for module in modules[: number.value]:
        data = ctypes.create_string_buffer(_LARGEST_MODULE)
        length = library.darshan_log_get_mod(old, module.idx, data, _LARGEST_MODULE)
        if length < 0:
            raise OSError(f"its records of {module.name!r} cannot be read")
        put("mod", module.idx, data, length, module.ver)
