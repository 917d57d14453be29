# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Engine

from stripewise.centre.database._engine import create_engine
from stripewise.centre.database._schema import initialise


@pytest.fixture
def base(tmp_path: Path) -> Engine:
    engine = create_engine(str(tmp_path / "base.sqlite"))
    initialise(engine)
    return engine
