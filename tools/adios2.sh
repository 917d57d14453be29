#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
#
# ADIOS2 with MPI, for the kernel's back end: no Debian package has it, and the Python package
# is serial, but its source distribution is the whole project.
#   tools/adios2.sh [openmpi|mpich]
# Builds with mpicc.FAMILY (or mpicc where there is no such name) and installs into
#   ${STRIPEWISE_CACHE:-${XDG_CACHE_HOME:-~/.cache}/stripewise}/adios2-VERSION-FAMILY-VERSION-gccN
# which outlives the checkout.  What is there is not built again; what is half built is elsewhere.
set -eu
umask 022

family=${1:-openmpi}
version=2.12.1.1001
sha256=f3bf3a6e64b800351a091d4fc70cc8437041c36c81f90f01697b81f168b6adb0
python=$(dirname "$0")/../.venv/bin/python
cache=${STRIPEWISE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/stripewise}
case $cache in /*) ;; *) cache=$PWD/$cache ;; esac # names go into files

# All but the file engines and bpls: nothing else is asked of it here.
left_out="AWSSDK BZip2 BigWhoop Blosc2 CUDA CURL Caliper Campaign Catalyst DAOS DataMan DataSpaces
    Derived_Variable Fortran HDF5 HDF5_VOL IME KVCACHE Kokkos LIBPRESSIO MGARD MHS OpenSSL PNG
    PRODM Profiling Python SST SZ SZ3 Sodium SysVShMem UCX XRootD ZFP ZeroMQ"

fail() {
    echo "adios2: $1" >&2
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

unpack() {
    echo "downloading ADIOS2 $version"
    "$python" -m pip download --quiet --disable-pip-version-check --no-deps --no-binary adios2 \
        --dest "$work" "adios2==$version"
    echo "$sha256  $work/adios2-$version.tar.gz" | sha256sum --check --quiet --strict ||
        fail "the downloaded adios2-$version.tar.gz is not the one that was tried; not used"
    tar -xzf "$work/adios2-$version.tar.gz" -C "$work"
}

# The final name goes into its files; they are put elsewhere first.  The steps are joined: where
# this is a condition, set -e does not hold.
build() {
    options=""
    for name in $left_out; do
        options="$options -DADIOS2_USE_$name=OFF"
    done
    generator="Unix Makefiles"
    command -v ninja >/dev/null 2>&1 && generator=Ninja
    # shellcheck disable=SC2086,SC2016  # options are words; $ORIGIN is the loader's
    cmake -S "$work/adios2-$version" -B "$work/build" -G "$generator" $options \
        -DADIOS2_USE_MPI=ON -DMPI_C_COMPILER="$mpicc" -DMPI_CXX_COMPILER="$mpicxx" \
        -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" \
        -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE="-O2 -ftree-vectorize -DNDEBUG" \
        -DBUILD_SHARED_LIBS=ON -DBUILD_TESTING=OFF \
        -DADIOS2_BUILD_EXAMPLES=OFF -DCMAKE_INSTALL_PREFIX="$prefix" \
        -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_INSTALL_RPATH='$ORIGIN:$ORIGIN/../lib' &&
        cmake --build "$work/build" --parallel "$(nproc)" &&
        DESTDIR="$work/stage" cmake --install "$work/build"
}

mpicc=$(wrapper mpicc)
mpicxx=$(wrapper mpicxx)
mpi=$(mpi_version "$mpicc")
[ -n "$mpi" ] || fail "$mpicc does not compile, or is not of $family"
cc=$(command -v "${CC:-gcc}") || fail "no ${CC:-gcc} on PATH (Debian package gcc)"
cxx=$(command -v "${CXX:-g++}") || fail "no ${CXX:-g++} on PATH (Debian package g++)"
prefix="$cache/adios2-$version-$family-$mpi-$(basename "$cc")$("$cc" -dumpversion)"
[ -e "$prefix/include/adios2_c.h" ] && exit 0

mkdir -p "$cache"
work=$(mktemp -d "$cache/.building.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
unpack
echo "building ADIOS2 $version with $mpicc: some minutes, once"
if ! build >"$work/log" 2>&1; then
    tail -n 30 "$work/log" >&2
    fail "it cannot be built with $mpicc and $cxx; the last lines are above"
fi
# Whoever was first wins; both are the same.
mv -T "$work/stage$prefix" "$prefix" 2>/dev/null || [ -e "$prefix/include/adios2_c.h" ] ||
    fail "cannot move it to $prefix"
echo "ADIOS2 $version for $family $mpi: $prefix"
