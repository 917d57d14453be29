# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from stripewise.cli import main
from stripewise.core.errors import UsageError
from stripewise.settings.tunables import parse_vary


def call(*words: object):
    return CliRunner().invoke(main, [str(word) for word in words], prog_name="stripewise")


def test_values_of_every_kind():
    assert parse_vary(
        [
            "mpiio.cb_buffer_size=1MiB, 4194304",
            "hdf5.alignment=64KiB:64KiB,1:1",
            "hdf5.libver=latest,latest;v18,latest",
            "hdf5.coll_metadata_write=true",
            "mca.io=romio321",
        ]
    ) == {
        "mpiio.cb_buffer_size": (1 << 20, 4 << 20),
        "hdf5.alignment": ((1 << 16, 1 << 16), (1, 1)),
        "hdf5.libver": ("latest,latest", "v18,latest"),
        "hdf5.coll_metadata_write": (True,),
        "mca.io": ("romio321",),
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mpiio.cb_nodes", "write TUNABLE=VALUE"),
        ("mpiio.cb_nodes=", "write TUNABLE=VALUE"),
        ("mpiio.cb_node=1", "cb_nodes"),
        ("mpiio.cb_nodes=x", "an integer"),
        ("mpiio.romio_ds_write=maybe", "enable, disable, automatic"),
    ],
)
def test_wrong_values(text, message):
    with pytest.raises(UsageError, match=message):
        parse_vary([text])


def test_a_knob_given_twice():
    with pytest.raises(UsageError, match=r"names mpiio\.cb_nodes twice"):
        parse_vary(["mpiio.cb_nodes=1", "mpiio.cb_nodes=2"])


def test_strategies_and_their_options_are_listed():
    text = call("settings", "strategies").output
    assert text.startswith("auto")
    assert "population=15" in text
    document = {
        entry["name"]: entry
        for entry in json.loads(call("settings", "strategies", "--json").output)
    }
    assert {o["name"] for o in document["genetic"]["options"]} >= {"elites", "selector"}
