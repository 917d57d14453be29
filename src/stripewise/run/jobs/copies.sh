#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
#
# A job script works in a directory of its own on fast storage: inputs are copied there when it
# begins, and what it changed is copied back when it ends, however that is.  Above this stand
# command.sh, the functions
#   inputs        calls its argument with the paths of all that may be an input
#   is_left_out   whether a path below `from` is no input: a log, or a file of ours
#   make_folders  makes directories that the program needs for its outputs
# and the variables
#   place     directory on the fast storage        variable  that is to name the job's own; may be ""
#   source    directory of the inputs              stays     the script works where it is, if not ""
#   results   directory for what is changed        newer     how find tells that a file is older than the job
#   shared    all nodes see the storage, if not ""   outlives  it is there after the job, if not ""
#   unsaved   directory to which the batch system copies what a job that is killed leaves there; or ""
# Without `source` inputs are those of the directory in which the job begins; without `results`,
# what is changed goes to where inputs come from.
# Usage: sh FILE SCRIPT [ARGUMENT...]
# shellcheck disable=SC2154,SC2317,SC3013

job=${SLURM_JOB_ID:-0}
line_end='
'

say() { printf 'stripewise: %s\n' "$1" >&2; }

there_is() { [ -e "$1" ] || [ -L "$1" ]; }

is_input() { there_is "$1" && [ "$1" != "$to" ] && ! is_left_out "${1#"$from"/}"; }

for_parts() { # what calls of this file for one part of it know from there
    export from to own work mark copy self lock job newer line_end real_from real_work
}

# --- before the script ---------------------------------------------------------------------

check_shared() { # as the study does, see launch/_staging.py
    nodes=${SLURM_JOB_NUM_NODES:-1}
    if [ "${SLURM_HET_SIZE:-1}" -gt "$nodes" ]; then nodes=$SLURM_HET_SIZE; fi
    if [ -n "$shared" ] || [ "$nodes" -le 1 ]; then return 0; fi
    case $(stat -f -c %T "$place/." 2>/dev/null) in
        bcachefs | btrfs | ext2/ext3 | f2fs | jfs | overlayfs | ramfs | reiserfs | tmpfs | xfs | zfs) ;;
        *) return 0 ;;
    esac
    say "$place is storage of each node, which the $nodes nodes of the job cannot \
share: ask for one node, or name a place that all nodes see"
    exit 1
}

