# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The ingest again and again, for a daemon."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from sqlalchemy import Engine

from stripewise.errors import StorageError, UsageError
from stripewise.fleet.ingest._ingest import ingest
from stripewise.fleet.ingest._options import IngestOptions
from stripewise.fleet.ingest._tally import Tally
from stripewise.slurm import SlurmError

_FIRST_SECONDS = 1.0
_MOST_SECONDS = 300.0
_STEP_SECONDS = 0.2


def watch(
    engine: Engine,
    options: IngestOptions,
    seconds: float,
    *,
    ahead: Callable[[], None] = lambda: None,
    observe: Callable[[Tally], None] = lambda _: None,
    passed: Callable[[Tally], None] = lambda _: None,
    troubled: Callable[[str], None] = lambda _: None,
    stop: Callable[[], bool] = lambda: False,
) -> None:
    """Take in what is new every so many seconds until `stop` says True.

    A database that refuses, and a directory that is not there, are tried again, after 1 s, 2 s,
    4 s and so on up to 300 s: nothing is lost, as what is not written is read again.  A Slurm that
    does not answer does not hold back what is in files.

    Args:
        engine: Of the database.
        options: Of each pass.
        seconds: From the end of a pass to the next one.
        ahead: Called before each pass; what it raises is said, and tried again.
        observe: Called now and then within a pass.
        passed: Called with what each pass came to.
        troubled: Called with what went wrong, and when it is tried again.
        stop: Asked often.
    """

    def files() -> None:
        passed(ingest(engine, options, observe=observe, stop=stop))

    pause = _FIRST_SECONDS
    while not stop():
        if troubles := _troubles(engine, (ahead, files)):
            troubled(f"{'; '.join(troubles)}; tried again in {pause:g} s")
            _sleep(pause, stop)
            pause = min(2 * pause, _MOST_SECONDS)
        else:
            pause = _FIRST_SECONDS
            _sleep(seconds, stop)


def _troubles(engine: Engine, parts: Iterable[Callable[[], None]]) -> dict[str, None]:
    """Carry out the parts of a pass; return what went wrong, each thing once."""
    found: dict[str, None] = {}
    for part in parts:
        try:
            part()
        except (StorageError, UsageError, SlurmError) as error:
            engine.dispose()
            found[str(error)] = None
    return found


def _sleep(seconds: float, stop: Callable[[], bool]) -> None:
    until = time.monotonic() + seconds
    while not stop() and time.monotonic() < until:
        time.sleep(min(_STEP_SECONDS, seconds))
