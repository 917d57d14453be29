# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the kernel wrote, read by others: h5py, netCDF4 and ADIOS2's own Python package."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import DTypeLike, NDArray

Shapes = Mapping[str, tuple[int, ...]]  # in the order of the file
Steps = list[dict[str, NDArray[Any]]]


def read_plain(path: Path, shapes: Shapes, n_steps: int, dtype: DTypeLike) -> Steps:
    """posix and mpiio: the arrays one after the other, and nothing else."""
    elements = np.fromfile(path, dtype)
    sizes = [int(np.prod(shape)) for shape in shapes.values()]
    assert elements.size == n_steps * sum(sizes)
    pieces = iter(np.split(elements, np.cumsum(sizes * n_steps)[:-1]))
    return [
        {name: next(pieces).reshape(shape) for name, shape in shapes.items()}
        for _ in range(n_steps)
    ]


def read_hdf5(path: Path, shapes: Shapes, n_steps: int) -> Steps:
    with h5py.File(path) as file:
        assert list(file) == [f"step_{step:06d}" for step in range(n_steps)]
        return [
            {name: file[f"step_{s:06d}"][name][...] for name in shapes} for s in range(n_steps)
        ]


def read_netcdf4(path: Path, shapes: Shapes, n_steps: int) -> Steps:
    """NetCDF-4 is HDF5: h5py does not use the library that wrote it."""
    with h5py.File(path) as file:
        whole = {name: file[name][...] for name in shapes}
        dimensions = {name: [str(d[0].name) for d in file[name].dims] for name in shapes}
    for name, shape in shapes.items():
        assert whole[name].shape == (n_steps, *shape)
        lengths = [f"/d{d}_{length}" for d, length in enumerate(shape)]
        assert dimensions[name] == ["/step", *lengths]
    return [{name: array[step] for name, array in whole.items()} for step in range(n_steps)]


def read_cdf5(path: Path, shapes: Shapes, n_steps: int) -> Steps:
    import netCDF4

    with netCDF4.Dataset(path) as file:
        assert file.data_model == "NETCDF3_64BIT_DATA"
        assert file.dimensions["step"].size == n_steps
        file.set_auto_mask(False)
        whole = {name: file[name][...] for name in shapes}
    return [{name: array[step] for name, array in whole.items()} for step in range(n_steps)]


def read_bp(path: Path, shapes: Shapes, n_steps: int) -> Steps:
    import adios2

    with adios2.FileReader(str(path)) as file:
        assert file.num_steps() == n_steps
        assert set(file.available_variables()) == set(shapes)
        return [
            {
                name: file.read(name, [0] * len(shape), list(shape), step_selection=[step, 1])
                for name, shape in shapes.items()
            }
            for step in range(n_steps)
        ]


def read_steps(backend: str, path: Path, shapes: Shapes, n_steps: int, dtype: DTypeLike) -> Steps:
    """All steps as the back end's file has them: native byte order, global shapes."""
    if backend in ("posix", "mpiio"):
        return read_plain(path, shapes, n_steps, dtype)
    readers = {"hdf5": read_hdf5, "netcdf4": read_netcdf4, "pnetcdf": read_cdf5, "adios2": read_bp}
    steps = readers[backend](path, shapes, n_steps)
    for step in steps:
        for name, array in step.items():
            assert np.dtype(array.dtype).newbyteorder("=") == np.dtype(dtype)
            step[name] = np.asarray(array).reshape(shapes[name])
    return steps
