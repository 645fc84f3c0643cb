/* SPDX-License-Identifier: MIT */
#include "cpu/planes.h"

#include <stdlib.h>

#include "integers.h"
#include "lcc/peak_scan.h"
#include "lcc/slices.h"
#include "lcc/threads.h"
#include "lcc/tiles.h"

void tm_planes_free(tm_planes_memory *m)
{
    tm_memory_free(&m->planes);
    tm_memory_free(&m->maps);
    tm_memory_free(&m->rows);
}

/* The products of a job, and the memory that they take. */
typedef struct layout {
    tm_plane_products products;
    int map_count; /* a map for each sum that is made of products, and a spare one */
    int rankers;   /* threads that make scores, each with room for its window sums */
    int64_t ranker_size;
} layout;

static size_t planes_size(const layout *l, const tm_job *job, int64_t rows)
{
    const tm_geometry *g = &job->geometry;
    const int64_t most = smaller(rows + g->template_height - 1, g->frame_height);
    return (size_t)(most * g->frame_width * l->products.planes);
}

static size_t maps_size(const layout *l, const tm_job *job, int64_t rows)
{
    return (size_t)(rows * job->geometry.map_width * l->map_count * 8);
}

static size_t rows_size(const layout *l)
{
    return (size_t)(l->rankers * l->ranker_size + 8);
}

/* Bytes for a band, which has a row more at each end where peaks are wanted. */
static int64_t band_size(const layout *l, const tm_job *job, int64_t rows)
{
    if (job->peaks)
        rows += 2;
    if (rows > job->geometry.map_height)
        rows = job->geometry.map_height;
    return (int64_t)(planes_size(l, job, rows) + maps_size(l, job, rows) + rows_size(l));
}

static layout make_layout(const tm_job *job, const tm_planes_call *call)
{
    layout l = {.map_count = 1, .rankers = 1};
    tm_plane_products_make(&l.products, job, tm_mask_plane(job->tmpl));
    for (int i = 0; i < TM_SUMS; i++)
        l.map_count += l.products.needed[i] && !l.products.sliding[i];
    l.ranker_size = tm_window_sums_size(&l.products, job, job->geometry.map_width) * 8;
    /* half of what a row leaves of the limit is for more threads than one */
    const int64_t more = (call->limit - band_size(&l, job, 1)) / 2 / (l.ranker_size + 1);
    if (more > 0)
        l.rankers = more < call->threads ? (int)more : call->threads;
    return l;
}

