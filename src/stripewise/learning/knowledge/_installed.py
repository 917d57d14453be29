# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Installs packs after a check of their signatures.

A place of packs holds a link `NAME` for each, to the hidden directory with its content.  A newer
pack is made ready beside the older one; then the link changes, which is one step for all readers.
"""

from __future__ import annotations

import base64
import fcntl
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from stripewise.core.errors import ConfigurationError, PolicyError, StorageError, UsageError
from stripewise.core.extras import require
from stripewise.core.inputs import KEY, PACK, Budget, read_input
from stripewise.learning.knowledge._pack import Pack, decode_pack
from stripewise.learning.knowledge._store import PACKED, Store
from stripewise.learning.performance import (
    PACKED_MODELS,
    TABLES,
    load_models,
    model_id,
    save_model,
)
from stripewise.present import text_of

if TYPE_CHECKING:
    from minisign import PublicKey


PACK_FILE = "pack"


@dataclass(frozen=True)
class Verified:
    """A pack whose signature is that of a trusted key.

    Attributes:
        pack: What it holds.
        data / signature: Bytes of the pack and of its signature.
        key: The public key, as its 56 letters.
    """

    pack: Pack
    data: bytes
    signature: bytes
    key: str


def read_pack(path: Path, keys: Sequence[str]) -> Verified:
    """Read a pack and the signature beside it; nothing in it is looked at before that is good.

    Args:
        path: Path of the pack.
        keys: Trusted public keys, or paths of their files.

    Raises:
        PolicyError: Its signature is not that of a trusted key on this content.
        UsageError: It cannot be read, is not signed, or is malformed.
    """
    data = _read(path, PACK, "there is no such pack")
    signature = _read(
        path.with_name(f"{path.name}{SUFFIX}"),
        KEY,
        f"{path.name} is not signed, or it was not sent",
    )
    key = verify(data, signature, keys, str(path))
    return Verified(decode_pack(data, str(path)), data, signature, key)


def install(verified: Verified, home: Path, *, older: bool = False, private: bool = False) -> Path:
    """Install a pack for those who read this place; return its directory.

    Args:
        verified: What `read_pack` returned.
        home: The place; made if need be.
        older: Also in place of a newer one of its name.
        private: Only the owner can read it; else everybody can, whatever the mask is.

    Raises:
        UsageError: A newer pack of its name is installed.
        StorageError: It cannot be written; what was there stays as it was.
    """
    pack = verified.pack
    with _said(home):
        _make(home, _modes(private))
        with _locked(home):
            _check_age(pack, home / pack.name, older)
            place = Path(tempfile.mkdtemp(prefix=_prefix(pack.name), dir=home))
            try:
                _fill(place, verified, _modes(private))
                _point(home / pack.name, place)
            except BaseException:
                shutil.rmtree(place, ignore_errors=True)
                raise
            _remove_others(home, pack.name, place)
    return home / pack.name


def check_installed(directory: Path, keys: Sequence[str]) -> Verified:
    """Verify an installed pack again, and that what is read of it is what was signed.

    Raises:
        StripewiseError: As `read_pack`.
        ConfigurationError: Its store or a model is another one.
    """
    verified = read_pack(directory / PACK_FILE, keys)
    store = Store(directory / PACKED, read_only=True)
    lessons = {lesson.study_id: lesson for lesson in store.lessons(most=None)}
    models = {model_id(one): one for one in load_models([directory / PACKED_MODELS]).models}
    signed = verified.pack
    tables = {path: text_of(path) for path in directory.glob(f"{PACKED_MODELS}/{TABLES}/*")}
    if tables != {_table_path(directory, text): f"{text}\n" for text in signed.tables}:
        raise _changed(directory)
    if lessons != {one.study_id: one for one in signed.lessons} or models != {
        model_id(one): one for one in signed.models
    }:
        raise _changed(directory)
    return verified


def _changed(directory: Path) -> ConfigurationError:
    return ConfigurationError(
        f"{directory} was changed since it was installed: install the pack again"
    )


def _modes(private: bool) -> tuple[int, int]:
    """Return the modes of directories and of files."""
    return (0o700, 0o400) if private else (0o755, 0o444)


def _make(home: Path, modes: tuple[int, int]) -> None:
    new = [path for path in (home, *home.parents) if not path.exists()]
    home.mkdir(parents=True, exist_ok=True)
    for path in new:
        path.chmod(modes[0])


def _fill(place: Path, verified: Verified, modes: tuple[int, int]) -> None:
    (place / PACK_FILE).write_bytes(verified.data)
    (place / f"{PACK_FILE}{SUFFIX}").write_bytes(verified.signature)
    if verified.pack.lessons:
        Store(place / PACKED).add(verified.pack.lessons, origin="imported")
    for model in verified.pack.models:
        save_model(model, place / PACKED_MODELS)
    for text in verified.pack.tables:
        path = _table_path(place, text)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
    for directory, _, names in os.walk(place, topdown=False):
        for name in names:
            _settle(Path(directory, name), modes[1])
        _settle(Path(directory), modes[0])


def _table_path(place: Path, text: str) -> Path:
    name = hashlib.sha256(text.encode()).hexdigest()[:12]
    return place / PACKED_MODELS / TABLES / f"{name}.json"


def _settle(path: Path, mode: int) -> None:
    """Let all read it, whatever the mask is, and let it be on the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        os.fchmod(descriptor, mode)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _point(link: Path, place: Path) -> None:
    """Let a name lead to a directory, in one step."""
    if link.exists() and not link.is_symlink():
        raise FileExistsError(0, "it holds something else under the name of the pack", str(link))
    new = place.with_name(f"{place.name}.link")
    new.symlink_to(place.name)
    try:
        new.replace(link)
    except BaseException:
        new.unlink()
        raise


