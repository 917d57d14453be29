# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Campaigns of benchmarks: of `stripewise bench`, or what IOR, mdtest and benchio printed."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

from stripewise.bench.campaign import (
    Campaign,
    CaseFigures,
    campaign_json,
    figures_of,
    import_campaign,
)
from stripewise.bench.running import read_campaign
from stripewise.centre.database._records import CampaignRecord, Row, pack
from stripewise.centre.database.ingest._base import Claim, Feed, Reading, identity
from stripewise.centre.database.ingest._profile_record import Origin, clean
from stripewise.core.errors import UsageError
from stripewise.core.inputs import CAMPAIGN, open_input
from stripewise.present import printable

_SUFFIX = ".campaign"
_JOURNAL = "journal.jsonl"
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

    Its figures are shown to all users, so not every user's are believed.
    """

    name = "campaign"
    summary = "a campaign of `stripewise bench`, or output of IOR, mdtest or benchio"
    budget = CAMPAIGN
    needs_trust = True

    def recognises(self, path: Path, head: bytes) -> bool:
        """Whether it begins as one of them does."""
        if path.is_dir():
            return path.name.endswith(_SUFFIX) and (path / _JOURNAL).is_file()
        return _FORMAT in head or _PRINTED.search(head) is not None

    def claim(self, directory: Path, names: Collection[str]) -> Claim | None:
        """Take the journal of a campaign that has ended."""
        if not directory.name.endswith(_SUFFIX) or _JOURNAL not in names:
            return None
        return Claim((_JOURNAL,) if _has_ended(directory / _JOURNAL) else (), whole=True)

    def read(self, path: Path, origin: Origin) -> Reading:
        """Read a campaign with its figures.

        Raises:
            StripewiseError: It cannot be read, or has no figure.
        """
        campaign, notes = _campaign(path)
        figures = figures_of(campaign)
        if not figures:
            raise UsageError(f"{path}: no run of the campaign has a figure: give one that has")
        started = campaign.started_unix_seconds
        which = origin.digest  # one that grows takes the place of what it was
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
        return Reading((CampaignRecord(which, columns, tuple(map(_row, figures))),), notes)


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
    """Whether the last record says so; it is read in full when the campaign is."""
    try:
        with open_input(journal) as file:  # a pipe would be waited for
            file.seek(0, 2)
            file.seek(max(0, file.tell() - 4096))
            lines = file.read().splitlines()
    except OSError:
        return False
    return bool(lines) and b'"kind":"end"' in lines[-1]
