# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Finds the files that the shell lines of a script write, move and remove.

The commands are followed in the order of the file, with the current directory of the shell.
Commands that they start in turn are followed too: programs after `env` or `timeout`, texts of
`bash -c` and `eval`, and scripts that are sourced or called.  Functions and branches of conditions
are assumed to be executed.
"""

from __future__ import annotations

import itertools
import math
import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from stripewise.core.errors import UsageError
from stripewise.run.runtime import read_launcher
from stripewise.run.shell._arguments import (
    BEHIND,
    CHANGES_REPOSITORY,
    LONG_OF_BEHIND,
    NO_LIBRARY,
    OPERANDS_BEFORE,
    OUTPUTS,
    PLACES,
    PROGRAMS,
    WRITES,
    Arguments,
    Use,
    launch_options,
    named,
    outputs_of_tool,
    part_of,
)
from stripewise.run.shell._csh import read_commands
from stripewise.run.shell._file_commands import started_by_find, uses_of
from stripewise.run.shell._launches import LOCATED, is_launcher_word, launch_behind, utf8
from stripewise.run.shell._moves import CHANGE_DIRECTORY, SUBMITTED_FROM
from stripewise.run.shell._paths import (
    HERE,
    NAME,
    TEMPORARY,
    UNKNOWN,
    RunPaths,
    Values,
    is_above,
    is_unknown,
    known_part,
    latin,
    normal,
    shown,
    unknown,
)
from stripewise.run.shell._remote_data import (
    SESSIONS,
    Session,
    changes_remote_data,
    is_remote,
    known_remote,
    session_of,
)
from stripewise.run.shell._shell import ParsedScript, Redirection, SimpleCommand, is_piped
from stripewise.run.shell._submitters import SHELLS, interpreter, kind_of_name, read_by_shell
from stripewise.run.shell._surroundings import (
    WORKS_IN,
    Effect,
    Effects,
    Surroundings,
    parts_of,
    paths_in,
)
from stripewise.run.shell._words import Word

_WRITING = re.compile(r">>?\||>>?|&>>?|<>|>>?&?!?|>&|>\|")
_PRELOADS = re.compile(r"(?<![\w$])(?:LD_PRELOAD=|setenv\s+LD_PRELOAD\b)")
_FUNCTION = re.compile(r"^\s*(?:function\s+[\w.-]+|[\w.-]+\s*\(\s*\))", re.MULTILINE)
_SPLITS = re.compile(r"sh_?word_?split|\bemulate\b", re.IGNORECASE)
"""Options with which zsh splits words like other shells."""
_NAME = re.compile(r"[A-Za-z_]\w*")
_MOST_NESTED = 5
_MAY_CHANGE = "may change data on another host"
_MOST_READINGS = 16


def effects_of(data: bytes, kind: str, around: Surroundings, crlf: bool = False) -> Effects:
    """Return the effects of a script on files outside its run's directory.

    Args:
        data: Bytes of the script.
        kind: "sh" or "csh"; for others nothing is known.
        around: Surroundings in which it will run.
        crlf: Whether its lines end in a carriage return and a newline.
    """
    effects = Effects()
    if kind in ("sh", "csh"):
        kind = _kind(interpreter(data)) if kind == "sh" else kind
        shell = _Shell(around, effects, data.decode("latin-1"), kind, crlf)
        shell.go()
    return effects


def effects_of_words(words: Sequence[str], around: Surroundings) -> Effects:
    """Return the effects of a command without a shell outside its run's directory."""
    effects = Effects()
    shell = _Shell(around, effects, " ".join(words).encode(errors="replace").decode("latin-1"))
    given = [Word(0, 0, os.fsencode(word).decode("latin-1")) for word in words]
    shell.command(SimpleCommand(tuple(given), 0, len(shell.text)))
    return effects


