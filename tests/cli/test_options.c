/* SPDX-License-Identifier: MIT */
/* The table of options: what the parser, the help and the completions take for granted. */
#include <ctype.h>
#include <string.h>

#include "../check.h"
#include "cli/option_table.h"
#include "io/format.h"

static void names_are_options(void)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        const option_row *row = &option_table[i];
        CHECK(row->name && strlen(row->name) > 1);
        CHECK(strspn(row->name, "abcdefghijklmnopqrstuvwxyz-") == strlen(row->name));
        CHECK(!row->letter || isalnum((unsigned char)row->letter));
    }
}

static void names_differ(void)
{
    for (int i = 0; i < OPTION_COUNT; i++)
        for (int k = 0; k < i; k++) {
            CHECK(strcmp(option_table[i].name, option_table[k].name) != 0);
            CHECK(!option_table[i].letter || option_table[i].letter != option_table[k].letter);
        }
}

static void groups_are_together(void)
{
    for (int i = 1; i < OPTION_COUNT; i++)
        CHECK(option_table[i].group >= option_table[i - 1].group);
    for (int group = 0; group < GROUP_COUNT; group++)
        CHECK(option_groups[group].title);
}

static void texts_are_phrases(void)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        const option_row *row = &option_table[i];
        const char *texts[] = {row->help, row->manual ? row->manual : row->help};
        for (int k = 0; k < 2; k++) {
            CHECK(texts[k] && strlen(texts[k]) > 8);
            CHECK(texts[k][strlen(texts[k]) - 1] != '.' && !strstr(texts[k], "  "));
            CHECK(!strchr(texts[k], '\n') && !strchr(texts[k], '\\'));
        }
        CHECK(!strchr(row->help, '`'));
        /* The manual leaves links out, which are sentences by themselves. */
        const char *link = strchr(texts[1], '[');
        CHECK(!link || (link > texts[1] + 2 && link[-2] == '.'));
    }
}

static void arguments_fit_what_is_taken(void)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        const option_row *row = &option_table[i];
        const bool has_argument = *option_argument(row) != '\0';
        CHECK_EQ(has_argument, row->takes != TAKES_NOTHING);
        CHECK(row->takes != TAKES_CHOICE || row->choices);
        CHECK(!row->ending || (row->takes == TAKES_FILE && row->ending[0] == '.'));
    }
}

static void choices_differ(void)
{
    for (int i = 0; i < OPTION_COUNT; i++)
        for (const choice *c = option_table[i].choices; c && c->name; c++) {
            CHECK(!c->pattern || option_table[i].takes == TAKES_TEXT);
            for (const choice *d = option_table[i].choices; d != c; d++)
                CHECK(strcmp(c->name, d->name) != 0);
            CHECK(strstr(option_argument(&option_table[i]), c->name));
        }
}

/* Whether each of the words between bars, in small letters and in capitals, is an ending by which the
 * format is known, and folders are read for it unless the format says otherwise. */
static bool names_format(const char *words, const io_format *format)
{
    bool good = *words;
    for (; *words && good; words += strspn(words, "|")) {
        char small[16] = "a.", large[16];
        const size_t length = strcspn(words, "|");
        strncat(small, words, length);
        for (size_t i = 0; i <= strlen(small); i++)
            large[i] = (char)toupper((unsigned char)small[i]);
        good = io_named_format(small) == format && io_named_format(large) == format &&
               io_is_picture_name(small) == !format->not_in_folders && !io_named_format(small + 1);
        words += length;
    }
    return good;
}

/* Completions offer the endings of the formats' list. */
static void offered_endings_name_formats(void)
{
#define FORMAT(id, endings) CHECK(names_format(endings, &io_format_##id));
#include "io/formats.def"
#undef FORMAT
    CHECK(!io_named_format("png"));
    CHECK(!io_named_format("a.pn"));
    CHECK(!io_named_format("a.pngs"));
    CHECK(!io_named_format("a."));
}

/* What help and messages say of the formats. */
static void formats_are_named(void)
{
    char names[128];
    io_format_names(names, sizeof names);
    CHECK_STR(names, "PNG, JPEG, TIFF, BMP, WebP, PNM, Y4M, NPY or a text matrix");
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        TEST(names_are_options), TEST(names_differ),
        TEST(groups_are_together), TEST(texts_are_phrases),
        TEST(arguments_fit_what_is_taken), TEST(choices_differ),
        TEST(offered_endings_name_formats), TEST(formats_are_named),
    };
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
