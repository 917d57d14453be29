# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Splits shell text into words, with their quotes, expansions and here-documents.

tree-sitter-bash was considered and rejected: it parses the second of two here-documents on a line
as commands, and splits a word at an escaped blank.

Source: POSIX.1-2017, Shell Command Language, 2.2 to 2.6; the manual of Bash 5.2, section 3.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass

BLANKS = " \t"
_META = frozenset(" \t\n;&|<>()")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-]")
_ARRAY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\[[^\]\s]*\])?\+?=")
_ESCAPES = dict(zip("abefnrtv", "\a\b\x1b\f\n\r\t\v", strict=True))
_MOST_NESTED = 60


class ShellSyntaxError(Exception):
    """The text cannot be parsed as shell from a position on.

    Attributes:
        place: Position of the problem.
    """

    def __init__(self, place: int, what: str) -> None:
        super().__init__(what)
        self.place = place


class Cursor:
    """A position in a script, with the parsing that all shells have in common.

    Attributes:
        text: Text of the script, as Latin-1.
        place: Position of the next character.
        end: End of the part to parse.
        crlf: Whether its lines end in a carriage return and a newline.
    """

    def __init__(self, text: str, crlf: bool = False) -> None:
        """Start at the beginning."""
        self.text = text
        self.place = 0
        self.end = len(text)
        self.crlf = crlf

    def at(self, offset: int = 0) -> str:
        """Return the character at an offset; empty at the end."""
        place = self.place + offset
        return self.text[place] if place < self.end else ""

    def looking_at(self, what: str) -> bool:
        """Return whether a text is next."""
        return self.text.startswith(what, self.place, self.end)

    def continuation(self) -> int:
        """Return the length of a backslash and newline at the position; 0 if there is none."""
        if self.looking_at("\\\n"):
            return 2
        return 3 if self.crlf and self.looking_at("\\\r\n") else 0


