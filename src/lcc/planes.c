/* SPDX-License-Identifier: MIT */
#include "lcc/planes.h"

#include <string.h>

static void add_term(tm_plane_products *p, int plane, const tm_template *taps, int sum, int shift)
{
    p->product[p->count++] = (tm_plane_product){plane, taps, sum, shift};
}

static const tm_template *plane_of(const tm_template *t, int index)
{
    return t->planes ? t->planes[index] : t;
}

/* How many bytes the greatest Q has. */
static int square_bytes(const tm_image *frame)
{
    const int64_t most = tm_sample_most(frame->type);
    int64_t q = tm_image_channels(frame) * most * most;
    int bytes = 0;
    for (; q; q >>= 8)
        bytes++;
    return bytes;
}

static void add_masked_terms(tm_plane_products *p, const tm_template *mask)
{
    const int samples = p->channels * p->bytes;

    for (int i = 0; p->needed[TM_SUM_F] && i < samples; i++)
        add_term(p, i, mask, TM_SUM_F + i / p->bytes, 8 * (i % p->bytes));
    for (int i = 0; i < p->squares; i++)
        add_term(p, samples + i, mask, TM_SUM_FF, 8 * i);
    if (p->z)
        add_term(p, samples + p->squares, mask, TM_SUM_TOUCHED, 0);
}

const tm_template *tm_mask_plane(const tm_template *t)
{
    return t->mask ? t->planes[t->plane_count - 1] : NULL;
}

static bool wants_best_alone(const tm_job *job)
{
    return !job->map.data && !job->peaks;
}

bool tm_jobs_share_mask(const tm_job *a, const tm_job *b)
{
    const tm_template *one = a->tmpl, *other = b->tmpl;
    return wants_best_alone(a) && wants_best_alone(b) && one->mask && other->mask &&
           one->width == other->width && one->height == other->height && one->type == other->type &&
           one->channels == other->channels && memcmp(one->mask, other->mask, (size_t)one->n) == 0;
}

void tm_plane_products_make(tm_plane_products *p, const tm_job *job, const tm_template *mask)
{
    const tm_template *t = job->tmpl;

    *p = (tm_plane_products){.channels = t->channels, .bytes = (int)tm_sample_size(t->type)};
    p->needed[TM_SUM_FT] = true;
    p->needed[TM_SUM_FF] = tm_needs_s_ff(job->metric);
    p->needed[TM_SUM_TOUCHED] = job->frame.mask != NULL;
    for (int c = 0; c < p->channels; c++)
        p->needed[TM_SUM_F + c] = tm_needs_s_f(job->metric);
    if (mask && p->needed[TM_SUM_FF])
        p->squares = square_bytes(&job->frame);
    p->z = p->needed[TM_SUM_TOUCHED];
    p->planes = p->channels * p->bytes + p->squares + p->z;

    /* neighbours share the frame's plane */
    for (int c = 0; c < p->channels; c++) {
        for (int i = 0; i < p->bytes; i++) {
            for (int j = 0; j < p->bytes; j++)
                add_term(p, c * p->bytes + i, plane_of(t, c * p->bytes + j), TM_SUM_FT,
                         8 * (i + j));
        }
    }
    if (mask)
        add_masked_terms(p, mask);
    for (int i = TM_SUM_FF; i < TM_SUMS; i++)
        p->sliding[i] = p->needed[i] && !mask;
}

static const uint16_t *row_u16(const tm_image *frame, int64_t y)
{
    return (const uint16_t *)(const void *)(frame->samples + y * frame->stride);
}

static void square_row(const tm_image *frame, int channels, int shift, int64_t x, int64_t y,
                       int64_t count, uint8_t *to)
{
    const uint8_t *row = frame->samples + y * frame->stride + x * channels;
    const uint16_t *samples = row_u16(frame, y) + x * channels;
    for (int64_t i = 0; i < count; i++) {
        uint64_t q = 0;
        for (int c = 0; c < channels; c++) {
            uint32_t f =
                frame->type == TM_SAMPLE_U16 ? samples[i * channels + c] : row[i * channels + c];
            q += f * f;
        }
        to[i] = (uint8_t)(q >> shift);
    }
}

/* square_row for 8-bit gray, which compilers turn into vectors. */
static void square_gray_row(uint8_t *restrict to, const uint8_t *from, int shift, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = (uint8_t)(from[i] * from[i] >> shift);
}

void tm_plane_row(const tm_plane_products *p, const tm_image *frame, int plane, int64_t x,
                  int64_t y, int64_t count, uint8_t *to)
{
    const int samples = p->channels * p->bytes;

    if (plane < samples && p->bytes == 2) {
        const uint16_t *from = row_u16(frame, y) + x * p->channels + plane / 2;
        for (int64_t i = 0; i < count; i++)
            to[i] = (uint8_t)(from[i * p->channels] >> 8 * (plane % 2));
    } else if (plane < samples) {
        const uint8_t *from = frame->samples + y * frame->stride + x * p->channels + plane;
        for (int64_t i = 0; i < count; i++)
            to[i] = from[i * p->channels];
    } else if (plane < samples + p->squares && samples == 1) {
        square_gray_row(to, frame->samples + y * frame->stride + x, 8 * (plane - samples), count);
    } else if (plane < samples + p->squares) {
        square_row(frame, p->channels, 8 * (plane - samples), x, y, count, to);
    } else {
        const uint8_t *from = frame->mask + y * frame->mask_stride + x;
        for (int64_t i = 0; i < count; i++)
            to[i] = from[i] == 0;
    }
}

