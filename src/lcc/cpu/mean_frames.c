/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "lcc/cpu/pose_large.h"
#include "lcc/threads.h"

static int64_t squares_of(int64_t size, int phase, int side)
{
    return ceil_div(size - (phase ? phase - side : 0), side);
}

/* Divides the samples' room among the frames. */
static bool make_room(tm_mean_frames *f, const tm_image *frame)
{
    const int side = f->side;
    int64_t size = 0;

    f->list = calloc((size_t)(side * side), sizeof *f->list);
    for (int i = 0; i < side * side && f->list; i++) {
        tm_image *image = &f->list[i];
        image->width = squares_of(frame->width, i % side, side);
        image->height = squares_of(frame->height, i / side, side);
        image->stride = (ptrdiff_t)image->width;
        size += image->width * image->height;
    }
    f->samples = malloc((size_t)size);
    if (!f->list || !f->samples)
        return false;
    uint8_t *samples = f->samples;
    for (int i = 0; i < side * side; i++) {
        f->list[i].samples = samples;
        samples += f->list[i].width * f->list[i].height;
    }
    return true;
}

/* Adds a row of pixels to the sums of columns, or takes it off. */
static void move_row(uint16_t *columns, const tm_image *frame, int64_t y, bool enters)
{
    if (y < 0 || y >= frame->height)
        return;
    const uint8_t *row = frame->samples + y * frame->stride;
    for (int64_t x = 0; x < frame->width; x++)
        columns[x] = (uint16_t)(enters ? columns[x] + row[x] : columns[x] - row[x]);
}

/* Sums of side columns from each on, of which side is a power of two, and then their means. */
static void find_means(uint8_t *means, uint16_t *sums, const uint16_t *columns, int64_t count, int side)
{
    memcpy(sums, columns, (size_t)(count + side) * sizeof *sums);
    for (int width = 1; width < side; width *= 2) {
        for (int64_t x = 0; x < count + side - width; x++)
            sums[x] = (uint16_t)(sums[x] + sums[x + width]);
    }
    for (int64_t x = 0; x < count; x++)
        means[x] = (uint8_t)(sums[x] / (side * side));
}

/* Writes the means of a row of squares, the first of which begins side - 1 before the frame. */
static void write_means(const tm_mean_frames *f, const uint8_t *means, int64_t y)
{
    const int side = f->side;
    const int64_t row = floor_div(y, side);

    for (int phase = 0; phase < side; phase++) {
        const tm_image *to = &f->list[(y - row * side) * side + phase];
        uint8_t *at = (uint8_t *)to->samples + tm_mean_frame_at(side, y) * to->stride;
        const uint8_t *from = means + (phase ? phase - 1 : side - 1);
        if (side == 8)
            for (int64_t i = 0; i < to->width; i++)
                at[i] = from[8 * i];
        else
            for (int64_t i = 0; i < to->width; i++)
                at[i] = from[side * i];
    }
}

/* What a thread needs: sums of columns, with side - 1 before the frame's, those of more columns, and means. */
typedef struct bench {
    uint16_t *columns, *sums;
    uint8_t *means;
} bench;

/* The means of squares that begin in rows [first, end). */
static void make_rows(const tm_mean_frames *f, const tm_image *frame, const bench *b, int64_t first, int64_t end)
{
    const int side = f->side;

    for (int64_t y = first - 1; y < first + side - 1; y++)
        move_row(b->columns + side - 1, frame, y, true);
    for (int64_t y = first; y < end; y++) {
        move_row(b->columns + side - 1, frame, y + side - 1, true);
        move_row(b->columns + side - 1, frame, y - 1, false);
        find_means(b->means, b->sums, b->columns, frame->width + 2 * side, side);
        write_means(f, b->means, y);
    }
}

bool tm_mean_frames_make(tm_mean_frames *f, const tm_image *frame, int side, int threads)
{
    const int64_t first = 1 - side, rows = frame->height - first, columns = frame->width + 4 * side;
    const int team = tm_team_size((int)smaller(threads, rows));

    *f = (tm_mean_frames){.side = side};
    uint16_t *numbers = calloc((size_t)(3 * columns * team), sizeof *numbers);
    const bool good = make_room(f, frame) && numbers;

#pragma omp parallel for num_threads(team) if (team > 1)
    for (int i = 0; i < (good ? team : 0); i++) {
        uint16_t *own = numbers + 3 * columns * i;
        const bench b = {own, own + columns, (uint8_t *)(own + 2 * columns)};
        make_rows(f, frame, &b, first + i * rows / team, first + (i + 1) * rows / team);
    }
    free(numbers);
    if (!good)
        tm_mean_frames_free(f);
    return good;
}

void tm_mean_frames_free(tm_mean_frames *f)
{
    free(f->list);
    free(f->samples);
    *f = (tm_mean_frames){0};
}
