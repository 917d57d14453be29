# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Parses the commands of a shell script, wherever they are in it.

This is not an interpreter: words such as `if` and `done` are skipped, not matched.  The result is
where commands begin and end, and between which lines another line may be inserted.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from stripewise.run.shell._words import BLANKS, Cursor, ShellSyntaxError, Word, WordReader

_STEPPED_OVER = frozenset("if then elif else fi do done while until { } ! coproc".split())
_OPERATORS = (";;&", ";;", ";&", "&&", "||", "|&", "|", ";", "&")
_REDIRECTION = re.compile(r"(?:\d+|\{\w+\})?(<<<|<<-|<<|<>|<&|>>|>&|>\||<|>)|&>>|&>")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\[[^\]]*\])?(\+?=)")
_KEY = re.compile(r"\[[^\]]+\]\+?=")
_DEFAULT = re.compile(r"\$\{(\w+):?=([^{}$`'\"\\]*)\}")
_PIPE = re.compile(r"[\s)};]*\|&?\s*")
_DECLARATIONS = frozenset("export declare typeset local readonly".split())
_SETTERS = frozenset("read unset mapfile readarray getopts let printf".split())


@dataclass(frozen=True)
class Redirection:
    """A redirection of a command's input or output.

    Attributes:
        operator: Operator as written, without the number of the descriptor.
        target: Word after the operator.
    """

    operator: str
    target: Word


@dataclass(frozen=True)
class SimpleCommand:
    """A simple command, without nested commands.

    Attributes:
        words: Words without assignments and redirections.
        assignments: Assignments in front of the words.
        start / end: Position of its bytes, including both.
        in_backquotes: Whether it is inside backquotes, where quotes must be escaped.
        redirections: Redirections in order; those of a compound command are a command without
            words.
    """

    words: tuple[Word, ...]
    start: int
    end: int
    in_backquotes: bool = False
    redirections: tuple[Redirection, ...] = ()
    assignments: tuple[Word, ...] = ()


@dataclass(frozen=True)
class Document:
    """A here-document or here-string, which a command reads instead of a file.

    Attributes:
        at: Position of its redirection, which is inside the command.
        text: Text of the document.
    """

    at: int
    text: str


@dataclass
class ParsedScript:
    """Result of parsing a script.

    Attributes:
        commands: Commands in the order of the file.
        tests: Tests in double brackets, in the order of the file.
        breaks: Positions of lines before which another line may be inserted.
        values: Name of a variable to the texts assigned to it; None for an unknown one.
        written: Name of a variable to the text after the `=` of each assignment.
        lists: Name of an array to the words of each list that is assigned to it; its value in
            `values` is unknown.
        subshells: Start and end of each subshell: `( ... )`, `$( ... )`.
        documents: Here-documents and here-strings.
        comments: Positions at which comments begin.
        programs: Cache: name of a variable to whether all its values begin with a program.
        launchers: Cache: name of a variable to whether one of its values begins with a launcher.
        submitters: Cache: name of a variable to the words of a value that submits jobs; empty if
            none does.
        problem: Why nothing was parsed from `stopped` on; empty if everything was.
    """

    commands: list[SimpleCommand] = field(default_factory=list)
    tests: list[SimpleCommand] = field(default_factory=list)
    breaks: list[int] = field(default_factory=lambda: [0])
    values: dict[str, list[Word | None]] = field(default_factory=dict)
    written: dict[str, list[str]] = field(default_factory=dict)
    lists: dict[str, list[list[Word]]] = field(default_factory=dict)
    subshells: list[tuple[int, int]] = field(default_factory=list)
    documents: list[Document] = field(default_factory=list)
    comments: set[int] = field(default_factory=set)
    programs: dict[str, bool] = field(default_factory=dict)
    launchers: dict[str, bool] = field(default_factory=dict)
    submitters: dict[str, list[str]] = field(default_factory=dict)
    problem: str = ""
    stopped: int = 0

    def assign(self, name: str, value: Word | None, written: str = "") -> None:
        """Record an assignment to a variable, with its value and the text as written."""
        self.values.setdefault(name, []).append(value)
        self.written.setdefault(name, []).append(written or (value.text if value else ""))

    def assign_list(self, name: str, words: list[Word], written: str = "") -> None:
        """Record a list of words assigned to an array, as a list each if any has a key."""
        keys = [_KEY.match(word.text) for word in words]
        lists = [words]
        if any(keys):
            lists = [
                [replace(word, text=word.text[key.end() :], is_plain=False) if key else word]
                for word, key in zip(words, keys, strict=True)
            ]
        for each in lists:
            self.assign(name, None, written)
            self.lists.setdefault(name, []).append(each)

    def documents_of(self, command: SimpleCommand) -> Iterator[Document]:
        """Yield the here-documents and here-strings of a command."""
        begin = bisect_left(self.documents, command.start, key=lambda document: document.at)
        for document in self.documents[begin:]:
            if document.at >= command.end:
                return
            yield document


