/* SPDX-License-Identifier: MIT */
/* A good window to begin with: the best ones of a reduced frame, by the reduced template, and from
 * there to the best one nearby. What is found is no more than a window of the job with its score. */
#include "lcc/cpu/certified.h"

#include "integers.h"

enum {
    MOST_GUESSES = 12,
    WINDOWS_A_GUESS = 50000,
};

void tm_guess_memory_free(tm_guess_memory *memory)
{
    if (memory->has_list)
        tm_peak_list_free(&memory->list);
    tm_coarse_free(&memory->coarse);
    *memory = (tm_guess_memory){0};
}

/* Climbs from the best places. */
static void climb(tm_certified *c, const tm_job *small, size_t most)
{
    const tm_job *job = c->job;
    const tm_levels *l = &job->tmpl->levels;
    const tm_peak_set *places = &small->peaks->above;
    const tm_climber all = tm_climber_of(job, 1), way = tm_climber_quick(job);

    for (size_t i = 0; i < places->count && i < most; i++) {
        int64_t x, y;
        tm_coarse_place(small, job, places->items[i].position, &x, &y);
        tm_climb(&way, &x, &y, (l->cell_x + 1) / 2, (l->cell_y + 1) / 2);
        tm_certified_know(c, tm_climber_score(&all, x, y));
        c->scored++;
    }
}

tm_status tm_certified_guess(tm_cpu *cpu, tm_certified *c, bool reduced)
{
    const tm_geometry *g = &c->job->geometry;
    tm_guess_memory *m = &cpu->guess;
    const int64_t most = clamp(g->map_width * g->map_height / WINDOWS_A_GUESS, 0, MOST_GUESSES);
    tm_job small;

    if (!reduced)
        m->coarse.cells = (tm_image){0};
    if (!most || c->best != INT64_MIN || !tm_coarse_takes(c->job))
        return TM_OK;
    if (!m->coarse.cells.samples && !tm_coarse_reduce(&m->coarse, c->job, cpu->threads))
        return TM_ERR_MEMORY;
    if (!m->has_list)
        tm_peak_list_init(&m->list, &(tm_peak_search){.floor = INT64_MIN, .most = MOST_GUESSES});
    m->has_list = true;
    tm_peak_list_clear(&m->list);
    tm_status status = tm_coarse_job(&small, &m->coarse, c->job, &m->list);
    if (status == TM_OK)
        status = tm_cpu_match(cpu, &small, NULL);
    if (status == TM_OK && !tm_peak_list_finish(&m->list))
        status = TM_ERR_MEMORY;
    if (status == TM_OK)
        climb(c, &small, (size_t)most);
    return status;
}
