# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""An identity provider that lies when it is told to: for what a real one never does."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey

CLIENT = "portal"
Claims = dict[str, Any]


@cache
def _first_key() -> RSAKey:
    return RSAKey.generate_key(2048, {"kid": "first"})


class FakeOidc:
    """The provider.

    Attributes:
        keys: That it signs with, the newest last; those of `published` are told.
        make: Makes the identity token of the right claims.
        metadata: What is changed in them.
        userinfo: Claims of that service.
        forms: That came with codes, each with its "authorization".
        asked: Paths of all requests.
        status: Of all answers.
    """

    def __init__(self, port: int) -> None:
        self.issuer = f"http://127.0.0.1:{port}"
        self.keys = [_first_key()]
        self.published = list(self.keys)
        self.make: Callable[[Claims], str] = self.signed
        self.metadata: Claims = {}
        self.userinfo: Claims = {}
        self.forms: list[dict[str, str]] = []
        self.asked: list[str] = []
        self.status = 200
        self.nonce = ""

    def claims(self) -> Claims:
        """Return right claims of a user alice."""
        now = int(time.time())
        return {"iss": self.issuer, "aud": CLIENT, "sub": "4711", "uid": "alice", "iat": now,
                "exp": now + 60, "nonce": self.nonce}  # fmt: skip

    def signed(self, claims: Claims, algorithm: str = "RS256") -> str:
        """Return claims signed with the newest key."""
        key = self.keys[-1]
        return jwt.encode({"alg": algorithm, "kid": key.kid}, claims, key, [algorithm])

    def answer(self, path: str, form: dict[str, str]) -> Any:
        """Answer a request."""
        self.asked.append(path)
        if path == "/.well-known/openid-configuration":
            places = {"authorization_endpoint": "authorize", "token_endpoint": "token",
                      "jwks_uri": "jwks", "userinfo_endpoint": "userinfo"}  # fmt: skip
            told = {key: f"{self.issuer}/{place}" for key, place in places.items()}
            return {"issuer": self.issuer, **told, **self.metadata}
        if path == "/jwks":
            return KeySet(list(self.published)).as_dict()
        if path == "/token":
            self.forms.append(form)
            return {"access_token": "access", "token_type": "Bearer",
                    "id_token": self.make(self.claims())}  # fmt: skip
        return self.userinfo


@contextmanager
def running() -> Iterator[FakeOidc]:
    """Start a provider; stop it at the end."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            form = dict(parse_qsl(self.rfile.read(length).decode()))
            form["authorization"] = self.headers.get("Authorization", "")
            body = json.dumps(provider.answer(urlsplit(self.path).path, form)).encode()
            self.send_response(provider.status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider = FakeOidc(server.server_port)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
