# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Recognises commands that submit, change or end jobs, including make and Snakemake."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

SUBMITTERS = frozenset(
    "sbatch salloc qsub bsub msub jsub ccc_msub pjsub oarsub cqsub llsubmit nqsub dsub"
    " condor_submit condor_submit_dag csub ccsalloc scrontab strigger".split()
)
PARTS = {"flux": ("submit", "batch", "bulksubmit", "alloc", "cron"), "hq": ("submit",)}
"""Commands with subcommands that submit jobs."""
CHANGERS = frozenset(
    "scancel qdel qalter qhold qrls qsig qrerun bkill bmod bstop bresume brequeue pjdel pjalter"
    " pjhold oardel oarhold mjobctl canceljob condor_rm llcancel".split()
)
"""Commands that end or change jobs."""
CHANGING_PARTS = {
    "scontrol": frozenset(
        "update release hold uhold suspend resume requeue requeuehold notify top delete create"
        " reboot cancel_reboot shutdown reconfigure takeover setdebug setdebugflags".split()
    ),
    "flux": frozenset(("cancel", "pkill")),
}
"""Commands with subcommands that end or change jobs."""
BEGINNINGS = SUBMITTERS | CHANGERS | PARTS.keys() | CHANGING_PARTS.keys()
_ONLY_SAY = frozenset("--version --help -help --usage --test-only --dry-run".split())
_ONLY_LOOK = {"scrontab": frozenset(("-l", "-r")), "strigger": frozenset(("--get",))}
"""Options with which a command submits nothing."""
SHELLS = frozenset("sh bash dash ash ksh ksh93 mksh zsh rbash csh tcsh".split())
_INTERPRETERS = frozenset("perl ruby Rscript julia lua tclsh node php".split())
REQUEUE = "scontrol requeue"
"""Command with which a job requeues itself."""
_CONTAINERS = frozenset("singularity apptainer podman docker sarus ch-run enroot".split())
"""Commands that take an image before the command, and possibly "exec" or "run" before that."""
_TAKE_A_WORD = _CONTAINERS | frozenset("timeout flock taskset chrt ssh rsh su setarch".split())
"""Commands that start another one, and take one word of their own before it."""
_PREFIXES = _TAKE_A_WORD | frozenset(
    "time nice nohup env exec command builtin numactl stdbuf ionice setsid strace ltrace perf"
    " unbuffer xargs parallel sudo doas prlimit systemd-run watch catchsegv retry faketime"
    " coproc then else do unshare screen tmux sg runuser shifter".split()
)
TEXTS = frozenset("eval parallel script flock su watch ssh rsh at tmux sg runuser".split())
"""Commands that run a text like a shell."""
_NUMBER = re.compile(r"[0-9][\w.:,%+-]*")


@dataclass(frozen=True)
class Submission:
    """A command that submits a job, or that ends or changes jobs.

    Attributes:
        command: Name of the command: "sbatch", "scontrol update".
        line: Its line in the script, from 1.
        script: Name of the called script that contains it; empty if it is the script itself.
    """

    command: str
    line: int
    script: str = ""

    @property
    def is_requeue(self) -> bool:
        """Whether the job requeues only itself."""
        return self.command == REQUEUE

    @property
    def submits(self) -> bool:
        """Whether it submits a job, rather than changing or ending one."""
        name = self.command.partition(" ")[0]
        return name not in CHANGERS and not (" " in self.command and name in CHANGING_PARTS)


def kind_of(data: bytes) -> str:
    """Return the kind of a script's interpreter: "sh", "csh", "python", "other".

    A script without a #! line is run by a shell.
    """
    return kind_of_name(interpreter(data)) if _first_line(data).startswith(b"#!") else "sh"


def is_interpreter(name: str) -> bool:
    return name.startswith("python") or name in _INTERPRETERS


def kind_of_name(word: str) -> str:
    """Return the kind of an interpreter from its name or path."""
    name = os.path.basename(word)
    if name in SHELLS:
        return "csh" if name in ("csh", "tcsh") else "sh"
    return "python" if name.startswith("python") else "other"


