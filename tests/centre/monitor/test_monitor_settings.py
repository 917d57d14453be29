# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""monitor.toml: what is wrong is said in one line, with the file, the key, the value, a remedy."""

from __future__ import annotations

import os
import re
import socket
from pathlib import Path

import pytest

from stripewise.centre.monitor.agent import make_collectors, make_sinks, read_settings
from stripewise.centre.monitor.agent._settings import why_not_obeyed
from stripewise.core.errors import ConfigurationError
from support.monitor_cli import REPLACED


@pytest.fixture(autouse=True)
def _parts_of_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, value in REPLACED:
        monkeypatch.setattr(module, name, value)


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "monitor.toml"
    path.write_text(text)
    return path


def test_without_a_file_everything_is_automatic_and_prometheus_may_ask() -> None:
    found = read_settings(None)
    assert found.agent.server == socket.gethostname().partition(".")[0]
    assert found.agent.interval_seconds == 15
    assert found.sinks == {"prometheus": {}}
    assert all(one.is_automatic for one in make_collectors(found))


@pytest.mark.parametrize("mode", [0o666, 0o664, 0o620, 0o602])
def test_what_others_may_change_is_not_obeyed(tmp_path: Path, mode: int) -> None:
    """It could name any command, which would read what root alone may read."""
    path = written(tmp_path, '[agent]\nserver = "a"\n')
    path.chmod(mode)
    with pytest.raises(
        ConfigurationError, match=r"can be changed by others, .* chmod go-w on it"
    ) as found:
        read_settings(path)
    assert str(found.value).startswith(f"{path} can be changed"), "nothing else is wrong with it"
    path.chmod(0o644)
    assert read_settings(path).agent.server == "a"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_what_belongs_to_somebody_else_is_not_obeyed(tmp_path: Path) -> None:
    path = written(tmp_path, '[agent]\nserver = "a"\n')
    os.chown(path, 12345, 0)
    with pytest.raises(ConfigurationError, match=r"another user \(uid 12345\), .* run chown root"):
        read_settings(path)


def test_roots_and_ones_own_files_are_obeyed() -> None:
    for owner, user in ((0, 0), (0, 1000), (1000, 1000)):
        assert why_not_obeyed(status(0o100640, owner), user) == ("", "")
    for owner, user in ((1000, 0), (1000, 1001), (65534, 1000)):
        assert "another user" in why_not_obeyed(status(0o100640, owner), user)[0]


def status(mode: int, owner: int) -> os.stat_result:
    return os.stat_result((mode, 0, 0, 1, owner, 0, 0, 0, 0, 0))


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "monitor.toml")
    with pytest.raises(ConfigurationError, match="cannot be read"):
        read_settings(tmp_path / "monitor.toml")


def test_a_whole_configuration(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        """
        [agent]
        server = "oss-07"
        cluster = "archer2"
        interval_seconds = 30
        user = "nobody"
        log_level = "warning"

        [collectors.counts]
        enabled = true
        size = 3
        interval_seconds = 60

        [collectors.absent]
        enabled = false

        [sinks.file]
        path = "/tmp/x"
        """,
    )
    found = read_settings(path)
    chosen = {one.collector.name: one for one in make_collectors(found, path)}
    assert set(chosen) == {"counts", "reads", "hangs"}
    assert not chosen["counts"].is_automatic
    assert chosen["counts"].collector.settings.size == 3  # type: ignore[attr-defined]
    assert chosen["reads"].is_automatic
    (sink,) = make_sinks(found, path)
    assert (sink.server, sink.settings.cluster) == ("oss-07", "archer2")  # type: ignore[attr-defined]


def test_a_sinks_own_cluster_goes_before_the_agents(tmp_path: Path) -> None:
    text = '[agent]\ncluster = "a"\n[sinks.file]\npath = "/tmp/x"\ncluster = "b"\n'
    (sink,) = make_sinks(read_settings(written(tmp_path, text)))
    assert sink.settings.cluster == "b"  # type: ignore[attr-defined]


def made(path: Path) -> None:
    found = read_settings(path)
    make_collectors(found, path)
    make_sinks(found, path)


BAD = {
    "no TOML": ("[agent", "is not TOML in UTF-8: .*: fix that place, or name the right file"),
    "a table": ("[agnet]\nserver = 'x'\n", r"no table is called \[agnet\]: there are \[agent\]"),
    "a key": ("[agent]\ninterval = 3\n", "agent: no key is called 'interval'"),
    "a kind": ("[agent]\ninterval_seconds = 'fast'\n", "agent.interval_seconds = 'fast'"),
    "a bound": ("[agent]\ninterval_seconds = 0.1\n", "0.1: input should be greater than or equal"),
    "a name": ("[agent]\nserver = 'a b'\n", "server = 'a b': write at most 64 letters"),
    "a user": ("[agent]\nuser = '../x'\n", "agent.user = '../x': write the name of an account"),
    "a level": ("[agent]\nlog_level = 'loud'\n", "log_level = 'loud': .*'debug'"),
    "no table": ("agent = 3\n", "agent = 3: "),
    "a collector": ("[collectors.lustr]\n", "no collector 'lustr'; there are counts, absent"),
    "no table of one": ("[collectors]\ncounts = 3\n", "collectors.counts = 3: write a table"),
    "enabled": (
        "[collectors.counts]\nenabled = 'yes'\n",
        r"\] enabled = 'yes': write true, false or .auto",
    ),
    "its key": ("[collectors.counts]\nsise = 3\n", r"\[collectors.counts\] .*'sise'.*size"),
    "its value": ("[collectors.counts]\nsize = []\n", r"\[collectors.counts\] size = \[\]"),
    "its interval": ("[collectors.counts]\ninterval_seconds = -1\n", "interval_seconds = -1"),
    "a sink": ("[sinks.kafka]\n", "no sink 'kafka'; there are file"),
    "a sink's key": ("[sinks.file]\n", r"\[sinks.file\] path is missing: add it"),
    "control signs": ('["a\\u001b[2J"]\n', r"called \[a\\x1b\[2J\]"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_is_said_in_one_line(tmp_path: Path, case: str) -> None:
    text, words = BAD[case]
    path = written(tmp_path, text)
    with pytest.raises(ConfigurationError) as caught:
        made(path)
    said = str(caught.value)
    assert said.startswith(str(path))
    assert re.search(words, said)
    assert "\x1b" not in said


def test_a_file_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"none.toml cannot be read \(No such file"):
        read_settings(tmp_path / "none.toml")
