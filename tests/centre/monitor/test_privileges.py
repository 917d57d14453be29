# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Root becomes a user who reads everything and writes nothing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from stripewise.centre.monitor import _privileges as privileges
from stripewise.core.errors import ConfigurationError, PolicyError, RuntimeMissingError
from support.monitor_process import IS_OPEN, run

GOOD = """\
Name:\tpython3
Uid:\t65534\t65534\t65534\t65534
Gid:\t65533\t65533\t65533\t65533
Groups:\t100 65533
NoNewPrivs:\t1
CapInh:\t0000000000000004
CapPrm:\t0000000000000004
CapEff:\t0000000000000004
CapBnd:\t0000000000000004
CapAmb:\t0000000000000004
"""
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
in_reach = pytest.mark.skipif(not IS_OPEN, reason="other users cannot enter this checkout")
with_setpriv = pytest.mark.skipif(
    shutil.which("setpriv") is None, reason="setpriv is not installed"
)


def test_a_process_as_it_should_be() -> None:
    assert privileges.wrong(GOOD, 65534, 65533, [100]) == ""
    assert privileges.reads_everything(GOOD)


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("Uid:\t65534\t65534", "Uid:\t65534\t0", "user ids"),
        ("\t65533\n", "\t0\n", "group ids"),
        ("Groups:\t100", "Groups:\t6 100", "groups are 6 100"),
        ("CapEff:\t0000000000000004", "CapEff:\t000001ffffffffff", "CapEff is 000001ffffffffff"),
        ("CapPrm:\t0000000000000004", "CapPrm:\t0000000000000006", "CapPrm"),
        ("CapBnd:\t0000000000000004", "CapBnd:\t000001ffffffffff", "CapBnd"),
        ("CapAmb:\t0000000000000004\n", "", "CapAmb is None"),
        ("CapEff:\t0000000000000004", "CapEff:\t0000000000000000", "CapEff"),
        ("NoNewPrivs:\t1", "NoNewPrivs:\t0", "gain privileges"),
    ],
)
def test_each_thing_that_is_wrong_is_seen(before: str, after: str, words: str) -> None:
    assert before in GOOD
    assert words in privileges.wrong(GOOD.replace(before, after), 65534, 65533, [100])


def test_nothing_is_good_about_an_empty_status() -> None:
    assert privileges.wrong("", 65534, 65533, [100])
    assert not privileges.reads_everything("")


def test_without_setpriv_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(privileges, "PATH", "/nowhere")
    with pytest.raises(RuntimeMissingError, match=r"setpriv is not installed.*util-linux"):
        privileges.setpriv_words("nobody")


@pytest.mark.parametrize(
    ("user_id", "capabilities", "words", "not_words"),
    [
        (1000, "0000000000000000", "run the agent as root, or with the capability", "container"),
        (0, "00000000a80425f9", "without the capability CAP_DAC_READ_SEARCH", "as root"),
        (0, "000001ffffffffff", "that debugfs is mounted", "as root"),
        (1000, "0000000000000004", "that debugfs is mounted", "as root"),
    ],
)
def test_the_remedy_is_not_what_is_so_already(
    user_id: int, capabilities: str, words: str, not_words: str
) -> None:
    status = f"Uid:\t{user_id}\nCapEff:\t{capabilities}\n"
    assert words in privileges.remedy_of(user_id, status)
    assert not_words not in privileges.remedy_of(user_id, status)


@as_root
def test_root_that_lacks_rights_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(privileges, "_own_status", lambda: "CapEff:\t00000000a80425f9\n")
    assert privileges.give_up_root("root").endswith("so, without CAP_DAC_READ_SEARCH")
    assert "root runs the agent" in privileges.rights_remedy()


@as_root
def test_an_account_that_is_not_there_is_named() -> None:
    with pytest.raises(ConfigurationError, match=r"'nobody-at-all'.*useradd --system"):
        privileges.give_up_root("nobody-at-all")


@as_root
def test_root_stays_root_only_if_that_is_said() -> None:
    assert privileges.give_up_root("root") == "runs as root, since agent.user says so"


def test_a_user_that_was_not_changed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(privileges.MARK, "nobody")
    with pytest.raises(PolicyError, match="was to run as nobody with CAP_DAC_READ_SEARCH alone"):
        privileges.give_up_root("")
    assert privileges.MARK not in os.environ


@as_root
@with_setpriv
def test_what_cannot_be_run_as_that_user_is_refused_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(privileges.sys, "executable", "/nowhere/python")
    with pytest.raises(PolicyError, match=r"cannot become the user nobody \(.*nowhere"):
        privileges.give_up_root("nobody")


@pytest.mark.extended
@as_root
@with_setpriv
@pytest.mark.parametrize("user", ["nobody", ""])
def test_files_of_root_are_read_and_not_written(open_path: Path, user: str) -> None:
    secret, configuration = open_path / "secret", open_path / "monitor.toml"
    secret.write_text("figures\n")
    secret.chmod(0o600)
    configuration.write_text(f'[agent]\nuser = "{user}"\n')
    configuration.chmod(0o600)
    done = run(
        "once", "--config", configuration, "--format", "json",
        "--collector", "reads", "--collector", "counts", STRIPEWISE_TEST_FILE=secret,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    rounds = json.loads(done.stdout)["rounds"]
    found = {one["labels"]["which"] for part in rounds[:2] for one in part["readings"]}
    (uid,) = (one for one in found if one.startswith("uid"))
    assert uid != "uid0"
    assert found == {uid, "not-written", "figures", "figures-by-command"}
    assert secret.read_text() == "figures\n"


@as_root
@in_reach
@with_setpriv
def test_without_root_it_runs_and_says_what_it_may_not_read(open_path: Path) -> None:
    secret = open_path / "secret"
    secret.write_text("figures\n")
    secret.chmod(0o600)
    words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    configuration = open_path / "monitor.toml"
    configuration.write_text(f'[sinks.file]\npath = "{open_path}/none"\n')
    done = run("check", "--config", configuration, before=words, STRIPEWISE_TEST_FILE=secret)
    assert done.returncode == 1
    assert "without CAP_DAC_READ_SEARCH" in done.stdout
    assert f"{secret}: Permission denied" in done.stdout


def test_setpriv_gets_the_names_of_accounts_and_nothing_else() -> None:
    if shutil.which("setpriv", path=privileges.PATH) is None:
        pytest.skip("setpriv is not installed")
    words = privileges.setpriv_words("nobody")
    assert "--reuid=nobody" in words
    assert words[-1] == "--"
    assert subprocess.run([words[0], "--version"], capture_output=True).returncode == 0
