# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Finds the ordinary user to whom the test cluster belongs."""

from __future__ import annotations

import os
import pwd
import shutil
from dataclasses import dataclass

ORDINARY = ("stripewise-test", "nobody")
"""Accounts for a cluster that root starts, of which the first existing one is used."""


@dataclass(frozen=True)
class User:
    """User who runs the daemons and submits the jobs.

    Attributes:
        name / uid / gid: Name and ids of the account.
        prefix: Words before a command with which this process runs it as the user.
    """

    name: str
    uid: int
    gid: int
    prefix: tuple[str, ...] = ()

    @classmethod
    def find(cls, name: str = "") -> User:
        """Return this user, or an ordinary one if this is root.

        Root must not allocate burst buffers, so root's cluster belongs to an account without
        rights. That account may read everything: nobody else can read a working copy of root.
        """
        if os.geteuid() != 0:
            own = pwd.getpwuid(os.geteuid())
            return cls(own.pw_name, own.pw_uid, own.pw_gid)
        known = {entry.pw_name for entry in pwd.getpwall()}
        chosen = name or next((one for one in ORDINARY if one in known), "")
        if not chosen or chosen not in known:
            raise SystemExit(f"cluster: there is no account {chosen or ORDINARY}; give --as USER")
        setpriv = shutil.which("setpriv")
        if setpriv is None:
            raise SystemExit("cluster: setpriv is missing; install util-linux")
        entry = pwd.getpwnam(chosen)
        words = (
            setpriv, f"--reuid={entry.pw_uid}", f"--regid={entry.pw_gid}", "--clear-groups",
            "--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search", "--",
        )  # fmt: skip
        return cls(chosen, entry.pw_uid, entry.pw_gid, words)

    def command(self, *words: str) -> list[str]:
        """Return a command that runs as the user."""
        return [*self.prefix, *words]
