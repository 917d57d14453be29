# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The files of the boards: made anew they are the same, Grafana reads them, people can too."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from stripewise.centre.monitor import METRICS, Kind
from support.grafana_boards import FILES, ROOT, load, panels, queries

NAMES = {path.stem for path in FILES}
SECOND = Path(sys.prefix) / "grafana-11"
MOST_PANELS = 20


def run(words, **environment):
    return subprocess.run(
        [sys.executable, *map(str, words)], capture_output=True, text=True,
        env={**os.environ, **environment},
    )  # fmt: skip


@pytest.fixture
def tool(monkeypatch):
    pytest.importorskip("grafana_foundation_sdk", reason="make setup-dev")
    monkeypatch.syspath_prepend(str(ROOT / "tools"))


def test_files_are_up_to_date():
    done = run([ROOT / "tools/boards", "--check"])
    assert (done.returncode, done.stderr) == (0, "")


def test_a_file_that_was_edited_is_told(tool, monkeypatch, tmp_path):
    from boards import _files

    monkeypatch.setattr(_files, "DASHBOARDS", tmp_path)
    _files.write()
    assert _files.outdated() == []
    (tmp_path / "load.json").write_text("{}")
    (tmp_path / "old.json").write_text("{}")
    assert _files.outdated() == [tmp_path / "load.json", tmp_path / "old.json"]
    _files.write()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(p.name for p in FILES)


@pytest.mark.parametrize("which", ["10.4", "11.6"])
def test_grafana_keeps_every_field(which):
    if which == "11.6" and not SECOND.exists():
        pytest.skip(f"no {SECOND}: make setup-dev")
    path = {"PYTHONPATH": str(SECOND)} if which == "11.6" else {}
    done = run([ROOT / "tests/support/grafana_models.py", *FILES], **path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_field_that_grafana_does_not_know_is_told(tmp_path):
    text = (FILES[0].read_text()).replace('"gridPos"', '"gridPoz"', 1)
    text = text.replace('"cellHeight": "sm"', '"cellHeight": "huge"', 1)
    (tmp_path / "bad.json").write_text(text)
    done = run([ROOT / "tests/support/grafana_models.py", tmp_path / "bad.json"])
    assert "gridPoz: not a field" in done.stdout
    assert "'huge' is not" in done.stdout


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_board_can_be_read_by_people(path):
    board = load(path)
    assert board["description"].endswith("?")
    assert board["panels"][0]["options"]["content"] == f"**{board['description']}**"
    shown = [panel for panel in panels(board) if panel["type"] != "text"]
    assert 0 < len(shown) <= MOST_PANELS
    for panel in shown:
        assert panel["title"], panel
        assert panel["description"].endswith("."), panel["title"]
        assert panel["datasource"]["uid"] == "${datasource}"
        units = [panel.get("fieldConfig", {"defaults": {}})["defaults"].get("unit")]
        assert any(units) or panel["options"].get("yAxis", {}).get("unit"), panel["title"]
    ids = [panel["id"] for panel in board["panels"]] + [panel["id"] for panel in shown]
    assert len(set(ids)) == len(list(panels(board))) + sum(
        panel["type"] == "row" for panel in board["panels"]
    )


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_panels_do_not_overlap(path):
    board = load(path)
    groups = [board["panels"]]
    groups += [p["panels"] for p in board["panels"] if p["type"] == "row" and p.get("panels")]
    for group in groups:
        taken = set()
        for panel in group:
            at = panel["gridPos"]
            cells = {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
            assert not cells & taken, panel["title"]
            assert at["x"] + at["w"] <= 24, panel["title"]
            taken |= cells


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_board_is_bound_to_no_data_source_and_asks_before_it_needs_one(path):
    board = load(path)
    assert "__inputs" not in board
    variables = {one["name"]: one for one in board["templating"]["list"]}
    assert variables["datasource"]["type"] == "datasource"
    assert variables["portal"]["type"] == "textbox"
    text = path.read_text("utf-8")
    used = set(re.findall(r"\$\{?([a-z]+)\b", text)) - {"datasource", "portal"}
    assert used == set(variables) - {"datasource", "portal"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_links_lead_to_boards_that_are_there(path):
    for name in re.findall(r"/d/stripewise-([a-z]+)", path.read_text("utf-8")):
        assert name in NAMES


def test_links_lead_to_pages_that_the_portal_has():
    pages = (ROOT / "src/stripewise/centre/portal/pages").glob("*.py")
    code = "\n".join(page.read_text("utf-8") for page in pages)
    served = set(re.findall(r'^    path = "(.*)"$', code, flags=re.M))
    rules = ROOT / "deploy/monitoring/prometheus/stripewise.rules.yaml"
    text = "\n".join(path.read_text("utf-8") for path in (*FILES, rules))
    found = set(re.findall(r"(?:\$\{portal\}|//portal\.example\.org)(/[^\s\")]*)", text))
    named = {re.sub(r"\$?\{.*\}", "{name}", link) for link in found}
    assert {"/storage", "/storage/{name}", "/storage/{name}/top", "/staff"} <= named <= served


def test_every_metric_is_on_a_board():
    text = "\n".join(one.expression for path in FILES for one in queries(path))
    suffixes = {Kind.COUNTER: "_total", Kind.LEVEL: "", Kind.HISTOGRAM: "_bucket"}
    names = [metric.name + suffixes[metric.kind] for metric in METRICS]
    assert [name for name in names if not re.search(rf"\b{name}\b", text)] == []


def test_nothing_of_jobs_is_asked():
    for path in FILES:
        for one in queries(path):
            assert not re.search(r"\bjob(id|_id)\b", one.expression), one


def test_a_name_or_label_that_is_misspelt_fails(tool):
    from boards._queries import Scope, name
    from stripewise.centre.monitor import counter, metrics

    with pytest.raises(ValueError, match="lustre_target_bites: not a metric"):
        name(counter("lustre_target_bites", "bytes", "Typo."))
    with pytest.raises(ValueError, match="has no label client"):
        Scope().rate(metrics.TARGET_READ_BYTES, ("client",))
    with pytest.raises(ValueError, match="has no label traget"):
        Scope().series(metrics.TARGET_READ_BYTES, 'traget=~"OST.*"')
