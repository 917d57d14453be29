# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Damage files as a disk, a killed writer or an attacker would."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

_EXTREMES = (0, 1, -1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, -0x80000000, 1 << 20)
_WORDS = (
    *(b"0", b"-1", b"9223372036854775807", b"99999999999999999999999", b"1e308", b"nan", b"inf"),
    *(b"", b"{", b"}", b"{;}", b"(", b")", b",", b" ", b"\n", b"\0", b"\xff\xfe", b"NULL", b"="),
    *(b"{9223372036854775807;9223372036854775807}", b"{0}", b"-9223372036854775808", b"|", b"+--"),
)


def mutate(data: bytes, random: Random, *, most: int = 6) -> bytes:
    """Apply a few random kinds of damage."""
    for _ in range(random.randint(1, most)):
        data = random.choice(_MUTATIONS)(data, random)
    return data


def _place(data: bytes, random: Random) -> int:
    return random.randrange(len(data) + 1)


def _flip(data: bytes, random: Random) -> bytes:
    if not data:
        return data
    place = random.randrange(len(data))
    changed = data[place] ^ (1 << random.randrange(8))
    return data[:place] + bytes([changed]) + data[place + 1 :]


def _overwrite(data: bytes, random: Random) -> bytes:
    """Put an extreme number in place of four or eight bytes."""
    size = random.choice((1, 2, 4, 8))
    place = _place(data, random) // size * size
    value = random.choice(_EXTREMES) & ((1 << 8 * size) - 1)
    return data[:place] + value.to_bytes(size, "little") + data[place + size :]


def _word(data: bytes, random: Random) -> bytes:
    """Put a word in place of a number in a text, or anywhere."""
    word, place = random.choice(_WORDS), _place(data, random)
    end = place
    while end < len(data) and data[end : end + 1].isdigit():
        end += 1
    return data[:place] + word + data[end:]


def _delete(data: bytes, random: Random) -> bytes:
    place = _place(data, random)
    return data[:place] + data[place + random.randint(1, 64) :]


def _repeat(data: bytes, random: Random) -> bytes:
    place = _place(data, random)
    part = data[place : place + random.randint(1, 256)]
    return data[:place] + part * random.randint(2, 5) + data[place + len(part) :]


def _insert(data: bytes, random: Random) -> bytes:
    place = _place(data, random)
    return data[:place] + random.randbytes(random.randint(1, 16)) + data[place:]


def _truncate(data: bytes, random: Random) -> bytes:
    return data[: _place(data, random)]


def _swap_lines(data: bytes, random: Random) -> bytes:
    lines = data.split(b"\n")
    one, other = random.randrange(len(lines)), random.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return b"\n".join(lines)


_MUTATIONS: tuple[Callable[[bytes, Random], bytes], ...] = (
    *(_flip, _overwrite, _overwrite, _word, _word, _delete, _repeat, _insert, _swap_lines),
    _truncate,
)
