# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions by name: kept ones, presets, files, and each of them in slow motion."""

from __future__ import annotations

import re
from fractions import Fraction
from importlib.resources import files
from pathlib import Path

from stripewise.errors import ConfigurationError
from stripewise.machines._description import LOCAL, Storage
from stripewise.machines._known import known_storages, read_description
from stripewise.machines._local import kept_storage
from stripewise.machines._slow import slowed

_SLOWEST = 1_000_000
_SCALE = re.compile(r"1/[0-9]{1,7}|[0-9]{1,9}(\.[0-9]{1,9})?")


def preset_names() -> list[str]:
    """Return the names of the descriptions that come with Stripewise, in alphabetical order."""
    places = (files("stripewise.machines") / "presets").iterdir()
    return sorted(place.name[:-5] for place in places if place.name.endswith(".toml"))


def load_description(source: str | Path, directory: Path = Path()) -> Storage:
    """Read one description.

    Args:
        source: Name of a description that is kept here, name of a preset, "local", path of a
            file, or (several lines) the TOML itself.
        directory: Whose file system "local" is.

    Raises:
        ConfigurationError: There is none, or it is malformed.
        StorageError: Of the local storage nothing was measured.
    """
    from stripewise.machines._parse import parse_description

    if source == LOCAL:
        return kept_storage(directory)
    if isinstance(source, str) and "\n" in source:
        return parse_description(source)
    by_name = isinstance(source, str) and "/" not in source and not source.endswith(".toml")
    known = known_storages() if by_name else None
    if known and (one := known.named(str(source))):
        return one.storage
    if isinstance(source, str) and source in preset_names():
        place = files("stripewise.machines") / "presets" / f"{source}.toml"
        return parse_description(place.read_text(encoding="utf-8"), source)
    path = Path(source)
    if isinstance(source, str) and path.suffix != ".toml" and not path.exists():
        from stripewise.tunables import suggest

        names = [one.storage.name for one in known.found] if known else []
        closest = suggest(source, [*names, *preset_names(), LOCAL]) or ":"
        if Path(f"{source}.toml").is_file():
            closest = f": {source}.toml is here;"
        raise ConfigurationError(
            f"no storage is called {source!r}{closest} give the path of a .toml file or a name "
            "that `stripewise machine list` shows"
        )
    return read_description(path)


def find_storage(name: str, directory: Path = Path()) -> Storage:
    """Return a storage by the words of `--on`: "archer2-hdd", "site.toml", "archer2-hdd@1/64".

    Args:
        name: Of a preset, "local", or path of a description; `@1/N` or `@FRACTION` is slow
            motion.
        directory: Whose file system "local" is.

    Raises:
        ConfigurationError: There is no such storage, it is malformed, or the fraction is none.
        StorageError: Of the local storage nothing was measured.
    """
    base, sign, scale = name.rpartition("@")
    if not sign or Path(name).is_file():
        return load_description(name, directory)
    return slowed(load_description(base, directory), _slowdown(name, scale))


def _slowdown(name: str, scale: str) -> float:
    """Return how many times as long everything takes."""
    try:
        share = Fraction(scale) if _SCALE.fullmatch(scale) else Fraction(0)
    except ZeroDivisionError:
        share = Fraction(0)
    if not Fraction(1, _SLOWEST) <= share <= 1:
        raise ConfigurationError(
            f"{name}: {scale!r} is no slow motion: write @1/64, or a fraction from "
            f"1/{_SLOWEST} to 1 such as @0.25"
        )
    return float(1 / share)
