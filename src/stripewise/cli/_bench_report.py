# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reports a campaign with its limits, and advises the users of a storage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stripewise.cli._common import answer, note, print_json, write_noted
from stripewise.cli._help import command, examples, option
from stripewise.cli._options import campaign_argument, file_option, json_option
from stripewise.core.errors import StripewiseError, UsageError
from stripewise.present import printable

if TYPE_CHECKING:
    from stripewise.bench.advice import AdviceBook
    from stripewise.bench.advice.rules import Basis, Program
    from stripewise.bench.campaign import Campaign, CaseFigures, Flag
    from stripewise.bench.limits import Limits


_file_option = partial(file_option, type=click.Path(path_type=Path, dir_okay=False))
_MANY = 150
"""Number of cases from which finding the limits takes long."""

_CHARTS = ("curves", "heat map", "bars", "metadata", "percentiles", "runs", "targets", "limits")


@dataclass(frozen=True)
class _Loaded:
    """A campaign with all data for its report."""

    campaign: Campaign
    figures: Sequence[CaseFigures]
    flags: Sequence[Flag]
    limits: Limits | None
    why_no_limits: str


@command(
    "report",
    epilog=examples(
        "stripewise bench report array3d.campaign",
        "stripewise bench report array3d.campaign -o array3d.html --csv array3d.csv",
        "stripewise bench report array3d.campaign --picture curves.svg --chart curves",
    ),
)
@campaign_argument
@_file_option("-o", "--output", help="File for the page.  [default: CAMPAIGN/report.html]")
@_file_option("--csv", "csv_file", help="Write a row for each run and operation as CSV into FILE.")
@_file_option("--parquet", help="Write the same rows as Parquet into FILE.")
@_file_option("--picture", help="Draw one chart into FILE (.svg, .png or .pdf) instead of a page.")
@option(
    "--chart",
    type=click.Choice(_CHARTS),
    help="Chart to draw with --picture.  [default: the first of the page]",
)
@option(
    "--operation",
    default="",
    metavar="NAME",
    help="With --picture: operation whose figures are drawn, such as write, read or create.",
)
@option("--no-limits", is_flag=True, help="Leave out the limits behind the figures.")
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
        beside = campaign / "report.html" if campaign.is_dir() else campaign.with_suffix(".html")
        page = given["output"] or beside
        wrote.append((page, _write_page(loaded, page)))
    answer(as_json, partial(_json, loaded), partial(_lines, loaded, wrote))


def _load(path: Path, wants_limits: bool) -> _Loaded:
    from stripewise.bench.campaign import figures_of, flags_of_campaign
    from stripewise.bench.limits import find_limits
    from stripewise.bench.running import read_campaign

    campaign = read_campaign(path)
    if wants_limits and len(campaign.suite.cases) > _MANY:
        note("finding the limits may take minutes; --no-limits leaves them out")
    figures = figures_of(campaign)
    limits, why_not = None, ""
    if wants_limits:
        try:
            limits = find_limits([campaign])
        except StripewiseError as error:  # the campaign does not contain them
            why_not = str(error)
    return _Loaded(campaign, figures, flags_of_campaign(campaign, figures), limits, why_not)


def _write_tables(
    loaded: _Loaded, csv_file: Path | None, parquet: Path | None
) -> list[tuple[Path, str]]:
    from stripewise.bench.report import write_campaign_csv, write_campaign_parquet

    wrote = []
    for path, write in ((csv_file, write_campaign_csv), (parquet, write_campaign_parquet)):
        if path is not None:
            write(loaded.campaign, path, loaded.figures)
            wrote.append((path, "a row for each run and operation"))
    return wrote


def _draw(loaded: _Loaded, given: dict[str, Any]) -> str:
    from stripewise.bench.report import draw_campaign, draw_limits

    if given["chart"] != "limits":
        return draw_campaign(
            loaded.campaign, loaded.figures, given["picture"],
            kind=given["chart"] or "", operation=given["operation"],
        )  # fmt: skip
    if loaded.limits is None:
        why = loaded.why_no_limits or "--no-limits was given"
        raise UsageError(f"there are no limits to draw: {why}")
    return draw_limits(loaded.campaign, loaded.limits, given["picture"])


