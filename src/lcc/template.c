/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lcc/lcc.h"

/* FNV-1a, 64 bits: http://www.isthe.com/chongo/tech/comp/fnv/ */
static uint64_t hash_bytes(uint64_t hash, const void *data, size_t size)
{
    const uint8_t *bytes = data;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

tm_status tm_template_prepare(tm_template **tmpl, const tm_image *image)
{
    int64_t n = image->width * image->height;
    tm_template *t = malloc(sizeof *t);
    uint8_t *samples = malloc((size_t)n);
    if (!t || !samples) {
        free(t);
        free(samples);
        return TM_ERR_MEMORY;
    }
    *t = (tm_template){.width = image->width, .height = image->height, .n = n, .samples = samples};

    for (int64_t y = 0; y < t->height; y++) {
        uint8_t *row = samples + y * t->width;
        memcpy(row, image->samples + y * image->stride, (size_t)t->width);
        for (int64_t x = 0; x < t->width; x++) {
            t->sum += row[x];
            t->sum_sq += row[x] * row[x];
        }
    }
    t->variance = n * t->sum_sq - t->sum * t->sum;
    t->hash = hash_bytes(UINT64_C(0xcbf29ce484222325), &t->width, sizeof t->width);
    t->hash = hash_bytes(t->hash, samples, (size_t)n);
    *tmpl = t;
    return TM_OK;
}

bool tm_template_equal(const tm_template *a, const tm_template *b)
{
    return a->hash == b->hash && a->width == b->width && a->height == b->height &&
           memcmp(a->samples, b->samples, (size_t)a->n) == 0;
}

void tm_template_destroy(tm_template **tmpl)
{
    if (!tmpl || !*tmpl)
        return;
    free((*tmpl)->samples);
    free(*tmpl);
    *tmpl = NULL;
}

tm_status tm_template_normalized(const tm_template *tmpl, float *out)
{
    if (!tmpl || !out)
        return TM_ERR_INVALID;
    if (tmpl->variance == 0)
        return TM_ERR_FLAT_TEMPLATE;

    /* ||T - mean||^2 = var_T / n, and T - mean = (n*T - S_T) / n. */
    double n = (double)tmpl->n;
    double norm = sqrt((double)tmpl->variance * n);
    for (int64_t i = 0; i < tmpl->n; i++)
        out[i] = (float)((double)(tmpl->n * tmpl->samples[i] - tmpl->sum) / norm);
    return TM_OK;
}
