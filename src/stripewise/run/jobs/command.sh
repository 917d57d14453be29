#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
#
# Runs a command that is told of each signal which this shell gets.  `child` is its process, and
# `code` how it ended.
# shellcheck disable=SC2034

run_command() {
    exec 9<&0 # a command in the background has no input otherwise
    heard='' child='' ended=''
    for signal in HUP INT TERM USR1 USR2; do
        # shellcheck disable=SC2064
        trap "heard=$signal; tell" "$signal"
    done
    "$@" <&9 9<&- &
    child=$!
    if [ -n "$heard" ]; then tell; fi
    heard=
    wait "$child"
    code=$?
    while [ -n "$heard" ] || kill -s 0 "$child" 2>/dev/null; do # a signal ends wait, too
        heard=
        wait "$child"
        again=$?
        case $again in
            127 | -1) ;; # its end was told before; -1: of bash 5.2
            *) code=$again ;;
        esac
    done
}

tell() { # whom the signal was meant for, once it is there; `ended`: it was to end
    case $heard in HUP | INT | TERM) ended=yes ;; esac
    if [ -n "$child" ]; then kill -s "$heard" "$child" 2>/dev/null; fi
}
