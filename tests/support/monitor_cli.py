# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The command line with collectors and sinks of tests in place of its own.

As a program: python -m support.monitor_cli monitor ...
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from stripewise.centre.monitor import Host, HostError, Metric, Reading, Round, TargetJobs
from stripewise.centre.monitor.agent import _agent as build
from stripewise.centre.monitor.agent import _settings as settings
from stripewise.centre.monitor.collectors import Collector, CollectorSettings, Problem
from stripewise.centre.monitor.sinks._base import Sink, SinkError, SinkSettings
from stripewise.cli import main
from stripewise.core.errors import ConfigurationError
from support.monitor_parts import THINGS, FakeSettings, thing


class Counts(Collector):
    """Counts its rounds, and names the user and the capabilities of its process."""

    name = "counts"
    summary = "a fake"
    metrics: tuple[Metric, ...] = (THINGS,)  # type: ignore[misc]
    settings_class = FakeSettings

    def missing(self, host: Host) -> str:
        return ""

    def collect(self, host: Host) -> Iterator[Reading | TargetJobs | Problem]:
        yield thing(f"uid{os.geteuid()}")
        yield TargetJobs("scratch", "OST0000", count=4)


class Absent(Counts):
    """Finds nothing anywhere."""

    name = "absent"

    def missing(self, host: Host) -> str:
        return "nothing of it is here: install it"

    def collect(self, host: Host) -> Iterator[Reading | TargetJobs | Problem]:
        raise HostError("missing", "nothing of it is here: install it")
        yield thing("never")


class Reads(Counts):
    """Reads a file that may be for root alone."""

    name = "reads"

    def missing(self, host: Host) -> str:
        return "" if "STRIPEWISE_TEST_FILE" in os.environ else "no file is named: name one"

    def collect(self, host: Host) -> Iterator[Reading | TargetJobs | Problem]:
        path = os.environ["STRIPEWISE_TEST_FILE"]
        try:
            with open(path, "a"):
                yield thing("written")
        except PermissionError:
            yield thing("not-written")
        yield thing(host.text(path).strip())
        yield thing(host.output(["cat", path]).strip() + "-by-command")


class Hangs(Counts):
    """Waits for ever."""

    name = "hangs"

    def missing(self, host: Host) -> str:
        return "" if "STRIPEWISE_TEST_HANG" in os.environ else "not asked for: ask"

    def collect(self, host: Host) -> Iterator[Reading | TargetJobs | Problem]:
        time.sleep(600)
        yield thing("never")


class FileSettings(SinkSettings):
    path: Path
    is_down: bool = False
    cluster: str = ""


class FileSink(Sink):
    """Writes a line for each round into a file."""

    name = "file"
    summary = "a fake"
    settings_class = FileSettings
    settings: FileSettings

    def missing(self) -> str:
        return ""

    def start(self) -> None:
        if self.settings.is_down:
            raise SinkError(f"{self.settings.path}: nobody listens: start it")

    def take(self, found: Round) -> None:
        values = [(one.metric.name, one.labels, one.value) for one in found.readings]
        line = {"collector": found.collector, "server": self.server, "values": values,
                "cluster": self.settings.cluster}  # fmt: skip
        with open(self.settings.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def stop(self) -> None:
        with open(self.settings.path, "a", encoding="utf-8") as file:
            file.write(json.dumps({"collector": "stopped"}) + "\n")


COLLECTORS: dict[str, type[Collector]] = {one.name: one for one in (Counts, Absent, Reads, Hangs)}
SINKS: dict[str, type[Sink]] = {"file": FileSink}


def _class_of(kinds: Mapping[str, Any], what: str) -> Any:
    def find(name: str) -> Any:
        if name not in kinds:
            raise ConfigurationError(f"there is no {what} {name!r}; there are {', '.join(kinds)}")
        return kinds[name]

    return find


def _checked(place: str, form: type[CollectorSettings | SinkSettings], table: Any) -> Any:
    try:
        return form.model_validate(dict(table))
    except ValidationError as error:
        wrong = settings.first_problem(error, set(form.model_fields))
        raise ConfigurationError(f"[{place}] {wrong}") from error


def _collector(name: str, table: Mapping[str, Any]) -> Collector:
    kind = COLLECTORS[name]
    return kind(_checked(f"collectors.{name}", kind.settings_class, table))


def _sink(name: str, table: Mapping[str, Any], server: str) -> Sink:
    kind = SINKS[name]
    return kind(_checked(f"sinks.{name}", kind.settings_class, table), server)


REPLACED: tuple[tuple[Any, str, Any], ...] = (
    (settings, "collector_names", lambda: tuple(COLLECTORS)),
    (settings, "collector_class", _class_of(COLLECTORS, "collector")),
    (settings, "sink_names", lambda: tuple(SINKS)),
    (settings, "sink_class", _class_of(SINKS, "sink")),
    (build, "collector_names", lambda: tuple(COLLECTORS)),
    (build, "create_collector", _collector),
    (build, "sink_class", _class_of(SINKS, "sink")),
    (build, "create_sink", _sink),
)
"""What the agent calls to make its parts, and what tests give it instead."""


if __name__ == "__main__":
    for module, name, value in REPLACED:
        setattr(module, name, value)
    main(sys.argv[1:])
