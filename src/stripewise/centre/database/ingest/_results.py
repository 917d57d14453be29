# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reads what studies of `stripewise tune` proved and what campaigns of benchmarks measured."""

from __future__ import annotations

import calendar
import re
import shlex
import time
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from stripewise.bench.campaign import (
    Campaign,
    CaseFigures,
    campaign_json,
    figures_of,
    import_campaign,
)
from stripewise.bench.running import read_campaign
from stripewise.centre.database._records import CampaignRecord, PairRecord, Row, pack
from stripewise.centre.database.ingest._base import Claim, Feed, InputReading, identity
from stripewise.centre.database.ingest._profile_record import Origin, clean
from stripewise.core import Configuration
from stripewise.core.errors import ConfigurationError, TraceError, UsageError
from stripewise.core.inputs import CAMPAIGN, open_input, parse_json, read_input
from stripewise.core.inputs import RESULT as BUDGET
from stripewise.present import printable
from stripewise.run.runtime import program_word
from stripewise.settings import formats
from stripewise.settings.tunables import check_configuration, refused_variables
from stripewise.study.workspace import STUDY_SUFFIX

RESULT = "result.json"
_JOURNAL = "journal.jsonl"
_VERSION = 2
_BEGIN = re.compile(rb'\{\s*"version":\s*\d{1,4},\s*"command":')


