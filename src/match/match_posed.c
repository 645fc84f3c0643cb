/* SPDX-License-Identifier: MIT */
/* The public API: matches of a template in poses. */
#include <math.h>
#include <stdlib.h>

#include "clock.h"
#include "match/forked.h"
#include "match/poses_refine.h"
#include "match/pyramid.h"
#include "match/search.h"
#include "match/settings.h"
#include "match/turned_box.h"

typedef struct posed_call {
    tm_matcher *matcher;
    const tm_image *frame;
    const tm_posed_template *tmpl;
    tm_search search;
    tm_posed_hits *hits;
    tm_template integers; /* stands for all poses', of which none is of floats */
    tm_job ranks;         /* a job of the call's metric, by which peaks are ranked */
} posed_call;

static tm_turned_box box_of(const posed_call *c, const tm_pose_peak *peak)
{
    const tm_image *image = &c->tmpl->image;
    return tm_turned_box_make(image->width, image->height,
                              tm_poses_turn(&c->tmpl->poses, (int64_t)peak->pose), peak->x,
                              peak->y);
}

static tm_posed_hit hit_of(const posed_call *c, const tm_pose_peak *peak)
{
    const tm_turn turn = tm_poses_turn(&c->tmpl->poses, (int64_t)peak->pose);
    const tm_turned_box box = box_of(c, peak);
    tm_posed_hit hit = {.score = tm_job_score(&c->ranks, peak->value),
                        .angle = (double)turn.angle / (double)TM_POSE_UNIT,
                        .scale = (double)turn.scale / (double)TM_POSE_UNIT,
                        .center_x = (double)peak->x / 2,
                        .center_y = (double)peak->y / 2,
                        .margin = NAN,
                        .margin_below = NAN,
                        .pose = peak->pose};

    tm_turned_box_bounds(&box, &hit.x, &hit.y, &hit.width, &hit.height);
    for (int i = 0; i < 8; i++)
        hit.corners[i / 2][i % 2] = (double)box.corners[i / 2][i % 2] / (double)TM_BOX_PIXEL;
    hit.fine_x = hit.center_x;
    hit.fine_y = hit.center_y;
    hit.fine_angle = hit.angle;
    hit.fine_scale = hit.scale;
    return hit;
}

static bool add_hit(const posed_call *c, size_t *room, const tm_pose_peak *peak)
{
    tm_posed_hits *hits = c->hits;
    if (hits->count == *room) {
        const size_t more = *room ? 2 * *room : 16;
        tm_posed_hit *items = realloc(hits->items, more * sizeof *items);
        if (!items)
            return false;
        hits->items = items;
        *room = more;
    }
    hits->items[hits->count++] = hit_of(c, peak);
    return true;
}

/* How far a corner is from its centre at most, with what rounding adds. */
static int64_t reach_of(const posed_call *c)
{
    const tm_poses *poses = &c->tmpl->poses;
    const tm_turn last = tm_poses_turn(poses, tm_poses_count(poses) - 1);
    const double w = (double)c->tmpl->image.width, h = (double)c->tmpl->image.height;
    return (int64_t)(sqrt(w * w + h * h) * (double)last.scale) + 8;
}

/* Greedy suppression, as for plain matches; *next is the peak that would be the next match. */
static bool take_hits(const posed_call *c, const tm_pose_peaks *found, int64_t floor,
                      tm_pose_peak *next)
{
    const tm_search *s = &c->search;
    const size_t most = s->most ? (size_t)s->most : SIZE_MAX;
    tm_turned_taken taken;
    bool good = true;
    size_t room = 0;

    *next = (tm_pose_peak)TM_NO_POSE_PEAK;
    tm_turned_taken_init(&taken, reach_of(c), s->overlap);
    for (size_t i = 0; i < found->count && good && (s->margin || c->hits->count < most); i++) {
        const tm_pose_peak *peak = &found->items[i];
        const tm_turned_box box = box_of(c, peak);
        if (s->overlap < 1 && tm_turned_taken_covers(&taken, &box))
            continue;
        if (c->hits->count == most || peak->value < floor) {
            *next = *peak;
            break;
        }
        good = add_hit(c, &room, peak) && (s->overlap >= 1 || tm_turned_taken_add(&taken, &box));
    }
    tm_turned_taken_free(&taken);
    return good;
}

/* Whether the next peak, for the last match's margin, matters only if it comes near. */
static bool wants_near(const posed_call *c)
{
    return c->search.margin && c->search.margin_ratio > 0 && !c->matcher->pyramid;
}

/* What it reaches then; of all matches of a score that is none. */
static int64_t rival_of(const posed_call *c, int64_t floor)
{
    const tm_posed_hits *hits = c->hits;
    if (!c->search.most || !hits->count)
        return floor;
    return tm_score_order(tm_pose_rival((float)hits->items[hits->count - 1].score, c->search.margin_ratio));
}

