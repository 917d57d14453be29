# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise centre user|grant|revoke|token`: what they say, and never take or print."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import click
import pytest

pytest.importorskip("sqlalchemy")

from sqlalchemy import insert

from stripewise.centre.database import create_engine
from stripewise.centre.database.accounts import Accounts, Tokens
from stripewise.centre.database.tables import Project
from stripewise.cli import main
from support.audit_trail import AuditTrail

PASSWORD = "correct horse battery"


def run(*words: object) -> int:
    with pytest.raises(SystemExit) as left:
        main([str(word) for word in words])
    code = left.value.code
    assert isinstance(code, int)
    return code


@pytest.fixture(autouse=True)
def database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> str:
    path = str(tmp_path / "fleet.sqlite")
    monkeypatch.setenv("STRIPEWISE_DB", path)
    monkeypatch.setenv("LOGNAME", "root")
    assert run("centre", "init") == 0
    capsys.readouterr()
    return path


def accounts(database: str) -> Accounts:
    return Accounts(create_engine(database))


def piped(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))


def test_from_an_account_to_a_login(
    database: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    piped(monkeypatch, PASSWORD + "\n")
    assert run("centre", "user", "add", "ada", "--role", "admin", "--password") == 0
    out = capsys.readouterr().out
    assert out == (
        "account ada: admin, opened by a password of its own, own jobs are those of ada\n"
    )
    assert accounts(database).check_password("ada", PASSWORD) is not None
    piped(monkeypatch, "another good password\r\n")
    assert run("centre", "user", "password", "ada") == 0
    assert accounts(database).check_password("ada", "another good password") is not None
    assert run("centre", "user", "password", "ada", "--remove") == 0
    assert accounts(database).check_password("ada", "another good password") is None
    trail = AuditTrail(create_engine(database)).list()
    assert {line.login for line in trail} == {"cli:root"}
    assert PASSWORD not in repr(trail)


def test_a_terminal_is_asked_twice_and_shows_nothing(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[str, Any]] = []

    def prompt(text: str, **options: Any) -> str:
        asked.append({"text": text, **options})
        return PASSWORD

    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(click, "prompt", prompt)
    assert run("centre", "user", "add", "ada", "--password") == 0
    (question,) = asked
    assert question["hide_input"]
    assert question["confirmation_prompt"]
    assert accounts(database).check_password("ada", PASSWORD) is not None


def test_no_password_is_taken_from_the_command_line(
    database: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    piped(monkeypatch, "")
    assert run("centre", "user", "add", "ada", "--password", PASSWORD) == 2
    assert run("centre", "user", "add", "ada", f"--password={PASSWORD}") == 2
    assert run("centre", "user", "add", "ada", "--password") == 2
    assert "standard input has no password" in capsys.readouterr().err
    piped(monkeypatch, "short\n")
    assert run("centre", "user", "add", "ada", "--password") == 2
    assert "a password of 5 characters cannot be used" in capsys.readouterr().err
    assert accounts(database).list() == []


def test_a_list_for_people_and_one_for_programs(
    database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("centre", "user", "list") == 0
    assert "there are no accounts yet" in capsys.readouterr().out
    run("centre", "user", "add", "grace")
    run("centre", "user", "add", "helpdesk", "--role", "support", "--person", "")
    with create_engine(database).execution_options(writing=True).begin() as connection:
        connection.execute(insert(Project).values(name="climate"))
    assert run("centre", "grant", "grace", "--manages", "climate") == 0
    run("centre", "user", "disable", "helpdesk")
    capsys.readouterr()
    assert run("centre", "user", "list") == 0
    assert capsys.readouterr().out.splitlines() == [
        "login     role     own jobs of  opened by       last login  manages",
        "grace     user     grace        centre's login  never       climate",
        "helpdesk  support  nobody       disabled        never       -",
    ]
    assert run("centre", "user", "list", "--json") == 0
    first, second = json.loads(capsys.readouterr().out)
    assert (first["login"], first["manages"], first["person"]) == ("grace", ["climate"], "grace")
    assert (second["role"], second["is_disabled"], second["manages"]) == ("support", True, [])
    assert "password" not in first
    assert run("centre", "revoke", "grace", "--manages", "climate") == 0
    assert run("centre", "revoke", "grace", "--manages", "climate") == 2
    assert "grace does not manage climate" in capsys.readouterr().err


def test_an_account_is_changed(database: str, capsys: pytest.CaptureFixture[str]) -> None:
    run("centre", "user", "add", "ada")
    assert run("centre", "user", "role", "ada", "admin") == 0
    assert run("centre", "user", "person", "ada", "lovelace") == 0
    assert run("centre", "user", "disable", "ada") == 0
    found = accounts(database).find("ada")
    assert found is not None
    assert (found.role, found.person, found.is_disabled) == ("admin", "lovelace", True)
    assert run("centre", "user", "enable", "ada") == 0
    found = accounts(database).find("ada")
    assert found is not None
    assert not found.is_disabled
    capsys.readouterr()
    for words in (("role", "ada", "root"), ("role", "bob", "user"), ("disable", "bob"),
                  ("add", "ada"), ("add", "a b")):  # fmt: skip
        assert run("centre", "user", *words) == 2
        assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_token_is_shown_once(database: str, capsys: pytest.CaptureFixture[str]) -> None:
    run("centre", "user", "add", "ada")
    capsys.readouterr()
    assert run("centre", "token", "add", "ada", "scripts", "--scope", "read") == 0
    printed = capsys.readouterr()
    secret = printed.out.strip()
    assert secret.startswith("swt_")
    assert "it is shown only now" in printed.err
    assert secret not in printed.err
    bearer = Tokens(create_engine(database)).find(secret)
    assert bearer is not None
    assert bearer.scopes == {"read"}
    assert run("centre", "token", "list") == 0
    out = capsys.readouterr().out
    assert secret not in out
    assert out.splitlines()[1].split()[:4] == ["1", "ada", "scripts", "read"]
    assert run("centre", "token", "list", "ada", "--json") == 0
    (line,) = json.loads(capsys.readouterr().out)
    assert line["scopes"] == ["read"]
    assert secret not in repr(line)
    assert run("centre", "token", "revoke", 1) == 0
    assert Tokens(create_engine(database)).find(secret) is None
    capsys.readouterr()
    assert run("centre", "token", "list") == 0
    assert capsys.readouterr().out == "there are no tokens\n"


def test_a_token_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    run("centre", "user", "add", "ada", "--role", "admin")
    capsys.readouterr()
    words = ("--scope", "read:files", "--days", 7, "--json")
    assert run("centre", "token", "add", "ada", "robot", *words) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["token"].startswith("swt_")
    assert made["scopes"] == ["read", "read:files"]
    assert made["expires_at"] - made["made_at"] == 7 * 86400


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("add", "ada", "x", "--scope", "write"), "'write' is not one of"),
        (("add", "ada", "x"), "Missing option '--scope'"),
        (("add", "ada", "x", "--scope", "read", "--days", "0"), "cannot be good for 0 days"),
        (("add", "ada", "x", "--scope", "read", "--days", "9999"), "choose 1 to 366"),
        (("add", "bob", "x", "--scope", "read"), "no account is called 'bob'"),
        (("revoke", "7"), "there is no token 7"),
        (("list", "bob"), "no account is called 'bob'"),
    ],
)
def test_what_is_wrong_with_a_token_is_one_line(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    run("centre", "user", "add", "ada")
    capsys.readouterr()
    assert run("centre", "token", *words) == 2
    err = capsys.readouterr().err
    assert said in err
    assert len(err.splitlines()) == 1


def test_without_tables_it_says_what_to_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("centre", "user", "list", "--db", tmp_path / "empty.sqlite") == 8
    assert "run `stripewise centre init --db" in capsys.readouterr().err
