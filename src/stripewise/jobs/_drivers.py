# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Whether make, Snakemake or Nextflow are told to submit jobs.

Sources: the manuals of GNU make 4.3, Snakemake 7 and 8, and Nextflow 23.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_TAKE_A_VALUE = ("-C", "-f", "-I", "-o", "-W", "--directory", "--file", "--makefile")
_RULE = re.compile(r"([^\s:#=][^:#=]*?)\s*::?(?!=)([^#\n;]*)(?:;(.*))?")
_SNAKEMAKE = re.compile(
    r"--(?:cluster(?!-(?:cancel|status|sidecar))[\w-]*|drmaa[\w-]*|slurm|profile)(?:=.*)?"
)
_SYSTEMS = r"(?:slurm|pbs|pbspro|sge|lsf|oar|moab|condor|flux|hyperqueue|nqsii|bridge)"
_IN_CONFIG = re.compile(rf"executor\s*(?:=\s*)?['\"]{_SYSTEMS}['\"]")
_LOCAL = ("local", "dryrun", "touch")
_ONLY_SAY = ("-n", "--dry-run", "--dryrun", "--just-print", "--recon", "--help", "--version")


def driver_submits(
    name: str,
    words: Sequence[str],
    find: Callable[[str], bytes | None],
    submits: Callable[[str], str],
) -> str:
    """Return the command with which a driver submits jobs; "" where it is not told to.

    Args:
        name: Of the program.
        words: Behind it.
        find: Returns the text of a file; None where there is none.
        submits: Returns the command with which a line of a shell submits a job; "" if none does.
    """
    if name in ("make", "gmake", "snakemake") and any(word in _ONLY_SAY for word in words):
        return ""
    if name in ("make", "gmake"):
        return _of_make(words, find, submits)
    if name == "snakemake":
        is_told = any(_SNAKEMAKE.fullmatch(word) for word in words)
        return name if is_told or _value(words, "--executor", "-e") not in ("", *_LOCAL) else ""
    if name == "nextflow":
        asked = _value(words, "-process.executor", "-profile")
        texts = (find(word) for word in ("nextflow.config", *words) if not word.startswith("-"))
        tells = any(_IN_CONFIG.search(text.decode("latin-1")) for text in texts if text)
        return name if tells or re.search(rf"(?<![a-z]){_SYSTEMS}(?![a-z])", asked) else ""
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
    """Return what the rules submit that make follows from its goals on."""
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
    """Return targets with what they need and their lines, and the first target."""
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
