# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise bench report`: a campaign as a page, a table, a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stripewise.cli._common import answer, examples, file_option, json_option, note
from stripewise.errors import StripewiseError, UsageError
from stripewise.text import printable

if TYPE_CHECKING:
    from stripewise.bench import Campaign, CaseFigures, Flag, Limits

_file_option = partial(file_option, type=click.Path(path_type=Path, dir_okay=False))
_MANY = 150
"""Cases from which the limits take long to find."""

_CHARTS = ("curves", "heat map", "bars", "metadata", "percentiles", "runs", "targets", "limits")


@dataclass(frozen=True)
class _Loaded:
    """A campaign with all that its report needs."""

    campaign: Campaign
    figures: Sequence[CaseFigures]
    flags: Sequence[Flag]
    limits: Limits | None
    why_no_limits: str


@click.command(
    "report",
    epilog=examples(
        "stripewise bench report array3d.campaign",
        "stripewise bench report array3d.campaign -o array3d.html --csv array3d.csv",
        "stripewise bench report array3d.campaign --picture curves.svg --chart curves",
    ),
)
@click.argument("campaign", type=click.Path(path_type=Path))
@_file_option("-o", "--output", help="File for the page.  [default: CAMPAIGN/report.html]")
@_file_option("--csv", "csv_file", help="Write a row for each run and operation as CSV into FILE.")
@_file_option("--parquet", help="Write the same rows as Parquet into FILE.")
@_file_option("--picture", help="Draw one chart into FILE (.svg, .png or .pdf) instead of a page.")
@click.option(
    "--chart",
    type=click.Choice(_CHARTS),
    help="Chart to draw with --picture.  [default: the first of the page]",
)
@click.option(
    "--operation",
    default="",
    metavar="NAME",
    help="With --picture: operation whose figures are drawn, such as write, read or create.",
)
@click.option("--no-limits", is_flag=True, help="Leave out the limits behind the figures.")
@json_option
def report(campaign: Path, csv_file: Path | None, as_json: bool, **given: Any) -> None:
    """Show a campaign as one HTML page that works without a network.

    CAMPAIGN is the directory of a campaign, or a file that was exported or imported.  The page has
    a summary, curves with their spread, heat maps, bars, the limits of the storage as a picture,
    all cells with the reasons to doubt them, failed runs, and how everything was measured.
    """
    wants_limits = not given["no_limits"] and (given["picture"] is None or
                                               given["chart"] == "limits")  # fmt: skip
    loaded = _load(campaign, wants_limits)
    wrote = _write_tables(loaded, csv_file, given["parquet"])
    if given["picture"] is not None:
        wrote.append((given["picture"], _draw(loaded, given)))
    elif given["output"] is not None or not (wrote or as_json):
        page = given["output"] or _page_of(campaign)
        wrote.append((page, _write_page(loaded, page)))
    answer(as_json, partial(_json, loaded), partial(_lines, loaded, wrote))


def _load(path: Path, wants_limits: bool) -> _Loaded:
    from stripewise.bench import figures_of, flags_of_campaign, read_campaign

    campaign = read_campaign(path)
    if wants_limits and len(campaign.suite.cases) > _MANY:
        note("finding the limits may take minutes; --no-limits leaves them out")
    figures = figures_of(campaign)
    limits, why = _limits(campaign) if wants_limits else (None, "")
    return _Loaded(campaign, figures, flags_of_campaign(campaign, figures), limits, why)


def _limits(campaign: Campaign) -> tuple[Limits | None, str]:
    """Return the limits, or why the campaign does not tell them."""
    from stripewise.bench import find_limits

    try:
        return find_limits([campaign]), ""
    except StripewiseError as error:
        return None, str(error)


def _write_tables(
    loaded: _Loaded, csv_file: Path | None, parquet: Path | None
) -> list[tuple[Path, str]]:
    from stripewise.report import write_campaign_csv, write_campaign_parquet

    wrote = []
    if csv_file is not None:
        write_campaign_csv(loaded.campaign, csv_file, loaded.figures)
        wrote.append((csv_file, "a row for each run and operation"))
    if parquet is not None:
        write_campaign_parquet(loaded.campaign, parquet, loaded.figures)
        wrote.append((parquet, "a row for each run and operation"))
    return wrote


def _draw(loaded: _Loaded, given: dict[str, Any]) -> str:
    from stripewise.report import draw_campaign, draw_limits

    if given["chart"] != "limits":
        return draw_campaign(
            loaded.campaign, loaded.figures, given["picture"],
            kind=given["chart"] or "", operation=given["operation"],
        )  # fmt: skip
    if loaded.limits is None:
        why = loaded.why_no_limits or "--no-limits was given"
        raise UsageError(f"there are no limits to draw: {why}")
    return draw_limits(loaded.campaign, loaded.limits, given["picture"])


def _page_of(campaign: Path) -> Path:
    if campaign.is_dir():
        return campaign / "report.html"
    return campaign.with_suffix(".html")


def _write_page(loaded: _Loaded, page: Path) -> str:
    from stripewise.outputs import write_file
    from stripewise.report import render_campaign

    text = render_campaign(
        loaded.campaign, loaded.figures, loaded.limits,
        flags=loaded.flags, why_no_limits=loaded.why_no_limits,
    )  # fmt: skip
    write_file(page, text)
    return "the page"


def _json(loaded: _Loaded) -> dict[str, Any]:
    from stripewise.report import campaign_to_json

    return campaign_to_json(loaded.campaign, loaded.figures, loaded.limits)


def _lines(loaded: _Loaded, wrote: Sequence[tuple[Path, str]]) -> list[str]:
    from stripewise.report import limit_lines, summary_of_campaign

    lines = summary_of_campaign(loaded.campaign, loaded.figures, loaded.flags)
    lines += limit_lines(loaded.limits) if loaded.limits is not None else []
    if loaded.why_no_limits:
        why = printable(" ".join(loaded.why_no_limits.split()))
        lines.append(f" limits          the campaign does not tell limits: {why}")
    return [*lines, *(f" wrote           {printable(str(path))}   {what}" for path, what in wrote)]
