# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Writes blocks of ADIOS2 variables without MPI: blocks_adios2.py FILE JSON."""

import json
import sys

import adios2
import numpy as np

work = json.loads(sys.argv[2])
adios = adios2.Adios()
io = adios.declare_io("blocks")
extents = work["extents"]
variables = [
    io.define_variable(
        name, np.zeros(1), extents, [0] * len(extents), extents, is_constant_dims=False
    )
    for name in work.get("datasets", ["d"])
]
engine = io.open(sys.argv[1], adios2.bindings.Mode.Write)
for _ in range(work.get("repeats", 1)):
    engine.begin_step()
    for variable in variables:
        for start, count in work["boxes"]:
            variable.set_selection([start, count])
            engine.put(variable, np.zeros(count), adios2.bindings.Mode.Sync)
    engine.end_step()
engine.close()
