# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The immutable Configuration: settings by file glob and by dataset, and the job's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

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
    """

    match: str = "*"
    mpiio: Mapping[str, Value] = field(default_factory=dict)
    hdf5: Mapping[str, Value] = field(default_factory=dict)
    override: bool = False
    datasets: tuple[DatasetRule, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "mpiio", _frozen(self.mpiio))
        object.__setattr__(self, "hdf5", _frozen(self.hdf5))


@dataclass(frozen=True)
class JobSettings:
    """What acts on the whole job.

    Attributes:
        mca: Open MPI MCA parameter (without `OMPI_MCA_`) to value, e.g. `io = "romio321"`.
        environment: Environment variable to value.
    """

    mca: Mapping[str, Value] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "mca", _frozen(self.mca))
        object.__setattr__(self, "environment", MappingProxyType(dict(self.environment)))


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
            or any(
                rule.mpiio or rule.hdf5 or any(d.hdf5 for d in rule.datasets)
                for rule in self.files
            )
        )
