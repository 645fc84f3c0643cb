/* SPDX-License-Identifier: MIT */
#include "run/merge_rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "text.h"
#include "run/doubt.h"
#include "run/ids.h"
#include "run/log_line.h"
#include "run/outcome.h"

#define SIZES_DIFFER "its parts are of pictures of several sizes: was the file changed between the runs?"

/* The lines of one frame and template. */
typedef struct gathering {
    const merged_logs *logs;
    const cli_options *options;
    char **texts;        /* of each log */
    tm_part_hits *parts; /* of those that have results, rising */
    size_t count;
    const char *first, *failed; /* the text of a part, and that of a failure; or NULL */
    int64_t pixels;
    tm_search search;
    bool passing; /* another run may come to another result */
    uint64_t id;  /* of one run's line */
    bool changed; /* parts had files of other sizes or times, by their ids, */
    bool resized; /* or frames or templates of other sizes */
} gathering;

static const char *after(const char *text, const char *key)
{
    const char *found = text ? strstr(text, key) : NULL;
    return found ? found + strlen(key) : NULL;
}

/* Reads [x,y,score,rank] or [x,y,score,rank,dx,dy], and returns what follows; NULL where that is none. */
static const char *read_position(const char *text, tm_part_hit *to)
{
    char *end;

    *to = (tm_part_hit){.hit = {.margin = NAN}};
    if (!text || *text != '[')
        return NULL;
    to->hit.peak.x = strtoll(text + 1, &end, 10);
    to->hit.peak.y = *end == ',' ? strtoll(end + 1, &end, 10) : 0;
    to->hit.peak.score = *end == ',' ? strtod(end + 1, &end) : 0;
    if (*end != ',')
        return NULL;
    to->rank = strtoll(end + 1, &end, 10);
    if (*end == ',') {
        to->hit.dx = strtod(end + 1, &end);
        to->hit.dy = *end == ',' ? strtod(end + 1, &end) : 0;
    }
    return *end == ']' ? end + 1 : NULL;
}

static bool read_positions(const char *text, tm_part_hits *part)
{
    size_t room = 0;

    while (text && *text == '[') {
        if (part->count == room) {
            room = room ? 2 * room : 16;
            tm_part_hit *items = realloc(part->items, room * sizeof *items);
            if (!items)
                return false;
            part->items = items;
        }
        text = read_position(text, &part->items[part->count++]);
        if (text && *text == ',')
            text++;
    }
    return text && *text == ']';
}

/* Reads what match_part_log has written, and the sizes before it. */
static bool read_part(gathering *g, const char *text)
{
    const char *sizes = after(text, ",\"template_size\":["), *rows = after(text, REPORT_ROWS);
    const char *found = after(rows, ",\"part\":{\"map_rows\":"), *pixels = after(found, ",\"pixels\":");
    const char *least = after(found, ",\"least\":"), *top = after(found, ",\"top\":");
    const char *open = after(found, ",\"open\":[");
    tm_part_hits *part = &g->parts[g->count];
    cli_options const *o = g->options;

    *part = (tm_part_hits){.size = sizeof *part, .metric = o->settings.metric};
    g->count++;
    if (!sizes || !pixels || !open ||
        sscanf(sizes, "%" SCNd64 ",%" SCNd64, &part->template_width, &part->template_height) != 2 ||
        sscanf(rows, "%" SCNd64 ",%" SCNd64, &part->first, &part->end) != 2 ||
        sscanf(found, "%" SCNd64, &part->map_height) != 1 || sscanf(pixels, "%" SCNd64, &g->pixels) != 1)
        return false;
    tm_search_default(&g->search, sizeof g->search);
    g->search.most = o->most_matches;
    g->search.overlap = o->overlap;
    g->search.min_score = least ? strtod(least, NULL) : NAN;
    g->search.margin = strstr(found, ",\"margin\":true") != NULL;
    g->search.subpixel = o->subpixel;
    part->cut_off = strstr(found, ",\"cut_off\":true") != NULL;
    part->has_best = top != NULL;
    return (!top || read_position(top, &part->best)) && read_positions(open, part);
}

static int compare_rows(const void *a, const void *b)
{
    const tm_part_hits *p = a, *q = b;
    return (p->first > q->first) - (p->first < q->first);
}

/* Whether frame and template have the same sizes in both lines: these lie before the rows. */
static bool same_sizes(const char *a, const char *b)
{
    const char *x = after(a, ",\"frame_size\":"), *y = after(b, ",\"frame_size\":");
    const char *end = x ? strstr(x, REPORT_ROWS) : NULL;
    return end && y && strncmp(x, y, (size_t)(end - x) + strlen(REPORT_ROWS)) == 0;
}

