# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the agent that watches storage, and shows what it would do."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stripewise.cli._common import answer, examples, json_option, note
from stripewise.present import OneLine, duration_text, plural, printable

if TYPE_CHECKING:
    from stripewise.centre.monitor import Metric, Round
    from stripewise.centre.monitor.agent import (
        CollectorCheck,
        MonitorCheck,
        MonitorSettings,
        SinkCheck,
    )


# `stripewise monitor check`, `once` and `metrics`: what the agent would do here.

config_option = click.option(
    "--config",
    metavar="FILE",
    # Whether it can be read shows when it is: access(2) does not know of capabilities.
    type=click.Path(path_type=Path, readable=False),
    help="Settings of the agent (monitor.toml).",
)
_MOST_NAMES = 6
_MOST_PROBLEMS = 5
_PLURALS = {"fs": "file system", "target": "target", "device": "device", "interface": "interface"}


@click.command(
    short_help="Tell what the agent can read and reach here.",
    epilog=examples(
        "stripewise monitor check",
        "stripewise monitor check --config /etc/stripewise/monitor.toml",
        "stripewise monitor check --json",
    ),
)
@config_option
@json_option
@click.pass_context
def check(context: click.Context, config: Path | None, as_json: bool) -> None:
    """Tell what the agent can read on this host, and whether its sinks can be reached.

    Each collector reads once, and each sink delivers the agent's version.  The exit code is 1 if
    something that is there cannot be read whole, if nothing is there, or if a sink fails.
    """
    from stripewise.centre.monitor import LocalHost, give_up_root
    from stripewise.centre.monitor.agent import (
        MonitorCheck,
        check_collectors,
        check_sinks,
        make_collectors,
        make_sinks,
    )
    from stripewise.centre.monitor.collectors import collector_problems

    config, settings = _settings(context, config)
    who = give_up_root(settings.agent.user)
    chosen, sinks = make_collectors(settings, config), make_sinks(settings, config)
    read = check_collectors(chosen, LocalHost(), lambda text: note(text, kind="warning"))
    found = MonitorCheck(
        settings.agent.server, who, read, check_sinks(sinks), collector_problems(),
    )  # fmt: skip
    answer(as_json, found.as_json, lambda: map(printable, _check_lines(found)))
    context.exit(0 if found.is_good else 1)


@click.command(
    short_help="Read everything once and print it.",
    epilog=examples(
        "stripewise monitor once",
        "stripewise monitor once | sponge /var/lib/node_exporter/storage.prom",
        "stripewise monitor once --format influx --collector disks --collector host",
    ),
)
@config_option
@click.option("--format", "form", default="prometheus", show_default=True,
              type=click.Choice(["prometheus", "openmetrics", "influx", "json"]),
              help="How to print the readings.")  # fmt: skip
@click.option("--collector", "names", multiple=True, metavar="NAME",
              help="Use this collector alone (repeatable).")  # fmt: skip
@click.pass_context
def once(context: click.Context, config: Path | None, form: str, names: tuple[str, ...]) -> None:
    """Read everything once and print it: for node_exporter's textfile collector, for Telegraf.

    What cannot be read is named on standard error, and stripewise_collector_ok is 0; lines of
    Lustre that were left out are named too, and count as stripewise_collector_problems.  The exit
    code is 1 if nothing could be read at all.
    """
    from stripewise.centre.monitor import LocalHost, give_up_root
    from stripewise.centre.monitor.agent import make_collectors, read_once
    from stripewise.centre.monitor.collectors import collector_problems

    config, settings = _settings(context, config)
    give_up_root(settings.agent.user)
    rounds = read_once(make_collectors(settings, config), LocalHost(), names)
    for problem in collector_problems():
        note(problem, kind="warning")
    for found in rounds:
        for text in found.problems[:_MOST_PROBLEMS]:
            note(f"{found.collector}: {text}", kind="warning")
        if (more := len(found.problems) - _MOST_PROBLEMS) > 0:
            note(f"{found.collector}: and {more} more (see --format json)", kind="warning")
    if len(rounds) == 1:
        note("no collector finds anything to read here: see `stripewise monitor check`",
             kind="warning")  # fmt: skip
    click.echo(_rendered(rounds, form, settings.agent.server), nl=False)
    context.exit(0 if any(one.readings or one.jobs for one in rounds[:-1]) else 1)


@click.command(
    short_help="List the metrics that the agent reports.",
    epilog=examples("stripewise monitor metrics", "stripewise monitor metrics --json"),
)
@json_option
def metrics(as_json: bool) -> None:
    """List the metrics that the agent reports: names in Prometheus, units, labels."""
    from stripewise.centre.monitor import METRICS

    answer(as_json, lambda: [_metric_data(one) for one in METRICS], lambda: _metric_lines(METRICS))


def _settings(context: click.Context, own: Path | None) -> tuple[Path | None, MonitorSettings]:
    """Return the configuration that was named behind the command, or before it."""
    from stripewise.centre.monitor.agent import read_settings

    config = own or context.obj
    return config, read_settings(config)


def _check_lines(found: MonitorCheck) -> Iterator[str]:
    yield f"server {found.server}: {found.who}"
    for one in found.collectors:
        yield from _collector_lines(one)
    if not found.collectors:
        yield "collectors      none     each has enabled = false: take that out for what is here"
    for each in found.sinks:
        yield _sink_line(each)
    for text in found.plug_ins:
        yield f"plug-in         {text}"
    yield (
        "the agent can do its work here" if found.is_good else "something is to be done: see above"
    )


