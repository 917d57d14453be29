# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Parses a command's words as options and operands, also for launchers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from stripewise.run.shell._paths import Values
from stripewise.run.shell._words import Word

WRITES, MOVES, REMOVES, MAKES = "writes", "moves", "removes", "makes"
"""`MAKES` stands for creating a file under a new unique name."""
CHANGES_REPOSITORY = "changes the git repository of"


@dataclass(frozen=True)
class Use:
    """Effect of a command on a file or directory.

    Attributes:
        verb: Kind of effect: WRITES, MOVES, REMOVES, MAKES or CHANGES_REPOSITORY.
        word: Word that names the file or directory.
        follows: Whether the effect is on the target of a symbolic link.
        within: Working directory of the command; None for that of the shell.
        remote: Prefix for a name on another host if the word itself does not say so; empty if it
            is then a path; None if it is always a path.
    """

    verb: str
    word: Word
    follows: bool = True
    within: Word | None = None
    remote: str | None = None


def part_of(word: Word, begin: int) -> Word:
    """Return the part of a word after a number of characters."""
    return replace(word, text=word.text[begin:], variable="", is_split=False)


def named(text: str) -> Word:
    """Return a word that has no position in the script."""
    return Word(0, 0, text)


@dataclass
class Arguments:
    """The words of a command, split into options and operands.

    Attributes:
        options: Letter or long name to its values; None for an option without a value.
        operands: Words that are not options.
    """

    options: dict[str, list[Word | None]]
    operands: list[Word]

    @classmethod
    def of(cls, words: Sequence[Word], letters: str = "", names: Iterable[str] = ()) -> Arguments:
        """Parse words as getopt_long does.

        Args:
            words: Words after the command's name.
            letters: One-letter options that take a value.
            names: Long options that take a value.
        """
        names, found, place = frozenset(names), cls({}, []), 0
        while place < len(words):
            word, text = words[place], words[place].text
            following = words[place + 1] if place + 1 < len(words) else None
            place += 1
            if text == "--":
                found.operands += words[place:]
                break
            if text.startswith("--"):
                name, equals, _ = text[2:].partition("=")
                value = part_of(word, len(name) + 3) if equals else None
                if not equals and name in names:
                    value, place = following, place + 1
                found._add(name, value)
            elif text.startswith("-") and len(text) > 1:
                place += found._letters(word, letters, following)
            else:
                found.operands.append(word)
        return found

    def has(self, *names: str) -> bool:
        """Return whether one of the given options is present."""
        return any(name in self.options for name in names)

    def values(self, *names: str) -> list[Word]:
        """Return the values of the given options."""
        return [v for name in names for v in self.options.get(name, []) if v is not None]

    def _add(self, name: str, value: Word | None) -> None:
        self.options.setdefault(name, []).append(value)

    def _letters(self, word: Word, letters: str, following: Word | None) -> int:
        """Parse a word of one-letter options; return the number of further words used."""
        for at in range(1, len(word.text)):
            letter = word.text[at]
            if letter not in letters:
                self._add(letter, None)
                continue
            if at + 1 < len(word.text):
                self._add(letter, part_of(word, at + 1))
                return 0
            self._add(letter, following)
            return 1
        return 0


# Effects of most commands on their operands, described by rows of a table.

Handler = Callable[[Sequence[Word]], Iterator[Use]]
"""Function that returns the effects of a command from the words after its name."""


