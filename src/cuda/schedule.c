/* SPDX-License-Identifier: MIT */
#include "cuda/schedule.h"

#include "integers.h"
#include "lcc/planes.h"

#define CHUNK_STEP 64 /* rows; a multiple of every kernel's tile */

static bool is_alone(const tm_job *job)
{
    return !tm_job_is_plain(job) || job->map.data || job->peaks || job->tiling;
}

/* 8-bit gray under the template's mask, whose best match alone is wanted. */
static bool is_masked(const tm_job *job)
{
    return job->tmpl->mask && job->tmpl->plane_count == 2 && tm_image_is_plain(&job->frame) &&
           job->metric == TM_METRIC_LCC && !job->tiling && tm_jobs_share_mask(job, job);
}

size_t tm_group_size(const tm_job *jobs, size_t count)
{
    size_t size = 1;
    while (size < count && size < TM_GROUP_MAX && is_masked(&jobs[0]) && is_masked(&jobs[size]) &&
           tm_jobs_share_mask(&jobs[0], &jobs[size]))
        size++;
    while (size < count && size < TM_GROUP_MAX && !is_alone(&jobs[0]) && !is_alone(&jobs[size]) &&
           jobs[size].tmpl->width == jobs[0].tmpl->width &&
           jobs[size].tmpl->height == jobs[0].tmpl->height &&
           jobs[size].certified == jobs[0].certified)
        size++;
    return size;
}

tm_layout tm_layout_of(const tm_geometry *g)
{
    tm_layout l = {g->frame_width, g->frame_height, g->pad_x, g->pad_y, 0, 0};
    l.rows = g->map_height + g->template_height - 1 + TM_SLACK_ROWS;
    l.pitch = (size_t)round_up(g->map_width + g->template_width - 1 + TM_SLACK_COLUMNS, 256);
    return l;
}

bool tm_layout_equal(const tm_layout *a, const tm_layout *b)
{
    return a->frame_width == b->frame_width && a->frame_height == b->frame_height &&
           a->pad_x == b->pad_x && a->pad_y == b->pad_y && a->rows == b->rows &&
           a->pitch == b->pitch;
}

tm_frame_copy tm_frame_copy_of(const tm_job *job)
{
    tm_frame_copy copy = {.is_plain = tm_job_is_plain(job)};
    if (copy.is_plain) {
        copy.layout = tm_layout_of(&job->geometry);
    } else {
        copy.samples = job->frame.samples;
        copy.height = job->frame.height;
    }
    return copy;
}

bool tm_frame_copy_equal(const tm_frame_copy *a, const tm_frame_copy *b)
{
    return a->is_plain == b->is_plain && a->samples == b->samples && a->height == b->height &&
           tm_layout_equal(&a->layout, &b->layout);
}

bool tm_frame_is_there(const tm_job *jobs, size_t index)
{
    const tm_frame_copy own = tm_frame_copy_of(&jobs[index]);

    for (size_t before = index; before-- > 0;) {
        const tm_frame_copy last = tm_frame_copy_of(&jobs[before]);
        if (last.is_plain == own.is_plain) /* the device has one copy of each kind */
            return tm_frame_copy_equal(&own, &last);
    }
    return false;
}

double tm_products_ms(const tm_job *job)
{
    const double n = (double)job->tmpl->n * tm_image_channels(&job->frame);
    const double bytes = (double)tm_sample_size(job->frame.type);
    return tm_job_is_f32(job) ? n * 1.7e-10 : n * bytes * bytes * 4e-12;
}

/* Whether rows of tiles can be made without those below. */
static bool is_cut_by_tiles(const tm_job *job)
{
    return tm_job_is_plain(job) && !job->tiling->by_cufft && job->tiling->shift_y == 0;
}

tm_chunks tm_chunks_make(const tm_job *job, bool back, int64_t bytes)
{
    const tm_image *frame = &job->frame;
    const tm_geometry *g = &job->geometry;
    const int64_t pixel = tm_image_channels(frame) * tm_sample_size(frame->type);
    tm_chunks c = {.geometry = g};

    c.frame_row_bytes = job->on_device ? 0 : g->frame_width * (pixel + (frame->mask != NULL));
    c.map_row_bytes = back && !job->map_on_device ? g->map_width * (int64_t)tm_job_element(job) : 0;
    c.bytes = job->tiling && !is_cut_by_tiles(job) ? 0 : bytes;
    c.tile_rows = job->tiling ? job->tiling->step_y : 0;
    c.waits = (double)g->map_width * tm_products_ms(job) <
              (double)(c.frame_row_bytes + c.map_row_bytes) * TM_BYTE_MS;
    return c;
}

double tm_row_ms(const tm_job *job, bool with_frame)
{
    const tm_chunks row = tm_chunks_make(job, job->map.data, 0);
    const int64_t bytes = row.map_row_bytes + (with_frame ? row.frame_row_bytes : 0);
    return (double)job->geometry.map_width * tm_products_ms(job) + (double)bytes * TM_BYTE_MS;
}

static int64_t rows_for(int64_t bytes, int64_t row_bytes)
{
    return (bytes / row_bytes + CHUNK_STEP) / CHUNK_STEP * CHUNK_STEP;
}

/* The first chunks are small, because nothing is computed before they are there. Where kernels
 * wait for copies, the last ones are small too, because nothing is copied any more while they are
 * computed. Each of those is shorter than the one before by a third, which kernels keep up with if
 * they are that much quicker than the bus. But there are few chunks: between two copies an H200's
 * bus rests for 8 us, and launches of few rows do not fill the device. */
int64_t tm_chunks_end(const tm_chunks *c, int64_t first)
{
    const int64_t height = c->geometry->map_height, left = height - first;
    const int64_t row_bytes = c->frame_row_bytes + c->map_row_bytes;

    if (!c->bytes || !row_bytes)
        return height;
    if (c->tile_rows)
        return smaller(first + (c->bytes / 16 / (row_bytes * c->tile_rows) + 1) * c->tile_rows, height);
    const int64_t least = rows_for(c->bytes / 16, row_bytes);
    if (height < 4 * least)
        return height;
    const int64_t most = c->waits ? smaller(left / 3, rows_for(c->bytes, row_bytes)) : height;
    const int64_t rows = larger(smaller(first, most) / CHUNK_STEP * CHUNK_STEP, least);
    return left < rows + least ? height : first + rows;
}

int64_t tm_chunks_count(const tm_chunks *c)
{
    int64_t count = 0;
    for (int64_t y = 0; y < c->geometry->map_height; y = tm_chunks_end(c, y))
        count++;
    return count;
}

int64_t tm_chunks_needed(const tm_chunks *c, int64_t end)
{
    const tm_geometry *g = c->geometry;
    if (end == g->map_height)
        return g->frame_height;
    return smaller(end - 1 - g->pad_y + g->template_height, g->frame_height);
}
