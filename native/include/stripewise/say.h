/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* Messages of our programs on standard error: one line each, whatever names and messages of others
 * they contain. Text is escaped like `printable` of src/stripewise/present/_printable.py does, as
 * far as it breaks lines or changes their direction.
 */
#ifndef STRIPEWISE_SAY_H
#define STRIPEWISE_SAY_H

#include <stdarg.h>
#include <stdio.h>

#define SW_LONGEST_LINE 8192

/* Returns the bytes of the character at `text` if it must be escaped, otherwise 0. */
static inline int sw_hidden(const unsigned char *text, unsigned *number)
{
    *number = text[0];
    if (text[0] < 0x20 || text[0] == 0x7f)
        return 1;
    if (text[0] == 0xc2 && text[1] >= 0x80 && text[1] <= 0x9f) {
        *number = text[1];
        return 2;
    }
    if (text[0] != 0xe2 || (text[1] != 0x80 && text[1] != 0x81) || text[2] < 0x80)
        return 0;
    *number = 0x2000u | (text[1] & 0x3fu) << 6 | (text[2] & 0x3fu);
    return (*number >= 0x200b && *number <= 0x200f) || (*number >= 0x2028 && *number <= 0x202e) ||
                   (*number >= 0x2060 && *number <= 0x206f)
               ? 3
               : 0;
}

__attribute__((format(printf, 1, 2))) static inline void sw_say(const char *format, ...)
{
    char line[SW_LONGEST_LINE];
    char
        shown[SW_LONGEST_LINE * 4 + 2]; /* written at once, so that lines of ranks are not mixed */
    size_t length = 0;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    for (const unsigned char *at = (const unsigned char *)line; *at != '\0';) {
        unsigned number;
        int hidden = sw_hidden(at, &number);
        if (hidden == 0)
            shown[length++] = (char)*at;
        else
            length += (size_t)snprintf(shown + length, sizeof shown - length,
                                       number < 0x100 ? "\\x%02x" : "\\u%04x", number);
        at += hidden == 0 ? 1 : hidden;
    }
    shown[length++] = '\n';
    fwrite(shown, 1, length, stderr);
}

#endif