def is_piped(text: str, before: SimpleCommand | None, command: SimpleCommand) -> bool:
    """Return whether a command reads the output of the previous one through a pipe."""
    return before is not None and _PIPE.fullmatch(text, before.end, command.start) is not None


def read_shell(text: str, crlf: bool = False) -> ParsedScript:
    """Parse a script of sh, bash, ksh, dash or zsh.

    Args:
        text: Bytes of the script, decoded as Latin-1.
        crlf: Whether its lines end in a carriage return and a newline.
    """
    reader = _ShellReader(text, crlf)
    reading = reader.reading
    try:
        reader.read_list(frozenset())
    except ShellSyntaxError as error:
        reading.problem, reading.stopped = str(error), error.place
    reading.comments = reader.comments
    reading.documents.sort(key=lambda document: document.at)
    # text that only looked like arithmetic was parsed twice
    reading.commands = sorted(dict.fromkeys(reading.commands), key=lambda each: each.start)
    reading.breaks = sorted({*reading.breaks, len(text)})
    return reading


def read_document(
    cursor: Cursor, at: int, delimiter: str, strips_tabs: bool, is_quoted: bool
) -> Document:
    """Parse a here-document, which may also end at the end of the file, and skip it.

    Args:
        cursor: Cursor at its first line.
        at: Position of its redirection.
        delimiter: Line that ends it.
        strips_tabs: Whether tabs may precede that line.
        is_quoted: Whether nothing in it is expanded and no line is continued.
    """
    line, begin, stop = "", cursor.place, cursor.place
    while cursor.place < cursor.end:
        last = cursor.place
        found = cursor.text.find("\n", cursor.place, cursor.end)
        stop = cursor.end if found < 0 else found
        line += cursor.text[cursor.place : stop].removesuffix("\r" if cursor.crlf else "\n")
        cursor.place = min(stop + 1, cursor.end)
        if (line.lstrip("\t") if strips_tabs else line) == delimiter:
            stop = last
            break
        is_continued = (len(line) - len(line.rstrip("\\"))) % 2 and not is_quoted
        line = line[:-1] if is_continued else ""
    return Document(at, cursor.text[begin:stop])


