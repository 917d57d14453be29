# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Creates, changes and disables accounts, checks passwords, and records who manages a project."""

from __future__ import annotations

from functools import cache
from threading import BoundedSemaphore
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, delete, select, update

from stripewise.centre.database.accounts._desk import (
    ROLES,
    Account,
    Desk,
    account_of,
    account_query,
    find_account,
    is_login,
    need_account,
)
from stripewise.centre.database.store._jobs import put
from stripewise.centre.database.tables._access import Principal, Session, Token
from stripewise.centre.database.tables._jobs import Member, Person, Project
from stripewise.core.errors import LoginError, UsageError
from stripewise.core.extras import require
from stripewise.settings.tunables import suggest

if TYPE_CHECKING:
    from argon2 import PasswordHasher


class Accounts(Desk):
    """The accounts of a database; every change is recorded in the audit trail."""

    def make(
        self, login: str, *, by: str, role: str = "user", person: str | None = None,
        password: str = "",
    ) -> Account:  # fmt: skip
        """Create an account.

        Args:
            login: Name of the account.
            by: Login of whoever creates it, for the audit trail.
            role: One of `ROLES`.
            person: User whose jobs are the account's own; None for the user of the same name; ""
                for nobody.
            password: Local password; "" if the account logs in by another back end.

        Raises:
            UsageError: The name cannot be used or is taken, the role is unknown, or the password
                is too short.
        """
        _check_login(login)
        _check_role(role)
        stored = hash_password(password) if password else None
        with self.writing() as connection:
            if find_account(connection, login) is not None:
                raise UsageError(f"an account called {login!r} exists: choose another name")
            self._add(connection, login, role, login if person is None else person, stored)
            self.audit(connection, by, "account made", f"{login} as {role}")
            return need_account(connection, login)

    def find(self, login: str) -> Account | None:
        """Return an account by its name, or None if there is none."""
        with self.reading() as connection:
            return find_account(connection, login)

    def list(self) -> list[Account]:
        """Return all accounts, sorted by name."""
        with self.reading() as connection:
            rows = connection.execute(account_query().order_by(Principal.login))
            return [account_of(row) for row in rows]

    def disable(self, login: str, *, by: str) -> None:
        """Lock an account: its sessions end and its tokens are revoked.

        Args:
            login: Name of the account.
            by: Login of whoever does it, for the audit trail.

        Raises:
            UsageError: There is no such account.
        """
        with self.writing() as connection:
            account = need_account(connection, login)
            self._change(connection, account, by, "account disabled", is_disabled=True)
            connection.execute(delete(Token).where(Token.principal_id == account.id))

    def enable(self, login: str, *, by: str) -> None:
        """Unlock an account.

        Args:
            login: Name of the account.
            by: Login of whoever does it, for the audit trail.

        Raises:
            UsageError: There is no such account.
        """
        with self.writing() as connection:
            account = need_account(connection, login)
            self._change(connection, account, by, "account enabled", is_disabled=False)

    def set_password(self, login: str, password: str, *, by: str) -> None:
        """Set a local password, or remove it with "". All sessions of the account end.

        Args:
            login: Name of the account.
            password: The new password.
            by: Login of whoever does it, for the audit trail.

        Raises:
            UsageError: There is no such account, or the password is too short.
        """
        stored = hash_password(password) if password else None
        action = "password set" if password else "password removed"
        with self.writing() as connection:
            self._change(connection, need_account(connection, login), by, action, password=stored)

    def set_role(self, login: str, role: str, *, by: str) -> None:
        """Change the role of an account; all its sessions end.

        Args:
            login: Name of the account.
            role: One of `ROLES`.
            by: Login of whoever does it, for the audit trail.

        Raises:
            UsageError: There is no such account or role.
        """
        _check_role(role)
        with self.writing() as connection:
            account = need_account(connection, login)
            self._change(connection, account, by, f"role set to {role}", role=role)

    def link(self, login: str, person: str, *, by: str) -> None:
        """Set whose jobs are an account's own; all its sessions end.

        Args:
            login: Name of the account.
            person: User name at the centre; "" for nobody.
            by: Login of whoever does it, for the audit trail.

        Raises:
            UsageError: There is no such account.
        """
        with self.writing() as connection:
            account = need_account(connection, login)
            key = _person(connection, person)
            self._change(connection, account, by, "person set", person_id=key)

    def check_password(self, login: str, password: str) -> Account | None:
        """Return the account that a local password opens, or None if it opens none.

        It takes the same time for an account that does not exist, is disabled, or has no password.

        Args:
            login: Name that was typed.
            password: Password that was typed.
        """
        stored = None
        with self.reading() as connection:
            account = find_account(connection, login)
            if account is not None and not account.is_disabled:
                stored = connection.scalar(
                    select(Principal.password).where(Principal.id == account.id)
                )
        if not verify(stored, password) or account is None or stored is None:
            return None
        if fresh := renewed(stored, password):
            self._replace(account, stored, fresh)
        return account

    def admit(
        self,
        login: str,
        *,
        backend: str,
        create: bool,
        role: str | None = None,
        on: Connection | None = None,
    ) -> Account:
        """Return the account of a person whom another back end than a local password identifies.

        An account with a local password can only be opened by that password: a directory of the
            centre that has, or creates, a user of the same name does not open it.

        Args:
            login: Name that the back end reports.
            backend: Name of the back end.
            create: Whether to create an account if there is none.
            role: Role that the back end reports; None if it reports none.
            on: The caller's connection; None opens one.

        Raises:
            LoginError: There is no account, or it is disabled or belongs to another back end; the
                message is meant for the person who wants to log in.
        """
        if not is_login(login):
            raise LoginError(
                f"the login service named you {login!r}, which cannot be the name of an account "
                "here: ask the staff of the centre"
            )
        with self.reading(on) as connection:  # usually nothing changes, and nobody waits
            account = find_account(connection, login)
        if account is not None and role in (None, account.role):
            self._check_open(account)
            return account
        with self.writing(on) as connection:
            account = find_account(connection, login)
            if account is None:
                if not create:
                    raise LoginError(
                        f"you are known as {login}, but have no account in this portal: ask the "
                        "staff of the centre for one"
                    )
                self._add(connection, login, role or "user", login, None)
                self.audit(connection, backend, "account made", f"{login} as {role or 'user'}")
                return need_account(connection, login)
            self._check_open(account)
            if role is not None and role != account.role:
                self._change(connection, account, backend, f"role set to {role}", role=role)
            return need_account(connection, login)

    def _check_open(self, account: Account) -> None:
        if account.is_disabled:
            raise LoginError(
                f"the account {account.login} is disabled: ask the staff of the centre"
            )
        if account.has_password:
            raise LoginError(
                f"the account {account.login} has a password of its own: log in with that"
            )

    def _add(
        self, connection: Connection, login: str, role: str, person: str, stored: str | None
    ) -> None:
        row = {"role": role, "person_id": _person(connection, person), "password": stored}
        put(connection, Principal, {"login": login}, {}, {**row, "is_disabled": False})

    def _change(
        self, connection: Connection, account: Account, by: str, action: str, **columns: Any
    ) -> None:
        """Change an account and end its sessions, which began with other rights."""
        connection.execute(update(Principal).where(Principal.id == account.id).values(**columns))
        connection.execute(delete(Session).where(Session.principal_id == account.id))
        self.audit(connection, by, action, account.login)

    def _replace(self, account: Account, stored: str, fresh: str) -> None:
        with self.writing() as connection:
            connection.execute(
                update(Principal)
                .where(Principal.id == account.id, Principal.password == stored)
                .values(password=fresh)
            )


