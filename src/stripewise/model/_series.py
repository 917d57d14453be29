# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Settings for the later files of a series, by what its first file was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from stripewise.model._configuration import Value

_ANY = (0, (1 << 63) - 1)


@dataclass(frozen=True)
class SeriesRule:
    """What files get whose predecessors, with names that are equal but for digits, were so.

    All rules that fit apply in order, later ones winning key by key.

    Attributes:
        writing: Most bytes were written, otherwise read.
        collective: At least half of these were moved by collective calls.
        interleaved: A call moved several pieces of the file, between those of other ranks.
        ranks: Least and most ranks that opened the file.
        size_bytes: Least and most bytes that all of them moved.
        run_bytes: Least and most bytes of a piece that lies together in the file, in the mean.
        mpiio: Hint to value.
    """

    writing: bool
    collective: bool
    interleaved: bool
    ranks: tuple[int, int] = _ANY
    size_bytes: tuple[int, int] = _ANY
    run_bytes: tuple[int, int] = _ANY
    mpiio: Mapping[str, Value] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "mpiio", MappingProxyType(dict(self.mpiio)))

    @property
    def kind(self) -> str:
        """Direction, way and shape, as the runtime library names them."""
        way = "collective" if self.collective else "independent"
        shape = "interleaved" if self.interleaved else "contiguous"
        return f"{'write' if self.writing else 'read'}-{way}-{shape}"
