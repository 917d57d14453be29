# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""PnetCDF in the trace: variables, selections of every kind of access, nonblocking calls."""

from __future__ import annotations

from pathlib import Path

import pytest
from capture_harness import Call, calls, captured
from io_libraries import FAMILY, library_program

from stripewise.evidence.trace import EventFlag, IoLayer, Op, OpenBit, ShapeKind, Trace

pytestmark = pytest.mark.mpi

CREATED = int(OpenBit.READ | OpenBit.WRITE | OpenBit.CREATE | OpenBit.TRUNCATE)
WRITE, READ = Op.WRITE_COLLECTIVE, Op.READ_COLLECTIVE
NONBLOCKING = EventFlag.NONBLOCKING
NO_FLAG = EventFlag(0)


def check_calls(found: list[Call], rank: int) -> None:
    start = 48 * rank
    assert (found[0].name, found[0].op, found[0].offset) == ("ncmpi_create", Op.OPEN, CREATED)
    field = [c for c in found if c.object >= 0][:9]
    assert [(c.name.removeprefix("ncmpi_"), c.op, c.flags, c.offset, c.bytes) for c in field] == [
        ("put_vara_float_all", WRITE, NO_FLAG, start, 192),
        ("put_vars_float_all", WRITE, NO_FLAG, start, 32),
        ("get_vara_float_all", READ, NO_FLAG, 0, 0),
        ("get_var_float_all", READ, NO_FLAG, 0, 384),
        ("get_varn_float_all", READ, NO_FLAG, 12 * rank + 2, 32),
        ("get_varn_float_all", READ, NO_FLAG, 12 * rank + 2, 8),
        ("iput_vara_float", Op.WRITE, NONBLOCKING, start, 192),
        ("iget_var1_float", Op.READ, NONBLOCKING, start, 4),
        ("get_vara", Op.READ, NO_FLAG, start, 32),
    ]
    waits = [c for c in found if c.name == "ncmpi_wait_all"]
    assert [(c.op, c.flags) for c in waits] == [(Op.META, EventFlag.WAIT)]
    series = [c for c in found if c.name == "ncmpi_put_vara_short_all"]
    assert [c.offset for c in series] == [6 * record + 3 * rank for record in range(4)]
    assert len({c.shape for c in series}) == 1


def check_shapes(found: list[Call], rank: int, trace: Trace) -> None:
    box, strided, none, whole, boxes, points, again, one, _ = (
        trace.shapes[c.shape] for c in [c for c in found if c.object >= 0][:9]
    )
    assert (box.stride, box.count, box.block) == ((1, 1), (4, 12), (1, 1))
    assert again == box
    assert (strided.stride, strided.count, strided.block) == ((2, 3), (2, 4), (1, 1))
    assert (none.kind, whole.kind, whole.elements) == (ShapeKind.NONE, ShapeKind.ALL, 96)
    assert boxes.boxes is not None
    assert boxes.boxes.tolist() == [[[0, 0], [1, 2]], [[6 - rank, 3], [6 - rank, 4]]]
    assert (boxes.kind, boxes.elements) == (ShapeKind.BOXES, 8)
    assert points.boxes is not None
    assert points.boxes[:, 1].tolist() == [[0, 0], [6 - rank, 3]]
    assert (points.kind, points.elements) == (ShapeKind.POINTS, 2)
    assert one.count == (1, 1)


def test_variables_and_selections(tmp_path: Path) -> None:
    trace = captured(FAMILY, 2, [library_program("pnselections.c"), "out.nc"], tmp_path)
    field, series = (o for o in trace.objects if o.layer == IoLayer.PNETCDF)
    assert (field.name, field.extents, field.maximum) == ("field", (8, 12), (8, 12))
    assert (field.element_bytes, field.type_class, field.storage) == (4, "float", "contiguous")
    assert (series.name, series.extents, series.maximum) == ("series", (0, 6), (-1, 6))
    assert (series.element_bytes, series.type_class) == (2, "integer")
    for rank in range(2):
        found = calls(trace, rank, IoLayer.PNETCDF)
        check_calls(found, rank)
        check_shapes(found, rank, trace)
        below = calls(trace, rank, IoLayer.MPIIO, "out.nc")
        written = {c.under for c in below if c.op == WRITE}
        assert {"ncmpi_put_vara_float_all", "ncmpi_wait_all"} <= written
