/* SPDX-License-Identifier: MIT */
/* The direct algorithm: tiles of the score map, shared out over threads. */
#include "lcc/cpu/direct.h"

#include "lcc/cpu/tile.h"
#include "lcc/tiles.h"

enum {
    TILE_WIDTH = 1024, /* a multiple of TM_BLOCK */
    TILE_HEIGHT = 192, /* a multiple of TILE_STEP */
    SMALL_TILE_WIDTH = 256,
    SMALL_TILE_HEIGHT = 96,
    TALL = 48, /* templates */
    TILE_STEP = 12, /* a multiple of every kernel's rows */
    TILES_PER_THREAD = 4,
};

/* Jobs of less work, in products, stay on one thread: waking the others takes some 10 us, in which
 * AVX-512 does 2 million. The sums and the score of a window take as long as 150 products. */
#define SMALL_JOB 5e6
#define WINDOW_WORK 150.0

/* Whether sums fit 32 bits. High templates are packed in parts too, which bounds the staged rows. */
static bool fits_32_bits(const tm_template *t)
{
    return t->n <= TM_PACKED_TAPS && t->height <= 1024;
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

/* Cuts the map into equal tiles, more of them than threads as long as each is a step high. */
static tm_tiles tile_map(const tm_geometry *g, int threads, bool small)
{
    const int width = small ? SMALL_TILE_WIDTH : TILE_WIDTH;
    const int height = small ? SMALL_TILE_HEIGHT : TILE_HEIGHT;
    tm_tiles t = {.across = ceil_div(g->map_width, width)};
    t.width = round_up(ceil_div(g->map_width, t.across), TM_BLOCK);
    t.across = ceil_div(g->map_width, t.width);

    t.down = ceil_div(g->map_height, height);
    if (threads > 1)
        t.down = larger(t.down, ceil_div(threads * TILES_PER_THREAD, t.across));
    t.height = round_up(ceil_div(g->map_height, t.down), TILE_STEP);
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
    return planes > 1 && (p->packed[0].planes || p->packed[0].h >= TALL);
}

/* One match, seen by all its threads. */
typedef struct run {
    tm_cpu *cpu;
    const tm_job *job;
    bool sums_32;
    tm_packed_taps packed;  /* the packed template, if sums_32 */
    tm_tile_planes *planes; /* NULL if the job is plain */
    size_t needed;   /* bytes of scratch */
} run;

static void *begin(void *context, int thread)
{
    const run *r = context;
    tm_cpu_scratch *s = &r->cpu->scratch[thread];
    return grow(&s->memory, &s->size, r->needed) ? s->memory : NULL;
}

static void match_tile(void *context, void *memory, const tm_tile *tile, tm_candidate *best)
{
    const run *r = context;
    const tm_cpu_kernels *kernels = &r->cpu->kernels;
    const tm_candidate candidate =
        r->planes   ? tm_tile_of_planes(kernels, memory, r->job, r->planes, tile)
        : r->sums_32 ? tm_tile_32(kernels, memory, r->job, &r->packed, tile)
                     : tm_tile_64(kernels, memory, r->job, tile);
    if (tm_candidate_beats(candidate, *best))
        *best = candidate;
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
    } else if (r->sums_32) {
        if (!grow(&cpu->taps, &cpu->taps_size, tm_packed_taps_size(r->packed.w, r->packed.h)))
            return false;
        r->packed.taps = cpu->taps;
        cpu->kernels.pack(&r->packed, t->samples, (ptrdiff_t)t->width);
    }
    return true;
}

static size_t scratch_size(const run *r, const tm_tiles *tiles)
{
    const int64_t width = tiles->width, height = tiles->height;
    return r->planes   ? tm_tile_of_planes_size(r->job, r->planes, width, height)
           : r->sums_32 ? tm_tile_32_size(r->job, width, height)
                        : tm_tile_64_size(r->job, width, height);
}

bool tm_cpu_takes(const tm_job *job)
{
    return tm_job_is_plain(job) || (!tm_job_is_f32(job) && fits_32_bits(job->tmpl));
}

tm_status tm_cpu_match(tm_cpu *cpu, tm_job *job)
{
    const tm_geometry *g = &job->geometry;
    const tm_template *t = job->tmpl;
    bool small = (double)g->map_width * (double)g->map_height * ((double)t->n + WINDOW_WORK) < SMALL_JOB;
    int threads = small ? 1 : cpu->threads;
    run r = {.cpu = cpu,
             .job = job,
             .sums_32 = fits_32_bits(t),
             .packed = {.w = (int)t->width, .h = (int)t->height}};
    tm_tile_planes planes;

    if (!tm_job_is_plain(job)) {
        tm_tile_planes_make(&planes, job);
        r.planes = &planes;
    }
    if (!pack(&r))
        return TM_ERR_MEMORY;
    const tm_tiles tiles = tile_map(g, threads, r.planes && wants_small_tiles(r.planes));
    r.needed = scratch_size(&r, &tiles);
    return tm_tiles_match(job, &tiles, threads,
                          &(tm_tile_work){.context = &r, .begin = begin, .match = match_tile});
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
