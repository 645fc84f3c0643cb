/* SPDX-License-Identifier: MIT */
/* The direct algorithm: tiles of the score map, shared out over threads. */
#include "lcc/cpu/direct.h"

#include <omp.h>

#include "lcc/cpu/tile.h"

enum {
    TILE_WIDTH = 1024, /* a multiple of TM_BLOCK */
    TILE_HEIGHT = 192, /* a multiple of TILE_STEP */
    SMALL_TILE_WIDTH = 256,
    SMALL_TILE_HEIGHT = 96,
    TALL = 48, /* templates */
    TILE_STEP = 12, /* a multiple of every kernel's rows */
    TILES_PER_THREAD = 4,
};

/* Jobs of less work stay on one thread: waking the others takes some 10 us, in
 * which AVX-512 does 2 million products. The sums and the score of a window take
 * as long as 150 products. */
#define SMALL_JOB 5e6
#define WINDOW_WORK 150.0

/* High templates go panel by panel too, which bounds the staged rows. */
static bool is_narrow(const tm_template *t)
{
    return t->n <= TM_PANEL_TAPS && t->height <= 1024;
}

static bool grow(void *buffer, size_t *size, size_t needed)
{
    void **pointer = buffer;
    if (*size >= needed)
        return true;
    free(*pointer);
    *size = 0;
    *pointer = aligned_alloc(128, (size_t)round_up((int64_t)needed, 128));
    if (!*pointer)
        return false;
    *size = needed;
    return true;
}

typedef struct tiling {
    int64_t across, down;
    int width, height;
} tiling;

/* Equal tiles; more of them than threads, if they can stay a step high. */
static tiling tile_map(const tm_geometry *g, int threads, bool small)
{
    const int width = small ? SMALL_TILE_WIDTH : TILE_WIDTH;
    const int height = small ? SMALL_TILE_HEIGHT : TILE_HEIGHT;
    tiling t;
    t.across = ceil_div(g->map_width, width);
    t.width = (int)round_up(ceil_div(g->map_width, t.across), TM_BLOCK);
    t.across = ceil_div(g->map_width, t.width);

    t.down = ceil_div(g->map_height, height);
    if (threads > 1)
        t.down = larger(t.down, ceil_div(threads * TILES_PER_THREAD, t.across));
    t.height = (int)round_up(ceil_div(g->map_height, t.down), TILE_STEP);
    t.down = ceil_div(g->map_height, t.height);
    return t;
}

/* Several planes, and the products with each, leave the second-level cache if they are
 * expanded to four times their size, or if many rows of them are read for one. */
static bool wants_small_tiles(const tm_tile_planes *p)
{
    int planes = 0;
    for (int i = 0; i < TM_TILE_PLANES; i++)
        planes += p->correlated[i];
    return planes > 1 && (p->panel[0].planes || p->panel[0].h >= TALL);
}

/* One match, seen by all its threads. */
typedef struct run {
    tm_cpu *cpu;
    const tm_job *job;
    tiling tiles;
    bool narrow;
    tm_panel panel;  /* the packed template, if narrow */
    tm_tile_planes *planes; /* NULL if the job is plain */
    size_t needed;   /* bytes of scratch */
    tm_peak_grid grid; /* if the job wants peaks */
    _Alignas(128) int64_t next; /* tile to take; written by all threads */
    _Alignas(128) tm_candidate best;
    bool failed;
} run;

static void run_tiles(run *r, int thread)
{
    const tm_geometry *g = &r->job->geometry;
    const tm_cpu_kernels *kernels = &r->cpu->kernels;
    tm_cpu_scratch *s = &r->cpu->scratch[thread];
    bool fits = grow(&s->memory, &s->size, r->needed);
    tm_candidate best = TM_NO_CANDIDATE;
    tm_peak_scan peaks = {0}, *scan = r->job->peaks ? &peaks : NULL;

    while (fits) {
        int64_t i;
#pragma omp atomic capture
        i = r->next++;
        if (i >= r->tiles.across * r->tiles.down)
            break;
        tm_tile tile = {.x = i % r->tiles.across * r->tiles.width,
                        .y = i / r->tiles.across * r->tiles.height};
        tile.width = (int)smaller(r->tiles.width, g->map_width - tile.x);
        tile.height = (int)smaller(r->tiles.height, g->map_height - tile.y);
        if (scan && !tm_peak_scan_begin(scan, &r->grid, i % r->tiles.across, i / r->tiles.across)) {
            fits = false;
            break;
        }
        tm_candidate candidate =
            r->planes   ? tm_tile_of_planes(kernels, s->memory, r->job, r->planes, &tile, scan)
            : r->narrow ? tm_tile_narrow(kernels, s->memory, r->job, &r->panel, &tile, scan)
                        : tm_tile_wide(kernels, s->memory, r->job, &tile, scan);
        if (tm_candidate_beats(candidate, best))
            best = candidate;
    }
    tm_peak_scan_free(&peaks);
#pragma omp critical(tm_cpu_merge)
    {
        r->failed |= !fits;
        if (tm_candidate_beats(best, r->best))
            r->best = best;
    }
}

