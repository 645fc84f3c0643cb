/* SPDX-License-Identifier: MIT */
#include "cuda/certified.cuh"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/certified_costs.h"
#include "cuda/context.cuh"
#include "cuda/estimate.h"

/* More than the roundings to binary32. */
#define ABOVE (1 + 0x1p-18)
#define FACTOR_ABOVE (1 + 0x1p-12)

/* The score for which limits shall be least: templates that are in the frame score about so much. */
#define SCORE 0.95

/* Rough bounds are by so many runs of shifts each way, where this bound rules that score out: then they
 * rule out most cell windows. */
#define ROUGH_RUNS 2
#define ROUGH_BOUND 16

/* Pairs of shifts share a coarse template where so many bounds or more rule out likely scores. Where more than such a share of a frame's windows
 * is scored all the same, bounds of each shift's own take less than they save in the next ones. */
#define PAIRED_BOUND 100
#define PAIRED_SCORED 0.003

/* The factor where a coarse template is 0, as no bound may be 0. */
#define LEAST_FACTOR 1e-20f

void tm_certified_drop(tm_certified_group *group)
{
    tm_device_free(group->memory);
    free(group->levels);
    free(group->paired);
    *group = (tm_certified_group){};
}

bool tm_certified_runs(int major)
{
#ifdef TM_EMULATED
    return true;
#else
    return major >= 8;
#endif
}

bool tm_cuda_certified_takes(const tm_cuda *cuda, const tm_job *job)
{
    return job->certified && !job->tiling && !cuda->all_windows &&
           !tm_cuda_certified_fault(&cuda->traits, job);
}

bool tm_cuda_certified_pays(tm_certified_group *group)
{
    if (!tm_rest_is_over(&group->rest))
        return false;
    group->shared = tm_rest_is_over(&group->apart) && group->has_pairs;
    return true;
}

static void note(tm_certified_group *group, bool paired)
{
    tm_rest_longer(paired ? &group->apart : &group->rest);
}

void tm_certified_note_too_many(tm_certified_group *group)
{
    note(group, group->shared);
}

static bool scored_much(const tm_certified_count *count, int64_t windows)
{
    return count->many || (double)count->scored > PAIRED_SCORED * (double)windows;
}

bool tm_certified_left_much(const tm_certified_count *counts, size_t count, int64_t windows)
{
    bool much = false;
    for (size_t i = 0; i < count; i++) {
        if (counts[i].too_many) /* it is searched again, and then noted */
            return false;
        much |= scored_much(&counts[i], windows);
    }
    return much;
}

void tm_certified_note(tm_certified_group *group, const tm_certified_count *counts, size_t count, int64_t windows)
{
    for (size_t i = 0; i < count; i++) {
        const bool paired = group->shared && group->paired[i].templates;
        if (counts[i].many || (paired && scored_much(&counts[i], windows))) {
            note(group, paired);
            return;
        }
    }
}

/* The parts of a level's memory, in bytes from its beginning; of coarse templates, their limits lie before the
 * fragments. */
typedef struct parts {
    size_t rough, fine, words, sweep, size;
} parts;

enum { LIMITS_BYTES = 1024, SWEEP_BYTES = TM_SWEEP_LINES_MOST * 32 * sizeof(uint2) };
static_assert(TM_CELLS_LIMITS * sizeof(float) <= LIMITS_BYTES, "they fit");

/* What coarse templates take, with half a group's rows of fragments more, which are read ahead. */
static size_t bytes_of(const tm_certified_level *level, int groups)
{
    return LIMITS_BYTES + ((size_t)groups * 2 + 1) * level->pairs * 32 * sizeof(uint4);
}

static parts parts_of(const tm_certified_level *level, const tm_template *t)
{
    parts p = {};
    p.fine = bytes_of(level, (ROUGH_RUNS * ROUGH_RUNS + 3) / 4);
    p.words = p.fine + bytes_of(level, level->fine.groups);
    p.sweep = p.words + (size_t)level->row_words * (size_t)t->height * 4;
    p.sweep = (p.sweep + 255) / 256 * 256;
    p.size = p.sweep + (level->cells.size == TM_CELLS_SMALLEST ? SWEEP_BYTES : 0);
    return p;
}

/* The half-precision number of an integer of at most 11 bits and a sign. */
static uint16_t half_of(int v)
{
    const unsigned magnitude = (unsigned)abs(v);
    unsigned exponent = 0;
    while (magnitude >> exponent > 1)
        exponent++;
    return (uint16_t)(v ? (v < 0) << 15 | (exponent + 15) << 10 | (magnitude << (10 - exponent) & 1023) : 0);
}

