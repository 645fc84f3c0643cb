/* SPDX-License-Identifier: MIT */
/* The options, each described once in option_table.def: the parser, --help, the manual page, the
 * completions and the documents' table are all made from it. */
#ifndef TMATCH_CLI_OPTION_TABLE_H
#define TMATCH_CLI_OPTION_TABLE_H

#include <stdbool.h>

/* Who decodes JPEG; auto: nvJPEG where it can, else libjpeg. Or movies, by NVDEC. */
typedef enum cli_decoder { CLI_LIBJPEG, CLI_NVJPEG, CLI_AUTO_DECODER, CLI_NVDEC } cli_decoder;

typedef enum cli_format { CLI_TEXT, CLI_JSON, CLI_CSV } cli_format;

typedef enum option_group {
    GROUP_INPUT,
    GROUP_MATCHING,
    GROUP_OUTPUT,
    GROUP_COMPUTING,
    GROUP_OTHER,
    GROUP_COUNT
} option_group;

/* What an option's argument is, for completion. */
typedef enum option_takes {
    TAKES_NOTHING,
    TAKES_CHOICE, /* one of choices, and nothing else */
    TAKES_TEXT,   /* a number, a list, ...; choices are then examples */
    TAKES_PICTURE,
    TAKES_FILE, /* with the ending, if that is not NULL */
    TAKES_FOLDER
} option_takes;

/* A word that an option takes. A table's end has no name. */
typedef struct choice {
    const char *name;
    int value;
    const char *meaning; /* or NULL, where the name says it */
    const char *also;    /* what else people call it, with spaces between; or NULL */
    bool pattern;        /* the name stands for others, as "cuda:N,M" does */
} choice;

typedef struct option_row {
    const char *name; /* without the dashes */
    char letter;      /* or 0 */
    option_group group;
    option_takes takes;
    const char *argument;  /* what help calls it; NULL: the choices' names */
    const choice *choices; /* or NULL */
    const char *ending;    /* ".npy", or NULL */
    bool repeats;          /* may be given more than once, and each counts */
    /* What other programs call it, words and single letters with spaces between; or NULL. They are
     * no options, but lead to a suggestion. */
    const char *also;
    /* It does not change results or outputs, only where and how fast they are computed or how they
     * are printed: --resume goes on with a log though it was different. */
    bool same_results;
    const char *help; /* for --help, which breaks it into lines */
    /* The long description for the manual and the documents, with `literals` and
     * [links](docs/x.md); NULL: the same as help. */
    const char *manual;
} option_row;

/* OPT_TEMPLATE, ...: the row's index. */
typedef enum cli_option {
#define OPTION(id, ...) OPT_##id,
#include "option_table.def"
#undef OPTION
} cli_option;

enum {
    OPTION_COUNT = 0
#define OPTION(id, ...) +1
#include "option_table.def"
#undef OPTION
};

extern const option_row option_table[OPTION_COUNT];

/* What a group's options are about: a heading without a colon, and what holds for all of
 * them, or NULL. */
typedef struct option_heading {
    const char *title, *note;
} option_heading;

extern const option_heading option_groups[GROUP_COUNT];

/* The argument as help shows it, "FILE" or "text|json|csv"; "" where there is none. Until
 * the next call. */
const char *option_argument(const option_row *row);

#endif