/* How many rows of the map fit in the limit; 0 if not even one does. */
static int64_t rows_that_fit(const layout *l, const tm_job *job, int64_t limit)
{
    int64_t low = 0, high = job->geometry.map_height;
    while (low < high) {
        const int64_t middle = high - (high - low) / 2;
        if (band_size(l, job, middle) <= limit)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Plane number index of the frame, in memory unless the frame is that plane. */
static tm_image plane_image(const tm_plane_products *p, const tm_image *frame, uint8_t *memory,
                            int index)
{
    tm_image image = {.samples = memory + (int64_t)index * frame->width * frame->height,
                      .width = frame->width,
                      .height = frame->height,
                      .stride = (ptrdiff_t)frame->width};
    if (index == 0 && p->channels * p->bytes == 1) {
        image.samples = frame->samples;
        image.stride = frame->stride;
    }
    return image;
}

/* Makes the planes that products take. */
static void split(const tm_plane_products *p, const tm_image *frame, uint8_t *memory, int threads)
{
    bool taken[TM_FRAME_PLANES] = {false};
    for (int i = 0; i < p->count; i++)
        taken[p->product[i].plane] = true;
    for (int i = 0; i < p->planes; i++) {
        const tm_image plane = plane_image(p, frame, memory, i);
        if (!taken[i] || plane.samples == frame->samples)
            continue;
        uint8_t *to = memory + (int64_t)i * frame->width * frame->height;
        const int team = frame->width * frame->height > 100000 ? tm_team_size(threads) : 1;
#pragma omp parallel for num_threads(team) if (team > 1)
        for (int64_t y = 0; y < frame->height; y++)
            tm_plane_row(p, frame, i, 0, y, frame->width, to + y * frame->width);
    }
}

static void add_map(int64_t *restrict to, const int64_t *restrict map, int64_t count, int shift,
                    int threads)
{
    const int team = count > 100000 ? tm_team_size(threads) : 1;
#pragma omp parallel for num_threads(team) if (team > 1)
    for (int64_t i = 0; i < count; i++)
        to[i] += (int64_t)((uint64_t)map[i] << shift);
}

/* Makes the sums that products add up to. A product that is added to others is made in the spare
 * map first. */
static tm_status run_products(const tm_plane_products *p, const tm_job *job, const uint8_t *planes,
                              int64_t *const maps[TM_SUMS], int64_t *spare,
                              const tm_planes_call *call)
{
    const int64_t count = job->geometry.map_width * job->geometry.map_height;
    bool started[TM_SUMS] = {false};

    for (int i = 0; i < p->count; i++) {
        const tm_plane_product *product = &p->product[i];
        int64_t *map = started[product->sum] ? spare : maps[product->sum];
        tm_job one = {.geometry = job->geometry,
                      .metric = TM_METRIC_CCORR,
                      .frame = plane_image(p, &job->frame, (uint8_t *)planes, product->plane),
                      .tmpl = product->taps,
                      .map = {map, (ptrdiff_t)(job->geometry.map_width * 8)}};
        tm_status status = call->match_product(call->context, &one);
        if (status != TM_OK)
            return status;
        if (started[product->sum]) /* the first product of a sum has the shift 0 */
            add_map(maps[product->sum], map, count, product->shift, call->threads);
        started[product->sum] = true;
    }
    return TM_OK;
}

/* What the threads that make scores have in common. */
typedef struct ranking {
    const tm_plane_products *products;
    const tm_job *job;
    tm_scorer scorer;
    int64_t *const *maps;
    int64_t *rows; /* of size elements for each thread */
    int64_t size;
} ranking;

static void *begin_ranking(void *context, int thread)
{
    const ranking *r = context;
    return r->rows + thread * r->size;
}

/* A row's scores are made as soon as its sums are there. */
static void rank_tile(void *context, void *memory, const tm_tile *tile, tm_candidate *best)
{
    const ranking *r = context;
    tm_window_sums slide;

    tm_window_sums_start(&slide, r->products, r->job, memory, 0, tile->y, tile->width);
    for (int64_t y = tile->y; y < tile->y + tile->height; y++) {
        const int64_t *sums[TM_SUMS];
        tm_window_sums_row(&slide, tile->width);
        for (int i = 0; i < TM_SUMS; i++)
            sums[i] = r->maps[i] ? r->maps[i] + y * tile->width : slide.sums[i];
        tm_rank_row(tile->scan ? tm_peak_scan_row(tile->scan) : r->job, &r->scorer, r->products,
                    sums, 0, y, tile->width, best);
        if (tile->scan)
            tm_peak_scan_row_done(tile->scan);
    }
}

/* A thread has whole rows of the map, all in one tile. */
static tm_status rank(const tm_plane_products *p, tm_job *job, int64_t *const maps[TM_SUMS],
                      int64_t *rows, int threads)
{
    const tm_geometry *g = &job->geometry;
    ranking r = {.products = p,
                 .job = job,
                 .scorer = tm_scorer_make(job->tmpl, job->metric),
                 .maps = maps,
                 .rows = rows,
                 .size = tm_window_sums_size(p, job, g->map_width)};
    tm_tiles tiles = {.across = 1,
                      .width = g->map_width,
                      .height = ceil_div(g->map_height, threads)};
    tiles.down = ceil_div(g->map_height, tiles.height);
    return tm_tiles_match(job, &tiles, threads,
                          &(tm_tile_work){.context = &r, .begin = begin_ranking, .match = rank_tile});
}

/* Matches a job whose maps fit in the memory. */
static tm_status match_band(tm_planes_memory *m, tm_job *job, const layout *l,
                            const tm_planes_call *call)
{
    const int64_t count = job->geometry.map_width * job->geometry.map_height;
    int64_t *maps[TM_SUMS] = {NULL};
    const tm_plane_products *products = &l->products;

    if (!tm_memory_fit(&m->planes, planes_size(l, job, job->geometry.map_height)) ||
        !tm_memory_fit(&m->maps, maps_size(l, job, job->geometry.map_height)) ||
        !tm_memory_fit(&m->rows, rows_size(l)))
        return TM_ERR_MEMORY;

    int64_t *spare = m->maps.data;
    for (int i = 0; i < TM_SUMS; i++) {
        if (products->needed[i] && !products->sliding[i]) {
            maps[i] = spare;
            spare += count;
        }
    }
    split(products, &job->frame, m->planes.data, call->threads);
    tm_status status = run_products(products, job, m->planes.data, maps, spare, call);
    return status == TM_OK ? rank(products, job, maps, m->rows.data, l->rankers) : status;
}

static tm_status match_rows(tm_planes_memory *m, tm_job *job, const layout *l, tm_rows rows,
                            const tm_planes_call *call)
{
    tm_job band = tm_job_rows(job, rows, 0);
    tm_peak_list peaks;

    if (job->peaks) {
        tm_peak_list_init(&peaks, &job->peaks->search);
        band.peaks = &peaks;
    }
    const tm_status status = match_band(m, &band, l, call);
    if (status == TM_OK)
        tm_job_merge(job, &band, rows);
    if (job->peaks)
        tm_peak_list_free(&peaks);
    return status;
}

tm_status tm_planes_match(tm_planes_memory *m, tm_job *job, tm_planes_call *call)
{
    /* rows outside of these are there only for the sake of their neighbours' peaks */
    const int64_t first = job->peaks ? job->first_row : 0;
    const int64_t count = (job->peaks ? job->last_row : job->geometry.map_height) - first;
    const layout l = make_layout(job, call);
    const int64_t most = rows_that_fit(&l, job, call->limit);
    tm_status status = TM_OK;

    call->bands = 1;
    call->refused = 0;
    if (most >= job->geometry.map_height)
        return match_band(m, job, &l, call);
    if (most < 1) {
        call->refused = band_size(&l, job, 1);
        return TM_ERR_MEMORY;
    }
    call->bands = ceil_div(count, most);
    job->best = (tm_candidate)TM_NO_CANDIDATE;
    for (int64_t i = 0; i < call->bands && status == TM_OK; i++) {
        const tm_rows rows = {first + count * i / call->bands,
                              first + count * (i + 1) / call->bands};
        status = match_rows(m, job, &l, rows, call);
    }
    return status;
}
