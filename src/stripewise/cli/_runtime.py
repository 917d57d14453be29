# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise runtime`: build the library, and list what is built."""

from __future__ import annotations

import click

from stripewise.cli._common import answer, echo, examples, json_option, note, print_json


@click.group(
    epilog=examples("stripewise runtime build", "stripewise runtime list"),
)
def command() -> None:
    """Build the runtime library, MPI plug-ins and kernels, and list what is built.

    They go to $STRIPEWISE_RUNTIME_DIR, otherwise into this Python environment if it can be
    written to, otherwise to ~/.local/share/stripewise.
    """


@command.command(
    "build",
    epilog=examples(
        "stripewise runtime build",
        "stripewise runtime build --mpicc /opt/openmpi-5/bin/mpicc",
        "STRIPEWISE_RUNTIME_DIR=/shared/stripewise stripewise runtime build --force",
    ),
)
@click.option(
    "--mpicc",
    multiple=True,
    metavar="WRAPPER",
    help="Build for the MPI of this compiler wrapper (repeatable; default: all on PATH).",
)
@click.option("--force", is_flag=True, help="Build also what is up to date.")
@json_option
def build(mpicc: tuple[str, ...], force: bool, as_json: bool) -> None:
    """Build what is out of date, with CMake and the compiler of each MPI."""
    from stripewise.runtime import build_runtime

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


@command.command(
    "list", epilog=examples("stripewise runtime list", "stripewise runtime list --json")
)
@json_option
def list_built(as_json: bool) -> None:
    """List the library, the MPI plug-ins and the kernels that are built."""
    from stripewise.runtime import find_runtime

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
