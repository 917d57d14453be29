# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Directories of two baselines and a candidate."""
    made = tuple(tmp_path / name for name in "abc")
    for path in made:
        path.mkdir()
    return made  # type: ignore[return-value]
