/* SPDX-License-Identifier: MIT */
#include "run/merge_command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text.h"

/* How many words the option's mention here has: "--shard=3/8", or "--shard" and what follows; 0: it is not mentioned. */
static int mentions(char *const *word, const char *option)
{
    const size_t length = strlen(option);
    if (strcmp(*word, option) == 0)
        return word[1] ? 2 : 1;
    return strncmp(*word, option, length) == 0 && (*word)[length] == '=';
}

/* What another part is run with. */
typedef struct other_part {
    int64_t number; /* of the shard */
    const int64_t *rows; /* from the first up to, not including, the second; or NULL */
} other_part;

static void put_rows(FILE *out, const int64_t *rows)
{
    fprintf(out, "--rows %" PRId64 ":", rows[0]);
    if (rows[1] != INT64_MAX)
        fprintf(out, "%" PRId64, rows[1]);
}

static void put_words(FILE *out, const merged_log *log, const other_part *part)
{
    const bool other = part->number != log->record.shard.number || part->rows;
    char **word = log->record.command;

    while (*word) {
        const int shard = mentions(word, "--shard"), own = other ? mentions(word, "--resume") : 0;
        const int rows = part->rows ? mentions(word, "--rows") : 0;
        putc(' ', out);
        if (shard)
            fprintf(out, "--shard %" PRId64 "/%" PRId64, part->number, log->record.shard.count);
        else if (rows)
            put_rows(out, part->rows);
        else if (own)
            fputs("--resume LOG", out);
        else
            text_shell(out, *word);
        word += shard ? shard : rows ? rows : own ? own : 1;
    }
}

static char *make_command(const merged_log *log, const other_part *part)
{
    char *text = NULL, *here = getcwd(NULL, 0);
    size_t size;
    FILE *memory = open_memstream(&text, &size);

    if (memory) {
        if (*log->record.folder && (!here || strcmp(here, log->record.folder) != 0)) {
            fputs("cd ", memory);
            text_shell(memory, log->record.folder);
            fputs(" && ", memory);
        }
        fputs("tmatch", memory);
        put_words(memory, log, part);
        fclose(memory);
    }
    free(here);
    return text;
}

char *merge_command(const merged_log *log, int64_t number)
{
    return make_command(log, &(other_part){.number = number});
}

char *merge_rows_command(const merged_log *log, int64_t first, int64_t end)
{
    const int64_t rows[] = {first, end};
    return make_command(log, &(other_part){log->record.shard.number, rows});
}

char **merge_arguments(const merged_log *log, char *program)
{
    static const char *const own[] = {"--shard", "--rows", "--resume", "--report"};
    char **words = log->record.command;
    size_t count = 0;

    while (words[count])
        count++;
    char **arguments = calloc(count + 2, sizeof *arguments), **to = arguments;
    if (!arguments)
        return NULL;
    *to++ = program;
    while (*words) {
        int skipped = 0;
        for (size_t i = 0; i < sizeof own / sizeof *own && !skipped; i++)
            skipped = mentions(words, own[i]);
        if (!skipped)
            *to++ = *words;
        words += skipped ? skipped : 1;
    }
    return arguments;
}

bool merge_has_option(const merged_log *log, const char *option)
{
    char **word = log->record.command;
    while (*word && !mentions(word, option))
        word++;
    return *word != NULL;
}

bool merge_same_arguments(const merged_log *a, const merged_log *b)
{
    char **x = merge_arguments(a, NULL), **y = merge_arguments(b, NULL);
    size_t i = 1; /* after the program */
    bool same = x && y && strcmp(a->record.folder, b->record.folder) == 0;

    while (same && x[i] && y[i]) {
        same = strcmp(x[i], y[i]) == 0;
        i++;
    }
    same = same && !x[i] && !y[i];
    free(x);
    free(y);
    return same;
}
