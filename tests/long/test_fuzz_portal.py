# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A hundred thousand random requests to the portal: none fails, none is logged as an error."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Engine

from stripewise.centre.database._engine import create_engine
from stripewise.centre.database._schema import initialise
from support.amounts import share_of
from support.portal_fuzz import fuzz
from support.portal_world import make_world, stop_time
from support.postgres import Postgres

pytestmark = [pytest.mark.long, pytest.mark.timeout(3000)]

CASES = {"sqlite": 100_000, "postgresql": 10_000}


def _check(engine: Engine, cases: int, monkeypatch: pytest.MonkeyPatch) -> None:
    initialise(engine)
    stop_time(monkeypatch)
    wrong, statuses = fuzz(make_world(engine), range(cases))
    engine.dispose()
    assert wrong == []
    assert statuses[200] > cases / 20  # it does get somewhere
    assert {303, 400, 401, 403, 404, 405} <= set(statuses)


def test_random_requests_on_sqlite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = create_engine(str(tmp_path / "fleet.sqlite"))
    _check(engine, share_of(CASES["sqlite"], 1000), monkeypatch)


def test_random_requests_on_postgresql(
    postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    with postgres.database() as name:
        engine = create_engine(postgres.url(name))
        _check(engine, share_of(CASES["postgresql"], 1000), monkeypatch)
