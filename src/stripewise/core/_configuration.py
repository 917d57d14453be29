# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Records the settings of a job, of its files and datasets, and of later files of a series."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any, get_args, get_type_hints

Value = bool | int | float | str | tuple[int, ...]
"""A setting's value.  Sizes are bytes; lists (alignment, chunk) are tuples of int."""


def _frozen(values: Mapping[str, Value]) -> Mapping[str, Value]:
    return MappingProxyType(dict(values))


@dataclass(frozen=True)
class DatasetRule:
    """HDF5 creation and transfer properties for datasets whose path matches.

    Attributes:
        match: Glob on the absolute path of the dataset in its file.
        hdf5: Property name to value (`chunk`, `fill_time`, `alloc_time`, `transfer`).
    """

    match: str
    hdf5: Mapping[str, Value] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "hdf5", _frozen(self.hdf5))


@dataclass(frozen=True)
class FileRule:
    """Settings for the files whose name matches.

    Attributes:
        match: Glob; without slash on the basename, with slashes on trailing components.
        mpiio: MPI-IO hint to value.
        hdf5: HDF5 property to value (file access; dataset properties for all datasets).
        override: Also where the program set the value itself.
        datasets: Rules per dataset.
        pnetcdf: PnetCDF hint to value.
        adios2: ADIOS2 engine parameter to value; `engine` chooses the engine.
    """

    match: str = "*"
    mpiio: Mapping[str, Value] = field(default_factory=dict)
    hdf5: Mapping[str, Value] = field(default_factory=dict)
    override: bool = False
    datasets: tuple[DatasetRule, ...] = ()
    pnetcdf: Mapping[str, Value] = field(default_factory=dict)
    adios2: Mapping[str, Value] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for layer, settings in self.layers.items():
            object.__setattr__(self, layer, _frozen(settings))

    @property
    def layers(self) -> Mapping[str, Mapping[str, Value]]:
        """Layer (its name in the canonical form) to what is set there for the file itself."""
        return {name: getattr(self, name) for name in FILE_LAYERS}

    @property
    def is_empty(self) -> bool:
        """Whether nothing is set."""
        return not any(self.layers.values()) and not any(d.hdf5 for d in self.datasets)


FILE_LAYERS = tuple(item.name for item in fields(FileRule) if item.default_factory is dict)
"""Layers that are set by file: every field of a rule that maps settings."""


@dataclass(frozen=True)
class JobSettings:
    """What acts on the whole job.

    Attributes:
        mca: Open MPI MCA parameter (without `OMPI_MCA_`) to value, e.g. `io = "romio321"`.
        environment: Environment variable to value.
        ranks: MPI ranks; None: as the command says.
        ranks_per_node: Ranks on each host; None: as the command says.
        threads: OpenMP threads of a rank; None: as the environment says.
        burst_buffer_nodes: Of the job script's burst buffer; 0: the job uses none; None: as the
            job script says.
        burst_buffer_files: Globs with commas between them: only these files lie on the burst
            buffer, the job works on the parallel file system (hybrid); None: all files are
            where the job works.
    """

    mca: Mapping[str, Value] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    ranks: int | None = None
    ranks_per_node: int | None = None
    threads: int | None = None
    burst_buffer_nodes: int | None = None
    burst_buffer_files: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "mca", _frozen(self.mca))
        object.__setattr__(self, "environment", MappingProxyType(dict(self.environment)))

    @property
    def resources(self) -> Mapping[str, int]:
        """Names and values of the resources that are set: ranks, ranks_per_node, threads."""
        return {n: v for n, v in self._values.items() if not n.startswith(_BURST_BUFFER)}

    @property
    def burst_buffer(self) -> Mapping[str, int | str]:
        """Names and values of what is set of the burst buffer."""
        return {n: v for n, v in self._values.items() if n.startswith(_BURST_BUFFER)}

    @property
    def _values(self) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in JOB_VALUES}
        return {name: value for name, value in values.items() if value is not None}


_HINTS = get_type_hints(JobSettings)
JOB_VALUES: Mapping[str, type] = {
    one.name: get_args(_HINTS[one.name])[0] for one in fields(JobSettings) if one.default is None
}
"""Settings of a job that are one value each, to the type of that."""
_BURST_BUFFER = "burst_buffer_"


@dataclass(frozen=True)
class Configuration:
    """Everything Stripewise would set for a program.

    All file rules that match a file apply in order, later ones winning key by key.
    """

    files: tuple[FileRule, ...] = ()
    job: JobSettings = field(default_factory=JobSettings)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is set."""
        return not (
            self.job.mca
            or self.job.environment
            or self.job.resources
            or self.job.burst_buffer
            or not all(rule.is_empty for rule in self.files)
        )


# Settings for the later files of a series, by what its first file was.

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
