# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Stands for the tables of the first release, which `initialise` creates from their models.

Earlier states of the tables were never released. They had the revisions 0001 to 0010, and the last
of them equals this one, so that such a database can be used unchanged.
"""

revision = "0010"
down_revision = None


def upgrade() -> None:
    """Do nothing: a database without tables gets those of the models at once."""
