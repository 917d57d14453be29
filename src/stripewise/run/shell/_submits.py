# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Finds commands that submit, change or end jobs, anywhere in a script.

A study would repeat them with each run.  The search includes commands started by other programs
(env, nohup, timeout, ssh, xargs, srun), texts that a shell or another interpreter runs (eval, sh
-c, trap, here-documents, pipes, perl -e), variables that contain the command, scripts that are
called by a path or written by the script itself, and options of make, Snakemake and Nextflow.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from stripewise.core.errors import UsageError
from stripewise.run.runtime import read_launcher
from stripewise.run.shell._csh import read_commands
from stripewise.run.shell._launches import is_launcher_word, known_words
from stripewise.run.shell._paths import NAME, UNKNOWN, Values, shown
from stripewise.run.shell._shell import ParsedScript, SimpleCommand, is_piped, read_shell
from stripewise.run.shell._submitters import (
    BEGINNINGS,
    CHANGERS,
    CHANGING_PARTS,
    PARTS,
    SHELLS,
    SUBMITTERS,
    TEXTS,
    Submission,
    driver_submits,
    is_interpreter,
    kind_of,
    kind_of_name,
    program_place,
    read_by_shell,
    submission_by,
)

_LIBRARIES = frozenset("submitit simple_slurm pyslurm drmaa drmaa2 dask_jobqueue psij".split())
"""Python packages that submit jobs."""
_AWKS = frozenset("awk gawk mawk nawk".split())
_READ_STANDARD_INPUT = SHELLS | frozenset("ssh rsh at batch crontab su sudo".split())
_LOOK_ONLY = (["command", "-v"], ["command", "-V"])
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)(?:\[[@*0]\])?(?::?[-=]([^{}]*))?\})")
_BACKQUOTES = re.compile(r"`([^`]*)`")
_RUNS = re.compile(r"run|call|popen|system|output|spawn|exec|submit|shell|cmd|command", re.I)
_ONLY_TEXT = re.compile(
    r"print|pprint|write\w*|info|debug|warn\w*|error|critical|log|exception|add_\w+|exit|getenv|get"
    r"|ArgumentParser|\w*(?:Error|Exception|Warning)|(?:starts|ends)with|split|join|replace|sub"
    r"|compile|match|search|isinstance|echo|secho|Option|option|argument|dedent|display"
)
"""Python functions that do not execute their text arguments."""
_MESSAGE = re.compile(r"msg|message|usage|help|doc|text|descr|epilog|err|hint|note|warn", re.I)
"""Names of variables that contain text for people."""
_LITERAL = re.compile(r"\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)'|`([^`]*)`|qx\{([^}]*)\}")
_STARTS_OTHERS = re.compile(r"system|exec|qx|popen|spawn|run|[`|]")
_WHEN = re.compile(r"^[ \t]*(?:@\w+|(?:\S+[ \t]+){4}\S+)[ \t]+", re.MULTILINE)
"""Time at the beginning of a crontab line."""
_MOST_NESTED = 4


Find = Callable[[str], bytes | None]
"""Function that returns the content of a script for its path; None if there is no script."""


def find_submission(
    data: bytes, kind: str, reading: ParsedScript | None = None, find: Find = lambda path: None
) -> Submission | None:
    """Return the first command of a script that submits a job; None if there is none.

    Args:
        data: The script.
        kind: Kind of its interpreter; see `JobScript`.
        reading: Its commands, if already parsed.
        find: Function that finds other scripts.
    """
    return _Search(find).of_script(data, kind, reading)


def submission_of_words(words: Sequence[str], find: Find) -> Submission | None:
    """Return the submission in a command line; None if there is none."""
    return _Search(find).of_words(list(words), 0)


def script_of_words(words: Sequence[str]) -> tuple[str, str]:
    """Return the word of the script that a command line runs, and its interpreter.

    The interpreter is "sh", "csh" or "python", or empty if the script is itself the program.
    """
    place = program_place(words)
    if place is None:
        return "", ""
    name, rest = os.path.basename(words[place]), words[place + 1 :]
    if name in SHELLS:
        return _script_of_shell(rest)[0], kind_of_name(name)
    if name in (".", "source") and rest:
        return rest[0], "sh"
    if is_interpreter(name):
        return next((word for word in rest if not word.startswith("-")), ""), kind_of_name(name)
    return words[place], ""


