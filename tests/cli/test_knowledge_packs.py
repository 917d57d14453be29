# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A pack from one user to another, by the command line."""

from __future__ import annotations

import json
import uuid
from pathlib import Path

import pytest
from click.testing import CliRunner
from minisign import KeyPair

from stripewise.cli import main
from stripewise.learning.knowledge import (
    Effect,
    Fingerprint,
    Lesson,
    LibraryVersions,
    Machine,
    StudiedCase,
    own_store,
)

CASE = StudiedCase(
    Machine("x86_64", "CPU", 8, 1 << 34, "6.1", "lustre", "network"),
    LibraryVersions("mpich", "4.1", "romio"),
    Fingerprint("flash_io", "ab" * 32, 4, collective_share=1.0),
)


def run(*words, **extra):
    return CliRunner().invoke(main, ["knowledge", *map(str, words)], **extra)


@pytest.fixture
def keys(tmp_path):
    pair = KeyPair.generate()
    (tmp_path / "site.key").write_bytes(bytes(pair.secret_key))
    (tmp_path / "site.pub").write_bytes(bytes(pair.public_key) + b"\n")
    return pair.public_key.to_base64().decode()


@pytest.fixture
def kept():
    found = Effect(4.8, 4.1, 5.6, 6)
    one = Lesson(uuid.uuid4().hex, 1.79e9, CASE, True, {"mpiio.cb_nodes": 4}, found)
    own_store().add([one])
    return one


@pytest.fixture
def away(monkeypatch, tmp_path):
    """What follows takes place on another machine."""
    monkeypatch.setenv("STRIPEWISE_SITE_PACKS", str(tmp_path / "site"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))

    def leave():
        monkeypatch.setenv("STRIPEWISE_KNOWLEDGE", str(tmp_path / "other.sqlite"))

    return leave


def shown(study_id):
    data = json.loads(run("show", study_id, "--json").stdout)
    return {key: value for key, value in data.items() if key != "origin"}


def test_what_is_packed_here_is_known_there(kept, keys, away, tmp_path):
    file = tmp_path / "it.pack"
    done = run("pack", file, "--sign", tmp_path / "site.key")
    assert done.stdout == f"pack lustre: 1 study and 0 models of lustre written to {file}\n"
    here = shown(kept.study_id)
    away()
    assert run("show", kept.study_id).exit_code == 2
    done = run("install", file, "--key", tmp_path / "site.pub")
    assert done.stdout.endswith(f"installed in {tmp_path}/site/lustre\n"), done.output
    assert shown(kept.study_id) == here
    assert run("forget", "--all").stdout.startswith("0 studies")
    assert f"signed with {keys}" in run("verify", "--key", keys).stdout
    assert json.loads(run("verify", file, "--key", keys, "--json").stdout) == {
        "name": "lustre", "storage": "lustre", "studies": 1, "models": 0, "tables": 0,
        "newest_unix_seconds": 1.79e9, "key": keys,
    }  # fmt: skip


def test_the_sites_key_is_trusted_by_policy(kept, keys, away, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "config/stripewise").mkdir(parents=True)
    policy = tmp_path / "config/stripewise/policy.toml"
    policy.write_text(f'pack_keys = ["{keys}"]\n')
    file = tmp_path / "it.pack"
    run("pack", file, "--sign", tmp_path / "site.key")
    assert run("install", file, "--user").exit_code == 0
    assert (tmp_path / "home/stripewise/packs/lustre/pack").exists()
    policy.unlink()
    done = run("verify")
    assert (done.exit_code, "is not trusted" in done.stdout) == (2, True)
    assert run("install", file, "--user").exit_code == 4


def test_one_line_for_each_refusal(kept, keys, away, tmp_path):
    file = tmp_path / "it.pack"
    done = run("pack", file)
    assert "not signed; `minisign -S -m" in done.stderr
    assert run("pack", file, "--sign", tmp_path / "site.pub").exit_code == 2
    for words, code in (
        (("install", file, "--key", keys), 2),
        (("install", tmp_path / "none", "--key", keys), 2),
        (("install", tmp_path, "--key", keys), 2),
        (("install", file, "--key", keys, "--user", "--prefix", tmp_path), 2),
        (("verify", file, "--key", "RWnone"), 2),
        (("pack", tmp_path / "no" / "x"), 8),
        (("pack", file, "--storage", "nowhere"), 3),
        (("pack", file, "--name", "../x"), 3),
    ):
        done = run(*words)
        assert (done.exit_code, len(done.stderr.splitlines())) == (code, 1), (words, done.output)
    run("pack", file, "--sign", tmp_path / "site.key")
    assert "signature of an older pack" in run("pack", file).stderr
    Path(file).write_bytes(file.read_bytes().replace(b"flash_io", b"flash_ix"))
    done = run("install", file, "--key", keys)
    assert done.exit_code == 4
    assert "signature does not match its content" in done.stderr
    assert not (tmp_path / "site").exists()


def test_nothing_is_installed_at_first(away):
    away()
    assert run("verify").stdout == "no pack is installed\n"
    assert json.loads(run("verify", "--json").stdout) == []
