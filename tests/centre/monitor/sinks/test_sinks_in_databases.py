# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What real databases make of our values: Prometheus, VictoriaMetrics, InfluxDB 1.x."""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stripewise.centre.monitor import METRICS, Histogram, Kind, Reading, Round, histogram
from stripewise.centre.monitor.agent import render_prometheus
from stripewise.centre.monitor.sinks._base import SinkError, create_sink
from stripewise.centre.monitor.sinks._influx import InfluxSink
from stripewise.centre.monitor.sinks._prometheus import PrometheusSink
from support import tsdb
from support.certificates import make_certificate
from support.monitor_parts import wait_until
from support.monitor_rounds import FREE, READ, SIZES, WRITE, made_round, whole_round

TOKEN = "0123456789abcdef0123456789abcdef"
RPC = histogram("lustre_target_rpc_pages", "pages", "Pages.", ("fs", "target"))
ODD = ('a "quoted" a\\b one,=\\', "line\nbreak {}é\u2028\t")
ODD_TAGS = ('a "quoted" a\\b one,=\ufffd', "line\ufffdbreak {}é\u2028\t")
READINGS = (
    Reading(READ, ("scratch", "OST0000"), 2**53),
    Reading(WRITE, ("scratch", "OST0000"), 2**53 - 1),
    Reading(FREE, ("scratch", "OST0000"), 0.1),
    Reading(READ, ODD, 7),
    Reading(RPC, ("scratch", "OST0000"), SIZES),
)
_UNHELD = re.compile(r"\\(?=[\\ ,=]|\Z)|[\x00\n\r]")
SCRAPE = """
global: {{scrape_interval: 1s}}
scrape_configs:
  - job_name: stripewise
    scheme: https
    authorization: {{credentials_file: {token}}}
    tls_config: {{ca_file: {directory}/cert.pem}}
    static_configs: [{{targets: ["127.0.0.1:{port}"]}}]
"""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[PrometheusSink, str]]:
    """A sink with TLS and a token, and the configuration of who scrapes it."""
    make_certificate(tmp_path)
    token = tmp_path / "token"
    token.write_text(TOKEN + "\n")
    (tmp_path / "key.pem").chmod(0o600)
    token.chmod(0o600)
    settings = {
        "listen": "127.0.0.1:0", "certificate": str(tmp_path / "cert.pem"),
        "key": str(tmp_path / "key.pem"), "token_file": str(token),
    }  # fmt: skip
    sink = create_sink("prometheus", settings, "oss1")
    assert isinstance(sink, PrometheusSink)
    sink.start()
    try:
        yield sink, SCRAPE.format(token=token, directory=tmp_path, port=sink.port)
    finally:
        sink.stop()


def values(server: tsdb.Database, expression: str) -> dict[tuple[str, ...], str]:
    """Values by file system and target, as texts."""
    return {
        (one["metric"].get("fs", ""), one["metric"].get("target", "")): one["value"][1]
        for one in server.wait_for(expression)
    }


def check_scraped(server: tsdb.Database) -> None:
    """Everything of `READINGS` is there, to the digit."""
    read = values(server, 'lustre_target_read_bytes_total{server="oss1",job="stripewise"}')
    assert read == {("scratch", "OST0000"): "9007199254740992", ODD: "7"}
    assert values(server, "lustre_target_write_bytes_total") == {
        ("scratch", "OST0000"): "9007199254740991"
    }
    assert values(server, "lustre_target_free_bytes") == {("scratch", "OST0000"): "0.1"}
    found = server.wait_for("lustre_target_rpc_pages_bucket")
    assert {one["metric"]["le"]: one["value"][1] for one in found} == {
        "4096.0": "3", "1.048576e+06": "7", "+Inf": "8",
    }  # fmt: skip
    assert values(server, "lustre_target_rpc_pages_sum") == {("scratch", "OST0000"): "5500000"}
    assert server.wait_for("histogram_quantile(0.5, lustre_target_rpc_pages_bucket)")