def commands_of_words(words: Sequence[str]) -> list[list[str]]:
    """Return the commands in the texts that a command line passes to a shell.

    A script that a shell reads from its standard input is one of its words.
    """
    place = program_place(words)
    if place is None:
        return []
    name, rest = os.path.basename(words[place]), words[place + 1 :]
    texts = [_script_of_shell(rest)[1]] if name in SHELLS else _texts(name, rest)
    found = list[list[str]]()
    for text in texts:
        reading = read_shell(text)
        for command in reading.commands:
            line = [known.text for known in known_words(command, reading)]
            from_files = [r.target.text for r in command.redirections if r.operator == "<"]
            if line and os.path.basename(line[-1]) in SHELLS:
                line += from_files
            found += [line] if line else []
    return found


class _Search:
    def __init__(self, find: Find) -> None:
        self._find = find
        self._seen: set[str] = set()
        self._made: dict[str, str] = {}  # files that the script itself writes, by path

    def of_script(
        self, data: bytes, kind: str, reading: ParsedScript | None = None, depth: int = 0
    ) -> Submission | None:
        text = data.decode("latin-1")
        if kind == "python":
            return _of_python(data)
        if kind == "other":
            return _of_other(text)
        return self._of_text(text, kind == "csh", depth, reading)

    def _of_text(
        self, text: str, csh: bool = False, depth: int = 0, reading: ParsedScript | None = None
    ) -> Submission | None:
        if depth > _MOST_NESTED:
            return None
        reading, again = reading or read_commands(text, "csh" if csh else "sh"), None
        for place, command in enumerate(reading.commands):
            before = reading.commands[place - 1] if place else None
            self._note_written(command, reading)
            found = self._of_command(text, command, before, reading, csh, depth)
            if found is None:
                continue
            line = text.count("\n", 0, command.start) + 1
            found = found if found.script else replace(found, line=line)
            if found.submits:
                return found
            again = again or found
        return again

    def _note_written(self, command: SimpleCommand, reading: ParsedScript) -> None:
        """Record text that a command writes to a file that may be a script."""
        into = [each.target.text for each in command.redirections if each.operator in (">", ">>")]
        words = [word.text for word in command.words]
        if words[:1] == ["tee"]:
            into += [word for word in words[1:] if not word.startswith("-")]
        if not into:
            return
        texts = [document.text for document in reading.documents_of(command)]
        if not texts and words[:1] in (["echo"], ["printf"]):
            texts = [word.replace("\\n", "\n") for word in words[1:] if not word.startswith("-")]
        for path in into:
            key = os.path.normpath(path)
            self._made[key] = "\n".join([self._made.get(key, ""), *texts])

    def _of_command(
        self,
        text: str,
        command: SimpleCommand,
        before: SimpleCommand | None,
        reading: ParsedScript,
        csh: bool,
        depth: int,
    ) -> Submission | None:
        words = [
            part
            for known in known_words(command, reading)
            for part in _expand(known.text, reading)
        ]
        words = [_path_word(word, reading) for word in words]
        found = self.of_words(words, depth, csh) or _of_documents(command, reading, words)
        for inner in (
            *_substituted(command, csh),
            *_standard_input(text, command, before, reading, words),
        ):
            found = found or self._of_text(inner, csh, depth + 1)
        return found

    def of_words(self, words: Sequence[str], depth: int, csh: bool = False) -> Submission | None:
        """Return the submission of a command with the given words."""
        place = program_place(words)
        if place is None or depth > _MOST_NESTED or list(words[:2]) in _LOOK_ONLY:
            return None
        word, rest = words[place], words[place + 1 :]
        name = os.path.basename(word)
        if name in BEGINNINGS:
            return submission_by(name, rest)
        if name in SHELLS:
            return self._of_shell(rest, kind_of_name(name), depth)
        if name in _AWKS:
            return _of_inline(next((text for text in rest if not text.startswith("-")), ""))
        if is_launcher_word(word):
            return self._of_launch([word, *rest], depth, csh)
        if command := driver_submits(name, rest, self._find, self._of_line):
            return Submission(command, 1)
        if name == "find":
            starts = [i for i, w in enumerate(rest, 1) if w in ("-exec", "-execdir", "-ok")]
            return _first(self.of_words(rest[i:], depth + 1) for i in starts)
        if is_interpreter(name):
            return self._of_interpreter(rest, kind_of_name(name), depth)
        if texts := _texts(name, rest):
            return _first(self._of_text(text, csh, depth + 1) for text in texts)
        is_sourced = name in (".", "source") and bool(rest)
        if is_sourced:
            return self._of_called(rest[0], depth, "csh" if csh else "sh")
        return self._of_called(word, depth)

    def _of_launch(self, words: Sequence[str], depth: int, csh: bool) -> Submission | None:
        try:
            program = read_launcher(words).program
        except UsageError:
            return None
        return self.of_words(words[program:], depth + 1, csh) if program < len(words) else None

    def _of_line(self, line: str) -> str:
        """Return the command with which a shell line submits a job; empty if there is none."""
        found = self._of_text(line, depth=1)
        return found.command if found else ""

    def _of_shell(self, rest: Sequence[str], kind: str, depth: int) -> Submission | None:
        """Return the submission of a shell that is started with the given words."""
        script, text = _script_of_shell(rest)
        if text:
            return self._of_text(text, kind == "csh", depth + 1)
        return self._of_called(script, depth, kind) if script else None

    def _of_interpreter(self, rest: Sequence[str], kind: str, depth: int) -> Submission | None:
        if kind == "python" and "-c" in rest[:-1]:
            return _of_python(rest[rest.index("-c") + 1].encode("utf-8", "surrogateescape"))
        if kind == "other":
            texts = [rest[i] for i, w in enumerate(rest[:-1], 1) if re.fullmatch(r"-\w*[eE]", w)]
            if found := _first(map(_of_inline, texts)):
                return found
        scripts = [word for word in rest if not word.startswith("-")]
        return self._of_called(scripts[0], depth, kind) if scripts else None

    def _of_called(self, path: str, depth: int, kind: str = "") -> Submission | None:
        """Return the submission of a script that is called by its path.

        Args:
            path: Path of the script; without a slash a program's name, unless an interpreter reads
                it.
            depth: Depth of nested calls.
            kind: Kind of the interpreter; empty if the script names it.
        """
        if path in self._seen or not (kind or "/" in path) or depth >= _MOST_NESTED:
            return None
        self._seen.add(path)
        made = self._made.get(os.path.normpath(path))
        data = self._find(path) if made is None else made.lstrip("\n").encode("latin-1", "replace")
        if data is None:
            return None
        found = self.of_script(data, kind or kind_of(data), depth=depth + 1)
        return replace(found, script=found.script or path) if found else None


