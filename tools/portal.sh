#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
#
# The portal over a year of a synthetic centre, until Ctrl-C.
#   PORTAL_PORT   port to listen at (8080)
#   PORTAL_DB     file of the database; made if it is not there (.portal/centre.sqlite); the
#                 passwords of its accounts are kept beside it, in a file for its owner alone
set -eu
cd "$(dirname "$0")/.."
database=${PORTAL_DB:-.portal/centre.sqlite}
port=${PORTAL_PORT:-8080}
stripewise=.venv/bin/stripewise

if [ ! -e "$database" ]; then
    mkdir -p "$(dirname "$database")"
    echo "making a year of a synthetic centre in $database (half a minute)"
    part=$database.part
    rm -f "$part" "$part-wal" "$part-shm" "$database.accounts"
    (umask 077 && .venv/bin/python examples/centre/make_centre.py "$part" > "$database.accounts")
    $stripewise centre backup --db "$part" "$database"
    rm -f "$part" "$part-wal" "$part-shm"
fi
[ ! -e "$database.accounts" ] || cat "$database.accounts"
exec $stripewise centre serve --db "$database" --port "$port"
