# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The libraries that an executable names, by their interface numbers."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from pathlib import Path

_PREFIXES = {
    "hdf5": re.compile(r"libhdf5(?:_(?:serial|openmpi|mpich|parallel\w*))?\.(so\.[0-9.]+)$"),
    "netcdf": re.compile(r"libnetcdf(?:_\w+)?\.(so\.[0-9.]+)$"),
    "pnetcdf": re.compile(r"libpnetcdf\.(so\.[0-9.]+)$"),
    "adios2": re.compile(r"libadios2_\w+\.(so\.[0-9.]+)$"),
}
_PT_LOAD, _PT_DYNAMIC = 1, 2
_DT_NEEDED, _DT_STRTAB = 1, 5
_LARGEST_BYTES = 256 << 20


def library_versions(executable: Path | None) -> dict[str, str]:
    """Return "hdf5", "netcdf", "pnetcdf" and "adios2" where an executable links them itself.

    A script, or a program that loads its libraries later, names none.
    """
    try:
        if executable is None or executable.stat().st_size > _LARGEST_BYTES:
            return {}
        names = list(needed_libraries(executable.read_bytes()))
    except (OSError, ValueError, struct.error):
        return {}
    found: dict[str, str] = {}
    for name in names:
        for library, pattern in _PREFIXES.items():
            match = pattern.match(name)
            if match:
                found.setdefault(library, match.group(1))
    return found


def needed_libraries(data: bytes) -> Iterator[str]:
    """Yield the DT_NEEDED entries of a 64-bit ELF file.

    Raises:
        ValueError, struct.error: It is damaged.
    """
    if data[:4] != b"\x7fELF" or data[4:5] != b"\x02":
        return
    order = "<" if data[5] == 1 else ">"
    (table,) = struct.unpack_from(order + "Q", data, 32)
    size, count = struct.unpack_from(order + "HH", data, 54)
    segments = [struct.unpack_from(order + "IIQQQQ", data, table + size * i) for i in range(count)]
    dynamic = next((s for s in segments if s[0] == _PT_DYNAMIC), None)
    if dynamic is None:
        return
    entries = [
        struct.unpack_from(order + "qQ", data, dynamic[2] + offset)
        for offset in range(0, dynamic[5] - 15, 16)
    ]
    address = next((value for tag, value in entries if tag == _DT_STRTAB), None)
    if address is None:
        return
    strings = _file_offset(segments, address)
    for tag, value in entries:
        if tag == _DT_NEEDED:
            end = data.index(b"\0", strings + value)
            yield data[strings + value : end].decode(errors="replace")


def _file_offset(segments: list[tuple[int, ...]], address: int) -> int:
    for kind, _, offset, start, _, size in segments:
        if kind == _PT_LOAD and start <= address < start + size:
            return offset + address - start
    raise ValueError("no segment holds the table of strings")
