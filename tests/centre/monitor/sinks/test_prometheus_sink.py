# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Who may scrape, and that no client disturbs the others."""

from __future__ import annotations

import gzip
import http.client
import logging
import socket
import ssl
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stripewise.centre.monitor import metrics
from stripewise.centre.monitor.agent import render_openmetrics, render_prometheus
from stripewise.centre.monitor.sinks._base import SinkError, create_sink
from stripewise.centre.monitor.sinks._exposition import Form
from stripewise.centre.monitor.sinks._prometheus import PrometheusSink, server_context, wanted_form
from stripewise.core.errors import ConfigurationError
from support.certificates import make_certificate
from support.monitor_rounds import STRANGE, STRANGE_COUNT
from support.scraping import ROUND, ask, ask_tls, asked, raw, serving

TOKEN = "0123456789abcdef0123456789abcdef"
OPEN = "application/openmetrics-text"


@pytest.fixture
def sink() -> Iterator[PrometheusSink]:
    with serving() as found:
        yield found


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    path = tmp_path / "token"
    path.write_text(TOKEN + "\n")
    path.chmod(0o600)
    return path


def test_the_pages(sink: PrometheusSink):
    status, body, headers = ask(sink)
    assert (status, body.decode()) == (200, render_prometheus([ROUND], "oss1"))
    assert headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert headers["Server"].strip() == "stripewise"
    status, body, headers = ask(sink, "/metrics?a=b", Accept=f"{OPEN};version=1.0.0")
    assert (status, body.decode()) == (200, render_openmetrics([ROUND], "oss1"))
    assert headers["Content-Type"] == f"{OPEN}; version=1.0.0; charset=utf-8"
    assert b'href="/metrics"' in ask(sink, "/")[1]
    assert ask(sink, "/-/healthy")[:2] == (200, b"healthy\n")
    assert ask(sink, "/<script>")[:2] == (404, b"no such page: see /metrics\n")
    status, body, headers = ask(sink, method="HEAD")
    assert (status, body) == (200, b"")
    assert int(headers["Content-Length"]) == len(render_prometheus([ROUND], "oss1"))


def test_it_is_compressed_ifasked(sink: PrometheusSink):
    _, body, headers = ask(sink, Accept_Encoding="deflate, gzip")
    assert headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(body).decode() == render_prometheus([ROUND], "oss1")
    assert "Content-Encoding" not in ask(sink, Accept_Encoding="identity")[2]


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("", Form.TEXT), ("*/*", Form.TEXT), ("application/json", Form.TEXT),
        (f"{OPEN};version=1.0.0,{OPEN};version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
         Form.OPENMETRICS),
        (f"{OPEN}", Form.OPENMETRICS), (f"{OPEN};version=2.0.0", Form.TEXT),
        (f"{OPEN};q=0.1,text/plain", Form.TEXT), (f"{OPEN};q=0", Form.TEXT),
        (f"{OPEN};q=x", Form.TEXT), (f"{OPEN};version=\"1.0.0\"", Form.OPENMETRICS),
        (";;;,=,q=q=", Form.TEXT), ("text/plain;version=0.0.4;q=1,*/*;q=0.1", Form.TEXT),
        ("application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;q=0.6,"
         f"{OPEN};version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3", Form.OPENMETRICS),
    ],
)  # fmt: skip
def test_the_format_that_is_wanted(accept: str, form: Form):
    assert wanted_form(accept) is form


def test_health_tells_what_was_left_out_and_the_last_scrape(sink: PrometheusSink):
    sink.take(STRANGE)
    assert [one.metric for one in sink.health()] == [metrics.SINK_PROBLEMS]
    before = time.time()
    ask(sink)
    found = {one.metric: one.value for one in sink.health()}
    assert found[metrics.SINK_PROBLEMS] == STRANGE_COUNT
    assert before <= found[metrics.SINK_LAST] <= time.time()  # type: ignore[operator]


# -- who may -------------------------------------------------------------------------------------


