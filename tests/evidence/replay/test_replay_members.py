# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Types and properties of HDF5 in a plan: members of compounds, conversions, metadata calls."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scripted import Script

from stripewise.core.errors import UsageError
from stripewise.evidence.replay import Plan, build_plan, plan_text
from stripewise.evidence.trace import (
    COUNTER_ROW,
    EventFlag,
    IoLayer,
    Op,
    RunProfile,
    ShapeKind,
    TraceObject,
    TraceShape,
)

H = IoLayer.HDF5
OUT = "/data/out.h5"


def script(*transfers: tuple[int, EventFlag], **of_object: object) -> Script:
    """Create a dataset of 100 elements and move them with some bytes each, and flags."""
    found = Script(1)
    given = {"element_bytes": 64, "type_class": "compound", "storage": "contiguous"} | of_object
    found.objects.append(TraceObject(0, int(H), "/d", (100,), **given))  # type: ignore[arg-type]
    found.shapes.append(TraceShape(0, ShapeKind.ALL, (100,), elements=100))
    found.call(0, H, Op.OPEN, "H5Fcreate", OUT, offset=6)
    found.call(0, H, Op.META, "H5Dcreate2", OUT, object=0)
    for size, flags in transfers:
        more = {"object": 0, "shape": 0, "bytes": 100 * size, "flags": int(flags)}
        found.call(0, H, Op.WRITE, "H5Dwrite", OUT, **more)
    found.call(0, H, Op.CLOSE, "H5Fclose", OUT)
    return found


def planned(*transfers: tuple[int, EventFlag], **of_object: object) -> Plan:
    return build_plan(script(*transfers, **of_object).trace())


NONE = EventFlag(0)


@pytest.mark.parametrize("flags", [NONE, EventFlag.MEMBERS])
def test_members_that_were_moved_apart_are_members_of_the_replays_type(flags: EventFlag) -> None:
    plan = planned((8, flags), (24, flags), (64, NONE))
    assert plan.members == {0: (8, 16, 40)}
    assert "\nmembers 0 3 8 16 40\n" in plan_text(plan)
    assert plan.write_bytes == 100 * (8 + 24 + 64)


def test_whole_compounds_need_no_members() -> None:
    assert planned((64, NONE)).members == {}


def test_a_converted_compound_has_members_that_can_change_places() -> None:
    plan = planned((64, EventFlag.CONVERTED), (72, EventFlag.CONVERTED))
    assert plan.members == {0: (32, 32)}
    kept = plan.sections[0]["flags"] & EventFlag.CONVERTED
    assert (kept != 0).sum() == 2


@pytest.mark.parametrize(
    ("flags", "of_object", "reason"),
    [
        (NONE, {"storage": "filtered"}, "filters"),
        (EventFlag.CONVERTED, {"type_class": "other"}, "converts values of a type"),
    ],
)
def test_what_would_not_be_the_same_calls_is_refused(
    flags: EventFlag, of_object: dict[str, object], reason: str
) -> None:
    with pytest.raises(UsageError, match=reason):
        planned((64, flags), **of_object)


def test_numbers_are_converted_without_members() -> None:
    plan = planned((8, EventFlag.CONVERTED), type_class="float", element_bytes=8)
    assert (plan.members, plan.notes) == ({}, ())


def test_properties_that_the_program_set_are_set_again() -> None:
    profile = RunProfile(
        source="", n_ranks=1, n_processes=1, hosts=(), start=0.0, paths=(OUT,),
        counters=np.zeros(0, COUNTER_ROW),
    )  # fmt: skip
    profile = dataclasses.replace(
        profile, properties={0: {"coll_metadata_write": "1", "alignment": "1024,65536"}}
    )
    text = plan_text(build_plan(script((64, NONE)).trace(), profile))
    assert "\nproperty 0 coll_metadata_write 1\nproperty 0 alignment 1024,65536\n" in text


def test_what_hdf5_writes_when_the_program_has_ended_is_left_to_the_replays_hdf5() -> None:
    run = script((64, NONE))
    run.rows.pop()  # the file is left open
    inside = {"depth": 1, "parent": 0, "offset": 6}
    run.call(0, IoLayer.MPIIO, Op.OPEN, "MPI_File_open", OUT, **inside)
    run.call(0, IoLayer.MPIIO, Op.WRITE, "MPI_File_write_at", OUT, bytes=664)
    plan = build_plan(run.trace())
    assert not [verb for verb in plan.verbs if verb.startswith("mpiio")]
