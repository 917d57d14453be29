# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines `stripewise doctor`, which checks a machine, a site and the agent, and builds."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stripewise.cli._common import answer, echo, note, print_json
from stripewise.cli._help import Group, examples, group, option
from stripewise.cli._options import file_option, json_option, monitor_option
from stripewise.present import duration_text, plural, printable

if TYPE_CHECKING:
    from stripewise.centre.monitor.agent import CollectorCheck, MonitorCheck, SinkCheck
    from stripewise.run.site import Check


_COLOURS = {"ok": "green", "warn": "yellow", "fail": "red"}


_PROGRAM = "stripewise.doctor.program"


class DoctorGroup(Group):
    """A group that accepts the words of a program after `--`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Separate the program's words before parsing, since they are not subcommands."""
        if "--" in args:
            place = args.index("--")
            args, ctx.meta[_PROGRAM] = args[:place], tuple(args[place + 1 :])
        return super().parse_args(ctx, args)


@group(
    cls=DoctorGroup,
    invoke_without_command=True,
    subcommand_metavar="[-- PROGRAM...] | COMMAND [ARGS]...",
    epilog=examples(
        "stripewise doctor",
        "stripewise doctor -- mpiexec -n 16 ./program",
        "stripewise doctor build",
        "stripewise doctor site /scratch/project",
    ),
)
@json_option
@click.pass_context
def doctor_command(ctx: click.Context, as_json: bool) -> None:
    """Check what works on this machine: MPIs, HDF5, preloading, processors and storage.

    Tries preloading with `true`, and with each MPI on two ranks.  With a PROGRAM, also checks
    that it exists and that each of its ranks has a processor.  The exit code is 0 if Stripewise
    is usable here, even with warnings.  `stripewise machine probe` measures the storage.
    """
    if ctx.invoked_subcommand is not None:
        return
    from stripewise.run.site import run_doctor

    checks = run_doctor(ctx.meta.get(_PROGRAM, ()))
    usable = not any(check.status == "fail" for check in checks)
    if as_json:
        print_json({"usable": usable, "checks": [asdict(check) for check in checks]})
    else:
        _print_table(checks)
        echo()
        echo(f"Stripewise is {'usable' if usable else 'NOT usable'} here.")
    ctx.exit(0 if usable else 1)


def _print_table(checks: Sequence[Check]) -> None:
    width = max(len(check.name) for check in checks)
    for check in checks:
        click.secho(f"{check.status:<4}", fg=_COLOURS[check.status], nl=False)
        echo(f"  {check.name:<{width}}  {check.detail}")
        if check.remedy:
            echo(f"{'':<{width + 8}}-> {check.remedy}")


@doctor_command.command(
    "build",
    epilog=examples(
        "stripewise doctor build",
        "stripewise doctor build --mpicc /opt/openmpi-5/bin/mpicc",
        "STRIPEWISE_RUNTIME_DIR=/shared/stripewise stripewise doctor build --force",
    ),
)
@option(
    "--mpicc",
    multiple=True,
    metavar="WRAPPER",
    help="Build for the MPI of this compiler wrapper (repeatable)  [default: all on PATH]",
)
@option("--force", is_flag=True, help="Build everything again.")
@json_option
def build(mpicc: tuple[str, ...], force: bool, as_json: bool) -> None:
    """Build the runtime library, MPI plug-ins and kernels that are missing or out of date.

    Uses CMake and the compiler of each MPI.  The results go to $STRIPEWISE_RUNTIME_DIR if it is
    set, otherwise into this Python environment if it can be written to, otherwise to
    ~/.local/share/stripewise.
    """
    from stripewise.run.runtime import build_runtime

    result = build_runtime(lambda line: echo(line, err=as_json), mpicc=mpicc, force=force)
    for label, reason in result.failed.items():
        note(f"{label}: {reason}", kind="error")
    if as_json:
        print_json(
            {
                "directory": str(result.runtime.directory),
                "built": result.built,
                "current": result.current,
                "failed": result.failed,
            }
        )
    else:
        echo(f"runtime: {result.runtime.directory}")
    if result.failed:
        click.get_current_context().exit(5)


@doctor_command.command("runtime", epilog=examples("stripewise doctor runtime"))
@json_option
def runtime(as_json: bool) -> None:
    """List the runtime library, MPI plug-ins and kernels that are built."""
    from stripewise.run.runtime import find_runtime

    runtime = find_runtime()
    kinds = {"plug-in": runtime.plugins, "kernel": runtime.kernels}
    parts = {f"{kind} {name}": path for kind in kinds for name, path in kinds[kind].items()}
    answer(
        as_json,
        lambda: {
            "directory": runtime.directory,
            "core": runtime.core,
            "plugins": runtime.plugins,
            "kernels": runtime.kernels,
        },
        lambda: [f"{name:<22} {path}" for name, path in {"core": runtime.core, **parts}.items()],
    )


