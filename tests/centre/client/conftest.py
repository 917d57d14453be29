# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from stripewise.centre.database._engine import create_engine
from stripewise.centre.database._schema import initialise


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """A database with tables and nothing in them."""
    made = create_engine(str(tmp_path / "fleet.sqlite"))
    initialise(made)
    yield made
    made.dispose()
