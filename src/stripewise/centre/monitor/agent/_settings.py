# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads and checks the configuration of the agent, monitor.toml."""

from __future__ import annotations

import os
import re
import socket
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from stripewise.centre._settings import read_toml
from stripewise.centre.monitor.collectors._registry import collector_class, collector_names
from stripewise.centre.monitor.sinks._base import sink_class, sink_names
from stripewise.core.errors import ConfigurationError
from stripewise.core.inputs import POLICY, open_input
from stripewise.present import printable
from stripewise.settings.tunables import first_problem

DEFAULT_SINKS: Mapping[str, Mapping[str, Any]] = {"prometheus": {}}
"""Default of the sinks: Prometheus can scrape 127.0.0.1:9823."""
_Result = TypeVar("_Result")
_Form = TypeVar("_Form", bound=BaseModel)
_TABLES = ("agent", "collectors", "sinks")
_ACCOUNT = r"[A-Za-z_][A-Za-z0-9._-]{0,31}"
_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"


def short_host_name() -> str:
    """Return this host's name, without its domain."""
    return socket.gethostname().partition(".")[0] or "localhost"


class AgentSettings(BaseModel):
    """[agent]: settings for all collectors and sinks.

    Attributes:
        server: Name of this host in all reports.
        cluster: Cluster that it belongs to, for the statistics database; "" to report none.
        interval_seconds: Time from one round to the next.
        user: User that the agent changes to if root starts it; "" for stripewise if there is such
            an account, else nobody; "root" to stay root.
        log_level: Level of messages on standard error: debug, info, warning or error.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)
    server: str = Field(default_factory=short_host_name)
    cluster: str = ""
    interval_seconds: float = Field(default=15.0, ge=1.0, le=3600.0)
    user: str = ""
    log_level: Literal["debug", "info", "warning", "error"] = "info"

    @field_validator("server", "cluster", mode="before")
    @classmethod
    def _is_name(cls, value: object, info: ValidationInfo) -> object:
        is_empty = value == "" and info.field_name == "cluster"
        if isinstance(value, str) and not is_empty and not re.fullmatch(_NAME, value):
            raise ValueError(
                "write at most 64 letters, digits, dots, hyphens and underscores, beginning with "
                "a letter or a digit"
            )
        return value

    @field_validator("user")
    @classmethod
    def _is_account(cls, value: str) -> str:
        if value and not re.fullmatch(_ACCOUNT, value):
            raise ValueError(
                "write the name of an account: at most 32 letters, digits, dots, hyphens and "
                "underscores, beginning with a letter or _"
            )
        return value


class CollectorChoice(BaseModel):
    """Whether a collector is used: the key that all collector tables have.

    Attributes:
        enabled: "automatic" to use it if there is something to read; true to use it in any case,
            and fail if there is nothing; false not to use it.
    """

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)
    enabled: bool | Literal["automatic"] = "automatic"

    @field_validator("enabled", mode="before")
    @classmethod
    def _is_known(cls, value: object) -> object:
        if not isinstance(value, bool) and value != "automatic":
            raise ValueError('write true, false or "automatic"')
        return value


class MonitorSettings(BaseModel):
    """The whole content of monitor.toml.

    Attributes:
        agent: Settings for all collectors and sinks.
        collectors: Table of each collector that has one; each collector checks its own.
        sinks: Table of each sink that is used.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    agent: AgentSettings = Field(default_factory=AgentSettings)
    collectors: dict[str, dict[str, Any]] = Field(default_factory=dict)
    sinks: dict[str, dict[str, Any]] = Field(default_factory=lambda: _copied(DEFAULT_SINKS))

    def choice(self, name: str) -> CollectorChoice:
        """Return whether a collector is used."""
        return CollectorChoice.model_validate(self.collectors.get(name, {}))

    def table(self, name: str) -> dict[str, Any]:
        """Return the part of a collector's table that the collector itself checks."""
        given = self.collectors.get(name, {})
        return {key: value for key, value in given.items() if key != "enabled"}


def read_settings(path: Path | None) -> MonitorSettings:
    """Read the configuration; without a file, everything that has something to read is used.

    Raises:
        ConfigurationError: The file cannot be read, others may change it, or its content is
            invalid.
    """
    if path is None:
        return MonitorSettings()
    data = read_toml(path, _read_owned)
    try:
        return settings_of(data)
    except ConfigurationError as error:
        raise ConfigurationError(f"{path}: {error}") from error


def _read_owned(path: Path) -> bytes:
    """Read a file that nobody else may change, because it names commands and their user."""
    with open_input(path) as file:
        why, remedy = why_not_obeyed(os.fstat(file.fileno()), os.geteuid())
        if why:
            raise ConfigurationError(
                f"{path} {why}, and it says what the agent runs: see that it is right, and run"
                f" {remedy} on it"
            )
        data = file.read(POLICY.file_bytes + 1)
    POLICY.check_bytes(len(data), path)
    return data


def why_not_obeyed(status: os.stat_result, user_id: int) -> tuple[str, str]:
    """Return how users other than root and this one may change a file, and the remedy.

    The result is empty if they may not. With an access control list, the group bits are its mask,
    so that a list that lets others write is detected.
    """
    if status.st_uid not in (0, user_id):
        return f"belongs to another user (uid {status.st_uid})", "chown root"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "can be changed by others", "chmod go-w"
    return "", ""


def settings_of(data: Mapping[str, Any]) -> MonitorSettings:
    """Check a configuration and return it as settings.

    Raises:
        ConfigurationError: Its content is invalid.
    """
    for name in data:
        if name not in _TABLES:
            raise ConfigurationError(
                f"no table is called [{printable(name)}]: there are [agent], [collectors.NAME] "
                "and [sinks.NAME]"
            )
    found = _checked("", data, MonitorSettings)
    for name in found.collectors.keys() - set(collector_names()):
        collector_class(name)  # raises an error with the reason if there is none
    for name in data.get("sinks", {}).keys() - set(sink_names()):
        sink_class(name)
    for name, table in found.collectors.items():
        _checked(f"[collectors.{name}] ", table, CollectorChoice)
    return found


def within(path: Path | None, action: Callable[[], _Result]) -> _Result:
    """Do something that checks a part of a file, and name the file in errors."""
    try:
        return action()
    except ConfigurationError as error:
        if path is None:
            raise
        raise ConfigurationError(f"{path}: {error}") from error


def _checked(place: str, data: Mapping[str, Any], form: type[_Form]) -> _Form:
    try:
        return form.model_validate(data)
    except ValidationError as error:
        known = {*AgentSettings.model_fields, *CollectorChoice.model_fields}
        wrong = printable(first_problem(error, known))
        raise ConfigurationError(f"{place}{wrong}") from error


def _copied(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    return {name: dict(table) for name, table in tables.items()}
