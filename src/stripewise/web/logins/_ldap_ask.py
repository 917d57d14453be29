# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Ask a directory server who a name and a password belong to: a program, run for one question.

It reads a question as JSON on standard input and writes the answer as JSON on standard output.
It imports nothing of Stripewise, so that it starts in a moment.

It is a program because libldap waits for a TLS handshake without a limit, whatever timeouts are
set, and holds the interpreter meanwhile (measured: OpenLDAP 2.5.13 with GnuTLS of Debian 12): a
server that hangs would stop the whole portal, while a program can be ended.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import bonsai


def answer(question: dict[str, Any]) -> dict[str, str]:
    """Answer a question.

    Returns:
        "login": who it is; or "refused": why it is nobody; or "trouble": what keeps the server
        from telling.
    """
    try:
        if question["user_dn"]:
            return _bound(question, question["user_dn"])
        return _searched(question)
    except (bonsai.ConnectionError, bonsai.TimeoutError) as error:
        return {"trouble": str(error)}


def _searched(question: dict[str, Any]) -> dict[str, str]:
    """Search for the user, then bind as this one; in vain if there is none, for as long."""
    try:
        with _connected(question, question["bind_dn"], question["bind_password"]) as connection:
            found = connection.search(
                question["base"], bonsai.LDAPSearchScope.SUBTREE, question["filter"],
                attrlist=[question["attribute"]], sizelimit=2, timeout=question["timeout"],
            )  # fmt: skip
    except bonsai.SizeLimitError:
        return {"refused": "several entries have the name"}
    except bonsai.LDAPError as error:
        return {"trouble": f"search: {error}"}
    if len(found) > 1:
        return {"refused": "several entries have the name"}
    told = _told(question, found)
    dn = str(found[0].dn) if found else question["base"]
    try:
        with _connected(question, dn, question["password"]):
            return told
    except (bonsai.ConnectionError, bonsai.TimeoutError):
        raise
    except bonsai.LDAPError as error:
        return {"refused": f"{dn}: {error}"}


def _bound(question: dict[str, Any], dn: str) -> dict[str, str]:
    """Bind as the user, and read the own entry."""
    try:
        with _connected(question, dn, question["password"]) as connection:
            found = connection.search(
                dn, bonsai.LDAPSearchScope.BASE, attrlist=[question["attribute"]],
                timeout=question["timeout"],
            )  # fmt: skip
            return _told(question, found)
    except (bonsai.ConnectionError, bonsai.TimeoutError):
        raise
    except bonsai.LDAPError as error:
        return {"refused": f"{dn}: {error}"}


def _told(question: dict[str, Any], found: list[Any]) -> dict[str, str]:
    """Return the name of the account in the entry that was found."""
    if not found:
        return {"refused": "no entry has the name"}
    values = found[0].get(question["attribute"]) or []
    if len(values) != 1:
        return {"refused": f"{found[0].dn} has {len(values)} values of {question['attribute']}"}
    return {"login": str(values[0])}


def _connected(question: dict[str, Any], dn: str, password: str) -> Any:
    client = bonsai.LDAPClient(question["url"], question["start_tls"])
    client.set_cert_policy("demand")
    if question["ca_file"]:
        client.set_ca_cert(question["ca_file"])
    client.set_ignore_referrals(True)
    if dn:
        client.set_credentials("SIMPLE", dn, password)
    return client.connect(timeout=question["timeout"])


if __name__ == "__main__":
    json.dump(answer(json.load(sys.stdin)), sys.stdout)
