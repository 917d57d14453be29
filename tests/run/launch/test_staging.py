# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What comes back from the burst buffer is what a run in its own directory would have left."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stripewise.run.launch.agent._staging import stage_in, stage_out

names = st.sampled_from(["a", "b", "sub/a", "sub/b", "sub/deep/c"])
trees = st.dictionaries(names, st.binary(max_size=20), max_size=5)
changes = st.lists(st.tuples(names, st.none() | st.binary(max_size=20)), max_size=6)


def make(top, tree):
    for name, data in tree.items():
        path = Path(top, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def act(top, doings):
    for name, data in doings:
        if data is None:
            Path(top, name).unlink(missing_ok=True)
        else:
            make(top, {name: data})


def contents(top):
    return {str(p.relative_to(top)): p.read_bytes() for p in Path(top).rglob("*") if p.is_file()}


@settings(max_examples=60, deadline=None)
@given(trees, changes)
def test_it_is_as_if_the_run_had_worked_there(tree, doings):
    top = Path(tempfile.mkdtemp())
    try:
        make(top / "run", tree)
        (top / "run").mkdir(exist_ok=True)
        shutil.copytree(top / "run", top / "expected")
        (top / "stage").mkdir()
        before = stage_in(str(top / "run"), str(top / "stage"), None, lambda: None)
        act(top / "stage", doings)
        act(top / "expected", doings)
        stage_out(str(top / "stage"), str(top / "run"), before, lambda: None)
        assert contents(top / "run") == contents(top / "expected")
    finally:
        shutil.rmtree(top)


def test_links_that_lead_up_and_nowhere(tmp_path):
    run, stage = tmp_path / "run", tmp_path / "stage"
    run.mkdir()
    stage.mkdir()
    (run / "up").symlink_to("..")
    (run / "self").symlink_to(".")
    (run / "nowhere").symlink_to("missing")
    before = stage_in(str(run), str(stage), None, lambda: None)
    assert (stage / "nowhere").is_symlink()
    assert (stage / "up").resolve() == tmp_path
    assert (stage / "self").resolve() == stage
    assert stage_out(str(stage), str(run), before, lambda: None) == 0


def test_a_tick_ends_a_copy(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "x").write_text("x")
    (tmp_path / "stage").mkdir()

    def tick():
        raise KeyError

    with pytest.raises(KeyError):
        stage_in(str(tmp_path / "run"), str(tmp_path / "stage"), None, tick)