# ---- report on a site

_DEFAULT = "stripewise-site.json"


@doctor_command.command(
    "site",
    epilog=examples(
        "stripewise doctor site /scratch/project",
        "stripewise doctor site --account k01 --partition workq /scratch/project",
        "stripewise doctor site --json",
    ),
)
@click.argument(
    "directories", nargs=-1, metavar="[DIR...]", type=click.Path(path_type=Path, file_okay=False)
)
@file_option("--output", default=_DEFAULT, show_default=True, help="File to write.")
@option("--force", is_flag=True, help="Replace the file if it exists.")
@option("--with-names", is_flag=True, help="Keep the names of users and hosts in the report.")
@option("--account", default="", metavar="NAME", help="Account of the test job.")
@option("--partition", default="", metavar="NAME", help="Partition of the test job.")
@json_option
def site(
    directories: tuple[Path, ...],
    output: Path,
    force: bool,
    with_names: bool,
    account: str,
    partition: str,
    as_json: bool,
) -> None:
    """Gather in one file what decides how Stripewise can be used at a site.

    Looks at Slurm, burst buffers, MPIs, file systems and Darshan.  Its questions are harmless
    and take 10 seconds each at most: no job is submitted (`sbatch --test-only` says whether one
    would be accepted), and nothing is sent anywhere.  A tool that is missing or fails is recorded
    as such.  Look at the file before you give it to anybody: it has paths, modules and
    partitions, but no names of users and hosts.

    DIR is a directory of a file system that programs write to  [default: this one and $SCRATCH].
    A small file is made in each and removed again, to compare the clocks.

    With --json, prints the report and writes no file.
    """
    from stripewise.run.site import LocalHost, check_site, site_lines, write_site

    if not as_json:
        _refuse_existing(output, force)
    options = {"--account": account, "--partition": partition}
    batch = [f"{name}={value}" for name, value in options.items() if value]
    report = check_site(LocalHost(directories or _usual(), batch), keeps_names=with_names)
    if as_json:
        print_json(report.document())
        return
    write_site(report, output, force=force)
    for line in site_lines(report):
        echo(line)
    echo()
    echo(f"Written to {output}; nothing was sent.")


def _refuse_existing(output: Path, force: bool) -> None:
    """Refuse to overwrite a file before the queries, which take a minute."""
    from stripewise.core.errors import UsageError

    if os.path.lexists(output) and not force:
        raise UsageError(f"{output} exists: give another --output, or --force to replace it")


def _usual() -> tuple[Path, ...]:
    scratch = os.environ.get("SCRATCH", "")
    places = [Path.cwd(), *([Path(scratch)] if scratch else [])]
    return tuple(dict.fromkeys(places))


# ---- checks of the monitoring agent

_MOST_NAMES = 6
_MOST_PROBLEMS = 5
_PLURALS = {"fs": "file system", "target": "target", "device": "device", "interface": "interface"}


@doctor_command.command(
    "monitor",
    epilog=examples(
        "stripewise doctor monitor",
        "stripewise doctor monitor --config /etc/stripewise/monitor.toml",
        "stripewise doctor monitor --json",
    ),
)
@monitor_option
@json_option
@click.pass_context
def monitor(context: click.Context, config: Path | None, as_json: bool) -> None:
    """Check what the monitoring agent can read here, and whether its sinks can be reached.

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
        read_settings,
    )
    from stripewise.centre.monitor.collectors import collector_problems

    settings = read_settings(config)
    who = give_up_root(settings.agent.user)
    chosen, sinks = make_collectors(settings, config), make_sinks(settings, config)
    read = check_collectors(chosen, LocalHost(), lambda text: note(text, kind="warning"))
    found = MonitorCheck(
        settings.agent.server, who, read, check_sinks(sinks), collector_problems(),
    )  # fmt: skip
    answer(as_json, found.as_json, lambda: map(printable, _check_lines(found)))
    context.exit(0 if found.is_good else 1)


def _check_lines(found: MonitorCheck) -> Iterator[str]:
    yield f"server {found.server}: {found.who}"
    for one in found.collectors:
        yield from _collector_lines(one)
    if not found.collectors:
        yield (
            "collectors      none     all have enabled = false: remove that line for those that "
            "are to be read"
        )
    for each in found.sinks:
        yield _sink_line(each)
    for text in found.plug_ins:
        yield f"plug-in         {text}"
    yield ("the agent can work here" if found.is_good else "action is needed: see above")


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
    hint = "; if the agent is already running here, this is it" if one.state == "in use" else ""
    return f"{'to ' + one.name:15} {one.state:8} {one.why}{hint}".rstrip()
