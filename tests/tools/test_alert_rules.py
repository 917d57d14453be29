# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The alert rules, as Prometheus evaluates them: what fires, with which words, and what does not.

The cases are in `rules`, for `promtool test rules`.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from support.grafana_boards import FILES, ROOT, load
from support.tsdb import need, prometheus, victoria_metrics

PLACE = ROOT / "deploy/monitoring/prometheus"
RULES = PLACE / "stripewise.rules.yaml"
CASES = sorted((Path(__file__).parent / "rules").glob("*.yaml"))
GROUPS = yaml.safe_load(RULES.read_text("utf-8"))["groups"]
ALERTS = {rule["alert"]: rule for group in GROUPS for rule in group["rules"] if "alert" in rule}
EXPRESSIONS = [rule["expr"] for group in GROUPS for rule in group["rules"]]


def promtool(*words):
    need("promtool")
    done = subprocess.run(["promtool", *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_prometheus_takes_the_rules():
    promtool("check", "rules", RULES)


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_alerts_fire_where_they_should_and_nowhere_else(case):
    promtool("test", "rules", case)


def test_every_alert_has_a_case_that_fires_and_one_that_does_not():
    fires, does_not = set(), set()
    for path in CASES:
        for test in yaml.safe_load(path.read_text("utf-8"))["tests"]:
            series = " ".join(one["series"] for one in test["input_series"])
            there = set(re.findall(r'fs="(\w+)"', series))
            for one in test["alert_rule_test"]:
                fired = {alert["exp_labels"].get("fs") for alert in one["exp_alerts"]}
                if fired:
                    fires.add(one["alertname"])
                # Several file systems may be in one case: those that are near do not fire.
                if not fired or there - fired:
                    does_not.add(one["alertname"])
    assert fires == does_not == set(ALERTS)


@pytest.mark.parametrize("name", ALERTS)
def test_alert_says_what_it_means_and_leads_to_a_board(name):
    rule = ALERTS[name]
    said = rule["annotations"]
    assert rule["labels"]["severity"] in {"critical", "warning", "info"}
    assert re.search(r"\$labels\.", said["summary"]), "names the thing"
    assert said["description"].count(".") >= 2
    board, _, chosen = said["dashboard"].partition("/d/stripewise-")[2].partition("?")
    path = {one.stem: one for one in FILES}[board]
    variables = {one["name"] for one in load(path)["templating"]["list"]}
    assert set(re.findall(r"var-(\w+)=", chosen)) <= variables


@pytest.mark.parametrize("start", [prometheus, victoria_metrics], ids=lambda one: one.__name__)
def test_databases_take_every_expression(start):
    need(start.__name__.replace("_", "-"))
    with start() as server:
        for expression in EXPRESSIONS:
            server.query(expression)


def test_the_example_of_a_configuration_is_one(tmp_path):
    text = (PLACE / "prometheus.yml").read_text("utf-8")
    assert yaml.safe_load(text)["scrape_configs"][0]["job_name"] == "stripewise"
    for name in ("stripewise.rules.yaml", "stripewise.token", "stripewise-ca.pem"):
        text = text.replace(f"/etc/prometheus/{name}", str(tmp_path / name))
        (tmp_path / name).write_text(RULES.read_text("utf-8") if "rules" in name else "")
    (tmp_path / "prometheus.yml").write_text(text)
    promtool("check", "config", tmp_path / "prometheus.yml")


def test_the_how_to_names_the_job_as_the_rules_do():
    text = (ROOT / "docs/how-to/monitor-storage.md").read_text("utf-8")
    (example,) = re.findall(r"```yaml\n(scrape_configs:.*?)```", text, re.DOTALL)
    names = {one["job_name"] for one in yaml.safe_load(example)["scrape_configs"]}
    assert names == set(re.findall(r'up\{job="(\w+)"\}', " ".join(EXPRESSIONS)))


def test_provisioning_fits_the_boards_and_the_scrapes():
    place = ROOT / "deploy/monitoring/grafana/provisioning"
    source = yaml.safe_load((place / "datasources/stripewise.yaml").read_text("utf-8"))
    provider = yaml.safe_load((place / "dashboards/stripewise.yaml").read_text("utf-8"))
    scrape = yaml.safe_load((PLACE / "prometheus.yml").read_text("utf-8"))
    assert source["apiVersion"] == provider["apiVersion"] == 1
    assert source["datasources"][0]["uid"] == "stripewise-prometheus"
    every = scrape["global"]["scrape_interval"]
    assert source["datasources"][0]["jsonData"]["timeInterval"] == every
    assert provider["providers"][0]["options"]["path"]


def _parts(matcher):
    return re.fullmatch(r'(\w+) = "([\w ]+)"', matcher).groups()


def test_a_slow_storage_target_does_not_mute_a_storm_of_metadata():
    """It explains that who reads and writes waits, and not what a metadata target suffers."""
    routes = yaml.safe_load((PLACE / "alertmanager.yml").read_text("utf-8"))
    muted = {
        (source.get("kind"), target.get("of"))
        for rule in routes["inhibit_rules"]
        for source in [dict(map(_parts, rule["source_matchers"]))]
        for target in [dict(map(_parts, rule["target_matchers"]))]
        if target["alertname"] == "LustreClientHurtsOthers"
    }
    assert muted == {("OST", "bytes"), ("MDT", "metadata operations")}


def test_the_example_of_routes_names_alerts_that_are_there():
    routes = yaml.safe_load((PLACE / "alertmanager.yml").read_text("utf-8"))
    for rule in routes["inhibit_rules"]:
        for matchers in (rule["source_matchers"], rule["target_matchers"]):
            (name, value), *others = map(_parts, matchers)
            assert name == "alertname"
            for label, content in others:
                is_kind = label == "kind" and content in {"OST", "MDT"}
                assert is_kind or f'"{label}", "{content}"' in ALERTS[value]["expr"]
    receivers = {one["name"] for one in routes["receivers"]}
    route = routes["route"]
    assert {route["receiver"], *(one["receiver"] for one in route["routes"])} <= receivers
