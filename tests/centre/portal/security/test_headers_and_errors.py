# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Headers of all answers, methods that are none, errors that tell nothing, paths that climb."""

from __future__ import annotations

import logging
import re
from typing import Any

import pytest
from starlette.testclient import TestClient

from stripewise.core.errors import StripewiseError
from support.portal_world import World, ask, client

CODES = (
    ("/", 200), ("/static/portal.css", 200), ("/nowhere", 404), ("/jobs", 303), ("/staff", 404),
    ("/api/v1/jobs", 401), ("/api/v1/openapi.json", 200), ("/jobs?as=xml", 400),
    ("/static/../portal.css", 404), ("/storage/", 307),
)  # fmt: skip


@pytest.mark.extended
def test_every_answer_has_the_headers(world: World, everything: list[str]) -> None:
    with client(world) as made:
        answers = [(one, ask(made, one, world.headers("bob"))) for one in everything[::7]]
        for path, code in CODES:
            answers.append((path, ask(made, path)))
            assert answers[-1][1].status_code in (code, 400), path
    for path, answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "unsafe" not in policy, path
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "base-uri 'none'" in policy
        assert "form-action 'self'" in policy
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] in ("same-origin", "no-referrer")
        kept = answer.headers["cache-control"]
        assert "no-store" in kept or kept == "private, no-cache", path
        assert "access-control-allow-origin" not in answer.headers
        assert "server" not in answer.headers
        assert "x-powered-by" not in answer.headers


@pytest.mark.extended
@pytest.mark.parametrize("error", [RuntimeError, KeyError, StripewiseError])
@pytest.mark.parametrize("path", ["/", "/?as=json", "/storage?as=csv", "/api/v1/jobs"])
def test_errors_tell_nothing_of_the_inside(
    own_world: World, monkeypatch: pytest.MonkeyPatch, path: str, error: type[Exception]
) -> None:
    from stripewise.centre.portal import _api as _jobs
    from stripewise.centre.portal.pages import _front, _storage

    def fail(*_: Any, **__: Any) -> Any:
        raise error("secret of /srv/inside, password=hunter2")

    monkeypatch.setattr(_jobs, "list_jobs", fail)
    monkeypatch.setattr(_front, "view_storage", fail)
    monkeypatch.setattr(_storage, "view_storage", fail)
    made = TestClient(own_world.app, raise_server_exceptions=False, follow_redirects=False)
    answer = made.get(path, headers=own_world.headers("alice"))
    assert answer.status_code in (500, 503)
    for word in ("secret", "hunter2", "Traceback", "Error", "srv", ".py"):
        assert word not in answer.text
    assert answer.headers["content-security-policy"]
    assert answer.headers["cache-control"] == "no-store"


def test_the_script_of_pages_is_kept_long_and_made_anew_only_with_its_address(
    world: World,
) -> None:
    with client(world) as made:
        address = re.search(r'"(/static/page.js[^"]+)"', made.get("/").text)
        assert address is not None
        answer = made.get(address[1])
        assert answer.headers["content-type"].startswith("text/javascript")
        assert "figure.chart" in answer.text
        assert "immutable" in answer.headers["cache-control"]
        assert "script-src 'self';" in answer.headers["content-security-policy"]
        assert answer.headers["content-encoding"] == "gzip"
        plain = made.get(address[1], headers={"accept-encoding": "identity"})
        assert "content-encoding" not in plain.headers
        assert plain.text == answer.text
        again = made.get(address[1], headers={"if-none-match": answer.headers["etag"]})
        assert (again.status_code, again.text) == (304, "")
        assert again.headers["etag"] == answer.headers["etag"]


def test_other_methods_are_refused(world: World) -> None:
    with client(world) as made:
        for path in (
            "/",
            "/jobs",
            "/api/v1/jobs",
            "/static/portal.css",
            "/static/page.js",
            "/login",
        ):
            for method in ("TRACE", "OPTIONS", "PUT", "DELETE", "PATCH", "CONNECT", "FOO"):
                headers = {**world.headers("bob"), "x-secret": "echo"}
                answer = made.request(method, path, headers=headers)
                assert answer.status_code == 405, (method, path)
                assert "echo" not in answer.text


def test_heads_tell_as_much_as_their_pages(world: World) -> None:
    bob = world.jobs["bob"][0]
    with client(world) as made:
        for path in (f"/jobs/{bob}", "/jobs/99", "/staff"):
            head = made.head(path, headers=world.headers("alice"))
            assert (head.status_code, head.text) == (404, "")
        lengths = {made.head(f"/jobs/{key}", headers=world.headers("alice"))
                   .headers["content-length"] for key in (bob, 99)}  # fmt: skip
        assert len(lengths) == 1


@pytest.mark.parametrize(
    "path",
    [
        "/static/../_app.py", "/static/%2e%2e/_app.py", "/static/..%2f_app.py",
        "/static/%2e%2e%2f%2e%2e%2f__init__.py", "/static//etc/passwd", "/static/%2fetc%2fpasswd",
        "/static/....//_app.py", "/static/..%5c_app.py", "/static/%00", "/static/portal.css%00.js",
        "/static/", "/static", "/static/%c0%ae%c0%ae/_app.py",
        "/jobs/..%2f..%2fetc%2fpasswd", "/jobs/1%2f..%2f2", "/storage/..%2f..%2fetc%2fpasswd",
        "/programs/..%2f..%2f..%2fetc%2fpasswd", "/programs/%00", "/programs/%ff%fe",
        "/login/..%2f..%2fetc", "/jobs/1/profile/..%2f..%2fpasswd", "/%2e%2e/%2e%2e/etc/passwd",
        "/storage/%2e%2e", "/jobs/-1", "/jobs/1e3", "/jobs/0x10", "/jobs/%D9%A1", "/jobs/1.0",
        f"/jobs/{'9' * 18}", f"/jobs/{'9' * 19}", f"/jobs/{'9' * 5000}", "/jobs/0",
        f"/api/v1/jobs/{'9' * 18}", f"/api/v1/jobs/{'9' * 300}",
        f"/api/v1/jobs/1/sources/{10**18}/files",
        f"/jobs/1/profile/{'9' * 18}", f"/savings/{'9' * 18}/settings", f"/programs/{'x' * 5000}",
    ],
)  # fmt: skip
def test_paths_lead_nowhere(world: World, path: str) -> None:
    with client(world) as made:
        answer = ask(made, path, world.headers("alice"))
    assert answer.status_code in (307, 400, 404), path
    assert "import" not in answer.text
    assert "root:" not in answer.text


def test_no_error_names_what_was_asked_of_the_database(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    with client(world) as made, caplog.at_level(logging.ERROR):
        for text in ("'", '"', "\\", "%", "_", ";--", "\x00", "'; DROP TABLE job; --", "${7*7}"):
            for name in (
                "q",
                "sort",
                "after",
                "user",
                "pattern",
                "finding",
                "as",
                "table",
                "since",
            ):
                answer = made.get("/jobs", params={name: text}, headers=world.headers("alice"))
                assert answer.status_code in (200, 400), (name, text)
                for word in ("SELECT", "sqlite", "sqlalchemy", "49"):
                    assert word not in answer.text.replace("4711", ""), (name, text)
    assert not caplog.records
