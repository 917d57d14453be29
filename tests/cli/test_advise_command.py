# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise bench advise` and `machine fit` with campaigns."""

import json

import pytest
from click.testing import CliRunner

from stripewise.bench.campaign import find_suite
from stripewise.cli import main
from stripewise.storage.machines import load_description
from support.simulated_campaigns import simulated_campaign
from support.trace_samples import mixed_container, write_container


def run(*words):
    return CliRunner().invoke(main, list(words), standalone_mode=False)


def call(capsys, *words):
    with pytest.raises(SystemExit) as left:
        main.main(args=list(words))
    shown = capsys.readouterr()
    return left.value.code, shown.out, shown.err


@pytest.fixture
def campaign(monkeypatch, tmp_path):
    made = simulated_campaign("jamstec-da", find_suite("limits"))
    monkeypatch.setattr("stripewise.bench.running.read_campaign", lambda path: made, raising=False)
    directory = tmp_path / "campaign"
    directory.mkdir()
    return directory


@pytest.mark.extended
def test_a_description_is_advised_on_in_every_form(capsys, tmp_path):
    for form in ("text", "html", "markdown", "json", "module", "profile"):
        file = tmp_path / f"advice.{form}"
        code, _, _ = call(
            capsys, "bench", "advise", "archer2-hdd", "--format", form, "-o", str(file)
        )
        assert code == 0
        text = file.read_text()
        assert "FI_OFI_RXM_SAR_LIMIT" in text
    assert json.loads((tmp_path / "advice.json").read_text())["storage"] == "archer2-hdd"


def test_json_is_one_document(capsys):
    code, out, _ = call(capsys, "bench", "advise", "archer", "--json")
    assert code == 0
    assert json.loads(out)["advice"]


def test_a_campaign_is_advised_on(capsys, campaign):
    code, out, _ = call(capsys, "bench", "advise", str(campaign), "--why-not")
    assert code == 0
    assert "campaign of" in out
    assert "No advice on" in out


def test_a_program_narrows_the_advice(capsys, tmp_path):
    trace = write_container(tmp_path / "run", "n0.sw", mixed_container())
    everything = call(capsys, "bench", "advise", "archer2-hdd", "--json")[1]
    code, out, _ = call(
        capsys, "bench", "advise", "archer2-hdd", "--program", str(trace.parent), "--json"
    )
    assert code == 0
    found = json.loads(out)
    assert found["program"]
    assert found["does_not_concern"]
    assert len(found["advice"]) < len(json.loads(everything)["advice"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["bogus"], "bogus"),
        (["archer2-hdd", "--nodes", "2"], "--program"),
        (["archer2-hdd", "archer"], "is not a campaign"),
        (["archer2-hdd", "--targets", "2"], "can only be used with campaigns"),
        (["archer2-hdd", "--json", "--format", "html"], "cannot be used together"),
        (["jamstec-da", "--format", "module"], "markdown"),
    ],
)
def test_what_cannot_be_is_one_line(capsys, words, said):
    code, _, err = call(capsys, "bench", "advise", *words)
    assert code in (2, 3)
    assert said in err
    assert len(err.splitlines()) == 1


@pytest.mark.extended
def test_machine_fit_takes_a_campaign(capsys, campaign, tmp_path):
    file = tmp_path / "site.toml"
    code, out, _ = call(capsys, "machine", "fit", str(campaign), "-o", str(file))
    assert code == 0
    assert "client.node_write" in out
    found = load_description(file.read_text())
    assert found.value("client.node_write") == pytest.approx(12.2e9, rel=0.1)
    assert found.value("servers.targets") == 24


def test_machine_fit_puts_a_campaign_beside_other_results(capsys, campaign, tmp_path):
    table = tmp_path / "runs.csv"
    table.write_text(
        "nodes,ranks_per_node,access,files,block,GiB/s\n1,1,write,process,1 GiB,1.1\n"
    )
    file = tmp_path / "site.toml"
    words = ("machine", "fit", str(campaign), str(table), "-o", str(file))
    assert call(capsys, *words)[0] == 0
    assert load_description(file.read_text()).value("servers.targets") == 24
