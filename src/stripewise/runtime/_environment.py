# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Environment of a run under the library.

The names are some of native/include/stripewise/environment.h; a test compares them.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from stripewise.errors import ConfigurationError, StorageError, UsageError
from stripewise.model import Configuration, SeriesRule
from stripewise.runtime._locate import CORE_NAME, Runtime

ENV_DIRECTORY = "STRIPEWISE_DIRECTORY"
ENV_RUN_ID = "STRIPEWISE_RUN_ID"
ENV_CONFIGURATION = "STRIPEWISE_CONFIGURATION"
ENV_CONFIGURATION_FILE = "STRIPEWISE_CONFIGURATION_FILE"
ENV_PLUGIN_PATH = "STRIPEWISE_PLUGIN_PATH"
ENV_SYNC = "STRIPEWISE_SYNC"
ENV_INCLUDE = "STRIPEWISE_INCLUDE"
ENV_WRITABLE = "STRIPEWISE_WRITABLE"
ENV_REFUSED = "STRIPEWISE_REFUSED"
ENV_KEEP_REMOVED = "STRIPEWISE_KEEP_REMOVED"
ENV_CAPTURE = "STRIPEWISE_CAPTURE"
ENV_SERIES = "STRIPEWISE_SERIES"

CAPTURE_MODES = ("fold", "all")

INLINE_BYTES = 16 * 1024
"""A flat configuration up to this size travels in the environment itself."""

AS_ROOT = (
    "OMPI_ALLOW_RUN_AS_ROOT",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
    "PRTE_ALLOW_RUN_AS_ROOT",
    "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM",
)


_UNCHANGED = Configuration()


