# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Counters of a job on a target as a few bytes, and states as bytes that can be checked.

An entry of five operations with two histograms takes about 80 bytes.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping

from stripewise.monitor._records import OperationCount

MAGIC = b"SWG"
_LONG = 0xF8
"""First bytes from here on say that one to eight others follow."""
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


_ODD_SIZE = 64
"""Stands before a size that is no power of two; for one that is, its exponent stands."""
_EXPONENTS = {1 << bit: bit for bit in range(_ODD_SIZE)}


def pack_entry(start_at: int | None, operations: Mapping[str, OperationCount]) -> bytes:
    """Return an entry's counters as bytes; equal ones give equal bytes."""
    numbers = [0 if start_at is None else start_at + 1]
    for name, (samples, unit, total, sizes) in sorted(operations.items()):
        numbers += *_word(name), *_word(unit), samples, total
        if sizes is None:
            numbers.append(0)
            continue
        numbers.append(len(sizes) + 1)
        for size, number in sizes:
            exponent = _EXPONENTS.get(size, _ODD_SIZE)
            numbers += (exponent, number) if exponent < _ODD_SIZE else (exponent, size, number)
    return _bytes_of(numbers)


def unpack_entry(data: bytes) -> tuple[int | None, dict[str, OperationCount]]:
    """Return an entry's start and counters.

    Raises:
        ValueError: The bytes are damaged.
    """
    operations: dict[str, OperationCount] = {}
    try:
        numbers = iter(_numbers_of(data))
        start = next(numbers)
        for code in numbers:
            name = _text(code, numbers)
            unit = _text(next(numbers), numbers)
            samples, total, told = next(numbers), next(numbers), next(numbers)
            sizes = tuple([_bin(numbers) for _ in range(told - 1)]) if told else None
            operations[name] = OperationCount(samples, unit, total, sizes)
    except StopIteration:
        raise ValueError("stored counters of a job end too early") from None
    return (start - 1 if start else None), operations


def _bin(numbers: Iterator[int]) -> tuple[int, int]:
    exponent = next(numbers)
    return (1 << exponent if exponent < _ODD_SIZE else next(numbers)), next(numbers)


def _word(word: str) -> tuple[int, ...]:
    number = _NUMBERS.get(word)
    if number is not None:
        return (number,)
    text = word.encode()
    return (0, len(text), *text)


def _text(code: int, numbers: Iterator[int]) -> str:
    if code > len(_NAMES):
        raise ValueError(f"stored counters of a job have an unknown name, number {code}")
    if code:
        return _NAMES[code - 1]
    return bytes([next(numbers) for _ in range(next(numbers))]).decode()


def _bytes_of(numbers: Iterable[int]) -> bytes:
    """Return numbers as bytes, as `put_number` has each."""
    out = bytearray()
    for number in numbers:
        if number < _LONG:
            out.append(number)
        else:
            put_number(out, number)
    return bytes(out)


def _numbers_of(data: bytes) -> list[int]:
    numbers: list[int] = []
    place, end = 0, len(data)
    while place < end:
        code = data[place]
        place += 1
        if code >= _LONG:
            size = code - _LONG + 1
            code = int.from_bytes(data[place : place + size], "little")
            place += size
        numbers.append(code)
    if place > end:
        raise ValueError("stored counters of a job end too early")
    return numbers


def put_number(out: bytearray, number: int) -> None:
    """Add a whole number from 0 to 2^64 - 1: one byte, or how many follow, and these."""
    if number < _LONG:
        out.append(number)
    else:
        size = number.bit_length() + 7 >> 3
        out.append(_LONG - 1 + size)
        out += number.to_bytes(size, "little")


def number_at(data: bytes, place: int) -> tuple[int, int]:
    """Return the number at a place, and the place behind it.

    Raises:
        IndexError: It ends too early.
    """
    code = data[place]
    place += 1
    if code < _LONG:
        return code, place
    end = place + code - _LONG + 1
    if end > len(data):
        raise IndexError
    return int.from_bytes(data[place:end], "little"), end


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
