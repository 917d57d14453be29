# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Pieces of a datatype fold, and come back one by one."""

from __future__ import annotations

import random

import pytest
from native_hosts import NATIVE, Host, Programs

INCLUDES = (f"-I{NATIVE / 'include'}", f"-I{NATIVE / 'runtime'}")

Piece = tuple[int, int]


def fold(host: Host, programs: Programs, pieces: list[Piece]) -> tuple[list[list[int]], int, bool]:
    """Entries, number of joined pieces, and whether some were left out."""
    script = host.directory / "pieces"
    script.write_text("".join(f"{offset} {size}\n" for offset, size in pieces))
    program = programs.executable("folded_pieces", *INCLUDES)
    *lines, last = host.check(program, script, LD_PRELOAD="").decode().splitlines()
    total, truncated = map(int, last.split())
    return [[int(word) for word in line.split()] for line in lines], total, bool(truncated)


def unfold(entries: list[list[int]]) -> list[Piece]:
    """Every piece again, as trace.h says."""
    pieces = []
    for offset, size, count, inner0, inner1, *stride in entries:
        for k in range(count):
            row, i = divmod(k, inner0) if inner0 else (0, k)
            plane, j = divmod(row, inner1) if inner1 else (0, row)
            pieces.append((offset + i * stride[0] + j * stride[1] + plane * stride[2], size))
    return pieces


def joined(pieces: list[Piece]) -> list[Piece]:
    """Pieces that touch become one; empty ones vanish."""
    out: list[Piece] = []
    for offset, size in pieces:
        if size == 0:
            continue
        if out and sum(out[-1]) == offset:
            out[-1] = (out[-1][0], out[-1][1] + size)
        else:
            out.append((offset, size))
    return out


def test_block_of_a_cube_is_one_entry(host: Host, programs: Programs) -> None:
    cube = [
        (plane * 1_000_000 + row * 1000 + i * 8, 8)
        for plane in range(6)
        for row in range(5)
        for i in range(4)
    ]
    entries, total, truncated = fold(host, programs, cube)
    assert (len(entries), total, truncated) == (1, 30, False)
    assert unfold(entries) == joined(cube)


@pytest.mark.parametrize("seed", range(6))
def test_random_pieces_come_back(host: Host, programs: Programs, seed: int) -> None:
    chance = random.Random(seed)
    pieces: list[Piece] = []
    at = 0
    for _ in range(60):
        number, size = chance.randrange(1, 9), chance.choice((0, 4, 4, 8))
        step = size + chance.choice((0, 4, 8))
        pieces += [(at + k * step, size) for k in range(number)]
        at += number * step + chance.choice((0, 100))
    entries, total, truncated = fold(host, programs, pieces)
    assert not truncated
    assert unfold(entries) == joined(pieces)
    assert total == len(joined(pieces))


def test_too_many_are_cut_and_marked(host: Host, programs: Programs) -> None:
    pieces = [(k * k * 10, 1 + k % 3) for k in range(2000)]
    entries, total, truncated = fold(host, programs, pieces)
    assert truncated
    assert len(entries) == 256
    assert unfold(entries) == pieces[:total]
