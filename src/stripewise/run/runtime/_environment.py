# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Finds the built runtime library, and creates the environment that activates it.

Names of variables are from native/include/stripewise/environment.h; a test compares them.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from stripewise.core import Configuration, SeriesRule, whole_file
from stripewise.core.errors import (
    ConfigurationError,
    RuntimeMissingError,
    StorageError,
    UsageError,
)

# Locations of the built runtime and of its sources.

RUNTIME_DIRECTORY_VARIABLE = "STRIPEWISE_RUNTIME_DIR"
CORE_NAME = "libstripewise.so"
TASK_NAME = "stripewise-task"
PLUGIN_PREFIX = "libstripewise-mpi-"
KERNEL_PREFIX = "stripewise-kernel-"
REPLAY_PREFIX = "stripewise-replay-"
METADATA_PREFIX = "stripewise-metadata-"


@dataclass(frozen=True)
class Runtime:
    """A built runtime library.

    Attributes:
        directory: Root of its files (`lib`, `lib/plugins`, `bin`, `build`).
    """

    directory: Path

    @property
    def core(self) -> Path:
        """Path of the library to preload."""
        return self.directory / "lib" / CORE_NAME

    @property
    def task(self) -> Path:
        """Path of the program that starts a task in the environment described by a file."""
        return self.directory / "bin" / TASK_NAME

    @property
    def plugin_directory(self) -> Path:
        """Directory of MPI plug-ins."""
        return self.directory / "lib" / "plugins"

    @property
    def plugins(self) -> dict[str, Path]:
        """Path of the plug-in for each `<family>-<major>`."""
        return _built(self.plugin_directory, PLUGIN_PREFIX)

    @property
    def kernels(self) -> dict[str, Path]:
        """Path of the benchmark kernel for each MPI family."""
        return _built(self.directory / "bin", KERNEL_PREFIX)

    @property
    def replays(self) -> dict[str, Path]:
        """Path of the program that replays traces for each MPI family."""
        return _built(self.directory / "bin", REPLAY_PREFIX)

    @property
    def metadata_programs(self) -> dict[str, Path]:
        """Path of the program that times metadata operations for each MPI family."""
        return _built(self.directory / "bin", METADATA_PREFIX)


def _built(folder: Path, prefix: str) -> dict[str, Path]:
    """Return files by the part of their names after a prefix."""
    found = sorted(folder.glob(prefix + "*"))
    return {path.name.removeprefix(prefix).removesuffix(".so"): path for path in found}


def candidate_directories() -> list[Path]:
    """Return the possible directories of the runtime, in order of preference."""
    named = os.environ.get(RUNTIME_DIRECTORY_VARIABLE)
    if named:
        return [Path(named).absolute()]
    return [
        Path(sys.prefix) / "lib" / "stripewise",
        Path.home() / ".local" / "share" / "stripewise",
    ]


def build_directory() -> Path:
    """Return the first candidate that is writable (or the last one if none is)."""
    candidates = candidate_directories()
    for path in candidates:
        existing = next(p for p in (path, *path.parents) if p.exists())
        if os.access(existing, os.W_OK | os.X_OK):
            return path
    return candidates[-1]


def find_runtime() -> Runtime:
    """Find the built runtime.

    Raises:
        RuntimeMissingError: The runtime is not built.
    """
    candidates = candidate_directories()
    for directory in candidates:
        if (runtime := Runtime(directory)).core.is_file():
            return runtime
    looked = ", ".join(str(path) for path in candidates)
    raise RuntimeMissingError(
        f"the runtime library is not built (looked in {looked}); run: stripewise doctor build"
    )


def native_sources() -> Path:
    """Return the directory of the C sources, in the checkout or in the installed package.

    Raises:
        RuntimeMissingError: The sources do not exist.
    """
    package = Path(__file__).resolve().parents[2]
    candidates = (package / "_native", package.parents[1] / "native")
    for path in candidates:
        if (path / "CMakeLists.txt").is_file():
            return path
    looked = " and ".join(map(str, candidates))
    raise RuntimeMissingError(
        f"the C sources are missing (looked in {looked}); install Stripewise again"
    )


# Environment of a run with the library.

