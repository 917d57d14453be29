# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Counters of a job on a target as a few bytes, and states as bytes that can be checked.

An entry of five operations with two histograms takes about 80 bytes.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping

from stripewise.monitor._records import OperationCount

MAGIC = b"SWG"
_ENVELOPE = struct.Struct("<3sBBI")
"""Magic, kind, version, CRC-32 of the rest."""
_NAMES = (
    *("read_bytes", "write_bytes", "read", "write", "getattr", "setattr", "punch", "sync"),
    *("destroy", "create", "statfs", "get_info", "set_info", "quotactl", "prealloc", "open"),
    *("close", "mknod", "link", "unlink", "mkdir", "rmdir", "rename", "getxattr", "setxattr"),
    *("samedir_rename", "crossdir_rename", "parallel_rename_file", "parallel_rename_dir"),
    *("rename_trylocks", "migrate", "fallocate", "readpage", "", "bytes", "usecs", "reqs"),
)
"""By number in stored states: new ones are added at the end, none is ever taken out."""
_NUMBERS = {name: number + 1 for number, name in enumerate(_NAMES)}


def pack_entry(start_at: int | None, operations: Mapping[str, OperationCount]) -> bytes:
    """Return an entry's counters as bytes; equal ones give equal bytes."""
    out = bytearray()
    put_number(out, 0 if start_at is None else start_at + 1)
    for name, count in sorted(operations.items()):
        _put_word(out, name)
        _put_word(out, count.unit)
        put_number(out, count.samples)
        put_number(out, count.total)
        put_number(out, 0 if count.sizes is None else len(count.sizes) + 1)
        for size, number in count.sizes or ():
            _put_size(out, size)
            put_number(out, number)
    return bytes(out)


def unpack_entry(data: bytes) -> tuple[int | None, dict[str, OperationCount]]:
    """Return an entry's start and counters.

    Raises:
        ValueError: The bytes are damaged.
    """
    operations: dict[str, OperationCount] = {}
    try:
        start, place = number_at(data, 0)
        while place < len(data):
            place = _unpack_operation(data, place, operations)
    except IndexError:
        raise ValueError("stored counters of a job end too early") from None
    return (start - 1 if start else None), operations


def _unpack_operation(data: bytes, place: int, operations: dict[str, OperationCount]) -> int:
    name, place = _word_at(data, place)
    unit, place = _word_at(data, place)
    samples, place = number_at(data, place)
    total, place = number_at(data, place)
    told, place = number_at(data, place)
    sizes: list[tuple[int, int]] = []
    for _ in range(told - 1):
        size, place = _size_at(data, place)
        number, place = number_at(data, place)
        sizes.append((size, number))
    operations[name] = OperationCount(samples, unit, total, tuple(sizes) if told else None)
    return place


def put_number(out: bytearray, number: int) -> None:
    """Add a whole number from 0, seven bits a byte, the lowest first."""
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)


def number_at(data: bytes, place: int) -> tuple[int, int]:
    """Return the number at a place, and the place behind it.

    Raises:
        IndexError: It ends too early.
    """
    number = shift = 0
    while (byte := data[place]) > 0x7F:
        number |= (byte & 0x7F) << shift
        shift += 7
        place += 1
    return number | byte << shift, place + 1


def put_text(out: bytearray, text: bytes) -> None:
    """Add bytes with their length."""
    put_number(out, len(text))
    out += text


def text_at(data: bytes, place: int) -> tuple[bytes, int]:
    """Return the bytes at a place, and the place behind them.

    Raises:
        IndexError: They end too early.
    """
    size, place = number_at(data, place)
    if place + size > len(data):
        raise IndexError
    return data[place : place + size], place + size


def seal(kind: int, version: int, body: bytes) -> bytes:
    """Return a state's bytes, compressed, with what is needed to check them."""
    packed = zlib.compress(body, 1)
    return _ENVELOPE.pack(MAGIC, kind, version, zlib.crc32(packed)) + packed


def unseal(kind: int, version: int, data: bytes) -> bytes:
    """Return what was sealed.

    Raises:
        ValueError: It is damaged, of another kind, or of a later version.
    """
    if len(data) < _ENVELOPE.size:
        raise ValueError(f"a stored state of counters has only {len(data)} bytes")
    magic, its_kind, its_version, check = _ENVELOPE.unpack_from(data)
    packed = data[_ENVELOPE.size :]
    if magic != MAGIC or its_kind != kind:
        raise ValueError("these are not a stored state of such counters")
    if its_version != version:
        raise ValueError(f"a stored state of counters has version {its_version}, not {version}")
    if check != zlib.crc32(packed):
        raise ValueError("a stored state of counters is damaged: its checksum differs")
    try:
        return zlib.decompress(packed)
    except zlib.error as error:
        raise ValueError(f"a stored state of counters is damaged: {error}") from None


def _put_word(out: bytearray, word: str) -> None:
    number = _NUMBERS.get(word, 0)
    out.append(number)
    if not number:
        put_text(out, word.encode())


def _word_at(data: bytes, place: int) -> tuple[str, int]:
    number, place = data[place], place + 1
    if number > len(_NAMES):
        raise ValueError(f"a stored state of counters has an unknown name, number {number}")
    if number:
        return _NAMES[number - 1], place
    text, place = text_at(data, place)
    return text.decode(), place


def _put_size(out: bytearray, size: int) -> None:
    """Add a size: a power of two, as nearly all are, takes one byte."""
    zeros = (size & -size).bit_length() - 1 if size else 0
    odd = size >> zeros
    out.append(zeros << 1 | (odd != 1))
    if odd != 1:
        put_number(out, odd)


def _size_at(data: bytes, place: int) -> tuple[int, int]:
    code, place = data[place], place + 1
    odd, place = number_at(data, place) if code & 1 else (1, place)
    return odd << (code >> 1), place