class WordReader(Cursor, ABC):
    """Parses words; a derived class parses the content of substitutions."""

    def __init__(self, text: str, crlf: bool = False) -> None:
        super().__init__(text, crlf)
        self.inside = 0  # nested substitutions and quotes
        self.backquotes = 0  # those around the position
        self._nested = 0
        self._arithmetic: dict[int, int] = {}  # possible start to its end, or 0 if there is none
        self.documents: list[tuple[int, str, bool, bool]] = []  # here-documents of this line
        self.comments: set[int] = set()  # their positions
        self.arrays: dict[int, list[Word]] = {}  # position of `name=(...)` to its words

    @abstractmethod
    def read_list(self, ends: frozenset[str]) -> str:
        """Parse commands up to one of the given words, and return that word."""

    @abstractmethod
    def pass_newline(self) -> None:
        """Skip the newline at the position, and the here-documents that begin there."""

    def nest(self) -> None:
        """Enter a level of nesting.

        Raises:
            ShellSyntaxError: There are too many levels.
        """
        self._nested += 1
        if self._nested > _MOST_NESTED:
            raise ShellSyntaxError(self.place, f"more than {_MOST_NESTED} levels of nesting")

    def unnest(self) -> None:
        """Leave a level of nesting."""
        self._nested -= 1

    def skip_blanks(self) -> None:
        """Skip blanks and continued lines."""
        while self.place < self.end:
            if not (step := self.continuation() or self.at() in BLANKS or self._at_return()):
                return
            self.place += step

    def skip_lines(self) -> None:
        """Skip blanks, newlines and comments."""
        while True:
            self.skip_blanks()
            if self.at() == "\n":
                self.pass_newline()
            elif self.at() == "#":
                self.skip_comment()
            else:
                return

    def skip_comment(self) -> None:
        """Skip to the newline that ends a comment."""
        self.comments.add(self.place)
        found = self.text.find("\n", self.place, self.end)
        self.place = self.end if found < 0 else found

    def read_word(self) -> Word:
        """Parse the word at the position, which is not empty."""
        start, out = self.place, WordText()
        while self.place < self.end and self._read_piece(start, out):
            pass
        if self.place == start:
            raise ShellSyntaxError(start, f"{self.at() or 'the end'!r} where a word should be")
        return out.word(start, self.place)

    def _read_piece(self, start: int, out: WordText) -> bool:
        """Parse a part of a word; return False at its end."""
        c = self.at()
        if c == "\\":
            if step := self.continuation():
                self.place += step
            else:
                out.quoted(self.at(1))
                self.place = min(self.place + 2, self.end)
        elif c == "'":
            out.quoted(self._single())
        elif c == '"':
            self._double(out)
        elif c == "$":
            self._dollar(out, quoted=False)
        elif c == "`":
            self._backquote(out, quoted=False)
        elif c in _META:
            return self._read_group(start, out)
        elif self._at_return():
            return False
        else:
            self._literal(start, out, c)
        return True

    def _literal(self, start: int, out: WordText, c: str) -> None:
        globs = c in "*?[" or (c == "{" and self.at(1) != "}")
        out.literal(c, plain=not (globs or (c == "~" and self.place == start)))
        self.place += 1

    def _read_group(self, start: int, out: WordText) -> bool:
        """Parse parentheses that belong to a word: `<(...)`, `name=(...)`, `@(a|b)`."""
        c, begin = self.at(), self.place
        if c in "<>" and begin == start and self.at(1) == "(":
            self.place += 2
            self._commands()
        elif c == "(" and _ARRAY.fullmatch(self.text, start, begin):
            self.place += 1
            self.arrays[start] = self._array()
        elif c == "(" and begin > start and self.text[begin - 1] in "?*+@!":
            self.place += 1
            self._parentheses()
        else:
            return False
        out.expansion(self.text[begin : self.place], quoted=True)
        return True

    def _array(self) -> list[Word]:
        """Parse the words of an array and its parenthesis."""
        found = list[Word]()
        self.inside += 1
        while True:
            self.skip_lines()
            if self.at() == ")":
                break
            found.append(self.read_word())
        self.place += 1
        self.inside -= 1
        return found

    def _single(self) -> str:
        begin = self.place + 1
        found = self.text.find("'", begin, self.end)
        if found < 0:
            raise ShellSyntaxError(self.place, "a single quote (') that is not closed")
        self.place = found + 1
        return self.text[begin:found]

    def _double(self, out: WordText) -> None:
        """Parse a string in double quotes."""
        begin = self.place
        self.place += 1
        out.quoted("")
        while self.at() != '"':
            c = self.at()
            if not c:
                raise ShellSyntaxError(begin, 'a double quote (") that is not closed')
            if c == "\\":
                self._escaped(out)
            elif c == "$":
                self._dollar(out, quoted=True)
            elif c == "`":
                self._backquote(out, quoted=True)
            else:
                out.quoted(c)
                self.place += 1
        self.place += 1

    def _escaped(self, out: WordText) -> None:
        """Parse a backslash in double quotes."""
        if step := self.continuation():
            self.place += step
            return
        following = self.at(1)
        out.quoted(following if following and following in '$`"\\' else "\\" + following)
        self.place = min(self.place + 2, self.end)

    def _dollar(self, out: WordText, quoted: bool) -> None:
        """Parse an expansion that begins with a dollar sign."""
        begin, following = self.place, self.at(1)
        self.nest()
        if following == "(":
            self._substitution()
        elif following == "{":
            self.place += 2
            self._parameter(quoted)
        elif following == "[":
            self.place += 2
            self._until("]")
        elif following == "'" and not quoted:
            self.place += 1
            out.quoted(self._ansi())
            begin = self.place
        elif following == '"' and not quoted:
            self.place += 1
            begin = self.place
        else:
            name = _NAME.match(self.text, begin + 1, self.end)
            self.place = name.end() if name else begin + 1
            if not name:
                out.literal("$") if not quoted else out.quoted("$")
                begin = self.place
        self.unnest()
        if self.place > begin:
            out.expansion(self.text[begin : self.place], quoted)

    def _ansi(self) -> str:
        r"""Parse `'...'` after a dollar sign, in which escapes stand for characters."""
        begin, found = self.place, []
        self.place += 1
        while self.at() != "'":
            c = self.at()
            if not c:
                raise ShellSyntaxError(begin, "a quote ($') that is not closed")
            if c == "\\":
                self.place += 1
                c = self.at()
                c = _ESCAPES.get(c, c if c in "\\'\"?" else "\\" + c)
            found.append(c)
            self.place += 1
        self.place += 1
        return "".join(found)

    def _substitution(self) -> None:
        """Skip `$(...)` or `$((...))`."""
        if not (self.text.startswith("((", self.place + 1) and self.skip_arithmetic(1)):
            self.place += 2
            self._commands()

    def skip_arithmetic(self, offset: int = 0) -> bool:
        """Skip `((...))` at an offset; return False without moving if there is none."""
        begin = self.place + offset
        if begin not in self._arithmetic:  # otherwise nested ones would be parsed 2^depth times
            self._arithmetic[begin] = self._arithmetic_end(begin)
        self.place = self._arithmetic[begin] or self.place
        return self._arithmetic[begin] > 0

    def _arithmetic_end(self, begin: int) -> int:
        """Return the end of `((...))`; 0 if there is none."""
        before = self.place, self.inside, self._nested, self.documents.copy()
        self.place = begin + 2
        end = 0
        try:
            self._parentheses()
            if self.at() == ")":
                end = self.place + 1
        except ShellSyntaxError:
            pass
        self.place, self.inside, self._nested, self.documents = before
        return end

    def _parentheses(self) -> None:
        """Skip to after a closing parenthesis, over nested ones."""
        self._until(")", "(")

    def _until(self, closing: str, opening: str = "") -> None:
        """Skip to after the closing character, over quotes and nested pairs."""
        begin, depth, ignored = self.place, 1, WordText()
        while depth:
            c = self.at()
            if not c:
                raise ShellSyntaxError(begin, f"{closing!r} is missing")
            if c == "\\":
                self.place += 2
            elif c == "'":
                self._single()
            elif c == '"':
                self._double(ignored)
            elif c == "$" and self.at(1) in "({[":
                self._dollar(ignored, quoted=True)
            elif c == "`":
                self._backquote(ignored, quoted=True)
            else:
                depth += (c == opening) - (c == closing)
                self.place += 1

    def _parameter(self, quoted: bool) -> None:
        """Skip the rest of `${...}`; in double quotes an apostrophe is literal."""
        begin, ignored = self.place, WordText()
        while self.at() != "}":
            c = self.at()
            if not c:
                raise ShellSyntaxError(begin, "'}' is missing")
            if c == "\\":
                self.place += 2
            elif c == "'" and not quoted:
                self._single()
            elif c == '"':
                self._double(ignored)
            elif c == "$":
                self._dollar(ignored, quoted)
            elif c == "`":
                self._backquote(ignored, quoted)
            else:
                self.place += 1
        self.place += 1

    def _commands(self) -> None:
        """Parse the commands of a substitution and its parenthesis."""
        self.inside += 1
        self.read_list(frozenset({")"}))
        self.inside -= 1

    def _backquote(self, out: WordText, quoted: bool) -> None:
        """Parse commands between backquotes, except those with escapes inside."""
        begin = self.place
        found = re.compile(r"`((?:[^`\\]|\\.)*)`", re.DOTALL).match(self.text, begin, self.end)
        if found is None:
            raise ShellSyntaxError(begin, "a backquote (`) that is not closed")
        if not re.search(r"\\[`\\$]", found[1]):
            self._commands_within(begin + 1, found.end() - 1)
        self.place = found.end()
        out.expansion(found[0], quoted)

    def _commands_within(self, begin: int, end: int) -> None:
        outer, self.end, self.place = self.end, end, begin
        self.nest()
        self.inside += 1
        self.backquotes += 1
        try:
            self.read_list(frozenset())
        finally:
            self.inside -= 1
            self.backquotes -= 1
            self.unnest()
            self.end = outer

    def _at_return(self) -> bool:
        """Return whether the position is at the carriage return of a line's end."""
        return self.crlf and self.at() == "\r" and self.at(1) in ("\n", "")


