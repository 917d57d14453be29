# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A small centre whose user bob can be recognised in every name and figure, and its portal.

Two worlds are equal but for bob's jobs: whoever may not see these gets the same answers in both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from sqlalchemy import Engine, event, insert, select, update

from stripewise.centre.database._records import (
    EventRecord,
    JobRecord,
    PairRecord,
    Record,
    SampleRecord,
)
from stripewise.centre.database.accounts import Accounts, Managers, Sessions, Tokens
from stripewise.centre.database.store._writer import Writer
from stripewise.centre.database.tables import Job, JobSource, Ledger, PairedRun, Token
from stripewise.centre.portal import PortalSettings, create_app
from stripewise.centre.portal._settings import ServerSettings
from support.portal_jobs import document, finding, profile
from support.served_jobs import load, served

NOW = 1_780_000_000
"""2026-05-28, what the pages take for now."""
DAY = 86400
URL = "http://testserver"
OPEN = "zqopen"
"""Stands in names of bob's that he, managers of his project and staff may read."""
FILE = "zqfile"
"""Stands in names of files, and texts with them, that only he and staff may read."""
BOB = f"{OPEN}bob"
IO_SECONDS, READ_BYTES, WRITE_BYTES, LOST_SECONDS = (
    7654.3125,
    987654321987,
    876543219876,
    765432.25,
)
SERVED_BYTES, SERVED_OPENS = 765432198765, 123454321
FIGURES = ("7654.3125", "987654321987", "876543219876", "765432.25", "765432198765", "123454321")
PLAIN = "<1D, (BLOCK)>"
OWN_FORM = f"<3D, ({OPEN.upper()}, *)>"
OTHERS = ("erin", "frank", "grace")
PASSWORD = "correct horse battery"
_ONCE_A_MINUTE = ("BEGIN IMMEDIATE", "UPDATE token")
"""Statements with which the use of a token is noted: the transaction of a writer, and its work."""


@dataclass
class World:
    """A portal with its database.

    Attributes:
        app: The portal.
        jobs: Keys of jobs, by user.
        sources / pairs: Keys of what belongs to bob.
        tokens: Secret of a token, by who has it.
    """

    engine: Engine
    app: Any
    jobs: dict[str, list[int]] = field(default_factory=dict)
    sources: list[int] = field(default_factory=list)
    pairs: list[int] = field(default_factory=list)
    tokens: dict[str, str] = field(default_factory=dict)

    def headers(self, who: str) -> dict[str, str]:
        """Return the headers by which somebody is known; "" is nobody."""
        return {"authorization": f"Bearer {self.tokens[who]}"} if who else {}

    def session(self, login: str) -> tuple[dict[str, str], str]:
        """Return the headers of a new session, and its secret for forms."""
        account = Accounts(self.engine).find(login)
        assert account is not None
        made = Sessions(self.engine).start(account, backend="test")
        return {"cookie": f"stripewise={made.secret}"}, made.csrf


def make_world(engine: Engine, *, with_bob: bool = True, more_users: Iterable[str] = ()) -> World:
    """Fill a database and return its portal.

    Args:
        engine: Of a database with tables and nothing in them.
        with_bob: Bob has run jobs.
        more_users: Further ones who ran what bob and the others did.
    """
    records: list[Record] = [*_alices(), *_of_others([*OTHERS, *more_users]), *_storage()]
    records += [_job(1, "zack", "other"), _job(2, "carol", "office")]
    with engine.execution_options(writing=True).begin() as connection:
        Writer(connection).store(records)
        connection.execute(insert(Ledger).values(
            digest="d", kind="darshan", name="log", size_bytes=1, outcome="refused",
            reason=f"{FILE} is broken", at=NOW - 100))  # fmt: skip
    served(engine, [load("4711", int(NOW - 3 * DAY)), load("4715", int(NOW - DAY))])
    store_bob(engine, with_bob)
    with engine.execution_options(writing=True).begin() as connection:
        connection.execute(update(Job).values(changed_at=NOW))
    server = ServerSettings(url=URL, requests_per_minute=10**9, logins_per_minute=10**9)
    world = World(engine, create_app(engine, settings=PortalSettings(server=server)))
    _accounts(world, with_bob)
    with engine.connect() as connection:
        from stripewise.centre.database.tables import Person

        rows = connection.execute(
            select(Person.name, Job.id).join(Job, Job.person_id == Person.id).order_by(Job.id)
        )
        for name, key in rows:
            world.jobs.setdefault("bob" if name == BOB else name, []).append(key)
        of_bob = select(JobSource.id).where(JobSource.job_id.in_(world.jobs.get("bob", [])))
        world.sources = list(connection.scalars(of_bob))
        world.pairs = list(connection.scalars(select(PairedRun.id)))
    return world


