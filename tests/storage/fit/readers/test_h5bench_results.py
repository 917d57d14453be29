# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""h5bench's results: CSV of both generations, text, and damage."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from foreign.rendered.others import fio_text, h5bench_csv, h5bench_text
from stripewise.core.errors import UsageError
from stripewise.storage.results import Data, Test, read_tests

GIVEN: dict[str, Any] = {
    "operation": "write", "ranks": 32, "bytes": 64 << 30, "raw_seconds": 12.5,
    "observed_seconds": 16.25, "metadata_seconds": 0.125, "collective": True,
}  # fmt: skip


def read(tmp_path: Path, text: str) -> tuple[Test, ...]:
    path = tmp_path / "given"
    path.write_text(text)
    return read_tests([path], 8).tests


@pytest.mark.parametrize("text", [h5bench_csv(GIVEN), h5bench_csv({**GIVEN, "old": True})])
def test_the_rate_is_that_of_the_whole_run(tmp_path: Path, text: str) -> None:
    (test,) = read(tmp_path, text)
    assert (test.program, test.nodes, test.ranks) == ("h5bench", 4, 32)
    assert test.work == Data("hdf5", "shared", "collective")
    (timed,) = test.timed
    assert timed.amount == 64 << 30
    assert timed.seconds == pytest.approx(16.25, rel=1e-3)
    assert timed.phases == {"transfer": 12.5, "metadata": 0.125}


def test_an_output_has_a_run_for_each_table(tmp_path: Path) -> None:
    parts = (h5bench_text(GIVEN), h5bench_text({**GIVEN, "operation": "read"}))
    write, read_back = read(tmp_path, "\n".join(parts))
    assert write.rates("write") == pytest.approx((64 * 2**30 / 16.25,), rel=1e-3)
    assert read_back.rates("read") == pytest.approx((64 * 2**30 / 16.25,), rel=1e-3)


def test_what_is_not_in_it_is_said(tmp_path: Path) -> None:
    small = {**GIVEN, "bytes": 256 << 20, "old": True}
    with pytest.raises(UsageError, match="counts only whole GB"):
        read(tmp_path, h5bench_csv(small))
    text = h5bench_csv(GIVEN).replace("observed time, 16.250", "observed time, 160.250")
    with pytest.raises(UsageError, match=r"it took 160 s: the file is damaged"):
        read(tmp_path, text)


def test_outputs_that_are_not_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is output of fio, which is not read"):
        read(tmp_path, fio_text({"rate": 512}))
