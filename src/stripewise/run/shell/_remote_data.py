# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Determines which data on other hosts and in archives a command writes or removes.

Source: the manuals of these commands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from stripewise.run.shell._arguments import (
    MOVES,
    REMOVES,
    WRITES,
    Arguments,
    Changes,
    Copies,
    Use,
    named,
    table,
)
from stripewise.run.shell._paths import MARKED, known_part, shown
from stripewise.run.shell._words import Word

SENDS = "sends to"
_LOCALHOST = re.compile(r"(?:\w+://)?(?:localhost|127\.0\.0\.1|\[::1\])(?=[:/]|$)")
_ONLY_ASKS = ("GET", "HEAD", "OPTIONS", "PROPFIND", "")


@dataclass(frozen=True)
class _Client:
    """A program whose subcommands copy and remove.

    Attributes:
        scheme: Prefix for its remote names if they have none.
        copies / moves: Subcommands that write the last of two operands.
        removes / makes: Subcommands that remove, or write, each operand.
        group: Word before the subcommand.
        letters / names: One-letter and long options with values.
        is_local: Whether the destination may be a local file.
    """

    scheme: str
    copies: str
    moves: str = ""
    removes: str = ""
    makes: str = ""
    group: str = ""
    letters: str = ""
    names: str = ""
    is_local: bool = True

    def __call__(self, words: Sequence[Word]) -> Iterator[Use]:
        """Return the effects of the program, given the words after its name."""
        found = Arguments.of(words, self.letters, self.names.split())
        operands = found.operands
        if self.group and operands and operands[0].text == self.group:
            operands = operands[1:]
        elif self.group:
            return
        if not operands or found.has("n", "dry-run", "dryrun"):
            return
        name, rest = operands[0].text, operands[1:]
        if name in self.removes.split():
            yield from (Use(REMOVES, word, remote=self.scheme) for word in rest)
        elif name in self.makes.split():
            yield from (Use(WRITES, word, remote=self.scheme) for word in rest)
        elif name in f"{self.copies} {self.moves}".split() and len(rest) > 1:
            scheme = "" if self.is_local else self.scheme
            yield Use(WRITES, rest[-1], remote=scheme)
            if name in self.moves.split():
                yield from (Use(MOVES, word, False, remote=scheme) for word in rest[:-1])


_S3 = _Client(
    "s3://", "cp sync", "mv", "rm rb", "mb website", "s3",
    names="profile region endpoint-url output storage-class acl exclude include sse sse-c"
    " sse-kms-key-id content-type content-encoding cache-control expires metadata query color"
    " metadata-directive page-size ca-bundle cli-read-timeout cli-connect-timeout source-region"
    " request-payer grants copy-props expected-size checksum-algorithm",
)  # fmt: skip
_S3API = re.compile(r"(put|delete|create|copy|upload|complete|restore)-")


def _aws(words: Sequence[Word]) -> Iterator[Use]:
    yield from _S3(words)
    found = Arguments.of(words, "", ("bucket", "key", "body", *_S3.names.split()))
    operands = [word.text for word in found.operands]
    if operands[:1] == ["s3api"] and (action := _S3API.match("".join(operands[1:2]))):
        verb = REMOVES if action[1] == "delete" else WRITES
        yield from (Use(verb, word, remote="s3://") for word in found.values("bucket"))


_CURL_VALUES = (
    "request data data-raw data-binary data-ascii data-urlencode json form form-string url header"
    " upload-file user user-agent output output-dir max-time retry retry-delay retry-max-time"
    " connect-timeout proxy proxy-user cert key cacert capath cookie cookie-jar write-out quote"
    " referer range config interface limit-rate aws-sigv4 oauth2-bearer resolve dump-header stderr"
    " trace trace-ascii mail-from mail-rcpt netrc-file noproxy"
).split()


def _curl(words: Sequence[Word]) -> Iterator[Use]:
    found = Arguments.of(words, "AbcCdDeEFHKmoPQrtTuUwxXyYz", _CURL_VALUES)
    written = ("o", "output", "output-dir", "D", "dump-header", "c", "cookie-jar", "stderr")
    yield from (Use(WRITES, word) for word in found.values(*written) if word.text != "-")
    sends = [name for name in found.options if name.startswith(("data", "form", "json"))]
    method = ""
    if found.has("T", "upload-file"):
        method = "PUT"
    elif (sends or found.has("d", "F", "Q", "quote")) and not found.has("G", "get"):
        method = "POST"
    requests = found.values("X", "request")
    urls = [*found.operands, *found.values("url")]
    yield from _request(requests[-1].text if requests else method, urls)


