/* SPDX-License-Identifier: MIT */
#include "lcc/tiles.h"

#include <omp.h>
#include <pthread.h>

#include "integers.h"
#include "lcc/peak_scan.h"
#include "lcc/threads.h"

/* One match, seen by all its threads. */
typedef struct run {
    tm_job *job;
    const tm_tiles *tiles;
    const tm_tile_work *work;
    tm_peak_grid grid;          /* if the job wants peaks */
    pthread_mutex_t merging;
    _Alignas(128) int64_t next; /* tile to take; written by all threads */
    _Alignas(128) bool failed;
} run;

/* Begins the scan of a tile, and of the second one if there is one. */
static bool begin_scans(run *r, tm_peak_scan scans[2], int64_t column, int64_t row)
{
    const tm_tiles *t = r->tiles;

    if (!tm_peak_scan_begin(&scans[0], &r->grid, column, row))
        return false;
    if (!t->shift_x && !t->shift_y)
        return true;
    return tm_peak_scan_begin(&scans[1], &r->grid, column + (t->shift_x ? t->across : 0),
                              row + (t->shift_y ? t->down : 0));
}

static void run_tiles(run *r, int thread)
{
    const tm_tiles *t = r->tiles;
    const tm_geometry *g = &r->job->geometry;
    tm_peak_scan scans[2] = {0};
    tm_candidate best = TM_NO_CANDIDATE;
    void *memory = r->work->begin(r->work->context, thread);
    bool fits = memory != NULL;

    while (fits) {
        int64_t i;
#pragma omp atomic capture
        i = r->next++;
        if (i >= t->across * t->down)
            break;
        const int64_t column = i % t->across, row = i / t->across;
        tm_tile tile = {.x = column * t->width, .y = row * t->height};
        tile.width = smaller(t->width, g->map_width - tile.x);
        tile.height = smaller(t->height, g->map_height - tile.y);
        tile.scan = r->job->peaks ? scans : NULL;
        fits = !tile.scan || begin_scans(r, scans, column, row);
        if (fits)
            r->work->match(r->work->context, memory, &tile, &best);
    }
    tm_peak_scan_free(&scans[0]);
    tm_peak_scan_free(&scans[1]);
    pthread_mutex_lock(&r->merging);
    r->failed = r->failed || !fits;
    if (tm_candidate_beats(best, r->job->best))
        r->job->best = best;
    if (memory && r->work->end)
        r->work->end(r->work->context, memory);
    pthread_mutex_unlock(&r->merging);
}

tm_status tm_tiles_match(tm_job *job, const tm_tiles *tiles, int threads, const tm_tile_work *work)
{
    run r = {.job = job, .tiles = tiles, .work = work, .merging = PTHREAD_MUTEX_INITIALIZER};

    job->best = (tm_candidate)TM_NO_CANDIDATE;
    r.failed = job->peaks && !tm_peak_grid_init(&r.grid, job, tiles);
    /* No parallel region of one thread: it would end the threads that wait for the next
     * large job. */
    const int team = threads > 1 ? tm_team_size(threads) : 1;
    if (!r.failed && team == 1) {
        run_tiles(&r, 0);
    } else if (!r.failed) {
#pragma omp parallel num_threads(team)
        run_tiles(&r, omp_get_thread_num());
    }
    if (job->peaks) {
        r.failed = r.failed || !tm_peak_grid_finish(&r.grid);
        tm_peak_grid_free(&r.grid);
    }
    return r.failed ? TM_ERR_MEMORY : TM_OK;
}
