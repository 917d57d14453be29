# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Converts the calls of one rank to rows: files, offsets, nesting.

Recorder stores no results of calls. The position in a file is derived from open and seek; reads
that returned less than requested cannot be detected. Ids of HDF5 are not tracked: its reads and
writes belong to the only open HDF5 file, if there is just one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from stripewise.core import ReportedPart
from stripewise.evidence.readers._calls import CallLog
from stripewise.evidence.trace import PIECE_ROW, EventFlag, IoLayer, Op, OpenBit, TraceView

# Recorder's calls, and which of their arguments are file, size and offset.
#
# Source: the wrappers of Recorder 2.5 (lib/recorder-posix.c, recorder-mpi-io.c, recorder-hdf5.c);
# the file's absolute path replaces a descriptor or stream.


_POSIX, _STDIO = IoLayer.POSIX, IoLayer.STDIO
# values of open(2) on Linux, the same for x86-64, AArch64 and POWER
_O_ACCMODE, _O_WRONLY, _O_RDWR = 3, 1, 2
_O_CREAT, _O_EXCL, _O_TRUNC, _O_APPEND = 0o100, 0o200, 0o1000, 0o2000


class Record(NamedTuple):
    """A call of one rank.

    Attributes:
        start / end: Seconds since the trace began.
        name: Name of the function.
        level: Nesting depth; 0 for all calls if Recorder did not store it.
        arguments: Arguments as texts; blanks inside were replaced by the writer.
        thread: Number of the thread, 0 if it is not stored.
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
        offset: Place of the offset, of the flags of an open, or of the size that is set; -1 if
            there is none, so that data is at the position in the file.
        seeks: Whether it sets the position in the file.
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
    """Return `OpenBit` from open's flags or fopen's mode."""
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
    """Return an integer of at most 63 bits, otherwise 0."""
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
"""Sizes of MPI's own datatypes on 64-bit Linux, in bytes by name."""


@dataclass(frozen=True)
class MpiData:
    """A read or write of MPI-IO: kind of operation, flags, and whether it has an offset."""

    op: Op
    flags: EventFlag
    has_offset: bool
    ends: bool


def mpi_data(name: str) -> MpiData | None:
    """Return the operation of a function's name; None if it moves no data."""
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


_SEEK_SET, _SEEK_CUR, _SEEK_END = 0, 1, 2
_WHENCE = {"MPI_SEEK_SET": _SEEK_SET, "MPI_SEEK_CUR": _SEEK_CUR, "MPI_SEEK_END": _SEEK_END}
_MPI_OPEN_BITS = (
    *((1, OpenBit.CREATE), (2, OpenBit.READ), (4, OpenBit.WRITE)),
    *((8, OpenBit.READ | OpenBit.WRITE), (64, OpenBit.EXCLUSIVE), (128, OpenBit.APPEND)),
)
_HDF5_SELECTIONS = (
    "HDF5 selections are addresses in Recorder's traces: patterns come from the offsets of"
    " MPI-IO or POSIX, and the bytes of an HDF5 call from the calls that it made"
)
_HDF5_FILES = (
    "{} HDF5 reads and writes were made with several files open and cannot be assigned to one"
)
_UNKNOWN_SIZES = (
    "{} MPI-IO calls use derived datatypes, whose sizes Recorder does not store: their bytes"
    " are not known"
)
_VIEWS_WITH_HOLES = (
    "{} file views are derived datatypes, which Recorder does not store: patterns of those files"
    " come from the system calls"
)
_UNKNOWN_FILES = "{} MPI-IO calls are on files whose open was not recorded"
REMARKS = (_HDF5_SELECTIONS, _HDF5_FILES, _UNKNOWN_SIZES, _VIEWS_WITH_HOLES, _UNKNOWN_FILES)
"""Remarks on what is unknown, in their order; with the number of calls where that matters."""
MISSING = {
    _UNKNOWN_SIZES: ReportedPart.BYTES,
    _UNKNOWN_FILES: ReportedPart.BYTES | ReportedPart.SECONDS,
    _HDF5_FILES: ReportedPart.BYTES | ReportedPart.SECONDS,
}
"""Remarks that make amounts unknown."""
_HDF5_META = ("H5F", "H5D", "H5G", "H5A", "H5L", "H5O")


def _view(file: int, displacement: int, etype_bytes: int, contiguous: bool) -> TraceView:
    """Return a view as it is listed in the trace; pieces of one with holes are unknown."""
    pieces = np.zeros(int(contiguous), PIECE_ROW)
    pieces["bytes"], pieces["count"] = etype_bytes, 1
    n_bytes = etype_bytes if contiguous else 0
    return TraceView(file, displacement, etype_bytes, n_bytes, 0, n_bytes, pieces, not contiguous)


