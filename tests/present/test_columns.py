# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tables of text: one block where there is room, several where there is not, nothing cut."""

from __future__ import annotations

from rich.cells import cell_len

from stripewise.present._terminal import TextTable

TABLE = TextTable(
    ("file", "reads", "time of all ranks", "slowest"),
    [("/d/checkpoint.h5", "12", "3.1 s", "0.9 s"), ("/d/データ", "4", "12 ms", "-")],
)


def test_a_wide_terminal_gets_one_block() -> None:
    (lines,) = TABLE.blocks(80)
    assert lines[1] == "/d/checkpoint.h5     12              3.1 s    0.9 s"
    assert list(TABLE.blocks()) == [lines]
    assert {cell_len(line) for line in lines} == {51}


def test_a_narrow_terminal_gets_blocks_that_begin_with_the_key() -> None:
    blocks = list(TABLE.blocks(40))
    headings = [lines[0].split("  ")[-1].strip() for lines in blocks]
    assert headings == ["reads", "time of all ranks", "slowest"]
    assert all(lines[1].startswith("/d/checkpoint.h5") for lines in blocks)
    assert all(cell_len(line) <= 40 for lines in blocks for line in lines)


def test_a_column_that_is_too_wide_by_itself_stays_whole() -> None:
    shown = "\n".join(line for lines in TABLE.blocks(10) for line in lines)
    assert all(cell in shown for row in TABLE.rows for cell in row)
