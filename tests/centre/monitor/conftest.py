# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Files of tests as an administrator makes them: others may not change them."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _usual_permissions() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)