/* A coarse template's lines of fragments, so many, 4 or 8: lanes 4 * line + k have numbers 2k and 2k + 8 on, two each, of lines
 * line and line + 8. A line is the template at one of four places along a row, or along the row below. */
static void put_taps(uint16_t *fragments, const tm_certified_level *level, const int16_t *taps, int number, int lines)
{
    const tm_cells *cells = &level->cells;
    const int first = number * lines;
    for (int y = 0; y < cells->down; y++) {
        for (int i = 0; i < lines; i++) {
            const int line = (first + i) % 16, row = first / 16 * level->pairs * 2 + y + i / 4;
            for (int x = 0; x < cells->across; x++) {
                const int k = x + i % 4, lane = line % 8 * 4 + k % 8 / 2, reg = line / 8 + k / 8 * 2;
                fragments[((row * 32 + lane) * 4 + reg) * 2 + k % 2] = half_of(taps[y * cells->across + x]);
            }
        }
    }
}

/* The matrix that multiplies the pixels of a cell window's windows. It has two columns for each shift, 2 x 2 of them: taps less 128, and
 * ones. Lanes 4 n + k have column n's numbers 8k to 8k + 7 of a row of pixels. */
static void put_sweep(int8_t *to, const tm_template *t)
{
    for (int column = 0; column < 8; column++)
        for (int64_t y = 0; y < t->height; y++)
            for (int64_t x = 0; x < t->width; x++) {
                const int shift = column / 2, tap = ((const uint8_t *)t->samples)[y * t->width + x];
                const int64_t row = y + 1 - shift / 2, pixel = x + 1 - shift % 2;
                to[(row * 32 + column * 4 + pixel / 8) * 8 + pixel % 8] = (int8_t)(column % 2 ? 1 : tap - 128);
            }
}

/* What a level's templates are made of. */
typedef struct source {
    const tm_template *tmpl;
    int64_t *sums;
    int16_t *taps;
} source;

/* Coarse templates for so many runs of shifts each way, with their taps there. */
static tm_cells_set set_of(const tm_certified_level *level, const source *from, int16_t *taps, int across, int down)
{
    tm_cells_set set = {};
    set.across = across, set.down = down, set.taps = taps;
    tm_cells_set_make(&set, &level->cells, from->tmpl, from->sums, SCORE);
    return set;
}

/* Puts them into memory of zeros, which is copied to where the device has there. */
static void fill_coarse(tm_certified_coarse *coarse, uint8_t *memory, const uint8_t *there, const tm_certified_level *level,
                        const tm_cells_set *set)
{
    const int count = level->cells.across * level->cells.down, drop = level->rounding.drop;

    coarse->templates = set->across * set->down;
    coarse->groups = (coarse->templates + 3) / 4;
    memcpy(memory, set->limits, sizeof set->limits);
    for (int i = 0; i < coarse->templates; i++)
        put_taps((uint16_t *)(memory + LIMITS_BYTES), level, set->taps + i * count, i, coarse->templates == 2 ? 8 : 4);
    coarse->limits = (const float *)there;
    coarse->fragments = (const uint4 *)(there + LIMITS_BYTES);
    coarse->factor = set->length > 0 ? (float)(254 * FACTOR_ABOVE * count * pow((1 << drop) / set->length, 2)) : LEAST_FACTOR;
    coarse->error = drop ? (float)((double)set->weight / 2 * ABOVE) : 0;
    coarse->least = set->limits[1];
}

/* How many bounds rule out likely scores, in the mean. */
static double bounds_below(const tm_cells_set *set)
{
    const double scores[] = {0.9, SCORE, 0.98};
    double count = 0;
    for (int i = 0; i < 3; i++)
        for (int bound = 0; bound < TM_CELLS_LIMITS && set->limits[bound] < scores[i]; bound++)
            count += 1 / 3.0;
    return count;
}

/* One coarse template for each two shifts beside or below each other, whichever rule out more, if they do so for most cell windows. */
static void fill_paired(tm_certified_coarse *coarse, uint8_t *memory, const uint8_t *there, const tm_certified_level *level,
                        const source *from)
{
    const tm_cells_set beside = set_of(level, from, from->taps, 1, 2),
                       below = set_of(level, from, from->taps + 2 * level->cells.across * level->cells.down, 2, 1);
    const double by_beside = bounds_below(&beside), by_below = bounds_below(&below);
    if (fmax(by_beside, by_below) >= PAIRED_BOUND)
        fill_coarse(coarse, memory, there, level, by_beside > by_below ? &beside : &below);
}