@dataclass
class _MpiFile:
    """An open MPI file: position in elementary types of its view; None if unknown."""

    path: str
    position: int | None = 0
    view: int = -1
    etype_bytes: int = 1
    contiguous: bool = True


class Interpreter:
    """Interprets the calls of one rank; `remarks` counts `REMARKS` over all ranks."""

    def __init__(self, rank: int, calls: CallLog, remarks: Counter[str]) -> None:
        self._rank = rank
        self._calls = calls
        self._remarks = remarks
        self._positions: dict[tuple[int, str], int] = {}
        self._ends: dict[str, int] = {}
        self._mpi: dict[str, _MpiFile] = {}
        self._hdf5: list[str] = []
        self._nested: dict[int, list[tuple[Record, int]]] = {}
        self._threads: dict[int, int] = {}
        self._flat = True
        self._depth = 0
        self._parent = -1
        self._record = Record(0.0, 0.0, "", 0, ())

    def follow(self, records: Iterable[Record]) -> None:
        """Add all calls of the rank."""
        ordered = sorted(records, key=lambda record: (record.start, record.level))
        self._flat = all(record.level == 0 for record in ordered)
        for record in ordered:
            self._handle(record)

    def _handle(self, record: Record) -> None:
        function = FUNCTIONS.get(record.name)
        handler: Callable[[], int | None]
        if function is not None:
            handler = lambda: self._system(function)  # noqa: E731
        elif record.name.startswith("MPI_File_"):
            handler = self._mpiio
        elif record.name.startswith(_HDF5_META):
            handler = self._hdf5_call
        else:
            return
        self._record = record
        outer = self._nested.setdefault(record.thread, [])
        while outer and not self._is_nested(record, outer[-1][0]):
            outer.pop()
        self._depth = len(outer)
        self._parent = outer[-1][1] if outer else -1
        name = handler()
        if name is not None:
            outer.append((record, name))

    def _is_nested(self, record: Record, outer: Record) -> bool:
        if record.start < outer.start or record.end > outer.end:
            return False
        return self._flat or record.level > outer.level

    def _add(self, layer: IoLayer, op: Op, path: str, **more: Any) -> int:
        """Add the current call; `more` are further arguments of `CallLog.add`."""
        record = self._record
        return self._calls.add(
            *(self._rank, record.name, layer, op),
            path=path,
            start=record.start,
            end=record.end,
            thread=self._threads.setdefault(record.thread, len(self._threads)),
            depth=self._depth,
            parent=self._parent,
            **{"offset": 0, **more},
        )

    def _argument(self, place: int) -> str:
        arguments = self._record.arguments
        return arguments[place] if 0 <= place < len(arguments) else ""

    def _number(self, place: int) -> int:
        return integer(self._argument(place))

    def _system(self, function: Function) -> int | None:
        path = self._argument(function.path)
        if not path or path.isdigit():
            return None
        key = (int(function.layer), path)
        if function.op == Op.OPEN:
            bits = open_bits(function, self._argument(function.offset))
            if self._record.name.startswith("creat"):
                bits = OpenBit.WRITE | OpenBit.CREATE | OpenBit.TRUNCATE
            appends = bits & OpenBit.APPEND
            self._positions[key] = self._ends.get(path, 0) if appends else 0
            return self._add(function.layer, function.op, path, offset=int(bits))
        if function.op in (Op.READ, Op.WRITE):
            return self._data(function, key)
        if function.seeks:
            self._move(key, self._number(1), self._number(2))
        return self._add(function.layer, function.op, path, offset=self._number(function.offset))

    def _move(self, key: tuple[int, str], offset: int, whence: int) -> None:
        base = 0
        if whence == _SEEK_CUR:
            base = self._positions.get(key, 0)
        elif whence == _SEEK_END:
            base = self._ends.get(key[1], 0)
        self._positions[key] = max(base + offset, 0)

    def _data(self, function: Function, key: tuple[int, str]) -> int:
        size = 1
        for place in function.size:
            size *= max(self._number(place), 0)
        if function.offset >= 0:
            offset = max(self._number(function.offset), 0)
        else:
            offset = self._positions.get(key, 0)
            self._positions[key] = offset + size
        path = key[1]
        self._ends[path] = max(self._ends.get(path, 0), offset + size)
        return self._add(function.layer, function.op, path, offset=offset, n_bytes=size)

    def _mpiio(self) -> int | None:
        name = self._record.name
        if name == "MPI_File_open":
            return self._mpi_open()
        file = self._mpi.get(self._argument(0))
        if file is None:
            self._remarks[_UNKNOWN_FILES] += 1
            file = _MpiFile("", None)
        data = mpi_data(name)
        if data is not None:
            if data.ends:
                return self._add(IoLayer.MPIIO, Op.META, file.path)
            return self._mpi_data(file, data)
        if name == "MPI_File_set_view":
            self._set_view(file)
        elif name == "MPI_File_seek":
            self._mpi_seek(file)
        elif name == "MPI_File_close":
            self._mpi.pop(self._argument(0), None)
            return self._add(IoLayer.MPIIO, Op.CLOSE, file.path)
        elif name == "MPI_File_set_size":
            return self._add(IoLayer.MPIIO, Op.META, file.path, offset=self._number(1))
        op = Op.SYNC if name == "MPI_File_sync" else Op.META
        return self._add(IoLayer.MPIIO, op, file.path)

    def _mpi_open(self) -> int:
        path, mode = self._argument(1), self._number(2)
        bits = OpenBit(0)
        for mask, bit in _MPI_OPEN_BITS:
            if mode & mask:
                bits |= bit
        position = None if bits & OpenBit.APPEND else 0
        self._mpi[self._argument(4)] = _MpiFile(path, position)
        return self._add(IoLayer.MPIIO, Op.OPEN, path, offset=int(bits))

    def _set_view(self, file: _MpiFile) -> None:
        etype, filetype = self._argument(2), self._argument(3)
        file.etype_bytes = MPI_BYTES.get(etype, 0)
        file.contiguous = etype == filetype and file.etype_bytes > 0
        file.position = 0
        self._remarks[_VIEWS_WITH_HOLES] += not file.contiguous
        index = self._calls.paths.number(file.path) if file.path else -1
        key = (index, max(self._number(1), 0), max(file.etype_bytes, 1), file.contiguous)
        file.view = self._calls.views.number(key, lambda: _view(*key))

    def _mpi_seek(self, file: _MpiFile) -> None:
        whence = self._argument(2)
        kind = _WHENCE.get(whence, -1)
        if kind == _SEEK_SET:
            file.position = max(self._number(1), 0)
        elif kind == _SEEK_CUR and file.position is not None:
            file.position = max(file.position + self._number(1), 0)
        else:
            file.position = None

    def _mpi_data(self, file: _MpiFile, data: MpiData) -> int:
        place = 3 if data.has_offset else 2
        unit = MPI_BYTES.get(self._argument(place + 1), 0)
        n_bytes = max(self._number(place), 0) * unit
        self._remarks[_UNKNOWN_SIZES] += not unit
        offset: int | None = None
        if data.has_offset:
            offset = max(self._number(1), 0)
        elif not data.flags & EventFlag.SHARED:
            offset, file.position = file.position, None
            if unit and file.etype_bytes and offset is not None:
                file.position = offset + n_bytes // file.etype_bytes
        known = {"offset": offset, "n_bytes": n_bytes, "flags": int(data.flags), "view": file.view}
        return self._add(IoLayer.MPIIO, data.op, file.path, **known)

    def _hdf5_call(self) -> int | None:
        name = self._record.name
        if name in ("H5Fcreate", "H5Fopen"):
            return self._hdf5_open(name)
        if name in ("H5Dread", "H5Dwrite", "H5Aread", "H5Awrite"):
            return self._hdf5_data(name)
        path = self._hdf5[0] if len(self._hdf5) == 1 else ""
        op = Op.META
        if name == "H5Fclose":
            op = Op.CLOSE
            if self._hdf5:
                self._hdf5.pop()
        elif name == "H5Fflush":
            op = Op.SYNC
        return self._add(IoLayer.HDF5, op, path)

    def _hdf5_open(self, name: str) -> int:
        path, flags = self._argument(0), self._number(1)
        self._hdf5.append(path)
        bits = OpenBit.READ | OpenBit.WRITE if flags & 1 or name == "H5Fcreate" else OpenBit.READ
        if name == "H5Fcreate":
            bits |= OpenBit.CREATE | (OpenBit.TRUNCATE if flags & 2 else OpenBit.EXCLUSIVE)
        return self._add(IoLayer.HDF5, Op.OPEN, path, offset=int(bits))

    def _hdf5_data(self, name: str) -> int:
        self._remarks[_HDF5_SELECTIONS] += 1
        path = self._hdf5[0] if len(self._hdf5) == 1 else ""
        self._remarks[_HDF5_FILES] += not path
        op = Op.READ if name.endswith("read") else Op.WRITE
        flags = EventFlag.ATTRIBUTE if name.startswith("H5A") else EventFlag(0)
        return self._add(IoLayer.HDF5, op, path, offset=None, flags=int(flags))