/* Whether all peaks are known down to what could come near the last match. */
static bool knows_near(const posed_call *c, const tm_pose_peaks *found, const tm_pose_peak *next, int64_t cut, int64_t floor)
{
    const int64_t rival = rival_of(c, floor);
    return next->pose != SIZE_MAX || found->whole || (cut != INT64_MIN && cut <= rival) ||
           (found->count && found->items[found->count - 1].value < rival);
}

/* near: the last match's margin is open where none comes near. */
static void set_margins(const posed_call *c, const tm_pose_peak *next, bool near, int64_t floor)
{
    tm_posed_hits *hits = c->hits;
    const int64_t rival = near ? rival_of(c, floor) : INT64_MIN;

    for (size_t i = 0; i + 1 < hits->count; i++)
        hits->items[i].margin = hits->items[i + 1].score;
    if (hits->count && next->pose != SIZE_MAX && next->value >= rival)
        hits->items[hits->count - 1].margin = tm_job_score(&c->ranks, next->value);
    else if (hits->count && rival != INT64_MIN)
        hits->items[hits->count - 1].margin_below = tm_job_score(&c->ranks, rival);
}

/* Whether nothing matters that is no match. */
static bool wants_matches_only(const posed_call *c)
{
    return c->search.only_matches && !isnan(c->search.min_score);
}

/* Takes the matches from the peaks, which are all those down to the cut, if there is one; *enough
 * becomes false where that needs more of them. */
static tm_status take(const posed_call *c, const tm_pose_peaks *found, tm_peak_search *wanted,
                      int64_t cut, bool *enough)
{
    const tm_search *s = &c->search;
    tm_pose_peak next;

    tm_posed_hits_free(c->hits);
    if (found->best.pose == SIZE_MAX && !(wants_matches_only(c) && cut != INT64_MIN))
        return tm_matcher_fail_plain(c->matcher, TM_ERR_NO_POSITION);
    if (!take_hits(c, found, wanted->floor, &next))
        return tm_matcher_fail_plain(c->matcher, TM_ERR_MEMORY);
    const bool full = s->most && c->hits->count == (size_t)s->most;
    const bool has_all = cut <= wanted->floor; /* that reach the floor */
    const bool settled = full || (!found->more_above && has_all);
    const bool near = wants_near(c) && knows_near(c, found, &next, cut, wanted->floor);
    if (!s->margin)
        *enough = settled;
    else if (wants_near(c))
        *enough = settled && near;
    else
        *enough = next.pose != SIZE_MAX || (c->hits->count == 0 && has_all) || found->whole;
    if (!*enough && (cut != INT64_MIN ||
                     tm_search_enlarge(wanted, found->more_above, (size_t)s->peaks)))
        return TM_OK;
    *enough = true;
    c->hits->cut_off = found->more_above && !full;
    if (found->best.pose != SIZE_MAX)
        c->hits->best = hit_of(c, &found->best);
    if (s->margin)
        set_margins(c, &next, near, wanted->floor);
    return TM_OK;
}

/* What peaks reach that can matter: matches, and what could be a margin, which is no less than TM_POSE_LEAST_CUT. */
static int64_t lowest_floor(const posed_call *c, int64_t floor)
{
    if (!c->search.margin || !c->search.most)
        return floor;
    if (!wants_near(c) || floor == INT64_MIN)
        return INT64_MIN;
    return tm_score_order(tm_pose_rival(tm_score_of_order((int32_t)floor), c->search.margin_ratio));
}

/* What is asked for first: all peaks down to the floor or, where the best few matches are wanted, as
 * many as these need. */
static tm_certified_poses first_request(const posed_call *c, int64_t floor)
{
    const tm_search *s = &c->search;
    return (tm_certified_poses){.floor = lowest_floor(c, floor),
                                .ceiling = INT64_MAX,
                                .wanted = s->most ? (size_t)s->most + (s->margin && !wants_near(c)) : 0,
                                .ratio = s->most && wants_near(c) ? s->margin_ratio : 0,
                                .has_least = wants_matches_only(c),
                                .least = floor,
                                .most = (size_t)s->peaks};
}

/* Asks for more, down to below the last cut, where the peaks above it were not enough. False where
 * that would be too low to be found so. */
static bool ask_lower(const posed_call *c, tm_certified_poses *request, int64_t floor)
{
    const tm_search *s = &c->search;
    const float cut = tm_score_of_order((int32_t)request->floor) - TM_POSE_LOWER;

    if (cut < TM_POSE_LEAST_CUT)
        return false;
    request->has_least = false;
    request->ceiling = tm_score_order(cut);
    request->floor = s->most ? lowest_floor(c, floor) : INT64_MIN;
    if (!s->most)
        request->wanted = c->hits->count + 1;
    return true;
}

/* Finds the matches by certified searches down to a cut, which is lowered until they are there. False
 * where they are not to be found so. */