def read_by_shell(words: Sequence[str]) -> tuple[int, bool]:
    """Return the index of the word that a shell runs, and whether it is the text of -c.

    Without a script and a text it is the number of words.
    """
    place, is_text = 0, False
    while place < len(words) and words[place].startswith(("-", "+")):
        word = words[place]
        place += 1
        if word in ("-o", "+o", "-O", "+O", "--rcfile", "--init-file"):
            place += 1
        elif not word.startswith("--") and "c" in word:
            is_text = True
    return min(place, len(words)), is_text


def interpreter(data: bytes) -> str:
    """Return the file name of a script's interpreter; empty if it does not name one."""
    line = _first_line(data)
    if not line.startswith(b"#!"):
        return ""
    words = line[2:].decode("utf-8", "replace").split()
    names = [os.path.basename(word) for word in words if not word.startswith("-")]
    if names[:1] == ["env"]:
        names = [name for name in names[1:] if "=" not in name]
    return names[0] if names else ""


def _first_line(data: bytes) -> bytes:
    return data[:4096].removeprefix(b"\xef\xbb\xbf").lstrip().partition(b"\n")[0]


def _options(rest: Sequence[str]) -> Iterator[str]:
    """Yield the options of a command that submits a script, without those of the script."""
    is_value = False
    for word in rest:
        if not word.startswith("-") and not is_value:
            return
        is_value = word.startswith("-") and "=" not in word
        yield word


def program_place(words: Sequence[str]) -> int | None:
    """Return the index of the program that is finally run; None if it is uncertain."""
    place, prefix, is_value, own = 0, "", False, 0
    while place < len(words):
        word = words[place]
        name = os.path.basename(word)
        is_ours = name in SUBMITTERS or name in SHELLS or name in _PREFIXES
        if prefix in _CONTAINERS and word in ("exec", "run", "start"):
            is_value = False
        elif not prefix or is_ours:
            has_text = any(" " in text for text in words[place + 1 :])
            if name not in _PREFIXES or (name in TEXTS and has_text):
                return place
            prefix, is_value, own = name, False, int(name in _TAKE_A_WORD)
        elif word.startswith(("-", "+")):
            is_value = "=" not in word
        elif "=" in word:
            is_value = False
        elif _NUMBER.fullmatch(word) and (is_value or not own):
            is_value = False
        elif own and not is_value:
            own -= 1
        elif is_value and not ("/" in word and _is_program(word)):
            is_value = False
        else:
            return place
        place += 1
    return None


