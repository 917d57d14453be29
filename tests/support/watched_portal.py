# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The portal over the statistics database of a chain, and its users logged in."""

from __future__ import annotations

import json
import os
import pwd
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx

from stripewise.centre.database import create_engine
from stripewise.centre.database.accounts import Accounts
from stripewise.centre.database.ingest import leave_report, report_of
from stripewise.core import Configuration
from support.portal_server import serving
from support.served_jobs import load, served
from support.watched_chain import Chain
from support.watched_cluster import command

PASSWORD = "correct horse battery"
STAFF = "support"
CLUSTER = "stripewise"


class Visitor:
    """Somebody who is logged in.

    Attributes:
        seen: All texts that the portal has sent.
    """

    def __init__(self, address: str, user: str) -> None:
        self.seen: list[str] = []
        self._client = httpx.Client(base_url=address, timeout=60)
        answer = self._client.post("/login", data={"user": user, "secret": PASSWORD})
        assert answer.status_code == 303, answer.text

    def status(self, path: str) -> int:
        """Return how the portal answers."""
        return self._client.get(path).status_code

    def page(self, path: str) -> Any:
        """Return the JSON of a page; its HTML is seen, too."""
        self.seen.append(self._client.get(path).raise_for_status().text)
        answer = self._client.get(httpx.URL(path).copy_merge_params({"as": "json"}))
        self.seen.append(answer.raise_for_status().text)
        return answer.json()


@contextmanager
def watched_portal(chain: Chain) -> Iterator[str]:
    """Serve a copy of the database, with profiles of the jobs and accounts; yield the address.

    The servers are said to have counted a job of nobody's an hour before: who causes the load is
    told by servers only of a time that they have watched from its begin on.
    """
    path = chain.watched.directory / "portal.sqlite"
    with closing(sqlite3.connect(chain.database)) as one, closing(sqlite3.connect(path)) as other:
        one.backup(other)
    engine = create_engine(str(path))
    before = load("999999", int(chain.began) - 3600, file_system=chain.watched.fs, moved_bytes=1)
    served(engine, [before], cluster=CLUSTER)
    accounts = Accounts(engine)
    for user in sorted({chain.owner(name) for name in chain.jobs}):
        accounts.make(user, by="test", password=PASSWORD)
    accounts.make(STAFF, by="test", role="support", person="", password=PASSWORD)
    engine.dispose()
    _ingest_profiles(chain, path)
    with serving(path) as address:
        yield address


def _ingest_profiles(chain: Chain, database: Path) -> None:
    """Take in the reports that `stripewise run` would have left of the jobs."""
    spool = chain.watched.directory / "spool"
    spool.mkdir(mode=0o700)
    for name, job in chain.jobs.items():
        user = pwd.getpwnam(chain.owner(name))
        evidence = chain.watched.evidence(user.pw_name, job)
        start, seconds = evidence.profile.start, evidence.profile.elapsed_seconds
        report = report_of(evidence, seconds, 0, Configuration())
        whose = {"cluster": CLUSTER, "job_id": str(job), "user": user.pw_name,
                 "uid": user.pw_uid, "start": start, "end": start + seconds}  # fmt: skip
        assert not leave_report(report | whose, spool)
    words = ("centre", "ingest", "--db", str(database), "--settle", "0", "--json", str(spool))
    done = subprocess.run(command(*words), capture_output=True, text=True, check=False,
                          env=os.environ)  # fmt: skip
    assert not done.returncode, done.stderr
    assert json.loads(done.stdout)["stored"] == {"report": len(chain.jobs)}
