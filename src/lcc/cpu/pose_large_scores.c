/* SPDX-License-Identifier: MIT */
/* Positions of a large template's poses that are scored by a device, many at a time. */
#include <stdlib.h>

#include "lcc/cpu/pose_large.h"

static int by_pose(const void *left, const void *right)
{
    const tm_large_spot *a = left, *b = right;
    return (a->pose > b->pose) - (a->pose < b->pose);
}

/* Describes the spots, which are sorted. Returns how many poses there are. */
static size_t describe(const tm_pose_run *run, const tm_large_spot *spots, size_t count, tm_large_pose *poses,
                       tm_large_place *places)
{
    const tm_pose_families *f = run->search->families;
    size_t used = 0;

    for (size_t i = 0; i < count; i++) {
        const int *size = &f->large->sizes[2 * spots[i].pose];
        if (!i || spots[i].pose != spots[i - 1].pose)
            poses[used++] = (tm_large_pose){tm_poses_turn(&f->poses, spots[i].pose), size[0], size[1], 0};
        poses[used - 1].count++;
        places[i] = (tm_large_place){spots[i].x, spots[i].y};
    }
    return used;
}

static tm_pose_peak peak_of(const tm_pose_run *run, const tm_large_spot *spot, const tm_large_sums *of)
{
    const struct tm_pose_large *large = run->search->families->large;
    const int *size = &large->sizes[2 * spot->pose];
    const tm_sums sums = {.s_ft = (int64_t)of->s_ft, .s_ff = (int64_t)of->s_ff, .s_f = {(int64_t)of->s_f}};

    return (tm_pose_peak){.value = tm_score_of(&large->scorers[spot->pose], &sums).rank,
                          .y = 2 * (int64_t)spot->y + size[1] - 1,
                          .x = 2 * (int64_t)spot->x + size[0] - 1,
                          .pose = (size_t)spot->pose};
}

tm_status tm_large_score_spots(const tm_pose_run *run, tm_large_spot *spots, size_t count, tm_pose_peak *peaks)
{
    const tm_large_device *d = run->search->device;
    tm_large_pose *poses = malloc((count + 1) * sizeof *poses);
    tm_large_place *places = malloc((count + 1) * sizeof *places);
    tm_large_sums *sums = malloc((count + 1) * sizeof *sums);
    tm_status status = poses && places && sums ? TM_OK : TM_ERR_MEMORY;

    if (status == TM_OK && count) {
        for (size_t i = 0; i < count; i++)
            spots[i].number = (uint32_t)i;
        qsort(spots, count, sizeof *spots, by_pose);
        const tm_large_batch batch = {
            .poses = poses, .count = describe(run, spots, count, poses, places), .places = places, .places_count = count, .sums = sums};
        status = d->sum(d->context, &batch);
    }
    for (size_t i = 0; i < count && status == TM_OK; i++)
        peaks[spots[i].number] = peak_of(run, &spots[i], &sums[i]);
    free(poses);
    free(places);
    free(sums);
    return status;
}

/* Adds a spot that is to be scored. */
static bool add(tm_large_spots *s, const tm_large_spot *spot)
{
    if (s->count == s->room) {
        const size_t room = s->room ? 2 * s->room : 256;
        tm_large_spot *list = realloc(s->list, room * sizeof *list);
        if (!list)
            return false;
        s->list = list;
        s->room = room;
    }
    s->list[s->count++] = *spot;
    return true;
}

bool tm_large_put_off(tm_large_run *r, const tm_large_spot *spot)
{
    bool good;

    pthread_mutex_lock(&r->run->noting);
    good = add(&r->spots, spot);
    pthread_mutex_unlock(&r->run->noting);
    return good;
}

tm_status tm_large_score_put_off(tm_large_run *r)
{
    const size_t count = r->spots.count;
    tm_pose_peak *peaks = malloc((count + 1) * sizeof *peaks);

    const tm_status status = peaks ? tm_large_score_spots(r->run, r->spots.list, count, peaks) : TM_ERR_MEMORY;
    for (size_t i = 0; i < count && status == TM_OK; i++)
        tm_pose_note(r->run, &peaks[i]);
    free(peaks);
    r->spots.count = 0;
    return status;
}
