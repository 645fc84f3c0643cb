/* SPDX-License-Identifier: MIT */
#include "lcc/pose_large_cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "integers.h"
#include "lcc/lcc.h"

enum { SUMMED = 65536 }; /* pixels whose squares' sum fits 32 bits */

double tm_large_angle(double cosine)
{
    return acos(fmax(-1, fmin(1, cosine - 1e-9))) + 1e-9;
}

double tm_large_variance(int64_t count, int64_t sum, int64_t square)
{
    return (double)((tm_int128)count * square - (tm_int128)sum * sum) / (double)count;
}

double tm_large_energy(const tm_posed *p)
{
    int64_t sum = 0, square = 0;

    for (int64_t i = 0; i < p->width * p->height; i += SUMMED) { /* samples that do not count are 0 */
        const int64_t end = smaller(p->width * p->height, i + SUMMED);
        uint32_t part = 0, part_sq = 0;
        for (int64_t k = i; k < end; k++) {
            part += p->samples[k];
            part_sq += (uint32_t)(p->samples[k] * p->samples[k]);
        }
        sum += part;
        square += part_sq;
    }
    return tm_large_variance(p->count, sum, square);
}

/* Whether the cell lies in the disc wherever the picture's centre is. */
static bool is_inside(const tm_large_class *c, int column, int row, int64_t distance)
{
    const int64_t least = (int64_t)c->columns * c->side - 2 - c->reach, most = least + 2 * (int64_t)c->reach + 1;
    int64_t far[2];

    for (int i = 0; i < 2; i++) {
        const int64_t first = 2 * (int64_t)(i ? row : column) * c->side, last = first + 2 * (int64_t)(c->side - 1);
        far[i] = larger(llabs(first - most), llabs(last - least));
    }
    return far[0] * far[0] + far[1] * far[1] < distance;
}

bool tm_large_choose_cells(tm_large_class *c, int side, int reach, int64_t distance)
{
    free(c->firsts);
    c->side = side;
    c->reach = reach;
    c->columns = (int)(sqrt((double)distance) / side); /* the distance is in halves */
    c->cells = 0;
    c->firsts = calloc(2 * (size_t)c->columns + 1, sizeof *c->firsts);
    if (!c->firsts)
        return false;
    c->ends = c->firsts + c->columns;
    for (int row = 0; row < c->columns; row++) {
        int first = 0, end = c->columns;
        while (first < end && !is_inside(c, first, row, distance))
            first++;
        while (end > first && !is_inside(c, end - 1, row, distance))
            end--;
        c->firsts[row] = first;
        c->ends[row] = end;
        c->cells += end - first;
    }
    return true;
}

/* The sums of side rows of columns [left, right) before each of them; false where one does not count. */
static bool sum_rows(uint32_t *before, uint32_t *columns, const tm_posed *p, int64_t top, int64_t left, int64_t right,
                     int side)
{
    const int64_t count = right - left;

    if (left < 0 || right > p->width || top < 0 || top + side > p->height)
        return false;
    memset(columns, 0, (size_t)count * sizeof *columns);
    for (int64_t y = top; y < top + side; y++) {
        const uint8_t *row = p->samples + y * p->width + left;
        if (memchr(p->mask + y * p->width + left, 0, (size_t)count))
            return false;
        for (int64_t x = 0; x < count; x++)
            columns[x] += row[x];
    }
    before[0] = 0;
    for (int64_t x = 0; x < count; x++)
        before[x + 1] = before[x] + columns[x];
    return true;
}

bool tm_large_sum_cells(const tm_large_class *c, const tm_posed *p, uint16_t *sums, uint32_t *scratch)
{
    const int corner_x = tm_pose_large_corner(c, (int)p->width), corner_y = tm_pose_large_corner(c, (int)p->height);
    const int side = c->side, reach = c->reach;
    uint32_t *columns = scratch, *before = scratch + (c->columns + 1) * side;

    for (int row = 0, cell = 0; row < c->columns; row++) {
        const int first = c->firsts[row], count = c->ends[row] - first;
        for (int down = 0; down < reach && count; down++) {
            const int64_t left = first * side - corner_x - (reach - 1), right = c->ends[row] * side - corner_x;
            if (!sum_rows(before, columns, p, row * side - corner_y - down, left, right, side))
                return false;
            for (int across = 0; across < reach; across++) {
                const uint32_t *from = before + (reach - 1 - across);
                uint16_t *to = sums + (int64_t)(down * reach + across) * c->cells + cell;
                for (int i = 0; i < count; i++)
                    to[i] = (uint16_t)(from[(i + 1) * side] - from[i * side]);
            }
        }
        cell += count;
    }
    return true;
}

/* Sums of pixels. */
typedef struct pixel_sums {
    int64_t count, sum, square;
} pixel_sums;

static void add_pixels(pixel_sums *to, const tm_posed *p, int64_t y, int64_t first, int64_t end)
{
    uint32_t sum = 0, square = 0; /* no more than SUMMED: discs are not that wide */

    for (int64_t x = first; x < end; x++) {
        const uint32_t sample = p->samples[y * p->width + x];
        sum += sample;
        square += sample * sample;
    }
    to->sum += sum;
    to->square += square;
    to->count += end > first ? end - first : 0;
}

/* The variance times the number of pixels grows with each pixel: so that of the pixels that are the cells' at all places is
 * no more than that at any, and that of those that are theirs at some place no less. */
