# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A portal over jobs of `survey_world`, at its moment, without passwords."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import Connection, Engine
from starlette.requests import Request
from starlette.testclient import TestClient

from stripewise.centre.database._engine import create_engine
from stripewise.centre.database._schema import initialise
from stripewise.centre.database.queries import Viewer
from stripewise.centre.portal import Gate, Guest, create_app
from support.survey_world import NOW

Viewers = Mapping[str, Callable[[Connection], Viewer]]


class SurveyPortal:
    """Asks for pages as somebody.

    Attributes:
        engine: Of the database.
    """

    def __init__(self, engine: Engine, viewers: Viewers) -> None:
        self.engine = engine
        self._client = TestClient(create_app(engine, _Named(viewers)))

    def get(self, who: str, address: str) -> Any:
        """Return the answer."""
        return self._client.get(address, headers={"x-who": who}, follow_redirects=False)

    def data(self, who: str, address: str) -> Any:
        """Return what the JSON of a page says."""
        answer = self.get(who, address + ("&" if "?" in address else "?") + "as=json")
        assert answer.status_code == 200, answer.text
        return answer.json()


class _Named(Gate):
    def __init__(self, viewers: Viewers) -> None:
        self._viewers = viewers

    def guest(self, connection: Connection, request: Request) -> Guest:
        who = request.headers.get("x-who", "")
        return Guest(self._viewers[who](connection)) if who in self._viewers else Guest()


def portal(directory: Path, viewers: Viewers, monkeypatch: pytest.MonkeyPatch) -> SurveyPortal:
    """Return a portal over an empty database, whose clock stands at `NOW`."""
    monkeypatch.setattr(
        "stripewise.centre.portal._serve_page.time", SimpleNamespace(time=lambda: NOW)
    )
    engine = create_engine(str(directory / "fleet.sqlite"))
    initialise(engine)
    return SurveyPortal(engine, viewers)
