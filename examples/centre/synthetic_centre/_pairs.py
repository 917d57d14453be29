# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Gains that studies showed: of one program they were taken over, of two others not."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from stripewise.centre.database._records import PairRecord
from stripewise.core import Configuration, FileRule, JobSettings
from stripewise.settings import formats
from synthetic_centre._people import User
from synthetic_centre._programs import TUNED, TUNED_DAY
from synthetic_centre._weather import DAY, Weather


@dataclass(frozen=True)
class _Gain:
    """What one study showed (assumed, near what the model gives)."""

    program: str
    day: int
    speedup: tuple[float, float, float]
    elapsed_speedup: float
    saved_seconds: float
    settings: Configuration
    lines: str
    pattern: str = ""


def _romio(hints: Mapping[str, str]) -> str:
    lines = "\n".join(f"{key} {value}" for key, value in hints.items())
    return f"cat > romio-hints <<'END'\n{lines}\nEND\nexport ROMIO_HINTS=\"$PWD/romio-hints\""


def _hints(hints: Mapping[str, str]) -> Configuration:
    typed = {key: int(text) if text.isdigit() else text for key, text in hints.items()}
    return Configuration(files=(FileRule("*", mpiio=typed),))


_STRIPED = {"striping_factor": "8", "cb_nodes": "8"}
_GAINS = (
    _Gain("lattice_qcd", TUNED_DAY - 2, (88.0, 71.0, 104.0), 1.21, 192.0, _hints(TUNED),
          _romio(TUNED)),
    _Gain("plasma_pic", 300, (3.6, 3.1, 4.2), 1.74, 745.0, _hints(_STRIPED), _romio(_STRIPED),
          "<3D, (BLOCK, *, *)>"),
    _Gain("turb_dns", 320, (2.9, 2.4, 3.3), 1.38, 336.0,
          Configuration(job=JobSettings(environment={"OMPI_MCA_io": "^ompio"})),
          "export OMPI_MCA_io=^ompio"),
)  # fmt: skip


def pairs(weather: Weather, people: tuple[User, ...]) -> Iterator[PairRecord]:
    """Yield the gains; each is of the first user of the program's area."""
    for gain in _GAINS:
        user = next(one for one in people if gain.program in {p.name for p in one.programs})
        columns = {
            "made_at": weather.start + gain.day * DAY,
            "speedup": gain.speedup[0],
            "low": gain.speedup[1],
            "high": gain.speedup[2],
            "pair_count": 7,
            "elapsed_speedup": gain.elapsed_speedup,
            "saved_seconds": gain.saved_seconds,
            "node_count": 8,
            "rank_count": 64,
            "pattern": gain.pattern or None,
            "verification": "identical",
            "configuration": formats.get("toml").write(gain.settings).text,
            "hints": gain.lines,
        }
        digest = hashlib.sha256(f"demo pair {gain.program}".encode()).hexdigest()
        yield PairRecord(digest, gain.program, user.name, columns)
