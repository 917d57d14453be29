# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines `stripewise simulate`, which predicts the time of I/O on a described storage."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stripewise.cli._common import answer, note
from stripewise.cli._help import command, examples, has_options, option
from stripewise.cli._options import (
    complete_machine,
    complete_strategy,
    complete_tunable,
    file_option,
    json_option,
)
from stripewise.core.errors import UsageError

if TYPE_CHECKING:
    from stripewise.core import Value
    from stripewise.storage.machines import Storage
    from stripewise.storage.simulation import SimulatedJob


_work = partial(option, group="What the ranks move", rare=True)
_storage = partial(option, group="The storage", rare=True)
_tune = partial(option, group="Tuning in virtual time")
_options = has_options(
    option("--on", "machine", required=True, metavar="STORAGE", shell_complete=complete_machine,
        help="Described storage: a name of `stripewise machine list`, or a file; @1/64 makes it "
        "64 times as slow."),
    option("--pattern", required=True, metavar="PATTERN",
        help="What the ranks move: <3D,(BLOCK,BLOCK,BLOCK),(256,256,256)> with one process's "
        "elements of each dimension, a kernel with its options ('vorpal --steps 20'), or the "
        "path of a trace."),
    option("--nodes", type=click.IntRange(min=1), metavar="N", default=1, show_default=True,
        help="Nodes of the job."),
    option("--ranks-per-node", type=click.IntRange(min=1), metavar="R",
        help="Ranks of each node  [default: all cores of the machine's nodes; of a trace, its "
        "ranks]"),
    _work("--element-bytes", type=click.IntRange(1, 1 << 20), metavar="BYTES", default=8,
        show_default=True, help="Bytes of an element of the notation."),
    _work("--steps", type=click.IntRange(min=1), metavar="N", default=1, show_default=True,
        help="Number of times that each dataset of the notation is written."),
    _work("--datasets", type=click.IntRange(1, 100_000), metavar="N", default=1,
        show_default=True, help="Number of datasets of the notation."),
    _work("--independent", is_flag=True, help="Make independent calls, not collective ones."),
    _work("--read", "reading", is_flag=True, help="Read instead of writing."),
    option("--set", "settings", multiple=True, metavar="TUNABLE=VALUE",
        shell_complete=complete_tunable,
        help="A setting (repeatable), such as striping_factor=-1 or cb_buffer_size=16MiB."),
    option("--sweep", "sweeps", multiple=True, metavar="NAME=A,B,...",
        help="Simulate each of several values of a tunable, or of nodes, ranks-per-node, stack, "
        "transport or capacity; several of these options make all combinations."),
    option("--stack", metavar="NAME", default="",
        help="Software stack: cray, romio, romio-lustre, ompio, posix-process, ...  [default: the "
        "usual one on that storage]"),
    _storage("--transport", metavar="NAME", default="",
        help="Variant of the network, as `stripewise machine show` lists them."),
    _storage("--capacity", metavar="SIZE",
        help="Capacity that the job requests of a burst buffer, such as 20TiB."),
    _storage("--private", is_flag=True,
        help="Give each node its own part of the burst buffer."),
    _tune("--tune", "strategy", is_flag=False, flag_value="auto", metavar="[STRATEGY]",
        shell_complete=complete_strategy,
        help="Tune the job in virtual time with a strategy (default: auto), with the storage's "
        "noise."),
    _tune("--trials", type=click.IntRange(min=1), metavar="N", rare=True,
        help="With --tune: maximum number of configurations to try."),
    _tune("--seed", type=int, metavar="N", rare=True,
        help="With --tune: seed of all random choices  [default: 0]"),
    file_option("--html", help="Write a page with the results to FILE."),
    json_option,
)  # fmt: skip


