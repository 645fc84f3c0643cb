/* SPDX-License-Identifier: MIT */
#include "lcc/cpu/pose_large.h"

#include <omp.h>
#include <stdlib.h>

#include "lcc/threads.h"

/* Where bundles need not be liker than that, too much would pass. */
#define LEAST_COSINE 0.2f

/* Parts whose positions a device scores together, before what must be scored is known better. */
enum { PARTS_AT_ONCE = 8192 };

tm_status tm_large_enter(tm_large_run *r, const tm_large_class *c)
{
    int64_t left = INT64_MAX, top = INT64_MAX, right = INT64_MIN, bottom = INT64_MIN;

    r->class = c;
    for (int64_t i = c->poses.first; i < c->poses.first + c->poses.count; i++) {
        const int *size = &r->large->sizes[2 * i];
        const int corner_x = tm_pose_large_corner(c, size[0]), corner_y = tm_pose_large_corner(c, size[1]);
        tm_geometry g;
        if (!tm_pose_positions_of(r->run->search, size[0], size[1], &g))
            continue;
        left = smaller(left, -g.pad_x - corner_x - (c->reach - 1));
        top = smaller(top, -g.pad_y - corner_y - (c->reach - 1));
        right = larger(right, g.map_width - g.pad_x - corner_x);
        bottom = larger(bottom, g.map_height - g.pad_y - corner_y);
    }
    r->x = left;
    r->y = top;
    r->width = right > left ? right - left : 0;
    r->height = bottom > top ? bottom - top : 0;
    const tm_image *frame = r->run->search->frame;
    bool there;
    r->frames = r->run->search->device ? tm_cell_frames_room(r->run->frames, frame, c->side, c->reach, &there)
                                       : tm_cell_frames_of(r->run->frames, frame, c->side, c->reach, r->run->cpu->threads);
    return r->frames && tm_square_sums_make(&r->squares, frame, c->reach, r->run->cpu->threads) ? TM_OK
                                                                                               : TM_ERR_MEMORY;
}

void tm_large_describe(const tm_large_run *r, tm_family_search *s, tm_image images[2])
{
    const tm_large_class *c = r->class;
    const tm_family_search windows = {.x = r->x + (c->columns - c->family.width) / 2 * c->side,
                                      .y = r->y + (c->columns - c->family.height) / 2 * c->side,
                                      .width = r->width,
                                      .height = r->height};
    s->family = &c->family;
    tm_cell_frame_search(s, images, r->cells, c->side, &windows);
}

static float least_of(void *context)
{
    const tm_large_run *r = context;
    return tm_large_least(r, r->class->share, r->class->spread);
}

/* A class's parts together, one after the other, each from the first row on. */
static int by_part(const void *left, const void *right)
{
    const tm_large_part *a = left, *b = right;
    return a->class != b->class ? (a->class < b->class ? -1 : 1)
           : a->part != b->part ? (a->part < b->part ? -1 : 1)
           : a->y != b->y       ? (a->y < b->y ? -1 : 1)
                                : (a->x > b->x) - (a->x < b->x);
}

/* Scores a position of a pose, or puts that off, unless its cells rule it out. Returns how many were scored, or -1 if memory ran out. */
static int score(tm_large_run *r, int thread, int64_t pose, int64_t x, int64_t y)
{
    tm_pose_run *run = r->run;
    const tm_pose_search *s = run->search;

    if (tm_large_rules_out(r, thread, pose, x, y))
        return 0;
    if (s->device)
        return tm_large_put_off(r, &(tm_large_spot){.pose = pose, .x = (int32_t)x, .y = (int32_t)y}) ? 1 : -1;
    const tm_pose_member *member = tm_pose_large_hold(r->large, s->image, &s->families->poses, pose);
    if (!member)
        return -1;
    const tm_pose_peak peak = tm_pose_score(run, thread, member, x, y);
    if (peak.pose == SIZE_MAX)
        return -1;
    tm_pose_note(run, &peak);
    return 1;
}

/* Scores what is left of a pose in parts [first, end). False if memory ran out. */
static bool score_pose(tm_large_run *r, int thread, int64_t pose, size_t first, size_t end, int64_t *scored)
{
    const tm_large_class *c = &r->large->list[r->parts[first].class];
    const int *size = &r->large->sizes[2 * pose];
    const int64_t corner_x = tm_pose_large_corner(c, size[0]), corner_y = tm_pose_large_corner(c, size[1]);
    const int places = c->part_reach * c->part_reach;
    tm_geometry g;
    bool good = true;

    if (!tm_pose_positions_of(r->run->search, size[0], size[1], &g))
        return true;
    for (size_t i = first; i < end && good; i++) {
        for (int place = 0; place < places && good; place++) {
            const int64_t x = r->parts[i].x + corner_x + place % c->part_reach;
            const int64_t y = r->parts[i].y + corner_y + place / c->part_reach;
            if (x < -g.pad_x || x >= g.map_width - g.pad_x || y < -g.pad_y || y >= g.map_height - g.pad_y)
                continue;
            const int count = score(r, thread, pose, x, y);
            good = count >= 0;
            *scored += good ? count : 0;
        }
    }
    if (!r->run->search->device) /* which makes the pictures itself, where threads may share a pose */
        tm_pose_large_release(r->large, pose);
    return good;
}

