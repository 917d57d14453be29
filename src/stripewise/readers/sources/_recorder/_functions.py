# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Which of a function's arguments are file, size and offset.

Source: the wrappers of Recorder 2.5 (lib/recorder-posix.c, recorder-mpi-io.c, recorder-hdf5.c);
in place of a descriptor or stream stands the file's absolute path.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from stripewise.model import EventFlag, IoLayer, Op, OpenBit

_POSIX, _STDIO = IoLayer.POSIX, IoLayer.STDIO
# open(2) on Linux x86-64, AArch64 and POWER alike for these.
_O_ACCMODE, _O_WRONLY, _O_RDWR = 3, 1, 2
_O_CREAT, _O_EXCL, _O_TRUNC, _O_APPEND = 0o100, 0o200, 0o1000, 0o2000


class Kind(StrEnum):
    """What a call does to the position in the file."""

    OPEN = "open"
    CLOSE = "close"
    MOVE = "move"
    DATA = "data"
    AT = "at"
    SYNC = "sync"
    SIZE = "size"
    OTHER = "other"


@dataclass(frozen=True)
class Function:
    """A call of POSIX or stdio.

    Attributes:
        path: Place of the path among the arguments.
        size: Places whose product is the size in bytes.
        offset: Place of the offset, or of the flags of an open.
    """

    layer: IoLayer
    op: Op
    kind: Kind
    path: int = 0
    size: tuple[int, ...] = ()
    offset: int = -1


def _data(layer: IoLayer, op: Op, path: int, *size: int) -> Function:
    return Function(layer, op, Kind.DATA, path, size)


_META_ON_SECOND = ("__xstat", "__xstat64", "__lxstat", "__lxstat64", "__fxstat", "__fxstat64")
_META_ON_FIRST = (
    *("stat", "stat64", "lstat", "lstat64", "fstat", "fstat64", "mkdir", "rmdir", "unlink"),
    *("readlink", "rename", "link", "symlink", "chmod", "chown", "lchown", "utime", "opendir"),
    *("access", "faccessat", "remove", "fcntl", "mknod", "mkfifo", "ftell", "ftello", "fileno"),
)
FUNCTIONS: dict[str, Function] = {
    **{
        name: Function(_POSIX, Op.OPEN, Kind.OPEN, 0, (), 1)
        for name in ("open", "open64", "creat", "creat64")
    },
    **{
        name: Function(_STDIO, Op.OPEN, Kind.OPEN, 0, (), 1)
        for name in ("fopen", "fopen64", "fdopen")
    },
    "close": Function(_POSIX, Op.CLOSE, Kind.CLOSE),
    "fclose": Function(_STDIO, Op.CLOSE, Kind.CLOSE),
    "read": _data(_POSIX, Op.READ, 0, 2),
    "write": _data(_POSIX, Op.WRITE, 0, 2),
    "readv": _data(_POSIX, Op.READ, 0, 1),
    "writev": _data(_POSIX, Op.WRITE, 0, 1),
    "fread": _data(_STDIO, Op.READ, 3, 1, 2),
    "fwrite": _data(_STDIO, Op.WRITE, 3, 1, 2),
    "fprintf": _data(_STDIO, Op.WRITE, 0, 1),
    "vfprintf": _data(_STDIO, Op.WRITE, 0, 1),
    **{
        name: Function(_POSIX, op, Kind.AT, 0, (2,), 3)
        for name, op in (
            *(("pread", Op.READ), ("pread64", Op.READ)),
            *(("pwrite", Op.WRITE), ("pwrite64", Op.WRITE)),
        )
    },
    **{
        name: Function(layer, Op.META, Kind.MOVE, 0, (), 1)
        for name, layer in (
            *(("lseek", _POSIX), ("lseek64", _POSIX)),
            *(("fseek", _STDIO), ("fseeko", _STDIO)),
        )
    },
    "fsync": Function(_POSIX, Op.SYNC, Kind.SYNC),
    "fdatasync": Function(_POSIX, Op.SYNC, Kind.SYNC),
    "fflush": Function(_STDIO, Op.SYNC, Kind.SYNC),
    "truncate": Function(_POSIX, Op.META, Kind.SIZE, 0, (), 1),
    "ftruncate": Function(_POSIX, Op.META, Kind.SIZE, 0, (), 1),
    **{name: Function(_POSIX, Op.META, Kind.OTHER, 1) for name in _META_ON_SECOND},
    **{name: Function(_POSIX, Op.META, Kind.OTHER, 0) for name in _META_ON_FIRST},
    "mmap": Function(_POSIX, Op.META, Kind.OTHER, 4),
    "mmap64": Function(_POSIX, Op.META, Kind.OTHER, 4),
}


