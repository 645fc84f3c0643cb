/* SPDX-License-Identifier: MIT */
#include "lcc/cpu/pose_scores.h"

#include <stdlib.h>
#include <string.h>

#include "integers.h"
#include "lcc/cpu/tile.h"

/* So many rows have sums that fit 32 bits. */
static int rows_at_once(const tm_pose_member *member)
{
    return (int)(TM_POSE_PIXELS / member->stride);
}

/* A copy is made where the box, with what kernels read, is not in the frame. */
tm_pose_box tm_pose_box_at(const tm_pose_run *run, int thread, const tm_pose_member *member, int64_t x,
                           int64_t y)
{
    const tm_image *frame = run->search->frame;
    tm_memory *memory = &run->windows[thread];
    tm_pose_box box = {.stride = frame->stride};

    if (x >= 0 && y >= 0 && x + member->stride <= frame->width && y + member->height <= frame->height) {
        box.samples = frame->samples + y * frame->stride + x;
    } else if (tm_memory_fit(memory, (size_t)(member->stride * member->height))) {
        uint8_t *copy = memory->data;
        for (int v = 0; v < member->height; v++)
            stage_row(copy + v * member->stride, frame, x, y + v, member->stride);
        box.samples = copy;
        box.stride = member->stride;
    } else {
        return box;
    }
    const int rows = rows_at_once(member);
    for (int v = 0; v < member->height; v += rows) {
        int64_t s_f, s_ff;
        run->cpu->kernels.sum_window(box.samples + v * box.stride, box.stride, member->counts + v * member->stride,
                                      member->stride, member->width, (int)smaller(rows, member->height - v),
                                      &s_f, &s_ff);
        box.s_f += s_f;
        box.s_ff += s_ff;
    }
    return box;
}

int64_t tm_pose_product(const tm_pose_run *run, const tm_pose_member *member, const tm_pose_box *box)
{
    const int rows = rows_at_once(member);
    int64_t product = 0;

    for (int v = 0; v < member->height; v += rows)
        product += run->cpu->kernels.window_product(box->samples + v * box->stride, box->stride,
                                                    member->taps + v * member->stride, member->stride,
                                                    member->width, (int)smaller(rows, member->height - v));
    return product;
}

tm_pose_peak tm_pose_score_box(const tm_pose_run *run, const tm_pose_member *member, int64_t x,
                               int64_t y, const tm_pose_box *box)
{
    const tm_sums sums = {.s_ft = tm_pose_product(run, member, box) + TM_TAP_BIAS * box->s_f,
                          .s_ff = box->s_ff,
                          .s_f = {box->s_f}};
    return (tm_pose_peak){.value = tm_score_of(&member->scorer, &sums).rank,
                          .y = 2 * y + member->height - 1,
                          .x = 2 * x + member->width - 1,
                          .pose = (size_t)member->pose};
}

tm_pose_peak tm_pose_score(const tm_pose_run *run, int thread, const tm_pose_member *member,
                           int64_t x, int64_t y)
{
    const tm_pose_box box = tm_pose_box_at(run, thread, member, x, y);
    return box.samples ? tm_pose_score_box(run, member, x, y, &box) : (tm_pose_peak)TM_NO_POSE_PEAK;
}

void tm_pose_keep_most(tm_pose_run *run)
{
    tm_pose_search *s = run->search;

    if (s->count <= s->most)
        return;
    qsort(s->items, s->count, sizeof *s->items, tm_pose_peak_by_rank);
    s->count = s->most;
#pragma omp atomic write
    run->least = s->items[s->most - 1].value;
}

/* Adds a position that reaches the floor. */
static void collect(tm_pose_run *run, const tm_pose_peak *peak)
{
    tm_pose_search *s = run->search;

    if (s->best_most && s->count == 2 * s->most)
        tm_pose_keep_most(run);
    if (s->count == run->room) {
        const size_t room = run->room ? 2 * run->room : 1024;
        tm_pose_peak *items = room <= s->most || s->best_most ? realloc(s->items, room * sizeof *items) : NULL;
        if (!items) {
#pragma omp atomic write
            run->declined = true;
            return;
        }
        s->items = items;
        run->room = room;
    }
    s->items[s->count++] = *peak;
}

void tm_pose_note(tm_pose_run *run, const tm_pose_peak *peak)
{
    tm_pose_search *s = run->search;
    int64_t least;

#pragma omp atomic read
    least = run->least;
    if (peak->value < least)
        return;
    pthread_mutex_lock(&run->noting);
    if (tm_pose_peak_beats(peak, &s->best)) {
        s->best = *peak;
        const int64_t now = smaller(peak->value, s->floor);
        if (now > run->least) {
#pragma omp atomic write
            run->least = now;
        }
    }
    if (peak->value >= s->floor)
        collect(run, peak);
    pthread_mutex_unlock(&run->noting);
}
