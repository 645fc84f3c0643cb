/* SPDX-License-Identifier: MIT */
#include "match/search.h"

#include <math.h>
#include <stdlib.h>

#include "match/subpixel.h"
#include "match/suppress.h"

/* How many peaks are kept at first, where not all are needed: FIRST_PEAKS, or more if many
 * matches are asked for. While they do not suffice, GROWTH times as many are. */
enum { FIRST_PEAKS = 256, PEAKS_A_MATCH = 8, GROWTH = 16 };

/* A distance's rank is that of the score with its sign changed. */
int64_t tm_search_floor(double min_score, tm_metric metric, bool integer)
{
    const bool distance = tm_is_distance(metric);
    const double least = distance ? -min_score : min_score;

    if (isnan(least))
        return INT64_MIN;
    if (integer)
        return least >= 0x1p63 ? INT64_MAX : least < -0x1p63 ? INT64_MIN : (int64_t)ceil(least);
    float score = (float)least;
    if ((double)score < least)
        score = nextafterf(score, INFINITY);
    return distance ? -(int64_t)tm_score_order(score == 0 ? 0.0f : -score)
                    : tm_score_order(score == 0 ? 0.0f : score);
}

static int64_t floor_of(double min_score, const tm_job *job)
{
    return tm_search_floor(min_score, job->metric, tm_job_is_integer(job));
}

static size_t least_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

tm_peak_search tm_search_start(const tm_search *search, const tm_job *job)
{
    const size_t limit = (size_t)search->peaks;
    tm_peak_search start = {.floor = floor_of(search->min_score, job), .most = limit};

    if (search->most && search->most < search->peaks / PEAKS_A_MATCH)
        start.most = least_of(limit, (size_t)search->most * PEAKS_A_MATCH + FIRST_PEAKS);
    if (search->margin)
        start.least = least_of(limit, FIRST_PEAKS);
    return start;
}

bool tm_search_enlarge(tm_peak_search *s, bool above, size_t limit)
{
    const tm_peak_search before = *s;

    if (above)
        s->most = least_of(limit, s->most * GROWTH);
    else
        s->least = least_of(limit, s->least * GROWTH);
    return s->most != before.most || s->least != before.least;
}

/* Lets the list keep more peaks; false if it may not grow. */
static bool enlarge(tm_peak_list *list, size_t limit)
{
    tm_peak_search s = list->search;
    const int64_t cut = list->cut;

    if (!tm_search_enlarge(&s, list->above.more, limit))
        return false;
    tm_peak_list_free(list);
    tm_peak_list_init(list, &s);
    list->cut = cut;
    return true;
}

/* Lets the list have lower peaks; false where none that would be kept are missing. */
static bool lower_cut(tm_peak_list *list, bool margin, int64_t cut)
{
    const tm_peak_search s = list->search;

    if (list->cut == INT64_MIN || list->above.more || (margin && list->below.more))
        return false;
    tm_peak_list_free(list);
    tm_peak_list_init(list, &s);
    list->cut = cut;
    return true;
}

bool tm_search_goes_on(tm_peak_list *list, const tm_search *search, int64_t cut)
{
    return lower_cut(list, search->margin, cut) || enlarge(list, (size_t)search->peaks);
}

static bool add_hit(tm_hits *hits, size_t *room, const tm_job *job, tm_candidate peak)
{
    const tm_geometry *g = &job->geometry;
    if (hits->count == *room) {
        const size_t more = *room ? 2 * *room : 16;
        tm_hit *items = realloc(hits->items, more * sizeof *items);
        if (!items)
            return false;
        hits->items = items;
        *room = more;
    }
    hits->items[hits->count++] =
        (tm_hit){.peak = {.x = peak.position % g->map_width - g->pad_x,
                          .y = peak.position / g->map_width - g->pad_y,
                          .score = tm_job_score(job, peak.value)},
                 .margin = NAN};
    return true;
}

