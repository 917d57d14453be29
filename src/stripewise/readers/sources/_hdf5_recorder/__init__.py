# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Text logs of the first Recorder (The HDF Group, 2013), which hold hyperslab vectors."""

from stripewise.readers.sources._hdf5_recorder._read import (
    Hdf5RecorderSource as Hdf5RecorderSource,
)
