# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The ledger of savings: what proved settings have saved since; and these settings to download."""

from __future__ import annotations

from stripewise.errors import UsageError
from stripewise.fleet.queries import (
    Period,
    Saving,
    SavingsLedger,
    Sight,
    pair_settings,
    savings_ledger,
)
from stripewise.model import Amount, total
from stripewise.web._words import written
from stripewise.web.content import Block, Content, Download, Fact, Facts, Table
from stripewise.web.pages._base import Asked, Page
from stripewise.web.pages._figures import columns, counted, period_search, program_url
from stripewise.web.pages._program_tables import PAIR_COLUMNS, with_settings

_DAYS = 365
_LEDGER = (
    ("program", "Program", "text"), ("project", "Project", "text"),
    ("run_count", "Later runs", "count"), ("saved_seconds", "Regained", "hours"),
    ("saved_node_seconds", "in node-hours", "node-hours"),
)  # fmt: skip
_PAIRS = (
    ("program", "Program", "text"), ("run_count", "Later runs", "count"),
    ("regained_seconds", "Regained", "hours"),
    ("regained_node_seconds", "in node-hours", "node-hours"), *PAIR_COLUMNS,
)  # fmt: skip
_HOW = (
    "A later run is a job of the same program after the proof whose profile has all proved "
    "settings of files, applied or requested. It counts once, for the newest proof, with what "
    "that proof saved in a run."
)


class Savings(Page):
    """What was saved, by project and by proof, as far as the viewer sees proofs and jobs."""

    path = "/savings"
    section = "Programs"

    def build(self, asked: Asked) -> Content:
        """Add it up."""
        period = Period.parse(asked.words, asked.now, _DAYS)
        ledger = savings_ledger(asked.connection, asked.viewer, period)
        projects = [{**row, "url": program_url(row["program"])} for row in ledger.projects]
        blocks: list[Block] = [
            period_search(self.path, period),
            _facts(ledger),
            Table("projects", "By project and program", columns(_LEDGER, {"program": "url"}),
                  projects, _HOW, empty="No later run with proved settings is known."),
            Table("pairs", "Proofs",
                  columns(_PAIRS, {"settings": "settings_url", "program": "url"}),
                  list(map(_row, ledger.savings)), _note(ledger),
                  empty="No pairs of runs that you may see have proved a saving."),
        ]  # fmt: skip
        return Content("Savings", _lead(ledger, period), blocks)


def _row(one: Saving) -> dict[str, object]:
    known = one.is_traceable
    return {
        **with_settings(one.pair),
        "url": program_url(one.pair["program"]),
        "run_count": one.run_count if known else None,
        "regained_seconds": one.saved_seconds if known else None,
        "regained_node_seconds": one.saved_node_seconds if known else None,
        "missing": {name.replace("saved", "regained"): why for name, why in one.missing.items()},
    }


def _sum(ledger: SavingsLedger, name: str) -> Amount:
    return total(one.amount(name) for one in ledger.savings)


def _facts(ledger: SavingsLedger) -> Facts:
    runs = sum(one.run_count for one in ledger.savings)
    seconds, nodes = _sum(ledger, "saved_seconds"), _sum(ledger, "saved_node_seconds")
    return Facts(
        "totals",
        "",
        [
            Fact("saved_seconds", "Regained", seconds.value, "hours", "of I/O time",
                 why=seconds.why),
            Fact("saved_node_seconds", "Regained", nodes.value, "node-seconds", why=nodes.why),
            Fact("run_count", "Later runs with proved settings", runs, "count"),
            Fact("pair_count", "Proofs", len(ledger.savings), "count"),
        ],
        is_large=True,
    )  # fmt: skip


def _note(ledger: SavingsLedger) -> str:
    text = "Later runs are not counted for settings that no profile records (of the job, of HDF5)."
    if ledger.is_whole:
        return text
    return f"{text} Only the newest {counted(len(ledger.savings), 'proof')} are counted."


def _lead(ledger: SavingsLedger, period: Period) -> str:
    if not ledger.savings:
        return "No pairs of runs that you may see have proved a saving yet."
    proofs = counted(len(ledger.savings), "proof")
    runs = sum(one.run_count for one in ledger.savings)
    if not runs:
        return f"{proofs}; no later run with these settings is known {period.text}."
    seconds = _sum(ledger, "saved_seconds")
    about = "" if seconds.why else "about "
    return (
        f"{counted(runs, 'later run')} {period.text} used proved settings and regained {about}"
        f"{'an ' if seconds.value is None else ''}{written(seconds.value, 'hours', seconds.why)}"
        f"{' amount' if seconds.value is None else ''} of I/O time."
    )


class SavingsSettings(Page):
    """The settings of a proof as a file: for their owner and the staff."""

    path = "/savings/{pair:int}/settings"
    section = "Programs"

    def build(self, asked: Asked) -> Download | None:
        """Return TOML, or with form=lines lines of a job script that need no Stripewise."""
        form = asked.words.get("form", "toml")
        if form not in ("toml", "lines"):
            raise UsageError(f"form={form[:40]!r}: settings come as toml or lines")
        found = pair_settings(asked.connection, asked.viewer, int(asked.path["pair"]))
        if found is None or (form == "lines" and not found.hints):
            return None
        key = found.row["id"]
        is_anothers = asked.viewer.sight(found.row) is Sight.STAFF
        audited = f"settings of pair {key}" if is_anothers else ""
        if form == "lines":
            name, text, media = f"stripewise-{key}.txt", found.hints + "\n", "text/plain"
        else:
            name, text, media = f"stripewise-{key}.toml", found.configuration, "application/toml"
        return Download(name, text, media, audited)
