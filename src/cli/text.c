/* SPDX-License-Identifier: MIT */
#include "text.h"

#include <inttypes.h>
#include <math.h>
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

/* Whether the character of so many bytes at s is a control: C0, DEL or C1, which a terminal obeys
 * as U+0080 to U+009F and, where it has 8 bits, as the bytes themselves. */
static bool is_control(const unsigned char *s, size_t length)
{
    if (length == 0)
        return *s >= 0x80 && *s <= 0x9f;
    return length == 1 ? *s < 0x20 || *s == 0x7f : length == 2 && s[0] == 0xc2 && s[1] < 0xa0;
}

static void put_json(FILE *out, const char *name, bool bytes)
{
    const unsigned char *s = (const unsigned char *)name;

    putc('"', out);
    while (*s) {
        size_t length = utf8_length(s);
        if (length == 0) {
            fprintf(out, "\\u%04x", bytes ? 0xdc00u + *s : 0xfffdu);
            length = 1;
        } else if (*s == '"' || *s == '\\') {
            fprintf(out, "\\%c", *s);
        } else if (short_escape(*s)) {
            fprintf(out, "\\%c", short_escape(*s));
        } else if (is_control(s, length)) {
            fprintf(out, "\\u%04x", s[length - 1]);
        } else {
            fwrite(s, 1, length, out);
        }
        s += length;
    }
    putc('"', out);
}

void text_json(FILE *out, const char *name)
{
    put_json(out, name, false);
}

void text_json_bytes(FILE *out, const char *name)
{
    put_json(out, name, true);
}

bool text_is_utf8(const char *name)
{
    const unsigned char *s = (const unsigned char *)name;
    size_t length = 1;
    for (; *s && length > 0; s += length)
        length = utf8_length(s);
    return length > 0;
}

/* Writes one character; a control's bytes in hexadecimal. Returns how many bytes it has. */
static size_t put_visible(FILE *out, const unsigned char *s)
{
    const size_t length = utf8_length(s), bytes = length ? length : 1;
    const bool control = is_control(s, length);
    for (size_t i = 0; i < bytes; i++) {
        if (control)
            fprintf(out, "\\x%02x", s[i]);
        else
            putc(s[i], out);
    }
    return bytes;
}

/* Whether a spreadsheet would compute the cell, which it does in quotes, too, and some do for the wide forms of
 * = + - @. Numbers and standard input, "-", "-#2" or "-[20x20+7+9]", are harmless. */
static bool is_formula(const char *name)
{
    static const char *const wide[] = {"\uff1d", "\uff0b", "\uff0d", "\uff20"};
    for (int i = 0; i < 4; i++)
        if (strncmp(name, wide[i], 3) == 0)
            return true;
    return *name && strchr("=+-@\t\r\n", *name) && name[strspn(name, "-+#[]x.0123456789")];
}

void text_csv(FILE *out, const char *name)
{
    const bool quoted = strpbrk(name, ",\"\r\n") != NULL;

    if (quoted)
        putc('"', out);
    if (is_formula(name))
        fputs("./", out);
    for (const unsigned char *s = (const unsigned char *)name; *s;) {
        if (*s == '"')
            putc('"', out);
        if (strchr("\t\r\n", *s))
            putc(*s++, out);
        else
            s += put_visible(out, s);
    }
    if (quoted)
        putc('"', out);
}

void text_line(FILE *out, const char *name)
{
    for (const unsigned char *s = (const unsigned char *)name; *s;) {
        if (short_escape(*s))
            fprintf(out, "\\%c", short_escape(*s++));
        else
            s += put_visible(out, s);
    }
}

const char *text_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static bool has_control(const char *name)
{
    for (const unsigned char *s = (const unsigned char *)name; *s;) {
        const size_t length = utf8_length(s);
        if (length == 0 || is_control(s, length))
            return true;
        s += length;
    }
    return false;
}

void text_shell(FILE *out, const char *word)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789%+,-./:=@_";
    const bool control = has_control(word);

    if (*word && word[strspn(word, plain)] == '\0') {
        fputs(word, out);
        return;
    }
    fputs(control ? "$'" : "'", out);
    for (const unsigned char *s = (const unsigned char *)word; *s; s++) {
        if (control && (*s < 0x20 || *s >= 0x7f))
            fprintf(out, "\\x%02x", *s);
        else if (control && (*s == '\'' || *s == '\\'))
            fprintf(out, "\\%c", *s);
        else if (*s == '\'')
            fputs("'\\''", out);
        else
            putc(*s, out);
    }
    putc('\'', out);
}

void text_score(char buffer[TEXT_SCORE_SIZE], bool integer, double score)
{
    if (integer && fabs(score) < 0x1p63) { /* no score is larger, but in a log of somebody's making */
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

/* "1.235e+09" becomes "1.235e9". */
static void shorten_exponent(char *text)
{
    char *digits = strchr(text, 'e') + 1;
    const char *from = digits + strspn(digits, "+0");
    memmove(digits, from, strlen(from) + 1);
}

void text_label(char buffer[TEXT_SCORE_SIZE], bool integer, double score)
{
    const double size = fabs(score);
    if (integer && size < 10000) {
        snprintf(buffer, TEXT_SCORE_SIZE, "%" PRId64, (int64_t)score);
    } else if (size >= 9999.5) {
        snprintf(buffer, TEXT_SCORE_SIZE, "%.3e", score);
        shorten_exponent(buffer);
    } else if (size < 0.00005) {
        strcpy(buffer, "0.0000");
    } else if (size > 0.9999 && size < 1) { /* rounding must not make a copy of what is nearly one */
        strcpy(buffer, score < 0 ? "-0.9999" : "0.9999");
    } else {
        const int decimals = size <= 1 ? 4 : size < 9.9995 ? 3 : size < 99.995 ? 2 : size < 999.95;
        snprintf(buffer, TEXT_SCORE_SIZE, "%.*f", decimals, score);
    }
}

void text_clock(char buffer[TEXT_CLOCK_SIZE], double seconds)
{
    const long long ms = llround(seconds * 1000), all = ms < 0 ? -ms : ms;
    snprintf(buffer, TEXT_CLOCK_SIZE, "%s%02lld:%02lld:%02lld.%03lld", ms < 0 ? "-" : "", all / 3600000,
             all / 60000 % 60, all / 1000 % 60, all % 1000);
}
