# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Surveyed applications: what their I/O profiles say, in a file of TOML or CSV."""

from __future__ import annotations

import csv
import io
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from stripewise.bench.campaign._suite_form import seconds_of, size_of
from stripewise.core.errors import ConfigurationError, UsageError
from stripewise.core.inputs import SURVEY, parse_toml, read_input
from stripewise.settings.tunables import first_problem


def _number(value: object) -> object:
    return int(value) if isinstance(value, str) and value.isdecimal() else value


_Size = Annotated[int, BeforeValidator(size_of), Field(ge=0, le=1 << 60)]
_Seconds = Annotated[float, BeforeValidator(seconds_of), Field(ge=0, le=1e9)]
_Count = Annotated[int, BeforeValidator(_number), Field(ge=0, le=10**12)]
_Ranks = Annotated[int, BeforeValidator(_number), Field(ge=1, le=10_000_000)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Application(_Strict):
    """What one run of an application does, as its profile says; a table of the file.

    Attributes:
        name: Short, each different.
        title: One line for people.
        ranks: Processes of MPI; 1 without MPI.
        threads: Cores of each rank.
        run_seconds: Whole run; 0: not known.
        io_seconds: In I/O, where it was profiled; 0: not known.
        read_bytes / write_bytes: That all ranks move.
        files_read / files_written: Different files.
        readers / writers: Processes that move the data; 0: each file has its own, as far as there
            are ranks.
        metadata_operations: That were counted, those that never reach a server included (seeks);
            0: not known.
        transfer_bytes: Of one call.
        jobs: Runs at the same time.
    """

    name: Annotated[str, Field(min_length=1, max_length=64)]
    title: Annotated[str, Field(max_length=200)] = ""
    ranks: _Ranks = 1
    threads: _Ranks = 1
    run_seconds: Annotated[_Seconds, Field(alias="run_time")] = 0.0
    io_seconds: Annotated[_Seconds, Field(alias="io_time")] = 0.0
    read_bytes: Annotated[_Size, Field(alias="read")] = 0
    write_bytes: Annotated[_Size, Field(alias="write")] = 0
    files_read: _Count = 0
    files_written: _Count = 0
    readers: _Count = 0
    writers: _Count = 0
    metadata_operations: _Count = 0
    transfer_bytes: Annotated[_Size, Field(ge=1, alias="transfer")] = 1 << 20
    jobs: _Ranks = 1

    @property
    def least_operations(self) -> int:
        """Operations that reach the metadata server for certain: each file is opened."""
        return self.files_read + self.files_written

    @model_validator(mode="after")
    def _complete(self) -> Application:
        """Refuse what contradicts itself, and fill in what is not said."""
        for moved, number, way, files_ in (
            (self.read_bytes, self.files_read, "read", "files_read"),
            (self.write_bytes, self.files_written, "write", "files_written"),
        ):
            if moved and not number:
                raise ValueError(f"{way} is given without {files_}: say from how many files")
        if not self.read_bytes + self.metadata_operations + self.least_operations:
            raise ValueError("no I/O: give read, write or metadata_operations")
        self.title = self.title or self.name
        if self.metadata_operations:
            self.metadata_operations = max(self.metadata_operations, self.least_operations)
        return self


class Survey(_Strict):
    """Applications of a centre; the whole file.

    Attributes:
        version: Of the form of the file.
        name: Of the survey.
        title: One line for people.
        source: Who profiled them.
        applications: In the order of the file.
    """

    version: Literal[1] = 1
    name: Annotated[str, Field(min_length=1, max_length=64)] = "survey"
    title: Annotated[str, Field(max_length=200)] = ""
    source: Annotated[str, Field(max_length=1000)] = ""
    applications: Annotated[
        list[Application], Field(min_length=1, max_length=1000, alias="application")
    ]


_KNOWN = [
    one.alias or name for form in (Survey, Application) for name, one in form.model_fields.items()
]


def survey_names() -> tuple[str, ...]:
    """Return the names of the surveys that come with Stripewise."""
    folder = files("stripewise.bench") / "surveys"
    return tuple(sorted(one.name[:-5] for one in folder.iterdir() if one.name.endswith(".toml")))


def find_survey(name: str) -> Survey:
    """Return a survey that comes with Stripewise, or that of a file.

    Args:
        name: Of a survey, or the path of a file of TOML or CSV.

    Raises:
        UsageError: There is neither.
        ConfigurationError: The file cannot be read or is malformed.
    """
    if name in survey_names():
        file = files("stripewise.bench") / "surveys" / f"{name}.toml"
        return parse_survey(file.read_text(encoding="utf-8"), f"{name}.toml")
    path = Path(name)
    if path.suffix not in (".toml", ".csv") and not path.exists():
        raise UsageError(
            f"there is no survey {name!r}: give the path of a file of TOML or CSV, or one of "
            f"{', '.join(survey_names())}"
        )
    try:
        text = read_input(path, SURVEY).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path}: a survey is UTF-8 text: save it as UTF-8") from error
    except OSError as error:
        raise ConfigurationError(f"{path}: {error.strerror or error}: give a file") from error
    return parse_survey(text, str(path))


def parse_survey(text: str, name: str) -> Survey:
    """Read a survey of TOML, or of CSV if the name ends with .csv.

    Raises:
        ConfigurationError: It is malformed, or two applications have one name.
    """
    try:
        data = _of_csv(text, name) if name.endswith(".csv") else parse_toml(text)
        survey = Survey.model_validate(data)
    except ValidationError as error:
        raise ConfigurationError(f"{name}: {first_problem(error, _KNOWN)}") from error
    except (ValueError, csv.Error) as error:
        raise ConfigurationError(f"{name}: no survey ({error})") from error
    names = [one.name for one in survey.applications]
    for one in names:
        if names.count(one) > 1:
            raise ConfigurationError(f"{name}: two applications are called {one!r}: rename one")
    return survey


def _of_csv(text: str, name: str) -> dict[str, Any]:
    """Return rows as TOML would have them; empty cells are left out."""
    rows = [
        {(key or "").strip(): (value or "").strip() for key, value in row.items() if value}
        for row in csv.DictReader(io.StringIO(text, newline=""), restkey="too many cells")
    ] if _is_flat(text) else []  # fmt: skip
    return {"name": Path(name).stem[:64] or "survey", "application": rows}


def _is_flat(text: str) -> bool:
    """Whether no row has more cells than the first line names."""
    lines = list(csv.reader(io.StringIO(text, newline="")))
    if lines and any(len(one) > len(lines[0]) for one in lines):
        raise ValueError("a row has more cells than the first line has names")
    return bool(lines)
