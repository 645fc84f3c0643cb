/* SPDX-License-Identifier: MIT */
#include "poses_oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

__extension__ typedef __int128 wide;

static const long double pi = 3.141592653589793238462643383279502884L;

static int64_t sine(int64_t angle)
{
    return llroundl(sinl((long double)(angle % 360000000) * pi / 180000000) * 0x1p30L);
}

static int64_t cosine(int64_t angle)
{
    return llroundl(cosl((long double)(angle % 360000000) * pi / 180000000) * 0x1p30L);
}

static int64_t floored(wide a, wide b)
{
    const wide q = a / b;
    return (int64_t)(q - (a % b != 0 && (a < 0) != (b < 0)));
}

/* Half up. */
static int64_t nearest(wide a, wide b)
{
    return floored(2 * a + b, 2 * b);
}

static int64_t sample_at(const tm_image *image, int64_t x, int64_t y, int channel)
{
    const int channels = image->channels ? image->channels : 1;
    const uint8_t *row = image->samples + y * image->stride;
    return image->type == TM_SAMPLE_U16
               ? ((const uint16_t *)(const void *)row)[x * channels + channel]
               : row[x * channels + channel];
}

/* Between four pixels; false where one that weighs anything does not count. */
static bool interpolate(const tm_image *image, int64_t u, int64_t v, int channel, wide *sum)
{
    const int64_t x = floored(u, 4096), y = floored(v, 4096), a = u - 4096 * x, b = v - 4096 * y;
    const int64_t weights[4] = {(4096 - a) * (4096 - b), a * (4096 - b), (4096 - a) * b, a * b};

    for (int i = 0; i < 4; i++) {
        const int64_t px = x + i % 2, py = y + i / 2;
        if (!weights[i])
            continue;
        if (px < 0 || py < 0 || px >= image->width || py >= image->height ||
            (image->mask && !image->mask[py * image->mask_stride + px]))
            return false;
        *sum += weights[i] * sample_at(image, px, py, channel);
    }
    return true;
}

/* The pixel whose centre is twice (right, down) from the canvas's; false where it does not count. */
static bool posed_pixel(const tm_image *image, int64_t angle, int64_t scale, int64_t right,
                        int64_t down, int channel, int64_t *sample)
{
    const int64_t q = (1000000 + scale - 1) / scale;
    const wide c = nearest((wide)cosine(angle) * 1000000, scale);
    const wide s = nearest((wide)sine(angle) * 1000000, scale);
    wide sum = 0;

    for (int64_t j = 0; j < q; j++) {
        for (int64_t i = 0; i < q; i++) {
            const int64_t x = right * q + 2 * i - (q - 1), y = down * q + 2 * j - (q - 1);
            const int64_t u = nearest((x * c - y * s) * 4096, (wide)(2 * q) << 30);
            const int64_t v = nearest((x * s + y * c) * 4096, (wide)(2 * q) << 30);
            if (!interpolate(image, u + (image->width - 1) * 2048, v + (image->height - 1) * 2048,
                             channel, &sum))
                return false;
        }
    }
    *sample = nearest(sum, (wide)(q * q) << 24);
    return true;
}

static int64_t parity(const tm_image *image, int64_t angle, int64_t scale, bool disc, bool across)
{
    const bool swapped = llabs(cosine(angle)) < llabs(sine(angle));
    const int64_t own = across ? image->width : image->height;
    const int64_t other = across ? image->height : image->width;
    return (disc ? own : nearest((wide)(swapped ? other : own) * scale, 1000000)) & 1;
}

static int64_t half_of(const tm_image *image, int64_t scale)
{
    const double w = (double)image->width, h = (double)image->height;
    return (int64_t)(sqrt(w * w + h * h) * (double)scale / 1e6) + 3;
}

