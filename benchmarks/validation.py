# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Write the numbers of docs/validation.md and its picture: published tables, predicted.

python benchmarks/validation.py --into docs/validation.md      # about a minute
"""

from __future__ import annotations

import argparse
from pathlib import Path

from stripewise.calibration import SETS, names_of, soft_minimum, validate
from stripewise.report import draw_validation, validation_page

PICTURE = "images/validation.svg"
MARK = "<!-- what follows is generated -->"


def main() -> None:
    """Predict everything and write both files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, required=True, help="page to write")
    page: Path = parser.parse_args().into
    found = validate(names_of(()))
    draw_validation(found, page.parent / PICTURE)
    words = page.read_text(encoding="utf-8").partition(MARK)[0]
    simpler = [soft_minimum(names) for names in (("archer2-hdd-mpiio-lock2",), SETS["archer"])]
    page.write_text(validation_page(found, words + MARK, PICTURE, simpler), encoding="utf-8")


if __name__ == "__main__":
    main()
