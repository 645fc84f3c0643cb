/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "emitters.h"

/* mandoc asks for source lines of at most 80 bytes. */
enum { WIDTH = 76 };

/* The length of the next word: up to a space that is not within a literal. */
static int word_length(const char *text)
{
    bool literal = false;
    int length = 0;
    for (; text[length] && (literal || text[length] != ' '); length++)
        literal ^= text[length] == '`';
    return length;
}

/* Spells a word as roff reads it, literals bold and never hyphenated. Returns its length. */
static int spell_word(char *to, size_t size, const char *word, int length)
{
    bool literal = false;
    int used = *word == '.' || *word == '\'' ? snprintf(to, size, "\\&") : 0;
    for (int i = 0; i < length; i++) {
        char plain[] = {word[i], '\0'};
        const char *spelt = plain;
        switch (word[i]) {
        case '`':
            literal = !literal;
            spelt = literal ? "\\fB\\%" : "\\fR";
            break;
        case '\\':
            spelt = "\\e";
            break;
        case '-':
            spelt = literal ? "\\-" : "-";
            break;
        case '\'':
            spelt = "\\(aq";
            break;
        case '^':
            spelt = "\\(ha";
            break;
        case '~':
            spelt = "\\(ti";
            break;
        }
        used += snprintf(to + used, size - used, "%s", spelt);
    }
    return used;
}

/* Writes text with `literals`, each sentence on lines of its own. A [link](docs/x.md) is left out:
 * it stands last, and the manual is not among the documents. */
static void put_text(FILE *out, const char *text, bool capital, const char *end)
{
    int column = 0;
    while (*text && *text != '[') {
        char word[512];
        const int length = word_length(text);
        const int spelt = spell_word(word, sizeof word, text, length);
        const bool breaks = column > 0 && column + 1 + spelt > WIDTH;
        if (column > 0)
            putc(breaks ? '\n' : ' ', out);
        else if (capital)
            word[0] = (char)toupper((unsigned char)word[0]);
        fputs(word, out);
        column = breaks ? spelt : column + 1 + spelt;
        if (text[length - 1] == '.')
            column = WIDTH;
        text += length + strspn(text + length, " ");
    }
    fprintf(out, "%s\n", *text ? "" : end);
}

/* Writes a phrase as a sentence: with a capital and a full stop. */
static void put_sentence(FILE *out, const char *phrase)
{
    put_text(out, phrase, true, ".");
}

static void put_choices(FILE *out, const choice *choices)
{
    for (const choice *c = choices; c->name; c++)
        fprintf(out, "%s %s%s", c == choices ? "" : " |", c->pattern ? "Ar " : "", c->name);
}

static void put_meanings(FILE *out, const choice *choices)
{
    const char *widest = "";
    bool any = false;
    for (const choice *c = choices; c && c->name; c++) {
        widest = strlen(c->name) > strlen(widest) ? c->name : widest;
        any |= c->meaning != NULL;
    }
    if (!any)
        return;
    fprintf(out, ".Pp\n.Bl -tag -width %s -compact\n", widest);
    for (const choice *c = choices; c->name; c++) {
        if (!c->meaning)
            continue;
        fprintf(out, ".It %s %s\n", c->pattern ? "Ar" : "Cm", c->name);
        put_text(out, c->meaning, false, "");
    }
    fputs(".El\n", out);
}

static void put_option(FILE *out, const option_row *row)
{
    fputs(".It ", out);
    if (row->letter)
        fprintf(out, "Fl %c , ", row->letter);
    fprintf(out, "Fl -%s", row->name);
    if (row->argument) {
        fprintf(out, " Ar %s", row->argument);
    } else if (row->choices) {
        fputs(" Cm", out);
        put_choices(out, row->choices);
    }
    putc('\n', out);
    put_sentence(out, row->manual ? row->manual : row->help);
    put_meanings(out, row->choices);
}

void emit_mdoc_options(FILE *out)
{
    for (int group = 0; group < GROUP_COUNT; group++) {
        fprintf(out, ".Ss %s\n", option_groups[group].title);
        if (option_groups[group].note) {
            put_sentence(out, option_groups[group].note);
        }
        fputs(".Bl -tag -width Ds\n", out);
        for (int i = 0; i < OPTION_COUNT; i++)
            if (option_table[i].group == (option_group)group)
                put_option(out, &option_table[i]);
        fputs(".El\n", out);
    }
}
