# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tries foreign inputs, and prints how many of each kind are handled rightly."""

from __future__ import annotations

import json
import os
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from foreign.corpus import Case, Outcome, Verdict, cases_of, kind_names, kind_of, tried

MOST_WRONG = 0.02


@click.command()
@click.argument("kinds", nargs=-1, metavar="[KIND]...")
@click.option("--case", "only", multiple=True, help="Try only cases whose names contain this.")
@click.option("--json", "output", type=Path, help="Write every verdict to this file.")
def main(kinds: tuple[str, ...], only: tuple[str, ...], output: Path | None) -> None:
    """Try the corpus of foreign inputs, or only some KINDs, and print one table.

    The exit code is 1 if an input is handled harmfully, or more than 2 % of a kind wrongly.
    """
    with tempfile.TemporaryDirectory(prefix="sw-foreign-") as room:
        for name, path in (
            ("STRIPEWISE_KNOWLEDGE", "knowledge.sqlite"),
            ("XDG_CONFIG_HOME", "config"),
            ("XDG_DATA_HOME", "data"),
        ):
            os.environ[name] = str(Path(room) / path)
        found = _try(kinds or tuple(kind_names()), only, Path(room))
    if output is not None:
        rows = [
            {"kind": case.kind, "name": case.name, "verdict": one.verdict, "text": one.text}
            for case, one in found
        ]
        output.write_text(json.dumps(rows, indent=1) + "\n")
    raise SystemExit(0 if _show(found) else 1)


def _try(kinds: tuple[str, ...], only: tuple[str, ...], room: Path) -> list[tuple[Case, Outcome]]:
    found = []
    for kind in kinds:
        cases = [c for c in cases_of(kind) if not only or any(part in c.name for part in only)]
        for case, outcome in tried(cases, room):
            found.append((case, outcome))
            if outcome.verdict in (Verdict.WRONG, Verdict.HARMFUL, Verdict.SKIPPED):
                click.echo(f"{outcome.verdict:>10}  {kind}/{case.name}: {outcome.text}", err=True)
    return found


def _show(found: list[tuple[Case, Outcome]]) -> bool:
    """Print the table; return whether the goal is met."""
    counts: dict[str, Counter[Verdict]] = defaultdict(Counter)
    for case, outcome in found:
        counts[case.kind][outcome.verdict] += 1
    table = Table("kind")
    columns = list(Verdict)
    for column in ("inputs", *columns):
        table.add_column(column, justify="right")
    met = True
    for kind, count in counts.items():
        inputs = count.total() - count[Verdict.SKIPPED]
        table.add_row(kind_of(kind).title, str(inputs), *(str(count[one]) for one in columns))
        met &= not count[Verdict.HARMFUL] and count[Verdict.WRONG] <= MOST_WRONG * inputs
    Console().print(table)
    return met


if __name__ == "__main__":
    main()