@dataclass(frozen=True)
class Changes:
    """A command that has the same effect on all or some of its operands.

    Attributes:
        verb: Kind of the effect.
        skip: Number of leading operands that it only reads.
        instead: Options that replace these operands, as -e replaces sed's script.
        most: Maximum number of the others that it changes; None for all.
        letters / names: Its one-letter and long options that take a value.
        written: Those of them whose value names a file to write.
        only / unless: Options of which one is required, or none is allowed, for an effect on
            operands.
        follows: Whether the effect is on the target of a symbolic link.
        remote: See `Use`.
    """

    verb: str = WRITES
    skip: int = 0
    instead: str = ""
    most: int | None = None
    letters: str = ""
    names: str = ""
    written: str = ""
    only: str = ""
    unless: str = ""
    follows: bool = True
    remote: str | None = None

    def __call__(self, words: Sequence[Word]) -> Iterator[Use]:
        """Return the effects of the command, given the words after its name."""
        found = Arguments.of(words, self.letters, self.names.split())
        yield from (Use(WRITES, word) for word in found.values(*self.written.split()))
        if found.has(*self.unless.split()) or (self.only and not found.has(*self.only.split())):
            return
        operands = found.operands[0 if found.has(*self.instead.split()) else self.skip :]
        for word in operands[: self.most]:
            yield Use(self.verb, word, self.follows, remote=self.remote)


@dataclass(frozen=True)
class Copies:
    """A command that writes its last operand, or below it.

    Attributes:
        least: Minimum number of operands; with fewer, none is written.
        target: Options that name the destination instead, so that all operands are sources.
        letters / names: Its one-letter and long options that take a value.
        moves: Whether the sources are removed.
        remote: See `Use`; a single source is copied there if there is no destination.
    """

    least: int = 1
    target: str = ""
    letters: str = ""
    names: str = ""
    moves: bool = False
    remote: str | None = None

    def __call__(self, words: Sequence[Word]) -> Iterator[Use]:
        """Return the effects of the command, given the words after its name."""
        found = Arguments.of(words, self.letters, self.names.split())
        into = found.values(*self.target.split())
        sources = found.operands if into else found.operands[:-1]
        if not into and len(found.operands) >= self.least:
            into = found.operands[-1:]
        elif not into and found.operands and self.remote:
            into = [named(self.remote)]
        yield from (Use(WRITES, word, remote=self.remote) for word in into)
        if self.moves or found.has("remove-source-files"):
            yield from (Use(MOVES, word, follows=False, remote=self.remote) for word in sources)


def table(rows: dict[str, Handler]) -> dict[str, Handler]:
    """Return a handler for each name; several names of one row are separated by blanks."""
    return {name: handler for names, handler in rows.items() for name in names.split()}


# Options of launchers that name output files and working directories.
#
# Source: the manuals of srun, of Open MPI, of MPICH's Hydra and of jsrun.

OUTPUTS = ("output", "error", "bcast", "output-filename", "outfile-pattern", "errfile-pattern",
           "stdio_stdout", "stdio_stderr")  # fmt: skip
PLACES = ("chdir", "wdir", "wd")
PROGRAMS = ("prolog", "epilog", "task-prolog", "task-epilog")
_OF_SRUN = {"o": "output", "e": "error", "D": "chdir"}
_OPEN_MPI = {"OMPI_MCA_orte_output_filename": "output-filename"}
_BY_VARIABLES = {
    "srun": {
        "SLURM_STDOUTMODE": "output", "SLURM_STDERRMODE": "error", "SLURM_BCAST": "bcast",
        "SLURM_WORKING_DIR": "chdir",
    },
    **dict.fromkeys(("mpirun", "mpiexec", "orterun", "prterun"), _OPEN_MPI),
}  # fmt: skip
"""Environment variables that replace options of a launcher."""
_IN_OUTPUT = re.compile(r"(?:.*[,:])?(?:dir|directory|file|filename)=([^,:]+)")
"""Open MPI 5: `--output dir=/x`."""


def launch_options(
    launcher: str, options: Sequence[Word], values: Values
) -> Iterator[tuple[str, Word]]:
    """Yield the long names of a launcher's options with their values.

    Args:
        launcher: Name of the launcher.
        options: Its words, up to the program.
        values: Values of variables, some of which replace missing options.
    """
    given = set()
    for option, following in zip(options, [*options[1:], None], strict=False):
        name, value = _option(launcher, option, following)
        if name and value is not None:
            given.add(name)
            yield name, value
    for variable, name in _BY_VARIABLES.get(launcher, {}).items():
        for text in () if name in given else values.given(variable):
            yield name, named(text)


