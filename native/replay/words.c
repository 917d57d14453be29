/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
#include "plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

char *sw_words_text(struct sw_words *words)
{
    static char nothing[1] = "";
    while (*words->next == ' ')
        words->next++;
    if (*words->next == '\n' || *words->next == '\0') {
        words->bad = true;
        return nothing;
    }
    char *start = words->next;
    words->next += strcspn(start, " \n");
    if (*words->next == ' ')
        *words->next++ = '\0';
    else if (*words->next == '\n')
        *words->next = '\0'; /* sw_words_line continues after it */
    return start;
}

static int hex(char digit)
{
    const char *digits = "0123456789ABCDEF";
    const char *found = digit == '\0' ? NULL : strchr(digits, digit);
    return found == NULL ? -1 : (int)(found - digits);
}

char *sw_words_name(struct sw_words *words)
{
    const char *text = sw_words_text(words);
    char *name = sw_replay_memory(strlen(text) + 1);
    char *end = name;
    if (strcmp(text, "%") == 0)
        return name;
    for (; *text != '\0'; text++) {
        if (*text != '%') {
            *end++ = *text;
            continue;
        }
        int high = hex(text[1]);
        int low = high < 0 ? -1 : hex(text[2]);
        if (low < 0) {
            words->bad = true;
            break;
        }
        *end++ = (char)(high * 16 + low);
        text += 2;
    }
    return name;
}

static int64_t number_at(struct sw_words *words, char *text, char **end)
{
    errno = 0;
    long long number = strtoll(text, end, 10);
    if (*end == text || errno != 0)
        words->bad = true;
    return number;
}

int64_t sw_words_number(struct sw_words *words)
{
    char *end = NULL;
    int64_t number = number_at(words, sw_words_text(words), &end);
    if (*end != '\0')
        words->bad = true;
    return number;
}

int64_t sw_words_index(struct sw_words *words, int64_t end)
{
    int64_t number = sw_words_number(words);
    if (number >= 0 && number < end)
        return number;
    words->bad = true;
    return 0;
}

int64_t *sw_words_numbers(struct sw_words *words, int64_t count)
{
    /* A number takes at least two characters: a count beyond the length of the text is invalid. */
    if (count < 0 || count > words->end - words->next + 1) {
        words->bad = true;
        count = 0;
    }
    int64_t *numbers = sw_replay_memory(((size_t)count + 1) * sizeof *numbers);
    for (int64_t i = 0; i < count; i++)
        numbers[i] = sw_words_number(words);
    return numbers;
}

int64_t sw_words_listed(struct sw_words *words)
{
    if (words->left == 0) {
        char *end = NULL;
        words->first = number_at(words, sw_words_text(words), &end);
        words->step = 0;
        words->left = 1;
        if (*end == '+')
            words->step = number_at(words, end + 1, &end);
        if (*end == '*')
            words->left = number_at(words, end + 1, &end);
        if (*end != '\0' || words->left < 1)
            words->bad = true;
    }
    int64_t number = words->first;
    words->first += words->step;
    words->left = words->left > 0 ? words->left - 1 : 0;
    return number;
}

void sw_words_line(struct sw_words *words)
{
    /* A word at the end of the line has terminated it with a zero. */
    if (*words->next != '\0')
        words->next += strcspn(words->next, "\n");
    if (words->next < words->end)
        words->next++;
    else
        words->bad = true;
    words->line++;
    words->left = 0;
}