int64_t tm_window_sums_size(const tm_plane_products *p, const tm_job *job, int64_t count)
{
    int64_t size = 0;
    for (int i = 0; i < TM_SUMS; i++) {
        if (p->sliding[i])
            size += 2 * count + job->geometry.template_width - 1;
    }
    return size;
}

/* Finds which columns [*first, *last) lie in the frame, and returns where column 0 lies in it,
 * below 0 if left of it. */
static int64_t clip(const tm_window_sums *s, int64_t *first, int64_t *last)
{
    const int64_t x = s->x - s->job->geometry.pad_x, width = s->job->frame.width;
    *first = x < 0 ? -x : 0;
    *last = s->columns < width - x ? s->columns : width - x;
    return x;
}

/* Adds frame row y to the sums of columns, or takes it away. */
static void enter_row(const tm_window_sums *s, int64_t y, int sign)
{
    const tm_image *frame = &s->job->frame;
    const int channels = s->products->channels;
    int64_t first, last, x = clip(s, &first, &last);

    if (y < 0 || y >= frame->height)
        return;
    for (int c = 0; c < channels; c++) {
        int64_t *restrict sum = s->column[TM_SUM_F + c], *restrict sq = s->column[TM_SUM_FF];
        if (!sum && !sq)
            break;
        const uint8_t *row = frame->samples + y * frame->stride + x * channels + c;
        const uint16_t *samples = row_u16(frame, y) + x * channels + c;
        for (int64_t i = first; i < last; i++) {
            uint32_t f = frame->type == TM_SAMPLE_U16 ? samples[i * channels] : row[i * channels];
            if (sum)
                sum[i] += sign * (int64_t)f;
            if (sq)
                sq[i] += sign * (int64_t)(f * f);
        }
    }
    if (s->column[TM_SUM_TOUCHED]) {
        for (int64_t i = first; i < last; i++)
            s->column[TM_SUM_TOUCHED][i] +=
                sign * (frame->mask[y * frame->mask_stride + x + i] == 0);
    }
}

void tm_window_sums_start(tm_window_sums *s, const tm_plane_products *products, const tm_job *job,
                          int64_t *memory, int64_t x, int64_t y, int64_t count)
{
    *s = (tm_window_sums){.job = job, .products = products, .x = x, .y = y};
    s->columns = count + job->geometry.template_width - 1;
    for (int i = 0; i < TM_SUMS; i++) {
        if (!products->sliding[i])
            continue;
        s->column[i] = memory;
        s->sums[i] = memory + s->columns;
        memset(memory, 0, (size_t)s->columns * sizeof *memory);
        memory += s->columns + count;
    }
    for (int64_t v = 0; v < job->geometry.template_height - 1; v++)
        enter_row(s, y - job->geometry.pad_y + v, 1);
}

void tm_window_sums_row(tm_window_sums *s, int64_t count)
{
    const tm_geometry *g = &s->job->geometry;
    const int64_t w = g->template_width, y = s->y - g->pad_y;

    enter_row(s, y + g->template_height - 1, 1);
    for (int i = 0; i < TM_SUMS; i++) {
        const int64_t *column = s->column[i];
        int64_t sum = 0;
        if (!column)
            continue;
        for (int64_t u = 0; u < w - 1; u++)
            sum += column[u];
        for (int64_t x = 0; x < count; x++) {
            sum += column[x + w - 1];
            s->sums[i][x] = sum;
            sum -= column[x];
        }
    }
    enter_row(s, y, -1);
    s->y++;
}

/* Inlined, so that what the callers know of channels and int128 is known when it is compiled. */
__attribute__((always_inline)) static inline void
rank_as(const tm_job *job, const tm_scorer *scorer, const tm_plane_products *products,
        const int64_t *const sums[TM_SUMS], int64_t x, int64_t y, int64_t count, tm_candidate *best,
        int channels, bool int128)
{
    const int64_t position = y * job->geometry.map_width + x;

    for (int64_t i = 0; i < count; i++) {
        if (products->needed[TM_SUM_TOUCHED] && sums[TM_SUM_TOUCHED][i]) {
            tm_value skipped = tm_skipped_value(job->metric);
            tm_job_store(job, x + i, y, &skipped);
            continue;
        }
        tm_sums window = {.s_ft = sums[TM_SUM_FT][i]};
        if (products->needed[TM_SUM_FF])
            window.s_ff = sums[TM_SUM_FF][i];
        for (int c = 0; c < channels; c++) {
            if (products->needed[TM_SUM_F + c])
                window.s_f[c] = sums[TM_SUM_F + c][i];
        }
        tm_value value = tm_score_as(scorer, &window, channels, int128);
        tm_candidate candidate = {value.rank, position + i};
        tm_job_store(job, x + i, y, &value);
        if (tm_candidate_beats(candidate, *best))
            *best = candidate;
    }
}

void tm_rank_row(const tm_job *job, const tm_scorer *scorer, const tm_plane_products *products,
                 const int64_t *const sums[TM_SUMS], int64_t x, int64_t y, int64_t count,
                 tm_candidate *best)
{
    if (products->channels == 1 && !scorer->int128)
        rank_as(job, scorer, products, sums, x, y, count, best, 1, false);
    else if (!scorer->int128)
        rank_as(job, scorer, products, sums, x, y, count, best, products->channels, false);
    else
        rank_as(job, scorer, products, sums, x, y, count, best, products->channels, true);
}
