# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""`stripewise machine validate`: published tables against what descriptions predict."""

from __future__ import annotations

from pathlib import Path

import click

from stripewise.cli._common import answer, examples, file_option, json_option, note


@click.command(
    "validate",
    epilog=examples(
        "stripewise machine validate --set archer2-shared-file",
        "stripewise machine validate --set archer --picture archer.svg",
        "stripewise machine validate --set archer2-hdd-mpiio-lock0 --on site.toml",
        "stripewise machine validate --json          # every table; about a minute",
    ),
)
@click.option(
    "--set",
    "names",
    multiple=True,
    metavar="NAME",
    help="Set of tables, or one table (repeatable).  [default: all of them]",
)
@click.option("--on", "storage", default="", metavar="STORAGE",
              help="Description to predict with.  [default: the one of each table]")  # fmt: skip
@file_option("--picture", help="Draw predicted against measured into FILE (.svg, .png, .pdf).")
@file_option("--html", help="Write a page with the numbers and the picture to FILE.")
@json_option
def command(
    names: tuple[str, ...], storage: str, picture: Path | None, html: Path | None, as_json: bool
) -> None:
    """Predict published measurements, and show how far the predictions are off.

    Each published table says which of its cells were used to fit the description: they have an
    asterisk.  The errors of all other cells say what a prediction is worth.
    """
    from stripewise.calibration import names_of, validate
    from stripewise.report import validation_json, validation_lines

    chosen = names_of(names)
    found = validate(chosen, storage)
    answer(as_json, lambda: validation_json(found), lambda: validation_lines(found))
    if picture is not None:
        from stripewise.report import draw_validation

        draw_validation(found, picture)
        note(f"wrote {picture}")
    if html is not None:
        from stripewise.outputs import write_file
        from stripewise.report import render_validation_html

        write_file(html, render_validation_html(found))
        note(f"wrote {html}")