/* The score of the best peak below the list's cut that is known and that no match overlaps. */
static int64_t best_below(const tm_peak_list *peaks, const tm_geometry *g, double overlap,
                          const tm_cut *cut, const tm_suppressor *taken)
{
    for (size_t i = 0; i < cut->count; i++) {
        const tm_candidate peak = cut->apart[i];
        const int64_t x = peak.position % g->map_width, y = peak.position / g->map_width;
        if (peak.value < peaks->cut && !(overlap < 1 && tm_suppressor_covers(taken, x, y)))
            return peak.value;
    }
    return INT64_MIN;
}

/* Greedy suppression: takes the matches. Where margins are wanted, *next becomes the peak that
 * would be the next match; it has no position where there is none, or it is below the list's cut,
 * which *lower is low enough for if all matches are above. */
static tm_status take_hits(tm_hits *hits, const tm_search *search, const tm_job *job,
                           const tm_cut *cut, tm_candidate *next, int64_t *lower)
{
    const tm_peak_list *peaks = job->peaks;
    const tm_geometry *g = &job->geometry;
    const size_t most = search->most ? (size_t)search->most : SIZE_MAX;
    tm_suppressor taken;
    tm_status status = TM_OK;
    size_t room = 0;

    *next = (tm_candidate)TM_NO_CANDIDATE;
    tm_suppressor_init(&taken, g->template_width, g->template_height, search->overlap);
    for (size_t i = 0; i < peaks->above.count && (search->margin || hits->count < most); i++) {
        const tm_candidate peak = peaks->above.items[i];
        const int64_t x = peak.position % g->map_width, y = peak.position / g->map_width;
        if (peak.value < peaks->cut)
            break;
        if (search->overlap < 1 && tm_suppressor_covers(&taken, x, y))
            continue;
        if (hits->count == most || peak.value < peaks->search.floor) {
            *next = peak;
            break;
        }
        if (!add_hit(hits, &room, job, peak) ||
            (search->overlap < 1 && !tm_suppressor_take(&taken, x, y))) {
            status = TM_ERR_MEMORY;
            break;
        }
    }
    *lower = best_below(peaks, g, search->overlap, cut, &taken);
    tm_suppressor_free(&taken);
    return status;
}

static void set_margins(tm_hits *hits, const tm_job *job, tm_candidate next)
{
    for (size_t i = 0; i + 1 < hits->count; i++)
        hits->items[i].margin = hits->items[i + 1].peak.score;
    if (hits->count && next.position != INT64_MAX)
        hits->items[hits->count - 1].margin = tm_job_score(job, next.value);
}

bool tm_search_take_best(tm_hits *hits, const tm_search *search, const tm_job *job, int threads)
{
    size_t room = 0;

    *hits = (tm_hits){0};
    if (job->best.value < floor_of(search->min_score, job))
        return true;
    if (!add_hit(hits, &room, job, job->best))
        return false;
    if (search->subpixel)
        tm_subpixel(hits, job, threads);
    return true;
}

tm_status tm_search_take(tm_hits *hits, const tm_search *search, tm_job *job, const tm_cut *cut,
                         int threads, bool *enough)
{
    tm_candidate next;
    int64_t lower;

    *hits = (tm_hits){0};
    if (!tm_peak_list_finish(job->peaks))
        return TM_ERR_MEMORY;
    tm_status status = take_hits(hits, search, job, cut, &next, &lower);
    if (status != TM_OK) {
        tm_hits_free(hits);
        return status;
    }
    const bool full = search->most && hits->count == (size_t)search->most;
    const bool has_all = job->peaks->cut <= job->peaks->search.floor; /* that reach the floor */
    *enough = search->margin ? next.position != INT64_MAX || (hits->count == 0 && has_all) ||
                                   tm_peak_list_is_whole(job->peaks)
                             : full || (!job->peaks->above.more && has_all);
    if (!*enough && tm_search_goes_on(job->peaks, search, has_all ? lower : INT64_MIN)) {
        tm_hits_free(hits);
        return TM_OK;
    }
    hits->cut_off = job->peaks->above.more && !full;
    *enough = true;
    if (search->margin)
        set_margins(hits, job, next);
    if (search->subpixel)
        tm_subpixel(hits, job, threads);
    return TM_OK;
}

void tm_hits_free(tm_hits *hits)
{
    if (!hits)
        return;
    free(hits->items);
    *hits = (tm_hits){0};
}
