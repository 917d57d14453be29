# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import func, inspect, select

from stripewise.centre.database import create_engine, initialise
from stripewise.centre.database.tables import Base, Job, JobFile, JobSource

pytest.importorskip("darshan")
import fleet_scale
import fleet_scale_data

JOBS = 300


@pytest.mark.extended
def test_the_database_is_filled_and_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = create_engine(str(tmp_path / "fleet.sqlite"))
    initialise(engine)
    fleet_scale_data.fill(engine, JOBS)
    with engine.connect() as connection:
        assert connection.scalar(select(func.count()).select_from(Job)) == JOBS
        sources = connection.scalar(select(func.count()).select_from(JobSource)) or 0
        assert sources == pytest.approx(fleet_scale_data.PROFILED * JOBS, rel=0.2)
        assert (connection.scalar(select(func.count()).select_from(JobFile)) or 0) > 4 * sources
        kept = {index["name"] for index in inspect(connection).get_indexes("job")}
    assert {index.name for index in Base.metadata.tables["job"].indexes} <= kept
    monkeypatch.setattr(fleet_scale, "SORTS", ("start_at", "io_seconds"))
    rows = list(fleet_scale.measured("sqlite", engine))
    assert [row.count for row in rows if "first" in row.what] == [4 * len(fleet_scale.FILTERS)] * 4
    assert rows[-1].count == fleet_scale.PAGES
    assert all(0 < row.p50_seconds <= row.p95_seconds for row in rows if row.count)
