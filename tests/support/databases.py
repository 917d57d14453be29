# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures: databases of both kinds, empty or with tables."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy import Connection, Engine

from stripewise.centre.database._engine import create_engine
from stripewise.centre.database._schema import initialise

DATABASES = ("sqlite", "postgresql")


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("template") / "fleet.sqlite"
    engine = create_engine(str(path))
    initialise(engine)
    engine.dispose()
    return path


@pytest.fixture(scope="session")
def postgres_template(request: pytest.FixtureRequest) -> str:
    server = request.getfixturevalue("postgres")
    name = f"fleet_{uuid4().hex}"  # each directory of tests that takes this fixture makes one
    server.run(f"CREATE DATABASE {name} TEMPLATE template0")
    engine = create_engine(server.url(name))
    initialise(engine)
    engine.dispose()
    return name


@pytest.fixture(params=DATABASES)
def empty_engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """A database without tables, on each kind of server."""
    if request.param == "sqlite":
        yield from _disposed(str(tmp_path / "fleet.sqlite"))
    else:
        server = request.getfixturevalue("postgres")
        with server.database() as name:
            yield from _disposed(server.url(name))


@pytest.fixture(params=DATABASES)
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """A database with tables and nothing in them, on each kind of server."""
    if request.param == "sqlite":
        path = tmp_path / "fleet.sqlite"
        shutil.copy(request.getfixturevalue("sqlite_template"), path)
        yield from _disposed(str(path))
    else:
        server = request.getfixturevalue("postgres")
        template = request.getfixturevalue("postgres_template")
        with server.database(template) as name:
            yield from _disposed(server.url(name))


@pytest.fixture
def connection(engine: Engine) -> Iterator[Connection]:
    """A transaction for writing, which is given up at the end."""
    with engine.execution_options(writing=True).connect() as opened:
        yield opened


def _disposed(url: str) -> Iterator[Engine]:
    made = create_engine(url)
    yield made
    made.dispose()