in_parts() { # calls a function with some of the paths at a time, but for those that are no inputs
    part=$1 is_first=1
    shift
    for entry do
        if [ -n "$is_first" ]; then set -- && is_first=; fi
        is_input "$entry" || continue
        set -- "$@" "$entry"
        if [ $# -ge 100 ]; then
            "$part" "$@" || return 1
            set --
        fi
    done
    if [ $# -eq 0 ] || [ -n "$is_first" ]; then return 0; fi
    "$part" "$@"
}

bring_all() { in_parts bring "$@"; }

bring() { cp -RPp "$@" "$work/" || is_whole=; }

bring_files() { # large ones alone
    for entry do
        if ! is_input "$entry" || ! [ -f "$entry" ]; then continue; fi
        name=${entry#"$from"/}
        case $name in */*) mkdir -p "$work/${name%/*}" ;; esac
        cp -Lp "$entry" "$work/$name" || is_whole=
        if [ -L "$entry" ]; then keep_name "$name"; fi
    done
}

keep_name() { # tells whether the script writes to this copy, or puts another file in its place
    case $1 in */*) mkdir -p "$own/linked/${1%/*}" ;; *) mkdir -p "$own/linked" ;; esac
    ln "$work/$1" "$own/linked/$1" 2>/dev/null
}

find_several() { in_parts find_several_below "$@"; }

find_several_below() {
    find "$@" -type f -links +1 -exec sh -c 'sh "$self" --several "$@"' sh {} + 2>/dev/null
}

name_again() { # the names of one file are names of one copy
    for path do
        name=${path#"$from"/}
        if ! [ -f "$work/$name" ] || ! number=$(stat -c %i "$path"); then continue; fi
        first=$own/several/$number
        if [ -e "$first" ]; then ln -f "$first" "$work/$name"; else ln "$work/$name" "$first"; fi
        keep_name "$name"
    done 2>/dev/null
    return 0
}

settle() { # links lead where they led: in the copy, or outside; files outside are copied
    for link do
        name=${link#./}
        real=$(readlink -f "$from/$name" && echo .)
        real=${real%?.}
        case $real in
            "$real_from"/*)
                wanted=$real_work/${real#"$real_from"/}
                [ "$(readlink -f "$link")" != "$wanted" ] || continue
                if ! there_is "$wanted"; then wanted=$real; fi
                ;;
            *)
                wanted=$real
                if [ -f "$real" ]; then
                    rm "$link" && cp -p "$real" "$link" || return 1
                    keep_name "$name"
                    continue
                fi
                [ -n "$real" ] || continue
                ;;
        esac
        rm "$link" && ln -s "$wanted" "$link" || return 1
    done
}

lacking() { # what could not be copied of what the job can read
    for path do
        [ ! -r "$path" ] || cmp -s "$path" "$work/${path#"$from"/}" || echo lacking
    done
}

find_lacking() {
    for entry do
        if ! is_input "$entry" || { [ -n "$stays" ] && ! [ -f "$entry" ]; }; then continue; fi
        find "$entry" -type f -exec sh -c 'sh "$self" --lacking "$@"' sh {} + 2>/dev/null
    done
}

stage_in() {
    is_whole=1
    if [ -n "$stays" ]; then inputs bring_files; else inputs bring_all; fi
    chmod u+rwx "$work"
    if [ -z "$is_whole" ] && [ -n "$(inputs find_lacking)" ]; then return 1; fi
    make_folders && remove_logs || return 1
    if [ -z "$stays" ]; then
        (cd "$work" && find . -type l -exec sh -c 'sh "$self" --settle "$@"' sh {} +) || return 1
    fi
    if [ -z "$stays" ]; then mkdir "$own/several" && inputs find_several; fi
    find "$own/several" -type f -exec stat -c '%i %h' {} + >"$own/numbers" 2>/dev/null
    (cd "$work" && find . -type f -o -type l -o -type d) >"$own/names" || return 1
    (cd "$work" && find . -type d -exec stat -c "inode %i %n${line_end}mode %a %n" {} +) \
        >"$own/folders" 2>/dev/null
    touch -t 197001020000 "$own/oldest" && : >"$own/begun" || return 1
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25; do
        : >"$own/later" # what the script changes must be newer than `begun`, by any clock
        [ -z "$(find "$own/later" -newer "$own/begun")" ] || return 0
        sleep 0.05 2>/dev/null || sleep 1
    done
}

# --- after the script ----------------------------------------------------------------------

was_changed() { # since the job began; also where find cannot tell
    there_is "$1" || return 1
    by=$newer
    # where it has several names, what is done to others of them changes it too
    if [ -e "$own/linked/${1#"$to"/}" ] && ! [ -L "$1" ]; then by=-newer; fi
    older=$(find "$mark" -prune "$by" "$1") || return 0
    [ -z "$older" ]
}

is_as_it_was() { # an input that the script did not change, where find cannot tell
    if [ -n "$since" ]; then return 1; fi
    if [ -L "$1" ]; then
        [ -L "$from/$1" ] && [ "$(readlink "$1" && echo .)" = "$(readlink "$from/$1" && echo .)" ]
    else
        [ -f "$from/$1" ] && ! [ "$1" -nt "$from/$1" ] && ! [ "$1" -ot "$from/$1" ]
    fi
}

is_there() { # the same file, or the same link, already
    if [ -L "$to/$1" ]; then
        [ -L "./$1" ] && [ "$(readlink "$to/$1" && echo .)" = "$text." ]
    else
        [ -z "$text" ] && [ -f "$to/$1" ] && cmp -s "./$1" "$to/$1"
    fi
}

alone() { # no other job of this script does so at the same time
    if [ -w "$lock" ] && command -v flock >/dev/null; then
        (flock -w 60 8 && "$@") 8<>"$lock"
    else
        "$@"
    fi
}

set_aside() { # what the script put something else in the place of; not what somebody else changed
    if was_changed "$to/$1"; then return 1; fi
    changed=$(find "$to/$1" "${since:--newer}" "$mark") && [ -z "$changed" ] || return 1
    aside=$to/removed.stripewise-$job/$1
    mkdir -p "${aside%/*}" && mv -f "$to/$1" "$aside"
}

put() { # in the place of the target, but not of what somebody else changed since the job began
    target=$to/$1
    if [ -d "$target" ] && ! [ -L "$target" ]; then
        if ! set_aside "$1"; then
            say "$target is a directory, which was changed meanwhile: the result is in $target.stripewise-$job"
            target=$target.stripewise-$job
        fi
    elif was_changed "$target"; then
        if is_there "$1"; then
            rm -f "$copy"
            return
        fi
        say "$target was changed meanwhile: the result is in $target.stripewise-$job"
        target=$target.stripewise-$job
    fi
    if [ -f "$target" ] && [ -f "./$1" ] && ! [ -w "${target%/*}" ]; then
        cp "./$1" "$target" && rm -f "$copy"
        return
    fi
    if [ -L "$target" ]; then rm -f "$target"; fi # mv would follow one to a directory
    mv -f "$copy" "$target"
}

has_its_names() { # no other file was put in the place of one of them
    number=$(stat -c '%i' "./$1" 2>/dev/null) || return 0
    names=$(sed -n "s/^$number //p" "$own/numbers")
    [ -z "$names" ] || [ "$(stat -c %h "./$1")" -ge "$names" ]
}

take_mode() {
    mode=$(stat -c %a "./$1" 2>/dev/null) && chmod "$mode" "$to/$1" 2>/dev/null
}

write_through() { # to the file that a link leads to, or that has other names, as the script would have done
    real=$(readlink -f "$to/$1" && echo .)
    ! was_changed "${real%?.}" && cp "./$1" "$to/$1"
}

make_place() {
    case $1 in */*) [ -d "$to/${1%/*}" ] || mkdir -p "$to/${1%/*}" ;; esac
}

back_link() {
    text=$(readlink "./$1" && echo .)
    text=${text%.}
    case $text in # the directory of the job goes away
        "$work"/*) text=$to/${text#"$work"/} ;;
        "$real_work"/*) text=$to/${text#"$real_work"/} ;;
    esac
    if is_there "$1"; then return 0; fi
    make_place "$1" && rm -f "$copy" && ln -s "${text%?}" "$copy" && alone put "$1"
}

back_file() {
    text=
    if is_there "$1"; then
        if was_changed "$to/$1"; then return 0; fi
        touch -c -m -r "./$1" "$to/$1" 2>/dev/null
        take_mode "$1"
        return 0
    fi
    if [ "$to" = "$from" ] && [ "./$1" -ef "$own/linked/$1" ] && has_its_names "$1"; then
        if alone write_through "$1"; then return; fi
    fi
    make_place "$1" && cp -Pp "./$1" "$copy" && alone put "$1"
}

copy_back() {
    failed=0
    for file do
        name=${file#./}
        if is_as_it_was "$name" || is_elsewhere "$name"; then continue; fi
        if [ -L "$file" ]; then back_link "$name"; else back_file "$name"; fi || failed=1
    done
    return "$failed"
}

is_folder() { [ -d "$1" ] && ! [ -L "$1" ]; }

make_way() { # another job may have done so meanwhile, and have made it or not yet
    is_folder "$to/$1" || ! there_is "$to/$1" || set_aside "$1"
}

put_elsewhere() { # a directory in whose place somebody put something else
    say "$to/$1 was changed meanwhile, and is no directory: the result is in $to/$1.stripewise-$job"
    cp -RPp "./$1" "$to/$1.stripewise-$job" && printf '%s\n' "$1" >>"$own/elsewhere"
}

is_elsewhere() {
    if ! [ -s "$own/elsewhere" ]; then return 1; fi
    while IFS= read -r top; do
        case $1 in "$top"/*) return 0 ;; esac
    done <"$own/elsewhere"
    return 1
}

copy_folders() { # before what is in them: a file must not get to where a link leads
    for folder do
        name=${folder#./}
        if [ "$folder" = . ] || is_folder "$to/$name" || is_elsewhere "$name"; then continue; fi
        if there_is "$to/$name"; then
            if ! alone make_way "$name"; then
                put_elsewhere "$name" || return 1
                continue
            fi
        elif is_folder "$from/$name"; then
            continue
        fi
        mkdir -p "$to/$name" || return 1
        take_mode "$name"
        chmod u+rwx "$to/$name"
    done
}

is_as_begun() { # a folder, whose name or mode may have changed
    case $2 in *"$line_end"*) return 1 ;; esac
    fact=$(stat -c "$1 %n" "$2" 2>/dev/null) && grep -Fxq -e "$fact" "$own/folders"
}

back_moved() { # what is in folders that got another name is as old as it was
    for folder do
        if [ "$folder" = . ] || is_as_begun "inode %i" "$folder"; then continue; fi
        find "$folder" -type d -exec sh -c 'sh "$self" --folders "$@"' sh {} + &&
            find "$folder" \( -type f -o -type l \) ! "$since" "$own/begun" \
                -exec sh -c 'sh "$self" --back "$@"' sh {} + || return 1
    done
}

set_modes() {
    for folder do
        if [ "$folder" = . ] || is_as_begun "mode %a" "$folder"; then continue; fi
        if [ -d "$to/${folder#./}" ]; then take_mode "${folder#./}"; fi
    done
    return 0
}

take_out() { # what the script removed, as far as it was there and nobody changed it since
    for path do
        name=${path#"$from"/}
        if there_is "$work/$name" || is_left_out "$name"; then continue; fi
        if [ -d "$path" ] && ! [ -L "$path" ]; then continue; fi
        grep -Fxq -e "./$name" "$own/names" || continue # the user may have moved others here
        alone take_aside "$name" || return 1
    done
}

take_aside() {
    if was_changed "$from/$1" || ! [ -f "$own/oldest" ]; then return 0; fi
    there=$from/removed.stripewise-$job/$1
    mkdir -p "${there%/*}" && mv -f "$from/$1" "$there"
}

take_folders_out() { # those in which there still is something stay
    for path do
        name=${path#"$from"/}
        if there_is "$work/$name" || is_left_out "$name"; then continue; fi
        if grep -Fxq -e "./$name" "$own/names"; then rmdir "$path" 2>/dev/null; fi
    done
    return 0
}

find_removed() { in_parts find_removed_below "$@"; }

find_removed_below() {
    if [ -n "$stays" ]; then
        take_out "$@"
        return
    fi
    find "$@" \( -type f -o -type l \) -exec sh -c 'sh "$self" --removed "$@"' sh {} + || return 1
    find "$@" -depth -type d -exec sh -c 'sh "$self" --emptied "$@"' sh {} + 2>/dev/null
    return 0 # some are gone now
}

stage_out() {
    since=
    if find "$own/begun" -newercm "$own/begun" >/dev/null 2>&1; then since=-newercm; fi
    export since
    cd "$work" || return 1
    # find would take {} in a path for one of its files
    # shellcheck disable=SC2016
    find . -type d ${since:+"$since" "$own/begun"} \
        -exec sh -c 'sh "$self" --folders "$@"' sh {} + &&
        find . \( -type f -o -type l \) ${since:+"$since" "$own/begun"} \
            -exec sh -c 'sh "$self" --back "$@"' sh {} + || return 1
    if [ -n "$since" ]; then
        find . -type d "$since" "$own/begun" -exec sh -c 'sh "$self" --moved "$@"' sh {} + || return 1
    fi
    find_all_removed || return 1
    find . -type d ${since:+"$since" "$own/begun"} -exec sh -c 'sh "$self" --modes "$@"' sh {} +
    if [ -d "$to/removed.stripewise-$job" ]; then
        say "what the script removed is in $to/removed.stripewise-$job: remove that when you do not need it"
    fi
}

find_all_removed() {
    # who removed what is not known where somebody cleans up, or takes the storage from a job that ends
    if [ "$to" != "$from" ] || [ -n "$ended" ] || ! [ -f "$own/oldest" ]; then return 0; fi
    inputs find_removed
}

keep_beside() { # what the script put next to `work`, as by ../results, would go with it
    beside=
    for entry in "$own"/* "$own"/.[!.]* "$own"/..?*; do
        case ${entry##*/} in
            work | program | linked | several | numbers | names | folders) continue ;;
            oldest | begun | later | elsewhere) continue ;;
        esac
        there_is "$entry" || continue
        beside=$to/beside.stripewise-$job
        mkdir -p "$beside" && cp -RPp "$entry" "$beside/" || return 1
    done
    [ -z "$beside" ] || say "what the script put beside its directory, by paths with .., is in $beside"
}