static uint64_t rows_hash(const shard_record *record)
{
    return ids_rows_hash(&(cli_options){.has_rows = true, .rows_first = record->first_row,
                                          .rows_end = record->end_row});
}

static bool read_lines(gathering *g, size_t frame, size_t tmpl)
{
    const merged_logs *logs = g->logs;

    for (size_t i = 0; i < logs->count; i++) {
        const merged_line *at = merge_line(logs, i, frame, tmpl);
        log_line line;
        g->texts[i] = merge_text(logs, at);
        if (!g->texts[i])
            return false;
        if (!log_line_parse(&line, g->texts[i], at->length) ||
            (!line.failed && !read_part(g, g->texts[i]))) {
            message(logs->list[i].path, "has changed, memory ran out, or its lines are another version's");
            return false;
        }
        g->passing |= line.id == 0;
        const uint64_t id = line.id ? line.id ^ rows_hash(&logs->list[i].record) : 0;
        g->changed |= i > 0 && id != g->id;
        g->id = id;
        if (line.failed && !g->failed)
            g->failed = g->texts[i];
        else if (!line.failed && !g->first)
            g->first = g->texts[i];
        g->resized |= !line.failed && !same_sizes(g->texts[i], g->first);
    }
    if (g->count > 1)
        qsort(g->parts, g->count, sizeof *g->parts, compare_rows);
    return true;
}

/* Whether the parts have all rows. Which are missing is said if no part failed, as that says why. */
static bool covers_map(const gathering *g, size_t frame)
{
    const int64_t height = g->parts[0].map_height;
    int64_t end = 0;

    for (size_t i = 0; i <= g->count; i++) {
        const int64_t next = i < g->count ? g->parts[i].first : height;
        char last[24] = "";
        if (next == end) {
            end = i < g->count ? g->parts[i].end : end;
            continue;
        }
        if (next < height)
            snprintf(last, sizeof last, "%" PRId64, next);
        if (!g->failed)
            message(NULL, "frame %zu: rows %" PRId64 " to %" PRId64 " of its score map are in no log: match them with "
                          "--rows %" PRId64 ":%s", frame + 1, end, next - 1, end, last);
        return false;
    }
    return true;
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
                      .template_pixels = g->pixels, .integers = tm_metric_is_integer(part->metric)};
    pair->searched = true;
    pair->search = g->search;
    const tm_status status = pointers ? tm_merge_parts(pointers, g->count, &g->search, 1, &hits) : TM_ERR_MEMORY;
    free(pointers);
    if (status != TM_OK) {
        snprintf(pair->error.reason, sizeof pair->error.reason, "%s",
                 status == TM_ERR_INVALID ? SIZES_DIFFER : tm_strerror(status));
        return status == TM_ERR_NO_POSITION;
    }
    pair->done = outcome_take_hits(g->options, pair, &hits, 0, 0);
    if (pair->done && !doubt_is_settled(g->options, r))
        doubt_mark(r, r->matches[r->match_count - 1].margin, false);
    if (hits.cut_off && !g->options->quiet)
        message_note(NULL, "a part has more than %" PRId64 " peaks; worse matches are not reported", g->search.peaks);
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

static void note_change(const gathering *g, size_t frame)
{
    if (g->changed && !g->failed && !g->options->quiet)
        message_note(NULL, "frame %zu: its parts had files of other sizes or times of change; if their bytes differ, "
                           "so may the result from that of one run", frame + 1);
}

static char *merge_text_of(gathering *g, size_t frame)
{
    cli_pair pair = {0};
    char *text = NULL;

    if (g->resized) {
        message(NULL, "frame %zu: " SIZES_DIFFER, frame + 1);
        return NULL;
    }
    note_change(g, frame);
    const bool covered = g->count > 0 && covers_map(g, frame);
    if (!covered && !g->failed)
        return NULL;
    if (!covered || make_result(g, &pair))
        text = write_line(g, covered ? &pair : NULL);
    if (!text)
        message(NULL, "frame %zu: %s", frame + 1, *pair.error.reason ? pair.error.reason : tm_strerror(TM_ERR_MEMORY));
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
        text = merge_text_of(&g, frame);
    for (size_t i = 0; i < logs->count && g.texts; i++)
        free(g.texts[i]);
    for (size_t i = 0; i < g.count; i++)
        tm_part_hits_free(&g.parts[i]);
    free(g.texts);
    free(g.parts);
    return text;
}
