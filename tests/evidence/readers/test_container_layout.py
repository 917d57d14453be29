# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""The dtypes are the C structs: sizes and offsets as the compiler lays them out."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from stripewise.evidence.containers import _trace_blocks as t
from stripewise.evidence.containers import container as c
from stripewise.evidence.trace import (
    N_ACTIONS,
    N_CAUSES,
    N_CHUNK_MODES,
    RECORDED_LAYERS,
    Action,
    EventFlag,
    FileFlag,
    IoMode,
    MpiFamily,
    Op,
    OpenBit,
    PluginState,
    ProcessFlag,
    SettingsKind,
)
from support.containers import structs
from support.traces import BINS_PER_RECORD, RUN_BRIEF

STRUCTS = structs(c) | structs(t)
FLEXIBLE = ("path[]", "name[]", "text[]", "numbers[]", "pieces[]", "bins[]")
INCLUDE = Path(__file__).parents[3] / "native" / "include"
CONSTANTS = {
    "SW_CONTAINER_MAGIC": c.CONTAINER_MAGIC,
    "SW_CONTAINER_VERSION": c.CONTAINER_VERSION,
    "SW_PAGE": c.PAGE,
    "SW_BLOCK_MAGIC": c.BLOCK_MAGIC,
    "SW_SIZE_BINS": c.SIZE_BINS,
    "SW_ALIGN_BINS": c.ALIGN_BINS,
    "SW_LAYER_COUNT": len(RECORDED_LAYERS),
    "SW_OP_COUNT": len(Op),
    **{f"SW_BLOCK_{e.name}": e for e in c.BlockKind},
    **{f"SW_RECORD_{e.name}": e for e in c.RecordKind},
    **{f"SW_LAYER_{e.name}": e for e in RECORDED_LAYERS},
    **{f"SW_OP_{e.name}": e for e in Op},
    **{f"SW_MPI_{e.name}": e for e in MpiFamily},
    **{f"SW_PLUGIN_{e.name}": e for e in PluginState},
    **{f"SW_PROCESS_{e.name}": e for e in ProcessFlag},
    **{f"SW_FILE_{e.name}": e for e in FileFlag},
    **{f"SW_SETTINGS_{e.name}": e for e in SettingsKind},
    **{f"SW_DO_{e.name}": e for e in Action},
    "SW_DO_FIRST_DATA": N_ACTIONS,
    "SW_H5_MODES": len(IoMode),
    "SW_H5_CHUNK_MODES": N_CHUNK_MODES,
    "SW_H5_CAUSES": N_CAUSES,
    **{f"SW_CAPTURE_{e.name}": e for e in c.CaptureMode},
    "SW_TRACE_VERSION": t.TRACE_VERSION,
    "SW_RUN_LEVELS": t.RUN_LEVELS,
    "SW_DURATION_BINS": t.DURATION_BINS,
    "SW_RUN_BRIEF": RUN_BRIEF,
    "SW_SHAPE_TRUNCATED": t.SHAPE_TRUNCATED,
    "SW_VIEW_TRUNCATED": t.VIEW_TRUNCATED,
    "SW_BINS_PER_RECORD": BINS_PER_RECORD,
    **{f"SW_BLOCK_{e.name}": e for e in t.TraceBlockKind},
    **{f"SW_RECORD_{e.name}": e for e in t.TraceRecordKind},
    **{f"SW_TYPE_CLASS_{e.upper()}": i for i, e in enumerate(t.TYPE_CLASSES)},
    **{f"SW_STORAGE_{e.upper()}": i for i, e in enumerate(t.STORAGES)},
    **{f"SW_SHAPE_{e.name}": i for i, e in t.SHAPE_KINDS.items()},
    **{f"SW_EVENT_{e.name}": e for e in EventFlag},
    **{f"SW_OPEN_{e.name}": e for e in OpenBit},
}


def _c_program() -> str:
    lines = [
        '#include "stripewise/trace.h"',
        "#include <stddef.h>",
        "#include <stdio.h>",
        "int main(void){",
    ]
    for struct, dtype in STRUCTS.items():
        lines.append(f'printf("{struct} %zu\\n", sizeof(struct {struct}));')
        for field in dtype.names or ():
            lines.append(f'printf("{struct}.{field} %zu\\n", offsetof(struct {struct}, {field}));')
    for name in CONSTANTS:
        lines.append(f'printf("{name} %llu\\n", (unsigned long long){name});')
    return "\n".join([*lines, "return 0;}"])


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    if not shutil.which("cc"):
        pytest.skip("no C compiler on PATH")
    directory = tmp_path_factory.mktemp("layout")
    source, program = directory / "layout.c", directory / "layout"
    source.write_text(_c_program())
    subprocess.run(["cc", f"-I{INCLUDE}", str(source), "-o", str(program)], check=True)
    out = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout
    return {name: int(value) for name, value in (line.split() for line in out.splitlines())}


@pytest.mark.parametrize("struct", STRUCTS)
def test_offsets(compiled: dict[str, int], struct: str) -> None:
    dtype = STRUCTS[struct]
    assert dtype.fields is not None
    offsets = {name: dtype.fields[name][1] for name in dtype.names or ()}
    assert offsets == {name: compiled[f"{struct}.{name}"] for name in offsets}


@pytest.mark.parametrize("struct", STRUCTS)
def test_sizes(compiled: dict[str, int], struct: str) -> None:
    assert STRUCTS[struct].itemsize == compiled[struct]


def test_constants(compiled: dict[str, int]) -> None:
    mirrored = {name: int(value) for name, value in CONSTANTS.items()}
    assert {name: compiled[name] for name in CONSTANTS} == mirrored


@pytest.mark.parametrize("struct", STRUCTS)
def test_every_member_is_mirrored(struct: str) -> None:
    header = "container.h" if struct in structs(c) else "trace.h"
    text = (INCLUDE / "stripewise" / header).read_text()
    found = re.search(rf"struct {struct} {{(.*?)\n}};", text, re.DOTALL)
    assert found
    body = re.sub(r"/\*.*?\*/", "", found.group(1), flags=re.DOTALL)
    members = []
    for declaration in filter(None, (part.strip() for part in body.split(";"))):
        for name in re.sub(r"\[.*?\]", "[]", declaration).split(","):
            word = name.split()[-1]
            if word not in FLEXIBLE:
                members.append(word.removesuffix("[]"))
    assert tuple(members) == STRUCTS[struct].names


def test_a_brief_run_ends_before_its_durations() -> None:
    assert t.RUN.fields is not None
    assert t.RUN.fields["durations"][1] == t.RUN_WITHOUT_DURATIONS.itemsize


def test_little_endian() -> None:
    assert c.PROCESS["pid"] == np.dtype("<u4")