def _script_of_shell(rest: Sequence[str]) -> tuple[str, str]:
    """Return the script, or the text of -c, in the words after a shell's name."""
    place, is_text = read_by_shell(rest)
    word = "".join(rest[place : place + 1])
    return ("", word) if is_text else (word, "")


def _first(found: Iterator[Submission | None]) -> Submission | None:
    return next((one for one in found if one is not None), None)


def _texts(name: str, rest: Sequence[str]) -> list[str]:
    """Return the texts that a command runs like a shell."""
    if name in TEXTS:
        return [text for text in (*rest, " ".join(rest)) if " " in text]
    if name == "trap":
        return list(rest[:1])
    return [text.partition("=")[2] for text in rest if "=" in text] if name == "alias" else []


def _expand(text: str, reading: ParsedScript) -> list[str]:
    """Return the words that a text expands to; for a variable, a value that submits jobs."""
    found = _VARIABLE.fullmatch(text)
    if found is None:
        return [text]
    name, default = found[1] or found[2], found[3] or ""
    if name not in reading.submitters:  # cached for each name, which a long script may use often
        reading.submitters[name] = _submitting(reading.written.get(name, ()))
    return reading.submitters[name] or _submitting([default]) or [text]


def _submitting(values: Sequence[str]) -> list[str]:
    """Return the words of the first value that begins with a command that submits jobs."""
    for value in values:
        words = [word.strip("\"'") for word in value.strip("(\"' \t\n)").split()]
        if words and os.path.basename(words[0]) in BEGINNINGS:
            return words
    return []


def _substituted(command: SimpleCommand, csh: bool) -> Iterator[str]:
    """Yield the texts between backquotes that were not parsed as commands."""
    for word in command.words:
        for inner in _BACKQUOTES.findall(word.text) if csh or "\\" in word.text else ():
            yield inner.replace("\\", "")


def _standard_input(
    text: str,
    command: SimpleCommand,
    before: SimpleCommand | None,
    reading: ParsedScript,
    words: Sequence[str],
) -> Iterator[str]:
    """Yield the texts that a shell reads from its standard input."""
    names = {os.path.basename(word) for word in words}
    if not names & _READ_STANDARD_INPUT:
        return
    texts = [document.text for document in reading.documents_of(command)]
    if before is not None and is_piped(text, before, command):
        piped = [known.text for known in known_words(before, reading)]
        if piped and os.path.basename(piped[0]) in _AWKS:
            texts += _literals(" ".join(piped[1:]))
        texts.append(" ".join(word for word in piped[1:] if not word.startswith("-")))
    for each in texts:
        yield _WHEN.sub("", each) if "crontab" in names else each


