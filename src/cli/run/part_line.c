/* SPDX-License-Identifier: MIT */
#include "run/part_line.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/report.h"

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

bool part_line_read(part_line *line, const char *text, const cli_options *options)
{
    const char *sizes = after(text, ",\"template_size\":["), *rows = after(text, REPORT_ROWS);
    const char *found = after(rows, ",\"part\":{\"map_rows\":"), *pixels = after(found, ",\"pixels\":");
    const char *least = after(found, ",\"least\":"), *top = after(found, ",\"top\":");
    const char *open = after(found, ",\"open\":[");
    tm_part_hits *part = &line->hits;
    tm_search *search = &line->search;

    *line = (part_line){.hits = {.size = sizeof *part, .metric = options->settings.metric}};
    if (!sizes || !pixels || !open ||
        sscanf(sizes, "%" SCNd64 ",%" SCNd64, &part->template_width, &part->template_height) != 2 ||
        sscanf(rows, "%" SCNd64 ",%" SCNd64, &part->first, &part->end) != 2 ||
        sscanf(found, "%" SCNd64, &part->map_height) != 1 || sscanf(pixels, "%" SCNd64, &line->pixels) != 1)
        return false;
    tm_search_default(search, sizeof *search);
    search->most = options->most_matches;
    search->overlap = options->overlap;
    search->min_score = least ? strtod(least, NULL) : NAN;
    search->margin = strstr(found, ",\"margin\":true") != NULL;
    search->subpixel = options->subpixel;
    part->cut_off = strstr(found, ",\"cut_off\":true") != NULL;
    part->has_best = top != NULL;
    return (!top || read_position(top, &part->best)) && read_positions(open, part);
}

/* The sizes lie before the rows. */
bool part_line_same_sizes(const char *a, const char *b)
{
    const char *x = after(a, ",\"frame_size\":"), *y = after(b, ",\"frame_size\":");
    const char *end = x ? strstr(x, REPORT_ROWS) : NULL;
    return end && y && strncmp(x, y, (size_t)(end - x) + strlen(REPORT_ROWS)) == 0;
}