@pytest.mark.extended(keep=1)
@pytest.mark.parametrize(
    "given",
    [
        "", TOKEN, f"Basic {TOKEN}", "Bearer", "Bearer ", f"Bearer {TOKEN[:-1]}",
        f"Bearer {TOKEN}x", f"Bearer {TOKEN.upper()}", "Bearer é", f"Bearer {TOKEN} {TOKEN}",
    ],
)  # fmt: skip
def test_others_get_nothing(token_file: Path, given: str):
    with serving(token_file=token_file) as sink:
        status, body, headers = ask(sink, Authorization=given)
        assert (status, body) == (401, b"give the token of this server\n")
        assert headers["WWW-Authenticate"] == "Bearer"
        assert ask(sink, "/-/healthy")[0] == 200


def test_a_new_token_counts_at_once(token_file: Path):
    with serving(token_file=str(token_file)) as sink:
        assert ask(sink, Authorization=f"Bearer {TOKEN}")[0] == 200
        assert ask(sink, Authorization=f"bearer {TOKEN}")[0] == 200
        token_file.write_text("f" * 32)
        assert ask(sink, Authorization=f"Bearer {TOKEN}")[0] == 401
        assert ask(sink, Authorization=f"Bearer {'f' * 32}")[0] == 200
        token_file.write_text("")
        assert ask(sink, Authorization="Bearer ")[0] == 503
        token_file.unlink()
        assert ask(sink, Authorization=f"Bearer {'f' * 32}")[0] == 503


@pytest.mark.parametrize(
    ("text", "mode", "words"),
    [
        ("", 0o600, "is empty or has several lines"),
        ("short", 0o600, "holds no token of 16 or more"),
        ("two words that are long", 0o600, "openssl rand -hex 32"),
        (TOKEN, 0o644, "everybody may read or change"),
        (TOKEN, 0o602, "everybody may read or change"),
        ("é" * 20, 0o600, "holds no token"),
    ],
)
def test_a_token_that_is_not_safe_is_refused(token_file: Path, text: str, mode: int, words: str):
    token_file.write_text(text)
    token_file.chmod(mode)
    sink = create_sink("prometheus", {"listen": "127.0.0.1:0", "token_file": token_file}, "oss1")
    assert words in sink.missing()
    with pytest.raises(SinkError, match=words):
        sink.start()


@pytest.fixture
def certificate(tmp_path: Path) -> dict[str, str]:
    make_certificate(tmp_path)
    (tmp_path / "key.pem").chmod(0o600)
    return {"certificate": str(tmp_path / "cert.pem"), "key": str(tmp_path / "key.pem")}


def test_clients_need_a_certificate(certificate: dict[str, str], tmp_path: Path):
    own = tmp_path / "client"
    own.mkdir()
    make_certificate(own)
    client = {"certificate": str(own / "cert.pem"), "key": str(own / "key.pem")}
    with serving(**certificate, client_ca=client["certificate"]) as sink:
        assert ask_tls(sink, certificate["certificate"], client) == 200
        for wrong in (None, certificate):
            with pytest.raises(OSError, match=r"alert|reset|closed|EOF"):
                ask_tls(sink, certificate["certificate"], wrong)
        assert ask_tls(sink, certificate["certificate"], client) == 200


def test_who_does_not_speak_tls_disturbs_nobody(certificate: dict[str, str]):
    with serving(**certificate) as sink:
        silent = raw(sink)
        plain = raw(sink, b"GET /metrics HTTP/1.1\r\n\r\n")
        assert b"lustre" not in plain.recv(4096)
        assert ask_tls(sink, certificate["certificate"]) == 200
        silent.close()
        plain.close()


