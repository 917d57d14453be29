# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Predict published measurements, and show how far the predictions are off.

python benchmarks/validation.py --set archer2-shared-file      # every cell, and the scores
python benchmarks/validation.py --set archer2-hdd-mpiio-lock0 --on site.toml
python benchmarks/validation.py --into docs/validation.md      # the page and its picture; a minute

Each published table says which of its cells were used to fit the description: they have an
asterisk.  The errors of all other cells say what a prediction is worth.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from published import (
    SETS,
    Validation,
    draw_validation,
    names_of,
    soft_minimum,
    validate,
    validation_json,
    validation_lines,
    validation_page,
)

from stripewise.core.errors import StripewiseError

PICTURE = "images/validation.svg"
MARK = "<!-- what follows is generated -->"


def main(words: Sequence[str] | None = None) -> None:
    """Predict, and print or write what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--set", action="append", default=[], dest="names", metavar="NAME",
                        help="set of tables, or one table (repeatable); all of them")  # fmt: skip
    parser.add_argument("--on", default="", metavar="STORAGE",
                        help="description to predict with; the one of each table")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--picture", type=Path, help="draw predicted against measured")
    parser.add_argument("--into", type=Path, help="page to write, of all tables")
    given = parser.parse_args(words)
    try:
        found = validate(names_of(() if given.into else given.names), given.on)
        if given.picture is not None:
            draw_validation(found, given.picture)
    except StripewiseError as error:
        parser.error(str(error))
    if given.into is not None:
        write(given.into, found)
    elif given.json:
        print(json.dumps(validation_json(found)))
    else:
        print("\n".join(validation_lines(found)))


def write(page: Path, found: Sequence[Validation]) -> None:
    """Write the page and its picture."""
    draw_validation(found, page.parent / PICTURE)
    words = page.read_text(encoding="utf-8").partition(MARK)[0]
    simpler = [soft_minimum(names) for names in (("archer2-hdd-mpiio-lock2",), SETS["archer"])]
    page.write_text(validation_page(found, words + MARK, PICTURE, simpler), encoding="utf-8")


if __name__ == "__main__":
    main()