def store_bob(engine: Engine, with_jobs: bool = True) -> None:
    """Store bob's jobs, after all others so that the keys of those stay the same."""
    if not with_jobs:
        return
    with engine.execution_options(writing=True).begin() as connection:
        Writer(connection).store(bobs())
        connection.execute(
            update(Job).where(Job.raw_id.in_([4711, 4712, 4713]), Job.name.contains(OPEN))
            .values(uid=9911, sluid=f"{OPEN}sluid"))  # fmt: skip
    start = int(NOW - 3 * DAY)
    of_bob = [load("4711", start, moved_bytes=SERVED_BYTES),
              load("4711", start, "metadata", parts={"open": SERVED_OPENS})]  # fmt: skip
    served(engine, of_bob, cluster="beta")


def bobs() -> list[Record]:
    """Return what bob has run: some of it lately, some long enough ago for figures of all."""
    found: list[Record] = []
    for number, days, cluster in ((4711, 3.0, "beta"), (4712, 2.0, "alpha"), (4713, 50.0, "beta")):
        start = int(NOW - days * DAY)
        found.append(
            JobRecord(
                cluster, number, start - 10, user=BOB, uid=9911, account=f"{OPEN}project",
                start_at=start, end_at=start + 9000,
                columns={"name": f"{OPEN} job", "state": "COMPLETED", "run_seconds": 9000.0,
                         "node_count": 77, "node_list": f"{OPEN}node[1-77]",
                         "partition": f"{OPEN}part", "qos": f"{OPEN}qos",
                         "unix_group": f"{OPEN}group"},
            )
        )  # fmt: skip
        found.append(_profile(number, BOB, start, cluster, _bobs_document(number)))
    # What runs under a name that all others use as well.
    start = int(NOW - 45 * DAY)
    found.append(_job(4714, BOB, f"{OPEN}project", start=start))
    found.append(_profile(4714, BOB, start, "alpha", _plain_document(4714, LOST_SECONDS)))
    found.append(PairRecord("study of bob", f"{OPEN}prog", BOB, {
        "made_at": NOW - 10 * DAY, "speedup": 3.8, "low": 3.5, "high": 4.1, "pair_count": 12,
        "elapsed_speedup": 1.2, "saved_seconds": IO_SECONDS, "node_count": 77, "rank_count": 4,
        "pattern": OWN_FORM, "verification": "identical",
        "configuration":
            f'version = 1\n\n[[file]]\nmatch = "*{FILE}*"\nmpiio = {{ cb_nodes = 4 }}\n',
        "hints": f"export MPICH_MPIIO_HINTS='*{FILE}*:cb_nodes=4'\n",
    }))  # fmt: skip
    return found


def _bobs_document(number: int) -> dict[str, Any]:
    told = finding(phrase=f"collective writes of {FILE}", text=f"calls to {FILE}",
                   evidence={"seconds": 3.2, "slowest_file": f"/{FILE}"},
                   cost_seconds=LOST_SECONDS,
                   remedy=f"Change {FILE}", tune=f"stripewise tune -- {FILE}",
                   files=[f"/scratch/{FILE}-{number}.h5"], title=f"Writes of {FILE}",
                   advice=f"Change {FILE}")  # fmt: skip
    made = document(number, [told], io_seconds=IO_SECONDS, read_bytes=READ_BYTES,
                    write_bytes=WRITE_BYTES, run_seconds=9000.0)  # fmt: skip
    made |= {"command": f"/home/{FILE}/{OPEN}prog {FILE}", "headline": f"Most in {FILE}.",
             "source": f"/logs/{FILE}.darshan",
             "patterns": [{"file": f"/scratch/{FILE}-{number}.h5", "dataset": f"/{FILE}",
                           "writing": True, "notation": f"{OWN_FORM[:-1]}, (240, 960)>",
                           "element_bytes": 8}]}  # fmt: skip
    for place, one in enumerate(made["files"]):
        one["path"] = f"/scratch/{FILE}-{number if place == 0 else place}.h5"
        one["hints"] = {"requested": {"cb_nodes": "4", "nc_burst_buf_dirname": f"/bb/{FILE}"},
                        "applied": {}, "reported": {"cb_nodes": "4"}}  # fmt: skip
    return made


def _plain_document(number: int, lost: float) -> dict[str, Any]:
    told = finding(cost_seconds=lost, files=[f"/scratch/plain-{number}.h5"], phrase=FILE)
    made = document(number, [told])
    made |= {"command": "common", "patterns": [
        {"file": f"/scratch/plain-{number}.h5", "dataset": "/d", "writing": True,
         "notation": "<1D, (BLOCK), (240)>", "element_bytes": 8}]}  # fmt: skip
    for place, one in enumerate(made["files"]):
        one["path"] = f"/scratch/plain-{number if place == 0 else place}.h5"
    return made


def _profile(number: int, user: str, start: int, cluster: str, made: Mapping[str, Any]) -> Any:
    from dataclasses import replace

    found = profile(number, user=user, start=start, made=dict(made), digest=f"{user}{number}")
    return replace(found, cluster=cluster, name=f"{FILE if user == BOB else user}{number}.darshan")


