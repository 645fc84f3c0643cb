/* SPDX-License-Identifier: MIT */
#include "run/heatmap.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "run/pose.h"
#include "text.h"

/* The number of a colour that is not in the map, white. */
enum { MARKS = 9 };

/* How far a window's middle is from its corner. An even size has two middle pixels: the first is
 * meant, as with --domain same. */
static int64_t middle(int64_t size)
{
    return (size - 1) / 2;
}

/* Where the map's first window has its upper left corner. */
static int64_t first_corner(tm_domain domain, int64_t crop, int64_t size)
{
    return crop - (domain == TM_DOMAIN_FULL   ? size - 1
                   : domain == TM_DOMAIN_SAME ? middle(size)
                                              : 0);
}

/* With poses each score is at its centre, the frame's pixel. */
static int64_t width_of(const cli_result *r)
{
    return r->poses ? 1 : r->template_width;
}

static int64_t height_of(const cli_result *r)
{
    return r->poses ? 1 : r->template_height;
}

static char *describe(const cli_result *r, const score_map *map, const io_heatmap *h)
{
    const io_heat range = io_heatmap_range(h);
    char *text = NULL, best[2 * TEXT_SCORE_SIZE + 64] = "no position has a score",
         label[TEXT_SCORE_SIZE];

    if (!isnan(range.best)) {
        text_label(label, map->integers, range.best);
        snprintf(best, sizeof best, "best %s %s %" PRId64 ",%" PRId64, label,
                 r->poses ? "around" : "at", range.x - (h->under ? middle(width_of(r)) : 0),
                 range.y - (h->under ? middle(height_of(r)) : 0));
    }
    if (asprintf(&text, "%s, %s in %s, %s", tm_metric_name(map->metric), text_base_name(r->tmpl),
                 text_base_name(r->frame), best) < 0)
        return NULL;
    return text;
}

static bool write(const char *path, io_heatmap *h, const cli_result *r, const score_map *map,
                  io_error *error)
{
    char *first = describe(r, map, h), second[128];
    const char *caption[] = {first, second};
    const int64_t reduction = io_heatmap_reduction(h);

    if (!first) {
        strcpy(error->reason, tm_strerror(TM_ERR_MEMORY));
        return false;
    }
    if (r->poses)
        snprintf(second, sizeof second, "each score is the best of %zu pose%s about that centre",
                 r->poses, r->poses == 1 ? "" : "s");
    else
        snprintf(second, sizeof second, "each score is at its window's %s",
                 h->under ? "middle" : "upper left corner");
    if (reduction > 1)
        snprintf(second + strlen(second), sizeof second - strlen(second),
                 "; a pixel is the best of %" PRId64 "x%" PRId64, reduction, reduction);
    h->caption = caption;
    h->paragraphs = 2;
    const bool written = io_write_heatmap(path, h, error);
    free(first);
    return written;
}

static io_box mark_of(const cli_result *r, const cli_match *m, bool framed)
{
    io_box mark = {.x = m->x, .y = m->y, .w = m->w, .h = m->h, .color = MARKS, .weak = m->weak};

    if (!framed) {
        mark.x = r->poses ? (int64_t)floor(m->pose.center[0]) : m->x;
        mark.y = r->poses ? (int64_t)floor(m->pose.center[1]) : m->y;
        mark.w = mark.h = 1;
    }
    text_label(mark.label, r->integers, m->score);
    return mark;
}

bool heatmap_write(const char *path, const cli_options *o, const score_map *map,
                   const cli_result *r, const io_crop *crop, const io_picture *frame,
                   io_error *error)
{
    const int64_t w = width_of(r), h = height_of(r);
    const tm_domain domain = o->settings.domain;
    io_box *marks = calloc(r->match_count + 1, sizeof *marks);
    io_corners *turned = calloc(r->match_count + 1, sizeof *turned);
    io_heatmap heatmap = {.x = first_corner(domain, crop->x, w) + (frame ? middle(w) : 0),
                          .y = first_corner(domain, crop->y, h) + (frame ? middle(h) : 0),
                          .width = map->width,
                          .height = map->height,
                          .integers = map->integers,
                          .values = map->data,
                          .least_is_best = tm_metric_is_distance(map->metric),
                          .under = frame,
                          .marks = marks,
                          .turned = frame && pose_turns(o) ? turned : NULL,
                          .mark_count = r->match_count};
    bool written = false;

    strcpy(error->reason, tm_strerror(TM_ERR_MEMORY));
    for (size_t i = 0; i < r->match_count && marks && turned; i++) {
        marks[i] = mark_of(r, &r->matches[i], frame);
        turned[i] = pose_place(&r->matches[i].pose);
    }
    if (marks && turned)
        written = write(path, &heatmap, r, map, error);
    const int64_t reduction = io_heatmap_reduction(&heatmap);
    if (written && reduction > 1 && !o->quiet)
        message_info(path, "a pixel stands for the best of %dx%d positions", (int)reduction,
                (int)reduction);
    free(turned);
    free(marks);
    return written;
}
