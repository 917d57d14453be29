#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
#
# Make a checkout usable: system packages (apt, when allowed), .venv, native build.
#   tools/bootstrap.sh system GROUP...   install missing Debian packages of the groups
#   tools/bootstrap.sh venv EXTRA        create or update .venv with the extra (dev, docs, "")
#   tools/bootstrap.sh lustre-mpi        MPICH with ROMIO's Lustre driver (tools/lustre-mpi.sh)
#   tools/bootstrap.sh peers             IOR, mdtest, benchio to compare with (tools/peers.sh)
#   tools/bootstrap.sh native            build library, plug-ins and kernels into .venv
# Each step does nothing when nothing changed.
set -eu
cd "$(dirname "$0")/.."

# What each group is for; the names are Debian 12's.
packages() {
    case $1 in
    portal) echo "python3 python3-venv" ;;
    build) echo "python3 python3-venv gcc libc6-dev make cmake pkg-config" ;;
    mpi) echo "mpich libmpich-dev libhdf5-mpich-dev openmpi-bin libopenmpi-dev libhdf5-openmpi-dev
        libnetcdf-mpi-dev libpnetcdf-dev" ;;
    roots) echo "bubblewrap" ;;
    lustre-mpi) echo "xz-utils" ;;
    peers) echo "autoconf automake gfortran" ;;
    test) echo "g++ gfortran python3-mpi4py python3-h5py-mpi hdf5-tools procps strace util-linux bsdutils
        chromium chromium-driver minisign tcl tcsh postgresql-15 prometheus victoria-metrics
        influxdb" ;;
    lint) echo "shellcheck git" ;;
    slurm) echo "slurmctld slurmd slurmdbd slurm-client slurm-wlm-basic-plugins munge
        mariadb-server-core mariadb-client-core util-linux" ;;
    apps) echo "lammps wrk" ;;
    foreign) echo "tcsh lammps quantum-espresso quantum-espresso-data samtools ncbi-blast+ rsync
        imagemagick nco netcdf-bin fio sysbench sqlite3 zstd libhdf5-dev libnetcdf-dev git make
        gcc strace hdf5-tools python3-h5py-mpi python3-mpi4py" ;;
    *) echo "bootstrap: unknown package group '$1'" >&2; exit 2 ;;
    esac
}

have() { dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'install ok installed'; }

system() {
    missing=""
    for group in "$@"; do
        # the portal needs a Python alone, whatever it was installed by
        [ "$group" = portal ] && (python) >/dev/null 2>&1 && continue
        for package in $(packages "$group"); do
            have "$package" || missing="$missing $package"
        done
    done
    [ -z "$missing" ] && return 0
    if ! command -v apt-get >/dev/null 2>&1; then
        echo "bootstrap: no apt-get here; install the equivalents of:$missing" >&2
        exit 1
    fi
    if [ "$(id -u)" = 0 ]; then
        as_root=""
    elif sudo -n true 2>/dev/null; then
        as_root="sudo"
    else
        echo "bootstrap: these packages are missing and neither root nor sudo is at hand:" >&2
        echo "  apt-get install$missing" >&2
        exit 1
    fi
    echo "installing:$missing"
    export DEBIAN_FRONTEND=noninteractive
    # shellcheck disable=SC2086  # word splitting of the package list is meant
    {
        $as_root apt-get update -qq
        $as_root apt-get install -y -qq --no-install-recommends $missing >/dev/null
    }
}

# A Python >= 3.11 with a working venv module: Debian's own first.
python() {
    for candidate in "${PYTHON:-}" /usr/bin/python3 python3 python3.13 python3.12 python3.11; do
        [ -n "$candidate" ] || continue
        if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' \
            2>/dev/null; then
            echo "$candidate"
            return 0
        fi
    done
    echo "bootstrap: no Python >= 3.11 with venv found; set PYTHON=/path/to/python3" >&2
    exit 1
}

venv() {
    extra=$1
    stamp=.venv/.stripewise-${extra:-base}
    if [ -e "$stamp" ] && [ -z "$(find pyproject.toml -newer "$stamp")" ]; then
        return 0
    fi
    [ -x .venv/bin/python ] || "$(python)" -m venv .venv
    echo "installing Python packages${extra:+ ($extra)}"
    # The database and the portal, and, where they have packages, readers of Darshan and Parquet.
    .venv/bin/python -m pip install --quiet --disable-pip-version-check \
        -e ".[tune,web,darshan,parquet${extra:+,$extra}]" ||
        .venv/bin/python -m pip install --quiet --disable-pip-version-check \
            -e ".[tune,web${extra:+,$extra}]"
    [ "$extra" != dev ] || grafana
    touch "$stamp"
}

# Models of a second Grafana for the tests of boards: their package has one name for all versions.
grafana() {
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --upgrade \
        --target .venv/grafana-11 'grafana-foundation-sdk==1769699379!11.6.0'
}

native() { .venv/bin/stripewise doctor build; }

step=$1
shift
case $step in
system) system "$@" ;;
venv) venv "${1:-}" ;;
native) native ;;
lustre-mpi) exec tools/lustre-mpi.sh ;;
peers)
    tools/peers.sh mpich
    exec tools/peers.sh openmpi
    ;;
*) echo "bootstrap: unknown step '$step'" >&2; exit 2 ;;
esac
