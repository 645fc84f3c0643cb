/* SPDX-License-Identifier: MIT */
#include "match/places.h"

#include "lcc/coarse.h"
#include "match/suppress.h"

enum {
    COARSE_PEAKS = 2048,
    MOST_PLACES = 64,
    MOST_PIXELS = 1 << 14, /* of a template whose windows are scored here */
};

/* The peak near (x, y); no candidate where that lies at the frame's edge, where it may be no peak. */
static tm_candidate peak_near(const tm_climber *way, const tm_climber *all, int64_t x, int64_t y)
{
    const tm_job *job = all->job;
    const tm_levels *l = &job->tmpl->levels;

    tm_climb(way, &x, &y, (l->cell_x + 1) / 2, (l->cell_y + 1) / 2);
    const tm_candidate best = tm_climb(all, &x, &y, 1, 1);
    const bool inside = x > 0 && x < job->frame.width - job->tmpl->width && y > 0 &&
                        y < job->frame.height - job->tmpl->height;
    return inside ? best : (tm_candidate)TM_NO_CANDIDATE;
}

static bool has(const tm_peak_list *list, tm_candidate peak)
{
    for (size_t i = 0; i < list->above.count; i++)
        if (list->above.items[i].position == peak.position)
            return true;
    return false;
}

/* Climbs from the best coarse peaks that are far apart. */
static bool climb_all(const tm_job *job, const tm_job *small, size_t count, int64_t floor,
                      tm_peak_list *found)
{
    const tm_template *t = job->tmpl;
    const tm_levels *l = &t->levels;
    const tm_peak_set *peaks = &small->peaks->above;
    bool good = true, below = floor == INT64_MIN;
    const tm_climber all = tm_climber_of(job, 1), way = tm_climber_quick(job);
    tm_suppressor taken;
    size_t places = 0;

    tm_suppressor_init(&taken, 2 * (t->width + l->cell_x), 2 * (t->height + l->cell_y), 0);
    for (size_t i = 0; i < peaks->count && good && places < MOST_PLACES; i++) {
        int64_t x, y;
        tm_coarse_place(small, job, peaks->items[i].position, &x, &y);
        if (tm_suppressor_covers(&taken, x, y))
            continue;
        good = tm_suppressor_take(&taken, x, y);
        const tm_candidate peak = peak_near(&way, &all, x, y);
        places++;
        if (peak.position == INT64_MAX || has(found, peak))
            continue;
        tm_peak_list_add(found, &peak, 1);
        below = below || peak.value < floor;
        if (places >= count && below)
            break;
    }
    tm_suppressor_free(&taken);
    return good && !found->failed;
}

tm_status tm_places_find(tm_matcher *m, const tm_job *job, size_t count, int64_t floor,
                         tm_peak_list *found)
{
    tm_peak_list peaks;
    tm_job small;

    if (!tm_coarse_takes(job) || job->tmpl->n > MOST_PIXELS)
        return TM_OK;
    if (!tm_coarse_reduce(&m->coarse, job, tm_matcher_threads(m)))
        return tm_matcher_fail_plain(m, TM_ERR_MEMORY);
    tm_peak_list_init(&peaks, &(tm_peak_search){.floor = INT64_MIN, .most = COARSE_PEAKS});
    tm_status status = tm_coarse_job(&small, &m->coarse, job, &peaks);
    if (status == TM_OK)
        status = tm_matcher_run_slice(m, &small);
    if (status == TM_OK &&
        (!tm_peak_list_finish(&peaks) || !climb_all(job, &small, count, floor, found)))
        status = tm_matcher_fail_plain(m, TM_ERR_MEMORY);
    tm_peak_list_free(&peaks);
    return status;
}