def _of_documents(
    command: SimpleCommand, reading: ParsedScript, words: Sequence[str]
) -> Submission | None:
    """Return the submission of a program that an interpreter reads from standard input."""
    names = [os.path.basename(word) for word in words if is_interpreter(os.path.basename(word))]
    for document in reading.documents_of(command) if names else ():
        is_python = kind_of_name(names[0]) == "python"
        text = document.text
        found = _of_python(text.encode("latin-1", "replace")) if is_python else _of_inline(text)
        if found:
            return found
    return None


def _of_inline(text: str) -> Submission | None:
    """Return the submission of a short program, by its texts that may be passed to a shell."""
    if not _STARTS_OTHERS.search(text):
        return None
    return next((Submission(s, 1) for each in _literals(text) if (s := _submitter(each))), None)


def _literals(text: str) -> list[str]:
    return [next(filter(None, found), "") for found in _LITERAL.findall(text)]


def _path_word(text: str, reading: ParsedScript) -> str:
    """Return a path with variables expanded that the script sets; others are kept as written."""
    if "/" not in text or not ("$" in text or "`" in text):
        return text
    found = Values(reading, os.environ).of_text(text)
    if len(found) != 1 or UNKNOWN in found[0] or NAME in found[0]:
        return text
    return shown(found[0])


def _of_python(data: bytes) -> Submission | None:
    """Return where a Python program submits a job, by a command or by a package."""
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _of_other(data.decode("latin-1"))
    for node in ast.walk(tree):
        if name := _submitter_of_node(node):
            return Submission(name, getattr(node, "lineno", 1))
    return None


def _submitter_of_node(node: ast.AST) -> str:
    """Return the command or package with which a part of a program submits jobs, or ""."""
    if isinstance(node, ast.Import):
        packages = [alias.name.partition(".")[0] for alias in node.names]
        return next((name for name in packages if name in _LIBRARIES), "")
    if isinstance(node, ast.ImportFrom):
        package = (node.module or "").partition(".")[0]
        return package if package in _LIBRARIES else ""
    if isinstance(node, ast.List | ast.Tuple) and node.elts:
        names = [os.path.basename(_text(one)) for one in node.elts[:2]]
        commands = SUBMITTERS | CHANGERS
        is_one = names[0] in commands and names[-1] not in commands - {names[0]}
        has_parts = names[0] in PARTS or names[0] in CHANGING_PARTS
        line = " ".join(map(_text, node.elts)) if has_parts else ""
        return names[0] if is_one else _submitter(line)
    if isinstance(node, ast.Call):
        function = ast.unparse(node.func).rpartition(".")[2]
        texts = [] if _ONLY_TEXT.fullmatch(function) else map(_text, node.args)
        is_run = _RUNS.search(function) is not None
        return next((s for text in texts if is_run or " " in text if (s := _submitter(text))), "")
    if isinstance(node, ast.Assign) and " " in (text := _text(node.value).strip()):
        is_message = _MESSAGE.search(ast.unparse(node.targets[0])) is not None
        return "" if is_message else _submitter(text)
    return ""


def _text(node: ast.expr) -> str:
    """Return the text of an expression, with x for unknown parts; empty if it is not a text."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(one) if isinstance(one, ast.Constant) else "x" for one in node.values)
    if isinstance(node, ast.BinOp):
        left = _text(node.left)
        return left + (_text(node.right) or "x") if isinstance(node.op, ast.Add) else left
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return _text(node.func.value)  # "sbatch {}".format(x), "sbatch x".split()
    return ""


def _submitter(text: str) -> str:
    """Return the command of a shell line that submits a job; empty if there is none."""
    if not any(name in text for name in BEGINNINGS):
        return ""
    found = find_submission(text.encode("utf-8", "replace"), "sh")
    return found.command if found else ""


def _of_other(text: str) -> Submission | None:
    """Return where a script in another language names a command that submits jobs."""
    names = "|".join(map(re.escape, sorted(SUBMITTERS, key=len, reverse=True)))
    for number, line in enumerate(text.split("\n"), start=1):
        if line.lstrip().startswith("#"):
            continue
        found = re.search(rf"(?<![\w.$@%&-])({names})(?![\w.(=-])", line)
        if found:
            return Submission(found[1], number)
    return None
