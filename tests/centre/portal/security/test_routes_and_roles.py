# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Nobody learns of another's job by any route: all addresses, asked by everybody.

Two portals differ in bob's jobs alone. Whoever may not see them must get the same answers from
both, to the byte: then no name, figure, count, order, cursor or error depends on them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from urllib.parse import unquote

import httpx
import pytest

from support.portal_crawl import routes, template_of
from support.portal_world import FIGURES, FILE, OPEN, World, ask, client, statements

STRANGERS = ("", "alice", "dave", "lonely")
NOBODY = ("expired", "revoked", "gone", "garbage", "empty", "no scope")
BLIND = ("carol", "bob blind", "support blind")
"""See bob's jobs, but no names of files."""
_OF_ID = re.compile(r"^/(?:api/v1/)?(?:jobs|savings|programs)/[^?]+")


@pytest.mark.extended
def test_the_addresses_lead_to_every_route(world: World, everything: list[str]) -> None:
    asked = {template_of(world.app, one) for one in everything}
    read = {path for method, path in routes(world.app.routes) if method == "GET"}
    assert read - asked - {"/static"} == set()
    assert len(everything) > 300


@pytest.mark.extended
def test_every_route_has_something_to_show(world: World, everything: list[str]) -> None:
    shown = set()
    with client(world) as made:
        for who in ("bob", "admin"):
            for one in everything:
                template = template_of(world.app, one)
                if template not in shown and _ask(world, made, one, who).status_code == 200:
                    shown.add(template)
    read = {path for method, path in routes(world.app.routes) if method == "GET"}
    providers = {"/login/{name}", "/login/{name}/callback"}  # none is set up
    sessions = {"/account"}  # a token has no page of its account
    assert read - shown - providers - {"/static"} <= sessions


@pytest.mark.extended
@pytest.mark.parametrize("who", STRANGERS)
def test_answers_do_not_depend_on_jobs_of_others(
    world: World, without_bob: World, everything: list[str], who: str
) -> None:
    differ, told = [], []
    with client(world) as made, client(without_bob) as other:
        for one in everything:
            answer, without = _ask(world, made, one, who), _ask(without_bob, other, one, who)
            if _told(answer) != _told(without):
                differ.append((one, *_difference(answer.text, without.text)))
            if OPEN not in unquote(one).lower() and _marks(answer.text):
                told.append(one)
    assert differ == []
    assert told == []


@pytest.mark.extended
@pytest.mark.parametrize("who", BLIND)
def test_names_of_files_are_hidden_everywhere(
    world: World, everything: list[str], who: str
) -> None:
    shown, told = 0, []
    with client(world) as made:
        for one in everything:
            answer = _ask(world, made, one, who)
            if FILE in answer.text + str(answer.headers):
                told.append(one)
            shown += OPEN in answer.text
    assert told == []
    assert shown > 20  # they do see the jobs


@pytest.mark.extended
@pytest.mark.parametrize("who", NOBODY)
def test_what_proves_nothing_is_nobody(world: World, everything: list[str], who: str) -> None:
    with client(world) as made:
        for one in everything[::5]:
            nobody = _told(ask(made, one))
            assert _told(_ask(world, made, one, who)) == nobody, one


@pytest.mark.extended
@pytest.mark.parametrize("who", STRANGERS)
def test_not_theirs_and_not_there_are_one_answer_and_one_work(
    world: World, everything: list[str], who: str
) -> None:
    jobs = set(world.jobs["bob"])
    compared, differ = 0, []
    with client(world) as made:
        _ask(world, made, "/jobs", who)  # notes that the token is used
        for one in everything:
            missing = _missing(one, jobs, world)
            if missing is None:
                continue
            with statements(world.engine) as done:
                answer = _ask(world, made, one, who)
            with statements(world.engine) as also:
                nothing = _ask(world, made, missing, who)
            if done != also or _told(answer, one) != _told(nothing, missing):
                differ.append(one)
            if "compare" not in one:
                assert answer.status_code in (303, 401, 404), one
            compared += 1
    assert differ == []
    assert compared > 40


def _ask(world: World, made: httpx.Client, address: str, who: str) -> httpx.Response:
    return ask(made, address, world.headers(who))


def _told(answer: httpx.Response, *addresses: str) -> tuple[int, str, Mapping[str, str]]:
    """Return all that an answer tells, but for the address that was asked for and the second.

    A cookie that is taken back expires now.
    """
    text, headers = answer.text, dict(answer.headers)
    if "set-cookie" in headers:
        headers["set-cookie"] = re.sub(r"(?<=expires=)[^;]+", "now", headers["set-cookie"])
    if "location" in headers and addresses:
        headers["location"] = headers["location"].partition("?")[0]
        headers.pop("content-length", None)
    return answer.status_code, text, headers


def _difference(one: str, other: str) -> tuple[str, str]:
    """Return both from where they begin to differ."""
    place = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)
    begin = max(place - 40, 0)
    return one[begin : place + 40], other[begin : place + 40]


def _marks(text: str) -> list[str]:
    return [one for one in (OPEN, OPEN.upper(), FILE, *FIGURES) if one in text]


def _missing(address: str, jobs: Iterable[int], world: World) -> str | None:
    """Return the same address of something that does not exist; None: it names nothing of bob."""
    found = _OF_ID.match(address)
    if found is None or "/programs/summary" in address:
        return None
    path = found[0]
    if "/programs/" in path:
        return address.replace(f"{OPEN}prog", "nosuchprog") if OPEN in path else None
    if "/savings/" in path:
        return address.replace("/savings/1/", "/savings/8/")
    for key in jobs:
        if re.search(rf"/jobs/{key}\b", path):
            return re.sub(rf"/jobs/{key}\b", f"/jobs/{'9' * len(str(key))}", address)
    return None
