# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pytest
from sqlalchemy import Engine

from stripewise.centre.database._records import SampleRecord
from stripewise.centre.database.store import Load, store_job_loads
from stripewise.centre.database.store._samples import DAY, store_growth
from stripewise.centre.database.upkeep import prune, status

T0 = 1_700_000_000


def fill(engine: Engine) -> None:
    with engine.execution_options(writing=True).begin() as connection:
        for target in ("OST0000", "OST0001"):
            values = tuple((T0 + 60 * number, 60.0, 1.0) for number in range(1440))
            store_growth(connection, [
                SampleRecord("scratch", "oss1", target, "read_bytes", "bytes", True, values)
            ])  # fmt: skip
        loads = [Load("scratch", str(n), "read", T0 + 60 * n, 60.0, 1, 1) for n in range(1, 1440)]
        store_job_loads(connection, "", "oss1", loads)


@pytest.mark.extended(keep=1)
def test_sizes_of_tables_and_of_a_target_in_a_year(engine: Engine) -> None:
    assert status(engine).target_year_bytes is None
    fill(engine)
    found = status(engine)
    assert found.counts["loads"] == 1439
    assert {"sample", "rollup", "job_load"} <= {name for name, _ in found.largest_tables}
    assert found.target_year_bytes is not None
    assert (1 << 20) < found.target_year_bytes < (1 << 28)


@pytest.mark.extended(keep=1)
def test_prune_tells_of_counters_of_jobs(engine: Engine) -> None:
    fill(engine)
    assert prune(engine, T0 + 30 * DAY).loads == 0
    gone = prune(engine, T0 + 100 * DAY)
    assert (gone.loads, status(engine).counts["loads"]) == (1439, 0)
