#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
#
# The product in two commands, and what it sees, on a program whose I/O is slow in an ordinary way: BT-IO's
# multi-partition writes, independent, many small strided pieces.  Then the same on a storage that is not here: a
# Lustre of 156 targets, emulated, where a block of an array goes through one node to two targets unless told otherwise.
set -eu
cd "$(dirname "$0")/.."
stripewise=$PWD/.venv/bin/stripewise
place=$PWD/build/demo
rm -rf "$place"
mkdir -p "$place"
cd "$place"
export STRIPEWISE_KNOWLEDGE="$place/knowledge.sqlite"

kernel=$("$stripewise" bench kernel --path --mpi openmpi)
set -- mpiexec.openmpi -n 2 "$kernel" --pattern btio --backend mpiio --mode independent \
    --size 256,256,6 --steps 4 --keep --file btio.dat

if [ -t 1 ]; then bold=$(printf '\033[1m') plain=$(printf '\033[0m'); else bold="" plain=""; fi
say() { printf '\n%s$ %s%s\n' "$bold" "$*" "$plain"; }

say "stripewise tune --trials 6 -- mpiexec -n 2 stripewise-kernel --pattern btio ..."
"$stripewise" tune --trials 6 --seed 1 --study-dir btio.stripewise -- "$@"

say "stripewise run --config btio.stripewise/best.toml -- mpiexec -n 2 stripewise-kernel ..."
"$stripewise" run --config btio.stripewise/best.toml -- "$@" --verify

say "stripewise run --trace btio.trace -- mpiexec -n 2 stripewise-kernel ..."
"$stripewise" run --trace btio.trace -- "$@" >/dev/null

say "stripewise profile --as pattern btio.trace"
"$stripewise" profile --as pattern btio.trace

say "stripewise profile --as findings --html profile.html btio.trace"
"$stripewise" profile --as findings --html profile.html btio.trace

set -- mpiexec.openmpi --oversubscribe -n 4 "$kernel" --pattern array3d --backend mpiio --mode collective \
    --local 64,64,128 --keep --file array.dat

say "stripewise tune --on hopper@1/16 --trials 3 -- mpiexec -n 4 stripewise-kernel --pattern array3d ..."
"$stripewise" tune --on hopper@1/16 --trials 3 --seed 1 --study-dir array.stripewise -- "$@"

say "ls btio.stripewise"
ls btio.stripewise
echo
echo "The report is $place/btio.stripewise/report.html, the profile $place/profile.html"