def open_bits(function: Function, how: str) -> OpenBit:
    """`OpenBit` from open's flags or fopen's mode."""
    if function.layer == _STDIO:
        return _mode_bits(how)
    flags = integer(how, 0)
    if flags < 0:
        return OpenBit(0)
    access = flags & _O_ACCMODE
    bits = OpenBit.READ if access in (0, _O_RDWR) else OpenBit(0)
    bits |= OpenBit.WRITE if access in (_O_WRONLY, _O_RDWR) else OpenBit(0)
    for mask, bit in (
        *((_O_CREAT, OpenBit.CREATE), (_O_EXCL, OpenBit.EXCLUSIVE)),
        *((_O_TRUNC, OpenBit.TRUNCATE), (_O_APPEND, OpenBit.APPEND)),
    ):
        if flags & mask:
            bits |= bit
    return bits


def _mode_bits(mode: str) -> OpenBit:
    bits = {
        "r": OpenBit.READ,
        "w": OpenBit.WRITE | OpenBit.CREATE | OpenBit.TRUNCATE,
        "a": OpenBit.WRITE | OpenBit.CREATE | OpenBit.APPEND,
    }.get(mode[:1], OpenBit(0))
    return bits | OpenBit.READ | OpenBit.WRITE if bits and "+" in mode else bits


def integer(text: str, default: int) -> int:
    """A whole number of at most 63 bits, otherwise `default`."""
    try:
        value = int(text) if len(text) <= 20 else default
    except ValueError:
        return default
    return value if -(1 << 62) < value < 1 << 62 else default


_MPI_DATA = re.compile(
    r"MPI_File_(?P<nonblocking>i?)(?P<what>read|write)"
    r"(?P<shared>_shared|_ordered)?(?P<at>_at)?(?P<all>_all)?(?P<split>_begin|_end)?"
)
MPI_BYTES = {
    **dict.fromkeys(
        (
            *("MPI_BYTE", "MPI_CHAR", "MPI_SIGNED_CHAR", "MPI_UNSIGNED_CHAR", "MPI_PACKED"),
            *("MPI_CHARACTER", "MPI_INT8_T", "MPI_UINT8_T", "MPI_INTEGER1", "MPI_C_BOOL"),
        ),
        1,
    ),
    **dict.fromkeys(
        ("MPI_SHORT", "MPI_UNSIGNED_SHORT", "MPI_INT16_T", "MPI_UINT16_T", "MPI_INTEGER2"), 2
    ),
    **dict.fromkeys(
        (
            *("MPI_INT", "MPI_UNSIGNED", "MPI_FLOAT", "MPI_INT32_T", "MPI_UINT32_T"),
            *("MPI_INTEGER", "MPI_INTEGER4", "MPI_REAL", "MPI_REAL4", "MPI_LOGICAL"),
        ),
        4,
    ),
    **dict.fromkeys(
        (
            *("MPI_DOUBLE", "MPI_LONG", "MPI_UNSIGNED_LONG", "MPI_LONG_LONG", "MPI_REAL8"),
            *("MPI_LONG_LONG_INT", "MPI_UNSIGNED_LONG_LONG", "MPI_INT64_T", "MPI_UINT64_T"),
            *("MPI_DOUBLE_PRECISION", "MPI_INTEGER8", "MPI_COMPLEX", "MPI_OFFSET", "MPI_AINT"),
            *("MPI_C_FLOAT_COMPLEX", "MPI_COUNT"),
        ),
        8,
    ),
    **dict.fromkeys(
        ("MPI_DOUBLE_COMPLEX", "MPI_C_DOUBLE_COMPLEX", "MPI_LONG_DOUBLE", "MPI_COMPLEX16"), 16
    ),
}
"""Bytes of MPI's own datatypes on 64-bit Linux, by name."""


@dataclass(frozen=True)
class MpiData:
    """A read or write of MPI-IO: kind of operation, flags, and whether it has an offset."""

    op: Op
    flags: EventFlag
    has_offset: bool
    ends: bool


def mpi_data(name: str) -> MpiData | None:
    """What a function's name tells; None if it moves no data."""
    match = _MPI_DATA.fullmatch(name)
    if match is None:
        return None
    together = match["all"] is not None or match["shared"] == "_ordered"
    reading = match["what"] == "read"
    if together:
        op = Op.READ_COLLECTIVE if reading else Op.WRITE_COLLECTIVE
    else:
        op = Op.READ if reading else Op.WRITE
    flags = EventFlag(0)
    if match["nonblocking"]:
        flags |= EventFlag.NONBLOCKING
    if match["split"]:
        flags |= EventFlag.SPLIT
    if match["shared"]:
        flags |= EventFlag.SHARED
    elif match["at"] is None:
        flags |= EventFlag.POINTER
    return MpiData(op, flags, match["at"] is not None, match["split"] == "_end")
