# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from stripewise.centre.database._engine import create_engine
from stripewise.centre.database._schema import initialise
from support.portal_crawl import addresses
from support.portal_world import World, make_world, stop_time


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """The centre with bob; tests that change something take `own_world`."""
    engine = _engine(tmp_path_factory.mktemp("world"))
    yield make_world(engine)
    engine.dispose()


@pytest.fixture(scope="session")
def without_bob(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """The same centre, in which bob never ran a job."""
    engine = _engine(tmp_path_factory.mktemp("without"))
    yield make_world(engine, with_bob=False)
    engine.dispose()


@pytest.fixture(scope="session")
def everything(world: World) -> list[str]:
    """Addresses that lead to all there is."""
    with pytest.MonkeyPatch.context() as patch:
        stop_time(patch)
        return addresses(world, ("bob", "admin", "alice"))


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    made = _engine(tmp_path)
    yield made
    made.dispose()


@pytest.fixture
def own_world(engine: Engine) -> World:
    return make_world(engine)


@pytest.fixture(autouse=True)
def stopped_time(monkeypatch: pytest.MonkeyPatch) -> None:
    stop_time(monkeypatch)


def _engine(directory: Path) -> Engine:
    made = create_engine(str(directory / "fleet.sqlite"))
    initialise(made)
    return made
