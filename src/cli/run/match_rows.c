/* SPDX-License-Identifier: MIT */
#include "run/match_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
    const cli_input *frame;
    io_crop crop; /* the whole frame, where there is none */
    uint8_t *row; /* room for one of the whole picture */
    io_error error;
} reader;

/* For tm_row_source. The library asks for rows in order, once. */
static int read_rows(void *context, int64_t first, int64_t count, uint8_t *to, ptrdiff_t stride)
{
    reader *r = context;
    const bool skipped =
        first > 0 || io_rows_skip(r->frame->rows, r->crop.y, r->row, &r->error);
    return skipped && input_read_rows(r->frame->rows, &r->crop, IO_GRAY, r->row, count, to, stride,
                                      &r->error)
               ? 0
               : -1;
}

typedef struct map_writer {
    io_npy npy;
    io_error error;
} map_writer;

/* For tm_row_sink. */
static int write_rows(void *context, int64_t first, int64_t count, const void *rows)
{
    map_writer *w = context;
    (void)first;
    return io_npy_write(&w->npy, count, rows, &w->error) ? 0 : -1;
}

/* The option that needs the frame, or all its scores, in memory; or NULL. */
static const char *unsuited(const cli_options *o)
{
    return o->output              ? "--output"
           : o->crops             ? "--crops"
           : o->heatmap           ? "--heatmap"
           : o->report            ? "--report"
           : o->verify            ? "--verify"
           : o->subpixel          ? "--subpixel"
           : o->color             ? "--color"
           : o->posed             ? "--angle or --scale"
           : o->mask              ? "--mask"
           : o->frame_mask        ? "--frame-mask"
           : o->depth == 16       ? "--depth 16"
           : o->depth == 32       ? "--depth float"
           : o->settings.metric > TM_METRIC_CCORR ? "this --metric"
           : o->most_matches != 1 ? "-n"
                                  : NULL;
}

static bool open_map(const cli_engine *e, const cli_input *frame, const cli_pair *pair,
                     map_writer *w, io_error *error)
{
    const tm_settings *s = &e->settings;
    int64_t width, height;
    if (tm_map_size(s->domain, frame->gray.width, frame->gray.height, pair->result.template_width,
                    pair->result.template_height, &width, &height) != TM_OK) {
        strcpy(error->reason, tm_strerror(TM_ERR_INVALID));
        return false;
    }
    return io_npy_open(&w->npy, e->options->map,
                       tm_metric_is_integer(s->metric) ? IO_NPY_INT64 : IO_NPY_FLOAT32, height,
                       width, error);
}

/* Says why it failed: reading and writing rows have their own reasons, the library knows the
 * others. */
static void explain(const cli_engine *e, tm_status status, const reader *r, const map_writer *w,
                    io_error *error)
{
    if (status == TM_ERR_ROWS && r->error.reason[0])
        *error = r->error;
    else if (status == TM_ERR_ROWS && w->error.reason[0])
        *error = w->error;
    else
        snprintf(error->reason, sizeof error->reason, "%s", library_reason(e->matcher, status));
}

static bool find(const cli_engine *e, reader *r, size_t count, map_writer *writer,
                 io_error *error)
{
    const tm_row_source source = {r->crop.width, r->crop.height, read_rows, r};
    const tm_row_sink sink = {write_rows, writer};
    for (size_t k = 0; k < count; k++)
        e->chosen[k] = e->prepared[0][e->order[k]];
    const tm_status status = tm_match_rows(e->matcher, &source, e->chosen, count, e->peaks,
                                           e->options->map ? &sink : NULL);
    if (status == TM_OK)
        return true;
    explain(e, status, r, writer, error);
    return false;
}

/* --map is for one template. */
bool match_rows(const cli_engine *e, const cli_input *frame, const io_crop *crop, size_t count,
                const cli_pair *pairs, io_error *error)
{
    const char *option = unsuited(e->options);
    reader r = {.frame = frame, .crop = {frame->gray.width, frame->gray.height, crop->x, crop->y}};
    map_writer writer = {0};

    if (option) {
        snprintf(error->reason, sizeof error->reason,
                 "--max-memory has no room for %" PRId64 "x%" PRId64
                 " pixels, and %s needs them all",
                 frame->gray.width, frame->gray.height, option);
        return false;
    }
    r.row = malloc((size_t)frame->whole_width);
    if (!r.row) {
        strcpy(error->reason, tm_strerror(TM_ERR_MEMORY));
        return false;
    }
    const bool mapped = e->options->map != NULL;
    bool good = !mapped || open_map(e, frame, &pairs[e->order[0]], &writer, error);
    if (good) {
        good = find(e, &r, count, &writer, error);
        if (mapped && good)
            good = io_npy_commit(&writer.npy, error);
        else if (mapped)
            io_npy_abort(&writer.npy);
    }
    free(r.row);
    return good;
}
