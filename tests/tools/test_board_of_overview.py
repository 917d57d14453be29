# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The overview: each alert that fires is a row, and says of what it is."""

from __future__ import annotations

import subprocess

import yaml

from support.grafana_boards import FILES, queries
from support.tsdb import need

(BOARD,) = (path for path in FILES if path.stem == "overview")
WHAT = {  # labels of the alert and of its row, of several each
    "StripewiseAgentDown": ('instance="oss#:9823",job="stripewise"', 'agent="oss#:9823"'),
    "StripewiseSinkFailing": ('server="oss#",sink="store"',) * 2,
    "StripewiseCollectorFailing": ('server="oss#",collector="disks"',) * 2,
    "LustreClientHurtsOthers": ('fs="scratch",client="10.0.0.#@o2ib"',) * 2,
    "LustreTargetFull": ('fs="scratch",target="OST000#"',) * 2,
}


def test_alerts_that_fire_say_of_what(tmp_path):
    need("promtool")
    (asks,) = (one for one in queries(BOARD) if one.panel == "Alerts firing")
    given, told = [], []
    for name, (labels, shown) in WHAT.items():
        for place in ("1", "2"):
            here = f'alertname="{name}",severity="warning",'
            own, seen = labels.replace("#", place), shown.replace("#", place)
            series = f'ALERTS{{{here}{own},alertstate="firing",source="stripewise"}}'
            given.append({"series": series, "values": "1x5"})
            told.append({"labels": f"{{{here}{seen}}}", "value": 1})
    case = {
        "interval": "1m",
        "input_series": given,
        "promql_expr_test": [
            {"expr": asks.expression, "eval_time": "5m", "exp_samples": told},
        ],
    }
    file = tmp_path / "case.yaml"
    file.write_text(yaml.safe_dump({"evaluation_interval": "1m", "tests": [case]}))
    done = subprocess.run(["promtool", "test", "rules", file], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
