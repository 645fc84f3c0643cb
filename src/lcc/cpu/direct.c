/* SPDX-License-Identifier: MIT */
/* The direct algorithm: tiles of the score map, shared out over threads. */
#include "lcc/cpu/direct.h"

#include <pthread.h>

#include "lcc/cpu/certified.h"
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
    CERTIFIED_HEIGHTS = 8, /* of the template: a tile reads as many rows more as that has */
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

/* Cuts the map into equal tiles, more of them than threads as long as each is a step high. */
static tm_tiles tile_map(const tm_geometry *g, int threads, int64_t width, int64_t height)
{
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
    tm_job *job;
    bool sums_32;
    tm_packed_taps packed;  /* the packed template, if sums_32 */
    tm_planes_job *planes; /* NULL if the job is plain */
    tm_certified *certified; /* NULL: exhaustively */
    size_t needed;   /* bytes of scratch */
} run;

static void *begin(void *context, int thread)
{
    const run *r = context;
    tm_cpu_scratch *s = &r->cpu->scratch[thread];
    return tm_memory_fit(&s->memory, r->needed) ? s->memory.data : NULL;
}

static void match_tile(void *context, void *memory, const tm_tile *whole, tm_candidate *best)
{
    const run *r = context;
    const tm_cpu_kernels *kernels = &r->cpu->kernels;
    tm_tile rest = *whole, *tile = &rest;

    if (r->certified) {
        const int64_t done = tm_certified_tile(r->certified, memory, whole, best);
        tile->y += done;
        tile->height -= done;
        if (!tile->height)
            return;
        tm_certified_note_scored(r->certified, tile->width * tile->height);
    }
    tm_candidate candidate;
    if (r->planes)
        tm_tile_of_planes(kernels, memory, r->planes, 1, tile, &candidate);
    else
        candidate = r->sums_32 ? tm_tile_32(kernels, memory, r->job, &r->packed, tile)
                               : tm_tile_64(kernels, memory, r->job, tile);
    if (tm_candidate_beats(candidate, *best))
        *best = candidate;
    if (r->certified)
        tm_certified_know(r->certified, *best);
}

/* Packed anew for each frame: that reads the template once, as finding out whether
 * it is still the same one would. */
static bool pack(run *r)
{
    tm_cpu *cpu = r->cpu;
    const tm_template *t = r->job->tmpl;

    if (r->planes) {
        if (!tm_memory_fit(&cpu->taps, tm_tile_planes_taps_size(r->job)))
            return false;
        tm_tile_planes_pack(&r->planes->planes, &cpu->kernels, r->job, cpu->taps.data);
    } else if (r->sums_32) {
        if (!tm_memory_fit(&cpu->taps, tm_packed_taps_size(r->packed.w, r->packed.h)))
            return false;
        r->packed.taps = cpu->taps.data;
        cpu->kernels.pack(&r->packed, t->samples, (ptrdiff_t)t->width);
    }
    return true;
}

static size_t scratch_size(const run *r, const tm_tiles *tiles)
{
    const int64_t width = tiles->width, height = tiles->height;
    const size_t exhaustive = r->planes    ? tm_tile_of_planes_size(r->planes, 1, width, height)
                              : r->sums_32 ? tm_tile_32_size(r->job, width, height)
                                           : tm_tile_64_size(r->job, width, height);
    const size_t certified =
        r->certified ? tm_certified_tile_size(r->certified, width, height) : 0;
    return certified > exhaustive ? certified : exhaustive;
}

bool tm_cpu_takes(const tm_job *job)
{
    return tm_job_is_plain(job) || (!tm_job_is_f32(job) && fits_32_bits(job->tmpl));
}

/* Tries the plan's level, and finer ones as long as windows that pass cost more than these do; takes the one that
 * cost least, and sets the job's declined where none pays. */
static tm_status try_levels(tm_cpu *cpu, tm_certified *certified, tm_job *job)
{
    tm_memory *memory = &cpu->scratch[0].memory;
    const tm_certified_plan plan = certified->plan;
    tm_certified_choice best = plan.by;
    double best_ns = INFINITY;

    for (int i = 0;; i++) {
        const size_t size = tm_certified_tile_size(certified, TM_CERTIFIED_TRIAL_WIDTH, TM_CERTIFIED_TRIAL_ROWS);
        if (!tm_memory_fit(memory, size))
            return TM_ERR_MEMORY;
        const double ns = tm_certified_trial(certified, memory->data);
        if (ns < best_ns) {
            best_ns = ns;
            best = certified->plan.by;
        }
        /* an infinite one tells of the known score, not of the level */
        if (ns == INFINITY || i == plan.finer_count || best_ns <= plan.finer[i].look_ns)
            break;
        tm_certified_take(certified, &plan.finer[i]);
    }
    if (best.level != certified->plan.by.level)
        tm_certified_take(certified, &best);
    job->declined = best_ns > plan.other_ns;
    return TM_OK;
}