void posed_picture(tm_image *posed, const tm_image *image, int64_t angle, int64_t scale,
                   int64_t distance)
{
    const int channels = image->channels ? image->channels : 1;
    const int64_t half = half_of(image, scale), bytes = image->type == TM_SAMPLE_U16 ? 2 : 1;
    const int64_t odd_x = parity(image, angle, scale, distance >= 0, true);
    const int64_t odd_y = parity(image, angle, scale, distance >= 0, false);
    const int64_t w = 2 * half + odd_x, h = 2 * half + odd_y;
    uint16_t *wide_samples = calloc((size_t)(w * h * channels), sizeof *wide_samples);
    uint8_t *mask = calloc((size_t)(w * h), 1);
    int64_t reach_x = -1, reach_y = -1; /* twice, from the centre */

    CHECK(wide_samples && mask);
    for (int64_t i = 0; i < w * h; i++) {
        const int64_t right = 2 * (i % w) - (w - 1), down = 2 * (i / w) - (h - 1);
        bool counts = distance < 0 || right * right + down * down < distance;
        for (int k = 0; k < channels && counts; k++) {
            int64_t sample;
            counts = posed_pixel(image, angle, scale, right, down, k, &sample);
            if (counts)
                wide_samples[i * channels + k] = (uint16_t)sample;
        }
        if (!counts)
            continue;
        mask[i] = 1;
        reach_x = llabs(right) > reach_x ? llabs(right) : reach_x;
        reach_y = llabs(down) > reach_y ? llabs(down) : reach_y;
    }
    *posed = *image;
    posed->width = reach_x + 1;
    posed->height = reach_y + 1;
    posed->channels = channels;
    posed->stride = (ptrdiff_t)(posed->width * channels * bytes);
    posed->mask_stride = (ptrdiff_t)posed->width;
    uint8_t *samples = calloc((size_t)(posed->width * posed->height * channels * bytes + 2), 1);
    uint8_t *trimmed = calloc((size_t)(posed->width * posed->height + 1), 1);
    CHECK(samples && trimmed);
    for (int64_t i = 0; i < posed->width * posed->height; i++) {
        const int64_t from = (i / posed->width + (h - posed->height) / 2) * w + i % posed->width +
                             (w - posed->width) / 2;
        trimmed[i] = mask[from];
        for (int k = 0; k < channels && mask[from]; k++) {
            if (bytes == 2)
                memcpy(samples + 2 * (i * channels + k), &wide_samples[from * channels + k], 2);
            else
                samples[i * channels + k] = (uint8_t)wide_samples[from * channels + k];
        }
    }
    free(wide_samples);
    free(mask);
    posed->samples = samples;
    posed->mask = trimmed;
    if (reach_x < 0)
        posed_picture_free(posed);
}

void posed_picture_free(tm_image *posed)
{
    free((void *)posed->samples);
    free((void *)posed->mask);
    *posed = (tm_image){.samples = NULL};
}

int64_t posed_angle(const posed_grid *grid, size_t pose)
{
    return grid->angle_from + (int64_t)pose % grid->angles * grid->angle_step;
}

int64_t posed_scale(const posed_grid *grid, size_t pose)
{
    return grid->scale_from + (int64_t)pose / grid->angles * grid->scale_step;
}

/* The least squared distance of a pixel that does not count in some pose. */
static int64_t common_disc(const posed_grid *grid, const tm_image *image)
{
    int64_t least = INT64_MAX, sample;

    for (size_t k = 0; k < (size_t)(grid->angles * grid->scales); k++) {
        const int64_t half = half_of(image, posed_scale(grid, k));
        for (int64_t down = -2 * half - 1 + (image->height & 1); down <= 2 * half; down += 2) {
            for (int64_t right = -2 * half - 1 + (image->width & 1); right <= 2 * half; right += 2) {
                const int64_t distance = right * right + down * down;
                if (distance < least && !posed_pixel(image, posed_angle(grid, k),
                                                     posed_scale(grid, k), right, down, 0, &sample))
                    least = distance;
            }
        }
    }
    return least;
}

static int64_t count_of(const tm_image *image, const posed_grid *grid, int64_t distance)
{
    tm_image posed;
    int64_t count = 0;

    posed_picture(&posed, image, grid->angle_from, grid->scale_from, distance);
    for (int64_t i = 0; posed.samples && i < posed.width * posed.height; i++)
        count += posed.mask[i];
    posed_picture_free(&posed);
    return count;
}

posed_grid posed_grid_make(const tm_pose_grid *chosen, tm_support wanted, const tm_image *image)
{
    posed_grid g = {.angle_from = llround(chosen->angle_from * 1e6),
                    .angle_step = llround(chosen->angle_step * 1e6),
                    .scale_from = llround(chosen->scale_from * 1e6),
                    .scale_step = llround(chosen->scale_step * 1e6),
                    .angles = 1,
                    .scales = 1,
                    .distance = -1};
    const int64_t angle_to = llround(chosen->angle_to * 1e6);
    const int64_t scale_to = llround(chosen->scale_to * 1e6);

    while (g.angle_step && g.angle_from + g.angles * g.angle_step <= angle_to &&
           g.angles * g.angle_step < 360000000)
        g.angles++;
    while (g.scale_step && g.scale_from + g.scales * g.scale_step <= scale_to)
        g.scales++;
    const double last = (double)(g.scale_from + (g.scales - 1) * g.scale_step);
    if (wanted == TM_SUPPORT_FULL ||
        (wanted == TM_SUPPORT_AUTO && (g.angles == 1 || last / (double)g.scale_from > 1.3)))
        return g;
    const int64_t distance = common_disc(&g, image);
    const int64_t disc = count_of(image, &g, distance);
    if (wanted == TM_SUPPORT_DISC ||
        (disc > 0 && 10 * disc >= 7 * count_of(image, &g, -1)))
        g.distance = distance;
    return g;
}

