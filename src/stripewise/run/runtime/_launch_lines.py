# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Parses launch lines: options of mpiexec, mpirun and srun, and the position of the program."""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from stripewise.core import is_launcher
from stripewise.core.errors import UsageError


@dataclass(frozen=True)
class LauncherOption:
    """An option of a launcher: its name, and the positions of its word and values.

    Attributes:
        name: Name without dashes.
        word: Index of the word with the name.
        values: Indices of its values; that of the word itself if it contains the value.
        prefix: Part of the word before the value, such as `--ntasks=` or `-n`.
    """

    name: str
    word: int
    values: tuple[int, ...]
    prefix: str = ""


class LauncherOptionError(UsageError):
    """A launcher's option is not understood, so that its program is uncertain.

    Attributes:
        cause: Message without the remedy.
    """

    def __init__(self, cause: str) -> None:
        super().__init__(f"{cause}: put the ranks and threads into the command instead")
        self.cause = cause


def launcher_options(
    command: Sequence[str], start: int, dialect: Dialect
) -> tuple[list[LauncherOption], int]:
    """Return the options of the launcher at index `start`, and the index of the program.

    Raises:
        UsageError: An option is unknown, no program follows, or there are several programs.
    """
    options: list[LauncherOption] = []
    place = start + 1
    while place < len(command) and command[place].startswith("-") and command[place] != "--":
        option = _option(command, place, dialect)
        _check_values(command, option, dialect)
        options.append(option)
        place = max((option.word, *option.values)) + 1
    if place < len(command) and command[place] == "--":
        place += 1
    if place < len(command) and command[place][:1].isdigit():
        raise LauncherOptionError(
            f"{command[place]!r} is where the program of {dialect.title} should be; the options "
            "before it are not understood"
        )
    if ":" in command[place:] and dialect is not SRUN:
        raise UsageError(
            "the command starts several programs (':'), whose ranks are set apart; resources "
            "can be set for one program only"
        )
    return options, place


def _check_values(command: Sequence[str], option: LauncherOption, dialect: Dialect) -> None:
    """Refuse an option whose value is missing or looks like the next option."""
    named = command[option.word]
    for value in option.values:
        if value >= len(command):
            raise LauncherOptionError(f"{named} of {dialect.title} lacks its value")
        if value != option.word and command[value].startswith("-"):
            raise LauncherOptionError(
                f"{named} of {dialect.title} should have a value, and {command[value]} follows"
            )


def _option(command: Sequence[str], place: int, dialect: Dialect) -> LauncherOption:
    text = command[place]
    bare = text.lstrip("-")
    written, equals, value = bare.partition("=")
    is_long = text.startswith("--") and dialect.abbreviates
    name = dialect.full_name(written) if is_long else written
    if is_long and equals and dialect.is_foreign(name):
        return LauncherOption(name, place, (place,), f"--{written}=")
    if equals and (dialect.values.get(name, 1) == 1 or _assigns(name, value, dialect)):
        if name in dialect.values or name in dialect.flags:
            prefix = text[: len(text) - len(bare)] + written + "="
            return LauncherOption(name, place, (place,), prefix)
    elif not equals and name in dialect.values:
        following = command[place + 1] if place + 1 < len(command) else ""
        number = 1 if _assigns(name, following, dialect) else dialect.values[name]
        return LauncherOption(name, place, tuple(range(place + 1, place + 1 + number)))
    elif not equals and name in dialect.flags:
        return LauncherOption(name, place, ())
    found = _letters(command, place, dialect)
    if found is None:
        raise LauncherOptionError(
            f"{text} is not a known option of {dialect.title}, so the start of the program cannot "
            "be determined"
        )
    return found


