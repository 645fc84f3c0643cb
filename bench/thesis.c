/* SPDX-License-Identifier: MIT */
/* The thesis's CPU program: one core, float, one loop over the taps with the
 * three sums, the frame extended with zeros. Plain C, compiled as the rest is. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "baseline.h"
#include "bench.h"
#include "clock.h"

/* For LCC the template gets mean 0 and norm 1 (a norm of 0 becomes 1); for correlation
 * it stays as it is. */
static void normalize(float *to, const uint8_t *from, int64_t n, bool lcc)
{
    float mean = 0, norm = 0;
    for (int64_t i = 0; lcc && i < n; i++)
        mean += (float)from[i] / (float)n;
    for (int64_t i = 0; i < n; i++) {
        to[i] = (float)from[i] - mean;
        norm += to[i] * to[i];
    }
    norm = lcc && norm > 0 ? sqrtf(norm) : 1;
    for (int64_t i = 0; i < n; i++)
        to[i] /= norm;
}

static void correlate(float *map, const float *frame, const float *tmpl, int64_t stride,
                      int64_t map_width, int64_t map_height, int64_t w, int64_t h)
{
    for (int64_t y = 0; y < map_height; y++) {
        for (int64_t x = 0; x < map_width; x++) {
            float product = 0;
            for (int64_t v = 0; v < h; v++) {
                for (int64_t u = 0; u < w; u++)
                    product += frame[(y + v) * stride + x + u] * tmpl[v * w + u];
            }
            map[y * map_width + x] = product;
        }
    }
}

static void lcc(float *map, const float *frame, const float *tmpl, int64_t stride,
                int64_t map_width, int64_t map_height, int64_t w, int64_t h)
{
    const float n = (float)(w * h);
    for (int64_t y = 0; y < map_height; y++) {
        for (int64_t x = 0; x < map_width; x++) {
            float product = 0, sum = 0, squares = 0;
            for (int64_t v = 0; v < h; v++) {
                for (int64_t u = 0; u < w; u++) {
                    const float f = frame[(y + v) * stride + x + u];
                    product += f * tmpl[v * w + u];
                    sum += f;
                    squares += f * f;
                }
            }
            map[y * map_width + x] = product / sqrtf(squares - sum * sum / n);
        }
    }
}

bool thesis_cpu_run(const baseline_request *r, baseline_reply *reply)
{
    const int64_t w = r->template_width, h = r->template_height;
    const int64_t pad_x = r->full ? w - 1 : 0, pad_y = r->full ? h - 1 : 0;
    const int64_t stride = r->frame_width + 2 * pad_x, rows = r->frame_height + 2 * pad_y;
    float *frame = calloc((size_t)(stride * rows), sizeof *frame);
    float *tmpl = malloc((size_t)(w * h) * sizeof *tmpl);
    if (!frame || !tmpl) {
        free(frame);
        free(tmpl);
        snprintf(reply->note, sizeof reply->note, "out of memory");
        return false;
    }
    for (int64_t y = 0; y < r->frame_height; y++) {
        for (int64_t x = 0; x < r->frame_width; x++)
            frame[(y + pad_y) * stride + x + pad_x] = r->frame[y * r->frame_width + x];
    }
    normalize(tmpl, r->tmpl, w * h, r->lcc);

    double spent = 0;
    for (int i = 0; i < r->samples && (i == 0 || spent < r->budget_ms); i++) {
        const double start = clock_ms();
        (r->lcc ? lcc : correlate)(r->map, frame, tmpl, stride, stride - w + 1, rows - h + 1, w, h);
        reply->ms[i] = clock_ms() - start;
        spent += reply->ms[i];
        reply->taken = i + 1;
        if (i == 0 && !r->accept(r->context))
            reply->taken = 0;
        if (!reply->taken)
            break;
    }
    free(frame);
    free(tmpl);
    return true;
}
