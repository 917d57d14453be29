# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Parses the commands of a csh or tcsh script, line by line.

Substitutions are not parsed, and a quote ends on its own logical line, as csh requires.

Source: the manual page of tcsh 6.24, "Lexical structure" and "Builtin commands".
"""

from __future__ import annotations

import re

from stripewise.run.shell._shell import (
    ParsedScript,
    Redirection,
    SimpleCommand,
    read_document,
    read_shell,
)
from stripewise.run.shell._words import Cursor, ShellSyntaxError, Word, WordText

_META = frozenset(" \t\n;&|<>()")
_REDIRECTION = re.compile(r"<<|<|>>?&?!?")
_VARIABLE = re.compile(r"\$[?#%]?(\w+|\{[^}\s]*\})(\[[^\]\n]*\])?(:[a-zA-Z]+)*|\$[$<*]")
_FOREACH = re.compile(r"(\w+)[ \t]*\(")
_NAME_OF_LIST = re.compile(r"(\w+)=")
_OPERATORS = ("&&", "||", "|&", "|", ";", "&", "(", ")")
_WITH_LISTS = frozenset(("if", "while", "foreach", "switch"))
_ALONE = frozenset("then else endif end endsw breaksw".split())


def read_commands(text: str, kind: str, crlf: bool = False) -> ParsedScript:
    """Return the commands of a script; none if it is not for a shell.

    Args:
        text: Bytes of the script, decoded as Latin-1.
        kind: Kind of the shell, "sh" or "csh"; "zsh" is parsed like "sh", and others are not
            parsed.
        crlf: Whether its lines end in a carriage return and a newline.
    """
    if kind == "csh":
        return read_csh(text, crlf)
    return read_shell(text, crlf) if kind in ("sh", "zsh") else ParsedScript(breaks=[0, len(text)])


def read_csh(text: str, crlf: bool = False) -> ParsedScript:
    """Parse a script of csh or tcsh; for the arguments see `read_shell`."""
    reader = _CshReader(text, crlf)
    try:
        while reader.place < len(text):
            reader.read_line()
    except ShellSyntaxError as error:
        reader.reading.problem, reader.reading.stopped = str(error), error.place
    reader.reading.breaks = sorted({*reader.reading.breaks, len(text)})
    return reader.reading


class _CshReader(Cursor):
    def __init__(self, text: str, crlf: bool) -> None:
        super().__init__(text, crlf)
        self.reading = ParsedScript()
        self._documents: list[tuple[int, str]] = []

    def read_line(self) -> None:
        """Parse a logical line, and the here-documents that begin on it."""
        while not self._at_end():
            self._skip_blanks()
            if self._at_end():
                break
            operator = next((o for o in _OPERATORS if self.looking_at(o)), "")
            if operator:
                self.place += len(operator)
            else:
                self._read_statement()
        self._skip_comment()
        documents, self._documents = self._documents, []
        for at, delimiter in documents:
            self.reading.documents.append(read_document(self, at, delimiter, False, True))
        self.reading.breaks.append(self.place)

    def _at_end(self) -> bool:
        """Return whether a comment, the newline or the end of the file is next."""
        return self.at() in ("", "\n", "#") or (self._at_return() and self.at(1) in ("\n", ""))

    def _at_return(self) -> bool:
        return self.crlf and self.at() == "\r"

    def _skip_comment(self) -> None:
        if self.at() == "#":
            self.reading.comments.add(self.place)
        found = self.text.find("\n", self.place)
        self.place = len(self.text) if found < 0 else found + 1

    def _skip_blanks(self) -> None:
        while step := self.continuation() or self.at() in (" ", "\t"):
            self.place += step

    def _read_statement(self) -> None:
        """Parse up to the next operator."""
        start = end = self.place
        words: list[Word] = []
        redirections: list[Redirection] = []
        while not self._at_end() and self._read_part(words, redirections):
            end = self.place
            if len(words) == 1 and self._is_keyword(words[0]):
                return
            self._skip_blanks()
        if self.place == start:
            raise ShellSyntaxError(start, f"{self.at()!r} where a command should be")
        if name := self._name_of_list(words):
            self.place += 1
            self.reading.assign_list(name, self._read_list())
            end = self.place
        else:
            self._note_assignment(words)
        if words or redirections:
            self.reading.commands.append(
                SimpleCommand(tuple(words), start, end, redirections=tuple(redirections))
            )

    def _is_keyword(self, word: Word) -> bool:
        """Skip a keyword after which a statement begins; return whether there is one."""
        self._skip_blanks()
        if word.text == "foreach" and (name := _FOREACH.match(self.text, self.place)):
            self.place = name.end()
            for each in self._read_list():
                self.reading.assign(name[1], each)
            return True
        if word.text in _WITH_LISTS:
            while self.at() not in ("(", "\n", ""):
                self.place += 1
            self._skip_parentheses()
            return True
        if word.text in ("case", "default:") or (
            word.text.startswith("default") and self.at() == ":"
        ):
            found = re.compile(r"[^\n:]*:").match(self.text, word.start)
            self.place = found.end() if found else self.place
            return True
        return word.text in _ALONE

    def _read_list(self) -> list[Word]:
        """Parse the words of a list, and its parenthesis."""
        found = list[Word]()
        while True:
            self._skip_blanks()
            if self.at() == ")":
                self.place += 1
                return found
            found.append(self._read_word())

    def _skip_parentheses(self) -> None:
        depth = 0
        while self.at() not in ("\n", "") or depth:
            c = self.at()
            if not c:
                raise ShellSyntaxError(self.place, "')' is missing")
            if c in "'\"`":
                self._quoted(WordText(), c)
                continue
            depth += (c == "(") - (c == ")")
            self.place += 1
            if not depth:
                return

    def _read_part(self, words: list[Word], redirections: list[Redirection]) -> bool:
        if self.at() in ";&|()":
            return False
        redirection = _REDIRECTION.match(self.text, self.place)
        if redirection is None:
            words.append(self._read_word())
            return True
        at, self.place = self.place, redirection.end()
        self._skip_blanks()
        target = self._read_word()
        if redirection[0] == "<<":
            self._documents.append((at, self.text[target.start : target.end]))
        redirections.append(Redirection(redirection[0].rstrip("!"), target))
        return True

    def _read_word(self) -> Word:
        start, out = self.place, WordText()
        while not (self.at() in _META or not self.at() or self._at_return()):
            c = self.at()
            if c == "\\":
                if self.continuation():
                    break
                out.quoted(self.at(1))
                self.place = min(self.place + 2, len(self.text))
            elif c in "'\"`":
                self._quoted(out, c)
            elif c == "$":
                self._dollar(out, quoted=False)
            else:
                out.literal(c, plain=not (c in "*?[{" or (c == "~" and self.place == start)))
                self.place += 1
        if self.place == start:
            raise ShellSyntaxError(start, f"{self.at() or 'the end'!r} where a word should be")
        return out.word(start, self.place)

    def _quoted(self, out: WordText, quote: str) -> None:
        """Parse a quoted string, in which a backslash escapes only a newline or `!`."""
        begin = self.place
        self.place += 1
        if quote != "`":
            out.quoted("")
        while self.at() != quote:
            c = self.at()
            if not c or c == "\n":
                raise ShellSyntaxError(begin, f"a quote ({quote}) that is not closed")
            if c == "\\" and self.at(1) in ("\n", "!"):
                c = self.at(1)
                self.place += 1
            if c == "$" and quote == '"':
                self._dollar(out, quoted=True)
                continue
            if c == "`" and quote == '"':
                self._quoted(out, "`")
                continue
            if quote != "`":
                out.quoted(c)
            self.place += 1
        self.place += 1
        if quote == "`":
            out.expansion(self.text[begin : self.place], quoted=False)

    def _dollar(self, out: WordText, quoted: bool) -> None:
        found = _VARIABLE.match(self.text, self.place)
        if found is None:
            out.quoted("$")
            self.place += 1
            return
        self.place = found.end()
        out.expansion(found[0], quoted or found[0].endswith(":q"))

    def _name_of_list(self, words: list[Word]) -> str:
        """Return the name in `set name = (`, which ends before the parenthesis; or nothing."""
        texts = [word.text for word in words if word.text != "-r"]
        if self.at() != "(" or texts[:1] != ["set"]:
            return ""
        found = _NAME_OF_LIST.fullmatch("".join(texts[1:]))
        return found[1] if found else ""

    def _note_assignment(self, words: list[Word]) -> None:
        texts = [word.text for word in words]
        if len(words) == 3 and texts[0] == "setenv":
            self.reading.assign(texts[1], words[2])
        elif len(words) == 4 and texts[0] == "set" and texts[2] == "=":
            self.reading.assign(texts[1], words[3])
        elif len(words) == 2 and texts[0] == "set" and "=" in texts[1]:
            name, _, value = texts[1].partition("=")
            start = words[1].start + len(name) + 1
            self.reading.assign(
                name, Word(start, words[1].end, value, words[1].is_plain, words[1].is_open)
            )
        elif len(words) > 1 and texts[0] in ("set", "setenv", "@"):
            self.reading.assign(texts[1].partition("=")[0], None)
