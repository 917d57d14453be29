# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Amounts may be unknown, with the reason; what was stored as zero for that is not known."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
_AMOUNTS = ("read_bytes", "write_bytes")
_FIGURES = (*_AMOUNTS, "io_seconds", "meta_operations", "file_count")
_NO_ESTIMATE = "no finding has an estimate"
_PARTIAL = "a profile of this job is not complete"


def upgrade() -> None:
    """Change the tables, and the figures of jobs that are there."""
    op.add_column("job", sa.Column("missing", sa.Text(), nullable=True))
    for name, options in (("job_io", {}), ("job_file", {"sqlite_with_rowid": False})):
        with op.batch_alter_table(name, table_kwargs=options) as table:
            table.add_column(sa.Column("missing", sa.Text(), nullable=True))
            for column in _AMOUNTS:
                table.alter_column(column, existing_type=sa.BigInteger(), nullable=True)
    connection = op.get_bind()
    _forget_zero_gains(connection)
    _forget_zeros_of_partial_profiles(connection)


def _forget_zero_gains(connection: sa.Connection) -> None:
    gains = ("avoidable_seconds", "avoidable_node_seconds")
    connection.execute(
        sa.text(
            "UPDATE job SET avoidable_seconds = NULL, avoidable_node_seconds = NULL,"
            " missing = :why WHERE avoidable_seconds = 0 AND finding_count > 0"
        ),
        {"why": json.dumps(dict.fromkeys(gains, _NO_ESTIMATE))},
    )


def _forget_zeros_of_partial_profiles(connection: sa.Connection) -> None:
    """A profile of which something is missing: what it has nothing of is not known."""
    columns = ", ".join(f"job.{name}" for name in _FIGURES)
    found = connection.execute(
        sa.text(
            f"SELECT DISTINCT job.id, job.missing, {columns} FROM job"
            " JOIN job_source ON job_source.job_id = job.id WHERE job_source.is_partial"
        )
    ).mappings()
    for row in found.all():
        zeros = [name for name in _FIGURES if row[name] == 0]
        if not zeros:
            continue
        reasons = {**json.loads(row["missing"] or "{}"), **dict.fromkeys(zeros, _PARTIAL)}
        changes = ", ".join(f"{name} = NULL" for name in zeros)
        connection.execute(
            sa.text(f"UPDATE job SET {changes}, missing = :why WHERE id = :id"),
            {"why": json.dumps(reasons), "id": row["id"]},
        )
