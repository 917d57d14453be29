# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Finds tunables by name, suggests close names, and handles settings for all or some files."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from stripewise.core import Value
from stripewise.core.errors import UsageError
from stripewise.present import printable, value_text
from stripewise.settings.tunables import (
    _adios2,
    _cray,
    _hdf5,
    _job,
    _mca,
    _network,
    _pnetcdf,
    _romio,
)
from stripewise.settings.tunables._base import Layer, Tunable

if TYPE_CHECKING:
    from pydantic import ValidationError

_FILES = (_job, _network, _romio, _cray, _mca, _hdf5, _pnetcdf, _adios2)
_ALL: tuple[Tunable, ...] = tuple(
    sorted(
        (tunable for file in _FILES for tunable in file.TUNABLES),
        key=lambda tunable: tunable.search.effect_order,
    )
)
_BY_NAME: dict[str, Tunable] = {tunable.name: tunable for tunable in _ALL}
_BY_KEY: dict[str, list[Tunable]] = {
    key: [tunable for tunable in _ALL if tunable.key == key]
    for key in {tunable.key for tunable in _ALL}
}


def all_tunables() -> tuple[Tunable, ...]:
    """Return every tunable, in the order of likely effect."""
    return _ALL


def find(layer: Layer, key: str) -> Tunable | None:
    """Return the tunable of that layer and key, or None."""
    return _BY_NAME.get(f"{layer.value}.{key}")


def get(name: str) -> Tunable:
    """Return a tunable by name, or by its key if that is unique.

    Raises:
        UsageError: No tunable has that name.
    """
    if name in _BY_NAME:
        return _BY_NAME[name]
    by_key = _BY_KEY.get(name, [])
    if len(by_key) == 1:
        return by_key[0]
    raise UsageError(
        f"no tunable is called {name!r}{suggest(name, _BY_NAME)}; `stripewise settings "
        f"tunables` lists all"
    )


def suggest_key(key: str, *layers: Layer) -> str:
    """Return a suggestion of the keys closest to an unknown one."""
    return suggest(key, [tunable.key for tunable in _ALL if tunable.layer in layers])


def suggest(word: str, known: Iterable[str]) -> str:
    """Return ", did you mean ...?" with the closest known words; empty without any."""
    candidates = list(known)
    tails = {name.rpartition(".")[2]: name for name in candidates}
    matches = difflib.get_close_matches(word, candidates, n=3, cutoff=0.6)
    tail = word.rpartition(".")[2]
    matches += [tails[m] for m in difflib.get_close_matches(tail, list(tails), n=2, cutoff=0.75)]
    unique = list(dict.fromkeys(matches))[:3]
    return f", did you mean {' or '.join(unique)}?" if unique else ""


# Settings: values of tunables by name, for all files or for some.
#
# A setting for some files has `@` and the glob of their names after the tunable's name:
# `mpiio.cb_nodes@plt*.h5` is `mpiio.cb_nodes` for the files that match `plt*.h5`, for which it
# replaces the setting for all files.

_SIGN = "@"
_OF_JOB = (Layer.MCA, Layer.JOB, Layer.ENVIRONMENT)
PointKey = frozenset[tuple[str, str]]


def key_of(settings: Mapping[str, Value]) -> PointKey:
    """Return a key that identifies settings, in which 1, 1.0 and True are different values."""
    return frozenset((name, repr(value)) for name, value in settings.items())


def scoped(name: str, match: str) -> str:
    """Return the name of a tunable's setting for the files of a glob; empty for all files."""
    return f"{name}{_SIGN}{match}" if match else name


def split_scope(name: str) -> tuple[str, str]:
    """Split a setting's name into the tunable's name and the glob (empty for all files)."""
    tunable, _, match = name.partition(_SIGN)
    return tunable, match


def tunable_of(name: str) -> Tunable:
    """Return the tunable that a setting sets.

    Raises:
        UsageError: There is no tunable of that name.
    """
    return get(split_scope(name)[0])


def acts_per_file(name: str) -> bool:
    """Return whether a setting acts on files rather than on the whole job."""
    return tunable_of(name).layer not in _OF_JOB


