# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The page on the trace format says byte by byte what the reader reads."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from stripewise.evidence.containers import _trace_blocks as t
from stripewise.evidence.containers.container import RECORD
from stripewise.evidence.trace import EventFlag, OpenBit
from support.containers import structs
from support.traces import RUN_BRIEF

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "trace-format.md").read_text()
STRUCTS = structs(t)
ROW = re.compile(r"\| (\d+) \| (\d+) \| (\S+) \| `(\w+)` \| .+ \|")


def table_of(struct: str) -> tuple[int, list[tuple[int, int, str, str]]]:
    found = re.search(rf"### `{struct}`, (\d+) bytes\n\n(.*?)\n\n", PAGE, re.DOTALL)
    assert found, struct
    rows = [ROW.fullmatch(line) for line in found[2].splitlines()[2:]]
    return int(found[1]), [(int(r[1]), int(r[2]), r[3], r[4]) for r in rows if r]


def type_of(dtype: object) -> str:
    base, shape = dtype.subdtype or (dtype, ())  # type: ignore[attr-defined]
    named = {RECORD: "sw_record", t.EVENT: "sw_event"}
    name = named.get(base) or {"u": "uint", "i": "int"}[base.kind] + str(8 * base.itemsize)
    return name + (f"[{shape[0]}]" if shape else "")


@pytest.mark.parametrize("struct", sorted(STRUCTS.keys() - {"sw_record"}))
def test_tables_are_those_of_the_dtypes(struct: str) -> None:
    dtype = STRUCTS[struct]
    assert dtype.fields is not None
    fields = [(name, *dtype.fields[name][:2]) for name in dtype.names or ()]
    size, rows = table_of(struct)
    assert size == dtype.itemsize
    assert rows == [(offset, d.itemsize, type_of(d), name) for name, d, offset in fields]


def test_kinds_are_listed() -> None:
    listed = re.findall(r"^\| (\d+) \| `sw_(\w+?)(?:_record)?`", PAGE, re.MULTILINE)
    assert {name.upper(): int(kind) for kind, name in listed} == {
        kind.name: int(kind) for kind in t.TraceRecordKind
    }
    assert f"fewer than {RUN_BRIEF}" in PAGE


def test_flags_are_listed() -> None:
    for flag in EventFlag:
        assert re.search(rf"\b{int(flag):#x}\b", PAGE)
    opened = next(line for line in PAGE.splitlines() if "`op` open" in line)
    for bit in OpenBit:
        assert f"{int(bit)} {bit.name.lower()}" in opened  # type: ignore[union-attr]