def test_old_versions_of_tls_are_refused(certificate: dict[str, str]):
    context = server_context(Path(certificate["certificate"]), Path(certificate["key"]), None)
    assert context.minimum_version == ssl.TLSVersion.TLSv1_2


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"listen": "9823"}, "is not an address and port such as 127.0.0.1:9823"),
        ({"listen": "127.0.0.1:99999"}, "is not an address and port"),
        ({"listen": "::1:9823"}, "is not an address and port"),
        ({"listen": ":9823"}, "is not an address and port"),
        ({"listen": 9823}, "listen = 9823"),
        ({"listen": "0.0.0.0:9823"}, "can be reached from the network: give certificate, key"),
        ({"listen": "[::]:9823"}, "can be reached from the network"),
        ({"listen": "oss1:9823", "token_file": "/t"}, "can be reached from the network"),
        ({"listen": "10.0.0.1:9823", "certificate": "/c", "key": "/k"}, "and token_file"),
        ({"certificate": "/c"}, "give certificate and key together"),
        ({"client_ca": "/c"}, "client_ca needs TLS"),
        ({"listne": "a"}, "no key is called 'listne', did you mean listen?"),
        ({"open": "perhaps"}, "open = 'perhaps'"),
    ],
)
def test_bad_settings_are_one_line(settings: dict[str, Any], words: str):
    with pytest.raises(ConfigurationError) as caught:
        create_sink("prometheus", settings, "oss1")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("[sinks.prometheus]: ")


@pytest.mark.parametrize(
    "settings",
    [
        {}, {"listen": "[::1]:9823"}, {"listen": "localhost:9823"}, {"listen": "127.9.0.1:1"},
        {"listen": "0.0.0.0:9823", "open": True},
        {"listen": "[::]:9823", "certificate": "/c", "key": "/k", "token_file": "/t"},
        {"listen": "oss1:9823", "certificate": "/c", "key": "/k", "client_ca": "/t"},
    ],
)  # fmt: skip
def test_settings_that_are_safe(settings: dict[str, Any]):
    create_sink("prometheus", settings, "oss1")


@pytest.mark.parametrize("which", ["certificate", "key", "client_ca"])
@pytest.mark.parametrize("text", [None, "no certificate"])
def test_files_of_tls_that_cannot_be_used_are_named(
    certificate: dict[str, str], tmp_path: Path, which: str, text: str | None
):
    path = tmp_path / "bad.pem"
    if text is not None:
        path.write_text(text)
        path.chmod(0o600)
    settings = {**certificate, "listen": "127.0.0.1:0", which: str(path)}
    sink = create_sink("prometheus", settings, "oss1")
    assert str(path) in sink.missing()
    assert "\n" not in sink.missing()
    with pytest.raises(SinkError):
        sink.start()


def test_a_key_with_a_password_asks_nobody(tmp_path: Path):
    """OpenSSL would ask at the terminal, and the agent would wait for ever."""
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric import ec

    make_certificate(tmp_path)
    locked = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        form.Encoding.PEM, form.PrivateFormat.PKCS8, form.BestAvailableEncryption(b"password")
    )
    key = tmp_path / "locked.pem"
    key.write_bytes(locked)
    key.chmod(0o600)
    settings = {"certificate": str(tmp_path / "cert.pem"), "key": str(key)}
    assert "the key without a password" in create_sink("prometheus", settings, "oss1").missing()


def test_a_port_in_use_is_said(sink: PrometheusSink):
    other = create_sink("prometheus", {"listen": f"127.0.0.1:{sink.port}"}, "oss1")
    with pytest.raises(SinkError, match=r"\(Address already in use\): choose another address"):
        other.start()
    other.stop()
    sink.stop()
    other.start()
    other.stop()


def test_the_port_that_was_found_is_said(caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.INFO), serving(listen="127.0.0.1:0") as sink:
        said = [one.getMessage() for one in caplog.records]
    assert f"sink prometheus answers at http://127.0.0.1:{sink.port}/metrics" in said


def test_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as tried:
            tried.bind(("::1", 0))
    except OSError:
        pytest.skip("no IPv6 on this machine")
    with serving(listen="[::1]:0") as sink:
        connection = http.client.HTTPConnection("::1", sink.port, timeout=60)
        assert asked(connection, "/metrics", "GET", {})[0] == 200
