# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sinks by name, and what all of them must do."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from stripewise.centre.monitor.sinks._base import create_sink, sink_class, sink_names
from stripewise.centre.monitor.sinks._influx import InfluxSettings, TargetSettings
from stripewise.centre.monitor.sinks._prometheus import PrometheusSettings
from stripewise.core.errors import ConfigurationError
from support.sink_suite import SinkSuite


class TestPrometheus(SinkSuite):
    sink_name = "prometheus"

    def settings(self, directory: Path) -> dict[str, Any]:
        return {"listen": "127.0.0.1:0"}


class TestInfluxThatIsDown(SinkSuite):
    sink_name = "influx"

    def settings(self, directory: Path) -> dict[str, Any]:
        return {"url": "http://127.0.0.1:1", "database": "io"}


def test_the_names():
    assert sink_names() == ("prometheus", "influx", "store")


def test_an_unknown_name_is_told_the_others():
    with pytest.raises(ConfigurationError, match="'kafka'; there are prometheus, influx, store"):
        sink_class("kafka")
    with pytest.raises(ConfigurationError, match="'a\\\\nb'"):
        create_sink("a\nb", {}, "oss1")


@pytest.mark.parametrize("form", [PrometheusSettings, InfluxSettings, TargetSettings])
def test_every_setting_is_documented(form: type[BaseModel]):
    text = Path(__file__).parents[4].joinpath("docs", "reference", "sinks.md").read_text()
    for name, field in form.model_fields.items():
        if name != "targets":
            (row,) = re.findall(rf"^\|[^|]*`{name}`[^|]*\|(.*)\|.*\|$", _part(text, form), re.M)
            default = field.default
            if isinstance(default, bool):
                default = str(default).lower()
            if not field.is_required() and default not in (None, ""):
                shown = f"{default:g}" if isinstance(default, float) else str(default)
                assert row.strip().strip("`") == shown, name


def _part(text: str, form: type[BaseModel]) -> str:
    before, _, after = text.partition("## influx")
    return before if form is PrometheusSettings else after


def test_nothing_large_is_loaded():
    """The agent is to stay small: what one sink needs is not there for the others."""
    heavy = (
        "sqlalchemy",
        "numpy",
        "rich",
        "jinja2",
        "prometheus_client",
        "stripewise.centre.database",
    )
    code = (
        "import sys; from stripewise.centre.monitor.sinks._base import create_sink;"
        "create_sink('prometheus', {}, 'a');"
        "create_sink('influx', {'url': 'http://a', 'database': 'b'}, 'a');"
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