def _letters(command: Sequence[str], place: int, dialect: Dialect) -> LauncherOption | None:
    """Parse a word of one-letter options: `-n4`, `-lu`, `-ln4`, `-K1`; None if it is not one."""
    text = command[place]
    if not dialect.inline or text.startswith("--"):
        return None
    for i in range(1, len(text)):
        letter = text[i]
        if letter in dialect.values:
            value = place if i + 1 < len(text) else place + 1
            prefix = text[: i + 1] if value == place else ""
            return LauncherOption(letter, place, (value,), prefix)
        if letter in dialect.optional:
            return LauncherOption(letter, place, ())
        if letter not in dialect.flags:
            return None
    return LauncherOption(text[1:], place, ())


def _assigns(name: str, value: str, dialect: Dialect) -> bool:
    """Return whether the value of an option that sets a variable is one word `NAME=VALUE`."""
    return name in dialect.environment and "=" in value


# Options of MPI launchers, which determine where the program begins.
#
# Source: the option tables of Hydra (MPICH 4.0.2 to 4.2, and each option's own -help), `mpirun
# --help full` of Open MPI 4.1.4 and the option table of its 5.0 (PRRTE 3, schizo/ompi), the manual
# page of srun (Slurm 22.05, with the older spellings --pack-group and --cpu_bind), and the manual
# page of aprun (ALPS 5.2).  An option that takes a value in only some versions is in neither set,
# and is therefore refused: Open MPI's --display-topo, --dvm, --output-proctable.


@dataclass(frozen=True)
class Dialect:
    """Options of a launcher, without their dashes.

    Attributes:
        title: Name for people.
        ranks / ranks_per_node / cpus: Options that take these numbers; the first is added if there
            is none.
        values: All options with values, to the number of values.
        flags: Options without a value.
        inline: Whether a one-letter option may contain its value, as in `-n4`, and one-letter
            flags may be combined, as in `-lu`.
        optional: One-letter options whose optional value is in the same word.
        environment: Options that set an environment variable, as one word `NAME=VALUE` or, if they
            have two values, as two words.
        abbreviates: Whether options may be abbreviated, as getopt_long allows, and an unknown one
            may contain a value after an equals sign, as srun accepts for plug-ins.
        withheld: Options that withhold variables from the ranks, without a value or with a list of
            variables that are passed.
    """

    title: str
    ranks: tuple[str, ...]
    ranks_per_node: tuple[str, ...]
    values: dict[str, int]
    flags: frozenset[str]
    cpus: tuple[str, ...] = ()
    inline: bool = False
    optional: frozenset[str] = frozenset()
    environment: tuple[str, ...] = ()
    abbreviates: bool = False
    withheld: tuple[str, ...] = ()

    def full_name(self, name: str) -> str:
        """Return the only option that a name abbreviates, otherwise the name itself."""
        if name in self.values or name in self.flags:
            return name
        found = [each for each in (*self.values, *self.flags) if each.startswith(name)]
        return found[0] if len(found) == 1 else name

    def is_foreign(self, name: str) -> bool:
        """Return whether no known option begins with a name."""
        return not any(each.startswith(name) for each in (*self.values, *self.flags))


def _values(one: str, two: str = "") -> dict[str, int]:
    return dict.fromkeys(one.split(), 1) | dict.fromkeys(two.split(), 2)


HYDRA = Dialect(
    title="MPICH's mpiexec (Hydra)",
    ranks=("n", "np"),
    ranks_per_node=("ppn", "perhost"),
    values=_values(
        "n np ppn perhost genvlist envlist f hostfile machinefile machine machines machinelist"
        " hosts host hostlist wdir launcher launcher-exec rmk topolib bind-to map-by membind"
        " demux iface prepend-pattern outfile-pattern errfile-pattern nameserver order-nodes"
        " localhost usize gpus-per-proc bootstrap bootstrap-exec gtool gtoolfile branch-count"
        " umask",
        two="genv env",
    ),
    flags=frozenset(
        "genvnone genvall envnone envall enable-x disable-x verbose v info print-all-exitcodes"
        " profile prepend-rank l disable-auto-cleanup enable-auto-cleanup"
        " disable-hostname-propagation enable-hostname-propagation pmi-port skip-launch-node"
        " rr nolocal ordered-output print-rank-map silent-abort".split()
    ),
    environment=("genv", "env"),
    withheld=("genvnone", "genvlist", "envnone", "envlist"),
)
"""`-configfile` is left out on purpose, since its ranks are in a file.  `-perhost`, `-rr`,
`-gtool` and similar options are from Intel MPI. Source: its Developer Reference 2021,
mpiexec.hydra."""