def _person(connection: Connection, name: str) -> int | None:
    """Return the key of a user of the centre, who need not have run a job yet."""
    if not name:
        return None
    if len(name) > 255 or not name.isprintable():
        raise UsageError(f"{name[:40]!r} cannot be the name of a user: give one as Slurm has it")
    put(connection, Person, {"name": name}, {})
    return connection.scalar(select(Person.id).where(Person.name == name))


def _check_login(login: str) -> None:
    if not is_login(login):
        raise UsageError(
            f"{login[:40]!r} cannot be the name of an account: use letters, digits and _.@+-, "
            "the first one a letter, a digit or _"
        )


def _check_role(role: str) -> None:
    if role not in ROLES:
        raise UsageError(f"no role is called {role!r}: choose {', '.join(ROLES)}")


# Local passwords are hashed by Argon2id with the RFC 9106 parameters that argon2-cffi chose.

FEWEST_SIGNS = 12
MOST_SIGNS = 1024
_TURNS = BoundedSemaphore(4)
"""Each hash takes 64 MiB: in a flood of logins, further ones wait, and do not fill the memory."""


def hash_password(password: str) -> str:
    """Return the hash of a new password.

    Raises:
        UsageError: The password is too short, too long, or not text.
    """
    if not FEWEST_SIGNS <= len(password) <= MOST_SIGNS:
        raise UsageError(
            f"a password of {len(password)} characters cannot be used: "
            f"choose {FEWEST_SIGNS} to {MOST_SIGNS}"
        )
    if not _is_text(password):
        raise UsageError("the password is not UTF-8 text: choose another one")
    with _TURNS:
        return _hasher().hash(password)