# --- one part of it ------------------------------------------------------------------------

case $1 in
    --settle | --several | --lacking | --back | --folders | --moved | --modes | --removed | --emptied)
        part=$1
        shift
        case $part in
            --settle) settle "$@" ;;
            --several) name_again "$@" ;;
            --lacking) lacking "$@" ;;
            --back) copy_back "$@" ;;
            --folders) copy_folders "$@" ;;
            --moved) back_moved "$@" ;;
            --modes) set_modes "$@" ;;
            --removed) take_out "$@" ;;
            --emptied) take_folders_out "$@" ;;
        esac
        exit
        ;;
esac

# --- the whole -----------------------------------------------------------------------------

case $0 in /*) lock=$0 ;; *) lock=$PWD/$0 ;; esac
case $1 in /*) script=$1 ;; *) script=$PWD/$1 ;; esac
shift
place=$(expand_place && echo .) || exit 1
place=${place%?.}
place=${place%/}
[ -d "$place" ] || { say "$place: there is no such directory in this job"; exit 1; }
check_shared
for left in "$unsaved"/stripewise-*; do
    if [ -n "$unsaved" ] && [ -d "$left" ]; then
        say "a job before this one was killed; what it had not copied back is in $left"
    fi
done
from=${source:-$PWD}
from=${from%/}
to=${results:-$from}
to=${to%/}
if [ "$to" -ef "$from" ]; then to=$from; fi
[ -d "$from" ] || { say "$from: there is no such directory to copy to the job's own"; exit 1; }
real_from=$(cd "$from" && pwd -P && echo .)
real_from=${real_from%?.}
own=$place/stripewise-$job-$$ mark=$lock.$job-$$
self=$own/program # somebody may remove the other one while the script runs
work=$own/work copy=$to/.stripewise-$job-copy
trap 'rm -rf "$own" "$mark"; exit 143' HUP INT TERM
mkdir -m 700 "$own" && mkdir "$work" || exit 1
real_work=$(cd "$work" && pwd -P && echo .)
real_work=${real_work%?.}
if ! { mkdir -p "$to" && [ -w "$to" ]; } 2>/dev/null; then
    say "$to: nothing can be written there, so that results would be lost"
    rm -rf "$own"
    exit 1
fi
if ! { : >"$mark" && cp "$lock" "$self" && (for_parts && stage_in); }; then
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
for _ in 1 2 3 4 5 6 7 8 9 10; do # what reads its output, as in `exec > >(tee log)`, ends by itself
    if [ -n "$ended" ] || [ -z "$session" ] || ! kill -s 0 -- "-$child" 2>/dev/null; then break; fi
    sleep 0.1 2>/dev/null || sleep 1
done
if [ -n "$session" ] && kill -s TERM -- "-$child" 2>/dev/null; then # what the script left behind
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        kill -s 0 -- "-$child" 2>/dev/null || break
        sleep 1
    done
    kill -s KILL -- "-$child" 2>/dev/null
fi
(for_parts && stage_out)
is_back=$? left=
keep_beside || is_back=1
rm -f "$mark"
if [ "$is_back" != 0 ]; then
    rm -f "$copy"
    if [ -n "$outlives" ]; then
        left="they are in $work on $(uname -n)"
    elif [ -n "$unsaved" ]; then
        left="what is not there comes to $unsaved/${own##*/}/work"
    fi
    say "not all results could be copied to $to: ${left:-what is not there is lost with the burst buffer}"
    [ "$code" != 0 ] || code=1
else
    cd / || exit 1
    rm -rf "$own" 2>/dev/null || { chmod -R u+rwX "$own" && rm -rf "$own"; }
fi
exit "$code"