static void corners_of(const posed_truth *t, tm_posed_hit *hit, int64_t x2, int64_t y2)
{
    const int64_t angle = posed_angle(&t->grid, hit->pose);
    const wide scale = posed_scale(&t->grid, hit->pose);
    const wide c = cosine(angle), s = sine(angle), one = (wide)1 << 30;
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};

    for (int i = 0; i < 4; i++) {
        const wide right = i == 1 || i == 2 ? t->width : -t->width;
        const wide down = i >= 2 ? t->height : -t->height;
        const int64_t at[2] = {x2 * 1000000 + nearest((right * c + down * s) * scale, one),
                               y2 * 1000000 + nearest((down * c - right * s) * scale, one)};
        for (int k = 0; k < 2; k++) {
            hit->corners[i][k] = (double)at[k] / 2e6;
            low[k] = fmin(low[k], hit->corners[i][k]);
            high[k] = fmax(high[k], hit->corners[i][k]);
        }
    }
    hit->x = (int64_t)floor(low[0] + 0.5);
    hit->y = (int64_t)floor(low[1] + 0.5);
    hit->width = (int64_t)ceil(high[0] + 0.5) - hit->x;
    hit->height = (int64_t)ceil(high[1] + 0.5) - hit->y;
}

static void add_peaks(posed_truth *t, const truth *map, const tm_image *posed, size_t pose)
{
    for (size_t i = 0; i < map->count; i++) {
        const tm_peak *peak = &map->peaks[i].peak;
        const int64_t x2 = 2 * (peak->x - map->pad_x) + posed->width - 1;
        const int64_t y2 = 2 * (peak->y - map->pad_y) + posed->height - 1;
        tm_posed_hit hit = {.score = peak->score,
                            .angle = (double)posed_angle(&t->grid, pose) / 1e6,
                            .scale = (double)posed_scale(&t->grid, pose) / 1e6,
                            .center_x = (double)x2 / 2,
                            .center_y = (double)y2 / 2,
                            .margin = NAN,
                            .pose = pose};
        corners_of(t, &hit, x2, y2);
        if (t->count == t->room) {
            t->room = 2 * t->room + 64;
            CHECK(t->peaks = realloc(t->peaks, t->room * sizeof *t->peaks));
        }
        t->peaks[t->count++] = hit;
    }
}

static int by_rank(const void *first, const void *second)
{
    const tm_posed_hit *a = first, *b = second;
    if (a->score != b->score)
        return a->score > b->score ? -1 : 1;
    if (a->center_y != b->center_y)
        return a->center_y < b->center_y ? -1 : 1;
    if (a->center_x != b->center_x)
        return a->center_x < b->center_x ? -1 : 1;
    if (a->scale != b->scale)
        return a->scale < b->scale ? -1 : 1;
    return a->angle < b->angle ? -1 : a->angle > b->angle;
}

void posed_truth_make(posed_truth *t, const scene *p, const tm_pose_grid *chosen, tm_support wanted)
{
    *t = (posed_truth){.grid = posed_grid_make(chosen, wanted, &p->tmpl),
                       .width = p->tmpl.width,
                       .height = p->tmpl.height,
                       .sign = tm_metric_is_distance(p->metric) ? -1 : 1};
    for (size_t i = 0; i < (size_t)(t->grid.angles * t->grid.scales); i++) {
        scene posed = *p;
        truth map;
        posed_picture(&posed.tmpl, &p->tmpl, posed_angle(&t->grid, i), posed_scale(&t->grid, i),
                      t->grid.distance);
        if (posed.tmpl.samples && posed.tmpl.width <= p->frame.width &&
            posed.tmpl.height <= p->frame.height) {
            if (truth_make(&map, &posed))
                add_peaks(t, &map, &posed.tmpl, i);
            t->fits = t->fits || map.created;
            truth_free(&map);
        }
        posed_picture_free(&posed.tmpl);
    }
    if (t->count)
        qsort(t->peaks, t->count, sizeof *t->peaks, by_rank);
}

void posed_truth_free(posed_truth *t)
{
    free(t->peaks);
}