def _write_page(loaded: _Loaded, page: Path) -> str:
    from stripewise.bench.report import render_campaign
    from stripewise.core import write_file

    text = render_campaign(
        loaded.campaign, loaded.figures, loaded.limits,
        flags=loaded.flags, why_no_limits=loaded.why_no_limits,
    )  # fmt: skip
    write_file(page, text)
    return "the page"


def _json(loaded: _Loaded) -> dict[str, Any]:
    from stripewise.bench.report import campaign_to_json

    return campaign_to_json(loaded.campaign, loaded.figures, loaded.limits)


def _lines(loaded: _Loaded, wrote: Sequence[tuple[Path, str]]) -> list[str]:
    from stripewise.bench.report import limit_lines, summary_of_campaign

    lines = summary_of_campaign(loaded.campaign, loaded.figures, loaded.flags)
    lines += limit_lines(loaded.limits) if loaded.limits is not None else []
    if loaded.why_no_limits:
        why = printable(" ".join(loaded.why_no_limits.split()))
        lines.append(
            f" limits          the campaign does not show the limits of the storage: {why}"
        )
    return [*lines, *(f" wrote           {printable(str(path))}   {what}" for path, what in wrote)]


# ---- advice for users of a storage system

FORMATS = ("text", "html", "markdown", "json", "module", "profile")


@command(
    "advise",
    epilog=examples(
        "stripewise bench advise archer2-hdd",
        "stripewise bench advise site.toml --format markdown -o io-advice.md",
        "stripewise bench advise campaign/ --html advice.html",
        "stripewise bench advise site.toml --program app.trace --nodes 16",
        "stripewise bench advise site.toml --format profile -o stripewise-io.sh",
    ),
)
@click.argument("sources", nargs=-1, required=True, metavar="STORAGE|CAMPAIGN...")
@option("--program", type=click.Path(path_type=Path), metavar="TRACE",
              help="Show only advice that concerns the traced program.")  # fmt: skip
@option("--nodes", type=click.IntRange(min=1), metavar="N",
              help="With --program: nodes of its job.  [default: hosts of the trace]")  # fmt: skip
@option("--ranks-per-node", type=click.IntRange(min=1), metavar="R",
              help="With --program: ranks of each node.")  # fmt: skip
@option("--like", metavar="STORAGE", default="",
              help="With campaigns: description for what they do not show.")  # fmt: skip
@option("--targets", type=click.IntRange(1, 10_000_000), metavar="N",
              help="With campaigns: number of targets of the storage.")  # fmt: skip
@option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True,
              help="Form of the output: a page (html), a page of a user guide (markdown), or a "
                   "site's defaults as a module file or for /etc/profile.d.")  # fmt: skip
@file_option("-o", "--output", help="Write to FILE instead of standard output; a module file "
                                    "whose name ends in .lua is written in Lua.")  # fmt: skip
@file_option("--html", help="Write a page to FILE as well.")
@option(
    "--why-not", is_flag=True, help="Also show which measurements are missing for further advice."
)
@json_option
def advise_command(
    sources: tuple[str, ...],
    program: Path | None,
    nodes: int | None,
    ranks_per_node: int | None,
    like: str,
    targets: int | None,
    form: str,
    output: Path | None,
    html: Path | None,
    why_not: bool,
    as_json: bool,
) -> None:
    """Advise users of a storage system: striping, files, aggregators, locks, network, libraries.

    STORAGE is a name of `stripewise machine list` or a description (.toml).  CAMPAIGN is the
    directory of a campaign or a file of `stripewise bench export`; of several, all are put
    together.  Every piece of advice has its figure and how to follow it; nothing is run.
    """
    from stripewise.bench.advice import advice_json, advice_lines, advice_page, advise

    if program is None and (nodes or ranks_per_node):
        raise UsageError("--nodes and --ranks-per-node require --program: add --program")
    if as_json and form not in ("text", "json"):
        raise UsageError(f"--json and --format {form} cannot be used together: choose one")
    traced = _program(program, nodes, ranks_per_node) if program else None
    book = advise(_basis(sources, like, targets, traced))
    if html is not None:
        write_noted(html, advice_page(book))
    form = "json" if as_json else form
    if output is not None:
        write_noted(output, _text(book, form, output, why_not))
    elif form == "json":
        print_json(advice_json(book))
    elif form == "text":
        answer(False, dict, lambda: advice_lines(book, why_not=why_not))
    else:
        click.echo(_text(book, form, output, why_not), nl=False)


