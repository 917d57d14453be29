# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The board of space, where a target fails over: it has one trend, not one on each server."""

from __future__ import annotations

import subprocess

import pytest
import yaml

from support.grafana_boards import FILES, queries, substituted
from support.tsdb import need

(BOARD,) = (path for path in FILES if path.stem == "capacity")
GIB = 1 << 30


def expression(panel: str, words: str) -> str:
    """Return the query of a panel that has some words in it."""
    (one,) = (each for each in queries(BOARD) if each.panel == panel and words in each.expression)
    return substituted(one.expression, {}, one.window)


@pytest.mark.parametrize(
    ("panel", "value"),
    [
        # It grows by 1 GiB an hour, and has 34 GiB of 200 at the end.
        ("Growth in a day", 24 * GIB),
        ("Days until full", (200 - 34) / 24),
        ("Space over time", (34 + 7 * 24) * GIB),
    ],
)
def test_a_target_that_fails_over_counts_once(tmp_path, panel, value):
    need("promtool")
    told = expression(panel, "predict_linear" if panel == "Space over time" else "deriv")
    minute = GIB // 60
    before, after = 22 * 60, 2 * 60
    series = []
    for name, first, step in (
        ("used", 10 * GIB, minute),
        ("available", 190 * GIB, -minute),
    ):
        metric = f"lustre_target_{name}_bytes"
        labels = 'fs="scratch",target="OST0000",server='
        later = first + step * (before + 1)
        series += [
            {
                "series": f'{metric}{{{labels}"oss1"}}',
                "values": f"{first}{step:+d}x{before} stale",
            },
            {
                "series": f'{metric}{{{labels}"oss2"}}',
                "values": f"_x{before} {later}{step:+d}x{after}",
            },
        ]
    case = {
        "interval": "1m",
        "input_series": series,
        "promql_expr_test": [
            {
                "expr": f"round({told} / {value!r}, 0.01)",
                "eval_time": f"{before + after}m",
                "exp_samples": [{"labels": '{fs="scratch"}', "value": 1}],
            }
        ],
    }
    file = tmp_path / "case.yaml"
    file.write_text(yaml.safe_dump({"evaluation_interval": "1m", "tests": [case]}))
    done = subprocess.run(["promtool", "test", "rules", file], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
