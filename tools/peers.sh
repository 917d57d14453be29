#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
#
# The programs of others that Stripewise is compared with, and whose output it reads: IOR, mdtest
# (hpc/ior) and benchio (davidhenty/benchio).  Only tests and benchmarks use them.
#   STRIPEWISE_PEERS=DIRECTORY tools/peers.sh [mpich|openmpi]
# DIRECTORY holds their source archives, ior-*.tar.gz and benchio-*.tar.gz.  They are built with
# MPI-IO and HDF5, benchio also with NetCDF where the MPI has it (Debian: Open MPI), and go into
#   ${STRIPEWISE_CACHE:-${XDG_CACHE_HOME:-~/.cache}/stripewise}/peers-IOR-BENCHIO-FAMILY-VERSION-N
# and `peers-FAMILY` beside it is a link to that.  What is there is not built again; what is half
# built is elsewhere.
set -eu
umask 022
here=$PWD
cd "$(dirname "$0")/.."

family=${1:-mpich}
revision=1 # of the options below
cache=${STRIPEWISE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/stripewise}
case $cache in /*) ;; *) cache=$here/$cache ;; esac
archives=${STRIPEWISE_PEERS:-}
case ${archives:-/} in /*) ;; *) archives=$here/$archives ;; esac

fail() {
    echo "peers: $1" >&2
    exit 1
}

# The wrapper of a language in that family: Debian's name first.
wrapper() {
    for name in "$1.$family" "$1"; do
        if command -v "$name" >/dev/null 2>&1; then
            command -v "$name"
            return 0
        fi
    done
    fail "no $1.$family and no $1 on PATH; install the development files of $family"
}

# Version of the MPI behind a C wrapper; empty if it is of another family.
mpi_version() {
    case $family in
    openmpi) words="OMPI_MAJOR_VERSION.OMPI_MINOR_VERSION.OMPI_RELEASE_VERSION" ;;
    mpich) words="MPICH_VERSION" ;;
    *) fail "unknown MPI '$family'; give openmpi or mpich" ;;
    esac
    printf '#include <mpi.h>\nSW_FOUND %s\n' "$words" | "$1" -E -x c - |
        sed -n '/^SW_FOUND/{s/^SW_FOUND//;s/[" ]//g;/^[0-9][0-9.a-z]*$/p;}'
}

# The archive of a name: the last one in order.
archive() {
    found=
    for file in "$archives/$1"-*.tar.gz; do
        [ -f "$file" ] && found=$file
    done
    [ -n "$found" ] || fail "no $1-*.tar.gz in $archives"
    echo "$found"
}

# A compiler's option of a library, as pkg-config or Debian's directories have it.
hdf5() {
    if pkg-config --exists "hdf5-$family" 2>/dev/null; then
        pkg-config "$1" "hdf5-$family"
    fi
}

# The steps are joined: where this is a condition, set -e does not hold.
build_ior() {
    with=
    [ -n "$(hdf5 --libs)" ] && with=--with-hdf5=yes
    mkdir "$work/ior" && tar -xzf "$ior" -C "$work/ior" --strip-components 1 &&
        cd "$work/ior" && ./bootstrap &&
        ./configure CC="$mpicc" MPICC="$mpicc" CFLAGS="-O2 -w" CPPFLAGS="$(hdf5 --cflags)" \
            LDFLAGS="$(hdf5 --libs-only-L)" $with &&
        make -j 2 && cp src/ior src/mdtest "$work/stage/bin"
}

# shellcheck disable=SC2046  # options are words
build_benchio() {
    mkdir "$work/benchio" && tar -xzf "$benchio" -C "$work/benchio" --strip-components 1 &&
        cd "$work/benchio" || return 1
    netcdf="$own/no_netcdf.f90"
    library=
    if [ "$family" = openmpi ] && pkg-config --exists netcdf-mpi 2>/dev/null; then
        netcdf="$own/netcdf_over_c.f90 netcdf.f90"
        library="$(pkg-config --libs netcdf-mpi)"
    fi
    # shellcheck disable=SC2086  # files and options are words
    "$mpif90" -O3 -w $(hdf5 --cflags) benchutil.f90 mpiio.f90 serial.f90 hdf5.f90 $netcdf \
        "$own/no_adios.f90" benchio.f90 -o "$work/stage/bin/benchio" \
        $(hdf5 --libs-only-L) -lhdf5_fortran -lhdf5 $library
}

mpicc=$(wrapper mpicc)
mpif90=$(wrapper mpif90)
mpi=$(mpi_version "$mpicc")
[ -n "$mpi" ] || fail "$mpicc does not compile, or is not of $family"
[ -n "$archives" ] ||
    fail "set STRIPEWISE_PEERS to the directory of ior-*.tar.gz and benchio-*.tar.gz"
ior=$(archive ior)
benchio=$(archive benchio)
names=$(basename "$ior" .tar.gz)-$(basename "$benchio" .tar.gz)
prefix=$cache/peers-$names-$family-$mpi-$revision
if [ ! -x "$prefix/bin/benchio" ]; then
    for tool in autoreconf automake gfortran pkg-config; do
        command -v "$tool" >/dev/null 2>&1 ||
            fail "no $tool on PATH (Debian packages autoconf, automake, gfortran, pkg-config)"
    done
    own=$PWD/tools/peers
    mkdir -p "$cache" 2>/dev/null || fail "cannot make $cache; set STRIPEWISE_CACHE to another place"
    work=$(mktemp -d "$cache/.building.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    trap 'exit 1' HUP INT TERM
    mkdir -p "$work/stage/bin"
    echo "building IOR, mdtest and benchio with $mpicc: a minute, once"
    if ! (build_ior && build_benchio) >"$work/log" 2>&1; then
        tail -n 30 "$work/log" >&2
        fail "they cannot be built with $mpicc and $mpif90; the last lines are above"
    fi
    # Whoever was first wins; both are the same.
    mv -T "$work/stage" "$prefix" 2>/dev/null || [ -x "$prefix/bin/benchio" ] ||
        fail "cannot move them to $prefix"
    echo "IOR, mdtest and benchio for $family $mpi: $prefix/bin"
fi
[ "$(readlink "$cache/peers-$family" || :)" = "$(basename "$prefix")" ] ||
    ln -sfnT "$(basename "$prefix")" "$cache/peers-$family"
