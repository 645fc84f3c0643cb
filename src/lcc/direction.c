/* SPDX-License-Identifier: MIT */
#include "lcc/direction.h"

#include <math.h>
#include <stdlib.h>

#include "integers.h"
#include "lcc/rounded.h"

#define MOST_SAMPLES 65793 /* whose products with bytes, each at most 127 * 255, add up to less than 2^31 */
#define MOST_SINE 0.1      /* beyond that too many windows would be left */
#define LEAST_CORE 6       /* a sixth of the pixels that count */
#define HOLE_COST 32       /* what a pixel that does not count takes off a core, in pixels */

/* Whether a pixel counts. */
static bool counts(const tm_template *t, int64_t i)
{
    return !t->mask || t->mask[i];
}

/* n times a pixel's deviation from its channel's mean, where n pixels count. */
static int64_t deviation(const tm_template *t, int channel, int64_t i)
{
    return counts(t, i) ? t->count * t->samples[i * t->channels + channel] - t->channel_sums[channel] : 0;
}

/* What roundings change. */
typedef struct change {
    int64_t length, products, squares; /* the sums of bytes squared, times deviations, and of these squared */
} change;

/* Rounds sums of the deviations from the first one on, so that all bytes of a channel add up to 0. */
static void round_channel(const tm_template *t, int channel, double scale, uint8_t *bytes, change *c)
{
    int64_t sum = 0, before = 0;

    for (int64_t i = 0; i < t->n; i++) {
        const int64_t d = deviation(t, channel, i);
        sum += d;
        const int64_t after = (int64_t)llrint((double)sum * scale), byte = after - before;
        bytes[i] = (uint8_t)byte;
        c->length += byte * byte;
        c->products += byte * d;
        c->squares += d * d;
        before = after;
    }
}

static tm_status round_all(tm_direction *direction, const tm_template *t, uint8_t *bytes)
{
    const tm_image image = {.samples = bytes, .width = t->width, .height = t->height, .stride = (ptrdiff_t)t->width};
    int64_t most = 1;
    change c = {0};

    for (int channel = 0; channel < t->channels; channel++) {
        for (int64_t i = 0; i < t->n; i++)
            most = larger(most, llabs(deviation(t, channel, i)));
    }
    for (int channel = 0; channel < t->channels; channel++) {
        round_channel(t, channel, 126.0 / (double)most, bytes, &c);
        const tm_status status = tm_template_prepare_plane(&direction->bytes[channel], &image);
        if (status != TM_OK)
            return status;
        direction->channels++;
    }
    direction->length = sqrt((double)c.length);
    direction->sine = c.length ? tm_rounded_sine((double)c.products * (double)c.products / ((double)c.length * (double)c.squares)) : 1;
    return TM_OK;
}

/* How many of the mask's pixels in the first rows and columns do not count. */
typedef struct holes {
    int64_t columns;
    int *before;
} holes;

static bool count_holes(holes *h, const tm_template *t)
{
    h->columns = t->width + 1;
    h->before = calloc((size_t)(h->columns * (t->height + 1)), sizeof *h->before);
    if (!h->before)
        return false;
    for (int64_t y = 0; y < t->height; y++) {
        int *row = h->before + (y + 1) * h->columns, of_row = 0;
        for (int64_t x = 0; x < t->width; x++) {
            of_row += !counts(t, y * t->width + x);
            row[x + 1] = row[x + 1 - h->columns] + of_row;
        }
    }
    return true;
}

/* At most so many pixels of a core do not count, whichever of the cell's windows has it. */
static int holes_in(const holes *h, const tm_direction_core *c)
{
    const int64_t left = TM_PATCH * c->left - (TM_PATCH - 1), right = TM_PATCH * c->right;
    const int *above = h->before + (TM_PATCH * c->top - (TM_PATCH - 1)) * h->columns,
              *below = h->before + TM_PATCH * c->bottom * h->columns;
    return below[right] - below[left] - above[right] + above[left];
}

/* The core is the rectangle of patches with the most pixels, less what those that are missing cost. */
static bool choose_core(tm_direction_core *core, const tm_template *t)
{
    const int across = (int)(t->width / TM_PATCH), down = (int)(t->height / TM_PATCH);
    int64_t most = t->count / LEAST_CORE;
    tm_direction_core c;
    holes h;

    if (!count_holes(&h, t))
        return false;
    for (c.left = 1; c.left < across; c.left++)
        for (c.right = c.left + 1; c.right <= across; c.right++)
            for (c.top = 1; c.top < down; c.top++)
                for (c.bottom = c.top + 1; c.bottom <= down; c.bottom++) {
                    c.missing = holes_in(&h, &c);
                    const int64_t pixels = (int64_t)(c.right - c.left) * (c.bottom - c.top) * (TM_PATCH * TM_PATCH) - HOLE_COST * c.missing;
                    if (pixels > most) {
                        most = pixels;
                        *core = c;
                    }
                }
    free(h.before);
    return true;
}

static tm_status make(tm_direction *direction, const tm_template *t)
{
    uint8_t *bytes = malloc((size_t)t->n);
    tm_status status = TM_ERR_MEMORY;

    if (bytes && choose_core(&direction->core, t))
        status = direction->core.right ? round_all(direction, t, bytes) : TM_OK;
    free(bytes);
    return status;
}

tm_status tm_direction_make(tm_direction **direction, const tm_template *t)
{
    *direction = NULL;
    if (t->type != TM_SAMPLE_U8 || t->flat || t->n * t->channels > MOST_SAMPLES)
        return TM_OK;
    *direction = calloc(1, sizeof **direction);
    if (!*direction)
        return TM_ERR_MEMORY;
    const tm_status status = make(*direction, t);
    if (status != TM_OK || (*direction)->core.right == 0 || (*direction)->sine > MOST_SINE)
        tm_direction_free(direction);
    return status;
}

void tm_direction_free(tm_direction **direction)
{
    if (!*direction)
        return;
    for (int channel = 0; channel < (*direction)->channels; channel++)
        tm_template_destroy(&(*direction)->bytes[channel]);
    free(*direction);
    *direction = NULL;
}