# A word of a command.
#
# Texts are bytes decoded as Latin-1: one character is one byte, so that all positions are those in
# the file.


@dataclass(frozen=True)
class Word:
    """A word of a command.

    Attributes:
        start / end: Position of its bytes.
        text: Text without quotes, with variables and substitutions as written.
        is_plain: Whether the shell does not expand the text.
        is_open: Whether it may expand to several words or none, as an unquoted variable or
            substitution.
        variable: Name of the variable, if one is the whole word.
        is_split: Whether it is split into several words at blanks in its expansions.
    """

    start: int
    end: int
    text: str
    is_plain: bool = True
    is_open: bool = False
    variable: str = ""
    is_split: bool = False


class WordText:
    """Collects the text of a word while it is parsed."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._plain = True
        self._open = True  # nothing but expansions so far
        self._expansions: list[str] = []
        self._whole = False  # a quoted part that must not be split

    def literal(self, text: str, plain: bool = True) -> None:
        """Add unquoted text, which is not plain if the shell may expand it as a pattern."""
        self._parts.append(text)
        self._plain = self._plain and plain
        self._open = False

    def quoted(self, text: str) -> None:
        """Add text in quotes."""
        self._parts.append(text)
        self._open = self._open and not text
        self._whole = self._whole or not text.isprintable() or " " in text

    def expansion(self, text: str, quoted: bool) -> None:
        """Add a variable or a substitution."""
        self._parts.append(text)
        self._plain = False
        self._expansions.append(text)
        if quoted and not _several(text):
            self._open = False
            self._whole = True

    def word(self, start: int, end: int) -> Word:
        """Return the word that was collected."""
        text = "".join(self._parts)
        name = re.fullmatch(r"\$(\w+)|\$\{(\w+)\}", text)
        return Word(
            start=start,
            end=end,
            text=text,
            is_plain=self._plain,
            is_open=self._open and bool(self._expansions),
            variable=(name[1] or name[2]) if name and self._expansions == [text] else "",
            is_split=bool(self._expansions) and not self._whole,
        )


def _several(text: str) -> bool:
    """Return whether an expansion may be several words even in double quotes."""
    return text == "$@" or text.startswith("${@") or "[@]" in text or text.endswith("@}")
