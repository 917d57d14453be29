# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Damaged outputs of benchmark programs: what becomes of them."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

from stripewise.bench.campaign import import_campaign
from stripewise.core.errors import StripewiseError, UsageError
from stripewise.storage.results import read_results, read_tests
from support.mutations import mutate

READERS = Path(__file__).parents[1] / "storage/fit" / "readers"
FASTEST = 1e16
_TOKENS = (b"0", b"-1", b"nan", b"inf", b"-nan", b"1e999", b"1e308", b"99999999999999999999",
           b"-", b"NA", b"", b"write", b"read", b"File", b"{", b"}", b"[", b"]", b'"', b"GiB",
           b"MiB", b"POSIX", b"\x1b[31m", b"\r", b"0x10", b"1_000", "\u0663".encode())  # fmt: skip


def samples() -> dict[str, bytes]:
    """Return every output that the tests of readers have, by name."""
    places = [*sorted((READERS / "data").iterdir()), *sorted(READERS.glob("*.*"))]
    return {
        one.name: one.read_bytes() for one in places if one.suffix in (".txt", ".json", ".csv")
    }


def damaged(data: bytes, random: Random) -> bytes:
    """Damage an output as a disk, an editor, or several ranks that print at once would."""
    if random.random() < 0.4:
        return mutate(data, random)
    for _ in range(random.randint(1, 4)):
        data = random.choice(_DAMAGES)(data, random)
    return data


def _lines(data: bytes) -> list[bytes]:
    return data.split(b"\n")


def _double(data: bytes, random: Random) -> bytes:
    lines = _lines(data)
    place = random.randrange(len(lines))
    part = lines[place : place + random.choice((1, 1, 2, 20))]
    return b"\n".join(lines[:place] + part * random.randint(2, 4) + lines[place + len(part) :])


def _drop(data: bytes, random: Random) -> bytes:
    lines = _lines(data)
    place = random.randrange(len(lines))
    del lines[place : place + random.choice((1, 1, 1, 10))]
    return b"\n".join(lines)


def _mingle(data: bytes, random: Random) -> bytes:
    """Let another rank's line begin in the midst of one."""
    lines = _lines(data)
    place = random.randrange(len(lines))
    cut = random.randrange(len(lines[place]) + 1)
    lines[place] = lines[place][:cut] + random.choice(lines) + lines[place][cut:]
    return b"\n".join(lines)


def _token(data: bytes, random: Random) -> bytes:
    """Put one word of a line in place of another, or something that is no word there."""
    lines = _lines(data)
    place = random.randrange(len(lines))
    words = lines[place].split(b" ")
    here = random.randrange(len(words))
    others = random.choice(lines).split()
    words[here] = random.choice(others) if others and random.random() < 0.5 else (
        random.choice(_TOKENS)
    )  # fmt: skip
    lines[place] = b" ".join(words)
    return b"\n".join(lines)


def _digit(data: bytes, random: Random) -> bytes:
    """Change one digit, or move a decimal point."""
    places = [place for place in range(len(data)) if data[place : place + 1].isdigit()]
    if not places:
        return data
    place = random.choice(places)
    new = random.choice((b"0", b"1", b"5", b"9", b".", b"", b"00"))
    return data[:place] + new + data[place + 1 :]


def _ends(data: bytes, random: Random) -> bytes:
    del random
    return data.replace(b"\n", b"\r\n")


_DAMAGES: tuple[Callable[[bytes, Random], bytes], ...] = (
    _double, _drop, _mingle, _token, _token, _digit, _digit, _ends,
)  # fmt: skip


def fuzz(name: str, seed: int, number: int) -> tuple[list[str], Counter[str]]:
    """Read damaged variants of one output.

    Returns:
        What was wrong, a line each; and how often it was refused, read without a changed figure,
        and read with one.
    """
    data = samples()[name]
    wrong: list[str] = []
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / name
        file.write_bytes(data)
        known = _figures(file)
        for case in range(number):
            random = Random(f"{name} {seed} {case}")
            file.write_bytes(damaged(data, random))
            try:
                counts[_outcome(file, known)] += 1
            except Exception as error:
                wrong.append(f"{name} {seed} {case}: {type(error).__name__}: {error}"[:300])
    return wrong, counts


def _figures(file: Path) -> set[tuple[str, float]]:
    try:
        return {(one.operation, round(one.rate, 3))
                for test in read_tests([file], 4).tests for one in test.timed}  # fmt: skip
    except StripewiseError:
        return set()


def _outcome(file: Path, known: set[tuple[str, float]]) -> str:
    """Return what became of a file.

    Raises:
        AssertionError: A figure is impossible, or an error is no single line that names the file.
    """
    refused = 0
    for read in (_campaign, _results):
        try:
            read(file)
        except UsageError as error:
            refused += 1
            said = str(error)
            assert said.isprintable(), f"not one line: {said!r}"
            assert file.name in said, f"without the file: {said}"
    if refused == 2:
        return "refused"
    return "read" if _figures(file) <= known else "changed"


def _campaign(file: Path) -> None:
    campaign = import_campaign([file], "damaged", 4)
    assert any(run.samples for run in campaign.runs)
    for run in campaign.runs:
        assert run.key in campaign.by_case
        for one in run.samples:
            of_data = one.operation in ("write", "read")
            assert 0 < one.seconds <= 1e9, one
            assert (1 if of_data else 1e-6) <= one.rate <= (FASTEST if of_data else 1e12), one
            assert all(0 <= value <= 1e9 for value in one.phases.values()), one
    for case in campaign.suite.cases:
        assert 1 <= case.nodes <= case.ranks <= 1e9, case


def _results(file: Path) -> None:
    found = read_results([file], 4)
    assert found.measured or found.operations
    for one in found.measured:
        assert all(1 <= rate <= FASTEST for rate in one.rates), one
    for rates in found.operations.values():
        assert all(0 < rate <= 1e12 for rate in rates), rates
