# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines `stripewise bench run`, which makes the runs of a campaign."""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from stripewise.cli._common import answer, interruptible, note
from stripewise.cli._help import command, examples, has_options, option
from stripewise.cli._options import (
    Duration,
    NameList,
    Numbers,
    Size,
    directory_option,
    emulation_options_of_study,
    json_option,
    launcher_words_option,
    seed_option,
    take_options,
)
from stripewise.core.errors import UsageError

if TYPE_CHECKING:
    from stripewise.bench.campaign import Campaign, Suite
    from stripewise.bench.running import CampaignOptions


def joined_names(words: tuple[str, ...], known: tuple[str, ...]) -> tuple[str, ...]:
    """Join words that form a known name with commas; keep other words unchanged."""
    found: list[str] = []
    rest = list(words)
    while rest:
        ends = range(len(rest), 0, -1)
        taken = next((n for n in ends if ", ".join(rest[:n]) in known), 1)
        found.append(", ".join(rest[:taken]))
        rest = rest[taken:]
    return tuple(found)


def complete_suite(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Return the built-in suites whose names begin with a text."""
    from stripewise.bench.campaign import suite_names

    return [name for name in suite_names() if name.startswith(incomplete)]


_cases = partial(option, group="What is measured")
_start = partial(option, group="How runs are made", rare=True)
_budget = partial(option, group="Limits")
_run_options = has_options(
    directory_option("--in", "inside",
        help="Directory on the storage to measure; the campaign makes a directory of its own "
        "there and removes it at the end  [default: this one]"),
    directory_option("-o", "--output",
        help="Directory for the campaign  [default: SUITE.campaign]"),
    _cases("--nodes", type=Numbers(), default=(), metavar="N1,N2",
        help="Numbers of nodes, instead of those of the suite."),
    _cases("--ranks-per-node", type=click.IntRange(min=1), metavar="R",
        help="Ranks on each node, instead of those of the suite."),
    _cases("--rank-size", "rank_bytes", type=Size(), default=0, metavar="SIZE", rare=True,
        help="Bytes of each rank, instead of those of the suite."),
    _cases("--series", type=NameList(), default=(), metavar="S1,S2", rare=True,
        help="Run only these series of the suite."),
    _cases("--dirs", type=NameList(), default=(), metavar="D1,D2", rare=True,
        help="Run only these directories of the suite."),
    _cases("--quick", is_flag=True, help="Run only the suite's [quick] cases."),
    _cases("--repeat", "repeats", type=click.IntRange(min=1), metavar="N",
        help="Number of runs of each case."),
    option("--launcher", default="local", show_default=True, metavar="NAME",
        group="How runs are made",
        help="local (this host, or the allocation you are in), slurm (submits jobs) or "
        "simulated (with --on: runs nothing, a model computes the times)."),
    _start("--mpi", "family", default="", metavar="NAME",
        help="MPI of the programs, such as openmpi  [default: that of mpiexec]"),
    _start("--mpiexec", default="", metavar="FILE",
        help="mpiexec that starts the ranks  [default: that of the MPI; on emulated Lustre "
        "that of `make lustre-mpi`, if it is built]"),
    launcher_words_option(group="How runs are made", rare=True),
    _start("--job-option", "job_options", multiple=True, metavar="WORD",
        help="With --launcher slurm: option for sbatch (repeatable)."),
    _budget("--wall", "wall_seconds", type=Duration(), metavar="TIME", rare=True,
        help="With --launcher slurm: time limit of an allocation."),
    _budget("--timeout", "timeout_seconds", type=Duration(), default="30min", metavar="TIME",
        show_default=True, rare=True, help="Time limit of one run."),
    _budget("--budget", "budget_seconds", type=Duration(), metavar="TIME",
        help="Stop after this time; --resume continues."),
    _budget("--budget-bytes", type=Size(), metavar="SIZE", rare=True,
        help="Stop before more than this is written."),
    _budget("--budget-node-hours", type=click.FloatRange(min=0, min_open=True), metavar="H",
        rare=True, help="Stop before the runs take more node-hours."),
    seed_option(group="How runs are made",
        help="Seed of the order of the runs, and of emulated noise."),
    emulation_options_of_study,
    option("--resume", is_flag=True, help="Continue an interrupted campaign."),
    option("--force", is_flag=True, help="Set an earlier campaign aside and start a new one."),
    option("--dry-run", is_flag=True, help="Show what would be run, and stop."),
    json_option,
)  # fmt: skip


@command(
    "run",
    epilog=examples(
        "stripewise bench run limits --on archer2-hdd@1/64 --in /dev/shm --repeat 3",
        "stripewise bench run array3d --in /scratch/me --launcher slurm \\",
        "    --nodes 1,2,4,8 --ranks-per-node 128 --job-option=--account=z01",
        "stripewise bench run mdtest --in /scratch/me --repeat 5 --budget 1h",
        "stripewise bench run my-suite.toml --in /scratch/me",
        "stripewise bench run --resume -o array3d.campaign",
    ),
)
@click.argument(
    "suite", required=False, metavar="[SUITE|FILE.toml]", shell_complete=complete_suite
)
@_run_options
def command_run(suite: str | None, as_json: bool, dry_run: bool, **given: Any) -> None:
    """Measure a storage system with a benchmark suite: a built-in SUITE, or that of a TOML file.

    Every case is run several times, in rounds of random order, so that changes of the storage
    affect all cases alike.  Each run is recorded as it ends: a campaign that is killed loses none
    and repeats none.
    """
    options = _options(suite, given)
    if dry_run:
        from stripewise.bench.running import fitted_suite

        options = fitted_suite(options, note)
        answer(as_json, lambda: plan_data(options.suite), lambda: plan_lines(options.suite))
        return
    campaign = _run(options)
    _show(campaign, options.directory, as_json)


def _options(name: str | None, given: dict[str, Any]) -> CampaignOptions:
    from stripewise.bench.campaign import Suite, find_suite
    from stripewise.bench.running import CampaignOptions

    storage = take_options(given, seed=given["seed"])
    node_hours = given.pop("budget_node_hours")
    output = given.pop("output")
    inside = Path(given.pop("inside") or ".").absolute()
    narrow = {key: given.pop(key) for key in ("nodes", "ranks_per_node", "series", "repeats")}
    narrow["directories"] = given.pop("dirs")
    quick = given.pop("quick")
    _check(given)
    if given["resume"]:
        suite = Suite("" if name is None else find_suite(name).name, "", "", {}, ())
        if name is not None and output is None:
            output = Path(f"{suite.name}.campaign")
        output = output or _only_campaign()
        note(
            f"continues with the options that {output} was started with; only the budgets are new"
        )
    else:
        if name is None:
            raise UsageError("give a suite: `stripewise bench list` shows the built-in ones")
        suite = _suite(name, narrow, quick=quick)
        output = output or Path(f"{suite.name}.campaign")
    return CampaignOptions(
        suite=suite,
        directory=output.absolute(),
        inside=inside,
        storage=storage,
        budget_node_seconds=None if node_hours is None else node_hours * 3600,
        nodes_named=bool(narrow["nodes"]),
        **given,
    )


def _suite(name: str, narrow: dict[str, Any], *, quick: bool) -> Suite:
    from stripewise.bench.campaign import find_suite

    found = find_suite(name)
    narrow = {**narrow, "series": joined_names(narrow["series"], found.series)}
    return (found.shortened() if quick else found).narrowed(**narrow)


def _check(given: dict[str, Any]) -> None:
    if given["resume"] and given["force"]:
        raise UsageError(
            "--resume continues a campaign, --force sets it aside and starts over: leave one of "
            "them out"
        )
    for name, value in (
        ("--wall", given["wall_seconds"]),
        ("--job-option", given["job_options"]),
    ):
        if value and given["launcher"] != "slurm":
            raise UsageError(f"{name} is for jobs: add --launcher slurm, or leave it out")


def _only_campaign() -> Path:
    """Return the only campaign in this directory that has not ended."""
    from stripewise.bench.running import read_directory
    from stripewise.core.errors import StripewiseError

    found = []
    for path in sorted(Path.cwd().glob("*.campaign")):
        with suppress(StripewiseError):
            if read_directory(path).ended_because != "all runs are made":
                found.append(path)
    if len(found) != 1:
        what = f"several ({', '.join(path.name for path in found)})" if found else "none"
        raise UsageError(f"--resume: unfinished campaigns in this directory: {what}; say which "
                         "with -o")  # fmt: skip
    return found[0]


def _run(options: CampaignOptions) -> Campaign:
    from stripewise.bench.running import run_campaign
    from stripewise.cli._progress import CampaignProgress

    progress = CampaignProgress(sys.stderr)
    again = f"stripewise bench run --resume -o {quote(str(options.directory))}"
    with interruptible(progress, again):
        return run_campaign(options, progress)


def _show(campaign: Campaign, directory: Path, as_json: bool) -> None:
    from stripewise.bench.campaign import figures_of, flags_of_campaign
    from stripewise.bench.report import campaign_lines, campaign_to_json

    figures = figures_of(campaign)
    answer(
        as_json,
        lambda: campaign_to_json(campaign, figures),
        lambda: campaign_lines(campaign, figures, flags=flags_of_campaign(campaign, figures)),
    )
    if as_json:
        return
    if campaign.ended_because != "all runs are made":
        note(f"{campaign.ended_because}: continue with: stripewise bench run --resume -o "
             f"{quote(str(directory))}")  # fmt: skip
    note(f"to see the full report: stripewise bench report {quote(directory.name)}")


def plan_data(suite: Suite) -> dict[str, Any]:
    return {
        "suite": suite.name,
        "cases": [{**one.as_json(), "key": one.key} for one in suite.cases],
        "runs": suite.n_runs,
        "bytes": suite.bytes,
    }


def plan_lines(suite: Suite) -> list[str]:
    from stripewise.present import plural, size_text

    data = plan_data(suite)
    lines = [f"{one.key}: {plural(one.repeats, 'run')}" for one in suite.cases]
    return [
        *lines,
        f"{plural(len(suite.cases), 'case')}, {plural(data['runs'], 'run')}, "
        f"{size_text(data['bytes'])} written in all",
    ]