static tm_status try_certified(tm_cpu *cpu, tm_certified *certified, tm_job *job)
{
    const tm_geometry *g = &job->geometry;
    const int64_t known = certified->best;

    /* of peaks many more windows may pass */
    if (g->map_width * g->map_height < (job->peaks ? TM_CERTIFIED_TRIAL / 4 : TM_CERTIFIED_TRIAL))
        return TM_OK;
    if (job->peaks)
        certified->best = smaller(known, tm_peak_list_least(job->peaks));
    const tm_status status = try_levels(cpu, certified, job);
    certified->best = known;
    return status;
}

/* Prepares certified searches, of one frame and template size; those whose job is not declined are
 * count then, one after the other. */
static tm_status begin_certified(tm_cpu *cpu, tm_certified *certified, tm_job *const *jobs,
                                 const tm_certified_plan *plans, int *count)
{
    size_t size = 0;
    int kept = 0;

    for (int i = 0; i < *count; i++) {
        const size_t own = (size_t)round_up((int64_t)tm_certified_taps_size(jobs[i], &plans[i]), TM_MEMORY_ALIGNMENT);
        size = own > size ? own : size;
    }
    if (!tm_memory_fit(&cpu->certified_taps, size * (size_t)*count))
        return TM_ERR_MEMORY;
    for (int i = 0; i < *count; i++) {
        tm_certified *c = &certified[kept];
        tm_certified_make(c, &cpu->kernels, jobs[i], &plans[i],
                          (char *)cpu->certified_taps.data + size * (size_t)kept);
        if (*count > 1)
            c->plan.finer_count = 0; /* they share the sums of blocks of one size */
        tm_status status = tm_certified_guess(cpu, c, i > 0);
        if (status == TM_OK)
            status = try_certified(cpu, c, jobs[i]);
        if (status != TM_OK)
            return status;
        kept += !jobs[i]->declined;
    }
    *count = kept;
    return TM_OK;
}

/* The tiles of certified search are broad and high: their sums begin anew in each. */
static tm_tiles certified_tiles(const tm_job *job, int threads)
{
    return tile_map(&job->geometry, threads, TM_CERTIFIED_WIDTH,
                    larger(TILE_HEIGHT, CERTIFIED_HEIGHTS * job->tmpl->height));
}

static int threads_for(const tm_cpu *cpu, const tm_job *job)
{
    const tm_geometry *g = &job->geometry;
    const double work = (double)g->map_width * (double)g->map_height *
                        ((double)job->tmpl->n + WINDOW_WORK);
    return work < SMALL_JOB ? 1 : cpu->threads;
}

tm_status tm_cpu_match(tm_cpu *cpu, tm_job *job, const tm_certified_plan *plan)
{
    const tm_geometry *g = &job->geometry;
    const tm_template *t = job->tmpl;
    const int threads = threads_for(cpu, job);
    run r = {.cpu = cpu,
             .job = job,
             .sums_32 = fits_32_bits(t),
             .packed = {.w = (int)t->width, .h = (int)t->height}};
    tm_certified certified;
    tm_planes_job planes = {.job = job};
    int searches = plan != NULL;

    if (plan) {
        const tm_status status = begin_certified(cpu, &certified, &job, plan, &searches);
        if (status != TM_OK || job->declined)
            return status;
        r.certified = &certified;
    }
    if (!tm_job_is_plain(job)) {
        tm_tile_planes_make(&planes.planes, job);
        r.planes = &planes;
    }
    if (!pack(&r)) /* after the guess, which packs its own */
        return TM_ERR_MEMORY;
    const bool small = r.planes && wants_small_tiles(&planes.planes);
    const tm_tiles tiles = plan    ? certified_tiles(job, threads)
                           : small ? tile_map(g, threads, SMALL_TILE_WIDTH, SMALL_TILE_HEIGHT)
                                   : tile_map(g, threads, TILE_WIDTH, TILE_HEIGHT);
    r.needed = scratch_size(&r, &tiles);
    const tm_status status = tm_tiles_match(
        job, &tiles, threads, &(tm_tile_work){.context = &r, .begin = begin, .match = match_tile});
    job->scored = g->map_width * g->map_height;
    if (!plan)
        return status;
    job->declined = certified.given_up;
    if (job->declined && job->peaks)
        tm_peak_list_clear(job->peaks);
    if (tm_candidate_beats(certified.found, job->best))
        job->best = certified.found;
    job->scored = certified.scored;
    return status;
}

/* Jobs that share a mask, seen by all threads. */
typedef struct masked_run {
    run run; /* its scratch memory */
    tm_job *jobs;
    int count;
    pthread_mutex_t telling;
} masked_run;