def scopes(settings: Mapping[str, Value]) -> tuple[str, ...]:
    """Return the globs of settings for some files, in order and without duplicates."""
    globs = dict.fromkeys(split_scope(name)[1] for name in settings)
    return tuple(glob for glob in globs if glob)


def settings_on(settings: Mapping[str, Value], match: str) -> dict[str, Value]:
    """Return the settings that act on the files of one glob, by names of tunables.

    Args:
        settings: Settings of a point of the space.
        match: One of its globs; empty, or another glob, for all other files.
    """
    split = [(*split_scope(name), value) for name, value in settings.items()]
    of_all = {tunable: value for tunable, glob, value in split if not glob}
    return of_all | {tunable: value for tunable, glob, value in split if glob == match}


def settings_by_files(settings: Mapping[str, Value], say: Callable[[str, Value], str]) -> str:
    """Join the settings for all files and those for some: "a=1 for plt*.h5: a=2 b=3"."""
    texts: list[str] = []
    for match in ("", *scopes(settings)):
        split = [(*split_scope(name), value) for name, value in settings.items()]
        texts += [f"for {printable(match)}:"] if match else []
        texts += [say(tunable, value) for tunable, glob, value in split if glob == match]
    return " ".join(texts)


def settings_text(settings: Mapping[str, Value]) -> str:
    """Return the settings as people write them: `cb_nodes=4 alignment=0,1048576`.

    Settings for some files come last: `io=romio321 for plt*.h5: cb_nodes=4`.
    """
    return settings_by_files(settings, lambda n, v: f"{n.partition('.')[2] or n}={hint_text(v)}")


def hint_text(value: Value) -> str:
    """Return a value as text for MPI_Info, MCA and environment variables."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return ",".join(str(element) for element in value)
    return str(value)


def format_settings(settings: Mapping[str, Value]) -> str:
    """Format settings for one line, without their layer: "cb_nodes=4 alignment=1 MiB,1 MiB".

    Settings for some files come last: "io=romio321 for plt*.h5: cb_nodes=4".
    """
    return settings_by_files(settings, lambda n, v: f"{n.partition('.')[2] or n}={value_text(v)}")


def setting_name(name: str) -> str:
    """Return a setting's name for people: a tunable's name, or "mpiio.cb_nodes for plt*.h5"."""
    tunable, match = split_scope(name)
    return f"{tunable} for {printable(match)}" if match else tunable


# One clear line from a validation error of pydantic.


_TYPES = {
    "model_type": "write a table",
    "dataclass_type": "write a table",
    "dict_type": "write a table",
    "list_type": "write a list",
    "tuple_type": "write a list",
    "bool_type": "write true or false",
    "float_type": "write a number",
    "string_type": "write text in quotes",
    "int_type": "write a whole number",
}


def first_problem(error: ValidationError, known: Collection[str]) -> str:
    """Return the first problem of a validation: its place, the value, and the remedy.

    Args:
        error: Error of the validation.
        known: Known keys for suggestions, optionally with their tables.
    """
    first: Any = error.errors(include_url=False)[0]
    where = _location_text(first["loc"])
    if first["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        key = str(first["loc"][-1])
        place = _location_text(first["loc"][:-1])
        here = f"{place}: " if place else ""
        if key in known:
            table = known[key] if isinstance(known, Mapping) else "another table"
            return f"{here}{key!r} belongs in {table}, not here"
        return f"{here}no key is called {key!r}{suggest(key, known) or ': remove it'}"
    if first["type"] == "missing":
        return f"{where} is missing: add it"
    message = str(first["msg"]).removeprefix("Value error, ")
    if not where and first["type"] == "value_error":
        return message
    shown = repr(first["input"])
    shown = shown if len(shown) < 60 else shown[:57] + "..."
    return f"{where} = {shown}: {_TYPES.get(first['type'], message[:1].lower() + message[1:])}"


def _location_text(location: Iterable[str | int]) -> str:
    """Format ("file", 0, "mpiio") as `file[1].mpiio`, counting from one."""
    parts = (f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in location)
    return "".join(parts).removeprefix(".")
