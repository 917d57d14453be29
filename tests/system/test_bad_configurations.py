# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Configurations that are wrong: refused before the program is started."""

from __future__ import annotations

from pathlib import Path

import pytest
from system_cli import stripewise

HEAD = 'version = 1\n[[file]]\nmatch = "*"\n'
XML = '<?xml version="1.0"?>\n{doctype}<Parameters><{layer}>{inside}</{layer}></Parameters>\n'
BOMB = '<!DOCTYPE p [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>\n'
EXTERNAL = '<!DOCTYPE p [<!ENTITY x SYSTEM "file:///etc/passwd">]>\n'

WRONG = {
    "unknown-section.toml": (HEAD + "mpio = { cb_nodes = 2 }\n", ("mpio",)),
    "unknown-version.toml": ("version = 99\n", ("99",)),
    "wrong-type.toml": (HEAD + 'mpiio = { cb_nodes = "many" }\n', ("cb_nodes", "many")),
    "wrong-choice.toml": (HEAD + 'mpiio = { romio_cb_write = "yes" }\n', ("romio_cb_write",)),
    "negative.toml": (HEAD + "mpiio = { cb_nodes = -1 }\n", ("cb_nodes", "-1")),
    "unknown-hdf5.toml": (HEAD + "hdf5 = { alignement = [1, 4096] }\n", ("alignement",)),
    "wrong-shape.toml": (HEAD + "hdf5 = { alignment = [4096] }\n", ("alignment",)),
    "half-hdf5.toml": (HEAD + 'hdf5 = { alignment = "big" }\n', ("alignment", "big")),
    "impossible.toml": (
        HEAD + 'mpiio = { romio_no_indep_rw = true, romio_cb_write = "disable" }\n',
        ("romio_no_indep_rw", "romio_cb_write"),
    ),
    "torn.toml": (HEAD + "mpiio = { cb_nodes = 2\n", ("torn.toml",)),
    "twice.toml": ("version = 1\nversion = 1\n", ("twice.toml",)),
    "empty.toml": ("", ("empty.toml",)),
    "torn.xml": ("<Parameters><High_Level_IO_Library>", ("torn.xml",)),
    "bomb.xml": (
        XML.format(doctype=BOMB, layer="Middleware_Layer", inside="<cb_nodes>&b;</cb_nodes>"),
        ("bomb.xml", "entit"),
    ),
    "external.xml": (
        XML.format(doctype=EXTERNAL, layer="Middleware_Layer", inside="<cb_nodes>&x;</cb_nodes>"),
        ("external.xml", "entit"),
    ),
    "not-utf8.toml": (b"version = 1\n# \xff\xfe\n", ("not-utf8.toml", "UTF-8")),
    "zeros.toml": (b"\0" * 64, ("zeros.toml",)),
}


def written(work: Path, name: str) -> tuple[Path, tuple[str, ...]]:
    content, expect = WRONG[name]
    path = work / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path, expect


@pytest.mark.extended(keep=7)
@pytest.mark.parametrize("name", WRONG)
def test_run_refuses_it(work, name):
    path, expect = written(work, name)
    done = stripewise("run", "--config", path.name, "--", "touch", "ran", cwd=work)
    line = done.only_error(3, *expect)
    assert "root:" not in line
    assert not (work / "ran").exists()


@pytest.mark.parametrize("name", ["unknown-section.toml", "impossible.toml", "bomb.xml"])
def test_config_check_refuses_it(work, name):
    path, expect = written(work, name)
    done = stripewise("settings", "check", path.name, cwd=work)
    assert done.code == 3, done
    assert "Traceback" not in done.err
    assert "bug in Stripewise" not in done.err
    assert all(word in done.out + done.err for word in expect), done


def test_an_unknown_hint_is_passed_on_with_a_warning_or_refused(work):
    """Hints are open-ended by the MPI standard, a misspelt one must still be said."""
    (work / "c.toml").write_text(HEAD + 'mpiio = { cb_noodles = "2" }\n')
    done = stripewise("run", "--config", "c.toml", "--", "touch", "ran", cwd=work)
    assert "cb_noodles" in done.err
    assert (done.code == 3) is not (work / "ran").exists()


@pytest.mark.parametrize("name", ["gone.toml", "."])
def test_no_file(work, name):
    done = stripewise("run", "--config", name, "--", "touch", "ran", cwd=work)
    assert done.code in (2, 3)
    done.only_error(done.code, name)
    assert not (work / "ran").exists()


def test_a_policy_refuses_a_knob(work, tmp_path):
    (work / "c.toml").write_text(HEAD + 'mpiio = { romio_cb_write = "enable" }\n')
    (tmp_path / "stripewise").mkdir()
    (tmp_path / "stripewise" / "policy.toml").write_text(
        '[tunables]\ndenied = ["mpiio.romio_cb_write"]\n'
    )
    words = ("run", "--config", "c.toml", "--", "touch", "ran")
    done = stripewise(*words, cwd=work, more={"XDG_CONFIG_HOME": str(tmp_path)})
    done.only_error(4, "mpiio.romio_cb_write", "policy")
    assert not (work / "ran").exists()


def test_convert_writes_nothing_half(work):
    (work / "c.xml").write_text("<Parameters><High_Level_IO_Library>")
    (work / "out.toml").write_text("before\n")
    done = stripewise("settings", "convert", "c.xml", "--to", "toml", "-o", "out.toml", cwd=work)
    done.only_error(3, "c.xml")
    assert (work / "out.toml").read_text() == "before\n"
