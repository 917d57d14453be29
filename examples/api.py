# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""A study from Python: what the command line does, the library does too.

python3 api.py mpiexec -n 2 ./program out.h5
"""

import sys
from pathlib import Path

from stripewise.study.plan import StudyOptions
from stripewise.study.procedure import run_study
from stripewise.study.report import ProgressObserver, render_html, summary_lines


def main(command: list[str]) -> None:
    """Tune a command with at most six trials and write the report."""
    observer = ProgressObserver(sys.stdout)
    try:
        result = run_study(StudyOptions(command=tuple(command), trials=6), observer)
    finally:
        observer.close()
    page = Path(result.directory) / "report.html"
    page.write_text(render_html(result), encoding="utf-8")
    print("\n".join(summary_lines(result, wrote=[page.name])))


if __name__ == "__main__":
    main(sys.argv[1:])