_WGET_VALUES = (
    "output-document directory-prefix output-file append-output post-data post-file method"
    " body-data body-file header user password tries timeout input-file user-agent level"
    " accept reject domains limit-rate wait ca-certificate certificate private-key"
).split()


def _wget(words: Sequence[Word]) -> Iterator[Use]:
    found = Arguments.of(words, "OPoatTiUlARDwQBe", _WGET_VALUES)
    written = ("O", "P", "o", "a", *_WGET_VALUES[:4])
    yield from (Use(WRITES, word) for word in found.values(*written) if word.text != "-")
    methods = found.values("method")
    method = "POST" if found.has("post-data", "post-file") else ""
    yield from _request(methods[-1].text if methods else method, found.operands)


def _request(method: str, urls: Sequence[Word]) -> Iterator[Use]:
    """Return the changes of an HTTP request."""
    if method.upper() in _ONLY_ASKS:
        return
    verb = {"DELETE": REMOVES, "POST": SENDS}.get(method.upper(), WRITES)
    for word in urls:
        if not _LOCALHOST.match(word.text):
            yield Use(verb, word, remote="http://")


def _mutt(words: Sequence[Word]) -> Iterator[Use]:
    texts = [word.text for word in words]
    behind = texts.index("--") + 1 if "--" in texts else None  # the files of -a are first
    found = Arguments.of(words[behind:] if behind else words, "sacbieFHmQ").operands
    yield from (Use(SENDS, word, remote="mailto:") for word in found)


def _sendmail(words: Sequence[Word]) -> Iterator[Use]:
    found = Arguments.of(words, "fFoBNRVXrCba", ("from", "read-recipients"))
    if any(word.text in ("p", "i", "v") for word in found.values("b")):
        return
    there = [named("mailto:")] if found.has("t", "read-recipients") else found.operands
    yield from (Use(SENDS, word, remote="mailto:") for word in there)


def _htar(words: Sequence[Word]) -> Iterator[Use]:
    found = Arguments.of(words, "fILMSTYZ")
    if found.has("c", "D", "U"):
        verb = REMOVES if found.has("D") else WRITES
        yield from (Use(verb, word, remote="htar:") for word in found.values("f"))
    elif found.has("x"):
        yield Use(WRITES, named("."))


def _dsmc(words: Sequence[Word]) -> Iterator[Use]:
    found = Arguments.of(words).operands
    name, rest = found[0].text if found else "", found[1:]
    if name.startswith(("ar", "i", "sel")) or name == "s":
        yield from (Use(WRITES, word, remote="dsmc:") for word in rest or [named("dsmc:")])
        if any("deletefiles" in word.text.lower() for word in words):
            yield from (Use(REMOVES, word, False) for word in rest)
    elif name.startswith("del"):
        yield from (Use(REMOVES, word, remote="dsmc:") for word in rest[1:])


def pushed_to(words: Sequence[Word]) -> Iterator[Use]:
    """Return the changes of `git push`, given the words after it."""
    found = Arguments.of(words, "o", ("repo", "push-option", "receive-pack", "exec"))
    if found.has("n", "dry-run"):
        return
    into = next(iter([*found.values("repo"), *found.operands]), named("origin"))
    is_path = into.text.startswith(("/", "./", "../"))
    yield Use(WRITES, into, remote="" if is_path else "git:")


# -- sessions ----------------------------------------------------------------------------------

SESSIONS = {"sftp": "bBcDFiJloPRsSX", "lftp": "upsefc", "ftp": "", "ncftp": "", "hsi": "hlOkAu"}
"""Programs that execute a text of commands on another host, with their options with values."""
_TOLD_BY = {"lftp": "ec", "hsi": ""}
_CHANGES = re.compile(
    r"(?:^|[;\n|&\"'])\s*[-@]?(?:glob\s+)?(?:(?:m?put|reput|cput|send|append|save|store|m?rm|rmdir"
    r"|m?delete|mkdir|rename|ren|mv|chmod|chown|chgrp|ln|symlink|touch|cp)\b"
    r"|mirror\s[^;\n]*(?:-\w*R|--reverse)\b)"
)


@dataclass(frozen=True)
class Session:
    """Commands that a program executes on another host.

    Attributes:
        texts: Texts of commands in its words.
        file: File from which it reads commands.
        use: Effect on the other host, if it changes anything.
    """

    texts: list[Word]
    file: Word | None
    use: Use


def session_of(name: str, words: Sequence[Word]) -> Session:
    """Return the session for the words of one of `SESSIONS`."""
    found = Arguments.of(words, SESSIONS[name])
    texts = found.operands if name == "hsi" else found.values(*_TOLD_BY.get(name, ""))
    files = found.values("b") if name == "sftp" else found.values("f") if name == "lftp" else []
    host = found.operands[0] if found.operands and name != "hsi" else named(f"{name}:")
    if ":" not in host.text:
        host = replace(host, text=f"{host.text}:", variable="", is_open=False)
    file = next((word for word in files if word.text != "-"), None)
    return Session(texts, file, Use(WRITES, host, remote=f"{name}:"))