def scraped_by(server: tsdb.Database, sink: PrometheusSink) -> None:
    """See everything arrive, and what is no longer reported go."""
    sink.take(made_round(READINGS))
    assert server.wait_for("up == 1")
    check_scraped(server)
    sink.take(made_round([Reading(READ, ODD, 8)], 1))
    server.wait_for("lustre_target_read_bytes_total == 8")
    end = time.monotonic() + 60
    while server.query('lustre_target_read_bytes_total{target="OST0000"}'):
        assert time.monotonic() < end
        time.sleep(0.2)


@pytest.mark.extended
def test_prometheus_scrapes_with_tls_and_a_token(served: tuple[PrometheusSink, str]):
    tsdb.need("prometheus")
    sink, scrape = served
    with tsdb.prometheus(scrape) as server:
        scraped_by(server, sink)


@pytest.mark.extended
def test_victoria_metrics_scrapes_with_the_same_configuration(
    served: tuple[PrometheusSink, str],
):
    tsdb.need("victoria-metrics")
    sink, scrape = served
    with tsdb.victoria_metrics(scrape) as server:
        scraped_by(server, sink)


@pytest.mark.extended
@pytest.mark.parametrize(
    ("start", "program"),
    [(tsdb.prometheus, "prometheus"), (tsdb.victoria_metrics, "victoria-metrics")],
)
def test_no_character_of_a_label_disturbs(
    served: tuple[PrometheusSink, str], start: Any, program: str
):
    tsdb.need(program)
    sink, scrape = served
    names = [f"a{chr(code)}b" for code in (*range(160), 0xFFFD, 0x2028, 0x1F600)]
    sink.take(made_round(Reading(READ, ("a", name), 1) for name in names))
    with start(scrape) as server:
        found = {target for _, target in values(server, 'lustre_target_read_bytes_total{fs="a"}')}
    assert found == set(names)


def test_prometheus_takes_every_metric(served: tuple[PrometheusSink, str]):
    tsdb.need("prometheus")
    sink, scrape = served
    sink.take(whole_round())
    with tsdb.prometheus(scrape) as server:
        names = {one["metric"]["__name__"] for one in server.wait_for('{server="oss1"}')}
    endings = {Kind.COUNTER: "_total", Kind.LEVEL: "", Kind.HISTOGRAM: "_bucket"}
    assert {metric.name + endings[metric.kind] for metric in METRICS} <= names


@pytest.mark.extended
def test_prometheus_without_the_token_gets_nothing(served: tuple[PrometheusSink, str]):
    tsdb.need("prometheus")
    sink, scrape = served
    sink.take(made_round(READINGS))
    lines = [line for line in scrape.splitlines() if "authorization" not in line]
    with tsdb.prometheus("\n".join(lines)) as server:
        server.wait_for("up == 0")
        wait_until(lambda: "401" in _last_error(server))  # a first scrape may take too long
        assert not server.query('{server="oss1"}')


def _last_error(server: tsdb.Database) -> str:
    (target,) = server.json("/api/v1/targets")["data"]["activeTargets"]
    return str(target["lastError"])


def test_promtool_has_nothing_to_say():
    tsdb.need("promtool")
    sumless = Reading(RPC, ("a", "b"), Histogram(((1.0, 1),)))
    rounds = (whole_round(), made_round([sumless], 0, "other"))
    for found in rounds:
        done = subprocess.run(
            ["promtool", "check", "metrics"], input=render_prometheus([found], "oss1"), text=True,
            capture_output=True, timeout=60,
        )  # fmt: skip
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


# -- line protocol -------------------------------------------------------------------------------


def now_round(number: int = 0, collector: str = "made") -> Round:
    """`READINGS` of now, and so many times 15 s ago for negative numbers."""
    made = made_round(READINGS, number, collector)
    return Round(collector, time.time() + 15.0 * number, made.monotonic, readings=made.readings)


def sending(server: tsdb.Database, **more: Any) -> InfluxSink:
    """A sink that sends to a database "io"."""
    settings = {"url": server.url, "database": "io", "timeout_seconds": 60.0, **more}
    sink = create_sink("influx", settings, "oss1")
    assert isinstance(sink, InfluxSink)
    return sink


