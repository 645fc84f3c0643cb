/* SPDX-License-Identifier: MIT */
#include "text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Length of the valid UTF-8 sequence at s, 0 if there is none: overlong forms,
 * surrogates and what lies beyond U+10FFFF are invalid. */
static size_t utf8_length(const unsigned char *s)
{
    unsigned char low = 0x80, high = 0xbf; /* bounds of the second byte */
    size_t length;

    if (s[0] < 0x80)
        return 1;
    if (s[0] >= 0xc2 && s[0] <= 0xdf)
        length = 2;
    else if (s[0] >= 0xe0 && s[0] <= 0xef)
        length = 3;
    else if (s[0] >= 0xf0 && s[0] <= 0xf4)
        length = 4;
    else
        return 0;

    if (s[0] == 0xe0)
        low = 0xa0;
    else if (s[0] == 0xed)
        high = 0x9f;
    else if (s[0] == 0xf0)
        low = 0x90;
    else if (s[0] == 0xf4)
        high = 0x8f;

    if (s[1] < low || s[1] > high)
        return 0;
    for (size_t i = 2; i < length; i++)
        if (s[i] < 0x80 || s[i] > 0xbf)
            return 0;
    return length;
}

/* The letter of the two-character escape that C and JSON share, or 0. */
static int short_escape(unsigned char byte)
{
    switch (byte) {
    case '\b': return 'b';
    case '\f': return 'f';
    case '\n': return 'n';
    case '\r': return 'r';
    case '\t': return 't';
    default: return 0;
    }
}

static int is_control(unsigned char byte)
{
    return byte < 0x20 || byte == 0x7f;
}

void text_json(FILE *out, const char *name)
{
    const unsigned char *s = (const unsigned char *)name;

    putc('"', out);
    while (*s) {
        size_t length = utf8_length(s);
        if (length == 0) {
            fputs("\\ufffd", out);
            length = 1;
        } else if (*s == '"' || *s == '\\') {
            fprintf(out, "\\%c", *s);
        } else if (short_escape(*s)) {
            fprintf(out, "\\%c", short_escape(*s));
        } else if (is_control(*s)) {
            fprintf(out, "\\u%04x", *s);
        } else {
            fwrite(s, 1, length, out);
        }
        s += length;
    }
    putc('"', out);
}

void text_csv(FILE *out, const char *name)
{
    if (!strpbrk(name, ",\"\r\n")) {
        fputs(name, out);
        return;
    }
    putc('"', out);
    for (; *name; name++) {
        if (*name == '"')
            putc('"', out);
        putc(*name, out);
    }
    putc('"', out);
}

void text_line(FILE *out, const char *name)
{
    for (const unsigned char *s = (const unsigned char *)name; *s; s++) {
        if (short_escape(*s))
            fprintf(out, "\\%c", short_escape(*s));
        else if (is_control(*s))
            fprintf(out, "\\x%02x", *s);
        else
            putc(*s, out);
    }
}

void text_score(char buffer[TEXT_SCORE_SIZE], bool integer, double score)
{
    if (integer) {
        snprintf(buffer, TEXT_SCORE_SIZE, "%" PRId64, (int64_t)score);
        return;
    }
    const float value = (float)score;
    for (int digits = 6; digits <= 9; digits++) {
        snprintf(buffer, TEXT_SCORE_SIZE, "%.*g", digits, score);
        const float back = strtof(buffer, NULL);
        if (memcmp(&back, &value, sizeof value) == 0)
            return;
    }
}

void text_label(char buffer[TEXT_SCORE_SIZE], bool integer, double score)
{
    if (integer)
        snprintf(buffer, TEXT_SCORE_SIZE, "%" PRId64, (int64_t)score);
    else if (score > -100 && score < 100)
        snprintf(buffer, TEXT_SCORE_SIZE, "%.4f", score);
    else
        snprintf(buffer, TEXT_SCORE_SIZE, "%.6g", score);
}