@command(
    epilog=examples(
        "stripewise simulate --on archer2-hdd --nodes 64 \\",
        "    --pattern 'vorpal --steps 20' --set striping_factor=-1",
        "stripewise simulate --on shaheen2-datawarp --nodes 40 --capacity 20TiB \\",
        "    --pattern '<3D,(*,BLOCK,BLOCK),(50,64,64)>'",
        "stripewise simulate --on site.toml --nodes 8 --pattern app.trace",
        "stripewise simulate --on archer2-hdd --pattern gcrm \\",
        "    --sweep nodes=1,4,16,64 --sweep striping_factor=1,4,-1 --html gcrm.html",
        "stripewise simulate --on edison --nodes 16 --pattern vorpal --tune genetic",
    )
)
@_options
@click.pass_context
def simulate_command(
    context: click.Context,
    /,
    machine: str,
    settings: tuple[str, ...],
    sweeps: tuple[str, ...],
    html: Path | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Predict how long a job's I/O takes on a described storage, and what limits it.

    Runs and writes nothing: computes the requests that the software stack would make from the
    pattern and the settings, and their time from the description of the storage.
    """
    from stripewise.storage.machines import find_storage
    from stripewise.storage.simulation import (
        parse_sweep,
        simulate_job,
        simulation_json,
        simulation_lines,
    )

    study = {name: given.pop(name) for name in ("strategy", "trials", "seed")}
    storage = find_storage(machine)
    job = _job(storage, _settings(settings), given)
    if study["strategy"] is not None:
        if sweeps or html is not None or settings:
            raise UsageError("--tune chooses the settings: leave --set, --sweep and --html out")
        tune_job(storage, job, as_json, **study)
        return
    for name in ("trials", "seed"):
        if study[name] is not None:
            raise UsageError(f"--{name} requires --tune; add --tune, or leave --{name} out")
    sweep = parse_sweep(sweeps)
    _check_sweep(context, job, sweep)
    found = simulate_job(storage, job, sweep, note)
    if html is not None:
        from stripewise.core import write_file
        from stripewise.storage.simulation import render_simulation_html

        write_file(html, render_simulation_html(found))
    answer(as_json, lambda: simulation_json(found), lambda: simulation_lines(found))


def _job(storage: Storage, settings: dict[str, Value], given: dict[str, Any]) -> SimulatedJob:
    from stripewise.storage.simulation import SimulatedJob, parse_capacity

    capacity = given.pop("capacity")
    return SimulatedJob(
        cores=int(storage.value("machine.ranks_per_node")),
        ranks_per_node=given.pop("ranks_per_node") or 0,
        collective=not given.pop("independent"),
        writing=not given.pop("reading"),
        capacity_bytes=parse_capacity(capacity) if capacity is not None else 0,
        settings=settings,
        **given,
    )


def _check_sweep(
    context: click.Context, job: SimulatedJob, sweep: dict[str, tuple[Value, ...]]
) -> None:
    """Refuse a value that both an option and --sweep set.

    Raises:
        UsageError: There is such an option.
    """
    if twice := sorted(sweep.keys() & job.settings.keys()):
        raise UsageError(f"--set and --sweep both name {twice[0]}; leave one of them out")
    for name in sweep:
        source = context.get_parameter_source(name.replace("-", "_"))
        if source is click.core.ParameterSource.COMMANDLINE:
            raise UsageError(f"--{name} and --sweep both name {name}; leave one of them out")


def _settings(texts: tuple[str, ...]) -> dict[str, Value]:
    from stripewise.settings.tunables import parse_vary

    found: dict[str, Value] = {}
    for text in texts:
        for name, values in parse_vary([text], "--set").items():
            if len(values) > 1:
                raise UsageError(f"--set {text!r} has several values; give them to --sweep")
            if name in found:
                raise UsageError(f"--set names {name} twice")
            found[name] = values[0]
    return found


# `stripewise simulate --tune`: a study of a job in virtual time.


def tune_job(
    storage: Storage,
    job: SimulatedJob,
    as_json: bool,
    strategy: str,
    trials: int | None,
    seed: int | None,
) -> None:
    """Tune a job and print the result.

    Raises:
        UsageError: There is no such strategy, or nothing to tune.
        ConfigurationError: The job is impossible on the storage.
    """
    from stripewise.storage.simulation import workload_of
    from stripewise.study.plan import StudyOptions
    from stripewise.study.procedure import simulated_workload, tune_simulated
    from stripewise.study.report import (
        SimulatedStudy,
        simulated_study_json,
        simulated_study_lines,
    )  # fmt: skip
    from stripewise.study.strategies import check_strategy_options

    check_strategy_options(strategy, {})
    work = workload_of(job, note)
    job.simulated(storage, work)  # impossible jobs are reported here
    program = simulated_workload(
        storage, work, job.stack, job.transport,
        capacity_bytes=job.capacity_bytes, private=job.private,
    )  # fmt: skip
    options = StudyOptions(("simulated",), strategy=strategy, trials=trials, seed=seed or 0)
    found = SimulatedStudy(program, strategy, tune_simulated(program, options))
    answer(as_json, lambda: simulated_study_json(found), lambda: simulated_study_lines(found))
