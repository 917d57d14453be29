# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from stripewise.centre.database._engine import create_engine
from stripewise.centre.database._schema import initialise
from stripewise.centre.database.accounts import Accounts, Attempts
from support.clock import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("empty") / "fleet.sqlite"
    made = create_engine(str(path))
    initialise(made)
    made.dispose()
    return path


@pytest.fixture
def engine(tmp_path: Path, empty_database: Path) -> Iterator[Engine]:
    shutil.copy(empty_database, tmp_path / "fleet.sqlite")
    made = create_engine(str(tmp_path / "fleet.sqlite"))
    yield made
    made.dispose()


@pytest.fixture
def accounts(engine: Engine, clock: Clock) -> Accounts:
    return Accounts(engine, now=clock)


@pytest.fixture
def attempts(engine: Engine, clock: Clock) -> Attempts:
    return Attempts(engine, now=clock)
