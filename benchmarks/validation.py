# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Predicts published measurements, and shows the errors of the predictions.

python benchmarks/validation.py --set archer2-shared-file      # every cell, and the scores
python benchmarks/validation.py --set archer2-hdd-mpiio-lock0 --on site.toml
python benchmarks/validation.py --scores       # the tables of docs/validation.md; minutes
python benchmarks/validation.py --picture docs/images/validation.svg

Each published table says which of its cells were used to fit the description: they have an
asterisk.  The errors of all other cells show the quality of predictions.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from published import (
    SETS,
    draw_validation,
    names_of,
    soft_minimum,
    validate,
    validation_json,
    validation_lines,
    validation_scores,
)

from stripewise.core.errors import StripewiseError

SIMPLER = (("archer2-hdd-mpiio-lock2",), SETS["archer"])
"""Tables to which a soft minimum of three limits is fitted, for comparison with the laws."""


def main(words: Sequence[str] | None = None) -> None:
    """Predict, and print or draw what was requested."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--set", action="append", default=[], dest="names", metavar="NAME",
                        help="set of tables, or one table (repeatable); all of them")  # fmt: skip
    parser.add_argument("--on", default="", metavar="STORAGE",
                        help="description to predict with; the one of each table")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--picture", type=Path, help="draw predicted against measured")
    parser.add_argument("--scores", action="store_true", help="print the scores in Markdown")
    given = parser.parse_args(words)
    try:
        found = validate(names_of(given.names), given.on)
        if given.picture is not None:
            draw_validation(found, given.picture)
    except StripewiseError as error:
        parser.error(str(error))
    if given.scores:
        simpler = [] if given.names else [soft_minimum(names) for names in SIMPLER]
        print(validation_scores(found, simpler))
    elif given.json:
        print(json.dumps(validation_json(found)))
    else:
        print("\n".join(validation_lines(found)))


if __name__ == "__main__":
    main()
