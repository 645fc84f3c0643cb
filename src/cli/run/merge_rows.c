/* SPDX-License-Identifier: MIT */
#include "run/merge_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "integers.h"
#include "message.h"
#include "row_spans.h"
#include "text.h"
#include "run/doubt.h"
#include "run/ids.h"
#include "run/log_line.h"
#include "run/log_read.h"
#include "run/merge_command.h"
#include "run/outcome.h"
#include "run/part_line.h"

/* The lines of one frame and template. */
typedef struct gathering {
    const merged_logs *logs;
    const cli_options *options;
    char **texts;        /* of each log, by their rows */
    tm_part_hits *parts; /* of those that have results, rising */
    size_t count;
    const char *first, *failed; /* the text of the first part, and that of the first failure; or NULL */
    char *frame;                /* its name */
    part_line line; /* the last part's, without its hits */
    bool passing;   /* another run may come to another result */
    uint64_t id;    /* of one run's line; 0: no log has one, */
    size_t id_log;  /* the first that has it, */
    size_t changed; /* and the first that has another, as its file had another size or time; 0: none has */
    bool resized;   /* parts had frames or templates of other sizes */
} gathering;

static uint64_t rows_hash(const shard_record *record)
{
    return ids_rows_hash(&(cli_options){.has_rows = true, .rows_first = record->first_row,
                                          .rows_end = record->end_row});
}

/* Whether the part has the rows of its log's run, as far as the map goes. */
static bool has_rows(const tm_part_hits *part, const shard_record *record)
{
    return part->first == record->first_row && part->end == smaller(record->end_row, part->map_height) &&
           part->first < part->end;
}

static void take_id(gathering *g, size_t log, uint64_t id)
{
    const uint64_t own = id ? id ^ rows_hash(&g->logs->list[log].record) : 0;

    g->passing |= id == 0;
    if (own != 0 && g->id == 0) {
        g->id = own;
        g->id_log = log;
    } else if (own != 0 && own != g->id) {
        g->changed = g->changed ? g->changed : log;
    }
}

/* Takes the log's line. False where it is none of this version's, or memory ran out. */
static bool take_text(gathering *g, size_t log, size_t length)
{
    const char *text = g->texts[log];
    log_line line;

    if (!log_line_parse(&line, text, length))
        return false;
    if (!g->frame && !(g->frame = log_read_frame(text)))
        return false;
    take_id(g, log, line.id);
    if (line.failed) {
        g->failed = g->failed ? g->failed : text;
        return true;
    }
    const bool read = part_line_read(&g->line, text, g->options);
    g->parts[g->count++] = g->line.hits;
    if (!read || !has_rows(&g->line.hits, &g->logs->list[log].record))
        return false;
    g->first = g->first ? g->first : text;
    g->resized |= !part_line_same_sizes(text, g->first) || g->line.hits.map_height != g->parts[0].map_height;
    return true;
}

static bool read_lines(gathering *g, size_t frame, size_t tmpl)
{
    const merged_logs *logs = g->logs;

    for (size_t i = 0; i < logs->count; i++) {
        const merged_line *at = merge_line(logs, i, frame, tmpl);
        g->texts[i] = merge_text(logs, at);
        if (!g->texts[i])
            return false;
        if (!take_text(g, i, at->length)) {
            message(logs->list[i].path, "has changed, memory ran out, or its lines are another version's");
            return false;
        }
    }
    return true;
}

/* Whether the parts have all rows: only those of parts that failed, or at the end, can be missing. Says so if no
 * part failed, as that says why. */
static bool covers_map(const gathering *g)
{
    const int64_t height = g->parts[0].map_height;
    row_span reach = {0};
    bool covered = true;

    for (size_t i = 0; i < g->count; i++) {
        const row_span span = {g->parts[i].first, g->parts[i].end, i};
        covered &= span.first == reach.end;
        row_spans_pass(&reach, &span);
    }
    if (reach.end < height && !g->failed) {
        char *command = merge_rows_command(g->logs->list, reach.end, INT64_MAX);
        message(g->frame, "rows %" PRId64 " to %" PRId64 " of its score map are in no log: %s", reach.end, height - 1,
                command ? command : "match them");
        free(command);
    }
    return covered && reach.end == height;
}

