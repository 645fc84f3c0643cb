/* SPDX-License-Identifier: MIT */
#include "run/shard_log.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run/log_line.h"
#include "run/log_read.h"
#include "text.h"

#define FINISHED "{\"finished\":\""

void shard_log_place(FILE *out, const shard_place *place, const cli_result *r)
{
    fprintf(out, LOG_LINE_SHARD "%016" PRIx64 "\",\"order\":[%zu,%zu]", place->run, place->frame, place->tmpl);
    if (!text_is_utf8(r->frame)) {
        fputs(",\"name\":", out);
        text_json_bytes(out, r->frame);
    }
    if (r->timed)
        fprintf(out, ",\"seconds\":%.17g", r->time);
    putc('}', out);
}

bool shard_log_find_place(const char *text, shard_place *place)
{
    const char *found = strstr(text, LOG_LINE_SHARD);
    return found && strstr(found, ",\"sum\":") && sscanf(found + strlen(LOG_LINE_SHARD), "%16" SCNx64 "\",\"order\":[%zu,%zu]", &place->run,
                           &place->frame, &place->tmpl) == 3;
}

static void put_strings(FILE *out, const char *key, char *const *strings)
{
    fprintf(out, ",\"%s\":[", key);
    for (size_t i = 0; strings[i]; i++) {
        if (i > 0)
            putc(',', out);
        text_json_bytes(out, strings[i]);
    }
    putc(']', out);
}

/* Ends what begins at start in the stream of memory, whose bytes are at *text, with its sum. */
static bool finish_line(FILE *out, char *const *text, const size_t *size)
{
    if (fflush(out) != 0)
        return false;
    log_line_end(out, *text, *size, 0);
    return fflush(out) == 0;
}

/* Writes the line that put makes. */
static bool put_line(FILE *out, void (*put)(FILE *memory, const void *data), const void *data)
{
    char *text = NULL;
    size_t size;
    FILE *memory = open_memstream(&text, &size);
    bool good = false;

    if (memory) {
        put(memory, data);
        good = finish_line(memory, &text, &size) && fwrite(text, 1, size, out) == size;
        fclose(memory);
    }
    free(text);
    return good;
}

typedef struct beginning {
    const cli_shard *shard;
    const cli_options *options;
    const cli_templates *templates;
} beginning;

static void put_broken(FILE *out, const cli_templates *templates)
{
    bool any = false;
    for (size_t i = 0; i < templates->count; i++) {
        if (templates->list[i].usable)
            continue;
        fprintf(out, "%s%zu", any ? "," : ",\"broken\":[", i + 1);
        any = true;
    }
    if (any)
        putc(']', out);
}

static void put_beginning(FILE *out, const void *data)
{
    const beginning *b = data;
    const cli_shard *s = b->shard;
    char *folder = getcwd(NULL, 0);

    fprintf(out, SHARD_LOG_START "%" PRId64 "/%" PRId64 "\",\"run\":\"%016" PRIx64 "\",\"frames\":%zu,\"own\":%zu,\"list\":\"%016"
                 PRIx64 "\",\"settings\":\"%016" PRIx64 "\"",
            s->number, s->count, s->run, s->frames, s->own, s->list, s->settings);
    if (b->options->has_rows)
        fprintf(out, ",\"rows\":[%" PRId64 ",%" PRId64 "]", b->options->rows_first, b->options->rows_end);
    fputs(",\"templates\":[", out);
    for (size_t i = 0; i < b->templates->count; i++) {
        if (i > 0)
            putc(',', out);
        text_json_bytes(out, b->templates->list[i].operand.given);
    }
    putc(']', out);
    put_broken(out, b->templates);
    fputs(",\"folder\":", out);
    text_json_bytes(out, folder ? folder : "");
    put_strings(out, "command", b->options->argv + 1);
    free(folder);
}

bool shard_log_begin(FILE *out, const cli_shard *shard, const cli_options *options, const cli_templates *templates)
{
    return put_line(out, put_beginning, &(beginning){shard, options, templates});
}

typedef struct ending {
    const cli_shard *shard;
    int status;
} ending;

