# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Deliveries that fail: kept within bounds, dropped with a word, never tried for ever."""

from __future__ import annotations

import contextlib
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from stripewise.centre.monitor import Reading
from stripewise.centre.monitor.sinks._base import SinkError, create_sink
from stripewise.centre.monitor.sinks._influx import InfluxSink
from stripewise.core.errors import ConfigurationError
from support.certificates import make_certificate
from support.fake_influx import FakeInflux, Said, fake_influx
from support.line_protocol import parse_lines
from support.monitor_parts import wait_until
from support.monitor_rounds import READ, made_round


@pytest.fixture
def fake() -> Iterator[FakeInflux]:
    with fake_influx() as found:
        yield found


def made(fake: FakeInflux, **more: Any) -> InfluxSink:
    settings = {"url": fake.url, "database": "io", **more}
    sink = create_sink("influx", settings, "oss1")
    assert isinstance(sink, InfluxSink)
    return sink


def take(sink: InfluxSink, *numbers: int, target: str = "t", many: int = 1) -> None:
    for number in numbers:
        readings = (Reading(READ, (str(index), target), number) for index in range(many))
        sink.take(made_round(readings, number))


def numbers_of(fake: FakeInflux) -> list[float]:
    return [line.value for text in fake.taken for line in parse_lines(text)]


def health_of(sink: InfluxSink) -> dict[str, Any]:
    return {one.metric.name.removeprefix("stripewise_sink_"): one.value for one in sink.health()}


def test_rounds_go_together_in_order(fake: FakeInflux):
    sink = made(fake)
    take(sink, 1, 2, 3)
    sink.deliver()
    sink.deliver()
    assert len(fake.taken) == 1
    assert numbers_of(fake) == [1, 2, 3]
    assert fake.paths == ["/write?db=io&precision=ns"]
    assert fake.headers[0]["Content-Encoding"] == "gzip"
    assert "Authorization" not in fake.headers[0]


def test_version_2_has_its_path_and_token(fake: FakeInflux, tmp_path: Path):
    token = tmp_path / "token"
    token.write_text("secret-token\n")
    token.chmod(0o600)
    url = f"{fake.url}/behind/a/proxy/"
    sink = made(fake, url=url, version=2, org="a&b", bucket="c d", token_file=str(token),
                database="")  # fmt: skip
    take(sink, 1)
    sink.deliver()
    path = "/behind/a/proxy/api/v2/write?org=a%26b&bucket=c+d&precision=ns"
    assert fake.paths == [path]
    assert fake.headers[0]["Authorization"] == "Token secret-token"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (Said(500, '{"error":"timeout"}'), r"does not take lines now \(HTTP 500\) \(timeout\)"),
        (Said(503), "does not take lines now"),
        (Said(429), "does not take lines now"),
        (Said(401), "check them"),
        (Said(404), "make it, or check the name"),
        (Said(0), "cannot be reached"),
        (Said(204 + 96, "", (("Location", "http://127.0.0.1:1/"),)), "redirect"),
    ],
)
def test_what_may_succeed_later_is_kept(fake: FakeInflux, said: Said, words: str):
    sink = made(fake)
    fake.answers = [said]
    take(sink, 1, 2)
    with pytest.raises(SinkError, match=words) as caught:
        sink.deliver()
    assert "\n" not in str(caught.value)
    assert health_of(sink) == {"queued_rounds": 2, "lost_rounds": 0, "problems": 0}
    take(sink, 3)
    sink.deliver()
    assert numbers_of(fake) == [1, 2, 3]
    assert health_of(sink)["queued_rounds"] == 0


def test_a_redirect_is_not_followed(fake: FakeInflux):
    with fake_influx() as other:
        sink = made(fake)
        fake.answers = [Said(307, "", (("Location", f"{other.url}/write"),))]
        take(sink, 1)
        with pytest.raises(SinkError, match="give the address that it leads to"):
            sink.deliver()
        assert other.paths == []


def test_a_server_that_says_nothing_is_given_up(fake: FakeInflux):
    sink = made(fake, timeout_seconds=0.2)
    fake.answers = [Said(-1)]
    take(sink, 1)
    with pytest.raises(SinkError, match="cannot be reached"):
        sink.deliver()
    wait_until(lambda: _is_delivered(sink))  # a busy host may take 0.2 s for that, too
    assert set(numbers_of(fake)) == {1}


def _is_delivered(sink: InfluxSink) -> bool:
    with contextlib.suppress(SinkError):
        sink.deliver()
    return health_of(sink)["queued_rounds"] == 0


def test_a_poisoned_round_is_dropped_and_no_other(fake: FakeInflux):
    sink = made(fake)
    fake.refused = "poison"
    take(sink, 1, 2)
    take(sink, 3, target="poison")
    take(sink, 4)
    with pytest.raises(SinkError) as caught:
        sink.deliver()
    text = str(caught.value)
    assert text.endswith("refused 1 round, which are dropped: unable to parse\\x1b[1m: bad line")
    assert numbers_of(fake) == [1, 2, 4]
    assert health_of(sink) == {"queued_rounds": 0, "lost_rounds": 1, "problems": 0}
    count = len(fake.paths)
    sink.deliver()
    assert len(fake.paths) == count


def test_a_failure_in_the_middle_loses_nothing(fake: FakeInflux):
    """The batch is refused, its first round taken, then the server fails."""
    sink = made(fake)
    fake.answers = [Said(400), Said(204), Said(500)]
    take(sink, 1, 2)
    with pytest.raises(SinkError, match="HTTP 500"):
        sink.deliver()
    sink.deliver()
    assert sorted(set(numbers_of(fake))) == [1, 2]
    assert health_of(sink) == {"queued_rounds": 0, "lost_rounds": 0, "problems": 0}