_TOOLS = frozenset(
    "perf nsys ncu heaptrack rocprof rocprofv2 rocprofv3 vtune amplxe-cl advisor valgrind uftrace"
    " psrecord compute-sanitizer".split()
)
_OUTPUTS_OF_TOOLS = frozenset(
    "-o --output --log-file --xml-file --output-file -result-dir --result-dir -d --output-dir"
    " -project-dir --project-dir --export --save --log".split()
)


def outputs_of_tool(name: str, words: Sequence[Word]) -> Iterator[Use]:
    """Yield the files that a tool for measuring writes, given the words up to its program."""
    if name not in _TOOLS:
        return
    before = ""
    for word in words:
        option, equals, _ = word.text.partition("=")
        if equals and option in _OUTPUTS_OF_TOOLS:
            yield Use(WRITES, part_of(word, len(option) + 1))
        elif before in _OUTPUTS_OF_TOOLS:
            yield Use(WRITES, word)
        elif word.text == "--" or ("/" in word.text and not before.startswith("-")):
            return
        before = word.text


def _option(launcher: str, option: Word, following: Word | None) -> tuple[str, Word | None]:
    """Return the long name of an option of a launcher, and its value."""
    text = option.text
    if not text.startswith("-"):
        return "", None
    if launcher == "srun" and not text.startswith("--"):
        name = _OF_SRUN.get(text[1:2], "")
        return name, part_of(option, 2) if len(text) > 2 else following
    name, equals, _ = text.lstrip("-").partition("=")
    if launcher == "srun" and len(name) > 1:  # as in getopt_long
        full = (each for each in (*OUTPUTS, *PLACES) if each.startswith(name))
        name = next(full, name)
    if name == "bcast" and not equals:
        return name, None
    value = part_of(option, text.index("=") + 1) if equals else following
    inner = _IN_OUTPUT.match(value.text) if value and launcher != "srun" else None
    return name, part_of(value, inner.start(1)) if value and inner else value


# Commands that start another one.

BEHIND = {
    "nohup": "", "exec": "a", "command": "", "builtin": "", "time": "fo", "setsid": "",
    "unbuffer": "", "catchsegv": "", "stdbuf": "ioe", "nice": "n", "ionice": "cnp", "chrt": "TPD",
    "taskset": "", "numactl": "NmiplC", "timeout": "ks", "strace": "eoPpsuaEO", "ltrace": "eolpsu",
    "xargs": "IiLnPsdaE", "parallel": "jaIS", "sudo": "ughpCDRTU", "doas": "uC", "flock": "wE",
    "env": "uC", "sshpass": "pfP", "prlimit": "", "perf": "", "valgrind": "", "systemd-run": "pu",
}  # fmt: skip
"""Commands that start another one, with their one-letter options that take a value."""
OPERANDS_BEFORE = {"timeout": 1, "taskset": 1, "chrt": 1, "flock": 1}
LONG_OF_BEHIND = tuple(
    "signal kill-after adjustment class classdata chdir unset max-args max-procs replace delimiter"
    " arg-file user group jobs cpunodebind membind interleave physcpubind output input"
    " error".split()
)
NO_LIBRARY = {
    "sudo": "runs as another user", "doas": "runs as another user", "su": "runs as another user",
    "ssh": "runs on another host", "rsh": "runs on another host",
    "pdsh": "runs on other hosts", "clush": "runs on other hosts",
    "singularity": "runs in a container", "apptainer": "runs in a container",
    "docker": "runs in a container", "podman": "runs in a container",
    "shifter": "runs in a container", "sarus": "runs in a container",
    "busybox": "is mostly linked statically", "chroot": "sees other files",
    "at": "runs later", "crontab": "runs later", "systemd-run": "runs outside of the job",
}  # fmt: skip