def _text(book: AdviceBook, form: str, output: Path | None, why_not: bool) -> str:
    """Return the advice in one of the formats."""
    import json

    from stripewise.bench import advice

    if form == "text":
        lines = advice.advice_lines(book, why_not=why_not)
        return "".join(f"{printable(line)}\n" for line in lines)
    if form == "json":
        return json.dumps(advice.advice_json(book), indent=2) + "\n"
    if form == "module":
        return advice.module_text(book, lua=output is not None and output.suffix == ".lua")
    makers = {"html": advice.advice_page, "markdown": advice.advice_markdown,
              "profile": advice.profile_text}  # fmt: skip
    return makers[form](book)


# ---- the basis of the advice --------------------------------------------------------------


def _basis(
    sources: tuple[str, ...], like: str, targets: int | None, program: Program | None
) -> Basis:
    from stripewise.bench.advice.rules import Basis
    from stripewise.bench.campaign import figures_of
    from stripewise.bench.limits import find_limits
    from stripewise.storage.machines import find_storage

    paths = [Path(one) for one in sources]
    if len(sources) == 1 and not is_campaign(paths[0]):
        if like or targets:
            raise UsageError(
                "--like and --targets can only be used with campaigns: leave them out"
            )
        return Basis(find_storage(sources[0]), program=program)
    others = [str(one) for one in paths if not is_campaign(one)]
    if others:
        raise UsageError(
            f"{others[0]} is not a campaign: give one description, or only campaigns (--like "
            "takes a description for what they do not show)"
        )
    campaigns = read_campaigns(paths)
    limits = find_limits(campaigns, find_storage(like) if like else None, targets=targets)
    figures = tuple(one for campaign in campaigns for one in figures_of(campaign))
    return Basis(limits.storage, limits, figures, program)


def _program(path: Path, nodes: int | None, ranks_per_node: int | None) -> Program:
    """Return the facts about a program from its trace."""
    from stripewise.bench.advice.rules import Program
    from stripewise.evidence.facts import program_facts, with_patterns
    from stripewise.evidence.readers import read_evidence
    from stripewise.storage.simulation import workload_of_trace

    evidence = read_evidence([path])
    facts = with_patterns(program_facts(evidence.profile), evidence, Path.cwd())
    try:
        work = workload_of_trace(path, nodes or facts.n_hosts, ranks_per_node or 0, note)
    except UsageError as error:
        if nodes or ranks_per_node:
            raise
        note(f"{error}; jobs of several sizes are considered instead")
        work = None
    return Program(path.name, facts, work)


# Campaigns among the arguments of commands that also take others.

_MARK = b'"stripewise-campaign"'
_HEAD = 4096


def is_campaign(path: Path) -> bool:
    """Return whether a path is that of a campaign: its directory or an exported file."""
    if path.is_dir():
        return True
    from stripewise.core.inputs import open_input

    try:
        with open_input(path) as file:
            return _MARK in file.read(_HEAD)
    except (OSError, StripewiseError):
        return False


def read_campaigns(paths: list[Path]) -> list[Campaign]:
    """Return the campaigns read from paths.

    Raises:
        StripewiseError: A campaign cannot be read.
    """
    from stripewise.bench.running import read_campaign

    return [read_campaign(path) for path in paths]
