#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
#
# MPICH with ROMIO's Lustre driver, which no Debian package has.  It needs no Lustre: a header of
# our own (native/lustre) stands for Lustre's, and `stripewise run --on` answers what it asks.
#   tools/lustre-mpi.sh
# The source is Debian's (apt-get source, with apt's own mirrors), or $MPICH_SOURCE, a directory or
# tarball of MPICH 4.0.2.  It is installed into
#   ${STRIPEWISE_CACHE:-${XDG_CACHE_HOME:-~/.cache}/stripewise}/lustre-mpi-VERSION-REVISION
# and `lustre-mpi` beside it is a link to that.  What is there is not built again; what is half
# built is elsewhere.
set -eu
umask 022
here=$PWD
cd "$(dirname "$0")/.."

version=4.0.2
package=4.0.2-3
sha256=b27039f964afeb6b8a3e009c56b441cbe368c26d6d6476ad3bb7190996875860
revision=1 # of the options below and the header
cache=${STRIPEWISE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/stripewise}
case $cache in /*) ;; *) cache=$here/$cache ;; esac # names go into files
case ${MPICH_SOURCE:-/} in /*) ;; *) MPICH_SOURCE=$here/$MPICH_SOURCE ;; esac
prefix=$cache/lustre-mpi-$version-$revision

fail() {
    echo "lustre-mpi: $1" >&2
    exit 1
}

link() {
    [ "$(readlink "$cache/lustre-mpi" || :)" = "$(basename "$prefix")" ] ||
        ln -sfnT "$(basename "$prefix")" "$cache/lustre-mpi"
}

# apt's sources, asked for sources, with lists and archives of our own: no root, nothing changed.
apt_get() {
    apt-get -qq -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$work/apt/sources" \
        -o "Dir::State::lists=$work/apt/lists" -o "Dir::Cache=$work/apt/cache" \
        -o APT::Sandbox::User="$(id -un)" -o APT::Get::List-Cleanup=0 "$@"
}

sources() {
    mkdir -p "$work/apt/sources" "$work/apt/lists/partial" "$work/apt/cache/archives/partial"
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
        [ -f "$file" ] || continue
        sed -n 's/^deb[[:space:]]/deb-src /p' "$file" \
            >"$work/apt/sources/$(basename "$file" .list).list"
    done
    for file in /etc/apt/sources.list.d/*.sources; do
        [ -f "$file" ] || continue
        sed 's/^Types:.*/Types: deb-src/' "$file" >"$work/apt/sources/$(basename "$file")"
    done
}

download() {
    command -v apt-get >/dev/null 2>&1 ||
        fail "no apt-get here; set MPICH_SOURCE to the directory or tarball of MPICH $version"
    echo "downloading the source of MPICH $version"
    sources
    (apt_get update || :; cd "$work" && apt_get --download-only source "mpich=$package") \
        >"$work/log" 2>&1 || {
        tail -n 5 "$work/log" >&2
        fail "apt-get has no source of mpich $package; set MPICH_SOURCE to MPICH $version"
    }
    echo "$sha256  $work/mpich_$version.orig.tar.xz" | sha256sum --check --quiet --strict ||
        fail "the downloaded mpich_$version.orig.tar.xz is not the one that was tried; not used"
    MPICH_SOURCE=$work/mpich_$version.orig.tar.xz
}

# Puts the source in $source.
unpack() {
    [ -n "${MPICH_SOURCE:-}" ] || download
    source=$MPICH_SOURCE
    [ -e "$source" ] || fail "MPICH_SOURCE=$source does not exist; give a directory or tarball"
    if [ ! -d "$source" ]; then
        source=$work/source
        mkdir "$source"
        tar -xf "$MPICH_SOURCE" -C "$source" --strip-components 1 2>"$work/log" ||
            fail "$MPICH_SOURCE cannot be unpacked (Debian package xz-utils)"
    fi
    grep -qF "[$version]" "$source/maint/version.m4" 2>/dev/null ||
        fail "$MPICH_SOURCE is not MPICH $version"
}

# ch3:sock waits in poll() where the other channels spin: more ranks than processors are no harm.
# MPILIBNAME is Debian's: programs that are linked with its MPICH run with this one too.
# The final name goes into its files; they are put elsewhere first.  The steps are joined: where
# this is a condition, set -e does not hold.
build() {
    mkdir "$work/build" && cd "$work/build" &&
        MPILIBNAME=mpich CC="$cc" CFLAGS="-O1 -w" CPPFLAGS="-I$native/lustre" \
            "$source/configure" --prefix="$prefix" --with-device=ch3:sock \
            --with-datatype-engine=dataloop --with-file-system=ufs+lustre --with-pm=hydra \
            --enable-fast=none --disable-fortran --disable-cxx --disable-static \
            --disable-dependency-tracking &&
        make -j "$(nproc)" V=0 && make install V=0 DESTDIR="$work/stage"
}

# Programs that were linked with Debian's MPICH find this library instead.
launchers() {
    for name in mpiexec mpirun; do
        rm -f "$work/stage$prefix/bin/$name"
        cat >"$work/stage$prefix/bin/$name" <<END
#!/bin/sh
export LD_LIBRARY_PATH="$prefix/lib\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}"
exec "$prefix/bin/mpiexec.hydra" "\$@"
END
        chmod 755 "$work/stage$prefix/bin/$name"
    done
}

if [ -x "$prefix/bin/mpiexec" ]; then
    link
    exit 0
fi
cc=$(command -v "${CC:-gcc}") || fail "no ${CC:-gcc} on PATH (Debian package gcc)"
native=$PWD/native
mkdir -p "$cache" 2>/dev/null || fail "cannot make $cache; set STRIPEWISE_CACHE to another place"
work=$(mktemp -d "$cache/.building.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
unpack
echo "building MPICH $version with ROMIO's Lustre driver: some minutes, once"
if ! (build) >"$work/log" 2>&1; then
    tail -n 30 "$work/log" >&2
    fail "it cannot be built with $cc; the last lines are above"
fi
launchers
# Whoever was first wins; both are the same.
mv -T "$work/stage$prefix" "$prefix" 2>/dev/null || [ -x "$prefix/bin/mpiexec" ] ||
    fail "cannot move it to $prefix"
link
echo "MPICH $version with ROMIO's Lustre driver: $prefix"
