# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the runtime library adds to nested calls is taken off the times of the calls above."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from stripewise.evidence.containers._recording import take_off_recording
from stripewise.evidence.trace import (
    COUNTER_ROW,
    PROCESS_ROW,
    TRANSFER_ROW,
    IoLayer,
    Op,
)

CALLS = 1_000_000


def processes(n: int = 1, *, samples: int = 1000, seconds: float = 3.0) -> Any:
    rows = np.zeros(n, PROCESS_ROW)
    rows["rank"] = np.arange(n)
    rows["outermost_ns"] = round(seconds * 1e9)
    for layer, cost_ns in ((IoLayer.POSIX, 100), (IoLayer.MPIIO, 300)):
        rows["own_samples"][0, layer] = samples
        rows["own_ns"][0, layer] = samples * cost_ns
    return rows


def stack(process: int = 0) -> Any:
    """One HDF5 write of 3 s that made a million calls of MPI-IO, and these as many below."""
    rows = np.zeros(3, COUNTER_ROW)
    rows["process"], rows["rank"] = process, process
    rows["layer"] = [IoLayer.HDF5, IoLayer.MPIIO, IoLayer.POSIX]
    rows["count"][:, Op.WRITE] = [1, CALLS, CALLS]
    rows["seconds"][:, Op.WRITE] = [3.0, 2.5, 1.5]
    rows["outermost_seconds"] = [3.0, 0.0, 0.0]
    return rows


def test_nested_calls_are_taken_off() -> None:
    rows, some = stack(), processes()
    transfers = np.zeros(1, TRANSFER_ROW)
    transfers["seconds"] = 3.0
    (note,) = take_off_recording(rows, transfers, some)
    assert rows["seconds"][:, Op.WRITE].tolist() == pytest.approx([2.6, 2.4, 1.5])
    assert rows["outermost_seconds"].tolist() == pytest.approx([2.6, 0.0, 0.0])
    assert some["outermost_ns"].tolist() == [2_600_000_000]
    assert transfers["seconds"].tolist() == pytest.approx([2.6])
    assert "0.4 s" in note


def test_calls_of_the_program_itself_cost_nothing_inside_their_time() -> None:
    rows, some = stack()[2:], processes(seconds=1.5)
    rows["outermost_seconds"] = 1.5
    assert take_off_recording(rows, np.zeros(0, TRANSFER_ROW), some) == ()
    assert rows["seconds"][0, Op.WRITE] == 1.5
    assert some["outermost_ns"][0] == 1_500_000_000


def test_a_process_without_samples_has_the_mean_of_all() -> None:
    rows, some = stack(process=1), processes(2)
    take_off_recording(rows, np.zeros(0, TRANSFER_ROW), some)
    assert rows["seconds"][0, Op.WRITE] == pytest.approx(2.6)
    assert some["outermost_ns"].tolist() == [3_000_000_000, 2_600_000_000]


def test_few_samples_and_earlier_libraries_change_nothing() -> None:
    for samples in (0, 10):
        rows, some = stack(), processes(samples=samples)
        assert take_off_recording(rows, np.zeros(0, TRANSFER_ROW), some) == ()
        assert rows["seconds"][0, Op.WRITE] == 3.0


def test_something_of_each_time_stays() -> None:
    rows, some = stack(), processes()
    rows["seconds"][:, Op.WRITE] = rows["outermost_seconds"] = [0.1, 0.1, 0.1]
    rows["outermost_seconds"][1:] = 0
    take_off_recording(rows, np.zeros(0, TRANSFER_ROW), some)
    assert rows["seconds"][0, Op.WRITE] == pytest.approx(0.01)


def test_no_rows() -> None:
    some = processes()
    assert take_off_recording(np.zeros(0, COUNTER_ROW), np.zeros(0, TRANSFER_ROW), some) == ()
