# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Packs and keys for tests."""

from __future__ import annotations

from pathlib import Path

from minisign import KeyPair

from learning.knowledge.lessons import MACHINE, case, lesson
from stripewise.evidence.patterns import PatternClass
from stripewise.learning.knowledge import Pack, gather
from stripewise.learning.performance import Ground, Model, Range, Term

CLASS = PatternClass("write", "collective", "interleaved")


def model(storage: str = "lustre", stack: str = "romio-lustre", at: float = 1.79e9) -> Model:
    """A model that is kept, whatever it predicts."""
    return Model(
        Ground(storage, "0123456789abcdef", stack),
        CLASS,
        "regression",
        terms=(Term({"c": -1}, 2.5),),
        ranges={"c": Range(1.0, 64.0)},
        trained_unix_seconds=at,
    )


def pack(name: str = "", at: float = 1.79e9) -> Pack:
    """Two lessons and a model of a storage."""
    lessons = [lesson(of=case(MACHINE), at=at), lesson({"mpiio.cb_nodes": 4}, at=at)]
    return gather(lessons, [model(at=at)], name=name)


class Signer:
    """A pair of keys in files, as the program minisign writes them."""

    def __init__(self, directory: Path, password: str = "") -> None:
        directory.mkdir(exist_ok=True)
        pair = KeyPair.generate()
        self.secret, self.public = directory / "secret.key", directory / "public.pub"
        if password:
            pair.secret_key.encrypt(password, opslimit=32768, memlimit=1 << 20)
        self.secret.write_bytes(bytes(pair.secret_key) + b"\n")
        self.public.write_bytes(bytes(pair.public_key) + b"\n")
        self.text = pair.public_key.to_base64().decode()
