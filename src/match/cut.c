/* SPDX-License-Identifier: MIT */
/* Take peaks so far apart that no box overlaps two of their boxes. Each of them is a match, or is
 * overlapped by a match that ranks before it, and no two by the same one: so at least as many
 * matches score as much as the worst of these peaks. They are looked for in likely places, and then
 * in some strips of the map, which are searched exhaustively. */
#include "match/cut.h"

#include <stdlib.h>

#include "integers.h"
#include "lcc/slices.h"
#include "match/places.h"
#include "match/suppress.h"

/* A probe is as many strips, spread over the map, as have LEAST_ROWS rows, and one row of PART in
 * all, or fewer, so that it takes one part of PART of what the search would take otherwise. */
enum { MOST_STRIPS = 4, LEAST_ROWS = 4, PART = 24 };

/* Places that are looked at besides as many as are needed, as some are no match. */
enum { SPARE_PLACES = 6 };

/* More matches than this are not looked for so: few maps have them far apart in the strips. */
enum { MOST_MATCHES = 1000, MOST_PEAKS = 1 << 14 };

/* So many peaks that are far apart are found on a device, from one place each in the likeliest parts of the map. */
enum { MOST_ON_DEVICE = 64 };

/* A search for all that scores this or more leaves enough windows out without a probe. */
#define HIGH_SCORE 0.5f

/* Where less than one window of WORTH is left out, a probe did not pay. */
enum { WORTH = 4 };

/* How many peaks that are far apart tell enough: one for each match and for the margin of the last.
 * 0: any number may be needed. */
static size_t needed_of(const tm_search *search)
{
    if (search->most == 0 || search->most > MOST_MATCHES)
        return 0;
    return (size_t)search->most + (search->margin ? 1 : 0);
}

static tm_status search_strip(tm_matcher *m, const tm_job *job, tm_rows rows, tm_peak_list *found)
{
    tm_job whole = *job, strip = tm_job_rows(job, rows, 0);
    tm_peak_list own;

    tm_peak_list_init(&own, &found->search);
    strip.peaks = &own;
    whole.peaks = found;
    const tm_status status = tm_matcher_run_slice(m, &strip);
    if (status == TM_OK)
        tm_job_merge(&whole, &strip, rows);
    m->scored += tm_job_scored(&strip);
    tm_peak_list_free(&own);
    return status;
}

static tm_status search_strips(tm_matcher *m, const tm_job *job, double part, tm_peak_list *found)
{
    const int64_t height = job->geometry.map_height;
    const int64_t all = (int64_t)((double)height * part / PART);
    const int64_t strips = smaller(MOST_STRIPS, all / LEAST_ROWS);
    tm_status status = TM_OK;

    for (int64_t i = 0; i < strips && status == TM_OK; i++) {
        const int64_t rows = all / strips, first = height * (2 * i + 1) / (2 * strips) - rows / 2;
        status = search_strip(m, job, (tm_rows){first, first + rows}, found);
    }
    return status;
}

/* Takes those of the peaks that are far apart, until there are as many as needed, and one is below
 * the floor, if there is a floor. */
static bool take_apart(tm_cut *cut, const tm_peak_list *found, const tm_geometry *g, double overlap,
                       size_t needed, int64_t floor)
{
    tm_suppressor taken;
    bool good = true;

    tm_cut_free(cut);
    cut->apart = malloc((found->above.count + 1) * sizeof *cut->apart);
    /* boxes that one box can overlap both of are nearer to each other than twice its size less 1 */
    tm_suppressor_init(&taken, 2 * g->template_width - 1, 2 * g->template_height - 1, 0);
    for (size_t i = 0; i < found->above.count && cut->apart && good; i++) {
        const tm_candidate peak = found->above.items[i];
        const int64_t x = peak.position % g->map_width, y = peak.position / g->map_width;
        if (overlap < 1 ? tm_suppressor_covers(&taken, x, y)
                        : cut->count && cut->apart[cut->count - 1].position == peak.position)
            continue; /* or it was found twice */
        good = overlap >= 1 || tm_suppressor_take(&taken, x, y);
        cut->apart[cut->count++] = peak;
        if (cut->count >= needed && (floor == INT64_MIN || peak.value < floor))
            break;
    }
    tm_suppressor_free(&taken);
    return cut->apart && good;
}

/* Whether a cut can be made of those. */
static bool suffices(const tm_cut *cut, size_t needed, int64_t floor)
{
    return (needed && cut->count >= needed) ||
           (cut->count && floor > INT64_MIN && cut->apart[cut->count - 1].value < floor);
}