def _job(
    number: int, user: str, project: str, *, start: int = NOW - 4 * DAY, cluster: str = "alpha"
) -> JobRecord:
    return JobRecord(
        cluster, number, start - 10, user=user, account=project, start_at=start, end_at=start + 64,
        columns={"name": f"run {number}", "state": "COMPLETED", "run_seconds": 64.0,
                 "node_count": 2},
    )  # fmt: skip


def _alices() -> list[Record]:
    found: list[Record] = []
    for number, days in ((4711, 3.0), (4712, 40.0), (4715, 1.0)):
        start = int(NOW - days * DAY)
        found.append(_job(number, "alice", "blue", start=start))
        made = document(number, [finding()])
        made["command"] = "alicia"
        found.append(_profile(number, "alice", start, "alpha", made))
    return found


def _of_others(users: Iterable[str]) -> list[Record]:
    found: list[Record] = []
    for place, user in enumerate(users):
        start = NOW - 45 * DAY + 60 * place
        found.append(_job(100 + place, user, "green", start=start))
        made = _plain_document(100 + place, 3.0)
        found.append(_profile(100 + place, user, start, "alpha", made))
    return found


def _storage() -> list[Record]:
    rows = tuple((NOW - 3600 + 60 * place, 60.0, 6000.0) for place in range(60))
    full = tuple((at, seconds, 1e12) for at, seconds, _ in rows)
    found: list[Record] = [
        SampleRecord("scratch", "", "", name, "bytes", True, rows)
        for name in ("read_bytes", "write_bytes")
    ]
    found += [SampleRecord("scratch", "", "OST0", name, "bytes", False, full)
              for name in ("used_bytes", "total_bytes")]  # fmt: skip
    found += [
        EventRecord("scratch", NOW - 7200, NOW - 3600, "outage", "One server was down."),
        EventRecord("scratch", NOW - 7200, None, "advice", "Write **large** pieces."),
    ]
    return found


def _accounts(world: World, with_bob: bool) -> None:
    accounts, managers, tokens = (kind(world.engine) for kind in (Accounts, Managers, Tokens))
    roles = {"support": "support", "admin": "admin"}
    people = {"bob": BOB, "support": "", "admin": "", "lonely": ""}
    for login in ("alice", "bob", "carol", "dave", "support", "admin", "lonely", "gone"):
        accounts.make(login, by="test", role=roles.get(login, "user"), person=people.get(login),
                      password=PASSWORD if login in ("alice", "gone") else "")  # fmt: skip
        scopes = ["read", "read:files"]
        world.tokens[login], _ = tokens.make(login, "all", scopes, by="test")
    if with_bob:
        managers.grant("carol", f"{OPEN}project", by="test")
        world.tokens["bob blind"], _ = tokens.make("bob", "blind", ["read"], by="test")
        world.tokens["support blind"], _ = tokens.make("support", "blind", ["read"], by="test")
    managers.grant("dave", "green", by="test")
    world.tokens["no scope"], bare = tokens.make("admin", "in", ["read"], by="test")
    world.tokens["expired"], line = tokens.make("bob", "old", ["read", "read:files"], by="test")
    with world.engine.execution_options(writing=True).begin() as connection:
        connection.execute(update(Token).where(Token.id == line.id).values(expires_at=1))
        connection.execute(update(Token).where(Token.id == bare.id).values(scopes=""))
    world.tokens["revoked"], line = tokens.make("bob", "away", ["read"], by="test")
    tokens.revoke(line.id, by="test")
    accounts.disable("gone", by="test")
    world.tokens["garbage"] = "swt_" + "x" * 43
    world.tokens["empty"] = ""


@contextmanager
def client(world: World) -> Iterator[httpx.Client]:
    """Return a client without cookies of its own; what fails within the portal is raised."""
    from starlette.testclient import TestClient

    with TestClient(world.app, follow_redirects=False) as made:
        yield made


def ask(made: httpx.Client, path: str, headers: Mapping[str, str] | None = None) -> httpx.Response:
    """Ask for a page; no cookie is kept."""
    answer = made.get(path, headers=dict(headers or {}))
    made.cookies.clear()
    return answer


@contextmanager
def statements(engine: Engine) -> Iterator[list[str]]:
    """Collect the statements that are executed, but for those that depend on the minute."""
    found: list[str] = []

    def note(_: Any, __: Any, statement: str, *___: Any) -> None:
        if not statement.startswith(_ONCE_A_MINUTE):
            found.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    try:
        yield found
    finally:
        event.remove(engine, "before_cursor_execute", note)


class StoppedTime:
    """Stands for the module `time` where pages ask what is now."""

    @staticmethod
    def time() -> float:
        """Return `NOW`."""
        return float(NOW)


def stop_time(patch: pytest.MonkeyPatch) -> None:
    """Let all pages be of one moment."""
    from stripewise.centre.portal import _api as _storage
    from stripewise.centre.portal import _serve_page

    for module in (_serve_page, _storage):
        patch.setattr(module, "time", StoppedTime)