ENV_DIRECTORY = "STRIPEWISE_DIRECTORY"
ENV_RUN_ID = "STRIPEWISE_RUN_ID"
ENV_CONFIGURATION = "STRIPEWISE_CONFIGURATION"
ENV_CONFIGURATION_FILE = "STRIPEWISE_CONFIGURATION_FILE"
ENV_PLUGIN_PATH = "STRIPEWISE_PLUGIN_PATH"
ENV_SYNC = "STRIPEWISE_SYNC"
ENV_OUTPUTS = "STRIPEWISE_OUTPUTS"
ENV_INCLUDE = "STRIPEWISE_INCLUDE"
ENV_WRITABLE = "STRIPEWISE_WRITABLE"
ENV_REFUSED = "STRIPEWISE_REFUSED"
ENV_KEEP_REMOVED = "STRIPEWISE_KEEP_REMOVED"
ENV_CAPTURE = "STRIPEWISE_CAPTURE"
ENV_SERIES = "STRIPEWISE_SERIES"

CAPTURE_MODES = ("fold", "all")

INLINE_BYTES = 16 * 1024
"""Maximum size of a flat configuration that is passed in the environment itself."""

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
    outputs: str = "",
    capture: str = "",
    allowed: Collection[str] = (),
    series: Sequence[SeriesRule] = (),
    base: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Return the complete environment for a command that runs with the preloaded library.

    Args:
        runtime: Runtime to preload.
        directory: Existing directory for the containers.
        run_id: UUID as text; a new one if not given.
        configuration: Configuration to apply; none if not given.
        sync: Whether to call fsync at close.
        writable: Directories in which files may be created and changed; empty for no guard.
        refused: File to which the guard writes what it refused; None for no such file.
        keep_removed: Directory whose files are kept, in `.stripewise-removed` there, when the
            program removes them.
        include: Path prefixes that are always recorded.
        outputs: Files of the run's own outputs, see `own_outputs`; if empty, no standard output
            and no standard error of a program is recorded.
        capture: How to record single calls: "fold" (equal calls at a regular stride become one
            record) or "all"; empty for counters only.
        allowed: Variables that the configuration may set although they can run code.
        series: Settings for the later files of a series, which act only together with
            `SeriesMapping.variables`.
        base: Environment to start from; that of this process if not given.

    Raises:
        ConfigurationError: The configuration contains a variable that can run code.
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
        ENV_OUTPUTS: outputs,
        ENV_CAPTURE: capture,
        ENV_SERIES: "",
    }
    for name, text in own.items():  # only the emulated storage of an outer run is kept
        environment.pop(name, None)
        if text:
            environment[name] = text
    environment.update(_configured(configuration, series, directory))
    return launch_environment(environment)


def own_outputs() -> str:
    """Return the files to which standard output and standard error of this process go.

    As `STRIPEWISE_OUTPUTS` has them: a program's output to one of them is not counted as I/O.
    """
    found = []
    for descriptor in (1, 2):
        with contextlib.suppress(OSError):
            status = os.fstat(descriptor)
            if stat.S_ISREG(status.st_mode):
                found.append(f"{status.st_dev}:{status.st_ino}")
    return ",".join(found) or "-"


def guard_environment(
    runtime: Runtime, *, writable: Sequence[Path], refused: Path, base: Mapping[str, str]
) -> dict[str, str]:
    """Return the environment for a command that is guarded but not recorded.

    Args:
        runtime: Runtime to preload.
        writable: Directories in which files may be created and changed.
        refused: File to which the guard writes what it refused; its directory was created for the
            run when it began.
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
    """Return the variables with which the preloaded library applies a configuration.

    The library then records nothing.

    Args:
        runtime: Runtime to preload.
        configuration: Configuration to apply.
        directory: Directory for a configuration that is too long for the environment.

    Raises:
        ConfigurationError: The configuration contains a variable that can run code.
        UsageError: A path cannot be passed in a list.
        StorageError: A long configuration could not be written.
    """
    check_carried(configuration)
    plugins = _path_list([runtime.plugin_directory])
    return {ENV_PLUGIN_PATH: plugins, **_configured(configuration, (), directory)}


def launch_environment(base: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return an environment for a launcher, which allows root to start Open MPI.

    Args:
        base: Environment to start from; that of this process if not given.
    """
    environment = dict(os.environ if base is None else base)
    if os.geteuid() == 0:
        for name in AS_ROOT:
            environment.setdefault(name, "1")
    return environment


def check_carried(configuration: Configuration, allowed: Collection[str] = ()) -> None:
    """Refuse variables that can run code, except those that the user allows.

    Raises:
        ConfigurationError: There are some; the message has their names and the remedy.
    """
    if not configuration.job.environment and not configuration.job.mca:
        return
    from stripewise.settings.tunables import refused_variables

    if refused := refused_variables(configuration, allowed):
        options = " ".join(f"--allow-environment {name}" for name in refused)
        raise ConfigurationError(
            f"the configuration sets {', '.join(refused)}, which can run code of its author; take "
            f"it out, or, if you trust where it comes from, give {options} to stripewise run"
        )


