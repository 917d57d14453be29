# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise monitor`: the agent that watches storage."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import click

from stripewise.cli._common import examples
from stripewise.cli._monitor_look import check, config_option, metrics, once
from stripewise.logs import OneLine

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
def command(context: click.Context, config: Path | None) -> None:
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
    from stripewise.monitor import read_settings, run_agent

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
    command.add_command(_one)
