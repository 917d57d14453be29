# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Names that come from jobs, files, users and events are text: never HTML, script or formula."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, insert

from stripewise.centre.database._records import (
    CampaignRecord,
    EventRecord,
    JobRecord,
    PairRecord,
    Record,
    SampleRecord,
)
from stripewise.centre.database.store._writer import Writer
from stripewise.centre.database.tables import Ledger
from stripewise.centre.portal import PortalSettings, create_app
from stripewise.centre.portal._settings import ServerSettings, SiteSettings
from support.portal_crawl import addresses
from support.portal_jobs import document, finding, profile
from support.portal_world import DAY, NOW, URL, World, ask, client, make_world

ATTACKS = (
    "\"><script>alert('zqx')</script>", "'><img src=x onerror=alert(1)>zqx",
    "javascript:alert(1)zqx", "</script><svg onload=alert(1)>zqx", "{{7*7}}zqx",
    "=cmd|'/c calc'!A0zqx", "+1zqx", "-1zqx", "@1zqx", "zqx\r\nset-cookie: a=b", "zqx\u202egpj",
    "]]>zqx<!--", "&lt;script&gt;zqx", "[a](javascript:alert(1)) ![b](/x) <b onclick=x>zqx</b>",
)  # fmt: skip
LINKS = ("href", "src", "action", "hx-get", "formaction", "srcset", "xlink:href", "data")


def _records(number: int, attack: str) -> Sequence[Record]:
    start = int(NOW - 2 * DAY)
    name = attack
    told = finding(phrase=name, text=name, remedy=name, tune=name, title=name, advice=name,
                   lines=[name], files=[f"/scratch/{name}"], cost_basis=name, code="zqx-code",
                   evidence={name: name})  # fmt: skip
    made = document(number, [told])
    made |= {"command": name.replace(" ", "_").replace("/", ":"), "headline": name, "source": name,
             "patterns": [{"file": f"/scratch/{name}", "dataset": name, "writing": True,
                           "notation": f"<{name}, (4)>", "element_bytes": 8}]}  # fmt: skip
    for one in made["files"]:
        one["path"] = f"/{name}/{name}{one['path']}"
        one["hints"] = {"requested": {name: name}, "applied": {}, "reported": {name: name + "x"}}
    columns = {"name": name, "state": name[:60], "node_list": name, "partition": name[:60],
               "qos": name[:60], "unix_group": name,
               "run_seconds": 64.0, "node_count": 2}  # fmt: skip
    program = made["command"]
    pair = {"made_at": start - 9, "speedup": 3.8, "low": 3.5, "high": 4.1, "pair_count": 12,
            "elapsed_speedup": 1.2, "saved_seconds": 2.9, "node_count": 2, "rank_count": 4,
            "pattern": name, "verification": name[:60], "configuration": name,
            "hints": name}  # fmt: skip
    rows = tuple((NOW - 600 + 60 * place, 60.0, 6000.0) for place in range(10))
    campaign = {"name": name, "suite": name, "storage": name, "made_at": start,
                "is_emulated": False, "document": b""}  # fmt: skip
    # fmt: off
    figure = {"number": 0, "case": name, "operation": name[:60], "nodes": 1, "ranks": 1,
              "run_count": 1, "median": 1e9, "low": 1e9, "high": 1e9, "unit": "bytes/s"}
    # fmt: on
    return [
        JobRecord(
            name[:60],
            number,
            start - 10,
            user=name,
            uid=5,
            account=name,
            start_at=start,
            end_at=start + 64,
            columns=columns,
        ),
        *[_replaced(profile(number, user=name, start=start, made=made), name)],
        PairRecord(f"study {number}", program, name, pair),
        *[
            SampleRecord(name, name, name, metric, "bytes", True, rows)
            for metric in ("read_bytes", "write_bytes")
        ],
        EventRecord(name, NOW - 60, None, name[:60], name),
        EventRecord(name, NOW - 60, None, "advice", name),
        CampaignRecord(f"campaign {number}", campaign, (figure,)),
    ]  # fmt: skip


def _replaced(record: Any, name: str) -> Record:
    from dataclasses import replace

    found: Record = replace(record, cluster=name[:60], name=name)
    return found


@pytest.fixture
def hostile(engine: Engine, tmp_path: Path) -> World:
    world = make_world(engine, with_bob=False)
    with engine.execution_options(writing=True).begin() as connection:
        for place, attack in enumerate(ATTACKS):
            Writer(connection).store(_records(700 + place, attack))
            connection.execute(insert(Ledger).values(
                digest=f"e{place}", kind=attack[:60], name=attack, size_bytes=1,
                outcome="refused", reason=attack, at=NOW - 100))  # fmt: skip
    advice = tmp_path / "advice.md"
    advice.write_text("\n\n".join(ATTACKS), "utf-8")
    settings = PortalSettings(
        server=ServerSettings(url=URL, requests_per_minute=10**9),
        site=SiteSettings(name=ATTACKS[0], advice=advice),
    )
    world.app = create_app(engine, settings=settings)
    world.jobs["bob"] = world.jobs["alice"]
    return world


@pytest.mark.extended
def test_names_are_text_on_every_page(hostile: World) -> None:
    seen = Counter[str]()
    with client(hostile) as made:
        for address in addresses(hostile, ("admin",), most=800):
            answer = ask(made, address, hostile.headers("admin"))
            assert answer.status_code < 500, address
            assert "a=b" not in answer.headers.get("set-cookie", "")
            kind = answer.headers.get("content-type", "").partition(";")[0]
            seen[kind] += "zqx" in answer.text
            if kind == "text/html":
                _check_page(answer.text, address)
            elif kind == "text/csv":
                _check_csv(answer.text, address)
            elif kind == "application/json":
                json.loads(answer.text)
    assert min(seen[kind] for kind in ("text/html", "text/csv", "application/json")) > 20


class _Page(HTMLParser):
    """Takes note of what a browser would run or follow."""

    def __init__(self) -> None:
        super().__init__()
        self.bad: list[str] = []
        self.scripts = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Check one element."""
        if tag == "script":
            self.scripts += 1
        if tag in ("iframe", "object", "embed", "base", "style", "img"):
            self.bad.append(tag)
        for name, value in attrs:
            if name.startswith("on") or name == "style" or name.startswith("hx-on"):
                self.bad.append(f"{tag} {name}={value}")
            if name in LINKS and value and not value.startswith(("/", "#", "?")):
                self.bad.append(f"{tag} {name}={value}")
            if name in LINKS and (value or "").startswith("//"):
                self.bad.append(f"{tag} {name}={value}")
            if name == "data-chart":
                json.loads(value or "")


def _check_page(text: str, address: str) -> None:
    page = _Page()
    page.feed(text)
    page.close()
    assert page.bad == [], address
    assert page.scripts == 2, address
    for attack in ATTACKS:
        if "<" in attack:
            assert attack not in text, address
    assert "\u202e" not in text, address
    assert "49zqx" not in text


def _check_csv(text: str, address: str) -> None:
    for row in csv.reader(io.StringIO(text)):
        for cell in row:
            is_number = cell[:1] in "+-" and cell[1:2].isdigit() and "zqx" not in cell
            assert is_number or not cell.startswith(("=", "+", "-", "@", "\t", "\r")), address
            assert "\r" not in cell
