# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Signatures of packs, as the program minisign makes and checks them.

Source: https://jedisct1.github.io/minisign/ (Ed25519 over BLAKE2b).
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from stripewise.errors import ConfigurationError, PolicyError, UsageError
from stripewise.extras import require
from stripewise.inputs import KEY, read_input

if TYPE_CHECKING:
    from minisign import PublicKey

SUFFIX = ".minisig"
"""What the program minisign adds to the name of what it signs."""
_KEY = re.compile("RW[A-Za-z0-9+/]{54}")
_IDENTITY = slice(2, 10)
"""Of the bytes of a key, and of a signature: which key it is."""


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
        name: Of the signed file, for messages.

    Raises:
        PolicyError: No key is trusted, another key signed, or the content is another one.
        ConfigurationError: The signature or a key is none.
    """
    require("packs", "the check of a signature")
    from minisign import Signature, VerifyError

    trusted = tuple(dict.fromkeys(map(public_key, keys)))
    if not trusted:
        raise PolicyError(
            f"{name} is not trusted: no key is; give the site's public key with --key, or name "
            "it in pack_keys of the policy"
        )
    try:
        signed = Signature.from_bytes(signature)
        if bytes(signed).splitlines()[1:] != signature.splitlines()[1:]:
            raise ValueError("it is not written as minisign writes it")
        signer = base64.b64decode(signature.splitlines()[1])[_IDENTITY]
    except ValueError as error:
        raise ConfigurationError(f"{name}{SUFFIX} is no signature of minisign: {error}") from error
    named = [key for key in trusted if base64.b64decode(key.to_base64())[_IDENTITY] == signer]
    for key in named:
        with suppress(VerifyError):
            key.verify(data, signed)
            return str(key.to_base64(), "ascii")
    if named:
        raise PolicyError(
            f"{name} is refused: its signature does not fit its content, so one of them was "
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
            f"{key} is no public key of minisign: give the line that begins with RW, or its file"
        ) from error


def shown(identity: bytes) -> str:
    """Return the identity of a key as the program minisign shows it."""
    return identity[::-1].hex().upper()


def _text(path: Path, what: str) -> bytes:
    try:
        return read_input(path, KEY).rstrip(b"\r\n")
    except OSError as error:
        raise UsageError(f"cannot read {what}, {path}: {error.strerror}") from error
