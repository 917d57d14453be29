# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""IOR's CSV, which says neither segments nor how many files: the rows of a test tell together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from stripewise.core.errors import UsageError
from stripewise.storage.results import Test, read_tests

CSV = Path(__file__).parent / "data" / "ior-fpp.csv"
MIB = 1 << 20


def test_csv_says_what_it_does_not_know() -> None:
    with pytest.raises(UsageError, match="--ranks-per-node"):
        read_tests([CSV])
    (test,) = read_tests([CSV], 2).tests
    assert [rate / MIB for rate in test.rates("write")] == pytest.approx([7632.9463, 10255.022])
    assert [rate / MIB for rate in test.rates("read")] == pytest.approx([26630.5016, 33825.0323])
    assert {one.amount for one in test.timed} == {2 * MIB}
    assert len(test.notes) == 1
    assert "does not say the API" in test.notes[0]


def csv_of(place: Path, rows: Sequence[tuple[float, float]]) -> Test:
    """Return what is read of writes by two ranks, of one MiB each: MiB a second, seconds."""
    header = CSV.read_text().splitlines()[0]
    lines = [f"write,{rate:.4f},1,0.0001,1024.0,256.0,0.0,0.0,0.0,{seconds:.4f},2,{repeat}"
             for repeat, (rate, seconds) in enumerate(rows)]  # fmt: skip
    file = place / "a.csv"
    file.write_text("\n".join([header, *lines]))
    (test,) = read_tests([file], 2).tests
    return test


@pytest.mark.parametrize(
    ("rows", "amounts", "said"),
    [
        # 52 us are printed as 0.0001 s: the repeat that took longer says that it is one segment.
        ([(38461.5, 52e-6), (1000, 2e-3)], [2, 2], ""),
        ([(38461.5, 52e-6)], [2], "too short to determine the segments: 1 are assumed"),
        ([(300, 2), (400, 1.5), (40, 1.5)], [600, 600, 60], "moved different amounts"),
        ([(3, 2), (4, 1.5), (4, 2)], [6, 6], "write 3 is left out"),
        ([(300, 1), (320.5, 1), (333.3, 1)], [300, 320.5, 333.3], "moved different amounts"),
    ],
)
def test_what_a_csv_moved(
    tmp_path: Path, rows: list[tuple[float, float]], amounts: list[float], said: str
) -> None:
    test = csv_of(tmp_path, rows)
    assert [one.amount / MIB for one in test.timed] == pytest.approx(amounts)
    assert [one.rate / MIB for one in test.timed] == pytest.approx(
        [rate for (rate, _), _ in zip(rows, amounts, strict=False)], rel=1e-4
    )
    assert any(said in one for one in test.notes)
    assert len(test.notes) == 1 + bool(said)


@pytest.mark.parametrize("total", ["1e300", "9223372036854775807", "-1", "nan", "0x1"])
def test_a_csv_row_with_an_impossible_time_is_left_out(tmp_path: Path, total: str) -> None:
    lines = CSV.read_text().splitlines()
    cells = lines[1].split(",")
    lines[1] = ",".join((*cells[:9], total, *cells[10:]))
    file = tmp_path / "a.csv"
    file.write_text("\n".join(lines))
    found = read_tests([file], 2)
    assert len(found.tests[0].rates("write")) == 1
    assert "a row cannot be read" in found.notes[0]