void tm_large_bound_core(const tm_large_class *c, const tm_posed *p, double *least, double *most)
{
    const int corner_x = tm_pose_large_corner(c, (int)p->width), corner_y = tm_pose_large_corner(c, (int)p->height);
    pixel_sums always = {0}, ever = {0};

    for (int64_t y = -corner_y - (c->reach - 1); y < c->columns * c->side - corner_y; y++) {
        int64_t latest = INT64_MIN, soonest = INT64_MAX, first = INT64_MAX, end = INT64_MIN;
        for (int down = 0; down < c->reach; down++) {
            const int64_t row = floor_div(y + corner_y + down, c->side);
            const bool there = row >= 0 && row < c->columns && c->ends[row] > c->firsts[row];
            latest = there ? larger(latest, c->firsts[row]) : INT32_MAX;
            soonest = there ? smaller(soonest, c->ends[row]) : 0;
            first = there ? smaller(first, c->firsts[row]) : first;
            end = there ? larger(end, c->ends[row]) : end;
        }
        if (end > 0)
            add_pixels(&ever, p, y, first * c->side - corner_x - (c->reach - 1), end * c->side - corner_x);
        add_pixels(&always, p, y, latest * c->side - corner_x, soonest * c->side - corner_x - (c->reach - 1));
    }
    *least = always.count ? tm_large_variance(always.count, always.sum, always.square) * (1 - 1e-9) : 0;
    *most = tm_large_variance(ever.count, ever.sum, ever.square) * (1 + 1e-9);
}

double tm_large_share(const uint16_t *sums, int cells, int side, double energy)
{
    int64_t sum = 0, square = 0;

    for (int i = 0; i < cells; i++) {
        sum += sums[i];
        square += (int64_t)sums[i] * sums[i];
    }
    return tm_large_variance(cells, sum, square) / ((double)side * side) / energy * (1 - 1e-9);
}

/* Writes the sums of a row of cells of a picture, or -1 where not all of one counts. columns: room for 2 * the picture's
 * width numbers. */
static void sum_row_of_cells(int32_t *sums, uint16_t *columns, const tm_posed *p, int64_t row, int side)
{
    uint16_t *counts = columns + p->width;

    memset(columns, 0, 2 * (size_t)p->width * sizeof *columns);
    for (int64_t y = row * side; y < (row + 1) * side; y++) {
        const uint8_t *samples = p->samples + y * p->width, *mask = p->mask + y * p->width;
        for (int64_t x = 0; x < p->width; x++) {
            columns[x] = (uint16_t)(columns[x] + samples[x]);
            counts[x] = (uint16_t)(counts[x] + mask[x]);
        }
    }
    for (int64_t i = 0; i < p->width / side; i++) {
        int sum = 0, count = 0;
        for (int64_t x = i * side; x < (i + 1) * side; x++) {
            sum += columns[x];
            count += counts[x];
        }
        sums[i] = count == side * side ? sum : -1;
    }
}

tm_status tm_large_reduce(tm_pose_reduced *r, const tm_posed *p, int64_t pose, int side, double energy)
{
    tm_posed to = {.width = p->width / side, .height = p->height / side};
    const size_t size = (size_t)(to.width * to.height);
    int64_t sum = 0, square = 0, rounded = 0, rounded_sq = 0, product = 0;

    if (!size)
        return TM_OK;
    to.samples = calloc(size, 1);
    to.mask = calloc(size, 1);
    int32_t *sums = malloc((size_t)to.width * sizeof *sums);
    uint16_t *columns = malloc(2 * (size_t)p->width * sizeof *columns);
    if (!to.samples || !to.mask || !sums || !columns) {
        free(sums);
        free(columns);
        tm_posed_free(&to);
        return TM_ERR_MEMORY;
    }
    for (int64_t i = 0; i < to.width * to.height; i++) {
        if (i % to.width == 0)
            sum_row_of_cells(sums, columns, p, i / to.width, side);
        const int of_cell = sums[i % to.width];
        if (of_cell < 0)
            continue;
        const int mean = (2 * of_cell + side * side) / (2 * side * side);
        to.mask[i] = 1;
        to.samples[i] = (uint8_t)mean;
        to.count++;
        sum += of_cell;
        square += (int64_t)of_cell * of_cell;
        rounded += mean;
        rounded_sq += mean * mean;
        product += (int64_t)of_cell * mean;
    }
    free(sums);
    free(columns);
    const double own = to.count ? tm_large_variance(to.count, sum, square) : 0;
    const double other = to.count ? tm_large_variance(to.count, rounded, rounded_sq) : 0;
    const bool differ = own > 0.5 && other > 0.5;
    r->taps = differ ? malloc((size_t)tm_pose_taps_size(&to) + TM_POSE_STRIDE) : NULL;
    if (r->taps) {
        const double both = (double)((tm_int128)to.count * product - (tm_int128)sum * rounded) / (double)to.count;
        tm_pose_member_make(&r->member, &to, pose, r->taps);
        r->sum = (double)rounded;
        r->energy = other;
        r->share = own / (side * side) / energy * (1 - 1e-9);
        r->turn = tm_large_angle(both / sqrt(own * other));
    }
    const bool good = r->taps || !differ;
    tm_posed_free(&to);
    return good ? TM_OK : TM_ERR_MEMORY;
}
