# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Makes and reads packs: the lessons and models of one storage system in one text file.

Each line is a JSON document: first a header, then the given number of lessons, models and
tables of settings.  A pack contains no file names, nothing to unpack and no compression: it is
never read into more memory than its size, and equal content has equal bytes on every machine.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from stripewise.core.errors import ConfigurationError
from stripewise.core.inputs import MODEL, PACK, parse_json
from stripewise.learning.knowledge._codec import encode, import_lines
from stripewise.learning.knowledge._records import Lesson
from stripewise.learning.performance import Model, model_from_json, model_id, model_to_json

FORMAT, VERSION = "stripewise-pack", 1
_NAME = re.compile(r"[a-z0-9][a-z0-9._@-]{0,63}")
_NUMBERS = ("lessons", "models", "tables")
_HEADER = {"format": str, "version": int, "name": str, "storage": str} | dict.fromkeys(
    _NUMBERS, int
)


@dataclass(frozen=True)
class Pack:
    """Results of the studies and training runs of one machine.

    Attributes:
        name: Name under which it is installed; a newer pack of the same name replaces it.
        storage: Name of the storage of everything in the pack.
        lessons / models: Lessons and models, in the order of their identities.
        tables: Tables of settings for first runs, one line of JSON each; their reader checks them.
    """

    name: str
    storage: str
    lessons: tuple[Lesson, ...] = ()
    models: tuple[Model, ...] = ()
    tables: tuple[str, ...] = ()

    @property
    def newest_unix_seconds(self) -> float:
        """Time of the newest part; 0 for an empty pack."""
        return max(
            (
                *(lesson.recorded_unix_seconds for lesson in self.lessons),
                *(model.trained_unix_seconds for model in self.models),
            ),
            default=0.0,
        )


def storage_of(lesson: Lesson) -> str:
    """Return the name of a lesson's storage as it is used in models and lists."""
    machine = lesson.case.machine
    emulated = machine.emulated.partition(", ")[0]  # the rest is ranks per node and the like
    return emulated or machine.described or machine.filesystem


def gather(
    lessons: Iterable[Lesson],
    models: Iterable[Model],
    tables: Iterable[bytes] = (),
    *,
    storage: str = "",
    name: str = "",
) -> Pack:
    """Collect the content of a pack.

    Args:
        lessons: All stored lessons.
        models: All stored models.
        tables: Texts of all table files; those that are not tables are ignored.
        storage: Name of the storage; empty if there is only one.
        name: Name of the pack; empty for a name derived from that of the storage.

    Raises:
        ConfigurationError: There is nothing to pack, there are several storages, or the name is
            impossible.
    """
    lessons, models = tuple(lessons), tuple(models)
    storage = storage or _single_storage(
        {*map(storage_of, lessons), *(m.ground.storage for m in models)}
    )
    name = name or re.sub(r"[^a-z0-9._@-]+", "-", storage.lower()).strip("-.")
    if not _NAME.fullmatch(name):
        raise ConfigurationError(
            f"{name!r} cannot be the name of a pack: give up to 64 small letters, digits and ._@-"
        )
    chosen = sorted(
        (one for one in lessons if storage_of(one) == storage), key=lambda one: one.study_id
    )
    fitted = sorted((one for one in models if one.ground.storage == storage), key=model_id)
    if not chosen and not fitted:
        raise ConfigurationError(
            f"nothing is known of the storage {storage}: `stripewise knowledge list` and "
            "`stripewise knowledge model list` show what there is"
        )
    lines = sorted(set(_tables_of(tables, storage)))
    return Pack(name, storage, tuple(chosen), tuple(fitted), tuple(lines))


def encode_pack(pack: Pack) -> bytes:
    """Return the bytes of a pack; equal packs have equal bytes.

    Raises:
        ConfigurationError: The pack is too large or could not be read again.
    """
    header = {
        "format": FORMAT,
        "version": VERSION,
        "name": pack.name,
        "storage": pack.storage,
        "lessons": len(pack.lessons),
        "models": len(pack.models),
        "tables": len(pack.tables),
    }
    lines = [_line(header), *map(encode, pack.lessons)]
    lines += [*(_line(model_to_json(model)) for model in pack.models), *pack.tables]
    data = "".join(f"{line}\n" for line in lines).encode()
    if len(data) > PACK.file_bytes:
        raise ConfigurationError(
            f"the pack would be {len(data) >> 20} MiB, more than the {PACK.file_bytes >> 20} MiB "
            f"that a pack may have: forget studies of {pack.storage} that are no longer needed"
        )
    decode_pack(data, "the pack")
    return data


