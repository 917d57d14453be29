# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""tools/roots.sh: whole or not at all, once; apt and dpkg stand in."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "roots.sh"
APT = """#!/bin/sh
echo "$*" >>"$FAKE/asked"
case "$*" in
indextargets*) cat "$FAKE/mirror" ;;
*update) [ ! -e "$FAKE/fails" ] || { echo "E: no such suite"; exit 100; } ;;
*install*)
    for word in "$@"; do
        case $word in Dir::Cache=*) touch "${word#Dir::Cache=}/archives/a.deb" ;; esac
    done ;;
esac
"""
DPKG = '#!/bin/sh\nexec tar -C "$FAKE/package" -cf - .\n'
FILES = ("usr/bin/gcc", "usr/lib/libdl.a", "usr/lib/gcc/libgcc.a", "etc/rc")
LEFT_OUT = ("usr/share/doc/gcc/README", "usr/lib/libbig.a")


@pytest.fixture
def fake(tmp_path: Path) -> Path:
    for name, text in (("apt-get", APT), ("dpkg-deb", DPKG)):
        path = tmp_path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    for name in (*FILES, *LEFT_OUT):
        path = tmp_path / "package" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * (200_000 if name.endswith(("big.a", "gcc.a")) else 1))
    (tmp_path / "mirror").write_text("http://mirror.example/debian/\n")
    return tmp_path


def made(fake: Path, *suites: str) -> subprocess.CompletedProcess[str]:
    variables = os.environ | {
        "FAKE": str(fake),
        "PATH": f"{fake / 'bin'}:{os.environ['PATH']}",
        "STRIPEWISE_CACHE": str(fake / "cache"),
        "DEBIAN_MIRROR": "",
    }
    return subprocess.run([SCRIPT, *suites], env=variables, capture_output=True, text=True)


def test_a_root_is_made_once(fake: Path) -> None:
    (fake / "cache/roots/.building.dead/root").mkdir(parents=True)
    assert made(fake, "trixie").returncode == 0
    root = fake / "cache/roots/trixie"
    assert sorted(path.name for path in root.iterdir()) == ["etc", "usr"]
    assert all((root / name).is_file() for name in FILES)
    assert not any((root / name).exists() for name in LEFT_OUT)
    assert sorted(path.name for path in root.parent.iterdir()) == sorted(
        [".lock", "trixie", root.readlink().name]
    )
    (fake / "asked").unlink()
    assert made(fake, "trixie").returncode == 0
    assert not (fake / "asked").exists()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("fails", "E: no such suite\nroots: trixie: the step 'download' failed"),
        ("mirror", "roots: apt knows no Debian mirror; run apt-get update, or set DEBIAN_MIRROR"),
    ],
)
def test_what_cannot_be_made_is_told_and_leaves_nothing(fake: Path, name: str, said: str) -> None:
    (fake / name).write_text("")
    done = made(fake, "trixie")
    assert done.returncode == 1
    assert done.stderr.startswith(said)
    assert [path.name for path in (fake / "cache/roots").iterdir()] == [".lock"]