class _ShellReader(WordReader):
    def __init__(self, text: str, crlf: bool) -> None:
        super().__init__(text, crlf)
        self.reading = ParsedScript()
        self._is_between = True  # statements, between which a line may be inserted

    def read_list(self, ends: frozenset[str]) -> str:
        self.nest()
        self._is_between = True
        start, found = self.place, None
        while found is None:
            self.skip_blanks()
            found = self._read_next(ends)
        self.unnest()
        if found == ")" or self.backquotes:
            self.reading.subshells.append((start, self.place))
        return found

    def _read_next(self, ends: frozenset[str]) -> str | None:
        """Parse the next element; return the end of the list if it is one."""
        c = self.at()
        if not c:
            if ends:
                raise ShellSyntaxError(self.place, f"{' or '.join(sorted(ends))!r} is missing")
            return ""
        if c == "\n":
            self.pass_newline()
        elif c == "#":
            self.skip_comment()
        elif c == ")":
            return self._end(")", ends)
        elif c == "(":
            self._read_parentheses()
        elif c in ";&|" and not self.looking_at("&>"):
            return self._read_operator(ends)
        else:
            return self._read_command(ends)
        return None

    def pass_newline(self) -> None:
        self.place += 1
        documents, self.documents = self.documents, []
        for document in documents:
            self.reading.documents.append(read_document(self, *document))
        if self._is_between and not self.inside:
            self.reading.breaks.append(self.place)

    def _end(self, word: str, ends: frozenset[str]) -> str:
        if word not in ends:
            raise ShellSyntaxError(self.place, f"{word!r} where nothing is open")
        self.place += len(word)
        self._is_between = True
        return word

    def _read_operator(self, ends: frozenset[str]) -> str | None:
        operator = next(each for each in _OPERATORS if self.looking_at(each))
        if operator in (";;", ";;&", ";&"):
            self._end(";;" if ";;" in ends else operator, ends)
            self.place += len(operator) - 2
            return ";;"
        self.place += len(operator)
        self._is_between = operator in (";", "&")
        return None

    def _read_parentheses(self) -> None:
        """Parse `((...))` or a subshell."""
        if not (self.looking_at("((") and self.skip_arithmetic()):
            self.place += 1
            self.read_list(frozenset({")"}))
        self._is_between = True

    def _read_command(self, ends: frozenset[str]) -> str | None:
        """Parse a keyword with its parts, or a simple command."""
        keyword = self._keyword()
        if keyword in ends:
            return self._end(keyword, ends)
        if keyword in _STEPPED_OVER:
            self.place += len(keyword)
            self._is_between = True
        elif keyword == "time":
            self._read_time()
        elif keyword in ("for", "select"):
            self._read_for(keyword)
        elif keyword == "case":
            self._read_case()
        elif keyword == "function":
            self.place += len(keyword)
            self.skip_blanks()
            self.read_word()
            self._skip_empty_parentheses()
        elif keyword == "[[":
            self._read_test()
        else:
            self._read_simple()
        return None

    def _keyword(self) -> str:
        """Return the unquoted word at the current position without skipping it."""
        found = re.compile(r"[a-z]+|\[\[|[{}!]").match(self.text, self.place, self.end)
        if found is None:
            return ""
        following = self.text[found.end() : found.end() + 1] if found.end() < self.end else ""
        return found[0] if not following or following in " \t\r\n;&|<>()" else ""

    def _read_time(self) -> None:
        self.place += len("time")
        self.skip_blanks()
        option = re.compile(r"(-p|--)(?=[ \t])").match(self.text, self.place, self.end)
        if option:
            self.place = option.end()

    def _read_for(self, keyword: str) -> None:
        self.place += len(keyword)
        self.skip_blanks()
        if self.looking_at("((") and self.skip_arithmetic():
            return
        name = self.read_word().text
        self.skip_lines()
        if self._keyword() != "in":
            self.reading.assign(name, None)
            return
        self.place += len("in")
        while True:
            self.skip_blanks()
            if not self.at() or self.at() in "\n;&|)#":
                return
            self.reading.assign(name, self.read_word())

    def _read_case(self) -> None:
        self.place += len("case")
        self.skip_blanks()
        self.read_word()
        self.skip_lines()
        if self._keyword() != "in":
            raise ShellSyntaxError(self.place, "'in' of a case is missing")
        self.place += len("in")
        ended = ";;"
        while ended == ";;":
            self._is_between = True
            self.skip_lines()
            if self._keyword() == "esac":
                self.place += len("esac")
                break
            self._skip_patterns()
            ended = self.read_list(frozenset({";;", "esac"}))
        self._is_between = True

    def _skip_patterns(self) -> None:
        if self.at() == "(":
            self.place += 1
        while True:
            self.skip_blanks()
            self.read_word()
            self.skip_blanks()
            self.place += 1
            if self.text[self.place - 1 : self.place] == ")":
                return
            if self.text[self.place - 1 : self.place] != "|":
                raise ShellSyntaxError(self.place - 1, "')' of a pattern is missing")

    def _read_test(self) -> None:
        """Parse `[[ ... ]]`."""
        begin, words = self.place, list[Word]()
        self._is_between = False
        while not words or words[-1].text != "]]":
            self.skip_lines()
            c = self.at()
            if not c:
                raise ShellSyntaxError(begin, "']]' is missing")
            if c in "()<>|&;":
                self.place += 1
            else:
                words.append(self.read_word())
        self._is_between = True
        self.reading.tests.append(SimpleCommand(tuple(words), begin, self.place))

    def _read_simple(self) -> None:
        start, words, redirections = self.place, list[Word](), list[Redirection]()
        end = start
        while self._read_part(words, redirections):
            end = self.place
            self.skip_blanks()
            if self.at() == "(" and len(words) == 1 and self._skip_empty_parentheses():
                return  # a function, whose body is parsed as commands
        if end == start:
            raise ShellSyntaxError(start, f"{self.at()!r} where a command should be")
        self._is_between = True
        first = self._note_assignments(words)
        self.reading.commands.append(
            SimpleCommand(
                words=tuple(words[first:]),
                start=start,
                end=end,
                in_backquotes=self.backquotes > 0,
                redirections=tuple(redirections),
                assignments=tuple(words[:first]),
            )
        )

    def _read_part(self, words: list[Word], redirections: list[Redirection]) -> bool:
        """Parse a word or a redirection of a command; return False at its end."""
        c = self.at()
        if not c or c in "\n;|#)":
            return False
        is_substitution = c in "<>" and self.at(1) == "("
        redirection = _REDIRECTION.match(self.text, self.place, self.end)
        if redirection and not is_substitution:
            redirections.append(self._read_redirection(redirection))
        elif c in "&(":
            if c == "(":
                raise ShellSyntaxError(self.place, "'(' inside of a command")
            return False
        else:
            words.append(self.read_word())
        return True

    def _read_redirection(self, found: re.Match[str]) -> Redirection:
        operator, at, self.place = found[1] or found[0], self.place, found.end()
        self.skip_blanks()
        target = self.read_word()
        if operator in ("<<", "<<-"):
            is_quoted = self.text[target.start : target.end] != target.text
            self.documents.append((at, target.text, operator == "<<-", is_quoted))
        elif operator == "<<<":
            self.reading.documents.append(Document(at, target.text))
        return Redirection(operator, target)

    def _skip_empty_parentheses(self) -> bool:
        """Skip the `()` of a function, if there is one."""
        found = re.compile(rf"[{BLANKS}]*\([{BLANKS}]*\)").match(self.text, self.place, self.end)
        if found:
            self.place = found.end()
        return bool(found)

    def _note_assignments(self, words: Sequence[Word]) -> int:
        """Record assignments to variables; return the index of the first word of the command."""
        first = 0
        while first < len(words) and self._note(words[first]):
            first += 1
        rest = words[first:]
        if rest and rest[0].text in _DECLARATIONS:
            for word in rest[1:]:
                self._note(word)
        elif rest and rest[0].text == ":":
            for word in rest[1:]:
                self._note_default(word)
        elif rest and rest[0].text in _SETTERS:
            for word in rest[1:]:
                self.reading.assign(word.text.partition("=")[0], None)
        return first

    def _note_default(self, word: Word) -> None:
        """Record `${NAME:=VALUE}`, which assigns a default."""
        found = _DEFAULT.fullmatch(word.text)
        if found:
            self.reading.assign(found[1], Word(word.start, word.end, found[2]))

    def _note(self, word: Word) -> bool:
        found = _ASSIGNMENT.match(self.text, word.start, word.end)
        if found is None:
            return False
        value = word.text[found.end() - word.start :]
        is_known = not found[2] and "(" not in self.text[found.end() :][:1]
        known = Word(found.end(), word.end, value, word.is_plain, word.is_open)
        if found[3] == "+=":
            known = Word(found.end(), word.end, f"${{{found[1]}}}{value}", is_plain=False)
        if not found[2] and word.start in self.arrays:
            self.reading.assign_list(found[1], self.arrays[word.start], value)
        else:
            self.reading.assign(found[1], known if is_known else None, value)
        return True
