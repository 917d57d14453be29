/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
#include "kernel.h"

#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Returns the length of the UTF-8 sequence at `text`, 0 if it is invalid (overlong, surrogate, cut
 * off). */
static size_t sequence(const unsigned char *text, size_t bytes)
{
    static const struct {
        unsigned char first, last, low, high; /* of the first byte; of the second */
        size_t length;
    } forms[] = {
        {0x20, 0x7f, 0x00, 0x00, 1}, {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    for (size_t f = 0; f < sizeof forms / sizeof forms[0]; f++) {
        if (text[0] < forms[f].first || text[0] > forms[f].last || forms[f].length > bytes)
            continue;
        if (forms[f].length > 1 && (text[1] < forms[f].low || text[1] > forms[f].high))
            return 0;
        for (size_t i = 2; i < forms[f].length; i++)
            if ((text[i] & 0xc0) != 0x80)
                return 0;
        return forms[f].length;
    }
    return 0;
}

static void put_text(FILE *stream, const char *text, size_t bytes)
{
    const unsigned char *next = (const unsigned char *)text;
    const unsigned char *end = next + bytes;
    fputc('"', stream);
    while (next < end) {
        size_t length = sequence(next, (size_t)(end - next));
        if (length == 0)
            fprintf(stream, "\\u%s%02x", *next < 0x80 ? "00" : "dc", *next);
        else if (*next == '"' || *next == '\\')
            fprintf(stream, "\\%c", *next);
        else
            fwrite(next, 1, length, stream);
        next += length == 0 ? 1 : length;
    }
    fputc('"', stream);
}

/* Writes what precedes a member or an element. */
static void start(struct sw_json *json, const char *key)
{
    if (json->depth > 0)
        fprintf(json->stream, "%s\n%*s", json->empty ? "" : ",", 2 * json->depth, "");
    json->empty = false;
    if (key != NULL) {
        put_text(json->stream, key, strlen(key));
        fputs(": ", json->stream);
    }
}

void sw_json_begin(struct sw_json *json, const char *key, char bracket)
{
    start(json, key);
    fputc(bracket, json->stream);
    json->depth++;
    json->empty = true;
}

void sw_json_end(struct sw_json *json, char bracket)
{
    json->depth--;
    if (!json->empty)
        fprintf(json->stream, "\n%*s", 2 * json->depth, "");
    fputc(bracket, json->stream);
    json->empty = false;
    if (json->depth == 0)
        fputc('\n', json->stream);
}

void sw_json_text_n(struct sw_json *json, const char *key, const char *text, size_t bytes)
{
    start(json, key);
    put_text(json->stream, text, strnlen(text, bytes));
}

void sw_json_text(struct sw_json *json, const char *key, const char *text)
{
    if (text == NULL)
        sw_json_null(json, key);
    else
        sw_json_text_n(json, key, text, strlen(text));
}

void sw_json_integer(struct sw_json *json, const char *key, int64_t number)
{
    start(json, key);
    fprintf(json->stream, "%" PRId64, number);
}

void sw_json_number(struct sw_json *json, const char *key, double number)
{
    start(json, key);
    if (isfinite(number))
        fprintf(json->stream, "%.9g", number);
    else
        fputs("null", json->stream);
}

void sw_json_truth(struct sw_json *json, const char *key, bool truth)
{
    start(json, key);
    fputs(truth ? "true" : "false", json->stream);
}

void sw_json_null(struct sw_json *json, const char *key)
{
    start(json, key);
    fputs("null", json->stream);
}

void sw_json_integers(struct sw_json *json, const char *key, const int64_t *numbers, int n)
{
    start(json, key);
    fputc('[', json->stream);
    for (int i = 0; i < n; i++)
        fprintf(json->stream, "%s%" PRId64, i > 0 ? ", " : "", numbers[i]);
    fputc(']', json->stream);
}