def rows(server: tsdb.Database, statement: str) -> list[list[Any]]:
    found = server.influxql(statement, db="io", epoch="ns")
    assert "error" not in found, found
    return [row for series in found.get("series", ()) for row in series["values"]]


def health_of(sink: InfluxSink) -> dict[str, float]:
    return {one.metric.name.removeprefix("stripewise_sink_"): one.value for one in sink.health()}  # type: ignore[misc]


@pytest.fixture(scope="module")
def influx() -> Iterator[tsdb.Database]:
    tsdb.need("influxd")
    with tsdb.influxdb() as server:
        yield server


@pytest.fixture
def io(influx: tsdb.Database) -> Iterator[tsdb.Database]:
    influx.influxql("CREATE DATABASE io")
    yield influx
    influx.influxql("DROP DATABASE io")


def test_influxdb_has_the_values(io: tsdb.Database):
    sink = sending(io)
    at = now_round()
    sink.take(at)
    sink.deliver()
    ns = int(at.at * 1e9)
    wanted = f"SELECT value, fs, target, server FROM {READ.name} ORDER BY time"
    found = rows(io, wanted)
    assert sorted(found) == sorted(
        [[ns, 2**53, "scratch", "OST0000", "oss1"], [ns, 7, *ODD_TAGS, "oss1"]]
    )
    assert rows(io, f"SELECT value FROM {FREE.name}") == [[ns, 0.1]]
    assert sorted(rows(io, f"SELECT value, le FROM {RPC.name}")) == [
        [ns, 3, "4096.0"], [ns, 7, "1.048576e+06"], [ns, 8, "+Inf"],
    ]  # fmt: skip
    assert rows(io, f"SELECT value FROM {RPC.name}_sum") == [[ns, 5.5e6]]


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize("is_victoria", [False, True])
def test_no_character_of_a_tag_disturbs(is_victoria: bool):
    """Each in the middle, at the end, and after a backslash."""
    codes = (*range(160), 0xFFFD, 0x2028, 0x1F600)
    names = [
        text for code in codes for text in (f"a{chr(code)}b", f"c{chr(code)}", f"\\{chr(code)}")
    ]
    found = made_round((Reading(READ, ("a", name), n) for n, name in enumerate(names)))
    found = Round("made", time.time(), 0.0, readings=found.readings)
    tsdb.need("victoria-metrics" if is_victoria else "influxd")
    with tsdb.victoria_metrics() if is_victoria else tsdb.influxdb() as server:
        if not is_victoria:
            server.influxql("CREATE DATABASE io")
        sink = sending(server)
        sink.take(found)
        sink.deliver()
        if is_victoria:
            read = {target for _, target in values(server, f"{READ.name}_value")}
        else:
            read = {row[2] for row in rows(server, f"SELECT value, target FROM {READ.name}")}
    written = {_UNHELD.sub("\ufffd", name) for name in names}
    assert read == written
    assert health_of(sink)["problems"] == len(names) - len(written)


def test_influxdb_takes_every_metric(io: tsdb.Database):
    sink = sending(io)
    for number in (0, 1):
        sink.take(whole_round(number))
        sink.deliver()
    names = {row[0] for row in rows(io, "SHOW MEASUREMENTS")}
    sums = {f"{metric.name}_sum" for metric in METRICS if metric.kind is Kind.HISTOGRAM}
    assert names == {metric.name for metric in METRICS} | sums
    types = {row[1] for row in rows(io, f"SHOW FIELD KEYS FROM {READ.name}")}
    assert types == {"integer"}


def test_influxdb_that_was_down_gets_everything_afterwards(io: tsdb.Database):
    sink = sending(io, queue_rounds=10)
    io.stop(kill=True)
    for number in range(3):
        sink.take(now_round(number - 5))
        with pytest.raises(SinkError, match="cannot be reached"):
            sink.deliver()
    assert health_of(sink) == {"queued_rounds": 3, "lost_rounds": 0, "problems": 0}
    io.start()
    sink.deliver()
    assert health_of(sink)["queued_rounds"] == 0
    assert len(rows(io, f"SELECT value FROM {FREE.name}")) == 3


