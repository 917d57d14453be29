# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A directory server (LDAP): search for the user, then bind as this user."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

from stripewise.errors import LoginServiceError
from stripewise.extras import require
from stripewise.text import printable
from stripewise.web.logins._base import Identity, Login
from stripewise.web.logins._settings import LdapSettings

_log = logging.getLogger("stripewise.web")
_PROGRAM = Path(__file__).with_name("_ldap_ask.py")
_MOST_SIGNS = 256


class Ldap(Login):
    """Users of a directory server.

    The name of the account is the one in the directory, not the one that was typed: LDAP ignores
    case and blanks, and one user would have several accounts.
    """

    name = "ldap"
    takes_password = True

    def __init__(self, settings: LdapSettings) -> None:
        """Take the settings.

        Raises:
            RuntimeMissingError: bonsai is not installed.
        """
        require("ldap", "the login by LDAP")
        self._settings = settings
        self.title = settings.title

    def password(self, user: str, secret: str) -> Identity | None:
        """Return the user of the directory whom a name and a password belong to; None: none.

        A bind with a name and no password succeeds without proving anything (RFC 4513, 5.1.2), so
        neither an empty password nor one that ends early for C is ever sent.
        """
        if not (_is_sent(user) and len(user) <= _MOST_SIGNS and _is_sent(secret)):
            return None
        told = self._ask(self._question(user, secret))
        if "trouble" in told:
            raise self._unreachable(told["trouble"])
        if "login" not in told:
            _log.info("LDAP refuses %s: %s", printable(user), printable(told["refused"]))
            return None
        return Identity(told["login"], self.name)

    def _question(self, user: str, secret: str) -> dict[str, Any]:
        settings = self._settings
        password = settings.bind_password
        return {
            "url": settings.url,
            "start_tls": settings.start_tls,
            "ca_file": settings.ca_file,
            "timeout": settings.timeout_seconds,
            "bind_dn": settings.bind_dn,
            "bind_password": "" if password is None else password.get_secret_value(),
            "base": settings.base,
            "filter": settings.filter.replace("{user}", escaped(user)),
            "user_dn": (settings.user_dn or "").replace("{user}", escaped(user)),
            "attribute": settings.attribute,
            "password": secret,
        }

    def _ask(self, question: dict[str, Any]) -> dict[str, str]:
        """Run the program that asks; end it if it takes too long."""
        try:
            done = subprocess.run(
                [sys.executable, "-P", _PROGRAM],
                input=json.dumps(question).encode(),
                capture_output=True,
                timeout=self._settings.timeout_seconds,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise self._unreachable("it does not answer in time") from error
        if done.returncode != 0:
            raise self._unreachable(done.stderr.decode(errors="replace")[-500:])
        answer: dict[str, str] = json.loads(done.stdout)
        return answer

    def _unreachable(self, why: str) -> LoginServiceError:
        _log.error("LDAP %s: %s", self._settings.url, printable(why))
        return LoginServiceError(
            f"the login service {self._settings.url} is not reachable: try again later"
        )


def escaped(text: str) -> str:
    """Return a text as a value in a filter (RFC 4515) or a name (RFC 4514) that is nothing else.

    Both take every byte as a backslash and two hexadecimal digits.  bonsai's own functions leave
    a NUL and a lone blank in a form that means something else.
    """
    return "".join(
        chr(byte) if byte < 128 and chr(byte).isalnum() else f"\\{byte:02x}"
        for byte in text.encode()
    )


def _is_sent(text: str) -> bool:
    """Whether a text can be sent whole: not empty, UTF-8, without what ends it for C."""
    try:
        return bool(text.encode()) and "\0" not in text
    except UnicodeEncodeError:
        return False