def _preload(core: Path, present: str) -> str:
    """Return a value for LD_PRELOAD with the core first and without duplicates of it."""
    if any(character in str(core) for character in " :\t\n"):
        raise UsageError(
            f"cannot preload {core}: a path with blanks or colons does not fit in LD_PRELOAD; "
            "set STRIPEWISE_RUNTIME_DIR to a plain path and run `stripewise doctor build`"
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
    """Return the variables that contain a configuration."""
    if configuration == Configuration() and not series:
        return {}
    from stripewise.settings import formats

    variables = dict(formats.job_environment(configuration))
    if configuration.job.resources:
        from stripewise.run.runtime._resources import resource_environment

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


# Programs that are started, without a shell, in an environment described by a file.
#
# The format is that of native/task/main.c.

MOST_BYTES = 1 << 20
"""Maximum size of the file: SW_TASK_BYTES of native/task/main.c."""
MOST_VALUE_BYTES = 128 * 1024 - 1
"""Maximum length of a variable with its name. Source: documented, execve(2): MAX_ARG_STRLEN, 32
pages."""
_NONE: Mapping[str, str] = {}


def task_program(runtime: Runtime) -> Path:
    """Return the program `stripewise-task`: `stripewise-task FILE [--] PROGRAM ARG...`.

    It changes its environment as the file says and executes the program.  If the file is missing,
    damaged, writable by others, or not owned by the user or root, the program runs all the same:
    one line on standard error reports this, only from rank 0 if there are ranks.

    Raises:
        RuntimeMissingError: The built runtime is too old to contain it.
    """
    if not runtime.task.is_file():
        raise RuntimeMissingError(f"{runtime.task} is not built; run: stripewise doctor build")
    return runtime.task


def write_task_file(
    path: Path,
    variables: Mapping[str, str | None],
    *,
    expanded: Mapping[str, str] = _NONE,
    preload: Path | None = None,
) -> None:
    """Write the file for `stripewise-task`, which only its owner can read (mode 0600).

    An existing file is replaced atomically: a task that starts meanwhile finds either of the two.

    Args:
        path: Path of the file.
        variables: Name to literal value; None unsets the variable.
        expanded: Name to a text in which %{VAR} is replaced by the value of VAR in the environment
            of the task, or by nothing if it is unset.
        preload: Library to put first in LD_PRELOAD, or in the position of one with the same base
            name.

    Raises:
        UsageError: A name or value cannot be passed.
        StorageError: The file cannot be written.
    """
    records = [_variable(name, value) for name, value in variables.items()]
    records += [b"@" + _variable(name, _expandable(text)) for name, text in expanded.items()]
    if preload is not None:
        records.append(b"+LD_PRELOAD=" + _plain(preload))
    data = b"".join(record + b"\0" for record in [*records, b""])
    if len(data) > MOST_BYTES:
        raise UsageError(
            f"the variables of a task have {len(data)} bytes, and {MOST_BYTES} is the most: "
            "name a file instead of passing its content"
        )
    with whole_file(path) as place:
        place.write_bytes(data)


def _variable(name: str, value: str | None) -> bytes:
    if not name or name[0] in "@+" or "=" in name or "\0" in name + (value or ""):
        raise UsageError(f"{name!r} cannot be passed as a variable: use another name or value")
    record = os.fsencode(name if value is None else f"{name}={value}")
    if len(record) > MOST_VALUE_BYTES:
        raise UsageError(f"the variable {name} has {len(record)} bytes: the system takes 128 KiB")
    return record


def _expandable(text: str) -> str:
    rest = text
    while (begin := rest.find("%{")) >= 0:
        end = rest.find("}", begin)
        if end < 0:
            raise UsageError(f"{text!r}: a %{{ has no }}; end the name of the variable with one")
        rest = rest[end + 1 :]
    return text


def _plain(library: Path) -> bytes:
    text = str(library)
    if not library.is_absolute() or any(character in text for character in ": \t\n\0"):
        raise UsageError(
            f"cannot preload {library}: LD_PRELOAD needs an absolute path without blanks and "
            "colons; set STRIPEWISE_RUNTIME_DIR to one and run `stripewise doctor build`"
        )
    return os.fsencode(text)
