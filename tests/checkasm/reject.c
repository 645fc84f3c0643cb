/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "checkasm.h"

/* Thin templates, of one row, in colour, whose sums are easily made. */
typedef struct thin_template {
    int w, channels, blocks;
    buffer samples[TM_MAX_CHANNELS], products[TM_MAX_CHANNELS];
    buffer prefix[TM_MAX_CHANNELS], prefix_sq[TM_MAX_CHANNELS];
    tm_tile_planes planes;
} thin_template;

static void thin_free(thin_template *s)
{
    for (int c = 0; c < s->channels; c++) {
        free(s->samples[c].memory);
        free(s->products[c].memory);
        free(s->prefix[c].memory);
        free(s->prefix_sq[c].memory);
    }
}

static void thin_source(thin_template *s, int sum, tm_source source, double most)
{
    tm_source_row *row = &s->planes.row;
    const int i = row->first[TM_SUMS]++;
    row->source[i] = source;
    row->source[i].factor = 1;
    row->source[i].weight = 1;
    s->planes.source[i].most = most;
    for (int next = sum + 1; next < TM_SUMS; next++)
        row->first[next] = i + 1;
}

static void thin_channel(thin_template *s, int c, int how, double *variance)
{
    const int width = s->blocks * TM_BLOCK, columns = width + (s->w + 63) / 64 * 64;
    const ptrdiff_t plane = columns / 4;
    uint8_t *samples;
    int64_t s_t = 0, s_tt = 0;

    s->samples[c] = buffer_make((size_t)columns);
    s->products[c] = buffer_make((size_t)width * 4);
    s->prefix[c] = buffer_make((size_t)columns * 4);
    s->prefix_sq[c] = buffer_make((size_t)columns * 4);
    buffer_fill(&s->samples[c], how);
    samples = s->samples[c].data;
    const uint8_t *taps = samples + width / 3; /* so one window scores 1 */
    for (int u = 0; u < s->w; u++) {
        s_t += taps[u] - TM_TAP_BIAS;
        s_tt += (taps[u] - TM_TAP_BIAS) * (taps[u] - TM_TAP_BIAS);
    }
    *variance += (double)(s->w * s_tt - s_t * s_t);
    s->planes.scorer.s_t[c] = s_t;
    for (int x = 0; x < width; x++) {
        int32_t sum = 0;
        for (int u = 0; u < s->w; u++)
            sum += samples[x + u] * (taps[u] - TM_TAP_BIAS);
        ((int32_t *)s->products[c].data)[tm_phase_index(x)] = sum;
    }
    uint32_t sum = (uint32_t)check_random(), sum_sq = (uint32_t)check_random();
    for (int x = 0; x < columns; x++) {
        ((uint32_t *)s->prefix[c].data)[x % 4 * plane + x / 4] = sum;
        ((uint32_t *)s->prefix_sq[c].data)[x % 4 * plane + x / 4] = sum_sq;
        sum += samples[x];
        sum_sq += (uint32_t)(samples[x] * samples[x]);
    }
    s->planes.row.plane = plane;
}

static void thin_make(thin_template *s, int how)
{
    double variance = 0;

    *s = (thin_template){.w = (int)check_random_in(2, 300),
                         .channels = (int)check_random_in(1, TM_MAX_CHANNELS),
                         .blocks = (int)check_random_in(1, 9)};
    for (int c = 0; c < s->channels; c++)
        thin_channel(s, c, how, &variance);
    for (int c = 0; c < s->channels; c++)
        thin_source(s, TM_SUM_FT, (tm_source){.products = s->products[c].data}, s->w * 255.0 * 128);
    for (int c = 0; c < s->channels; c++)
        thin_source(s, TM_SUM_FF, (tm_source){.prefix = s->prefix_sq[c].data}, s->w * 65025.0);
    for (int c = 0; c < s->channels; c++)
        thin_source(s, TM_SUM_F + c, (tm_source){.prefix = s->prefix[c].data}, s->w * 255.0);
    s->planes.row.w = s->w;
    s->planes.row.blocks = s->blocks;
    s->planes.scorer.channels = s->channels;
    s->planes.scorer.n = s->w;
    s->planes.scorer.norm = tm_or_one((float)variance) * TM_SCORE_SCALE;
    tm_reject_make(&s->planes);
}

/* No window that scores enough is lost, and most blocks without one are. */
void rejects(void)
{
    int kept[MAX_ISAS] = {0}, without = 0;

    for (int64_t n = check_cases_least(1000, 400); n > 0; n--) {
        thin_template s;
        float scores[9 * TM_BLOCK];
        int64_t sums[TM_SUMS][9 * TM_BLOCK];
        const int64_t *needed[TM_SUMS] = {0};

        thin_make(&s, (int)check_random_in(2, 9));
        for (int i = 0; i < TM_SUM_F + s.channels; i++) {
            if (i == TM_SUM_TOUCHED)
                continue;
            isas[0].sum_up(sums[i], &s.planes.row, i, 0, s.blocks);
            needed[i] = sums[i];
        }
        isas[0].score_sums(&s.planes.scorer, needed, s.blocks, scores);
        float least = 0;
        for (int i = (int)check_random_in(1, 200); i > 0; i--) {
            const float score = scores[check_random_in(0, s.blocks * TM_BLOCK - 1)];
            least = score > least ? score : least;
        }
        tm_reject_set(&s.planes.reject, least);
        for (int i = 0; i < isa_count; i++) {
            uint8_t pass[9];
            isas[i].reject(&s.planes.reject, &s.planes.row, pass);
            for (int b = 0; b < s.blocks; b++) {
                float most = -1;
                for (int x = 0; x < TM_BLOCK; x++)
                    most = scores[b * TM_BLOCK + x] > most ? scores[b * TM_BLOCK + x] : most;
                if (most >= least && !pass[b])
                    check_fail(__FILE__, __LINE__, "reject, %s: %.9g is lost, which reaches %.9g",
                               isas[i].name, (double)most, (double)least);
                if (most < least) {
                    kept[i] += pass[b];
                    without += i == 0;
                }
            }
        }
        thin_free(&s);
    }
    for (int i = 1; i < isa_count; i++)
        CHECK(isas[i].reject == isas[0].reject || kept[i] < without / 2);
}
