# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A layer more costs what CONTRIBUTING says: its file, and a line each in three others."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import stripewise

PACKAGE = Path(stripewise.__file__).parent
DOCS = Path(__file__).parents[3] / "docs"
GUIDE = Path(__file__).parents[3] / "CONTRIBUTING.md"
EDITS = {
    "settings/tunables/_registry.py": ("_cray,", "_cray, _dummy,"),
    "settings/tunables/_base.py": (
        '    JOB = "job",',
        '    DUMMY = "dummy", "Dummy parameters"\n    JOB = "job",',
    ),
    "core/_configuration.py": (
        "    adios2: Mapping[str, Value] = field(default_factory=dict)",
        "    adios2: Mapping[str, Value] = field(default_factory=dict)\n"
        "    dummy: Mapping[str, Value] = field(default_factory=dict)",
    ),
}
MEMBER = """
from stripewise.settings.tunables._base import ActsAt, Layer, SearchRange, Tunable
from stripewise.settings.tunables._base import Integer

TUNABLES = (
    Tunable(
        "Width",
        Integer("1", 1, 64),
        "How wide",
        layer=Layer.DUMMY,
        acts_at=ActsAt.OPEN,
        stacks=("dummy",),
        source="assumed: a test",
        search=SearchRange(1, 2, 4),
    ),
)
"""
USE = """
from stripewise.cli import main
from stripewise.settings.formats import effective, get
from stripewise.core import Configuration, FileRule, ProgramFacts
from stripewise.settings.tunables import (
    build_configuration, check_configuration, configuration_warnings, find_space, settings_class
)
from generate import tunables_markdown

built = build_configuration({"dummy.Width": 4})
assert dict(built.files[0].dummy) == {"Width": 4}
toml = get("toml")
assert toml.parse(toml.write(built).text).configuration == built
assert get("flat").parse(get("flat").write(built).text).configuration == built
assert effective(built, "x.h5").layers["dummy"] == {"Width": 4}
assert "Dummy parameters for *: Width" in "".join(get("romio-hints").write(built).lost)
assert settings_class(built) == "safe"
assert check_configuration(Configuration((FileRule("*", dummy={"Width": 99}),)))
typo = Configuration((FileRule("*", dummy={"Wdth": 9}),))
assert "did you mean Width" in configuration_warnings(typo)[0]
assert find_space(ProgramFacts()).dimensions[0].tunable.name == "dummy.Width"
assert "## Dummy parameters (`dummy`)" in tunables_markdown()
main(["settings", "tunables", "--layer", "dummy"])
"""


@pytest.mark.extended
def test_a_layer_takes_its_file_and_three_lines(tmp_path: Path):
    package = shutil.copytree(
        PACKAGE, tmp_path / "stripewise", ignore=shutil.ignore_patterns("__pycache__")
    )
    for name, (before, after) in EDITS.items():
        text = (package / name).read_text()
        assert before in text, name
        (package / name).write_text(text.replace(before, after))
    (package / "settings/tunables/_dummy.py").write_text(MEMBER)
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.append({str(DOCS)!r}){USE}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "dummy.Width" in done.stdout


def test_the_guide_names_these_files_and_no_other():
    rows = [line for line in GUIDE.read_text().splitlines() if line.startswith("| layer of tun")]
    assert set(re.findall(r"`(\w+/[\w/]+\.py)`", rows[0])) == {
        *EDITS,
        "settings/tunables/_NAME.py",
    }
    assert len(EDITS) <= 3
