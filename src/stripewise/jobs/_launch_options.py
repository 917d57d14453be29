# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Options of launchers that say where something is written or done.

Source: the manuals of srun, of Open MPI, of MPICH's Hydra and of jsrun.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from stripewise.jobs._arguments import named, part_of
from stripewise.jobs._expansions import Values
from stripewise.jobs._word import Word

OUTPUTS = ("output", "error", "bcast", "output-filename", "outfile-pattern", "errfile-pattern",
           "stdio_stdout", "stdio_stderr")  # fmt: skip
PLACES = ("chdir", "wdir", "wd")
PROGRAMS = ("prolog", "epilog", "task-prolog", "task-epilog")
_OF_SRUN = {"o": "output", "e": "error", "D": "chdir"}
_OPEN_MPI = {"OMPI_MCA_orte_output_filename": "output-filename"}
_BY_VARIABLES = {
    "srun": {
        "SLURM_STDOUTMODE": "output", "SLURM_STDERRMODE": "error", "SLURM_BCAST": "bcast",
        "SLURM_WORKING_DIR": "chdir",
    },
    **dict.fromkeys(("mpirun", "mpiexec", "orterun", "prterun"), _OPEN_MPI),
}  # fmt: skip
"""Variables that stand for options of a launcher."""
_IN_OUTPUT = re.compile(r"(?:.*[,:])?(?:dir|directory|file|filename)=([^,:]+)")
"""Open MPI 5: `--output dir=/x`."""


def launch_options(
    launcher: str, options: Sequence[Word], values: Values
) -> Iterator[tuple[str, Word]]:
    """Yield the long names of a launcher's options with their values.

    Args:
        launcher: Its name.
        options: Its words, up to the program.
        values: Of variables, some of which stand for options that are not there.
    """
    told = set()
    for option, following in zip(options, [*options[1:], None], strict=False):
        name, value = _option(launcher, option, following)
        if name and value is not None:
            told.add(name)
            yield name, value
    for variable, name in _BY_VARIABLES.get(launcher, {}).items():
        for text in () if name in told else values.given(variable):
            yield name, named(text)


def _option(launcher: str, option: Word, following: Word | None) -> tuple[str, Word | None]:
    """Return the long name of an option of a launcher, and its value."""
    text = option.text
    if not text.startswith("-"):
        return "", None
    if launcher == "srun" and not text.startswith("--"):
        name = _OF_SRUN.get(text[1:2], "")
        return name, part_of(option, 2) if len(text) > 2 else following
    name, equals, _ = text.lstrip("-").partition("=")
    if launcher == "srun" and len(name) > 1:  # as getopt_long has it
        full = (each for each in (*OUTPUTS, *PLACES) if each.startswith(name))
        name = next(full, name)
    if name == "bcast" and not equals:
        return name, None
    value = part_of(option, text.index("=") + 1) if equals else following
    inner = _IN_OUTPUT.match(value.text) if value and launcher != "srun" else None
    return name, part_of(value, inner.start(1)) if value and inner else value
