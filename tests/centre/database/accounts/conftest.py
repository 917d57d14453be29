# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pytest
from sqlalchemy import Engine

from stripewise.centre.database.accounts import Accounts, Attempts, Managers, Sessions, Tokens
from support.audit_trail import AuditTrail
from support.clock import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def accounts(engine: Engine, clock: Clock) -> Accounts:
    return Accounts(engine, now=clock)


@pytest.fixture
def sessions(engine: Engine, clock: Clock) -> Sessions:
    return Sessions(engine, now=clock)


@pytest.fixture
def tokens(engine: Engine, clock: Clock) -> Tokens:
    return Tokens(engine, now=clock)


@pytest.fixture
def attempts(engine: Engine, clock: Clock) -> Attempts:
    return Attempts(engine, now=clock)


@pytest.fixture
def managers(engine: Engine, clock: Clock) -> Managers:
    return Managers(engine, now=clock)


@pytest.fixture
def trail(engine: Engine, clock: Clock) -> AuditTrail:
    return AuditTrail(engine, now=clock)
