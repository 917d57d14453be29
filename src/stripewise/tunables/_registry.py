# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""All tunables by name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from stripewise.errors import UsageError
from stripewise.tunables import _adios2, _cray, _hdf5, _job, _mca, _network, _pnetcdf, _romio
from stripewise.tunables._base import Layer, Tunable

_FILES = (_job, _network, _romio, _cray, _mca, _hdf5, _pnetcdf, _adios2)
_ALL: tuple[Tunable, ...] = tuple(
    sorted(
        (tunable for file in _FILES for tunable in file.TUNABLES),
        key=lambda tunable: tunable.search.effect_order,
    )
)
_BY_NAME: dict[str, Tunable] = {knob.name: knob for knob in _ALL}
_BY_KEY: dict[str, list[Tunable]] = {
    key: [knob for knob in _ALL if knob.key == key] for key in {knob.key for knob in _ALL}
}


def all_tunables() -> tuple[Tunable, ...]:
    """Return every tunable, in the order of likely effect."""
    return _ALL


def find(layer: Layer, key: str) -> Tunable | None:
    """Return the tunable of that layer and key, or None."""
    return _BY_NAME.get(f"{layer.value}.{key}")


def get(name: str) -> Tunable:
    """Return a tunable by name; the key alone will do where it is unique.

    Raises:
        UsageError: No tunable has that name.
    """
    if name in _BY_NAME:
        return _BY_NAME[name]
    by_key = _BY_KEY.get(name, [])
    if len(by_key) == 1:
        return by_key[0]
    raise UsageError(
        f"no tunable is called {name!r}{suggest(name, _BY_NAME)}; `stripewise tunables` lists all"
    )


def suggest_key(key: str, *layers: Layer) -> str:
    """Suggest the tunables' keys of some layers that are closest to an unknown one."""
    return suggest(key, [knob.key for knob in _ALL if knob.layer in layers])


def suggest(word: str, known: Iterable[str]) -> str:
    """Return ", did you mean ...?" with the closest known words; "" without any."""
    candidates = list(known)
    tails = {name.rpartition(".")[2]: name for name in candidates}
    matches = difflib.get_close_matches(word, candidates, n=3, cutoff=0.6)
    tail = word.rpartition(".")[2]
    matches += [tails[m] for m in difflib.get_close_matches(tail, list(tails), n=2, cutoff=0.75)]
    unique = list(dict.fromkeys(matches))[:3]
    return f", did you mean {' or '.join(unique)}?" if unique else ""