def test_what_waits_is_bounded_and_the_loss_counted(fake: FakeInflux):
    sink = made(fake, url="http://127.0.0.1:1", queue_rounds=4)
    for number in range(10):
        take(sink, number)
        with pytest.raises(SinkError):
            sink.deliver()
    assert health_of(sink) == {"queued_rounds": 4, "lost_rounds": 6, "problems": 0}


def test_large_rounds_go_in_pieces(fake: FakeInflux):
    sink = made(fake, batch_bytes=64 << 10)
    take(sink, 1, many=3000)
    take(sink, 2, many=1)
    sink.deliver()
    assert len(numbers_of(fake)) == 3001
    assert all(len(text) <= 64 << 10 for text in fake.taken)


def test_rounds_come_while_others_go(fake: FakeInflux):
    sink = made(fake, queue_rounds=1000)
    thread = threading.Thread(target=take, args=(sink, *range(300)))
    thread.start()
    while thread.is_alive():
        sink.deliver()
    thread.join()
    sink.deliver()
    assert numbers_of(fake) == list(range(300))
    assert health_of(sink) == {"queued_rounds": 0, "lost_rounds": 0, "problems": 0}


def test_the_end_delivers_what_is_left(fake: FakeInflux):
    sink = made(fake)
    take(sink, 1)
    sink.stop()
    assert numbers_of(fake) == [1]


def test_the_end_says_what_is_lost():
    with fake_influx() as fake:
        sink = made(fake)
    take(sink, 1, 2)
    with pytest.raises(SinkError, match=r"^2 rounds could not be delivered: .*cannot be reached"):
        sink.stop()


def test_the_end_without_anything_left_says_nothing(fake: FakeInflux):
    made(fake, url="http://127.0.0.1:1").stop()


def test_a_certificate_is_checked(tmp_path: Path):
    """Nothing, and no password, is sent to who cannot show the right one."""
    make_certificate(tmp_path)
    seen: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            seen.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            return

    server = HTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    url = f"https://127.0.0.1:{server.server_address[1]}"
    try:
        distrustful = create_sink("influx", {"url": url, "database": "io"}, "oss1")
        distrustful.take(made_round([Reading(READ, ("a", "b"), 1)]))
        with pytest.raises(SinkError, match="certificate verify failed"):
            distrustful.deliver()
        assert seen == []
        settings = {"url": url, "database": "io", "ca": str(tmp_path / "cert.pem")}
        trustful = create_sink("influx", settings, "oss1")
        trustful.take(made_round([Reading(READ, ("a", "b"), 1)]))
        trustful.deliver()
        assert seen
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, r"\[sinks.influx\]: url is missing: add it"),
        ({"url": "influx:8086", "database": "a"}, "is not an address such as https"),
        ({"url": "http://[", "database": "a"}, "is not an address such as https"),
        ({"url": "http://a:99999", "database": "a"}, "is not an address such as https"),
        ({"url": "http://a\r\nX: y", "database": "a"}, "is not an address such as https"),
        ({"url": "http://u:p@a", "database": "a"}, "give user and password_file instead"),
        ({"url": "http://a/?db=b", "database": "a"}, "leave out what follows the path"),
        ({"url": "http://a"}, "database is missing"),
        ({"url": "http://a", "version": 2, "org": "o"}, "needs org and bucket"),
        ({"url": "http://a", "version": 3}, "version = 3"),
        ({"url": "http://a", "database": "a", "user": "u"}, "user and password_file together"),
        ({"url": "http://a", "database": "a", "user": "u", "password_file": "/p"}, "unencrypted"),
        ({"url": "https://a", "database": "a", "user": "u", "password_file": "/p",
          "token_file": "/t"}, "give token_file"),
        ({"url": "http://a", "database": "a", "queue_rounds": 0}, "queue_rounds = 0"),
        ({"url": "http://a", "database": "a", "databse": "b"}, "no key is called 'databse'"),
        ({"targets": []}, "targets"),
        ({"targets": [{"url": "http://a", "database": "a"}, {"url": "http://b"}]},
         r"targets\[2\]: database is missing"),
        ({"targets": [{"url": "http://a", "database": "a"}], "url": "http://b"}, "move url into"),
        ({"targets": "x"}, "targets"),
        ({"targets": [{"url": "http://a", "database": "a"}, {"url": "http://a", "database": "b"},
                      {"url": "http://A:80/", "database": "a"}]},
         r"targets\[3\] is the database of targets\[1\]: take one out"),
    ],
)  # fmt: skip
def test_bad_settings_are_one_line(settings: dict[str, Any], words: str):
    with pytest.raises(ConfigurationError, match=words) as caught:
        create_sink("influx", settings, "oss1")
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("[sinks.influx]: ")


def test_missing_says_which_secret_cannot_be_used(fake: FakeInflux, tmp_path: Path):
    secret = tmp_path / "password"
    sink = made(fake, user="u", password_file=str(secret))
    assert "cannot be read (No such file or directory)" in sink.missing()
    secret.write_text("pass\n")
    secret.chmod(0o644)
    assert sink.missing() == f"everybody may read or change {secret}: run chmod o-rw on it"
    secret.chmod(0o640)
    assert sink.missing() == ""
    secret.write_text("two\nlines\n")
    assert "several lines" in sink.missing()