class _Shell:
    """Follows the commands of a text like a shell, without executing any."""

    def __init__(
        self,
        around: Surroundings,
        effects: Effects,
        text: str,
        kind: str = "sh",
        crlf: bool = False,
        *,
        name: str = "",
        by: _Shell | None = None,
        words: Sequence[str] | None = None,
        at: SimpleCommand | None = None,
    ) -> None:
        """Parse a text.

        Args:
            around: Surroundings in which it runs.
            effects: Collects the effects that are found.
            text: Text to parse.
            kind: "sh", "zsh" or "csh".
            crlf: Whether its lines end in a carriage return and a newline.
            name: Name of the file that contains it; empty for that of `by`.
            by: Shell that sources or starts this one.
            words: Its arguments; None for those of `by`.
            at: Command of `by` that contains the text, for which its effects are reported.
        """
        self.around, self.effects, self.text, self.kind = around, effects, text, kind
        self.paths = RunPaths(around.here)
        self.reading: ParsedScript = read_commands(text, kind, crlf)
        self.directory: str = by.directory if by else HERE
        self._before = self.directory
        self._command = SimpleCommand((), 0, 0)  # that is being followed
        self._last: SimpleCommand | None = None
        self.depth: int = by.depth + 1 if by else 0
        self.name: str = name or (by.name if by else "")
        self._by, self._at = by, at
        self._newlines = [found.start() for found in re.finditer("\n", text)]
        given = None if around.words is None else [latin(word) for word in around.words]
        arguments = words if words is not None else (by.values.words if by else given)
        self.values: Values = Values(
            self.reading,
            around.environment,
            around.ours,
            arguments,
            _FUNCTION.search(text) is not None,
            around.is_job,
            by.values if by else None,
            splits=kind != "zsh" or _SPLITS.search(text) is not None,
            whole_lists=kind in ("csh", "zsh"),
        )

    def go(self) -> None:
        """Follow all commands."""
        left: list[tuple[int, str]] = []
        entered = set[tuple[int, int]]()
        for command in self._in_order():
            while left and left[-1][0] <= command.start:
                self.directory = left.pop()[1]
            for span in self.reading.subshells:
                if span[0] <= command.start < span[1] and span not in entered:
                    entered.add(span)
                    left.append((span[1], self.directory))
                    left.sort(reverse=True)
            if self.directory.startswith(TEMPORARY) and self.depth == 0:
                self.effects.temporary.add(command.start)
            if self.directory != HERE and self.depth == 0:
                place = self.paths.outer(self.directory)
                self.effects.places[command.start] = utf8(shown(place))
                if known_part(place) != place:
                    self.effects.unclear[command.start] = utf8(self.paths.known(place))
            self.command(command)
        for _, directory in left[:1]:
            self.directory = directory

    def _in_order(self) -> list[SimpleCommand]:
        """Return commands and tests in the order of the file."""
        found = [*self.reading.commands, *self.reading.tests]
        return sorted(found, key=lambda each: each.start) if self.reading.tests else found

    # -- a command ---------------------------------------------------------------------------

    def command(self, command: SimpleCommand) -> None:
        """Record the effects of a command."""
        self._command = command
        for redirection in command.redirections:
            if self._writes(redirection):
                self._use(Use(WRITES, redirection.target))
            elif redirection.operator == "<":
                self._look_above([redirection.target], self.directory)
        if _PRELOADS.search(self.text, command.start, command.end):
            self._note(self.effects.unguarded, "LD_PRELOAD is overwritten", "")
        self._look_above(self._passed_on(command), self.directory)
        self._act(list(command.words), self.directory)
        self._documents()
        if command.words:
            self._last = command

    def _passed_on(self, command: SimpleCommand) -> list[Word]:
        """Return the assignments whose values programs get: paths of libraries, of tables."""
        if command.words and command.words[0].text not in ("export", "declare", "typeset"):
            return list(command.assignments)
        names = [word.text for word in command.words[1:] if _NAME.fullmatch(word.text)]
        exported = [named(f"A=${{{name}}}") for name in names]
        given = self.around.environment
        return [
            *(replace(word, is_plain=False) for word in exported),
            *(word for word in command.assignments if word.text.partition("=")[0] in given),
        ]

    def _writes(self, redirection: Redirection) -> bool:
        text = redirection.target.text
        if not _WRITING.fullmatch(redirection.operator):
            return False
        return not (redirection.operator.endswith("&") and re.fullmatch(r"\d*-?", text))

    def _act(self, words: list[Word], directory: str, depth: int = 0) -> None:
        """Record the effects of words as a command in a directory, for all values of variables."""
        if not words or depth > 2 * _MOST_NESTED:
            return
        began, ends = self.directory, dict[str, None]()
        for each in self._expanded(words):
            self.directory = began
            self._act_on(each, directory, depth)
            ends[self.directory] = None
        if len(ends) > 1:
            self.directory = _one_of(ends, words[-1].text)

    def _expanded(self, words: list[Word]) -> Iterator[list[Word]]:
        """Yield the possible expansions of the words of a command."""
        found = [self._split(word, at == 0) for at, word in enumerate(words)]
        if math.prod(map(len, found)) <= _MOST_READINGS:
            together: Iterable[Iterable[list[Word]]] = itertools.product(*found)
        else:
            most = max(map(len, found))
            together = ([each[at % len(each)] for each in found] for at in range(most))
        for each in together:
            yield list(itertools.chain(*each))

    def _split(self, word: Word, is_first: bool) -> list[list[Word]]:
        """Return the words that a word may expand to; the word itself if each value is a path."""
        if located := LOCATED.fullmatch(word.text):
            return [[Word(word.start, word.end, located[1])]] if is_first else [[word]]
        if word.is_plain or not (word.is_open or word.is_split):
            return [[word]]
        found = self.values.words_of(word)
        is_path = all(len(texts) == 1 and not texts[0].startswith("-") for texts in found)
        if (is_path and not is_first) or not found:
            return [[word]]
        return [[Word(word.start, word.end, text) for text in texts] for texts in found]

    def _act_on(self, words: list[Word], directory: str, depth: int) -> None:
        """Record the effects of words whose variables are expanded as far as possible."""
        if not words:
            return
        name = os.path.basename(words[0].text)
        rest = words[1:]
        if name not in BEHIND and not is_launcher_word(words[0].text):
            self._look_above_by(words, name, directory)
        launch = launch_behind(words)
        for use in outputs_of_tool(name, rest[: len(rest) - len(launch)]):
            self._use(use, directory)
        if name in NO_LIBRARY:
            self._note(self.effects.unguarded, f"{name} {NO_LIBRARY[name]}", "")
        if name in CHANGE_DIRECTORY:
            self._move(name, rest)
        elif name in ("source", "."):
            if rest:
                self._file(rest[0], self.kind, keeps=True, words=rest[1:] or None)
        elif name == "eval":
            self._text(rest, keeps=True)
        elif name == "trap":
            self._text(rest[:1], keeps=False)
        elif name == "alias":
            for word in rest:
                self._text([part_of(word, word.text.find("=") + 1)], keeps=False)
        elif name == "unset" and any(word.text == "LD_PRELOAD" for word in rest):
            self._note(self.effects.unguarded, "LD_PRELOAD is removed", "")
        elif name in SHELLS or name == "su":
            self._shell(name, rest)
        elif is_launcher_word(words[0].text):
            self._launch(words, directory, depth)
        elif name in SESSIONS:
            self._session(session_of(name, rest))
        elif name not in BEHIND and launch:
            self._act(list(launch), directory, depth + 1)
        elif name in BEHIND:
            self._started_command(name, rest, directory, depth)
        else:
            self._file_command(name, words, directory, depth)

    def _file_command(self, name: str, words: list[Word], directory: str, depth: int) -> None:
        rest = words[1:]
        uses = uses_of(name, rest)
        for use in uses or ():
            self._use(use, directory)
        if name == "find":
            for started in started_by_find(rest):
                self._act(started, directory, depth + 1)
        elif uses is None and "/" in words[0].text:
            self._file(words[0], "", keeps=False, words=rest)

    def _started_command(self, name: str, rest: list[Word], directory: str, depth: int) -> None:
        """Record the effects of a command that another one starts."""
        place, found = 0, Arguments({}, [])
        while place < len(rest) and rest[place].text.startswith("-") and rest[place].text != "--":
            one = Arguments.of(rest[place : place + 2], BEHIND[name], LONG_OF_BEHIND)
            took = len(rest[place : place + 2]) - len(one.operands)
            for key, values in one.options.items():
                found.options.setdefault(key, []).extend(values)
            place += max(1, min(took, 2 if one.values(*one.options) else 1))
        place += place < len(rest) and rest[place].text == "--"
        if name == "flock":
            for use in uses_of(name, rest[place:]) or ():
                self._use(use, directory)
        if name in ("strace", "ltrace", "time"):
            for word in found.values("o", "output"):
                self._use(Use(WRITES, word), directory)
        rest = rest[place + OPERANDS_BEFORE.get(name, 0) :]
        if name == "env":
            for where in found.values("C", "chdir"):
                directory = self.paths.joined(directory, self.values.of_word(where)[0])
                self._note_shared(directory)
            unset = [word.text for word in found.values("u", "unset")]
            while rest and re.match(r"[A-Za-z_]\w*=", rest[0].text):
                rest = rest[1:]
            if found.has("i", "ignore-environment") or "LD_PRELOAD" in unset:
                self._note(self.effects.unguarded, "env clears the environment", "")
        if name in ("xargs", "parallel") and rest:
            started = os.path.basename(rest[0].text)
            if uses_of(started, ()) is not None:
                self._note(self.effects.unknown, f"{started} changes", "")
        self._act(rest, directory, depth + 1)

    def _launch(self, words: list[Word], directory: str, depth: int) -> None:
        """Record the output files of a launcher, and the effects of the command that it starts."""
        program = _program_of(words)
        while program < len(words) - 1 and self._may_be_options(words[program]):
            words = [*words[:program], *words[program + 1 :]]
            program = _program_of(words)
        self._look_above(words[1:program], directory)
        launcher = os.path.basename(shown(words[0].text)).partition(".")[0]
        for name, value in launch_options(launcher, words[1:program], self.values):
            if value.text in ("none", "all") or value.text.isdigit():
                continue
            if name in OUTPUTS:
                self._use(Use(WRITES, value), directory)
            elif name in PLACES:
                directory = self.paths.joined(directory, self.values.of_word(value)[0])
                self._note_shared(directory)
            elif name in PROGRAMS:
                self._act([value], directory, depth + 1)
        self._act(words[program:], directory, depth + 1)

    def _may_be_options(self, word: Word) -> bool:
        """Return whether a word may hold options of the launcher, of which nothing is known."""
        return word.is_open and any(map(is_unknown, self.values.of_word(word)))

    # -- other shells -----------------------------------------------------------------------

    def _shell(self, name: str, rest: list[Word]) -> None:
        place, is_text = read_by_shell([word.text for word in rest])
        read, further = rest[place : place + 1], rest[place + 1 :]
        if is_text:
            self._text(read, False, _kind(name), further[1:])
        elif read and name != "su":
            self._file(read[0], _kind(name), keeps=False, words=further)

    def _text(
        self,
        texts: list[Word],
        keeps: bool,
        kind: str = "sh",
        words: list[Word] | None = None,
    ) -> None:
        """Record the effects of texts that a shell runs."""
        top = f"${SUBMITTED_FROM}" if self.around.is_job else "."
        given = [self.values.of_word(word) for word in texts if word.text]
        known = [each[0] for each in given if len(each) == 1]
        known = known if len(known) == len(given) else [word.text for word in texts]
        written = (utf8(shown(each.replace(HERE, top))) for each in known)
        text = " ".join(written).encode(errors="surrogateescape")
        if text.strip() and self.depth < _MOST_NESTED:
            self._nested(text, kind, keeps, words=words)

    def _documents(
        self,
    ) -> None:
        """Record the effects of texts that a shell reads from its standard input."""
        words = [os.path.basename(word.text) for word in self._command.words]
        if (
            not words
            or words[0] not in SHELLS
            or any(not word.startswith("-") for word in words[1:])
        ):
            return
        for document in self.reading.documents_of(self._command):
            if self.depth < _MOST_NESTED:
                kind = _kind(words[0])
                self._nested(document.text.encode("latin-1"), kind, keeps=False)
        for read in self._command.redirections:
            if read.operator == "<":
                self._file(read.target, _kind(words[0]), keeps=False, words=None)
        if (piped := self._piped()) is None:
            self._note(self.effects.unknown, "executes what it reads", "")
        else:
            self._text(piped, keeps=False)

    def _piped(
        self,
    ) -> list[Word] | None:
        """Return the text that the previous command pipes into it; None if unknown."""
        before = self._last
        if before is None or not is_piped(self.text, before, self._command):
            return []
        if before.words[0].text not in ("echo", "printf"):
            return None
        return [word for word in before.words[1:] if not word.text.startswith("-")]

    def _session(self, session: Session) -> None:
        """Record the changes that a program is instructed to make on another host."""
        piped = self._piped()
        words = [*session.texts, *(piped or ())]
        texts = [text for word in words for text in self.values.of_word(word)]
        texts += [document.text for document in self.reading.documents_of(self._command)]
        read = [r.target for r in self._command.redirections if r.operator == "<"]
        files = [self._content(file) for file in (session.file, *read) if file is not None]
        texts += [data.decode("latin-1") for data in files if data is not None]
        if any(map(changes_remote_data, texts)):
            self._use(session.use)
        elif None in files or piped is None:
            self._note(self.effects.unguarded, _MAY_CHANGE, "")

    def _content(self, file: Word) -> bytes | None:
        """Return the content of an existing file; None if unknown."""
        found = self.values.of_word(file)
        if len(found) != 1 or UNKNOWN in found[0] or NAME in found[0]:
            return None
        path = self.paths.place(self.paths.joined(self.directory, found[0]))
        return self.around.read(path) if path and self.depth < _MOST_NESTED else None

    def _file(self, file: Word, kind: str, keeps: bool, words: list[Word] | None) -> None:
        """Record the effects of a script; `kind` is that of its shell, or "" if unknown."""
        data = self._content(file)
        if data is None or not (kind or data.startswith(b"#!")):
            return
        name = interpreter(data)
        if not kind and name not in SHELLS:
            return
        kind = kind or _kind(name)
        self._nested(data, kind, keeps, shown(self.values.of_word(file)[0]), words)

    def _nested(
        self,
        data: bytes,
        kind: str,
        keeps: bool,
        name: str = "",
        words: list[Word] | None = None,
    ) -> None:
        texts: list[str] | None = None
        if words is not None:
            given = [self.values.of_word(word) for word in words]
            texts = [each[0] if len(each) == 1 else unknown("$1") for each in given]
        inner = _Shell(
            self.around, self.effects, data.decode("latin-1"), kind, b"\r\n" in data,
            name=name, by=self, words=texts, at=None if name else self._command,
        )  # fmt: skip
        inner.go()
        if keeps:
            self.directory = inner.directory
            self.reading.values.update(inner.reading.values)

    # -- directories --------------------------------------------------------------------------

    def _move(self, name: str, rest: list[Word]) -> None:
        named = [w for w in rest if not (w.text.startswith(("-", "+")) and len(w.text) > 1)]
        if named and named[0].text == "-":
            named = []
            name = "popd"
        if named:
            found = self.values.of_word(named[0])
            into = {self.paths.joined(self.directory, text) for text in found}
            target = _one_of(into, named[0].text)
        elif name in ("popd", "pushd"):
            self._before, self.directory = self.directory, self._before
            return
        else:
            target = self.paths.joined(HERE, self.values.of_variable("HOME")[0])
        self._before, self.directory = self.directory, self._in_run(target)

    def _in_run(self, target: str) -> str:
        """Return the target of a path in scripts of runs, whose moves are rewritten."""
        words = self._command.words
        is_move = self._by is None and bool(words) and words[0].text in CHANGE_DIRECTORY
        return self.paths.own(target) if self.around.is_job and is_move else target

    def _note_shared(self, directory: str) -> None:
        """Record that a command works in a directory that runs share."""
        if path := self.paths.outer(directory):
            self._note(self.effects.outer, WORKS_IN, path, self.paths.known(path))

    # -- findings -------------------------------------------------------------------------------

    def _use(self, use: Use, directory: str = "") -> None:
        """Record the use of a file that is or may be outside."""
        directory = directory or self.directory
        if use.within is not None:
            directory = self.paths.joined(directory, self.values.of_word(use.within)[0])
        for text in self.values.of_word(use.word):
            if use.remote is not None:
                text = text.removeprefix("file://")
                name = text if is_remote(text) else f"{use.remote}{text}"
                if is_remote(name):
                    self._note(self.effects.outer, use.verb, name, known_remote(name))
                    continue
                if text.startswith(UNKNOWN):
                    self._note(self.effects.unguarded, _MAY_CHANGE, "")
            path = self.paths.joined(directory, text)
            if path.startswith(UNKNOWN):
                self._note(self.effects.unknown, use.verb, "")
            elif use.verb == CHANGES_REPOSITORY:
                self._repository(use.verb, path)
            elif outer := self.paths.outer(path, use.follows):
                self._note(self.effects.outer, use.verb, outer, self.paths.known(outer))

    def _look_above_by(self, words: list[Word], name: str, directory: str) -> None:
        """Record words that name paths above; those of a symbolic link begin where it is."""
        given = Arguments.of(words[1:], "St", ("suffix", "target-directory"))
        into = given.values("t", "target-directory") or given.operands[1:][-1:]
        is_link = name == "ln" and given.has("s", "symbolic") and not given.has("r", "relative")
        if not is_link or not into:
            return self._look_above(list(paths_in(words, name)), directory)
        self._look_above(into, directory)
        for text in self.values.of_word(into[0]):
            place = self.paths.joined(directory, text)
            is_folder = os.path.basename(text) in ("", ".", "..", HERE)
            is_folder |= os.path.isdir(self.paths.place(place))
            if not (is_folder or len(given.operands) > 2 or given.has("t", "target-directory")):
                place = normal(f"{place}/..")
            self._look_above([one for one in given.operands if one is not into[0]], place)

    def _look_above(self, words: list[Word], directory: str) -> None:
        """Record words that name paths above the directory of a run."""
        for word in [] if is_above(directory) else words:  # the move to it is already recorded
            for part in (part for text in self.values.of_word(word) for part in parts_of(text)):
                path = self.paths.joined(directory, part)
                if is_above(self._in_run(path)):
                    self._note(self.effects.above, "", path[1:].lstrip("/"))

    def _repository(self, verb: str, path: str) -> None:
        """Record that a git repository changes, of which a copy has none."""
        place = self.paths.place(path)
        tops = [Path(place), *Path(place).parents] if place else []
        for top in tops:
            if (top / ".git").exists():
                found = latin(str(top))
                self._note(self.effects.outer, verb, found, found)
                return

    def _note(self, into: list[Effect], verb: str, path: str, known: str = "") -> None:
        shell, command = self, self._command
        while shell._at is not None and shell._by is not None:
            command, shell = shell._at, shell._by
        text = " ".join(utf8(shell.text[command.start : command.end]).split())
        effect = Effect(
            line=sum(1 for place in shell._newlines if place < command.start) + 1,
            text=text,
            verb=verb,
            path=utf8(shown(path)) if path else "",
            known=utf8(known) if known else "",
            script=shell.name,
        )
        if effect not in into:
            into.append(effect)


def _one_of(directories: Collection[str], written: str) -> str:
    """Return directories as one, of which the name is unknown if they are beside each other."""
    if len(directories) == 1:
        return next(iter(directories))
    above = {directory.rpartition("/")[0] for directory in directories}
    top, name = above.pop(), written.rpartition("/")[2]
    return unknown(written) if above or not top else f"{top}/{unknown(name, NAME)}"


def _program_of(words: Sequence[Word]) -> int:
    """Return the index of a launcher's program; the number of words if it is unknown."""
    try:
        return read_launcher([utf8(shown(word.text)) for word in words]).program
    except UsageError:
        return len(words)


def _kind(shell: str) -> str:
    if shell == "zsh":
        return shell
    return "csh" if kind_of_name(shell) == "csh" else "sh"