/* The tiles are the cells. */
static bool init_grid(run *r)
{
    const tm_geometry *g = &r->job->geometry;
    tm_peak_grid *grid = &r->grid;

    if (!tm_peak_grid_init(grid, r->job, r->tiles.across, r->tiles.down))
        return false;
    for (int64_t i = 0; i <= r->tiles.across; i++)
        grid->x.at[i] = smaller(i * r->tiles.width, g->map_width);
    for (int64_t i = 0; i <= r->tiles.down; i++)
        grid->y.at[i] = smaller(i * r->tiles.height, g->map_height);
    return true;
}

/* Packed anew for each frame: that reads the template once, as finding out whether
 * it is still the same one would. */
static bool pack(run *r)
{
    tm_cpu *cpu = r->cpu;
    const tm_template *t = r->job->tmpl;

    if (r->planes) {
        if (!grow(&cpu->taps, &cpu->taps_size, tm_tile_planes_taps_size(r->job)))
            return false;
        tm_tile_planes_pack(r->planes, &cpu->kernels, r->job, (char *)cpu->taps);
    } else if (r->narrow) {
        if (!grow(&cpu->taps, &cpu->taps_size, tm_panel_size(r->panel.w, r->panel.h)))
            return false;
        r->panel.taps = cpu->taps;
        cpu->kernels.pack(&r->panel, t->samples, (ptrdiff_t)t->width);
    }
    return true;
}

static size_t scratch_size(const run *r)
{
    const int width = r->tiles.width, height = r->tiles.height;
    return r->planes   ? tm_tile_of_planes_size(r->job, r->planes, width, height)
           : r->narrow ? tm_tile_narrow_size(r->job, width, height)
                       : tm_tile_wide_size(r->job, width, height);
}

bool tm_cpu_takes(const tm_job *job)
{
    return tm_job_is_plain(job) || (!tm_job_is_f32(job) && is_narrow(job->tmpl));
}

tm_status tm_cpu_match(tm_cpu *cpu, tm_job *job)
{
    const tm_geometry *g = &job->geometry;
    const tm_template *t = job->tmpl;
    bool small = (double)g->map_width * (double)g->map_height * ((double)t->n + WINDOW_WORK) < SMALL_JOB;
    int threads = small ? 1 : cpu->threads;
    run r = {.cpu = cpu,
             .job = job,
             .narrow = is_narrow(t),
             .panel = {.w = (int)t->width, .h = (int)t->height},
             .best = TM_NO_CANDIDATE};
    tm_tile_planes planes;

    if (!tm_job_is_plain(job)) {
        tm_tile_planes_make(&planes, job);
        r.planes = &planes;
    }
    if (!pack(&r))
        return TM_ERR_MEMORY;
    r.tiles = tile_map(g, threads, r.planes && wants_small_tiles(r.planes));
    r.needed = scratch_size(&r);

    if (job->peaks && !init_grid(&r)) {
        tm_peak_grid_free(&r.grid);
        return TM_ERR_MEMORY;
    }

    /* No parallel region of one thread: it would end the threads that wait for the
     * next large job. */
    if (threads == 1) {
        run_tiles(&r, 0);
    } else {
#pragma omp parallel num_threads(threads)
        run_tiles(&r, omp_get_thread_num());
    }
    if (job->peaks) {
        r.failed = r.failed || !tm_peak_grid_finish(&r.grid);
        tm_peak_grid_free(&r.grid);
    }
    if (r.failed)
        return TM_ERR_MEMORY;
    job->best = r.best;
    return TM_OK;
}

tm_status tm_cpu_init(tm_cpu *cpu, int threads, uint32_t features)
{
    tm_cpu_kernels_init(&cpu->kernels, features);
    cpu->threads = threads;
    size_t size = (size_t)threads * sizeof *cpu->scratch;
    cpu->scratch = aligned_alloc(_Alignof(tm_cpu_scratch), size);
    if (!cpu->scratch)
        return TM_ERR_MEMORY;
    memset(cpu->scratch, 0, size);
    return TM_OK;
}

void tm_cpu_free(tm_cpu *cpu)
{
    for (int i = 0; cpu->scratch && i < cpu->threads; i++)
        free(cpu->scratch[i].memory);
    free(cpu->scratch);
    free(cpu->taps);
    cpu->scratch = NULL;
    cpu->taps = NULL;
}
