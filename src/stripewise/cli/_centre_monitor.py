# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines `stripewise centre monitor`, the agent that watches storage."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stripewise.cli._common import answer, note
from stripewise.cli._help import add_all, command, examples, group, option
from stripewise.cli._options import json_option, monitor_option
from stripewise.present import OneLine

if TYPE_CHECKING:
    from stripewise.centre.monitor import Metric, Round
    from stripewise.centre.monitor.agent import (
        MonitorSettings,
    )


_MOST_PROBLEMS = 5


@command(
    epilog=examples(
        "stripewise centre monitor once",
        "stripewise centre monitor once | sponge /var/lib/node_exporter/storage.prom",
        "stripewise centre monitor once --format influx --collector disks",
    ),
)
@monitor_option
@option("--format", "form", default="prometheus", show_default=True,
              type=click.Choice(["prometheus", "openmetrics", "influx", "json"]),
              help="How to print the readings.")  # fmt: skip
@option("--collector", "names", multiple=True, metavar="NAME",
              help="Use only this collector (repeatable).")  # fmt: skip
@click.pass_context
def once(context: click.Context, config: Path | None, form: str, names: tuple[str, ...]) -> None:
    """Read everything once and print it, for node_exporter's textfile collector or Telegraf.

    What cannot be read is named on standard error, and its stripewise_collector_ok is 0; lines of
    Lustre that were left out are named too, and counted in stripewise_collector_problems.  The
    exit code is 1 if nothing could be read at all.
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
        note("no collector finds anything to read here: see `stripewise doctor monitor`",
             kind="warning")  # fmt: skip
    click.echo(_rendered(rounds, form, settings.agent.server), nl=False)
    context.exit(0 if any(one.readings or one.jobs for one in rounds[:-1]) else 1)


@command(
    epilog=examples(
        "stripewise centre monitor metrics", "stripewise centre monitor metrics --json"
    ),
)
@json_option
def metrics(as_json: bool) -> None:
    """List the metrics that the agent reports, with units and labels."""
    from stripewise.centre.monitor import METRICS

    answer(as_json, lambda: [_metric_data(one) for one in METRICS], lambda: _metric_lines(METRICS))


def _settings(context: click.Context, own: Path | None) -> tuple[Path | None, MonitorSettings]:
    """Return the configuration named after the command or before it."""
    from stripewise.centre.monitor.agent import read_settings

    config = own or context.obj
    return config, read_settings(config)


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


# Defines `stripewise centre monitor`, the agent that watches storage.

_FORMAT = "%(asctime)s stripewise: %(levelname)s: %(message)s"
_FORMAT_OF_JOURNAL = "%(levelname)s: %(message)s"
"""The journal adds the time and the name itself."""


@group(
    "monitor",
    invoke_without_command=True,
    epilog=examples(
        "stripewise doctor monitor",
        "stripewise centre monitor",
        "stripewise centre monitor --config /etc/stripewise/monitor.toml",
        "stripewise centre monitor once --format prometheus",
        "stripewise centre monitor metrics",
    ),
)
@monitor_option
@click.pass_context
def monitor_command(context: click.Context, config: Path | None) -> None:
    """Watch the storage of this host: run the agent for Prometheus, InfluxDB and the database.

    The agent runs until it gets SIGTERM or Ctrl-C.  Every 15 seconds it reads the counters of
    Lustre servers and clients, NFS, GPFS, BeeGFS, disks and the host.  Without --config it reads
    whatever there is on this host, and serves it to Prometheus at
    http://127.0.0.1:9823/metrics.  `stripewise doctor monitor` shows what that would be.

    If root starts it, the agent becomes the user that the configuration names (else stripewise,
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


add_all(monitor_command, (once, metrics))
