# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What all parts of the API share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi.security import HTTPBearer
from pydantic import BaseModel
from sqlalchemy import Connection
from starlette.exceptions import HTTPException

from stripewise.fleet.queries import MOST_ROWS, Sight, Viewer
from stripewise.web._serve_page import Desk
from stripewise.web.api._models import Failure

PREFIX = "/api/v1"
_OTHERS: dict[int | str, dict[str, Any]] = {
    304: {"description": "Not changed since the answer with the ETag in `If-None-Match`."},
    400: {"model": Failure, "description": "A value cannot be used."},
    401: {"model": Failure, "description": "No valid token, nobody is logged in."},
    404: {"model": Failure, "description": "Not there, or not visible to the caller."},
    429: {"model": Failure, "description": "Too many requests; `Retry-After` says when again."},
    "default": {"model": Failure, "description": "The portal or its database fails."},
}
_TOKEN = HTTPBearer(auto_error=False, description="A token of the portal, with the scope `read`.")
"""Described here, checked by the gate: sessions and trusted proxies may ask as well."""
_DAY = "Day, or seconds since 1970."
After = Annotated[str, Query(description="`next` of the part before.", max_length=1000)]
Limit = Annotated[int, Query(ge=1, le=MOST_ROWS, description="Rows of one part.")]
Since = Annotated[str | None, Query(description=f"From: {_DAY}", max_length=200)]
Until = Annotated[str | None, Query(description=f"Before: {_DAY}", max_length=200)]


class Routes(ABC):
    """Some routes of the API over one desk."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.router = APIRouter(prefix=PREFIX, responses=_OTHERS, dependencies=[Depends(_TOKEN)])
        self.add_all()

    @abstractmethod
    def add_all(self) -> None:
        """Add the routes."""

    def add(self, path: str, call: Callable[..., Any], model: Any, summary: str) -> None:
        """Add a route that reads."""
        self.router.add_api_route(
            path, call, response_model=model, summary=summary, description=call.__doc__,
            operation_id=call.__name__,
        )  # fmt: skip

    @contextmanager
    def asked(self, request: Request) -> Iterator[tuple[Connection, Viewer]]:
        """Begin to answer whoever sends a request.

        Raises:
            HTTPException: They prove nothing.
        """
        with self.desk.connected(request) as connection:
            viewer = self.desk.gate.guest(connection, request).viewer
            if viewer.role is None:
                raise HTTPException(401, headers={"WWW-Authenticate": "Bearer"})
            yield connection, viewer

    def note_look(
        self, connection: Connection, viewer: Viewer, sight: Sight | None, job: int
    ) -> None:
        """Note a look of staff at somebody's job in the audit."""
        if sight is Sight.STAFF:
            self.desk.audit(connection, viewer, f"job {job}")


def only(row: Any, model: type[BaseModel]) -> dict[str, Any]:
    """Return what a row has of the fields of a model."""
    return {name: row[name] for name in model.model_fields if name in row}
