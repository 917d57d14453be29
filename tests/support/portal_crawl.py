# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""All routes of a portal, and all addresses that its pages lead to: links, forms, twins, API."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

from starlette.routing import Match, Mount, Route

from support.portal_world import BOB, DAY, NOW, OPEN, OWN_FORM, World, ask, client

__all__ = ["addresses", "routes", "seeds", "template_of"]

VALUES = {
    "q": (OPEN, "4711"), "job_id": ("4711",), "cluster": ("beta",), "user": (BOB,),
    "project": (f"{OPEN}project",), "program": (f"{OPEN}prog",), "state": ("COMPLETED",),
    "finding": ("shredded-collective",), "pattern": (OWN_FORM, "<"), "direction": ("write",),
    "source": ("darshan", "any"), "since": (str(NOW - 60 * DAY),), "until": (str(NOW - DAY),),
    "least_io_seconds": ("7000",), "least_avoidable_seconds": ("700000",),
    "least_lost_seconds": ("700000",), "period": ("month",), "programs": (f"{OPEN}prog",),
    "login": ("bob",), "by": ("day",), "least_ratio": ("2",), "a": ("1",), "b": ("2",),
    "file_system": ("scratch",), "kind": ("outage",), "form": ("toml", "shell"),
}  # fmt: skip
"""What is asked of fields of forms, by their name; others get bob's name."""


def routes(found: Iterable[Any]) -> Iterator[tuple[str, str]]:
    """Yield method and path of each route; what is no route that is known is an error."""
    for one in found:
        if isinstance(one, Route) or hasattr(one, "endpoint"):
            for method in sorted(one.methods - {"HEAD"}):
                yield method, one.path
        elif isinstance(one, Mount):
            yield "GET", one.path
        else:
            prefix = one.include_context.prefix if hasattr(one, "include_context") else ""
            for method, path in routes(one.original_router.routes):
                yield method, prefix + path


def template_of(app: Any, address: str) -> str:
    """Return the path of the route that answers an address; "" if none does."""
    scope = {"type": "http", "method": "GET", "path": urlsplit(address).path, "headers": []}
    for method, path in routes(app.routes):
        if method != "GET":
            continue
        if path == "/static":
            if scope["path"].startswith("/static/"):
                return path
            continue
        if Route(path, lambda _: None).matches(scope)[0] is Match.FULL:
            return path
    return ""


def seeds(world: World) -> list[str]:
    """Return addresses of all routes that read, of what is bob's where there is a choice."""
    jobs = world.jobs.get("bob") or [15]
    names = {
        "job": jobs[0], "source": (world.sources or [7])[0], "pair": (world.pairs or [1])[0],
        "program": f"{OPEN}prog",
    }  # fmt: skip
    found = []
    for method, path in routes(world.app.routes):
        if method == "GET" and path != "/static":
            name = "scratch" if "/storage/" in path else "oidc"
            words = {**names, "name": name}
            text = path.replace(":int}", "}")
            found.append(text.format(**words))  # a new parameter is a KeyError: say its value
    return [*found, f"/jobs/compare?a={jobs[0]}&b={jobs[-1]}", "/static/portal.css",
            "/patterns?pattern=<&least_lost_seconds=1"]  # fmt: skip


def addresses(world: World, who: Iterable[str], most: int = 2000) -> list[str]:
    """Return the addresses that pages lead to, as some people see them."""
    found: dict[tuple[Any, ...], str] = {}
    with client(world) as made:
        for name in who:
            _crawl(world, made, name, found, most)
    return list(found.values())


def _crawl(
    world: World, made: Any, who: str, found: dict[tuple[Any, ...], str], most: int
) -> None:
    seen: set[tuple[Any, ...]] = set()
    waiting = deque(seeds(world))
    while waiting and len(found) < most:
        address = waiting.popleft()
        parts = urlsplit(address)
        key = _kind(address)
        if key in seen or parts.netloc or parts.path.startswith("/static/p"):
            continue
        seen.add(key)
        answer = ask(made, address, world.headers(who))
        found.setdefault(key, address)
        if answer.status_code != 200:
            continue
        kind = answer.headers["content-type"]
        if kind.startswith("text/html"):
            page = _Links()
            page.feed(answer.text)
            waiting += [urljoin(address, one) for one in page.addresses()]
        elif parts.path.startswith("/api/v1/"):
            waiting += _of_api(address, answer.json())


def _kind(address: str) -> tuple[Any, ...]:
    """Return what makes an address another one: values of most words do not, nor all of many."""
    parts = urlsplit(address)
    words = dict(parse_qsl(parts.query))
    form = (words.pop("as", ""), words.pop("table", ""))
    sort = words.pop("sort", "")
    told = tuple(words.get(name, "") for name in ("source", "by", "form"))
    if sort or len(words) > 2:
        return (parts.path, form, "" if form[0] else sort, len(words) > 1)
    return (parts.path, form, frozenset(words), *told)


class _Links(HTMLParser):
    """Links of a page, and addresses to which its forms lead."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.forms: list[tuple[str, list[tuple[str, str]]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take one element."""
        told = {name: value or "" for name, value in attrs}
        if tag == "a" and told.get("href", "").startswith("/"):
            self.links.append(told["href"])
        elif tag == "form":
            self.forms.append((told["action"] if told["method"] == "get" else "", []))
        elif tag in ("input", "select") and self.forms and "name" in told:
            self.forms[-1][1].append((told["name"], told.get("value", "")))

    def addresses(self) -> Iterator[str]:
        """Yield links, and each form with each field by itself."""
        yield from self.links
        for action, fields in self.forms:
            for name, value in fields if action else ():
                for text in VALUES.get(name, (value or OPEN,)):
                    yield f"{action}?{urlencode({name: text})}"


def _of_api(address: str, told: Any) -> Iterator[str]:
    parts = urlsplit(address)
    if "openapi" in parts.path:
        for path, methods in told["paths"].items():
            for one in methods["get"].get("parameters", ()):
                if one["in"] == "query" and "{" not in path:
                    for text in VALUES.get(one["name"], ("1",)):
                        yield f"{path}?{urlencode({one['name']: text})}"
        for name in ("start_at", "name", "raw_id", "io_seconds"):
            yield f"/api/v1/jobs?limit=1&sort=-{name}"
            yield f"/api/v1/jobs?limit=1&sort={name}"
        return
    if isinstance(told, dict) and told.get("next"):
        yield f"{parts.path}?{urlencode({**dict(parse_qsl(parts.query)), 'after': told['next']})}"
    for one in told.get("items", ()) if isinstance(told, dict) else ():
        if "id" in one:
            yield f"{parts.path}/{one['id']}"
    for one in told.get("sources", ()) if isinstance(told, dict) else ():
        yield one["files"]
        if one["profile"]:
            yield one["profile"]