/* Looks for peaks in likely places, and where that does not suffice, in the strips. */
static tm_status probe(tm_matcher *m, const tm_search *search, const tm_job *job, double part,
                       tm_cut *cut)
{
    const int64_t floor = job->peaks->search.floor;
    const size_t needed = needed_of(search);
    tm_peak_list found;
    tm_status status = TM_OK;

    tm_peak_list_init(&found, &(tm_peak_search){.floor = INT64_MIN, .most = MOST_PEAKS});
    for (int i = 0; i < 2 && status == TM_OK && !suffices(cut, needed, floor); i++) {
        status = i ? search_strips(m, job, part, &found)
                   : tm_places_find(m, job, needed + SPARE_PLACES, floor, &found);
        if (status == TM_OK && (!tm_peak_list_finish(&found) ||
                                !take_apart(cut, &found, &job->geometry, search->overlap, needed, floor)))
            status = tm_matcher_fail_plain(m, TM_ERR_MEMORY);
    }
    tm_peak_list_free(&found);
    return status;
}

/* As many matches as are needed score this or more; or all that reach the floor do, and probably
 * the best other one. */
static int64_t cut_of(const tm_cut *cut, size_t needed, int64_t floor, bool margin)
{
    int64_t least = margin ? INT64_MIN : floor;

    if (needed && cut->count >= needed && cut->apart[needed - 1].value > least)
        least = cut->apart[needed - 1].value;
    for (size_t i = 0; margin && i < cut->count; i++) {
        const int64_t value = cut->apart[i].value;
        if (value < floor && value > least)
            least = value;
    }
    return least;
}

/* Whether the matches need a cut, or fewer windows matter with one. */
static bool helps(const tm_search *search, int64_t floor)
{
    const size_t needed = needed_of(search);
    return search->margin ? needed || floor > INT64_MIN : needed && floor < tm_score_order(HIGH_SCORE);
}

static int64_t choose_on_device(const tm_cutter *cutter, const tm_job *job, const tm_candidate *peaks, size_t count)
{
    const tm_search *search = ((const tm_cut_rule *)cutter)->search;
    const size_t needed = needed_of(search);
    const int64_t floor = job->peaks->search.floor;
    int64_t least = INT64_MIN;
    tm_peak_list found;
    tm_cut cut = {0};

    tm_peak_list_init(&found, &(tm_peak_search){.floor = INT64_MIN, .most = MOST_PEAKS});
    tm_peak_list_add(&found, peaks, count);
    if (tm_peak_list_finish(&found) && take_apart(&cut, &found, &job->geometry, search->overlap, needed, floor))
        least = cut_of(&cut, needed, floor, search->margin);
    tm_cut_free(&cut);
    tm_peak_list_free(&found);
    return least;
}

void tm_cut_by_device(tm_cut_rule *rule, const tm_search *search, tm_job *job)
{
    *rule = (tm_cut_rule){{choose_on_device}, search};
    if (needed_of(search) <= MOST_ON_DEVICE && helps(search, job->peaks->search.floor))
        job->cutter = &rule->cutter;
}

static bool may_pay(tm_matcher *m, const tm_job *job)
{
    return m->settings.strategy == TM_STRATEGY_CERTIFIED ||
           !tm_pause_skips(&m->cut_pauses, job->tmpl->hash);
}

void tm_cut_note(tm_matcher *m, const tm_job *job, const tm_cut *cut)
{
    const int64_t windows = job->geometry.map_width * job->geometry.map_height;

    if (cut->apart)
        tm_pause_note(&m->cut_pauses, job->tmpl->hash,
                      tm_job_scored(job) <= windows - windows / WORTH);
}

tm_status tm_cut_choose(tm_matcher *m, const tm_search *search, tm_job *job, tm_cut *cut)
{
    const int64_t floor = job->peaks->search.floor;
    const size_t needed = needed_of(search);
    tm_job best = *job;
    double part;

    *cut = (tm_cut){0};
    best.peaks = NULL;
    if (!helps(search, floor) || !tm_matcher_certifies(m, &best, &part) || !may_pay(m, job))
        return TM_OK;
    const tm_status status = probe(m, search, job, part, cut);
    if (status == TM_OK)
        job->peaks->cut = cut_of(cut, needed, floor, search->margin);
    job->known = cut->count ? cut->apart : NULL;
    return status;
}

void tm_cut_free(tm_cut *cut)
{
    free(cut->apart);
    *cut = (tm_cut){0};
}