def decode_pack(data: bytes, name: str) -> Pack:
    """Read a pack whose signature was verified; if one part is malformed, none is used.

    Args:
        data: Bytes of the pack.
        name: Name of the file, for messages.

    Raises:
        ConfigurationError: The data is not a pack, is of a newer version, or has a malformed part.
    """
    try:
        lines = data.decode("utf-8").split("\n")
        header = _header(lines[0], name)
    except ValueError as error:
        if isinstance(error, ConfigurationError):
            raise
        raise ConfigurationError(f"{name} is not a pack of knowledge: {error}") from error
    models = 1 + header["lessons"]
    tables = models + header["models"]
    if len(lines) != tables + header["tables"] + 1 or lines[-1]:
        raise ConfigurationError(
            f"{name} is damaged: its header names {tables + header['tables'] - 1} parts, and it "
            f"has {len(lines) - 2} lines for them"
        )
    if not _NAME.fullmatch(header["name"]) or not header["storage"].isprintable():
        raise ConfigurationError(f"{name} is damaged: its names are impossible")
    storage, written = header["storage"], lines[tables:-1]
    pack = Pack(
        header["name"],
        storage,
        tuple(import_lines(lines[1:models], name)),
        tuple(_models(lines[models:tables], name, models + 1)),
        tuple(_tables_of((line.encode() for line in written), storage)),
    )
    if list(pack.tables) != written:
        raise ConfigurationError(f"{name} is damaged: a table in it is none of {storage}")
    if len(pack.lessons) != header["lessons"]:
        raise ConfigurationError(f"{name} is damaged: there are empty lines in it")
    _check(pack, name)
    return pack


def _header(line: str, name: str) -> dict[str, Any]:
    header = parse_json(line)
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ValueError("its first line does not say so")
    version = header.get("version")
    if isinstance(version, int) and version > VERSION:
        raise ConfigurationError(
            f"{name} is a pack of version {str(version)[:20]}, this Stripewise reads {VERSION}: "
            "use a newer Stripewise"
        )
    kinds = {key: type(value) for key, value in header.items()}
    if kinds != _HEADER or version != VERSION or min(header[key] for key in _NUMBERS) < 0:
        raise ValueError("its first line is malformed")
    return header


def _models(lines: Sequence[str], name: str, first: int) -> Iterable[Model]:
    for number, line in enumerate(lines, start=first):
        try:
            yield model_from_json(parse_json(line))
        except ValueError as error:
            raise ConfigurationError(f"{name}: line {number}: {error}") from error


def _tables_of(texts: Iterable[bytes], storage: str) -> Iterator[str]:
    """Yield the lines of those texts that are tables of a given storage."""
    for text in texts:
        with suppress(ValueError):
            data = parse_json(text[: MODEL.file_bytes + 1])
            ground = data.get("ground") if isinstance(data, dict) else None
            if isinstance(ground, dict) and ground.get("storage") == storage:
                yield _line(data)


def _check(pack: Pack, name: str) -> None:
    """Refuse duplicates and parts that belong to another storage than the pack's."""
    identities = [one.study_id for one in pack.lessons] + [model_id(m) for m in pack.models]
    identities += pack.tables
    if len(set(identities)) != len(identities):
        raise ConfigurationError(f"{name} is damaged: a part of it is there twice")
    storages = {*map(storage_of, pack.lessons), *(model.ground.storage for model in pack.models)}
    if storages - {pack.storage}:
        raise ConfigurationError(
            f"{name} is damaged: it is of {pack.storage}, and a part of it of another storage"
        )


def _single_storage(storages: set[str]) -> str:
    if not storages:
        raise ConfigurationError(
            "there is nothing to pack: no study is remembered and no model is kept; begin with "
            "`stripewise tune` or `stripewise knowledge train`"
        )
    if len(storages) > 1:
        named = ", ".join(sorted(storages))
        raise ConfigurationError(f"there is knowledge of {named}: choose one with --storage")
    return next(iter(storages))


def _line(data: dict[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