static bool certify(const posed_call *c, tm_peak_search *wanted, tm_status *status)
{
    const int64_t floor = wanted->floor;
    tm_certified_poses request = first_request(c, floor);
    bool enough = false;

    if (request.floor == INT64_MIN && !request.wanted)
        return false;
    do {
        tm_pose_peaks found = {.items = NULL};
        if (!tm_poses_certify(c->matcher, c->frame, c->tmpl, &request, &found, status))
            return false;
        if (*status == TM_OK)
            *status = take(c, &found, wanted, request.floor, &enough);
        free(found.items);
    } while (*status == TM_OK && !enough && ask_lower(c, &request, floor));
    return *status != TM_OK || enough;
}

/* Finds the matches by pyramid search; false where that is not to be. */
static bool descend(const posed_call *c, tm_peak_search *wanted, tm_status *status)
{
    const tm_search *s = &c->search;
    const tm_pyramid_request request = {.floor = wanted->floor, .wanted = (size_t)s->most, .margin = s->margin};
    tm_pose_peaks found = {.items = NULL};
    bool enough;

    if (!tm_poses_descend(c->matcher, c->frame, c->tmpl, &request, &found, status))
        return false;
    if (*status == TM_OK)
        *status = take(c, &found, wanted, INT64_MIN, &enough);
    free(found.items);
    return true;
}

static tm_status find_peaks(const posed_call *c)
{
    tm_peak_search wanted = tm_search_start(&c->search, &c->ranks);
    tm_status status = TM_OK;
    bool enough = false;

    if (descend(c, &wanted, &status) || certify(c, &wanted, &status))
        return status;
    while (!enough && status == TM_OK) {
        tm_pose_peaks found = {.items = NULL};
        status = tm_poses_search(c->matcher, c->frame, c->tmpl, &wanted, &found);
        if (status == TM_OK)
            status = take(c, &found, &wanted, INT64_MIN, &enough);
        free(found.items);
    }
    return status;
}

static tm_status find_best(const posed_call *c)
{
    const int64_t floor = tm_search_start(&c->search, &c->ranks).floor;
    tm_pose_peaks found = {.items = NULL};
    size_t room = 0;

    tm_certified_poses request = {.floor = INT64_MAX, .has_least = wants_matches_only(c), .least = floor};
    bool certified = false;
    tm_status status;
    if (!tm_poses_descend(c->matcher, c->frame, c->tmpl, &(tm_pyramid_request){floor, 1, false}, &found, &status)) {
        certified = tm_poses_certify(c->matcher, c->frame, c->tmpl, &request, &found, &status);
        if (!certified)
            status = tm_poses_search(c->matcher, c->frame, c->tmpl, NULL, &found);
    }
    free(found.items);
    if (status != TM_OK)
        return status;
    if (found.best.pose == SIZE_MAX)
        return certified && request.has_least ? TM_OK : tm_matcher_fail_plain(c->matcher, TM_ERR_NO_POSITION);
    c->hits->best = hit_of(c, &found.best);
    if (found.best.value >= floor && !add_hit(c, &room, &found.best))
        return tm_matcher_fail_plain(c->matcher, TM_ERR_MEMORY);
    return TM_OK;
}

static tm_status match_posed(void *context)
{
    const posed_call *c = context;
    tm_matcher *m = c->matcher;
    const double start = clock_ms();

    tm_status status = tm_matcher_begin(m, c->frame);
    if (status == TM_OK)
        status = tm_matcher_compare_kinds(m, c->frame, c->tmpl->image.type, c->tmpl->image.channels);
    if (status == TM_OK)
        status = tm_search_is_for_best(&c->search) ? find_best(c) : find_peaks(c);
    if (status == TM_OK && wants_matches_only(c) && !c->hits->count)
        c->hits->best = (tm_posed_hit){.score = NAN, .margin = NAN, .margin_below = NAN};
    if (status == TM_OK && c->search.subpixel)
        tm_poses_refine(tm_matcher_threads(m), c->frame, c->tmpl, c->hits->items, c->hits->count);
    if (status != TM_OK)
        tm_posed_hits_free(c->hits);
    m->times.total = clock_ms() - start;
    return status;
}

tm_status tm_match_posed(tm_matcher *matcher, const tm_image *frame, const tm_posed_template *tmpl,
                         const tm_search *search, tm_posed_hits *hits)
{
    posed_call c = {.matcher = matcher, .frame = frame, .tmpl = tmpl, .hits = hits};

    if (!matcher)
        return TM_ERR_INVALID;
    if (!hits || !tmpl)
        return tm_matcher_fail_plain(matcher, TM_ERR_INVALID);
    *hits = (tm_posed_hits){0};
    const char *fault = tm_search_read(&c.search, search);
    if (fault)
        return tm_matcher_fail(matcher, TM_ERR_INVALID, "%s", fault);
    c.ranks.metric = matcher->settings.metric;
    if (c.ranks.metric != TM_METRIC_LCC) /* others know no nearness to 1 */
        c.search.margin_ratio = 0;
    c.ranks.tmpl = &c.integers;
    return tm_run_forked(matcher, match_posed, &c);
}

void tm_posed_hits_free(tm_posed_hits *hits)
{
    if (!hits)
        return;
    free(hits->items);
    *hits = (tm_posed_hits){0};
}
