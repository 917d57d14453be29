# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Managers of projects: granted and revoked."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine, insert, select

from stripewise.centre.database.accounts import Accounts, Managers
from stripewise.centre.database.tables import Member, Person, Project
from stripewise.core.errors import UsageError
from support.audit_trail import AuditTrail


@pytest.fixture(autouse=True)
def climate(engine: Engine) -> None:
    with engine.execution_options(writing=True).begin() as connection:
        for name in ("climate", "ocean"):
            connection.execute(insert(Project).values(name=name))
        connection.execute(insert(Person).values(name="bob"))
        keys = {
            "project_id": connection.scalar(select(Project.id).where(Project.name == "climate")),
            "person_id": connection.scalar(select(Person.id).where(Person.name == "bob")),
        }
        connection.execute(insert(Member).values(**keys, is_manager=False))


def test_a_manager_is_granted_and_revoked(
    accounts: Accounts, managers: Managers, trail: AuditTrail
) -> None:
    accounts.make("a.liddell", by="root", person="alice")
    managers.grant("a.liddell", "climate", by="root")
    managers.grant("bob", "climate", by="root")
    managers.grant("bob", "climate", by="root")
    managers.grant("bob", "ocean", by="root")
    assert managers.list() == [("climate", "alice"), ("climate", "bob"), ("ocean", "bob")]
    managers.revoke("bob", "climate", by="carol")
    assert managers.list() == [("climate", "alice"), ("ocean", "bob")]
    newest = trail.list(most=1)[0]
    assert (newest.login, newest.action, newest.target) == (
        "carol", "manager revoked", "bob of climate",
    )  # fmt: skip


def test_a_member_stays_one(engine: Engine, managers: Managers) -> None:
    managers.grant("bob", "climate", by="root")
    managers.revoke("bob", "climate", by="root")
    with engine.begin() as connection:
        assert connection.execute(select(Member.is_manager)).all() == [(False,)]


def test_what_is_not_there_is_named(accounts: Accounts, managers: Managers) -> None:
    accounts.make("staff", by="root", person="")
    with pytest.raises(UsageError, match=r"'climat' is in the .*, did you mean climate\?"):
        managers.grant("bob", "climat", by="root")
    with pytest.raises(UsageError, match="'nobody' has neither an account nor a job"):
        managers.grant("nobody", "climate", by="root")
    with pytest.raises(UsageError, match="staff is not linked to a user"):
        managers.grant("staff", "climate", by="root")
    with pytest.raises(UsageError, match="bob does not manage climate"):
        managers.revoke("bob", "climate", by="root")
    assert managers.list() == []
