/* SPDX-License-Identifier: MIT */
#include "suggest.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { MAX_WORD = 31 };

/* Copies the next of the words between spaces; false where there is none. */
static bool next_word(const char **words, char word[MAX_WORD + 1])
{
    if (!*words)
        return false;
    *words += strspn(*words, " ");
    const size_t length = strcspn(*words, " ");
    snprintf(word, MAX_WORD + 1, "%.*s", (int)length, *words);
    *words += length;
    return length > 0;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* How many letters were put in, left out, changed or swapped with the next (the optimal string
 * alignment distance); capitals do not count. INT_MAX where a word is too long. */
static int distance(const char *a, const char *b)
{
    const int m = (int)strnlen(a, MAX_WORD + 1), n = (int)strnlen(b, MAX_WORD + 1);
    int d[MAX_WORD + 1][MAX_WORD + 1];

    if (m > MAX_WORD || n > MAX_WORD)
        return INT_MAX;
    for (int i = 0; i <= m; i++)
        d[i][0] = i;
    for (int k = 0; k <= n; k++)
        d[0][k] = k;
    for (int i = 1; i <= m; i++) {
        for (int k = 1; k <= n; k++) {
            const int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[k - 1]);
            d[i][k] = least(d[i - 1][k - 1] + (x != y), least(d[i - 1][k], d[i][k - 1]) + 1);
            if (i > 1 && k > 1 && x == tolower((unsigned char)b[k - 2]) &&
                y == tolower((unsigned char)a[i - 2]))
                d[i][k] = least(d[i][k], d[i - 2][k - 2] + 1);
        }
    }
    return d[m][n];
}

/* The least distance to the name, or to one of the words, not letters, that are also used for
 * it. */
static int distance_to_any(const char *given, const char *name, const char *also)
{
    char word[MAX_WORD + 1];
    int nearest = distance(given, name);
    while (next_word(&also, word))
        if (word[1])
            nearest = least(nearest, distance(given, word));
    return nearest;
}

/* One letter in three may be wrong, but no digit. */
static int tolerance(const char *given)
{
    return isdigit((unsigned char)given[0]) ? 0 : ((int)strlen(given) + 1) / 3;
}

static bool has_word(const char *words, const char *given)
{
    char word[MAX_WORD + 1];
    while (next_word(&words, word))
        if (strcasecmp(word, given) == 0)
            return true;
    return false;
}

static const option_row *nearest_option(const char *given)
{
    const option_row *nearest = NULL;
    int reach = tolerance(given);
    for (int i = 0; i < OPTION_COUNT; i++) {
        const option_row *row = &option_table[i];
        const int away = distance_to_any(given, row->name, row->also);
        if (away < reach || (away == reach && !nearest)) {
            nearest = row;
            reach = away;
        }
    }
    return nearest;
}

static const choice *nearest_choice(const choice *choices, const char *given)
{
    const choice *nearest = NULL;
    int reach = tolerance(given);
    for (const choice *c = choices; c->name; c++) {
        const int away = c->pattern ? INT_MAX : distance_to_any(given, c->name, c->also);
        if (away < reach || (away == reach && !nearest)) {
            nearest = c;
            reach = away;
        }
    }
    return nearest;
}

/* "--json", where "--format json" was meant: the choice that alone has the name, or NULL. */
static const choice *choice_called(const char *given, const option_row **row)
{
    const choice *found = NULL;
    for (int i = 0; i < OPTION_COUNT; i++) {
        for (const choice *c = option_table[i].choices; c && c->name; c++) {
            if (strcasecmp(c->name, given) != 0 && !has_word(c->also, given))
                continue;
            if (found)
                return NULL;
            found = c;
            *row = &option_table[i];
        }
    }
    return found;
}

/* A letter that other programs have for it, or the same letter, large or small. */
static const option_row *option_lettered(int letter)
{
    const char word[] = {(char)letter, '\0'};
    for (int i = 0; i < OPTION_COUNT; i++)
        if (has_word(option_table[i].also, word))
            return &option_table[i];
    for (int i = 0; i < OPTION_COUNT; i++)
        if (option_table[i].letter && tolower(option_table[i].letter) == tolower(letter))
            return &option_table[i];
    return NULL;
}

/* "--max": all options that begin so. */
static void suggest_longer(const char *name, char *text, size_t size)
{
    const size_t length = strlen(name);
    int begin_so = 0, told = 0;
    for (int i = 0; i < OPTION_COUNT; i++)
        begin_so += strncmp(option_table[i].name, name, length) == 0;
    for (int i = 0; i < OPTION_COUNT && length > 2; i++) {
        if (strncmp(option_table[i].name, name, length) != 0)
            continue;
        const size_t used = strlen(text);
        const char *before = told == 0 ? "; did you mean " : told < begin_so - 1 ? ", " : " or ";
        snprintf(text + used, size - used, "%s'--%s'%s", before, option_table[i].name,
                 told == begin_so - 1 ? "?" : "");
        told++;
    }
}

void suggest_option(const char *given, char *text, size_t size)
{
    char name[MAX_WORD + 2]; /* one more, so that what was cut off is too long */
    const option_row *row = NULL;
    const choice *c;

    given += strspn(given, "-");
    snprintf(name, sizeof name, "%.*s", (int)strcspn(given, "="), given);
    *text = '\0';
    if ((c = choice_called(name, &row)))
        snprintf(text, size, "; did you mean '--%s %s'?", row->name, c->name);
    else
        suggest_longer(name, text, size);
    if (!*text && (row = nearest_option(name)))
        snprintf(text, size, "; did you mean '--%s'?", row->name);
}

void suggest_letter(int letter, char *text, size_t size)
{
    const option_row *row = option_lettered(letter);
    *text = '\0';
    if (row && row->letter)
        snprintf(text, size, "; did you mean '-%c'?", row->letter);
    else if (row)
        snprintf(text, size, "; did you mean '--%s'?", row->name);
}

void suggest_choice(const choice *choices, const char *given, char *text, size_t size)
{
    const choice *c = nearest_choice(choices, given);
    *text = '\0';
    if (c)
        snprintf(text, size, "; did you mean '%s'?", c->name);
}