OPENMPI = Dialect(
    title="Open MPI's mpirun",
    ranks=("n", "np", "c"),
    ranks_per_node=("map-by", "npernode", "N"),
    values=_values(
        "n np c N npernode npersocket map-by ppr rank-by bind-to am tune cf cartofile"
        " cpu-list cpu-set cpus-per-proc cpus-per-rank debugger default-hostfile hnp host H"
        " hostfile machinefile rf rankfile launch-agent max-restarts max-vm-size"
        " ompi-server output-filename output path personality prefix preload-files"
        " report-events report-pid report-uri stdin timeout wd wdir xml-file xterm x display"
        " runtime-options forward-signals with-ft",
        two="mca gmca omca gomca pmixmca prtemca",
    ),
    flags=frozenset(
        "allow-run-as-root bind-to-core bind-to-socket bycore bynode byslot continuous debug d"
        " disable-recovery display-allocation display-devel-allocation display-devel-map"
        " display-diffable-map display-map do-not-resolve enable-recovery"
        " enable-instant-on-support get-stack-traces index-argv-by-rank leave-session-attached"
        " merge-stderr-to-stdout nolocal nooversubscribe noprefix novm oversubscribe pernode"
        " preload-binary report-bindings report-child-jobs-separately report-state-on-timeout"
        " set-cwd-to-session-dir show-progress s tag-output timestamp-output use-hwthread-cpus"
        " use-regexp xml q quiet v verbose".split()
    ),
    environment=("x",),
)

SRUN = Dialect(
    title="srun",
    ranks=("ntasks", "n"),
    ranks_per_node=("ntasks-per-node", "tasks-per-node"),
    cpus=("cpus-per-task", "c"),
    values=_values(
        "ntasks n ntasks-per-node tasks-per-node cpus-per-task c nodes N account A partition p"
        " time t mem mem-per-cpu mpi nodelist w exclude x chdir D constraint C cpu-freq"
        " distribution m"
        " dependency d export gpus gpus-per-node gpus-per-task gres hint input i job-name J"
        " jobid switches output o error e qos q reservation relative r"
        " signal threads-per-core time-min tmp open-mode cores-per-socket sockets-per-node"
        " ntasks-per-core ntasks-per-socket mem-bind accel-bind comment profile licenses L begin"
        " wckey bb bbf slurmd-debug task-epilog task-prolog epilog prolog wait W"
        " cluster-constraint cpu-bind cpus-per-gpu gpu-bind gpu-freq network power priority"
        " acctg-freq bcast-exclude clusters M container core-spec S deadline delay-boot"
        " extra-node-info B gid G gpus-per-socket gres-flags het-group pack-group mail-type"
        " mail-user mcs-label mem-per-gpu mincpus msg-timeout nodefile F ntasks-per-gpu prefer"
        " thread-spec threads T uid b cpu_bind mem_bind"
        " container-image container-mounts container-workdir container-name container-save"
        " container-env environment uenv view"
    ),
    flags=frozenset(
        "exclusive exact overlap label l unbuffered u verbose v quiet Q overcommit O"
        " no-allocate Z pty disable-status X preserve-env E oversubscribe s spread-job contiguous"
        " use-min-nodes whole test-only H hold no-kill k nice immediate I kill-on-bad-exit K"
        " propagate bcast compress resv-ports send-libs x11 quit-on-interrupt reboot help h usage"
        " version V container-mount-home no-container-mount-home container-remap-root"
        " no-container-remap-root container-entrypoint no-container-entrypoint"
        " container-entrypoint-log container-readonly container-writable".split()
    ),
    inline=True,
    abbreviates=True,
    optional=frozenset("IKk"),
    withheld=("export",),
)
"""`--multi-prog` is left out on purpose, since its ranks are in a file.  Options whose value is
optional (`--exclusive`, `--nice`, ...) take it only after an equals sign.  `--container-...` are
from the plug-in pyxis (README of version 0.20; only `--container` is from Slurm), `--environment`,
`--uenv` and `--view` from plug-ins of CSCS."""

