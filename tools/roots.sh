#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
#
# Later Debians beside this one, for the tests: their MPIs, HDF5, PnetCDF, netCDF and ADIOS2, and what
# builds Stripewise there.
#   tools/roots.sh [SUITE...]   trixie (Debian 13) and forky (Debian 14) if none is given
# A root is the /usr and /etc of that Debian: its packages, resolved by apt and unpacked by dpkg, not
# configured, without documentation and static libraries.  That needs neither root nor mounts.  The
# mirror is the one that this machine's apt uses for Debian, or $DEBIAN_MIRROR.  It goes into
#   ${STRIPEWISE_CACHE:-${XDG_CACHE_HOME:-~/.cache}/stripewise}/roots/SUITE-CHECKSUM
# (of the list of packages), and SUITE beside it is a link to that.  What is there is not made again;
# what is half made is elsewhere, and removed by the next run.
set -eu
umask 022

revision=1 # of what is done with the packages
cache=${STRIPEWISE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/stripewise}/roots
case $cache in /*) ;; *) cache=$PWD/$cache ;; esac
keys=/usr/share/keyrings/debian-archive-keyring.gpg

# What programs are compiled and started with, then what `stripewise doctor build` needs.
packages() {
    echo "bash dash coreutils sed grep gcc g++ gfortran libc6-dev pkgconf
        mpich libmpich-dev openmpi-bin libopenmpi-dev libhdf5-mpich-dev libhdf5-openmpi-dev
        libnetcdf-mpi-dev libpnetcdf-dev libadios2-mpi-c-dev
        cmake make python3 python3-filelock"
    case $1 in
    trixie) echo libadios2-mpi-c++11-dev ;;
    *) echo libadios2-mpi-c++-dev ;;
    esac
}

fail() {
    echo "roots: $1" >&2
    exit 1
}

# Where this machine's apt gets Debian from; another distribution's apt knows no such place.
known_mirror() {
    # shellcheck disable=SC2016  # apt's own variable
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' \
        'Label: Debian' 'Component: main' | head -n 1
}

# apt as it is set up here, with sources, lists and archives of our own, on a machine without packages.
apt_get() {
    apt-get -qq -y -o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts=/dev/null \
        -o Dir::State="$work/state" -o Dir::State::status=/dev/null -o Dir::Cache="$work/cache" \
        -o APT::Sandbox::User="$(id -un)" -o APT::Install-Recommends=false \
        -o Debug::NoLocking=true -o Acquire::Retries=3 -o Acquire::Languages=none "$@"
}

# The steps are joined: where this is a condition, set -e does not hold.
download() {
    mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial" &&
        echo "deb [target=Packages$signed] $mirror $1 main" >"$work/sources.list" &&
        apt_get update || return 1
    # shellcheck disable=SC2046  # names of packages are words
    apt_get --download-only install $(packages "$1")
}

# As a Debian is laid out; every process unpacks some packages, whichever come next.
unpack() {
    mkdir -p "$work/tree/usr/bin" "$work/tree/usr/sbin" "$work/tree/usr/lib" "$work/tree/usr/lib64" &&
        (cd "$work/tree" && ln -s usr/bin usr/sbin usr/lib usr/lib64 .) || return 1
    # shellcheck disable=SC2016  # for the inner shell
    find "$work/cache/archives" -name '*.deb' -print0 |
        xargs -0 -P "$(nproc)" -n 8 sh -c 'for package; do
            dpkg-deb --fsys-tarfile "$package" | tar -x -C "$0" --keep-directory-symlink \
                --exclude ./usr/share/doc --exclude ./usr/share/man --exclude ./usr/share/info \
                --exclude ./usr/share/locale --exclude "./usr/bin/*lto-dump*" --exclude lto1 ||
                exit 255
        done' "$work/tree"
}

# Large archives of objects, and all that is neither programs nor their settings, have no use here.
# What packages would do when they are configured: the names of the compiler and of MPI's ABI.
arrange() {
    find "$work/tree/usr/lib" -name '*.a' -size +100k ! -path '*/gcc/*' -delete &&
        mkdir "$work/new" && mv "$work/tree/usr" "$work/tree/etc" "$work/new" || return 1
    ln -s gcc "$work/new/usr/bin/cc" || return 1
    for library in "$work/new/usr/lib"/*-linux-gnu/libmpi_abi_mpich.so.1.*; do
        [ ! -f "$library" ] || ln -s "${library##*/}" "${library%/*}/libmpi_abi.so.1" || return 1
    done
}

make_root() {
    suite=$1
    sum=$(packages "$suite" | cksum)
    name=$suite-$revision-${sum%% *}
    if [ ! -d "$cache/$name" ]; then
        mirror=${mirror:-$(known_mirror)}
        [ -n "$mirror" ] ||
            fail "apt knows no Debian mirror; run apt-get update, or set DEBIAN_MIRROR"
        echo "making a root of $suite: its packages from $mirror (a minute, once)"
        work=$(mktemp -d "$cache/.building.XXXXXX")
        for step in download unpack arrange; do
            "$step" "$suite" >"$work/log" 2>&1 || {
                tail -n 10 "$work/log" >&2
                fail "$suite: the step '$step' failed; the last lines are above"
            }
        done
        mv -T "$work/new" "$cache/$name"
        rm -rf "$work"
    fi
    [ "$(readlink "$cache/$suite" || :)" = "$name" ] || ln -sfnT "$name" "$cache/$suite"
}

for tool in apt-get dpkg-deb flock; do
    command -v "$tool" >/dev/null 2>&1 || fail "no $tool here: roots are made where Debian's apt is"
done
mkdir -p "$cache" 2>/dev/null || fail "cannot make $cache; set STRIPEWISE_CACHE to another place"
mirror=${DEBIAN_MIRROR:-}
signed=""
[ ! -f "$keys" ] || signed=" signed-by=$keys"
work=""
exec 9>"$cache/.lock"
flock 9
rm -rf "$cache"/.building.*
trap '[ -z "$work" ] || rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
[ $# -gt 0 ] || set -- trixie forky
for wanted in "$@"; do
    make_root "$wanted"
done