def test_influxdb_drops_what_it_cannot_take_and_nothing_else(io: tsdb.Database):
    io.ask("/write", f'{FREE.name},server=oss1 value="text"'.encode(), db="io")
    sink = sending(io)
    sink.take(now_round(-2))
    sink.take(made_round([Reading(READ, ("a", "b"), 5)], 0, "other"))
    with pytest.raises(SinkError, match="refused 1 round, which are dropped: partial write"):
        sink.deliver()
    assert health_of(sink) == {"queued_rounds": 0, "lost_rounds": 1, "problems": 0}
    sink.deliver()
    assert len(rows(io, f"SELECT value FROM {READ.name} WHERE fs = 'a'")) == 1


def test_influxdb_without_the_database_is_said(influx: tsdb.Database):
    sink = sending(influx, database="nowhere")
    sink.take(now_round())
    with pytest.raises(SinkError, match="has no such database"):
        sink.deliver()
    assert health_of(sink)["queued_rounds"] == 1


def test_influxdb_with_a_password(tmp_path: Path):
    tsdb.need("influxd")
    password = tmp_path / "password"
    password.write_text("wrong")
    password.chmod(0o600)
    with tsdb.influxdb(auth=True) as server:
        server.influxql("CREATE USER root WITH PASSWORD 'pass' WITH ALL PRIVILEGES")
        who = {"u": "root", "p": "pass"}
        server.influxql("CREATE DATABASE io", **who)
        sink = sending(server, user="root", password_file=str(password))
        sink.take(now_round())
        with pytest.raises(SinkError, match="does not accept these credentials"):
            sink.deliver()
        password.write_text("pass\n")
        sink.deliver()
        assert server.influxql(f"SELECT value FROM {FREE.name}", db="io", **who)["series"]


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize(
    "more", [{}, {"version": 2, "org": "centre", "bucket": "io", "database": ""}]
)
def test_victoria_metrics_takes_lines(more: dict[str, Any]):
    tsdb.need("victoria-metrics")
    with tsdb.victoria_metrics(options=("-influxSkipSingleField",)) as server:
        sink = sending(server, **more)
        sink.take(now_round())
        sink.deliver()
        assert values(server, f'{READ.name}{{server="oss1"}}') == {
            ("scratch", "OST0000"): "9007199254740992", ODD_TAGS: "7",
        }  # fmt: skip
        assert values(server, FREE.name) == {("scratch", "OST0000"): "0.1"}
        found = {one["metric"]["le"]: one["value"][1] for one in server.wait_for(RPC.name)}
        assert found == {"4096.0": "3", "1.048576e+06": "7", "+Inf": "8"}
        time_text = server.ask("/api/v1/export", **{"match[]": FREE.name})
        assert json.loads(time_text)["timestamps"][0] > 1e12


def test_victoria_metrics_killed_and_started_again():
    tsdb.need("victoria-metrics")
    with tsdb.victoria_metrics() as server:
        sink = sending(server)
        sink.take(now_round(-2))
        sink.deliver()
        server.stop(kill=True)
        sink.take(now_round(-1))
        with pytest.raises(SinkError):
            sink.deliver()
        server.start()
        sink.deliver()
        assert server.wait_for(f"{FREE.name}_value")
        assert health_of(sink) == {"queued_rounds": 0, "lost_rounds": 0, "problems": 0}


def test_one_database_that_is_down_does_not_stop_the_other(io: tsdb.Database):
    down = {"url": "http://127.0.0.1:1", "database": "io"}
    up = {"url": io.url, "database": "io"}
    sink = create_sink("influx", {"targets": [down, up], "queue_rounds": 2}, "oss1")
    assert isinstance(sink, InfluxSink)
    for number in range(-4, 0):
        sink.take(now_round(number))
        with pytest.raises(SinkError, match=r"http://127.0.0.1:1 cannot be reached"):
            sink.deliver()
    assert len(rows(io, f"SELECT value FROM {FREE.name}")) == 4
    assert health_of(sink) == {"queued_rounds": 2, "lost_rounds": 2, "problems": 0}
