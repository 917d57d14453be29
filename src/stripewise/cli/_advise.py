# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise advise`: what users of a storage should do, each piece of advice with its figure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from stripewise.cli._common import answer, examples, file_option, json_option, note, print_json
from stripewise.errors import UsageError

if TYPE_CHECKING:
    from stripewise.advice import AdviceBook, Basis, Program

FORMATS = ("text", "html", "markdown", "json", "module", "profile")


@click.command(
    epilog=examples(
        "stripewise advise archer2-hdd",
        "stripewise advise site.toml --format markdown -o io-advice.md",
        "stripewise advise campaign/ --html advice.html",
        "stripewise advise site.toml --program app.trace --nodes 16",
        "stripewise advise site.toml --format profile -o stripewise-io.sh",
    )
)
@click.argument("sources", nargs=-1, required=True, metavar="STORAGE|CAMPAIGN...")
@click.option("--program", type=click.Path(path_type=Path), metavar="TRACE",
              help="Show only advice that concerns the traced program.")  # fmt: skip
@click.option("--nodes", type=click.IntRange(min=1), metavar="N",
              help="With --program: nodes of its job.  [default: hosts of the trace]")  # fmt: skip
@click.option("--ranks-per-node", type=click.IntRange(min=1), metavar="R",
              help="With --program: ranks of each node.")  # fmt: skip
@click.option("--like", metavar="STORAGE", default="",
              help="With campaigns: description for what they do not tell.")  # fmt: skip
@click.option("--targets", type=click.IntRange(1, 10_000_000), metavar="N",
              help="With campaigns: number of targets of the storage.")  # fmt: skip
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True,
              help="Form of the output: a page (html), a page of a user guide (markdown), or a "
                   "site's defaults as a module file or for /etc/profile.d.")  # fmt: skip
@file_option("-o", "--output", help="Write to FILE instead of standard output; a module file "
                                    "whose name ends in .lua is written in Lua.")  # fmt: skip
@file_option("--html", help="Write a page to FILE as well.")
@click.option("--why-not", is_flag=True, help="Also say what is missing for more advice.")
@json_option
def command(
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
    """Tell users what to do on a storage: striping, files, aggregators, locks, network, libraries.

    STORAGE is a name of `stripewise machine list` or a description (.toml).  CAMPAIGN is the
    directory of a campaign or a file of `stripewise bench export`; of several, all are put
    together.  Every piece of advice has its figure and how to follow it; nothing is run.
    """
    from stripewise.advice import advise
    from stripewise.outputs import write_file
    from stripewise.report import advice_lines

    if program is None and (nodes or ranks_per_node):
        raise UsageError("--nodes and --ranks-per-node go with --program: add --program")
    if as_json and form not in ("text", "json"):
        raise UsageError(f"--json and --format {form} exclude each other: choose one")
    told = _program(program, nodes, ranks_per_node) if program else None
    book = advise(_basis(sources, like, targets, told))
    if html is not None:
        from stripewise.report import advice_page

        write_file(html, advice_page(book))
        note(f"wrote {html}")
    if (as_json or form == "json") and output is None:
        print_json(_document(book))
    elif form == "text" and output is None:
        answer(False, dict, lambda: advice_lines(book, why_not=why_not))
    else:
        _write(book, "json" if as_json else form, output, why_not)


def _document(book: AdviceBook) -> dict[str, object]:
    from stripewise.report import advice_json

    return advice_json(book)


def _write(book: AdviceBook, form: str, output: Path | None, why_not: bool) -> None:
    from stripewise.outputs import write_file

    text = _text(book, form, output, why_not)
    if output is None:
        click.echo(text, nl=False)
        return
    write_file(output, text)
    note(f"wrote {output}")


def _text(book: AdviceBook, form: str, output: Path | None, why_not: bool) -> str:
    import json

    from stripewise.report import (
        advice_lines,
        advice_markdown,
        module_text,
        profile_text,
    )
    from stripewise.text import printable

    if form == "html":
        from stripewise.report import advice_page

        return advice_page(book)
    if form == "markdown":
        return advice_markdown(book)
    if form == "module":
        return module_text(book, lua=output is not None and output.suffix == ".lua")
    if form == "profile":
        return profile_text(book)
    if form == "json":
        return json.dumps(_document(book), indent=2) + "\n"
    return "".join(f"{printable(line)}\n" for line in advice_lines(book, why_not=why_not))


# ---- what the advice follows from --------------------------------------------------------------


def _basis(
    sources: tuple[str, ...], like: str, targets: int | None, program: Program | None
) -> Basis:
    from stripewise.advice import Basis
    from stripewise.bench import figures_of, find_limits
    from stripewise.cli._campaigns import is_campaign, read_campaigns
    from stripewise.machines import find_storage

    paths = [Path(one) for one in sources]
    if len(sources) == 1 and not is_campaign(paths[0]):
        if like or targets:
            raise UsageError("--like and --targets go with campaigns: leave them out")
        return Basis(find_storage(sources[0]), program=program)
    others = [str(one) for one in paths if not is_campaign(one)]
    if others:
        raise UsageError(
            f"{others[0]} is no campaign: give one description, or campaigns alone (a description "
            "for what they do not tell goes with --like)"
        )
    campaigns = read_campaigns(paths)
    limits = find_limits(campaigns, find_storage(like) if like else None, targets=targets)
    figures = tuple(one for campaign in campaigns for one in figures_of(campaign))
    return Basis(limits.storage, limits, figures, program)


def _program(path: Path, nodes: int | None, ranks_per_node: int | None) -> Program:
    """Return what a trace tells of a program."""
    from stripewise.advice import Program
    from stripewise.cli._simulate_trace import workload_of_trace
    from stripewise.readers import program_facts, read_evidence, with_patterns

    evidence = read_evidence([path])
    facts = with_patterns(program_facts(evidence.profile), evidence, Path.cwd())
    try:
        work = workload_of_trace(path, nodes or facts.n_hosts, ranks_per_node or 0)
    except UsageError as error:
        if nodes or ranks_per_node:
            raise
        note(f"{error}; jobs of several sizes are looked at instead")
        work = None
    return Program(path.name, facts, work)
