/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* What is not held back, and is said: memory maps, rings, and static programs, into which nothing
 * can be preloaded. */
#define _GNU_SOURCE
#include "emulator.h"

void sw_emulator_note_once(const char *text, bool *noted)
{
    if (!__atomic_exchange_n(noted, true, __ATOMIC_RELAXED))
        sw_note(text);
}

void sw_memory_mapped(int fd)
{
    static bool noted;
    const struct sw_emulated *file = sw_emulating() ? sw_emulated_file(fd) : NULL;
    if (file == NULL)
        return;
    SW_EMULATE_COUNT(file->storage, mapped, 1);
    sw_emulator_note_once("emulation: the program maps files into its memory: what it reads and "
                          "writes there is not held back",
                          &noted);
}

void sw_ring_made(void)
{
    static bool noted;
    if (!sw_emulating() || noted)
        return;
    for (unsigned i = 0; i < sw_emulators_used; i++) /* what it is for is not known */
        SW_EMULATE_COUNT(&sw_emulators[i], rings, 1);
    sw_emulator_note_once("emulation: the program uses io_uring or libaio: what it reads and "
                          "writes by them is not held back",
                          &noted);
}

void sw_emulator_static_starts(void)
{
    for (unsigned i = 0; i < sw_emulators_used; i++)
        SW_EMULATE_COUNT(&sw_emulators[i], static_programs, 1);
}