/* paired: templates remain 0 where there are none. */
static bool fill_level(uint8_t *memory, const uint8_t *there, tm_certified_level *level, tm_certified_coarse *paired,
                       const parts *p, const tm_template *t)
{
    const tm_cells *cells = &level->cells;
    const int size = cells->size, count = cells->across * cells->down;
    source from = {t, (int64_t *)malloc(tm_cells_sums(cells) * sizeof(int64_t)),
                   (int16_t *)malloc(tm_cells_sums(cells) * sizeof(int16_t))};
    const bool good = from.sums && from.taps;

    if (good) {
        tm_cells_sum(from.sums, cells, t);
        tm_cells_set set = set_of(level, &from, from.taps, size, size);
        fill_coarse(&level->fine, memory + p->fine, there + p->fine, level, &set);
        level->rough = level->fine;
        if (size > ROUGH_RUNS) {
            set = set_of(level, &from, from.taps, ROUGH_RUNS, ROUGH_RUNS);
            if (set.limits[ROUGH_BOUND] < SCORE) {
                fill_coarse(&level->rough, memory + p->rough, there + p->rough, level, &set);
                level->ratio = level->fine.factor / level->rough.factor;
            }
        }
        if (size == TM_CELLS_SMALLEST) {
            fill_paired(paired, memory + p->rough, there + p->rough, level, &from);
            level->sweep_fragments = (const uint2 *)(there + p->sweep);
            put_sweep((int8_t *)memory + p->sweep, t);
        }
        level->narrow = (int64_t)count * 255 * size * size < 1 << 17; /* twice its root's greatest */
    }
    free(from.sums);
    free(from.taps);
    for (int64_t y = 0; y < t->height; y++)
        memcpy(memory + p->words + (size_t)y * level->row_words * 4, t->samples + y * t->width,
               (size_t)t->width);
    return good;
}

cudaError_t tm_certified_prepare(tm_certified_group *group, const tm_template *templates,
                                 size_t count, cudaStream_t stream)
{
    tm_certified_level level = {};
    if (!tm_cells_choose(&level.cells, templates->width, templates->height))
        return cudaErrorNotSupported;
    level.rounding = tm_cells_rounding_of(level.cells.size);
    level.fine.groups = (level.cells.size * level.cells.size + 3) / 4;
    level.pairs = (level.cells.down + 1) / 2;
    level.row_words = (int)((templates->width + 3) / 4);
    const parts p = parts_of(&level, templates);
    group->early = tm_certified_can_be_early();
    uint8_t *memory = (uint8_t *)calloc(count, p.size);
    group->levels = (tm_certified_level *)malloc(count * sizeof *group->levels);
    group->paired = (tm_certified_coarse *)calloc(count, sizeof *group->paired);
    cudaError_t error = memory && group->levels && group->paired ? tm_device_malloc(&group->memory, count * p.size)
                                                : cudaErrorMemoryAllocation;
    for (size_t i = 0; error == cudaSuccess && i < count; i++) {
        const uint8_t *there = (const uint8_t *)group->memory + i * p.size;
        tm_certified_level *own = &group->levels[i];
        *own = level;
        own->words = (const uint32_t *)(there + p.words);
        if (!fill_level(memory + i * p.size, there, own, &group->paired[i], &p, &templates[i]))
            error = cudaErrorMemoryAllocation;
        group->has_pairs |= group->paired[i].templates > 0;
    }
    if (error == cudaSuccess)
        error = TM_CALL(cudaMemcpyAsync(group->memory, memory, count * p.size, cudaMemcpyHostToDevice, stream));
    free(memory);
    return error;
}

static tm_certified_job job_of(const tm_launch *l, size_t index)
{
    const tm_template *t = &l->group->keys[index];
    const tm_certified_group *group = &l->group->certified;
    tm_certified_job j = {};
    (tm_device_windows &)j = l->job;
    j.level = group->levels[index];
    if (group->shared && group->paired[index].templates)
        j.level.rough = j.level.fine = group->paired[index];
    j.n = t->n;
    j.sum = t->sum;
    j.variance = (float)t->variance;
    j.best = l->job.best + index;
    j.count = (tm_certified_count *)(l->job.best + l->group->count) + index;
    j.reaching = l->reaching;
    j.known = INT32_MIN;
    j.early = group->early;
    return j;
}