def changes_remote_data(text: str) -> bool:
    """Return whether a text for one of `SESSIONS` changes anything on the other host."""
    return _CHANGES.search(text) is not None


_GSUTIL = _Client("gs://", "cp rsync", "mv", "rm rb", "mb setmeta rewrite", letters="ohaxsLjz")
_IRODS = "irods:"
REMOTE_HANDLERS = table({
    "aws": _aws,
    "s5cmd": _Client("s3://", "cp sync", "mv", "rm rb", "mb", names="endpoint-url profile"),
    "s3cmd": _Client(
        "s3://", "put sync cp get", "mv", "del rm rb", "mb modify setacl setpolicy",
        letters="cm", names="config access_key secret_key host host-bucket exclude include region"
        " storage-class mime-type add-header",
    ),
    "gsutil": _GSUTIL,
    "gcloud": replace(_GSUTIL, group="storage", letters="", names="project account"),
    "azcopy": _Client("https://", "copy cp sync", removes="remove rm", makes="make",
                      names="recursive from-to include-pattern exclude-pattern"),
    "rclone": _Client(
        "rclone:", "copy copyto sync bisync copyurl", "move moveto",
        "delete deletefile purge rmdir rmdirs cleanup", "mkdir rcat touch",
        names="config transfers checkers exclude include filter filter-from files-from timeout"
        " exclude-from include-from bwlimit log-file log-level max-age min-age max-size min-size"
        " retries buffer-size backup-dir suffix stats s3-chunk-size s3-upload-concurrency"
        " multi-thread-streams compare-dest copy-dest contimeout tpslimit order-by",
    ),
    "globus": _Client(
        "globus:", "transfer rename", removes="delete rm", makes="mkdir", is_local=False,
        names="label sync-level batch include exclude notify deadline format",
    ),
    "slk": _Client("slk:", "archive rename", "move", "delete", "mkdir tag chmod", is_local=False),
    "curl": _curl,
    "wget": _wget,
    "htar": _htar,
    "dsmc": _dsmc,
    "gfal-copy xrdcp bbcp globus-url-copy ecp": Copies(least=2, letters="tTKDnpwsS", remote=""),
    "gfal-rm": Changes(REMOVES, remote=""),
    "gfal-mkdir": Changes(remote=""),
    "erm ermdir": Changes(REMOVES, remote="ec:"),
    "emkdir": Changes(remote="ec:"),
    "emv": Copies(least=2, moves=True, remote=""),
    "iput": Copies(least=2, letters="DRNnpX", remote=_IRODS),
    "irsync": Copies(least=2, letters="RNX", remote=""),
    "icp": Copies(least=2, letters="RNpX", remote=_IRODS),
    "imv": Copies(least=2, moves=True, remote=_IRODS),
    "irm irmdir": Changes(REMOVES, letters="DRNnpXS", remote=_IRODS),
    "imkdir ireg itrim": Changes(letters="DRNnpXS", remote=_IRODS),
    "mail mailx s-nail Mail": Changes(
        SENDS, letters="sacbrSqAuTXhQ", names="subject attach append cc bcc",
        unless="f file H e", remote="mailto:",  # these read a mailbox
    ),
    "mutt": _mutt,
    "sendmail msmtp": _sendmail,
})  # fmt: skip


# Names on other hosts and in archives: `me@host:/data`, `s3://bucket/x`, `htar:/a.tar`.
#
# They are not paths: they are not relative to a directory, and the guard ignores them.


def is_remote(text: str) -> bool:
    """Return whether a name is on another host: it has a colon before any slash, as for scp."""
    return MARKED.sub("x", text).partition("/")[0].find(":") > 0


def known_remote(text: str) -> str:
    """Return the certain part of a remote name; the name as written without a host."""
    known = re.split(r"[*?\[]", known_part(text))[0]
    if known == text:
        return text
    begin = max(known.rfind("/"), known.rfind(":")) + 1
    return known[:begin] if is_remote(known[:begin]) else shown(text)


def is_remote_within(name: str, top: str) -> bool:
    """Return whether a remote name is the same as another one or below it."""
    parts, begin = _parts(name), _parts(top)
    if parts == begin:
        return True
    is_host = begin[:1] == begin and begin[-1].endswith(":") and parts[0].startswith(begin[0])
    return ".." not in parts and (is_host or parts[: len(begin)] == begin)


def _parts(name: str) -> list[str]:
    return [part for part in name.split("/") if part not in ("", ".")]
