# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A shell completes the names of tunables and strategies."""

from __future__ import annotations

import pytest
from click.shell_completion import ShellComplete

from stripewise.cli import main
from stripewise.study.strategies import strategy_names


def completed(words: list[str], incomplete: str) -> list[str]:
    shell = ShellComplete(main, {}, "stripewise", "_STRIPEWISE_COMPLETE")
    return [item.value for item in shell.get_completions(words, incomplete)]


@pytest.mark.parametrize("option", ["--only", "--exclude"])
def test_knobs(option: str):
    assert "mpiio.cb_nodes" in completed(["tune", option], "mpiio.cb")
    assert completed(["tune", option], "nc_var") == ["nc_var_align_size"]
    assert completed(["tune", option], "nonsense") == []


def test_strategies():
    assert completed(["tune", "--strategy"], "") == list(strategy_names())


def test_the_knob_of_tunables():
    assert "hdf5.alignment" in completed(["settings", "tunables"], "hdf5.")


def test_options_that_help_leaves_out_are_completed():
    assert {"--bb-nodes", "--bb-capacity"} <= set(completed(["tune"], "--bb-"))
    assert "--help-all" in completed(["tune"], "--help")