cudaError_t tm_certified_fit(tm_cuda *cuda, const tm_launch *l)
{
    tm_certified_job job = job_of(l, 0);
    tm_certified_cover(&job);
    TRY(tm_buffer_fit(&cuda->certified, tm_certified_bytes(&job)));
    return TM_CALL(cudaMemsetAsync(cuda->certified.data, 0, tm_certified_cleared(&job), cuda->stream));
}

/* The rows of cell windows in whole tiles that need no more of the frame than the map's first rows. */
static int whole_tiles(const tm_certified_job *job, int64_t rows)
{
    const int count = (int)((rows - 1) / job->level.cells.size) + 1;
    return count / job->tile_height * job->tile_height;
}

/* Sets what is taken for the times of a cell window's windows and of a tile, in nanoseconds. */
static void set_costs(tm_tensor_list *list, const tm_template *t, const tm_cells *cells)
{
    const double n = (double)t->n;
    list->other = (float)(cells->size * cells->size *
                          (TM_CUDA_CERTIFIED_WINDOW_NS + n * TM_CUDA_CERTIFIED_WINDOW_TAP_NS));
    list->tile = (float)(TM_CUDA_CERTIFIED_TILE_NS + n * TM_CUDA_CERTIFIED_TILE_TAP_NS);
    list->call = (float)TM_CUDA_CERTIFIED_TILES_NS;
}

/* Says that too many windows are left. */
static cudaError_t give_up(tm_cuda *cuda, const tm_certified_job *job)
{
    TRY_CUDA(cudaMemsetAsync(job->state, 0, sizeof *job->state, cuda->stream));
    TRY_CUDA(cudaMemsetAsync(job->best, 0, sizeof *job->best, cuda->stream));
    TRY_CUDA(cudaMemsetAsync(job->count, 0, sizeof *job->count, cuda->stream));
    return TM_CALL(cudaMemsetAsync(&job->count->too_many, 1, sizeof job->count->too_many, cuda->stream));
}

/* After all bounds of a template. */
static cudaError_t search(tm_cuda *cuda, tm_launch *l, size_t index, tm_certified_job *job)
{
    const int multiprocessors = cuda->traits.multiprocessors;
    bool pays;

    TRY(tm_certified_learn(cuda, l, l->asked ? &l->asked[index] : NULL, job, &pays));
    if (!pays)
        return give_up(cuda, job);
    if (tm_certified_sweeps(job))
        return tm_certified_sweep(job, multiprocessors, cuda->stream);
    const bool tiles = l->on_tensor_cores && l->group->count == 1 && !l->reaching.count &&
                       tm_tensor_can_list(&cuda->tensor, l->job.width, l->job.height);
    if (tiles)
        set_costs(&job->tiles, l->group->keys, &job->level.cells);
    else
        job->tiles_down = 0;
    TRY(tm_certified_list(job, multiprocessors, cuda->stream));
    if (tiles) {
        tm_tensor_job t = l->tensor;
        t.map = NULL;
        t.list = job->tiles;
        t.best = &job->state->of_tiles;
        TRY(tm_tensor_launch_listed(&cuda->tensor, &t, job->early, cuda->stream));
    }
    return tm_certified_score(job, multiprocessors, cuda->stream);
}

cudaError_t tm_certified_rows(tm_cuda *cuda, tm_launch *l, int64_t first, int64_t end)
{
    const int64_t height = l->job.map_height;
    for (size_t i = 0; i < l->group->count; i++) {
        tm_certified_job job = job_of(l, i);
        tm_certified_cover(&job);
        tm_certified_place(&job, cuda->certified.data);
        /* The bounds of several templates would need room for all: they wait for the last rows. */
        const bool alone = l->group->count == 1;
        const int from = first == 0 || !alone ? 0 : whole_tiles(&job, first),
                  to = end == height ? job.cells_down : whole_tiles(&job, end);
        if (from < to && (alone || end == height)) {
            if (i == 0) /* others have the same cells */
                TRY(tm_certified_cells(&job, from, to, cuda->stream));
            TRY(tm_certified_bound(&job, from, to, cuda->stream));
        }
        if (end == height)
            TRY(search(cuda, l, i, &job));
    }
    return cudaSuccess;
}
