# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Servers that tests start are real, keep data over a restart, and are gone at the end."""

from __future__ import annotations

import time

import pytest

from support import tsdb


def test_prometheus_answers_and_is_gone_at_the_end():
    tsdb.need("prometheus")
    with tsdb.prometheus() as server:
        assert server.query("vector(1 + 1)")[0]["value"][1] == "2"
        with pytest.raises(AssertionError, match="parse error"):
            server.query("1 +")
        directory = server.directory
    assert not directory.exists()
    with pytest.raises(OSError):  # noqa: PT011  # whatever the machine says of a closed port
        server.ask("/-/ready")


def test_victoria_metrics_keeps_data_over_a_restart():
    tsdb.need("victoria-metrics")
    with tsdb.victoria_metrics() as server:
        now = int(time.time() * 1000)
        server.ask("/api/v1/import/prometheus", f"some_total 7 {now}\n".encode())
        server.stop()
        server.start()
        assert server.wait_for("some_total")[0]["value"][1] == "7"


def test_influxdb_takes_lines():
    tsdb.need("influxd")
    with tsdb.influxdb() as server:
        server.influxql("CREATE DATABASE io")
        server.ask("/write", b"m,a=b value=9007199254740993i 1000000000\n", db="io")
        server.stop(kill=True)
        server.start()
        found = server.influxql("SELECT value FROM m", db="io", epoch="ns")
        assert found["series"][0]["values"] == [[1000000000, 9007199254740993]]
