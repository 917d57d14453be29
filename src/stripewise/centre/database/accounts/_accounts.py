# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Makes, changes and disables accounts, checks passwords, and says who manages a project."""

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
    """The accounts of a database; every change is in the audit trail."""

    def make(
        self, login: str, *, by: str, role: str = "user", person: str | None = None,
        password: str = "",
    ) -> Account:  # fmt: skip
        """Make an account.

        Args:
            login: Its name.
            by: Who makes it, for the audit trail.
            role: One of `ROLES`.
            person: Whose jobs are its own; None: those of the user of its name; "": nobody's.
            password: Local; "": it logs in by another back end.

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
        """Return an account by its name; None: there is none."""
        with self.reading() as connection:
            return find_account(connection, login)

    def list(self) -> list[Account]:
        """Return all accounts, by name."""
        with self.reading() as connection:
            rows = connection.execute(account_query().order_by(Principal.login))
            return [account_of(row) for row in rows]

    def disable(self, login: str, *, by: str) -> None:
        """Let an account in no more: its sessions end, its tokens are revoked.

        Args:
            login: Its name.
            by: Who does it.

        Raises:
            UsageError: There is no such account.
        """
        with self.writing() as connection:
            account = need_account(connection, login)
            self._change(connection, account, by, "account disabled", is_disabled=True)
            connection.execute(delete(Token).where(Token.principal_id == account.id))

    def enable(self, login: str, *, by: str) -> None:
        """Let an account in again.

        Args:
            login: Its name.
            by: Who does it.

        Raises:
            UsageError: There is no such account.
        """
        with self.writing() as connection:
            account = need_account(connection, login)
            self._change(connection, account, by, "account enabled", is_disabled=False)

    def set_password(self, login: str, password: str, *, by: str) -> None:
        """Set a local password; "" takes it away. All sessions of the account end.

        Args:
            login: Of the account.
            password: The new one.
            by: Who does it.

        Raises:
            UsageError: There is no such account, or the password is too short.
        """
        stored = hash_password(password) if password else None
        action = "password set" if password else "password removed"
        with self.writing() as connection:
            self._change(connection, need_account(connection, login), by, action, password=stored)

    def set_role(self, login: str, role: str, *, by: str) -> None:
        """Give an account another role; all its sessions end.

        Args:
            login: Of the account.
            role: One of `ROLES`.
            by: Who does it.

        Raises:
            UsageError: There is no such account or role.
        """
        _check_role(role)
        with self.writing() as connection:
            account = need_account(connection, login)
            self._change(connection, account, by, f"role set to {role}", role=role)

    def link(self, login: str, person: str, *, by: str) -> None:
        """Say whose jobs are an account's own; all its sessions end.

        Args:
            login: Of the account.
            person: User name of the centre; "": nobody's.
            by: Who does it.

        Raises:
            UsageError: There is no such account.
        """
        with self.writing() as connection:
            account = need_account(connection, login)
            key = _person(connection, person)
            self._change(connection, account, by, "person set", person_id=key)

    def check_password(self, login: str, password: str) -> Account | None:
        """Return the account that a local password opens; None: it opens none.

        The same work is done for an account that does not exist, is disabled, or has no password.

        Args:
            login: What was typed as name.
            password: What was typed as password.
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
        """Return the account of somebody whom another back end than a local password names.

        An account with a local password belongs to that password alone: a directory of the
        centre that has, or makes, a user of its name does not open it.

        Args:
            login: The name, by the back end.
            backend: Its name.
            create: Make an account if there is none.
            role: What the back end says; None: it does not say.
            on: The caller's connection; None: one is opened.

        Raises:
            LoginError: There is no account, or it is disabled or another back end's; the message
                is for who wants to log in.
        """
        if not is_login(login):
            raise LoginError(
                f"the login service named you {login!r}, which cannot be the name of an account "
                "here: ask the staff of the centre"
            )
        with self.reading(on) as connection:  # as a rule nothing changes, and nobody waits
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
        """Change an account, and end its sessions: they began under other conditions."""
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


# Hashes of local passwords: Argon2id with the parameters of RFC 9106 that argon2-cffi chose.

FEWEST_SIGNS = 12
MOST_SIGNS = 1024
_TURNS = BoundedSemaphore(4)
"""Each takes 64 MiB: a flood of logins waits, and does not fill the memory."""


def hash_password(password: str) -> str:
    """Return the hash of a new password.

    Raises:
        UsageError: It is too short, too long, or no text.
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
    """Return whether a password is that of a hash; without a hash it takes the same time.

    So that the time of an answer does not tell which accounts exist.

    Args:
        stored: The hash; None: there is no account, or it has no password.
        password: What somebody typed.
    """
    from argon2.exceptions import InvalidHashError, VerificationError

    usable = 0 < len(password) <= MOST_SIGNS and _is_text(password)
    try:
        with _TURNS:
            right = _hasher().verify(stored or _nobodys(), password if usable else "-")
    except (VerificationError, InvalidHashError):
        return False
    return right and usable and stored is not None


def renewed(stored: str, password: str) -> str | None:
    """Return a hash with the parameters of new ones; None: the stored one has them.

    Args:
        stored: The hash.
        password: Which it is of.
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
def _nobodys() -> str:
    """Return a hash of a password that nobody knows."""
    import secrets

    return _hasher().hash(secrets.token_urlsafe(32))


# Who manages which project.


class Managers(Desk):
    """The managers of projects; they see all jobs of theirs."""

    def grant(self, user: str, project: str, *, by: str) -> None:
        """Make a user a manager of a project.

        Args:
            user: An account, or a user of the centre who has none yet.
            project: As Slurm names it.
            by: Who does it.

        Raises:
            UsageError: There is no such user or project.
        """
        self._set(user, project, True, by)

    def revoke(self, user: str, project: str, *, by: str) -> None:
        """Make a user a plain member of a project again.

        Args:
            user: An account, or a user of the centre who has none.
            project: As Slurm names it.
            by: Who does it.

        Raises:
            UsageError: There is no such user or project, or they do not manage it.
        """
        self._set(user, project, False, by)

    def list(self) -> list[tuple[str, str]]:
        """Return each project and a user who manages it, by name."""
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