static bool make_result(const gathering *g, cli_pair *pair)
{
    const tm_part_hits **pointers = calloc(g->count, sizeof *pointers);
    const tm_part_hits *part = &g->parts[0];
    cli_result *r = &pair->result;
    tm_hits hits = {0};

    for (size_t i = 0; i < g->count && pointers; i++)
        pointers[i] = &g->parts[i];
    *r = (cli_result){.template_width = part->template_width, .template_height = part->template_height,
                      .template_pixels = g->line.pixels, .integers = tm_metric_is_integer(part->metric)};
    pair->searched = true;
    pair->search = g->line.search;
    const tm_status status = pointers ? tm_merge_parts(pointers, g->count, &g->line.search, 1, &hits) : TM_ERR_MEMORY;
    free(pointers);
    if (status != TM_OK) {
        snprintf(pair->error.reason, sizeof pair->error.reason, "%s",
                 status == TM_ERR_INVALID ? "its parts do not fit together: are all logs of this version?" : tm_strerror(status));
        return status == TM_ERR_NO_POSITION;
    }
    pair->done = outcome_take_hits(g->options, pair, &hits, 0, 0);
    if (pair->done && !doubt_is_settled(g->options, r))
        doubt_mark(r, r->matches[r->match_count - 1].margin, false);
    if (hits.cut_off && !g->options->quiet)
        message_note(NULL, "a part has more than %" PRId64 " peaks; worse matches are not reported", g->line.search.peaks);
    tm_hits_free(&hits);
    return pair->done;
}

/* Writes the line of one run: up to the rows, and from the shard on, it is that of any part; one of a failure
 * is that of the part that failed, where pair is NULL. */
static char *write_line(const gathering *g, const cli_pair *pair)
{
    const char *start = pair ? g->first : g->failed;
    const char *rows = !pair ? start + log_line_result(start, strlen(start))
                             : strstr(start, pair->done ? REPORT_ROWS : ",\"frame_size\":");
    const char *shard = strstr(start, LOG_LINE_SHARD), *end = shard ? strstr(shard, ",\"id\":\"") : NULL;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (shard && !end)
        end = strstr(shard, ",\"sum\":\"");
    if (!out || !rows || !end) {
        if (out)
            fclose(out);
        free(text);
        return NULL;
    }
    fwrite(start, 1, (size_t)(rows - start), out);
    if (pair && pair->done) {
        report_found(g->options, out, &pair->result);
    } else if (pair) {
        fputs(",\"error\":", out);
        text_json(out, pair->error.reason);
    }
    fwrite(shard, 1, (size_t)(end - shard), out);
    bool good = fflush(out) == 0;
    if (good)
        log_line_end(out, text, size, g->passing ? 0 : g->id ? g->id : 1);
    good = fclose(out) == 0 && good;
    if (good && size > 0)
        text[size - 1] = '\0'; /* the newline */
    else
        free(text);
    return good ? text : NULL;
}

/* Whether the parts are of one picture. False after a message. */
static bool check_picture(const gathering *g)
{
    if (g->resized) {
        message(g->frame, "its parts are of pictures of several sizes: was the file changed between the runs?");
    } else if (g->changed) {
        const merged_log *log = &g->logs->list[g->changed];
        char *command = merge_command(log, log->record.shard.number);
        message(g->frame, "its file had another size or time of change for %s than for %s, so the parts are not of one "
                          "picture; run again what has not seen it as it is now, %s by: %s",
                log->path, g->logs->list[g->id_log].path, log->path, command ? command : "");
        free(command);
    }
    return !g->resized && !g->changed;
}

static char *merge_text_of(gathering *g)
{
    cli_pair pair = {0};
    char *text = NULL;

    if (!check_picture(g))
        return NULL;
    const bool covered = g->count > 0 && covers_map(g);
    if (!covered && !g->failed)
        return NULL;
    if (!covered || make_result(g, &pair))
        text = write_line(g, covered ? &pair : NULL);
    if (!text)
        message(g->frame, "%s", *pair.error.reason ? pair.error.reason : tm_strerror(TM_ERR_MEMORY));
    free(pair.result.matches);
    return text;
}

char *merge_rows_text(const merged_logs *logs, const cli_options *options, size_t frame, size_t tmpl)
{
    gathering g = {.logs = logs, .options = options,
                   .texts = calloc(logs->count, sizeof *g.texts), .parts = calloc(logs->count, sizeof *g.parts)};
    char *text = NULL;

    if (!g.texts || !g.parts)
        message(NULL, "%s", tm_strerror(TM_ERR_MEMORY));
    else if (read_lines(&g, frame, tmpl))
        text = merge_text_of(&g);
    for (size_t i = 0; i < logs->count && g.texts; i++)
        free(g.texts[i]);
    for (size_t i = 0; i < g.count; i++)
        tm_part_hits_free(&g.parts[i]);
    free(g.frame);
    free(g.texts);
    free(g.parts);
    return text;
}
