# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Defines `stripewise knowledge pack`, `install` and `verify`, for the users of a machine."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stripewise.cli._common import answer, note
from stripewise.cli._help import command, examples, option
from stripewise.cli._options import json_option
from stripewise.core.errors import StripewiseError, UsageError
from stripewise.present import plural, printable

if TYPE_CHECKING:
    from stripewise.learning.knowledge import Lesson, Pack, Verified
    from stripewise.learning.performance import Model

_key_option = option(
    "--key",
    "keys",
    multiple=True,
    metavar="KEY",
    help="Public key of minisign to trust, or its file, in addition to pack_keys of the policy.",
)


@command(
    epilog=examples(
        "stripewise knowledge pack archer2.pack --sign ~/.minisign/minisign.key",
        "stripewise knowledge pack hopper.pack --storage hopper@1/16 --name hopper",
    )
)
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False))
@option("--storage", default="", metavar="NAME", help="Storage to pack  [default: the only one]")
@option(
    "--name", default="", metavar="NAME", help="Name of the pack  [default: that of the storage]"
)
@option(
    "--sign",
    "secret",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Sign the pack with this secret key of minisign; the signature is written beside the "
    "pack (.minisig).",
)
@json_option
def pack(file: Path, storage: str, name: str, secret: Path | None, as_json: bool) -> None:
    """Write the studies and models of one storage to FILE, for other users.

    A pack holds what `stripewise knowledge export` writes, with the name of the storage, and the
    performance models of that storage.  The same content always gives the same file.
    """
    from stripewise.core import write_file
    from stripewise.learning.knowledge import encode_pack, gather, sign

    packed = gather(_own_lessons(), _own_models(), _own_tables(), storage=storage, name=name)
    data = encode_pack(packed)
    signature = sign(data, secret, f"stripewise pack {packed.name}", _password) if secret else b""
    side = file.with_name(f"{file.name}.minisig")
    if not signature and side.exists():
        raise UsageError(f"{side} is the signature of an older pack: remove it, or give --sign")
    write_file(file, data)
    if signature:
        write_file(side, signature)
    else:
        note(f"{file} is not signed; `minisign -S -m {file}` signs it")
    facts = {**_facts(packed), "file": str(file), "signed": bool(signature)}
    answer(as_json, lambda: facts, lambda: [f"{_words(packed)} written to {file}"])


@command(
    epilog=examples(
        "stripewise knowledge verify archer2.pack --key site.pub",
        "stripewise knowledge verify",
    )
)
@click.argument("file", required=False, type=click.Path(path_type=Path), metavar="[FILE]")
@_key_option
@json_option
def verify(file: Path | None, keys: tuple[str, ...], as_json: bool) -> None:
    """Check the signature and the content of a pack; without FILE, of all installed packs."""
    from stripewise.learning.knowledge import read_pack

    trusted = _trusted(keys)
    if file is not None:
        found = read_pack(file, trusted)
        answer(as_json, lambda: _verified(found), lambda: [f"{file}: {_good(found)}"])
        return
    rows = list(_installed(trusted))
    none = ["no pack is installed"]
    lines = [f"{row['path']}: {row['said']}" for row in rows]
    answer(as_json, lambda: rows, lambda: lines or none)
    if bad := sum(not row["good"] for row in rows):
        raise UsageError(f"{plural(bad, 'installed pack')} cannot be trusted: install again")


@command(epilog=examples("stripewise knowledge install archer2.pack --key site.pub --user"))
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@_key_option
@option("--user", is_flag=True, help="Install for yourself only.")
@option(
    "--prefix",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Install in DIR; $STRIPEWISE_SITE_PACKS must then name it.",
)
@option(
    "--older", is_flag=True, help="Install even if that replaces a newer pack of the same name."
)
@json_option
def install(
    file: Path, keys: tuple[str, ...], user: bool, prefix: Path | None, older: bool, as_json: bool
) -> None:
    """Install a pack whose signature is trusted.

    It is installed for everybody in $STRIPEWISE_SITE_PACKS (/var/lib/stripewise/packs), as a rule
    by an administrator.  Studies and runs use it after the user's own knowledge; an older pack of
    the same name is replaced.
    """
    from stripewise.core import site_packs, user_packs
    from stripewise.learning.knowledge import install as install_pack
    from stripewise.learning.knowledge import read_pack

    if user and prefix:
        raise UsageError("--user and --prefix name two places: give one of them")
    home = prefix or (user_packs() if user else site_packs())
    found = read_pack(file, _trusted(keys))
    place = install_pack(found, home.absolute(), older=older, private=user)
    answer(
        as_json,
        lambda: {**_verified(found), "installed": str(place)},
        lambda: [f"{_words(found.pack)} installed in {place}"],
    )


def _own_lessons() -> list[Lesson]:
    from stripewise.learning.knowledge import own_store

    store = own_store()
    lessons = store.lessons(most=None)
    if store.damage:
        note(store.damage, kind="warning")
    return lessons


def _own_models() -> tuple[Model, ...]:
    from stripewise.learning.performance import load_models, own_models

    loaded = load_models([own_models()])
    for warning in loaded.warnings:
        note(warning, kind="warning")
    return loaded.models


def _own_tables() -> Iterator[bytes]:
    from stripewise.core.inputs import MODEL, read_input
    from stripewise.learning.performance import TABLES, own_models

    for path in sorted((own_models() / TABLES).glob("*.json")):
        try:
            yield read_input(path, MODEL)
        except (OSError, StripewiseError) as error:
            note(f"{path} is left out: {error}", kind="warning")


def _trusted(keys: Sequence[str]) -> tuple[str, ...]:
    from stripewise.settings import load_policy

    return (*load_policy().pack_keys, *keys)


def _installed(trusted: Sequence[str]) -> Iterator[dict[str, Any]]:
    from stripewise.core import installed_packs
    from stripewise.learning.knowledge import check_installed

    for path in installed_packs():
        row: dict[str, Any] = {"path": str(path)}
        try:
            found = check_installed(path, trusted)
            yield {**row, "good": True, "said": _good(found), **_verified(found)}
        except StripewiseError as error:
            yield {**row, "good": False, "said": printable(str(error))}


def _password() -> str:
    text: str = click.prompt("Password of the key", hide_input=True, err=True)
    return text


def _words(packed: Pack) -> str:
    studies = plural(len(packed.lessons), "study", "studies")
    models = plural(len(packed.models), "model")
    return f"pack {packed.name}: {studies} and {models} of {packed.storage}"


def _good(found: Verified) -> str:
    day = time.strftime("%Y-%m-%d", time.localtime(found.pack.newest_unix_seconds))
    return f"{_words(found.pack)}, the newest of {day}, signed with {found.key}"


def _facts(packed: Pack) -> dict[str, Any]:
    return {
        "name": packed.name,
        "storage": packed.storage,
        "studies": len(packed.lessons),
        "models": len(packed.models),
        "tables": len(packed.tables),
        "newest_unix_seconds": packed.newest_unix_seconds,
    }


def _verified(found: Verified) -> dict[str, Any]:
    return {**_facts(found.pack), "key": found.key}