class _Loose(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _Speedup(_Loose):
    median: float = Field(gt=0)
    low: float | None
    high: float | None
    n_pairs: int = Field(ge=0, lt=1 << 31)


class _Figures(_Loose):
    io_seconds: float | None
    missing: dict[str, str] = Field(default_factory=dict)


class _Pattern(_Loose):
    distributions: list[str] = Field(default_factory=list)
    share: float = 1.0


class _Facts(_Loose):
    n_ranks: int = Field(default=0, ge=0, lt=1 << 31)
    n_hosts: int = Field(default=0, ge=0, lt=1 << 31)
    mpi_family: str = ""
    patterns: list[_Pattern] = Field(default_factory=list)


class _Verification(_Loose):
    status: str = Field(max_length=64)


class _Result(_Loose):
    """The part of docs/reference/result.schema.json that is used here."""

    version: Literal[2]
    command: list[str]
    directory: str
    result: Literal["improved", "no improvement", "undecided", "nothing tried"]
    baseline: _Figures
    best: _Figures
    speedup: _Speedup
    whole_program_speedup: _Speedup
    configuration: dict[str, Any]
    verification: _Verification
    facts: _Facts = Field(default_factory=_Facts)
    provenance: dict[str, str] = Field(default_factory=dict)


class StudyFeed(Feed):
    """The directory of a study, or only its result."""

    name = "study"
    summary = "a study of `stripewise tune` (its directory, or result.json)"
    budget = BUDGET

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether the input begins as a result does, or is a study's directory."""
        if path.is_dir():
            return path.name.endswith(STUDY_SUFFIX) and (path / RESULT).is_file()
        return _BEGIN.match(head) is not None

    def claim(self, directory: Path, names: Collection[str]) -> Claim | None:
        """Return the result of a study; all other files in the directory are its own runs."""
        if not directory.name.endswith(STUDY_SUFFIX) or _JOURNAL not in names:
            return None
        return Claim((RESULT,) if RESULT in names else (), whole=True)

    def read(self, path: Path, origin: Origin) -> InputReading:
        """Read a result; one that proves no speed-up revokes an earlier proof of the study.

        Raises:
            TraceError: It is not a result of this version.
            ConfigurationError: Its settings are impossible, or can execute code.
        """
        file = path / RESULT if path.is_dir() else path
        try:
            result = _Result.model_validate(parse_json(read_input(file, BUDGET)))
        except ValidationError as error:
            where = ".".join(map(str, error.errors()[0]["loc"]))
            raise TraceError(
                f"{file}: no result of a study of version {_VERSION} ({where}: "
                f"{error.errors()[0]['msg']}): tune again with this version of Stripewise"
            ) from error
        except (OSError, ValueError) as error:
            raise TraceError(f"{file}: no result of a study: {error}") from error
        columns = _columns(result, file) if result.result == "improved" else {}
        provenance = result.provenance
        what = identity("study", result.directory, result.command, provenance.get("date", ""),
                        provenance.get("host", ""))  # fmt: skip
        return InputReading((PairRecord(what, _program(result.command), "", columns),))


def _columns(result: _Result, file: Path) -> dict[str, Any]:
    configuration = _configuration(result, file)
    before, after = result.baseline.io_seconds, result.best.io_seconds
    missing = {**result.baseline.missing, **result.best.missing}
    gain = result.speedup
    saved = None
    if before is not None and after is not None and "io_seconds" not in missing:
        saved = before - after
    hints = without_stripewise(configuration, result.facts.mpi_family)
    made_at = _moment(result.provenance.get("date", "")) or int(file.stat().st_mtime)
    return {
        "made_at": made_at,
        "speedup": gain.median,
        "low": gain.low,
        "high": gain.high,
        "pair_count": gain.n_pairs,
        "elapsed_speedup": result.whole_program_speedup.median,
        "saved_seconds": saved,
        "node_count": result.facts.n_hosts or None,
        "rank_count": result.facts.n_ranks or None,
        "pattern": _form(result.facts) or None,
        "verification": clean(result.verification.status, 64),
        "configuration": formats.get("toml").write(configuration).text,
        "hints": hints,
    }


def _form(facts: _Facts) -> str:
    """Return the pattern that moves most bytes, without its sizes."""
    found = max(facts.patterns, key=lambda one: one.share, default=_Pattern())
    words = found.distributions
    return clean(f"<{len(words)}D, ({', '.join(words)})>") if words else ""


def _program(command: list[str]) -> str:
    """Return the program that a command starts, without its launcher."""
    return clean(PurePosixPath(program_word(command)).name)


def _configuration(result: _Result, file: Path) -> Configuration:
    """Return the settings after checking them, since they may be offered to other users."""
    configuration = formats.parse_document(result.configuration, str(file))
    problems = check_configuration(configuration)
    problems += [f"{name} can run code of its author" for name in refused_variables(configuration)]
    if problems:
        raise ConfigurationError(f"{file}: {'; '.join(problems[:3])}: take it out and tune again")
    return configuration


def without_stripewise(configuration: Configuration, family: str) -> str:
    """Return shell lines that apply settings without Stripewise, or "" if there are none.

    What such lines cannot express is listed above them as comments.

    Args:
        configuration: The settings.
        family: Family of the MPI implementation, such as "openmpi".
    """
    variables = formats.job_environment(configuration)
    lines = [f"export {name}={shlex.quote(value)}" for name, value in variables.items()]
    held = replace(configuration, job=replace(configuration.job, mca={}, environment={}))
    of_romio = family == "openmpi"
    written = formats.get("romio-hints" if of_romio else "mpich-hints").write(held)
    text = written.text.strip()
    if text and of_romio:
        text = f"cat > romio-hints <<'END'\n{text}\nEND\nexport ROMIO_HINTS=$PWD/romio-hints"
    lines += [text] if text else []
    if not lines:
        return ""
    return "\n".join(
        [*(f"# not in these lines: {printable(lost)}" for lost in written.lost), *lines]
    )


def _moment(text: str) -> int | None:
    try:
        at = time.strptime(text, "%Y-%m-%d %H:%M:%S %z")
    except ValueError:
        return None
    return calendar.timegm(at) - (at.tm_gmtoff or 0)


# Campaigns of `stripewise bench`, and the output of IOR, mdtest and benchio.

_SUFFIX = ".campaign"
_FORMAT = b'"format": "stripewise-campaign"'
_PRINTED = re.compile(
    rb": MPI Coordinated Test of Parallel I/O|^Summary of all tests|^access,bw\(MiB/s\),"
    rb"|\"Command line\"|^mdtest-\S+ was launched with |Simple Parallel IO benchmark"
    rb"|\"stripewise-kernel\"",
    re.MULTILINE,
)
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")


class CampaignFeed(Feed):
    """A campaign's directory or exported file, or the output of a benchmark program.

    All users see its figures, so it is accepted only from trusted users.
    """

    name = "campaign"
    summary = "a campaign of `stripewise bench`, or output of IOR, mdtest or benchio"
    budget = CAMPAIGN
    needs_trust = True

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether the input begins as one of them does."""
        if path.is_dir():
            return path.name.endswith(_SUFFIX) and (path / _JOURNAL).is_file()
        return _FORMAT in head or _PRINTED.search(head) is not None

    def claim(self, directory: Path, names: Collection[str]) -> Claim | None:
        """Return the journal of a campaign that has ended."""
        if not directory.name.endswith(_SUFFIX) or _JOURNAL not in names:
            return None
        return Claim((_JOURNAL,) if _has_ended(directory / _JOURNAL) else (), whole=True)

    def read(self, path: Path, origin: Origin) -> InputReading:
        """Read a campaign with its figures.

        Raises:
            StripewiseError: It cannot be read, or has no figures.
        """
        campaign, notes = _campaign(path)
        figures = figures_of(campaign)
        if not figures:
            raise UsageError(f"{path}: no run of the campaign has a figure: give one that has")
        started = campaign.started_unix_seconds
        which = origin.digest  # a campaign that grows replaces its former state
        if started:
            which = identity("campaign", campaign.name, campaign.suite.name, campaign.storage,
                             campaign.machine, started)  # fmt: skip
        columns = {
            "name": clean(campaign.name),
            "suite": clean(campaign.suite.name),
            "storage": clean(campaign.storage),
            "made_at": int(started) or int(path.stat().st_mtime),
            "is_emulated": bool(campaign.machine),
            "document": pack(campaign_json(campaign)),
        }
        return InputReading((CampaignRecord(which, columns, tuple(map(_row, figures))),), notes)


def _campaign(path: Path) -> tuple[Campaign, tuple[str, ...]]:
    with_head = path.is_dir()
    if not with_head:
        with open_input(path) as file:
            with_head = _FORMAT in file.read(4096)
    if with_head:
        return read_campaign(path), ()
    name = _NOT_IN_NAMES.sub("-", path.stem)[:64].strip("-._") or "imported"
    campaign = import_campaign([path], name)
    return campaign, tuple(campaign.about["notes"])


def _row(one: CaseFigures) -> Row:
    return {
        "case": printable(one.case.key),
        "operation": clean(one.operation, 64),
        "nodes": one.case.nodes,
        "ranks": one.case.ranks,
        "run_count": len(one.rates),
        "median": one.median,
        "low": one.low,
        "high": one.high,
        "unit": "bytes/s" if one.of_data else "operations/s",
    }


def _has_ended(journal: Path) -> bool:
    """Return whether the last record marks the end; the whole journal is read later."""
    try:
        with open_input(journal) as file:  # does not block on a pipe
            file.seek(0, 2)
            file.seek(max(0, file.tell() - 4096))
            lines = file.read().splitlines()
    except OSError:
        return False
    return bool(lines) and b'"kind":"end"' in lines[-1]
