#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
#
# While a command runs, links in the job's directory lead large files to the burst buffer.
# Above this stand `place`, the directory there, and `names`, which calls a function with the
# number and the name of each file, and command.sh.  Usage: sh FILE COMMAND...
# shellcheck disable=SC2154,SC2317,SC3013

place=${place%/} # DataWarp's variables end so
made=$0.made # a link for each one that stands, which leads where that leads
job=${SLURM_JOB_ID:-0}

take() {
    number=$1 name=$2
    file=./$name there=$place/$name kept=./$name.stripewise-kept mark=$made/$job-$number
}

say() { printf 'stripewise: %s: %s\n' "$name" "$1" >&2; }

there_is() { [ -e "$1" ] || [ -L "$1" ]; }

target() { readlink "$1" && echo .; } # the dot keeps line ends at the end of a name

leads() { # a link to exactly this
    [ -L "$1" ] && [ "$(target "$1")" = "$(printf '%s\n.' "$2")" ]
}

restore() {
    if there_is "$kept" && ! there_is "$file"; then mv "$kept" "$file"; fi
}

take_stale_out() { # what a job left that ended early
    for old in "$made"/*-"$number"; do
        if ! [ -L "$old" ] || leads "$old" "$there"; then continue; fi
        if [ -L "$file" ] && [ "$(target "$file")" = "$(target "$old")" ]; then rm "$file"; fi
        restore
        rm "$old"
    done
}

copy_there() { # what was not staged in, or is newer
    if [ -e "$there" ] && ! [ "$file" -nt "$there" ]; then return 0; fi
    cp -p "$file" "$there" && return 0
    rm -f "$there"
    say "cannot be copied to the burst buffer, and is used where it is"
    return 1
}

make_link() {
    take "$@"
    take_stale_out
    if leads "$file" "$there" || [ -d "$file" ] || ! [ -d "${file%/*}" ]; then return 0; fi
    mkdir -p "${there%/*}" || return 0
    if [ -f "$file" ]; then
        if there_is "$kept"; then
            say "stays where it is, since $kept is there: see which is right, and remove the other"
            return 0
        fi
        copy_there && mv "$file" "$kept" || return 0
    elif [ -L "$file" ]; then
        return 0 # the user's own
    fi
    if ! { ln -sf "$there" "$mark" && ln -s "$there" "$file"; }; then
        rm -f "$mark"
        restore
    fi
}

follow_moved() { # links that the program gave other names, or second ones
    take "$@"
    [ -L "$mark" ] || return 0
    for other in "${file%/*}"/* "${file%/*}"/.[!.]*; do
        if [ "$other" != "$file" ] && leads "$other" "$there"; then move_to "${other#./}"; fi
    done
}

move_to() {
    if ! [ -e "$there" ]; then
        rm "./$1"
    elif [ -e "$place/$1" ] || leads "$file" "$there"; then
        cp -p "$there" "./$1.stripewise-copy" && mv "./$1.stripewise-copy" "./$1"
    elif mv "$there" "$place/$1"; then
        rm "./$1"
        for one in "$made/$job"-*; do
            if leads "$one" "$place/$1"; then ln -s "$place/$1" "./$1"; fi
        done
    fi
}

is_newer() { # written after the other got its name or its content; also where find cannot tell
    [ -e "$1" ] || return 1
    newer=$(find "$1" -prune -newermc "$2") || return 0
    [ -n "$newer" ]
}

take_link_out() {
    take "$@"
    [ -L "$mark" ] || return 0
    if leads "$file" "$there"; then
        rm "$file"
        restore
    elif there_is "$file"; then
        say "the program replaced its link: the result is in the job's directory"
        printf '%s\0' "$name" >>"$0.replaced"
        if is_newer "$there" "$file"; then
            mv "$there" "$there.stripewise-replaced"
        else
            rm -f "$there"
        fi
        rm -f "$kept"
    else # removed by the program
        rm -f "$there"
        restore
    fi
    rm -f "$mark"
}

mkdir -p "$made" || exit 1
(cd "${SLURM_SUBMIT_DIR:-.}" && names make_link) || exit 1
run_command "$@"
cd "${SLURM_SUBMIT_DIR:-.}" && names follow_moved && names take_link_out
exit "$code"
