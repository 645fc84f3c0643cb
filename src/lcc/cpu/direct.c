/* SPDX-License-Identifier: MIT */
/* The direct algorithm: tiles of the score map, shared out over threads. */
#include "lcc/cpu/direct.h"

#include <omp.h>

#include "lcc/cpu/tile.h"

enum {
    TILE_WIDTH = 1024, /* a multiple of TM_BLOCK */
    TILE_HEIGHT = 192, /* a multiple of TILE_STEP */
    TILE_STEP = 12,   /* a multiple of every kernel's rows */
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
static tiling tile_map(const tm_geometry *g, int threads)
{
    tiling t;
    t.across = (g->map_width + TILE_WIDTH - 1) / TILE_WIDTH;
    t.width = (int)round_up((g->map_width + t.across - 1) / t.across, TM_BLOCK);
    t.across = (g->map_width + t.width - 1) / t.width;

    t.down = (g->map_height + TILE_HEIGHT - 1) / TILE_HEIGHT;
    if (threads > 1)
        t.down = max64(t.down, (threads * TILES_PER_THREAD + t.across - 1) / t.across);
    t.height = (int)round_up((g->map_height + t.down - 1) / t.down, TILE_STEP);
    t.down = (g->map_height + t.height - 1) / t.height;
    return t;
}

tm_status tm_cpu_match(tm_cpu *cpu, tm_job *job)
{
    const tm_geometry *g = &job->geometry;
    const tm_template *t = job->tmpl;
    bool small = (double)g->map_width * (double)g->map_height * ((double)t->n + WINDOW_WORK) < SMALL_JOB;
    int threads = small ? 1 : cpu->threads;
    tiling tiles = tile_map(g, threads);
    bool narrow = is_narrow(t), failed = false;
    size_t needed = narrow ? tm_tile_narrow_size(job, tiles.width, tiles.height)
                           : tm_tile_wide_size(job, tiles.width, tiles.height);
    tm_panel panel = {.w = (int)t->width, .h = (int)t->height};
    tm_candidate best = TM_NO_CANDIDATE;

    /* Packed anew for each frame: that reads the template once, as finding out
     * whether it is still the same one would. */
    if (narrow) {
        if (!grow(&cpu->taps, &cpu->taps_size, tm_panel_size(panel.w, panel.h)))
            return TM_ERR_MEMORY;
        panel.taps = cpu->taps;
        cpu->kernels.pack(&panel, t->samples, (ptrdiff_t)t->width);
    }

    threads = (int)min64(threads, tiles.across * tiles.down);
#pragma omp parallel num_threads(threads)
    {
        tm_cpu_scratch *s = &cpu->scratch[omp_get_thread_num()];
        bool fits = grow(&s->memory, &s->size, needed);
        tm_candidate mine = TM_NO_CANDIDATE;

#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < tiles.across * tiles.down; i++) {
            tm_tile tile = {.x = i % tiles.across * tiles.width,
                            .y = i / tiles.across * tiles.height};
            tile.width = (int)min64(tiles.width, g->map_width - tile.x);
            tile.height = (int)min64(tiles.height, g->map_height - tile.y);
            if (!fits)
                continue;
            tm_candidate candidate =
                narrow ? tm_tile_narrow(&cpu->kernels, s->memory, job, &panel, &tile)
                       : tm_tile_wide(&cpu->kernels, s->memory, job, &tile);
            if (tm_candidate_beats(candidate, mine))
                mine = candidate;
        }
#pragma omp critical(tm_cpu_merge)
        {
            failed |= !fits;
            if (tm_candidate_beats(mine, best))
                best = mine;
        }
    }
    if (failed)
        return TM_ERR_MEMORY;
    job->best = best;
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
