# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Represents the settings of a job, its files and datasets, and later files of a series."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any, get_args, get_type_hints

Value = bool | int | float | str | tuple[int, ...]
"""Value of a setting.  Sizes are in bytes; lists (alignment, chunk) are tuples of int."""


def _frozen(values: Mapping[str, Value]) -> Mapping[str, Value]:
    return MappingProxyType(dict(values))


@dataclass(frozen=True)
class DatasetRule:
    """HDF5 creation and transfer properties for the datasets whose path matches a glob.

    Attributes:
        match: Glob for the absolute path of the dataset in its file.
        hdf5: Property name to value (`chunk`, `fill_time`, `alloc_time`, `transfer`).
    """

    match: str
    hdf5: Mapping[str, Value] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "hdf5", _frozen(self.hdf5))


@dataclass(frozen=True)
class FileRule:
    """Settings for the files whose name matches a glob.

    Attributes:
        match: Glob for the basename or, if it has slashes, for as many trailing components.
        mpiio: MPI-IO hint to value.
        hdf5: HDF5 property to value (file access; dataset properties for all datasets).
        override: Whether the settings also replace values that the program sets itself.
        datasets: Rules for datasets in these files.
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
        """The settings of each layer (by its name in TOML) for the file itself."""
        return {name: getattr(self, name) for name in FILE_LAYERS}

    @property
    def is_empty(self) -> bool:
        """Whether nothing is set."""
        return not any(self.layers.values()) and not any(d.hdf5 for d in self.datasets)


FILE_LAYERS = tuple(item.name for item in fields(FileRule) if item.default_factory is dict)
"""Layers that are set per file: every field of a rule that maps settings."""


@dataclass(frozen=True)
class JobSettings:
    """Settings that act on the whole job.

    Attributes:
        mca: Open MPI MCA parameter (without `OMPI_MCA_`) to value, e.g. `io = "romio321"`.
        environment: Environment variable to value.
        ranks: Number of MPI ranks; None leaves it as in the command.
        ranks_per_node: Ranks on each host; None leaves it as in the command.
        threads: OpenMP threads per rank; None leaves it as in the environment.
        burst_buffer_nodes: Number of burst-buffer nodes; 0 if the job uses none; None leaves it as
            in the job script.
        burst_buffer_files: Comma-separated globs of the files to place on the burst buffer while
            the job works on the parallel file system (hybrid); None if all files are where the job
            works.
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
        """The resources that are set (ranks, ranks_per_node, threads), by name."""
        return {n: v for n, v in self._values.items() if not n.startswith(_BURST_BUFFER)}

    @property
    def burst_buffer(self) -> Mapping[str, int | str]:
        """The burst-buffer settings that are set, by name."""
        return {n: v for n, v in self._values.items() if n.startswith(_BURST_BUFFER)}

    @property
    def _values(self) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in JOB_VALUES}
        return {name: value for name, value in values.items() if value is not None}


_HINTS = get_type_hints(JobSettings)
JOB_VALUES: Mapping[str, type] = {
    one.name: get_args(_HINTS[one.name])[0] for one in fields(JobSettings) if one.default is None
}
"""Names of a job's single-valued settings, to the type of the value."""
_BURST_BUFFER = "burst_buffer_"


@dataclass(frozen=True)
class Configuration:
    """All settings that Stripewise applies to a program.

    All file rules that match a file apply in order; for each key the last rule wins.
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


# Settings for the later files of a series, chosen by the access to its earlier files.

_ANY = (0, (1 << 63) - 1)


@dataclass(frozen=True)
class SeriesRule:
    """Settings for files whose predecessors (same name except for digits) match conditions.

    All rules that match apply in order; for each key the last rule wins.

    Attributes:
        writing: Whether most bytes were written; if false, most were read.
        collective: Whether collective calls moved at least half of these bytes.
        interleaved: Whether a call moved several pieces of the file, interleaved with those of
            other ranks.
        ranks: Minimum and maximum number of ranks that opened the file.
        size_bytes: Minimum and maximum bytes that all these ranks moved.
        run_bytes: Minimum and maximum mean size of a contiguous piece of the file.
        mpiio: MPI-IO hint to value.
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
        """Direction, mode and shape of the access, as the runtime library names them."""
        way = "collective" if self.collective else "independent"
        shape = "interleaved" if self.interleaved else "contiguous"
        return f"{'write' if self.writing else 'read'}-{way}-{shape}"
