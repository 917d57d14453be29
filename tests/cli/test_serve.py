# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise centre serve`: one clear line, with a remedy, for whatever keeps it from serving."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from stripewise.centre.database import create_engine, initialise
from stripewise.centre.database.accounts import Accounts
from stripewise.cli import main
from stripewise.cli._centre_portal import _listening, _name_ways_in

pytest.importorskip("fastapi")


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "fleet.sqlite"
    monkeypatch.setenv("STRIPEWISE_DB", str(path))
    initialise(create_engine(str(path)))
    return path


def refused(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str]:
    """Exit code and the one line that `serve` says."""
    with pytest.raises(SystemExit) as left:
        main(["centre", "serve", *map(str, words)])
    said = capsys.readouterr()
    assert said.out == ""
    (line,) = said.err.splitlines()
    assert isinstance(left.value.code, int)
    return left.value.code, line.removeprefix("stripewise: error: ")


def settings(tmp_path: Path, server: str) -> Path:
    path = tmp_path / "portal.toml"
    path.write_text(f"[server]\n{server}")
    return path


@pytest.mark.usefixtures("database")
def test_a_port_that_is_taken_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        code, line = refused(capsys, "--port", port)
    assert code == 8
    assert line.startswith(f"cannot listen on 127.0.0.1:{port} (Address already in use): give an")


def test_who_comes_before_the_portal_has_begun_waits() -> None:
    with _listening("127.0.0.1", 0) as listener:
        socket.create_connection(listener.getsockname(), timeout=60).close()


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize("text", [None, "no certificate"])
def test_a_certificate_that_cannot_be_used_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str | None
) -> None:
    pem = tmp_path / "c.pem"
    if text is not None:
        pem.write_text(text)
    code, line = refused(
        capsys, "--config", settings(tmp_path, f'certificate = "{pem}"\nkey = "{pem}"\n')
    )
    assert code == 3
    assert line.startswith(f"certificate {pem} and key {pem} cannot be used (")
    assert line.endswith("): give files in PEM that this user may read")


def test_without_an_account_it_says_how_to_make_one_that_can_log_in(
    database: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = create_engine(str(database))
    _name_ways_in(engine)
    assert "`stripewise centre user add NAME --role admin --password`" in capsys.readouterr().err
    Accounts(engine).make("ada", by="me", role="admin", password="twelve characters")
    _name_ways_in(engine)
    assert capsys.readouterr().err == ""
