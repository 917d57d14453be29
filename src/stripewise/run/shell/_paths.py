# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Determines which paths the words of a script may stand for when it runs.

Every value that the script or its environment assigns is possible.  Parts that only the run knows
are kept in the text between marks, so that the text before them is still known.
"""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from stripewise.run.shell._launches import utf8
from stripewise.run.shell._moves import SUBMITTED_FROM, TEMPORARY_VARIABLES
from stripewise.run.shell._shell import ParsedScript
from stripewise.run.shell._words import Word

UNKNOWN, NAME, END = "\ue000", "\ue001", "\ue002"
"""Marks for the begin of an unknown part (`NAME` if it has no slash), and for its end."""
HERE, CURRENT, TEMPORARY, OWN = "\ue003", "\ue004", "\ue005", "\ue006"
"""Marks for the directory of the run, the current one of the shell, the job's one for temporary
files, and one that each run has for itself (`mktemp -d`, a burst buffer)."""
_DIRECTORIES = (HERE, CURRENT, TEMPORARY, OWN)
_NUMBERS = frozenset("# ? $ ! - RANDOM SECONDS UID EUID PPID LINENO BASHPID HOSTNAME".split())
_NAMES_OF = re.compile(r"(?:basename|date|hostname|whoami|id|seq|expr|wc|nproc|uname|tr)\b")
_PARAMETER = re.compile(r"([A-Za-z_]\w*|[0-9@*#?$!-])(\[[^\]]*\])?")
_SIMPLE = re.compile(r"[A-Za-z_]\w*|[0-9@*#?$!-]")
MARKED = re.compile(f"[{UNKNOWN}{NAME}]([^{END}]*){END}")
_LAST = re.compile(f"/(?:{NAME}[^{END}]*{END}|[^/{UNKNOWN}{NAME}{END}])*$")
_WHOLE_LIST = re.compile(r"\$\{(\w+)\[[@*]\]\}")
_NAME_AND_BACK = re.compile(f"/{NAME}[^{END}]*{END}/\\.\\.(?=/|$)")
_BRACES = re.compile(r"\{([^{}$`]*,[^{}$`]*)\}")
_MOST = 16
_MOST_NESTED = 6


def unknown(written: str, mark: str = UNKNOWN) -> str:
    """Return a text with marks for an unknown part."""
    return f"{mark}{written}{END}"


def shown(text: str) -> str:
    """Return a text with marks as a user would write it."""
    plain = MARKED.sub(lambda found: found[1], text)
    for mark, name in ((HERE, "."), (CURRENT, "."), (TEMPORARY, "$TMPDIR"), (OWN, "$TMPDIR")):
        plain = plain.replace(mark, name)
    return plain


def known_part(text: str) -> str:
    """Return the known beginning of a text."""
    found = MARKED.search(text)
    return text[: found.start()] if found else text


def is_unknown(text: str) -> bool:
    """Return whether nothing is known of a text."""
    return text.startswith(UNKNOWN) and MARKED.fullmatch(text) is not None


def _parts(text: str, blanks: str) -> list[str]:
    """Return the parts of a text between blanks, without splitting unknown parts."""
    return re.findall(f"(?:[{UNKNOWN}{NAME}][^{END}]*{END}|[^{re.escape(blanks)}])+", text)


@dataclass
class Values:
    """Values of variables, as far as a script and its environment determine them.

    Attributes:
        reading: Commands of the script.
        environment: Environment in which it starts.
        ours: Variables with directories that are private to each run.
        words: Arguments of the script, as texts with marks; None if unknown.
        has_functions: Whether the script has functions, whose arguments are not tracked.
        is_job: Whether its environment has variables of Slurm that only the job knows.
        outer: Values of a script that sources this one or is sourced by it, used if this one has
            none.
        splits: Whether an unquoted value is split at blanks, unlike in zsh.
        whole_lists: Whether `$name` is all words of a list, and `$name[1]` its first: csh, zsh.
    """

    reading: ParsedScript
    environment: Mapping[str, str]
    ours: Collection[str] = ()
    words: Sequence[str] | None = None
    has_functions: bool = False
    is_job: bool = True
    outer: Values | None = None
    splits: bool = True
    whole_lists: bool = False
    _evaluating: dict[str, int] = field(default_factory=dict)
    """Variable to the index of the value that is being evaluated."""
    _listing: set[str] = field(default_factory=set)
    """Arrays of which the words are being evaluated."""

    def of_word(self, word: Word) -> list[str]:
        """Return the possible values of a word."""
        if word.is_plain:
            return self._with_home([word.text])
        found = self.of_text(word.text)
        return self._with_home(each for text in found for each in _without_braces(text))

    def words_of(self, word: Word) -> list[list[str]]:
        """Return the words that an unquoted word may expand to, of which one may be empty."""
        if name := self._whole_list(word):
            words = [each for one in self._lists(name) for each in one]
            return [[text for each in words for text in self._of_value(each, 1)[:1]]]
        found = [each for text in self.of_word(word) for each in self._split(text)]
        fewer = ([w for w in each if not is_unknown(w)] for each in found if len(each) > 1)
        return [*found, *(each for each in fewer if each not in found)]

    def _whole_list(self, word: Word) -> str:
        """Return the name of the array of which a word is all words; empty if it is none."""
        found = _WHOLE_LIST.fullmatch(word.text)
        name = found[1] if found else word.variable if self.whole_lists else ""
        return name if name and self._is_list(name) else ""

    def _split(self, text: str) -> list[list[str]]:
        """Return the words of an unquoted text, split at blanks or at characters of IFS."""
        if not self.splits:
            return [[text]]
        given = [value.text for value in self._assigned("IFS") if value and value.is_plain]
        return [_parts(text, blanks) for blanks in dict.fromkeys((" \t\n", *given))]

    def of_text(self, text: str, inside: int = 0) -> list[str]:
        """Return the possible values of a text with expansions."""
        found, place = [""], 0
        while place < len(text) and inside < _MOST_NESTED:
            end, parts = self._piece(text, place, inside)
            found = [before + part for before in found for part in parts][:_MOST]
            place = end
        return found

    def _with_home(self, texts: Iterable[str]) -> list[str]:
        home = latin(self.environment.get("HOME", "")) or unknown("~")
        return list(
            dict.fromkeys(
                home + text[1:] if text == "~" or text.startswith("~/")
                else unknown(text) if text.startswith("~")
                else text
                for text in texts
            )
        )  # fmt: skip

    def _piece(self, text: str, place: int, inside: int) -> tuple[int, list[str]]:
        """Return the end of the piece at a position, and its possible values."""
        c = text[place]
        if c == "`":
            end = text.find("`", place + 1)
            end = len(text) if end < 0 else end
            return end + 1, self._command(text[place + 1 : end], inside)
        if c != "$" or place + 1 == len(text):
            following = re.compile(r"[^$`]+").match(text, place)
            end = following.end() if following else place + 1
            return end, [text[place:end]]
        if text.startswith("$((", place):
            end = _closing(text, place + 1)
            return end, [unknown(text[place:end], NAME)]
        if text.startswith("$(", place):
            end = _closing(text, place + 1)
            return end, self._command(text[place + 2 : end - 1], inside)
        if text.startswith("${", place):
            end = _closing(text, place + 1)
            return end, self._parameter(text[place + 2 : end - 1], text[place:end], inside)
        name = _SIMPLE.match(text, place + 1)
        if name is None:
            return place + 1, ["$"]
        index = re.compile(r"\[([^\]]*)\]").match(text, name.end()) if self.whole_lists else None
        if index is not None:
            return index.end(), self._of_list(name[0], index[1], index[0], inside)
        modifier = re.compile(r":[htr]\b").match(text, name.end())  # csh
        if modifier is None:
            return name.end(), self.of_variable(name[0], inside)
        return modifier.end(), self._modified(name[0], modifier[0][1], inside)

    def _modified(self, name: str, modifier: str, inside: int) -> list[str]:
        if modifier == "t":
            return [unknown(f"${name}:t", NAME)]
        found = self.of_variable(name, inside)
        return [_directory_of(text) for text in found] if modifier == "h" else found

    # -- variables -----------------------------------------------------------------------------

    def of_variable(self, name: str, inside: int = 0) -> list[str]:
        """Return the possible values of a variable."""
        if name in ("PWD", "cwd"):
            return [HERE if inside else CURRENT]
        if name in self.ours:
            return [OWN]
        if name.isdigit() or name in ("@", "*"):
            return self._of_argument(name)
        if name in _NUMBERS:
            return [unknown(f"${name}", NAME)]
        if self.whole_lists and self._is_list(name):
            return self._of_list(name, "*", f"${name}", inside)
        given = self._assigned(name)[:_MOST]
        before = self._evaluating.get(name)
        if before is not None:  # by its own value: use the previous one
            given, inside = given[max(before - 1, 0) : before], inside - 1
        if not given or inside >= _MOST_NESTED:
            return [self._of_environment(name)]
        found = list[str]()
        for at, value in enumerate(given, 0 if before is None else before - 1):
            self._evaluating[name] = at
            found += [unknown(f"${name}")] if value is None else self._of_value(value, inside)
        if before is None:
            del self._evaluating[name]
        else:
            self._evaluating[name] = before
        return list(dict.fromkeys(found))[:_MOST]

    def given(self, name: str) -> list[str]:
        """Return the values that the script or its environment assigns to a variable, if any."""
        if any(self._assigned(name)):
            return self.of_variable(name)
        value = self.environment.get(name)
        return [latin(value)] if value else []

    def _assigned(self, name: str) -> list[Word | None]:
        found, at = list[Word | None](), self
        while True:
            found = [*at.reading.values.get(name, []), *found]
            if at.outer is None:
                return found
            at = at.outer

    def _lists(self, name: str) -> list[list[Word]]:
        found, at = list[list[Word]](), self
        while True:
            found = [*at.reading.lists.get(name, []), *found]
            if at.outer is None:
                return found
            at = at.outer

    def _is_list(self, name: str) -> bool:
        """Return whether lists are all that is assigned to a variable."""
        given = self._assigned(name)
        return bool(given) and not any(given) and len(given) == len(self._lists(name))

    def _of_list(self, name: str, index: str, written: str, inside: int) -> list[str]:
        """Return the possible values of a word of an array, or of one of its words."""
        if name in self._listing:  # `a=("${a[@]}" more)`: its words are all collected anyway
            return []
        if not self._is_list(name) or inside >= _MOST_NESTED:
            return [unknown(written)]
        lists, first = self._lists(name), 1 if self.whole_lists else 0
        place = int(index) - first if index.isdigit() else -1
        if len(lists) == 1 and 0 <= place < len(lists[0]):
            lists = [[lists[0][place]]]
        words = [word for each in lists for word in each][:_MOST]
        self._listing.add(name)
        found = [text for word in words for text in self._of_value(word, inside)]
        self._listing.discard(name)
        return list(dict.fromkeys(found))[:_MOST] or [unknown(written)]

    def _of_value(self, value: Word, inside: int) -> list[str]:
        texts = [value.text] if value.is_plain else self.of_text(value.text, inside + 1)
        if value.is_open or value.is_split:  # in `for`, and in csh
            texts = [part for text in texts for parts in self._split(text) for part in parts]
        return self._with_home(texts)

    def _of_argument(self, name: str) -> list[str]:
        at = int(name) if name.isdigit() else 0
        if self.words is None or not 0 < at <= len(self.words):
            return [unknown(f"${name}")]
        found = [self.words[at - 1]]
        return [*found, unknown(f"${name}")] if self.has_functions else found

    def _of_environment(self, name: str) -> str:
        if self.is_job and name == SUBMITTED_FROM:
            return HERE
        if name in TEMPORARY_VARIABLES:
            return TEMPORARY
        if self.is_job and name.startswith("SLURM_"):
            return unknown(f"${name}", NAME)
        value = self.environment.get(name)
        return unknown(f"${name}") if value is None else latin(value)

    def _parameter(self, text: str, written: str, inside: int) -> list[str]:
        """Return the possible values of `${...}`."""
        found = _PARAMETER.match(text)
        if text.startswith("#") and len(text) > 1:
            return [unknown(written, NAME)]
        if found is None or text.startswith("!"):
            return [unknown(written)]
        name, rest = found[1], text[found.end() :]
        if found[2] and rest:
            return [unknown(written)]
        if found[2]:
            return self._of_list(name, found[2][1:-1], written, inside)
        values = self.of_variable(name, inside)
        if not rest or rest.startswith((":?", "?")):
            return values
        if rest[0] in "%#/^,@" or re.match(r":[\s(\d$]", rest):
            return list(dict.fromkeys(_cut(value, rest, written) for value in values))
        operator = re.match(r":?[-=+]", rest)
        if operator is None:
            return [unknown(written)]
        other = self.of_text(rest[operator.end() :].strip("\"'"), inside + 1)
        if operator[0][-1] == "+":
            return [*other, ""]
        is_set = not any(value.startswith(unknown(f"${name}")[:-1]) for value in values)
        return values if is_set else [*(v for v in values if UNKNOWN not in v), *other]

    # -- commands ------------------------------------------------------------------------------

    def _command(self, text: str, inside: int) -> list[str]:
        """Return the possible output of a command."""
        name, _, rest = text.strip().partition(" ")
        written = f"$({text})"
        if name == "pwd":
            return [HERE if inside else CURRENT]
        if name == "mktemp":  # the effects of the command are determined separately
            return [OWN]
        if name in ("dirname", "readlink", "realpath"):
            return self._of_path(name, rest, written, inside)
        if _NAMES_OF.match(name) and "|" not in text and not (name == "date" and "/" in text):
            return [unknown(written, NAME)]
        return [unknown(written)]

    def _of_path(self, name: str, rest: str, written: str, inside: int) -> list[str]:
        """Return the output of a command that makes a path from its last word."""
        words = [word for word in rest.split() if not word.startswith("-")]
        if len(words) != 1 or any(c in rest for c in "|;&()"):
            return [unknown(written)]
        found = self.of_text(words[0].strip("\"'"), inside + 1)
        if name == "dirname":
            return [_directory_of(text) for text in found]
        return found


def latin(text: str) -> str:
    """Return a text as scripts are parsed, with a character for each byte."""
    return os.fsencode(text).decode("latin-1")


def _directory_of(text: str) -> str:
    """Return the output of dirname for a path."""
    known = known_part(text)
    if text != known:
        return unknown(shown(text))
    above = _parent_of(text.rstrip("/"))
    return above or ("/" if text.startswith("/") else ".")


def _parent_of(text: str) -> str | None:
    """Return a path without its last part; None if it has only one."""
    if text in _DIRECTORIES or text.endswith("/.."):
        return f"{text}/.."
    last = _LAST.search(text)
    return text[: last.start()] if last else None


def _cut(value: str, rest: str, written: str) -> str:
    """Return a value after an expansion such as `%`, `#` or `/`."""
    mark = UNKNOWN if "/" in value or UNKNOWN in value or value[:1] in _DIRECTORIES else NAME
    operator = re.match(r"%%?|##?", rest)
    pattern = rest[operator.end() :].strip("\"'") if operator else "$"
    if operator and operator[0] == "%" and pattern and not pattern.replace("/*", ""):
        return _without_parts(value, pattern.count("*")) or unknown(written, mark)
    head = value[:1] if value[:1] in _DIRECTORIES else ""
    is_known = known_part(value) == value and not re.search(r"[$`\\\"']", pattern)
    if rest == "##*/" and (head or not is_known):
        return unknown(written, NAME)
    if not is_known or operator is None or (head and operator[0] != "%"):
        is_end = rest[0] == "%" and "/" not in rest
        return value if is_end and mark == UNKNOWN else unknown(written, mark)
    tail = value[len(head) :]
    left = _without_match(tail, operator[0], pattern)
    if left is None and head and (not tail or re.search(r"[*?\[]", pattern)) and pattern != "/":
        return unknown(written)  # the name of the directory may match
    return value if left is None else head + left


def _without_parts(value: str, number: int) -> str | None:
    """Return a path without a number of its last parts; None if unknown."""
    found: str | None = value
    for _ in range(number):
        found = None if found is None else _parent_of(found)
    return found


def _without_match(text: str, operator: str, pattern: str) -> str | None:
    """Return a text without the match of a pattern at one end; None if it does not match."""
    is_match = re.compile(fnmatch.translate(pattern)).match
    places: Iterable[int] = range(len(text) + 1)
    if operator in ("%", "##"):  # shortest match at the end, longest at the beginning
        places = reversed(range(len(text) + 1))
    if operator[0] == "%":
        return next((text[:at] for at in places if is_match(text[at:])), None)
    return next((text[at:] for at in places if is_match(text[:at])), None)


def _closing(text: str, place: int) -> int:
    """Return the position after the parenthesis or brace that closes the one at a position."""
    opening = text[place]
    closing = {"(": ")", "{": "}"}[opening]
    depth = 0
    for at in range(place, len(text)):
        depth += (text[at] == opening) - (text[at] == closing)
        if not depth:
            return at + 1
    return len(text)


def _without_braces(text: str) -> list[str]:
    """Return the expansions of `a{b,c}`, without nested braces."""
    found = _BRACES.search(text)
    if found is None:
        return [text]
    before, after = text[: found.start()], text[found.end() :]
    return [before + each + after for each in found[1].split(",")][:_MOST]


# Paths in the shell lines of a script, as far as they are known, and their targets.
#
# A path begins with a slash, or with one of the marks above: the directory of a run, one for
# temporary files, or an unknown part.


@dataclass(frozen=True)
class RunPaths:
    """Paths in a script whose runs each have their own directory.

    Attributes:
        here: Absolute path of the user's directory, of which each run has a copy.
    """

    here: Path

    def own(self, directory: str) -> str:
        """Return the run's own directory for one that the script names.

        Its word is replaced in the scripts of runs.
        """
        is_own = directory.startswith(HERE) and not is_above(directory)
        place = self.place(directory)
        if is_own or not place or known_part(directory) != directory:
            return directory
        whole = (os.path.realpath(place), os.path.realpath(self.here))  # a link may lead to either
        for one, top in ((place, str(self.here)), whole):
            if Path(one).is_relative_to(top):
                return normal(f"{HERE}/{latin(str(Path(one).relative_to(top)))}")
        return directory

    def joined(self, directory: str, text: str) -> str:
        """Return a text as a path relative to a directory, with marks for unknown parts."""
        if text.startswith(CURRENT):
            text = "./" + text[1:].lstrip("/")
        if text.startswith(("/", HERE, TEMPORARY, OWN, UNKNOWN)):
            return normal(text)
        if directory.startswith(UNKNOWN):
            return directory
        return normal(f"{directory}/{text}") if text else directory

    def place(self, path: str) -> str:
        """Return a path as the user names it; empty if unknown."""
        if path.startswith(HERE):
            return os.path.normpath(f"{self.here}/{self._native(path[1:].lstrip('/'))}")
        return self._native(path) if path.startswith("/") else ""

    @staticmethod
    def _native(text: str) -> str:
        return utf8(known_part(text))

    def outer(self, path: str, follows: bool = True) -> str:
        """Return the target of a path outside the run's directory; empty if it is inside."""
        if path.startswith((TEMPORARY, OWN, UNKNOWN)):
            return ""
        if path.startswith("/"):
            return path
        below = path[1:].lstrip("/")
        if is_above(path):
            return below
        return self._behind_link(known_part(below), below, follows)

    def _behind_link(self, known: str, below: str, follows: bool) -> str:
        """Return the outside target of a link below the run's directory; empty if it is inside."""
        top = os.path.realpath(self.here)
        place = os.path.join(self.here, utf8(known))
        if not follows:
            place = os.path.dirname(place.rstrip("/"))
        real = os.path.realpath(place)
        if Path(real).is_relative_to(top):
            return ""
        return latin(real) + below[len(known) :]

    def known(self, path: str) -> str:
        """Return the certain directory or file of a path outside."""
        known = re.split(r"[*?\[]", known_part(path))[0]
        if known != path:
            known = known.rpartition("/")[0] or "/"
        if known.startswith("/"):
            return known
        return latin(os.path.normpath(f"{self.here}/{utf8(known)}"))


def is_above(path: str) -> bool:
    """Return whether a path leads to a directory above that of the run, or below that."""
    return path.startswith(HERE) and path[1:].lstrip("/").split("/")[0] == ".."


def normal(path: str) -> str:
    """Return a path without `.` and `..`, as far as it is known."""
    while (shorter := _NAME_AND_BACK.sub("", path)) != path:
        path = shorter
    known = known_part(path)
    rest = path[len(known) :]
    if rest:
        known, slash, tail = known.rpartition("/")
        rest = f"{slash}{tail}{rest}"
    begin, parts = path[:1], list[str]()
    for part in known[1:].split("/"):
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part not in ("", ".") and not (part == ".." and begin == "/"):
            parts.append(part)
    ended = "/" if parts and known.endswith("/") and not rest else ""
    if begin == "/":
        return "/" + "/".join(parts) + ended + (rest if parts else rest.lstrip("/"))
    return "/".join([begin, *parts]) + ended + rest
