/* SPDX-License-Identifier: MIT */
#include "lcc/cpu/pose_scores.h"

#include <stdlib.h>
#include <string.h>

#include "integers.h"
#include "lcc/cpu/tile.h"

bool tm_pose_positions(const tm_pose_run *run, const tm_pose_member *member, tm_geometry *g)
{
    const tm_image *frame = run->search->frame;
    return tm_geometry_init(g, run->search->domain, frame->width, frame->height, member->width,
                            member->height) == TM_OK;
}

/* The box's samples; where it, with what kernels read, is not in the frame, a copy that is extended
 * with zeros. NULL if memory ran out. */
static const uint8_t *box_at(const tm_pose_run *run, int thread, const tm_pose_member *member,
                             int64_t x, int64_t y, ptrdiff_t *stride)
{
    const tm_image *frame = run->search->frame;
    tm_memory *memory = &run->windows[thread];

    if (x >= 0 && y >= 0 && x + member->stride <= frame->width && y + member->height <= frame->height) {
        *stride = frame->stride;
        return frame->samples + y * frame->stride + x;
    }
    if (!tm_memory_fit(memory, (size_t)(member->stride * member->height)))
        return NULL;
    uint8_t *box = memory->data;
    for (int v = 0; v < member->height; v++)
        stage_row(box + v * member->stride, frame, x, y + v, member->stride);
    *stride = member->stride;
    return box;
}

static void sum_box(const tm_pose_member *member, const uint8_t *samples, ptrdiff_t stride,
                    int64_t *s_f, int64_t *s_ff)
{
    int64_t sum = 0, square = 0;

    for (int y = 0; y < member->height; y++) {
        const uint8_t *row = samples + y * stride;
        const int8_t *counts = member->counts + y * member->stride;
        uint32_t row_sum = 0, row_square = 0;
        for (int x = 0; x < member->width; x++) {
            const uint32_t sample = counts[x] ? row[x] : 0;
            row_sum += sample;
            row_square += sample * sample;
        }
        sum += row_sum;
        square += row_square;
    }
    *s_f = sum;
    *s_ff = square;
}

tm_pose_peak tm_pose_score_sums(const tm_pose_run *run, const tm_pose_member *member, int64_t x,
                                int64_t y, const uint8_t *samples, ptrdiff_t stride, int64_t s_f,
                                int64_t s_ff)
{
    const int64_t product = run->cpu->kernels.window_product(samples, stride, member->taps, member->stride,
                                                             member->width, member->height);
    const tm_sums sums = {.s_ft = product + TM_TAP_BIAS * s_f, .s_ff = s_ff, .s_f = {s_f}};
    return (tm_pose_peak){.value = tm_score_of(&member->scorer, &sums).rank,
                          .y = 2 * y + member->height - 1,
                          .x = 2 * x + member->width - 1,
                          .pose = (size_t)member->pose};
}

tm_pose_peak tm_pose_score(const tm_pose_run *run, int thread, const tm_pose_member *member,
                           int64_t x, int64_t y)
{
    ptrdiff_t stride;
    int64_t s_f, s_ff;
    const uint8_t *samples = box_at(run, thread, member, x, y, &stride);

    if (!samples)
        return (tm_pose_peak)TM_NO_POSE_PEAK;
    sum_box(member, samples, stride, &s_f, &s_ff);
    return tm_pose_score_sums(run, member, x, y, samples, stride, s_f, s_ff);
}

/* Adds a position that reaches the floor. */
static void collect(tm_pose_run *run, const tm_pose_peak *peak)
{
    tm_pose_search *s = run->search;

    if (s->count == run->room) {
        const size_t room = run->room ? 2 * run->room : 1024;
        tm_pose_peak *items = room <= s->most ? realloc(s->items, room * sizeof *items) : NULL;
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
#pragma omp critical(tm_pose_note)
    {
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
    }
}
