# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A call as Recorder writes it down, and which of its arguments are file, size and offset.

Source: the wrappers of Recorder 2.5 (lib/recorder-posix.c, recorder-mpi-io.c, recorder-hdf5.c);
in place of a descriptor or stream stands the file's absolute path.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from stripewise.evidence.trace import EventFlag, IoLayer, Op, OpenBit

_POSIX, _STDIO = IoLayer.POSIX, IoLayer.STDIO
# open(2) on Linux x86-64, AArch64 and POWER alike for these.
_O_ACCMODE, _O_WRONLY, _O_RDWR = 3, 1, 2
_O_CREAT, _O_EXCL, _O_TRUNC, _O_APPEND = 0o100, 0o200, 0o1000, 0o2000


class Record(NamedTuple):
    """A call of one rank.

    Attributes:
        start / end: Seconds since the trace began.
        name: Of the function.
        level: Nesting depth; 0 of all calls if Recorder did not store it.
        arguments: As texts; blanks inside were replaced by the writer.
        thread: 0 where it is not stored.
    """

    start: float
    end: float
    name: str
    level: int
    arguments: tuple[str, ...]
    thread: int = 0


@dataclass(frozen=True)
class Function:
    """A call of POSIX or stdio.

    Attributes:
        path: Place of the path among the arguments.
        size: Places whose product is the size in bytes.
        offset: Place of the offset, of the flags of an open, or of the size that is set; -1:
            none, data is at the position in the file.
        seeks: It sets the position in the file.
    """

    layer: IoLayer
    op: Op
    path: int = 0
    size: tuple[int, ...] = ()
    offset: int = -1
    seeks: bool = False


FUNCTIONS = {
    name: function
    for names, function in (
        ("open open64 creat creat64", Function(_POSIX, Op.OPEN, offset=1)),
        ("fopen fopen64 fdopen", Function(_STDIO, Op.OPEN, offset=1)),
        ("close", Function(_POSIX, Op.CLOSE)),
        ("fclose", Function(_STDIO, Op.CLOSE)),
        ("read", Function(_POSIX, Op.READ, size=(2,))),
        ("write", Function(_POSIX, Op.WRITE, size=(2,))),
        ("readv", Function(_POSIX, Op.READ, size=(1,))),
        ("writev", Function(_POSIX, Op.WRITE, size=(1,))),
        ("fread", Function(_STDIO, Op.READ, 3, size=(1, 2))),
        ("fwrite", Function(_STDIO, Op.WRITE, 3, size=(1, 2))),
        ("fprintf vfprintf", Function(_STDIO, Op.WRITE, size=(1,))),
        ("pread pread64", Function(_POSIX, Op.READ, size=(2,), offset=3)),
        ("pwrite pwrite64", Function(_POSIX, Op.WRITE, size=(2,), offset=3)),
        ("lseek lseek64", Function(_POSIX, Op.META, seeks=True)),
        ("fseek fseeko", Function(_STDIO, Op.META, seeks=True)),
        ("fsync fdatasync", Function(_POSIX, Op.SYNC)),
        ("fflush", Function(_STDIO, Op.SYNC)),
        ("truncate ftruncate", Function(_POSIX, Op.META, offset=1)),
        (
            "stat stat64 lstat lstat64 fstat fstat64 mkdir rmdir unlink readlink rename link "
            "symlink chmod chown lchown utime opendir access faccessat remove fcntl mknod mkfifo "
            "ftell ftello fileno",
            Function(_POSIX, Op.META),
        ),
        (
            "__xstat __xstat64 __lxstat __lxstat64 __fxstat __fxstat64",
            Function(_POSIX, Op.META, 1),
        ),
        ("mmap mmap64", Function(_POSIX, Op.META, 4)),
    )
    for name in names.split()
}


def open_bits(function: Function, how: str) -> OpenBit:
    """`OpenBit` from open's flags or fopen's mode."""
    if function.layer == _STDIO:
        return _mode_bits(how)
    flags = integer(how)
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


def integer(text: str) -> int:
    """A whole number of at most 63 bits, otherwise 0."""
    try:
        value = int(text) if len(text) <= 20 else 0
    except ValueError:
        return 0
    return value if -(1 << 62) < value < 1 << 62 else 0


_MPI_DATA = re.compile(
    r"MPI_File_(?P<nonblocking>i?)(?P<what>read|write)"
    r"(?P<shared>_shared|_ordered)?(?P<at>_at)?(?P<all>_all)?(?P<split>_begin|_end)?"
)
MPI_BYTES = {
    f"MPI_{name}": n_bytes
    for n_bytes, names in (
        (1, "BYTE CHAR SIGNED_CHAR UNSIGNED_CHAR PACKED CHARACTER INT8_T UINT8_T INTEGER1 C_BOOL"),
        (2, "SHORT UNSIGNED_SHORT INT16_T UINT16_T INTEGER2"),
        (4, "INT UNSIGNED FLOAT INT32_T UINT32_T INTEGER INTEGER4 REAL REAL4 LOGICAL"),
        (8, "DOUBLE LONG UNSIGNED_LONG LONG_LONG REAL8 LONG_LONG_INT UNSIGNED_LONG_LONG INT64_T"),
        (8, "UINT64_T DOUBLE_PRECISION INTEGER8 COMPLEX OFFSET AINT C_FLOAT_COMPLEX COUNT"),
        (16, "DOUBLE_COMPLEX C_DOUBLE_COMPLEX LONG_DOUBLE COMPLEX16"),
    )
    for name in names.split()
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