static void *begin_masked(void *context, int thread)
{
    masked_run *r = context;
    return begin(&r->run, thread);
}

static void match_masked_tile(void *context, void *memory, const tm_tile *tile, tm_candidate *best)
{
    masked_run *r = context;
    tm_candidate found[TM_SHARED_MASK];

    (void)best; /* each job has its own */
    tm_tile_of_planes(&r->run.cpu->kernels, memory, r->run.planes, r->count, tile, found);
    pthread_mutex_lock(&r->telling);
    for (int k = 0; k < r->count; k++) {
        if (tm_candidate_beats(found[k], r->jobs[k].best))
            r->jobs[k].best = found[k];
    }
    pthread_mutex_unlock(&r->telling);
}

static bool pack_masked(masked_run *r)
{
    tm_cpu *cpu = r->run.cpu;
    const size_t size = round_up((int64_t)tm_tile_planes_taps_size(r->jobs), 64);

    if (!tm_memory_fit(&cpu->taps, size * (size_t)r->count))
        return false;
    for (int k = 0; k < r->count; k++)
        tm_tile_planes_pack(&r->run.planes[k].planes, &cpu->kernels, &r->jobs[k],
                            (char *)cpu->taps.data + (size_t)k * size);
    return true;
}

tm_status tm_cpu_match_masked(tm_cpu *cpu, tm_job *jobs, int count)
{
    const int threads = threads_for(cpu, jobs);
    masked_run r = {
        .run = {.cpu = cpu}, .jobs = jobs, .count = count, .telling = PTHREAD_MUTEX_INITIALIZER};
    tm_job map = *jobs;
    tm_status status = TM_ERR_MEMORY;

    r.run.planes = calloc((size_t)count, sizeof *r.run.planes);
    for (int k = 0; r.run.planes && k < count; k++) {
        jobs[k].best = (tm_candidate)TM_NO_CANDIDATE;
        jobs[k].scored = jobs[k].geometry.map_width * jobs[k].geometry.map_height;
        r.run.planes[k].job = &jobs[k];
        tm_tile_planes_make(&r.run.planes[k].planes, &jobs[k]);
    }
    if (r.run.planes && pack_masked(&r)) {
        const bool small = wants_small_tiles(&r.run.planes->planes);
        const tm_tiles tiles =
            tile_map(&map.geometry, threads, small ? SMALL_TILE_WIDTH : TILE_WIDTH,
                     small ? SMALL_TILE_HEIGHT : TILE_HEIGHT);
        r.run.needed = tm_tile_of_planes_size(r.run.planes, count, tiles.width, tiles.height);
        status = tm_tiles_match(
            &map, &tiles, threads,
            &(tm_tile_work){.context = &r, .begin = begin_masked, .match = match_masked_tile});
    }
    free(r.run.planes);
    return status;
}

/* A group of templates, seen by all threads. */
typedef struct group_run {
    run run; /* its scratch memory */
    tm_certified *certified;
    int count;
} group_run;

static void *begin_group(void *context, int thread)
{
    group_run *r = context;
    return begin(&r->run, thread);
}

static void match_group_tile(void *context, void *memory, const tm_tile *tile, tm_candidate *best)
{
    const group_run *r = context;
    (void)best; /* each search has its own */
    tm_certified_group_tile(r->certified, r->count, memory, tile);
}

tm_status tm_cpu_match_group(tm_cpu *cpu, tm_job *const *jobs, const tm_certified_plan *plans,
                             int count)
{
    tm_certified certified[TM_CERTIFIED_GROUP];
    const int threads = threads_for(cpu, jobs[0]);
    group_run r = {.run = {.cpu = cpu}, .certified = certified, .count = count};

    tm_status status = begin_certified(cpu, certified, jobs, plans, &r.count);
    if (status != TM_OK || r.count == 0)
        return status;
    const tm_tiles tiles = certified_tiles(jobs[0], threads);
    r.run.needed = tm_certified_tile_size(certified, tiles.width, tiles.height);
    tm_job map = *certified[0].job;
    status = tm_tiles_match(
        &map, &tiles, threads,
        &(tm_tile_work){.context = &r, .begin = begin_group, .match = match_group_tile});
    for (int i = 0, k = 0; i < count; i++) {
        if (jobs[i]->declined)
            continue;
        const tm_certified *c = &certified[k++];
        jobs[i]->declined = c->given_up;
        jobs[i]->best = c->found;
        jobs[i]->scored = c->scored;
    }
    return status;
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
        tm_memory_free(&cpu->scratch[i].memory);
    free(cpu->scratch);
    tm_memory_free(&cpu->taps);
    tm_memory_free(&cpu->certified_taps);
    tm_guess_memory_free(&cpu->guess);
    cpu->scratch = NULL;
}