/* Scores what is left of all parts of one kind. */
static void score_parts(tm_large_run *r, int thread, size_t first, size_t end)
{
    tm_pose_run *run = r->run;
    const tm_pose_range *poses = &r->large->list[r->parts[first].class].parts[r->parts[first].part];
    int64_t scored = 0;
    bool good = true, over;

#pragma omp atomic read
    over = run->declined;
    for (int i = 0; i < poses->count && good && !over; i++)
        good = score_pose(r, thread, poses->first + i, first, end, &scored);
    if (!good) {
#pragma omp atomic write
        run->failed = true;
    }
    if (tm_family_add_scored(&run->scored, scored) > run->limit) {
#pragma omp atomic write
        run->declined = true;
    }
}

/* Where those of each kind begin, or for a device, which needs no pictures, each one. NULL: memory ran out. */
static size_t *cut(const tm_large_run *r, size_t *kinds)
{
    size_t *begins = malloc((r->count + 1) * sizeof *begins);

    *kinds = 0;
    for (size_t i = 0; i < r->count && begins; i++) {
        const tm_large_part *a = &r->parts[i], *before = a - 1;
        if (!i || r->run->search->device || a->class != before->class || a->part != before->part)
            begins[(*kinds)++] = i;
    }
    if (begins)
        begins[*kinds] = r->count;
    return begins;
}

static tm_status score_all(tm_large_run *r)
{
    size_t kinds;

    if (!r->count)
        return TM_OK;
    qsort(r->parts, r->count, sizeof *r->parts, by_part);
    size_t *begins = cut(r, &kinds);
    if (!begins)
        return TM_ERR_MEMORY;
    const size_t at_once = r->run->search->device ? PARTS_AT_ONCE : kinds;
    const int team = tm_team_size((int)smaller(r->run->cpu->threads, (int64_t)kinds));
    tm_status status = TM_OK;
    for (size_t first = 0; first < kinds && status == TM_OK && !r->run->declined; first += at_once) {
        const size_t end = first + at_once < kinds ? first + at_once : kinds;
#pragma omp parallel for schedule(dynamic) num_threads(team) if (team > 1)
        for (size_t i = first; i < end; i++)
            score_parts(r, omp_get_thread_num(), begins[i], begins[i + 1]);
        if (r->run->search->device)
            status = tm_large_score_put_off(r);
    }
    free(begins);
    r->count = 0;
    return status;
}

/* Searches all frames of cells, one after the other. */
static tm_status search_frames(tm_large_run *r)
{
    const int across = r->class->side / r->class->reach;
    tm_status status = TM_OK;

    for (int i = 0; i < across * across && status == TM_OK && !r->run->declined; i++) {
        tm_family_search s = {.context = r, .least = least_of, .visit = tm_large_visit};
        tm_image images[2];
        r->cells = &r->frames[i];
        tm_large_describe(r, &s, images);
        if (s.width > 0 && s.height > 0)
            status = tm_cpu_search_family(r->run->cpu, &s);
        if (status == TM_OK && !r->run->declined)
            status = score_all(r);
    }
    return status;
}

static tm_status search_class(tm_large_run *r, const tm_large_class *c)
{
    tm_status status = tm_large_enter(r, c);

    if (status != TM_OK || !r->width || !r->height)
        return status;
    if (least_of(r) < LEAST_COSINE) {
        r->run->declined = true;
        return TM_OK;
    }
    if (!r->run->search->device)
        return search_frames(r);
    status = tm_large_visit_listed(r, least_of(r));
    return status == TM_OK && !r->run->declined ? score_all(r) : status;
}

/* How far pictures lie beyond the frame on one of both sides: before it by pad. */
static int64_t beyond(int64_t pad, int64_t positions, int size, int64_t frame)
{
    return larger(pad, positions - 1 - pad + size - frame);
}

/* How many positions there are, how many may be scored until scoring all would have been as quick, and how far they are beyond
 * the frame. */
static void count_pairs(tm_large_run *r)
{
    tm_pose_search *s = r->run->search;

    for (int i = 0; i < r->large->count; i++) {
        const tm_pose_range *poses = &r->large->list[i].poses;
        for (int64_t k = poses->first; k < poses->first + poses->count; k++) {
            const int *size = &r->large->sizes[2 * k];
            tm_geometry g;
            if (!tm_pose_positions_of(s, size[0], size[1], &g))
                continue;
            const int64_t pairs = g.map_width * g.map_height;
            s->pairs += pairs;
            r->look.pad_x = larger(r->look.pad_x, beyond(g.pad_x, g.map_width, size[0], s->frame->width));
            r->look.pad_y = larger(r->look.pad_y, beyond(g.pad_y, g.map_height, size[1], s->frame->height));
            r->run->limit += tm_pose_limit_of(pairs, size[0] * (double)size[1]);
        }
    }
}

tm_status tm_large_search(tm_pose_run *run)
{
    struct tm_pose_large *large = run->search->families->large;
    tm_large_run r = {.run = run, .large = large};
    tm_pose_guesses guesses = {.count = 0};
    tm_status status = TM_OK;

    count_pairs(&r);
    if (large->side && !tm_mean_frames_make(&r.means, run->search->frame, large->side, run->cpu->threads))
        status = TM_ERR_MEMORY;
    if (status == TM_OK)
        status = tm_large_guess(&r, &guesses);
    tm_pose_set_floor(run, &guesses);
    for (int i = 0; i < large->count && status == TM_OK && !run->declined; i++)
        status = search_class(&r, &large->list[i]);
    tm_mean_frames_free(&r.means);
    tm_square_sums_free(&r.squares);
    free(r.look.bounds);
    free(r.look.bundles);
    free(r.spots.list);
    free(r.parts);
    return status;
}
