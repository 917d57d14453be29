#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
#
# A job script works in a directory of its own on fast storage: inputs are copied there, and what
# is new or changed is copied back when it ends, however that is.  Above this stand command.sh,
# `names`, which calls a function with the name of each input, and the variables
#   place   directory on the fast storage        variable  that is to name the job's own; may be ""
#   from    directory of the inputs              stays     the script works where it is, if not ""
#   to      directory for the results            newer     how find tells that a file is older than the job
# Usage: sh FILE SCRIPT [ARGUMENT...]
# shellcheck disable=SC2154,SC2317,SC3013

place=${place%/}
job=${SLURM_JOB_ID:-0}

say() { printf 'stripewise: %s\n' "$1" >&2; }

check_shared() { # as the study does, see launch/_staging.py
    [ "${SLURM_JOB_NUM_NODES:-1}" -gt 1 ] || return 0
    case $(stat -f -c %T "$place/." 2>/dev/null) in
        bcachefs | btrfs | ext2/ext3 | f2fs | jfs | overlayfs | ramfs | reiserfs | tmpfs | xfs | zfs) ;;
        *) return 0 ;;
    esac
    say "$place is storage of each node, which the $SLURM_JOB_NUM_NODES nodes of the job cannot \
share: ask for one node, or name a place that all nodes see"
    exit 1
}

bring() {
    if [ -e "$from/$1" ]; then cp -RHp "$from/$1" "$work/" || is_whole=; fi
}

is_as_it_was() { # an input that the script did not change
    if [ -L "$1" ]; then
        [ -L "$from/$1" ] && [ "$(readlink "$1" && echo .)" = "$(readlink "$from/$1" && echo .)" ]
    else
        [ -f "$from/$1" ] && ! [ "$1" -nt "$from/$1" ] && ! [ "$1" -ot "$from/$1" ]
    fi
}

was_changed() { # since the job began; also where find cannot tell
    [ -e "$1" ] || return 1
    older=$(find "$mark" -prune "$newer" "$1") || return 0
    [ -z "$older" ]
}

target_of() { # not what somebody else changed since the job began
    target=$to/${1#./}
    if [ -d "$target" ] && ! [ -L "$target" ]; then
        target=$target.stripewise-$job
    elif was_changed "$target"; then
        say "$target was changed meanwhile: the result is in $target.stripewise-$job"
        target=$target.stripewise-$job
    fi
}

copy_back() {
    failed=0
    for file do
        if is_as_it_was "$file"; then continue; fi
        target_of "$file"
        mkdir -p "${target%/*}" && cp -Pp "$file" "$to/.stripewise-$job-copy" &&
            mv -f "$to/.stripewise-$job-copy" "$target" || failed=1
    done
    return "$failed"
}

make_folders() {
    for file do
        [ -d "$from/$file" ] || mkdir -p "$to/${file#./}" || return 1
    done
}

if [ "$1" = --back ]; then
    shift
    copy_back "$@"
    exit
elif [ "$1" = --folders ]; then
    shift
    make_folders "$@"
    exit
fi

case $0 in /*) self=$0 ;; *) self=$PWD/$0 ;; esac
case $1 in /*) script=$1 ;; *) script=$PWD/$1 ;; esac
shift
[ -d "$place" ] || { say "$place: there is no such directory in this job"; exit 1; }
check_shared
own=$place/stripewise-$job-$$ mark=$self.$job-$$
work=$own/work
trap 'rm -rf "$own" "$mark"; exit 143' HUP INT TERM
mkdir -m 700 "$own" || exit 1
is_whole=1
mkdir "$work" && : >"$mark" || is_whole=
names bring
chmod u+rwx "$work"
if [ -z "$is_whole" ]; then
    say "not all inputs could be copied to $own: is there room?"
    rm -rf "$own" "$mark"
    exit 1
fi
export STRIPEWISE_IN_PLACE="$job" STRIPEWISE_STAGE="$work"
[ -z "$variable" ] || export "$variable=$work"
if [ -z "$stays" ]; then
    export SLURM_SUBMIT_DIR="$work"
    cd "$work" || exit 1
fi
session=
if command -v setsid >/dev/null; then session=setsid; fi
run_command $session "$script" "$@"
trap '' HUP INT TERM USR1 USR2
if [ -n "$session" ] && kill -s TERM -- "-$child" 2>/dev/null; then # what the script left behind
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        kill -s 0 -- "-$child" 2>/dev/null || break
        sleep 1
    done
    kill -s KILL -- "-$child" 2>/dev/null
fi
export self mark # find would take {} in a path for one of its files
# shellcheck disable=SC2016
mkdir -p "$to" && cd "$work" &&
    find . -type d -exec sh -c 'sh "$self" --folders "$@"' sh {} + &&
    find . \( -type f -o -type l \) -exec sh -c 'sh "$self" --back "$@"' sh {} +
is_back=$?
rm -f "$mark"
if [ "$is_back" != 0 ]; then
    say "not all results could be copied to $to: they are in $work on $(uname -n)"
    [ "$code" != 0 ] || code=1
else
    cd / && rm -rf "$own"
fi
exit "$code"