APRUN = Dialect(
    title="aprun",
    ranks=("n", "pes"),
    ranks_per_node=("N", "pes-per-node"),
    cpus=("d", "depth"),
    values=_values(
        "n pes N pes-per-node d depth a architecture cc cpu-binding cp cpu-binding-file"
        " D debug e environment-override F access-mode j cpus-per-cu L node-list l"
        " node-list-file m memory-per-pe p protection-domain p-governor p-state r"
        " specialized-cpus R relaunch S pes-per-numa-node sl numa-node-list sn"
        " numa-nodes-per-node t cpu-time-limit"
    ),
    flags=frozenset(
        "b bypass-app-transfer B batch-args C reconnect q quiet ss strict-memory-containment"
        " T sync-output mpmd-env v version h help".split()
    ),
    inline=True,
    abbreviates=True,
    environment=("e", "environment-override"),
)
"""`-B` uses the ranks of the batch system's reservation."""


# Program in a command line.

_WRAPPERS = ("env", "time", "numactl", "taskset", "nice", "bash", "sh", "python", "python3")


def program_name(command: Sequence[str]) -> str:
    """Return the name of the program in a command line, for people and file names.

    The launcher's options are not considered, so the program is the first word after the launcher
    that looks like one: a path, or a name on PATH.
    """
    name = os.path.basename(program_word(command))
    stem, suffix = os.path.splitext(name)
    return stem if suffix in (".py", ".sh", ".exe") and stem else name or "program"


def program_word(command: Sequence[str]) -> str:
    """Return the word of a command line that looks like the program; empty if there is none."""
    words = list(command)
    while len(words) > 1 and is_wrapper(words[0]):
        rest = [i for i, word in enumerate(words[1:], start=1) if _looks_like_program(word)]
        if not rest:
            break
        words = words[rest[0] :]
    return words[0] if words else ""


def program_file(command: Sequence[str], directory: Path) -> Path | None:
    """Return the file of a command's program; None for an interpreter, which does not count.

    Args:
        command: Command to run.
        directory: Directory for relative names.
    """
    word = program_word(command)
    if not word or is_wrapper(word):
        return None
    if os.path.sep in word or (directory / word).is_file():
        return directory / word
    found = shutil.which(word)
    return Path(found) if found else None


def ranks_of_command(command: Sequence[str]) -> int | None:
    """Return the number of ranks that a launch line requests; None if it does not set it."""
    if not command or not is_launcher(Path(command[0]).name):
        return None
    options = ("-n", "-np", "--n", "--np", "--ntasks")
    for word, following in itertools.pairwise(command):
        if word in options and following.isdigit():
            return int(following)
        name, _, value = word.partition("=")
        if name in options and value.isdigit():
            return int(value)
    return None


def is_wrapper(word: str) -> bool:
    """Return whether a word of a command is a launcher or interpreter of another program."""
    base = os.path.basename(word)
    stem = base.split(".")[0] if not base.startswith("python") else "python"
    return is_launcher(base) or stem in _WRAPPERS


def _looks_like_program(word: str) -> bool:
    if word.startswith("-") or "=" in word or not word.strip("0123456789:,"):
        return False
    if os.path.sep in word or word.endswith((".py", ".sh")):
        return True
    return shutil.which(word) is not None