def _collector_lines(one: CollectorCheck) -> Iterator[str]:
    head = f"{one.name:15} {one.state:8}"
    if one.state in ("nothing", "failed"):
        yield f"{head} {one.why}"
    else:
        counted = [f"{plural(one.readings, 'reading')} in {duration_text(one.seconds)}"]
        counted += [_named(label, names) for label, names in one.found.items()]
        counted += [f"{plural(one.jobs, 'job')} on targets"] if one.jobs else []
        yield f"{head} {'; '.join(counted)}"
    for text in one.problems[:_MOST_PROBLEMS]:
        if text != one.why or one.state == "part":
            yield f"{'':24} left out: {text}"
    if len(one.problems) > _MOST_PROBLEMS:
        yield f"{'':24} and {len(one.problems) - _MOST_PROBLEMS} more (see --json)"


def _named(label: str, names: Sequence[str]) -> str:
    shown = ", ".join(names[:_MOST_NAMES])
    more = ", ..." if len(names) > _MOST_NAMES else ""
    return f"{plural(len(names), _PLURALS.get(label, label))} ({shown}{more})"


def _sink_line(one: SinkCheck) -> str:
    hint = "; if the agent runs here already, it is this" if one.state == "in use" else ""
    return f"{'to ' + one.name:15} {one.state:8} {one.why}{hint}".rstrip()


def _rendered(rounds: Sequence[Round], form: str, server: str) -> str:
    if form == "json":
        return _json(rounds, server)
    from stripewise.centre.monitor.agent import (
        render_influx,
        render_openmetrics,
        render_prometheus,
    )

    render = {
        "prometheus": render_prometheus,
        "openmetrics": render_openmetrics,
        "influx": render_influx,
    }[form]
    return render(rounds, server)


def _json(rounds: Sequence[Round], server: str) -> str:
    import json

    from stripewise.present import finite

    data = {"server": server, "rounds": [_round_data(one) for one in rounds]}
    return json.dumps(finite(data), indent=2, allow_nan=False) + "\n"


def _round_data(found: Round) -> dict[str, Any]:
    return {
        "collector": found.collector,
        "at_seconds": found.at,
        "duration_seconds": found.seconds,
        "reason": found.reason,
        "problems": list(found.problems),
        "readings": [
            {
                "metric": one.metric.name,
                "labels": dict(zip(one.metric.labels, one.labels, strict=False)),
                "value": one.value._asdict() if isinstance(one.value, tuple) else one.value,
            }
            for one in found.readings
        ],
        "jobs": [{"fs": one.fs, "target": one.target, "jobs": one.count} for one in found.jobs],
    }


def _metric_data(one: Metric) -> dict[str, Any]:
    return {
        "name": one.name, "prometheus": one.prometheus_name, "kind": one.kind.value,
        "unit": one.unit, "labels": list(one.labels), "series": one.series,
        "summary": one.summary,
    }  # fmt: skip


def _metric_lines(metrics: Sequence[Metric]) -> Iterator[str]:
    for one in metrics:
        labels = f"{{{','.join(one.labels)}}}" if one.labels else ""
        yield f"{one.prometheus_name}{labels}"
        yield f"    {one.kind}, {one.unit}: {one.summary}"


# `stripewise monitor`: the agent that watches storage.

_FORMAT = "%(asctime)s stripewise: %(levelname)s: %(message)s"
_FORMAT_OF_JOURNAL = "%(levelname)s: %(message)s"
"""The journal adds the time and the name itself."""


@click.group(
    invoke_without_command=True,
    epilog=examples(
        "stripewise monitor check",
        "stripewise monitor",
        "stripewise monitor --config /etc/stripewise/monitor.toml",
        "stripewise monitor once --format prometheus",
        "stripewise monitor metrics",
    ),
)
@config_option
@click.pass_context
def monitor_command(context: click.Context, config: Path | None) -> None:
    """Watch the storage of this host, and hand on what it counts.

    Without a command the agent runs until it gets SIGTERM or Ctrl-C: it reads the counters of
    Lustre servers and clients, NFS, GPFS, BeeGFS, disks and the host every 15 seconds.  Without
    --config it uses everything that has something to read here, and Prometheus may ask at
    http://127.0.0.1:9823/metrics.  `stripewise monitor check` tells what that would be.

    Started by root, the agent becomes the user that the configuration names (else stripewise,
    else nobody) and keeps one capability: to read all files.
    """
    context.obj = config
    if context.invoked_subcommand is not None:
        return
    from stripewise.centre.monitor.agent import read_settings, run_agent

    settings = read_settings(config)
    _log_to_standard_error(settings.agent.log_level)
    run_agent(settings, config)


def _log_to_standard_error(level: str) -> None:
    logging.raiseExceptions = False  # a closed standard error must not become more errors
    handler = logging.StreamHandler()
    handler.setFormatter(
        OneLine(_FORMAT_OF_JOURNAL if "JOURNAL_STREAM" in os.environ else _FORMAT)
    )
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)


for _one in (check, once, metrics):
    monitor_command.add_command(_one)
