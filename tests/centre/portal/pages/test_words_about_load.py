# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What is said of the load beside a job: no more than the figures tell."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from stripewise.centre.database.queries import ServiceBeside, StorageLoad
from stripewise.centre.database.queries._load import KindService
from stripewise.centre.database.queries._service import SlowTarget
from stripewise.centre.portal.pages._job_files import served
from stripewise.centre.portal.pages._job_load import metadata_words, service_words, verdict

LOAD = StorageLoad("scratch", 0, 60, 10, 60, [0], [0.0], [0.0], 100.0, 1.0, 0.95, 500)
SAME = ServiceBeside([KindService("OST", 0.006, 0.005)], [])
LONGER = ServiceBeside([KindService("OST", 0.010, 0.005)], [])
SLOW = ServiceBeside([KindService("OST", 0.006, None)], [SlowTarget("OST0003", 0.04, 0.006)])
UNKNOWN = ServiceBeside([KindService("OST", None, 0.005)], [])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"service": LONGER}, "Others, at least in part"),
        ({"service": SLOW}, "Others, at least in part"),
        ({"service": None}, "Others may be part of it"),
        ({"service": UNKNOWN}, "Others may be part of it"),
        ({"service": SAME}, "Others were busy, but that does not show in its times"),
        ({"busier_than": 0.5, "service": SAME}, "The bytes that were moved do not point to"),
        ({"busier_than": 0.5, "service": LONGER}, "Operations took longer than usual, and the"),
        ({"busier_than": 0.5, "service": SLOW}, "The load of others does not explain it"),
        ({"job_bytes": 60, "service": SAME}, "Mostly this job: it moved 60 % of all"),
        ({"job_bytes": 60, "service": SLOW}, "Mostly this job: it moved 60 % of all"),
    ],
)
def test_verdict(given: dict[str, Any], said: str) -> None:
    assert verdict(replace(LOAD, **given)).startswith(said)


def test_who_moves_most_at_a_slow_target_is_told_of_it() -> None:
    assert "may have cost time as well" in verdict(replace(LOAD, job_bytes=60, service=SLOW))
    assert "slow" not in verdict(replace(LOAD, job_bytes=60, service=SAME))


def test_a_run_far_shorter_than_a_sample_is_not_judged_by_what_came_around_it() -> None:
    short = replace(LOAD, end=10, job_bytes=25, resolution_seconds=120, service=LONGER)
    said = verdict(short)
    assert said.startswith("The run took 10 s, too short for the counters")
    assert "moved 25 % of all that scratch moved in the 2 min around the run" in said
    most = verdict(replace(short, job_bytes=60))
    assert most.startswith("Mostly this job: it moved 60 % of all that scratch moved in the 2")
    assert "during the run" in verdict(replace(short, end=100))


def test_with_what_a_slow_target_is_compared() -> None:
    own = replace(SLOW, slow=[SlowTarget("OST0003", 0.04, 0.006, is_own=True)])
    assert service_words(SLOW) == ["OST0003 was slow: 40 ms an operation, the others 6 ms."]
    assert service_words(own) == ["OST0003 was slow: 40 ms an operation, usual 6 ms."]


@pytest.mark.parametrize(("operations", "is_said"), [(None, False), (12, True)])
def test_what_is_not_counted_is_not_called_few(operations: int | None, is_said: bool) -> None:
    one = SimpleNamespace(
        file_system="scratch", kind="write", operations=operations, moved_bytes=1 << 30,
        request_bytes=1 << 20, operation_seconds=None, first_at=0.0, last_at=1.0, sizes={},
        parts={},
    )  # fmt: skip
    view: Any = SimpleNamespace(sources=[], row={"run_seconds": 60.0})
    blocks = served(view, [one], {})  # type: ignore[list-item]
    assert ("served_next" in {block.name for block in blocks}) is is_said


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"job_operations_share": 0.9}, ["Mostly this job, by metadata operations: this job ma"]),
        ({"job_operations_share": 0.2}, []),
        ({"job_operations_share": None, "job_bytes": None}, []),
        ({"job_operations_share": 0.2, "job_bytes": None},
         ["This job made 20 % of all metadata operations of scratch during the run."]),
    ],
)  # fmt: skip
def test_metadata_operations_are_told_where_they_decide(
    given: dict[str, Any], said: list[str]
) -> None:
    found = metadata_words(replace(LOAD, **given))
    assert [text[: len(words)] for text, words in zip(found, said, strict=True)] == said


def test_the_name_of_a_file_system_is_told_as_it_is() -> None:
    load = replace(LOAD, file_system="WorkA", job_operations_share=0.2, job_bytes=None)
    assert "operations of WorkA during" in metadata_words(load)[0]
