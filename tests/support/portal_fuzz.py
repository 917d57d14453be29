# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Random requests to a portal, made of what it understands and of what it does not.

Each request is made from a number alone, and sent to the application without sockets.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any
from urllib.parse import quote, unquote, urlencode, urlsplit

from stripewise.centre.database.accounts import Tokens
from support.portal_crawl import VALUES, routes
from support.portal_world import PASSWORD, World

HOSTILE = (
    "", " ", "0", "-1", "1", "15", "9" * 18, "9" * 40, "1e999", "nan", "inf", "-inf", "1.5", "٣",
    "²", "'", '"', "\\", "%", "_", "\x00", "\x00x", "\n", "\r\nx: y", "\t", "\u2028", "\ufeff",
    "\ud83d\ude00", "\U0010ffff", "é", "A\u0301", "ß", "İ", "<script>", '"><script>',
    "javascript:", "{{7*7}}", "${7*7}", "../../etc/passwd", "..%2f", "/", "//", "//evil.example",
    "'; DROP TABLE job", "1 OR 1=1", "x" * 200, "x" * 201, "x" * 5000, "a b " * 50, "2026-02-30",
    "0000-00-00", "9999-12-31", "2026-01-01", "-9" * 9, "true", "null", "[]", "{}", "[" * 300,
    "=1+1", "@SUM(A1)", "WyItc3RhcnRfYXQiLDEsMV0", "WyJzdGFydF9hdCIsbnVsbCwxXQ",
    "WyJpZCIsTmFOLDFd", "W1tbW1tbW10", "darshan", "COMPLETED", "json", "csv", "html", "day",
    "year", "-start_at", "name", "none", "any",
)  # fmt: skip
_EXTRA = (
    "as", "table", "sort", "after", "from", "limit", "until", "next", "csrf", "state", "code",
    "error", "iss", "case", "operation", "nodes", "ranks", "emulated",
)  # fmt: skip
WORDS = (*VALUES, *_EXTRA)
METHODS = ("GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "X")
_HEADERS = (
    "accept", "origin", "referer", "sec-fetch-site", "x-forwarded-for", "x-forwarded-host",
    "x-remote-user", "if-none-match", "range", "content-length", "transfer-encoding",
    "accept-encoding", "hx-request", "expect", "connection", "x-http-method-override",
)  # fmt: skip
_FORMS = ("application/x-www-form-urlencoded",) * 6 + (
    "application/json", "multipart/form-data; boundary=b", "multipart/form-data", "text/plain", "",
    "application/x-www-form-urlencoded; charset=utf-7")  # fmt: skip
_RENEWED = 500


@dataclass(frozen=True)
class Sent:
    """One request.

    Attributes:
        path: As it was sent, with its query.
    """

    method: str
    path: str
    headers: Sequence[tuple[bytes, bytes]]
    body: bytes


class Fuzzer:
    """Makes requests from seeds.

    Attributes:
        world: Whose portal is asked.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        found = sorted(routes(world.app.routes))
        self.routes = found + 2 * [one for one in found if one[0] != "GET"]
        self.sessions: list[tuple[dict[str, str], str]] = []
        self.known = [str(key) for keys in world.jobs.values() for key in keys]

    def renew(self) -> None:
        """Make sessions and tokens anew: some requests end them."""
        people = ("alice", "bob", "support", "admin")
        self.sessions = [self.world.session(login) for login in people]
        tokens = Tokens(self.world.engine)
        for login in people:
            scopes = ["read", "read:files"]
            self.world.tokens[login], _ = tokens.make(login, "fuzz", scopes, by="test")

    def request(self, seed: int) -> Sent:
        """Make one request."""
        random = Random(seed)
        method, template = random.choice(self.routes)
        if random.random() < 0.1:
            method = random.choice(METHODS)
        path = self._path(random, template)
        if random.random() < 0.8:
            path += "?" + self._query(random)
        headers = [(b"host", b"testserver" if random.random() < 0.97 else self._raw(random))]
        headers += self._who(random)
        for _ in range(random.choice((0, 0, 0, 1, 2, 30))):
            headers.append((random.choice(_HEADERS).encode(), self._raw(random)))
        body = b""
        if method != "GET" or random.random() < 0.05:
            headers.append((b"content-type", random.choice(_FORMS).encode()))
            body = self._body(random)
        return Sent(method, path, headers, body)

    def _path(self, random: Random, template: str) -> str:
        draw = random.random()
        if draw < 0.05:
            return "/" + "/".join(
                quote(_bytes(self._text(random))) for _ in range(random.randrange(1, 6))
            )
        parts = []
        for part in template.split("/"):
            if part.startswith("{"):
                usual = (*self.known, "scratch", "common", "alicia", "oidc", "1", "7")
                part = random.choice(usual) if random.random() < 0.8 else self._text(random)
                part = quote(_bytes(part), safe="")
            parts.append(part)
        found = "/".join(parts) or "/"
        if found == "/static":
            found += "/" + random.choice(("portal.css", "htmx.min.js", "x", "../x", "%2e%2e/x"))
        return found + random.choice(("",) * 100 + ("/", "//", "%00", "%2f", ";x", "%"))

    def _query(self, random: Random) -> str:
        number = random.choice((1, 1, 1, 2, 3, 5, 8, 300))
        words = []
        for _ in range(number):
            name = random.choice(WORDS) if random.random() < 0.95 else self._text(random)
            words.append((name, self._value(random, name)))
        if random.random() < 0.05:
            return quote(_bytes(self._text(random)) * 3, safe="&=;%+?#/")
        text = urlencode([(_bytes(name), _bytes(value)) for name, value in words])
        return text.replace("%", "%%", 1) if random.random() < 0.02 else text

    def _value(self, random: Random, name: str) -> str:
        if name in VALUES and random.random() < 0.5:
            return random.choice(VALUES[name])
        return self._text(random)

    def _text(self, random: Random) -> str:
        draw = random.random()
        if draw < 0.75:
            return random.choice(HOSTILE)
        if draw < 0.85:
            return random.choice(HOSTILE) + random.choice(HOSTILE)
        return "".join(chr(random.randrange(1, 0x2FF)) for _ in range(random.randrange(1, 30)))

    def _who(self, random: Random) -> list[tuple[bytes, bytes]]:
        draw = random.random()
        if draw < 0.4:
            secret = random.choice(list(self.world.tokens.values()))
            return [(b"authorization", f"Bearer {secret}".encode())]
        if draw < 0.8:
            return [(b"cookie", random.choice(self.sessions)[0]["cookie"].encode())]
        if draw < 0.85:
            return [(b"authorization", self._raw(random)), (b"cookie", self._raw(random))]
        if draw < 0.9:
            return [(b"cookie", b"stripewise=" + self._raw(random))]
        return []

    def _body(self, random: Random) -> bytes:
        draw = random.random()
        if draw < 0.6:
            form = {"csrf": random.choice(self.sessions)[1], "name": self._text(random),
                    "days": self._text(random), "files": "1", "user": self._text(random),
                    "secret": "x", "next": self._text(random)}  # fmt: skip
            if random.random() < 0.02:
                form |= {"user": "alice", "secret": PASSWORD}
            chosen = {name: value for name, value in form.items() if random.random() < 0.8}
            return urlencode({name: _bytes(value) for name, value in chosen.items()}).encode()
        if draw < 0.7:
            return urlencode([(f"f{place}", "x") for place in range(200)]).encode()
        if draw < 0.75:
            return b"a" * 40_000
        if draw < 0.8:
            return b"[" * 5000
        return random.randbytes(random.randrange(200))

    def _raw(self, random: Random) -> bytes:
        text = _bytes(self._text(random))[:200]
        return text.replace(b"\r", b"").replace(b"\n", b"").replace(b"\0", b"")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


class Errors(logging.Handler):
    """Keeps what is logged as an error."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a line."""
        self.lines.append(record.getMessage())


def fuzz(world: World, seeds: Sequence[int]) -> tuple[list[str], Counter[int]]:
    """Send requests; return what went wrong, and how often each status was the answer."""
    errors = Errors()
    logging.getLogger().addHandler(errors)
    try:
        return asyncio.run(_fuzz(Fuzzer(world), seeds, errors))
    finally:
        logging.getLogger().removeHandler(errors)


async def _fuzz(
    fuzzer: Fuzzer, seeds: Sequence[int], errors: Errors
) -> tuple[list[str], Counter[int]]:
    wrong, statuses = [], Counter[int]()
    for place, seed in enumerate(seeds):
        if place % _RENEWED == 0:
            fuzzer.renew()
        sent = fuzzer.request(seed)
        try:
            status = await send(fuzzer.world.app, sent)
        except Exception as error:
            wrong.append(f"{seed} {sent.method} {sent.path[:200]!r}: {error!r:.300}")
            continue
        statuses[status] += 1
        if status >= 500 or errors.lines:
            wrong.append(f"{seed} {sent.method} {sent.path[:200]!r}: {status} {errors.lines[:1]}")
            errors.lines.clear()
    return wrong, statuses


async def send(app: Any, sent: Sent) -> int:
    """Send one request to an application, and return the status of its answer."""
    parts = urlsplit("http://testserver" + sent.path)
    raw, _, query = sent.path.partition("?")
    scope = {
        "type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1",
        "method": sent.method, "scheme": "http", "path": unquote(raw, errors="replace"),
        "raw_path": raw.encode("ascii", "ignore"), "query_string": query.encode("ascii", "ignore"),
        "root_path": "", "headers": list(sent.headers), "client": ("192.0.2.1", 4321),
        "server": (parts.hostname, 80), "state": {},
    }  # fmt: skip
    pieces = [{"type": "http.request", "body": sent.body, "more_body": False}]
    found: list[int] = []

    async def receive() -> Any:
        return pieces.pop() if pieces else {"type": "http.disconnect"}

    async def answer(message: Any) -> None:
        if message["type"] == "http.response.start":
            found.append(message["status"])
            for name, value in message["headers"]:
                assert b"\n" not in name + value, message
                assert b"\r" not in name + value, message

    await app(scope, receive, answer)
    assert len(found) == 1
    return found[0]