def _is_program(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


def _part(rest: Sequence[str]) -> str:
    """Return the subcommand among the words after a command."""
    return next((word for word in rest if not word.startswith("-") and word != "mini"), "")


def _changing(name: str, rest: Sequence[str]) -> str:
    """Return the name of a command that changes jobs, with its subcommand."""
    part = _part(rest) if name in CHANGING_PARTS else ""
    return REQUEUE if part.startswith("requeue") else f"{name} {part}".rstrip()


def submission_by(name: str, rest: Sequence[str]) -> Submission | None:
    """Return the submission of one of `BEGINNINGS` with the words after it."""
    part = _part(rest)
    if name in SUBMITTERS or part in PARTS.get(name, ()):
        only_asks = _ONLY_LOOK.get(name, frozenset()).intersection(rest)
        return None if only_asks or _ONLY_SAY.intersection(_options(rest)) else Submission(name, 1)
    if name in CHANGERS or part in CHANGING_PARTS.get(name, ()):
        return None if _ONLY_SAY.intersection(rest) else Submission(_changing(name, rest), 1)
    return None


# Detects whether make, Snakemake or Nextflow are configured to submit jobs.
#
# Sources: the manuals of GNU make 4.3, Snakemake 7 and 8, and Nextflow 23.

_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_TAKE_A_VALUE = ("-C", "-f", "-I", "-o", "-W", "--directory", "--file", "--makefile")
_RULE = re.compile(r"([^\s:#=][^:#=]*?)\s*::?(?!=)([^#\n;]*)(?:;(.*))?")
_SNAKEMAKE = re.compile(
    r"--(?:cluster(?!-(?:cancel|status|sidecar))[\w-]*|drmaa[\w-]*|slurm|profile)(?:=.*)?"
)
_SYSTEMS = r"(?:slurm|pbs|pbspro|sge|lsf|oar|moab|condor|flux|hyperqueue|nqsii|bridge)"
_IN_CONFIG = re.compile(rf"executor\s*(?:=\s*)?['\"]{_SYSTEMS}['\"]")
_LOCAL = ("local", "dryrun", "touch")
_ONLY_SAY_DRIVERS = (
    "-n",
    "--dry-run",
    "--dryrun",
    "--just-print",
    "--recon",
    "--help",
    "--version",
)


def driver_submits(
    name: str,
    words: Sequence[str],
    find: Callable[[str], bytes | None],
    submits: Callable[[str], str],
) -> str:
    """Return the command with which a driver submits jobs; empty if it does not.

    Args:
        name: Name of the program.
        words: Words after it.
        find: Function that returns the text of a file; None if it does not exist.
        submits: Function that returns the command with which a shell line submits a job, or "".
    """
    if name in ("make", "gmake", "snakemake") and any(word in _ONLY_SAY_DRIVERS for word in words):
        return ""
    if name in ("make", "gmake"):
        return _of_make(words, find, submits)
    if name == "snakemake":
        is_told = any(_SNAKEMAKE.fullmatch(word) for word in words)
        return name if is_told or _value(words, "--executor", "-e") not in ("", *_LOCAL) else ""
    if name == "nextflow":
        executor = _value(words, "-process.executor", "-profile")
        texts = (find(word) for word in ("nextflow.config", *words) if not word.startswith("-"))
        tells = any(_IN_CONFIG.search(text.decode("latin-1")) for text in texts if text)
        return name if tells or re.search(rf"(?<![a-z]){_SYSTEMS}(?![a-z])", executor) else ""
    return ""


def _value(words: Sequence[str], *names: str) -> str:
    for place, word in enumerate(words):
        key, equals, value = word.partition("=")
        if key in names:
            return value if equals else "".join(words[place + 1 : place + 2])
    return ""


def _of_make(
    words: Sequence[str], find: Callable[[str], bytes | None], submits: Callable[[str], str]
) -> str:
    """Return the submission in the rules that make follows from its goals."""
    directory = _value(words, "-C", "--directory")
    named = _value(words, "-f", "--file", "--makefile")
    files = [named] if named else _MAKEFILES
    paths = (f"{directory}/{name}" if directory else name for name in files)
    data = next((found for path in paths if (found := find(path)) is not None), None)
    if data is None:
        return ""
    rules, first = _rules(data.decode("latin-1").replace("\\\n", " "))
    values = {place + 1 for place, word in enumerate(words) if word in _TAKE_A_VALUE}
    own = [word for place, word in enumerate(words) if place not in values]
    goals = [word for word in own if not word.startswith("-") and "=" not in word]
    left, seen = goals or [first], set[str]()
    while left:
        goal = left.pop()
        if goal in seen or goal not in rules:
            continue
        seen.add(goal)
        needed, lines = rules[goal]
        left += needed
        for line in lines:
            if command := submits(line.lstrip("@-+ \t").replace("$$", "$")):
                return command
    return ""


def _rules(text: str) -> tuple[dict[str, tuple[list[str], list[str]]], str]:
    """Return targets with their prerequisites and lines, and the first target."""
    rules: dict[str, tuple[list[str], list[str]]] = {}
    targets, first = list[str](), ""
    for line in text.split("\n"):
        if line.startswith("\t"):
            for target in targets:
                rules[target][1].append(line)
        elif found := _RULE.match(line):
            targets = found[1].split()
            for target in targets:
                needed, lines = rules.setdefault(target, ([], []))
                needed += found[2].split()
                lines += [found[3]] if found[3] else []
            if not first and targets and not targets[0].startswith("."):
                first = targets[0]
        elif line.strip() and not line.lstrip().startswith("#"):
            targets = []
    return rules, first