def verify(stored: str | None, password: str) -> bool:
    """Return whether a password matches a hash; without a hash, the check takes the same time.

    So the time of an answer does not reveal which accounts exist.

    Args:
        stored: The hash; None if there is no account, or it has no password.
        password: Password that was typed.
    """
    from argon2.exceptions import InvalidHashError, VerificationError

    usable = 0 < len(password) <= MOST_SIGNS and _is_text(password)
    try:
        with _TURNS:
            right = _hasher().verify(stored or _dummy_hash(), password if usable else "-")
    except (VerificationError, InvalidHashError):
        return False
    return right and usable and stored is not None


def renewed(stored: str, password: str) -> str | None:
    """Return a hash with the current parameters, or None if the stored one already has them.

    Args:
        stored: The stored hash.
        password: Password that the hash belongs to.
    """
    if not _hasher().check_needs_rehash(stored):
        return None
    with _TURNS:
        return _hasher().hash(password)


def _is_text(password: str) -> bool:
    try:
        password.encode()
    except UnicodeEncodeError:
        return False
    return True


@cache
def _hasher() -> PasswordHasher:
    require("web", "a local password")
    from argon2 import PasswordHasher

    return PasswordHasher()


@cache
def _dummy_hash() -> str:
    """Return the hash of a password that nobody knows."""
    import secrets

    return _hasher().hash(secrets.token_urlsafe(32))


# Managers of projects.


class Managers(Desk):
    """The managers of projects, who see all jobs of their projects."""

    def grant(self, user: str, project: str, *, by: str) -> None:
        """Make a user a manager of a project.

        Args:
            user: An account, or a user of the centre who has none yet.
            project: Name of the project in Slurm.
            by: Login of whoever does it, for the audit trail.

        Raises:
            UsageError: There is no such user or project.
        """
        self._set(user, project, True, by)

    def revoke(self, user: str, project: str, *, by: str) -> None:
        """Make a manager of a project a plain member again.

        Args:
            user: An account, or a user of the centre who has none.
            project: Name of the project in Slurm.
            by: Login of whoever does it, for the audit trail.

        Raises:
            UsageError: There is no such user or project, or the user does not manage it.
        """
        self._set(user, project, False, by)

    def list(self) -> list[tuple[str, str]]:
        """Return the pairs (project, user who manages it), sorted by name."""
        query = (
            select(Project.name, Person.name)
            .join(Member, Member.project_id == Project.id)
            .join(Person, Person.id == Member.person_id)
            .where(Member.is_manager.is_(True))
            .order_by(Project.name, Person.name)
        )
        with self.reading() as connection:
            return [(row[0], row[1]) for row in connection.execute(query)]

    def _set(self, user: str, project: str, is_manager: bool, by: str) -> None:
        with self.writing() as connection:
            key = {"project_id": _project(connection, project),
                   "person_id": _person_managers(connection, user)}  # fmt: skip
            now = connection.scalar(select(Member.is_manager).filter_by(**key))
            if not is_manager and not now:
                raise UsageError(f"{user} does not manage {project}: nothing is to be revoked")
            put(connection, Member, key, {"is_manager": is_manager})
            action = "manager granted" if is_manager else "manager revoked"
            self.audit(connection, by, action, f"{user} of {project}")


def _project(connection: Connection, name: str) -> int:
    found = connection.scalar(select(Project.id).where(Project.name == name))
    if found is None:
        names = list(connection.scalars(select(Project.name).limit(10_000)))
        raise UsageError(
            f"no job of a project called {name!r} is in the database: ingest its jobs "
            f"first{suggest(name, names)}"
        )
    return found


def _person_managers(connection: Connection, user: str) -> int:
    account = find_account(connection, user)
    if account is not None:
        if account.person_id is None:
            raise UsageError(
                f"the account {user} is not linked to a user of the centre: link it first "
                "(`stripewise centre user person`)"
            )
        return account.person_id
    found = connection.scalar(select(Person.id).where(Person.name == user))
    if found is None:
        raise UsageError(f"{user!r} has neither an account nor a job: check the name")
    return found
