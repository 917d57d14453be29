# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Requests wait for their turn; whoever is slow, or has gone, takes none."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import pytest

from stripewise.centre.portal import _gate as _turns
from stripewise.centre.portal._gate import Turns
from stripewise.centre.portal._settings import LOGINS_AT_ONCE, ServerSettings

Message = dict[str, Any]
AT_ONCE = 2


class Portal:
    """Answers when it is let to, and notes who is within."""

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.within: list[str] = []
        self.most = 0
        self.bodies: list[bytes] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.within.append(scope["path"])
        self.most = max(self.most, len(self.within))
        message = await receive()
        self.bodies.append(message.get("body", b""))
        await self.open.wait()
        self.within.remove(scope["path"])
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


class Caller:
    """One request, as a server hands it on."""

    def __init__(self, path: str, *sent: Message, method: str = "GET") -> None:
        self.scope = {"type": "http", "path": path, "method": method, "headers": []}
        self.sent: asyncio.Queue[Message] = asyncio.Queue()
        for one in sent or ({"type": "http.request", "body": b"", "more_body": False},):
            self.sent.put_nowait(one)
        self.answer: list[Message] = []
        self.takes = asyncio.Event()
        self.takes.set()

    async def take(self, message: Message) -> None:
        await self.takes.wait()
        self.answer.append(message)

    def call(self, turns: Turns) -> asyncio.Task[None]:
        return asyncio.ensure_future(turns(self.scope, self.sent.get, self.take))

    @property
    def status(self) -> int:
        return int(self.answer[0]["status"])


async def settle() -> None:
    """Let all tasks go as far as they can."""
    for _ in range(20):
        await asyncio.sleep(0)


def run(test: Callable[[Portal, Turns], Coroutine[Any, Any, None]]) -> None:
    async def within() -> None:
        portal = Portal()
        await test(portal, Turns(portal, ServerSettings(requests_at_once=AT_ONCE)))

    asyncio.run(within())


def test_as_many_as_have_a_connection_are_within_and_all_are_answered() -> None:
    async def test(portal: Portal, turns: Turns) -> None:
        callers = [Caller(f"/{number}") for number in range(200)]
        tasks: list[Awaitable[None]] = [one.call(turns) for one in callers]
        await settle()
        assert portal.within == ["/0", "/1"]
        portal.open.set()
        await asyncio.gather(*tasks)
        assert portal.most == AT_ONCE
        assert {one.status for one in callers} == {200}

    run(test)


def test_a_slow_body_takes_no_turn_and_arrives_whole() -> None:
    async def test(portal: Portal, turns: Turns) -> None:
        part = {"type": "http.request", "body": b"a=", "more_body": True}
        slow = [Caller(f"/slow{number}", part, method="POST") for number in range(5)]
        tasks = [one.call(turns) for one in slow]
        await settle()
        assert portal.within == []
        portal.open.set()
        quick = Caller("/quick")
        await quick.call(turns)
        assert quick.status == 200
        for one in slow:
            one.sent.put_nowait({"type": "http.request", "body": b"b", "more_body": False})
        await asyncio.gather(*tasks)
        assert {one.status for one in slow} == {200}
        assert portal.bodies[1:] == [b"a="] * 5

    run(test)


def test_a_body_without_end_is_handed_on_as_it_comes() -> None:
    async def test(portal: Portal, turns: Turns) -> None:
        part = {"type": "http.request", "body": b"x" * _turns.MOST_BYTES, "more_body": True}
        portal.open.set()
        caller = Caller("/form", part, part, part, method="POST")
        await caller.call(turns)
        assert caller.status == 200
        assert caller.sent.qsize() == 1

    run(test)


def test_who_does_not_take_the_answer_keeps_no_turn() -> None:
    async def test(portal: Portal, turns: Turns) -> None:
        portal.open.set()
        slow = [Caller(f"/{number}") for number in range(5)]
        for one in slow:
            one.takes.clear()
        tasks = [one.call(turns) for one in slow]
        quick = Caller("/quick")
        await quick.call(turns)
        assert quick.status == 200
        assert not any(task.done() for task in tasks)
        for one in slow:
            one.takes.set()
        await asyncio.gather(*tasks)

    run(test)


def test_who_has_gone_costs_nothing() -> None:
    async def test(portal: Portal, turns: Turns) -> None:
        callers = [Caller(f"/{number}") for number in range(6)]
        tasks = [one.call(turns) for one in callers]
        await settle()
        for one in callers[2:5]:
            one.sent.put_nowait({"type": "http.disconnect"})
        await settle()
        portal.open.set()
        await asyncio.gather(*tasks)
        assert len(portal.bodies) == 3
        assert [len(one.answer) for one in callers] == [2, 2, 0, 0, 0, 2]

    run(test)


def test_who_was_cut_off_within_the_body_is_not_answered() -> None:
    async def test(portal: Portal, turns: Turns) -> None:
        part = {"type": "http.request", "body": b"a=", "more_body": True}
        caller = Caller("/form", part, {"type": "http.disconnect"}, method="POST")
        await caller.call(turns)
        assert caller.answer == []
        assert portal.bodies == []

    run(test)


def test_logins_that_hang_hold_up_no_page() -> None:
    async def test(portal: Portal, turns: Turns) -> None:
        logins = [Caller("/login", method="POST") for _ in range(LOGINS_AT_ONCE)]
        logins += [Caller("/login/oidc/callback") for _ in range(4)]
        tasks = [one.call(turns) for one in logins]
        await settle()
        assert len(portal.within) == LOGINS_AT_ONCE
        page = Caller("/login")
        tasks.append(page.call(turns))
        await settle()
        assert len(portal.within) == LOGINS_AT_ONCE + 1
        portal.open.set()
        await asyncio.gather(*tasks)
        assert {one.status for one in [*logins, page]} == {200}

    run(test)


def test_files_of_the_portals_own_are_bounded_and_hold_up_no_page() -> None:
    async def test(portal: Portal, turns: Turns) -> None:
        files = [Caller("/static/portal.css") for _ in range(100)]
        tasks = [one.call(turns) for one in files]
        await settle()
        assert len(portal.within) == _turns._FILES_AT_ONCE
        tasks.append(Caller("/jobs").call(turns))
        await settle()
        assert portal.within[-1] == "/jobs"
        portal.open.set()
        await asyncio.gather(*tasks)
        assert {one.status for one in files} == {200}

    run(test)


def test_who_waits_too_long_is_told_when_to_come_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_turns, "WAIT_SECONDS", 0.001)

    async def test(portal: Portal, turns: Turns) -> None:
        first = [Caller(f"/{number}") for number in range(AT_ONCE)]
        tasks = [one.call(turns) for one in first]
        await settle()
        late = Caller("/late")
        await late.call(turns)
        assert late.status == 503
        assert (b"retry-after", b"10") in late.answer[0]["headers"]
        static = Caller("/static/portal.css")
        tasks.append(static.call(turns))
        portal.open.set()
        await asyncio.gather(*tasks)
        assert {one.status for one in [*first, static]} == {200}

    run(test)


def test_a_turn_is_given_back_by_what_fails() -> None:
    async def broken(*_: Any) -> None:
        raise ValueError("broken")

    async def test() -> None:
        turns = Turns(broken, ServerSettings(requests_at_once=1))
        for _ in range(3):
            with pytest.raises(ValueError, match="broken"):
                await asyncio.wait_for(Caller("/").call(turns), 5)

    asyncio.run(test())
