# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Installs packs after verifying their signatures.

A pack directory contains a link `NAME` for each pack, to a hidden directory with its content.
A newer pack is prepared beside the older one; then the link is replaced, which is atomic for
all readers.
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
from stripewise.core.inputs import KEY, PACK, InputBudget, read_input
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
    """Pack whose signature was made with a trusted key.

    Attributes:
        pack: Content of the pack.
        data / signature: Bytes of the pack and of its signature.
        key: Public key as its 56 letters.
    """

    pack: Pack
    data: bytes
    signature: bytes
    key: str


def read_pack(path: Path, keys: Sequence[str]) -> Verified:
    """Read a pack and its signature file; the content is parsed only if the signature is valid.

    Args:
        path: Path of the pack.
        keys: Trusted public keys, or paths of their files.

    Raises:
        PolicyError: The signature was not made with a trusted key for this content.
        UsageError: The pack cannot be read, is not signed, or is malformed.
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
    """Install a pack in a directory of packs and return the directory of its content.

    Args:
        verified: What `read_pack` returned.
        home: Directory of packs; it is created if necessary.
        older: Whether to replace even a newer pack of the same name.
        private: Whether only the owner can read it; otherwise everybody can, whatever the umask.

    Raises:
        UsageError: A newer pack of the same name is installed.
        StorageError: The pack cannot be written; the installed one stays unchanged.
    """
    pack = verified.pack
    with _as_storage_error(home):
        _make(home, _modes(private))
        with _locked(home):
            _check_age(pack, home / pack.name, older)
            place = Path(tempfile.mkdtemp(prefix=_prefix(pack.name), dir=home))
            try:
                _fill(place, verified, _modes(private))
                _replace_link(home / pack.name, place)
            except BaseException:
                shutil.rmtree(place, ignore_errors=True)
                raise
            _remove_others(home, pack.name, place)
    return home / pack.name


def check_installed(directory: Path, keys: Sequence[str]) -> Verified:
    """Verify an installed pack again, and that the files in use match the signed content.

    Raises:
        StripewiseError: See `read_pack`.
        ConfigurationError: The store or a model differs from the signed content.
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
    """Return the modes of directories and files."""
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
            _set_mode_and_flush(Path(directory, name), modes[1])
        _set_mode_and_flush(Path(directory), modes[0])


def _table_path(place: Path, text: str) -> Path:
    name = hashlib.sha256(text.encode()).hexdigest()[:12]
    return place / PACKED_MODELS / TABLES / f"{name}.json"


def _set_mode_and_flush(path: Path, mode: int) -> None:
    """Set the mode of a file regardless of the umask, and flush it to the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        os.fchmod(descriptor, mode)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _replace_link(link: Path, place: Path) -> None:
    """Make a link point to a directory, atomically."""
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
    """Remove the remains of older packs of a name and of interrupted installations."""
    for path in home.glob(f"{_prefix(name)}*"):
        if path == kept:
            continue
        if path.is_symlink():
            path.unlink(missing_ok=True)
        else:
            shutil.rmtree(path, ignore_errors=True)


def _prefix(name: str) -> str:
    return f".{name}+"  # no name of a pack contains a +


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


def _read(path: Path, budget: InputBudget, missing: str) -> bytes:
    try:
        return read_input(path, budget)
    except FileNotFoundError as error:
        raise UsageError(f"{path} is not there: {missing}") from error
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from error


@contextmanager
def _as_storage_error(home: Path) -> Iterator[None]:
    try:
        yield
    except StorageError:
        raise
    except OSError as error:
        raise StorageError(
            f"cannot install in {home}: {error.strerror or error}; install as a user who may "
            "write there, for yourself only with --user, or name another place with --prefix"
        ) from error


# Signatures of packs in the format of the program minisign.
#
# Source: https://jedisct1.github.io/minisign/ (Ed25519 over BLAKE2b).

SUFFIX = ".minisig"
"""Suffix that minisign adds to the name of a signed file."""
_KEY = re.compile("RW[A-Za-z0-9+/]{54}")
_IDENTITY = slice(2, 10)
"""Position of the key's identity in the bytes of a key and of a signature."""


def sign(data: bytes, key: Path, comment: str, ask: Callable[[], str]) -> bytes:
    """Sign data with a secret key of minisign.

    Args:
        data: Data to sign.
        key: File of the secret key.
        comment: ASCII comment that is signed as well and displayed.
        ask: Returns the password; called only if the key has one.

    Returns:
        Content of the signature file.

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
    """Return the trusted key that signed the data, as its 56 letters.

    Args:
        data: Data that was signed.
        signature: Content of the signature file.
        keys: Trusted public keys, or absolute paths of their files.
        name: Name of the signed file, for messages.

    Raises:
        PolicyError: No key is trusted, another key signed, or the content was changed.
        ConfigurationError: The signature or a key is malformed.
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
    """Read a public key of minisign, given as text or as the path of its file.

    Raises:
        ConfigurationError: The key is malformed.
        UsageError: The file cannot be read.
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
    """Return the identity of a key as minisign displays it."""
    return identity[::-1].hex().upper()


def _text(path: Path, what: str) -> bytes:
    try:
        return read_input(path, KEY).rstrip(b"\r\n")
    except OSError as error:
        raise UsageError(f"cannot read {what}, {path}: {error.strerror}") from error