def _check_age(pack: Pack, link: Path, older: bool) -> None:
    if older:
        return
    try:
        there = decode_pack(_read(link / PACK_FILE, PACK, ""), str(link))
    except (UsageError, OSError):
        return
    if there.newest_unix_seconds > pack.newest_unix_seconds:
        raise UsageError(
            f"a newer pack {pack.name} is installed in {link.parent}; --older puts this one in "
            "its place"
        )


def _remove_others(home: Path, name: str, kept: Path) -> None:
    """Remove what older packs of a name, and installations that were killed, have left."""
    for path in home.glob(f"{_prefix(name)}*"):
        if path == kept:
            continue
        if path.is_symlink():
            path.unlink(missing_ok=True)
        else:
            shutil.rmtree(path, ignore_errors=True)


def _prefix(name: str) -> str:
    return f".{name}+"  # no name of a pack has a +


@contextmanager
def _locked(home: Path) -> Iterator[None]:
    descriptor = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with suppress(OSError):  # some file systems have no locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _read(path: Path, budget: Budget, missing: str) -> bytes:
    try:
        return read_input(path, budget)
    except FileNotFoundError as error:
        raise UsageError(f"{path} is not there: {missing}") from error
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from error


@contextmanager
def _said(home: Path) -> Iterator[None]:
    try:
        yield
    except StorageError:
        raise
    except OSError as error:
        raise StorageError(
            f"cannot install in {home}: {error.strerror or error}; install as a user who may "
            "write there, for yourself only with --user, or name another place with --prefix"
        ) from error


# Signatures of packs, as the program minisign makes and checks them.
#
# Source: https://jedisct1.github.io/minisign/ (Ed25519 over BLAKE2b).

SUFFIX = ".minisig"
"""What the program minisign adds to the name of what it signs."""
_KEY = re.compile("RW[A-Za-z0-9+/]{54}")
_IDENTITY = slice(2, 10)
"""Place of the key's identity in the bytes of a key, and of a signature."""


def sign(data: bytes, key: Path, comment: str, ask: Callable[[], str]) -> bytes:
    """Sign with a secret key of minisign.

    Args:
        data: What is signed.
        key: File of the secret key.
        comment: Signed with it and shown; ASCII.
        ask: Returns the password; called only if the key has one.

    Returns:
        What belongs into the file beside it.

    Raises:
        UsageError: The key cannot be read, or the password is wrong.
    """
    require("packs", "signing")
    from minisign import SecretKey

    try:
        with SecretKey.from_bytes(_text(key, "a secret key")) as secret:
            if secret.is_encrypted():
                secret.decrypt(ask())
            return bytes(secret.sign(data, trusted_comment=comment)) + b"\n"
    except ValueError as error:
        raise UsageError(
            f"{key} does not sign: {error}; `minisign -G -s {key}` makes a new key"
        ) from error


def verify(data: bytes, signature: bytes, keys: Sequence[str], name: str) -> str:
    """Return which trusted key signed, as its 56 letters.

    Args:
        data: What was signed.
        signature: Content of the file beside it.
        keys: Trusted public keys, or absolute paths of their files.
        name: Name of the signed file, for messages.

    Raises:
        PolicyError: No key is trusted, another key signed, or the content is another one.
        ConfigurationError: The signature or a key is none.
    """
    require("packs", "the check of a signature")
    from minisign import Signature, VerifyError

    trusted = tuple(dict.fromkeys(map(public_key, keys)))
    if not trusted:
        raise PolicyError(
            f"{name} is not trusted: there is no trusted key; give the site's public key with "
            "--key, or name it in pack_keys of the policy"
        )
    try:
        signed = Signature.from_bytes(signature)
        if bytes(signed).splitlines()[1:] != signature.splitlines()[1:]:
            raise ValueError("it is not written as minisign writes it")
        signer = base64.b64decode(signature.splitlines()[1])[_IDENTITY]
    except ValueError as error:
        raise ConfigurationError(
            f"{name}{SUFFIX} is not a signature of minisign: {error}"
        ) from error
    named = [key for key in trusted if base64.b64decode(key.to_base64())[_IDENTITY] == signer]
    for key in named:
        with suppress(VerifyError):
            key.verify(data, signed)
            return str(key.to_base64(), "ascii")
    if named:
        raise PolicyError(
            f"{name} is refused: its signature does not match its content, so one of them was "
            "changed or damaged; get both again"
        )
    raise PolicyError(
        f"{name} is refused: it is signed with the key {shown(signer)}, which is not trusted; if "
        "you trust who signed it, give their public key with --key"
    )


def public_key(key: str) -> PublicKey:
    """Read a public key of minisign: its text, or the path of its file.

    Raises:
        ConfigurationError: It is none.
        UsageError: Its file cannot be read.
    """
    require("packs", "the check of a signature")
    from minisign import PublicKey

    try:
        if _KEY.fullmatch(key):
            return PublicKey.from_base64(key)
        return PublicKey.from_base64(_text(Path(key), "the public key").split(b"\n")[-1].strip())
    except ValueError as error:
        if isinstance(error, UsageError):
            raise
        raise ConfigurationError(
            f"{key} is not a public key of minisign: give the line that begins with RW, or its "
            "file"
        ) from error


def shown(identity: bytes) -> str:
    """Return the identity of a key as the program minisign shows it."""
    return identity[::-1].hex().upper()


def _text(path: Path, what: str) -> bytes:
    try:
        return read_input(path, KEY).rstrip(b"\r\n")
    except OSError as error:
        raise UsageError(f"cannot read {what}, {path}: {error.strerror}") from error
