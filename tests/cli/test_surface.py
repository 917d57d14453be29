# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from stripewise.cli import main
from stripewise.core.errors import UsageError
from stripewise.settings.tunables import parse_spec, parse_vary
from support.study_fakes import lognormal
from support.surfaces import save_surface, synthetic_surface

VARY = {"mpiio.romio_ds_write": ("disable",), "mpiio.ind_wr_buffer_size": (1 << 20, 4 << 20)}


def truth(settings) -> float:
    return 0.5 if "mpiio.romio_ds_write" in settings else 1.0


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    path = tmp_path / "small.jsonl"
    save_surface(synthetic_surface(truth, VARY, noise=lognormal(0.03)), path)
    return path


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


def test_a_specification(tmp_path):
    path = tmp_path / "space.toml"
    path.write_text(
        '[vary]\n"mpiio.cb_nodes" = [1, 2]\nhdf5.alignment = [[65536, 65536], "1MiB:1MiB"]\n'
        'hdf5.coll_metadata_write = [true]\n"mpiio.cb_buffer_size" = ["1MiB"]\n'
    )
    assert parse_spec(path) == {
        "mpiio.cb_nodes": (1, 2),
        "hdf5.alignment": ((65536, 65536), (1 << 20, 1 << 20)),
        "hdf5.coll_metadata_write": (True,),
        "mpiio.cb_buffer_size": (1 << 20,),
    }


@pytest.mark.parametrize(
    "text", ["", "vary = 1", '[vary]\n"mpiio.cb_nodes" = 1', "[vary", "[vary]"]
)
def test_what_is_no_specification(tmp_path, text):
    (tmp_path / "space.toml").write_text(text)
    with pytest.raises(UsageError, match=r"space\.toml"):
        parse_spec(tmp_path / "space.toml")


def test_the_cases_of_the_benchmarks_are_specifications():
    cases = sorted(Path(__file__).parents[2].glob("benchmarks/cases/*.toml"))
    assert len(cases) >= 4
    for path in cases:
        assert parse_spec(path)


def test_show_says_what_there_is(recorded):
    done = call("bench", "surface", "show", recorded)
    assert done.exit_code == 0, done.output
    assert "6 configurations, 31 runs" in done.output
    assert "romio_ds_write=disable" in done.output
    assert "95 %, bootstrap" in done.output
    assert "within 5 %" in done.output


def test_show_as_json(recorded):
    document = json.loads(call("bench", "surface", "show", recorded, "--json").output)
    assert document["configurations"] == len(document["spots"]) == 6
    assert document["ratio"] == pytest.approx(2, rel=0.1)
    assert document["tunables"][0]["name"] == "mpiio.romio_ds_write"
    assert document["tunables"][0]["ratios"] == [
        {"value": "disable", "ratio": pytest.approx(0.5, rel=0.1)}
    ]


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_a_picture(recorded, tmp_path, suffix):
    picture = tmp_path / f"a.{suffix}"
    assert call("bench", "surface", "show", recorded, "--picture", picture).exit_code == 0
    content = picture.read_bytes()
    assert content[:4] in (b"<svg", b"\x89PNG")
    if suffix == "svg":
        assert b"within 5 % of the optimum" in content


def test_bad_requests(recorded, tmp_path):
    for words, said in [
        (["show", tmp_path / "none"], "cannot read the surface"),
        (["show", recorded, "--picture", tmp_path / "a.txt"], ".svg, .png, .pdf"),
        (["record", "-o", tmp_path / "new", "--", "true"], "no tunable is varied"),
        (["record", "-o", tmp_path / "new", "--resume"], "no recording in"),
        (["record", "-o", recorded, "--vary", "mpiio.cb_nodes=2", "--", "true"], "--resume"),
        (["record", "-o", recorded, "--resume", "--", "true"], "is a recording of"),
        (["record", "-o", recorded, "--resume", "--vary", "mpiio.cb_nodes=2"], "other tunables"),
    ]:
        done = call("bench", "surface", *words)
        assert done.exit_code in (2, 7), done.output
        assert said in done.output + done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["small.jsonl"]


def test_strategies_and_their_options_are_listed():
    text = call("settings", "strategies").output
    assert text.startswith("auto")
    assert "population=15" in text
    document = {
        entry["name"]: entry
        for entry in json.loads(call("settings", "strategies", "--json").output)
    }
    assert {o["name"] for o in document["genetic"]["options"]} >= {"elites", "selector"}