static void put_ending(FILE *out, const void *data)
{
    const ending *e = data;
    fprintf(out, FINISHED "%" PRId64 "/%" PRId64 "\",\"run\":\"%016" PRIx64 "\",\"status\":%d", e->shard->number,
            e->shard->count, e->shard->run, e->status);
}

bool shard_log_finish(FILE *out, const cli_shard *shard, int status)
{
    return put_line(out, put_ending, &(ending){shard, status});
}

void shard_record_free(shard_record *r)
{
    log_read_free_strings(r->templates);
    log_read_free_strings(r->command);
    free(r->folder);
    free(r->broken);
    *r = (shard_record){0};
}

static bool is_other(const shard_record *a, const shard_record *b)
{
    return a->shard.number != b->shard.number || a->shard.count != b->shard.count || a->has_rows != b->has_rows ||
           (a->has_rows && (a->first_row != b->first_row || a->end_row != b->end_row));
}

/* Reads which templates are broken; where none is, the key is not there. False if memory ran out. */
static bool take_broken(shard_record *r, const char *text)
{
    const char *found = strstr(text, ",\"broken\":");
    char *end;

    r->broken = calloc(r->template_count + 1, sizeof *r->broken);
    if (!r->broken)
        return false;
    for (const char *s = found ? strchr(found, '[') : NULL; s && (*s == '[' || *s == ','); s = end) {
        const unsigned long long number = strtoull(s + 1, &end, 10);
        if (number - 1 < r->template_count)
            r->broken[number - 1] = true;
    }
    return true;
}

static bool take_beginning(shard_record *r, const char *text)
{
    const char *templates = strstr(text, ",\"templates\":"), *folder = strstr(text, ",\"folder\":");
    const char *command = strstr(text, ",\"command\":");
    const shard_record before = {.shard = r->shard, .had_other = r->had_other, .has_rows = r->has_rows,
                                 .first_row = r->first_row, .end_row = r->end_row};
    cli_shard *s = &r->shard;

    shard_record_free(r);
    const char *rows = strstr(text, ",\"rows\":[");
    const bool has_rows = rows && sscanf(rows, ",\"rows\":[%" SCNd64 ",%" SCNd64 "]", &r->first_row, &r->end_row) == 2;
    if (!templates || !folder || !command || (rows && (!has_rows || r->first_row < 0 || r->end_row <= r->first_row)) ||
        sscanf(text, SHARD_LOG_START "%" SCNd64 "/%" SCNd64 "\",\"run\":\"%16" SCNx64 "\",\"frames\":%zu,\"own\":%zu,\"list\":\"%16"
                     SCNx64 "\",\"settings\":\"%16" SCNx64 "\"",
               &s->number, &s->count, &s->run, &s->frames, &s->own, &s->list, &s->settings) != 7 ||
        s->number < 1 || s->number > s->count) {
        r->shard = (cli_shard){0};
        return true;
    }
    r->has_rows = has_rows;
    r->had_other = before.had_other || (before.shard.count > 0 && is_other(&before, r));
    r->templates = log_read_strings(templates + strlen(",\"templates\":"));
    r->command = log_read_strings(command + strlen(",\"command\":"));
    r->folder = log_read_string(folder + strlen(",\"folder\":"), NULL);
    while (r->templates && r->templates[r->template_count])
        r->template_count++;
    return take_broken(r, text) && r->templates && r->command && r->folder;
}

bool shard_record_take(shard_record *r, const char *text, size_t length)
{
    log_line line;
    uint64_t run;
    int status;
    const bool begins = strncmp(text, SHARD_LOG_START, strlen(SHARD_LOG_START)) == 0;

    if (!begins && strncmp(text, FINISHED, strlen(FINISHED)) != 0)
        return true;
    if (!log_line_parse(&line, text, length))
        return true;
    if (begins)
        return take_beginning(r, text);
    const char *found = strstr(text, ",\"run\":\"");
    if (found && sscanf(found, ",\"run\":\"%16" SCNx64 "\",\"status\":%d", &run, &status) == 2 && run == r->shard.run) {
        r->finished = true;
        r->status = status;
    }
    return true;
}