def preload_environment(
    runtime: Runtime,
    *,
    directory: Path,
    run_id: str = "",
    configuration: Configuration = _UNCHANGED,
    sync: bool = False,
    writable: Sequence[Path] = (),
    refused: Path | None = None,
    keep_removed: Path | None = None,
    include: Sequence[Path] = (),
    capture: str = "",
    allowed: Collection[str] = (),
    series: Sequence[SeriesRule] = (),
    base: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Complete environment for a command that runs under the library.

    Args:
        runtime: What is preloaded.
        directory: For the containers; it exists.
        run_id: UUID text; a new one if not given.
        configuration: To be applied; none if not given.
        sync: fsync at close.
        writable: Directories in which files may be made and changed; none: no guard.
        refused: File that tells afterwards what the guard refused; None: nobody asks.
        keep_removed: Directory whose files are kept when the program removes them, in
            `.stripewise-removed` there.
        include: Path prefixes that are always recorded.
        capture: Record single calls: "fold" (equal calls at a regular stride as one) or "all";
            "": counters only.
        allowed: Variables that the configuration may set although they can run code.
        series: For the later files of a series; they act with `SeriesMapping.variables` alone.
        base: Environment to start from; this process's own if not given.

    Raises:
        ConfigurationError: The configuration carries a variable that can run code.
        UsageError: A path cannot be passed to the loader or in a list, or there is no such
            `capture`.
        StorageError: A long configuration could not be written to `directory`.
    """
    check_carried(configuration, allowed)
    if capture not in ("", *CAPTURE_MODES):
        raise UsageError(f"capture {capture!r}: use one of {', '.join(CAPTURE_MODES)}")
    environment = dict(os.environ if base is None else base)
    own = {
        "LD_PRELOAD": _preload(runtime.core, environment.get("LD_PRELOAD", "")),
        ENV_DIRECTORY: str(directory),
        ENV_RUN_ID: run_id or str(uuid.uuid4()),
        ENV_CONFIGURATION: "",
        ENV_CONFIGURATION_FILE: "",
        ENV_PLUGIN_PATH: _path_list([runtime.plugin_directory]),
        ENV_SYNC: "1" if sync else "",
        ENV_WRITABLE: _path_list(writable),
        ENV_REFUSED: str(refused or ""),
        ENV_KEEP_REMOVED: str(keep_removed or ""),
        ENV_INCLUDE: _path_list(include, environment.get(ENV_INCLUDE, "")),
        ENV_CAPTURE: capture,
        ENV_SERIES: "",
    }
    for name, text in own.items():  # of an outer run nothing is left but its emulated storage
        environment.pop(name, None)
        if text:
            environment[name] = text
    environment.update(_configured(configuration, series, directory))
    return launch_environment(environment)


def guard_environment(
    runtime: Runtime, *, writable: Sequence[Path], refused: Path, base: Mapping[str, str]
) -> dict[str, str]:
    """Return the environment of a command that is guarded, and of which nothing is recorded.

    Args:
        runtime: What is preloaded.
        writable: Directories in which files may be made and changed.
        refused: File that tells afterwards what the guard refused; its directory was made for
            the run, which began then.
        base: Environment to start from.

    Raises:
        UsageError: A path cannot be passed to the loader or in a list.
    """
    return {
        **base,
        "LD_PRELOAD": _preload(runtime.core, base.get("LD_PRELOAD", "")),
        ENV_WRITABLE: _path_list(writable),
        ENV_REFUSED: str(refused),
    }


def configured_environment(
    runtime: Runtime, configuration: Configuration, directory: Path
) -> dict[str, str]:
    """Variables with which the library, once it is preloaded, applies a configuration.

    Nothing is recorded.

    Args:
        runtime: What is preloaded.
        configuration: To be applied.
        directory: Takes a configuration that is too long for the environment.

    Raises:
        ConfigurationError: The configuration carries a variable that can run code.
        UsageError: A path cannot be passed in a list.
        StorageError: A long configuration could not be written.
    """
    check_carried(configuration)
    plugins = _path_list([runtime.plugin_directory])
    return {ENV_PLUGIN_PATH: plugins, **_configured(configuration, (), directory)}


def launch_environment(base: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return an environment for a launcher: a user who is root already may start Open MPI.

    Args:
        base: Environment to start from; this process's own if not given.
    """
    environment = dict(os.environ if base is None else base)
    if os.geteuid() == 0:
        for name in AS_ROOT:
            environment.setdefault(name, "1")
    return environment


def check_carried(configuration: Configuration, allowed: Collection[str] = ()) -> None:
    """Refuse variables that can run code, but for those that the user allows.

    Raises:
        ConfigurationError: With their names and the remedy.
    """
    if not configuration.job.environment and not configuration.job.mca:
        return
    from stripewise.tunables import refused_variables

    if refused := refused_variables(configuration, allowed):
        options = " ".join(f"--allow-environment {name}" for name in refused)
        raise ConfigurationError(
            f"the configuration sets {', '.join(refused)}, which can run code of its author; take "
            f"it out, or, if you trust where it comes from, give {options} to stripewise run"
        )


def _preload(core: Path, present: str) -> str:
    """The core in front of what is preloaded already, itself not twice."""
    if any(character in str(core) for character in " :\t\n"):
        raise UsageError(
            f"cannot preload {core}: a path with blanks or colons does not fit in LD_PRELOAD; "
            "set STRIPEWISE_RUNTIME_DIR to a plain path and run `stripewise runtime build`"
        )
    others = [
        entry
        for entry in present.replace(":", " ").split()
        if os.path.basename(entry) != CORE_NAME
    ]
    return ":".join([str(core), *others])


def _path_list(paths: Sequence[Path], present: str = "") -> str:
    texts = [str(path) for path in paths]
    for text in texts:
        if ":" in text:
            raise UsageError(f"{text}: a directory with a colon cannot be passed; rename it")
    return ":".join([*texts, *(entry for entry in present.split(":") if entry)])


def _configured(
    configuration: Configuration, series: Sequence[SeriesRule], directory: Path
) -> dict[str, str]:
    """Variables that carry a configuration."""
    if configuration == Configuration() and not series:
        return {}
    from stripewise import formats

    variables = dict(formats.job_environment(configuration))
    if configuration.job.resources:
        from stripewise.runtime._resources import resource_environment

        variables |= resource_environment(configuration.job)
    if all(rule.is_empty for rule in configuration.files) and not series:
        return variables
    flat = os.fsencode(formats.flat_text(configuration) + formats.series_text(series))
    if len(flat) <= INLINE_BYTES:
        variables[ENV_CONFIGURATION] = os.fsdecode(flat)
        return variables
    path = directory / "configuration.flat"
    try:
        path.write_bytes(flat)
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror}") from error
    variables[ENV_CONFIGURATION_FILE] = str(path)
    return variables
