/* SPDX-License-Identifier: MIT */
/* Plans how tiles of a job of planes make its sums, and packs the taps. */
#include <math.h>

#include "lcc/cpu/tile.h"

/* S_FF of 16 bits is made of the planes' squares: with f = 256*h + l and
 * d = |h - l|, f^2 = 65536*h^2 + l^2 + 256*(h^2 + l^2 - d^2). */
static void weigh_windows(tm_tile_planes *p)
{
    const tm_plane_products *products = &p->products;

    for (int i = 0; i < products->channels * products->bytes; i++) {
        const int sum = TM_SUM_F + i / products->bytes, byte = i % products->bytes;
        if (products->sliding[sum])
            p->weight[sum][i] = 1 << 8 * byte;
        if (products->sliding[TM_SUM_FF])
            p->square_weight[i] = products->bytes == 1 ? 1 : byte ? 65536 + 256 : 1 + 256;
    }
    for (int c = 0; c < products->channels && products->bytes == 2; c++) {
        if (products->sliding[TM_SUM_FF])
            p->square_weight[TM_FRAME_PLANES + c] = -256;
    }
    if (products->sliding[TM_SUM_TOUCHED])
        p->weight[TM_SUM_TOUCHED][products->planes - 1] = 1;
}

static void add_source(tm_tile_planes *p, tm_tile_source from, int shift, int64_t weight)
{
    const int i = p->row.first[TM_SUMS]++;
    const float factor = from.of == TM_OF_PRODUCT ? ldexpf(1, shift) : (float)weight;
    from.most *= fabs((double)factor);
    p->source[i] = from;
    p->row.source[i] = (tm_source){.shift = shift, .weight = weight, .factor = factor};
}

/* The template has so many samples, of which counted ones count. */
static void list_sources(tm_tile_planes *p, const tm_template *mask, int64_t samples,
                         int64_t counted)
{
    for (int sum = 0; sum < TM_SUMS; sum++) {
        p->row.first[sum] = p->row.first[TM_SUMS];
        for (int i = 0; i < p->products.count; i++) {
            const tm_plane_product *product = &p->products.product[i];
            const double most = product->taps == mask ? 255.0 * (double)counted
                                                      : 255.0 * TM_TAP_BIAS * (double)samples;
            if (product->sum == sum)
                add_source(p, (tm_tile_source){TM_OF_PRODUCT, i, most}, product->shift, 0);
        }
        for (int i = 0; i < TM_TILE_PLANES; i++) {
            if (p->weight[sum][i])
                add_source(p, (tm_tile_source){TM_OF_PLANE, i, 255.0 * (double)samples}, 0,
                           p->weight[sum][i]);
            if (sum == TM_SUM_FF && p->square_weight[i])
                add_source(p, (tm_tile_source){TM_OF_SQUARES, i, 65025.0 * (double)samples}, 0,
                           p->square_weight[i]);
        }
    }
}

void tm_tile_planes_make(tm_tile_planes *p, const tm_job *job)
{
    const tm_template *mask = tm_mask_plane(job->tmpl);
    const bool centred = !mask && tm_needs_s_f(job->metric);

    memset(p, 0, sizeof *p);
    tm_plane_products_make(&p->products, job, mask);
    p->scorer = tm_scorer_make(job->tmpl, job->metric);
    weigh_windows(p);
    /* n*S_FT - S_F*S_T is the same of T less its bias */
    for (int c = 0; centred && c < p->products.channels; c++)
        p->scorer.s_t[c] -= p->scorer.n * (p->products.bytes == 2 ? 257 : 1) * TM_TAP_BIAS;
    for (int i = 0; i < p->products.count; i++) {
        const tm_plane_product *product = &p->products.product[i];
        int same = 0;
        while (p->products.product[same].taps != product->taps)
            same++;
        p->product_packed[i] = same < i ? p->product_packed[same] : p->packed_count++;
        p->correlated[product->plane] = true;
        if (!centred && product->taps != mask) /* whose taps are not biased */
            p->weight[product->sum][product->plane] += (int64_t)TM_TAP_BIAS << product->shift;
    }
    for (int i = 0; i < TM_TILE_PLANES; i++) {
        p->slid[i] = p->square_weight[i] != 0;
        for (int sum = 0; sum < TM_SUMS; sum++)
            p->slid[i] = p->slid[i] || p->weight[sum][i];
    }
    list_sources(p, mask, job->tmpl->width * job->tmpl->height, p->scorer.n);
    p->row.w = (int)job->tmpl->width;
    if (job->metric == TM_METRIC_LCC)
        tm_reject_make(p);
}

static int64_t packed_stride(const tm_template *t)
{
    return round_up((int64_t)tm_packed_taps_size((int)t->width, (int)t->height), 64);
}

size_t tm_tile_planes_taps_size(const tm_job *job)
{
    const tm_template *t = job->tmpl;
    const int packed_count = t->planes ? t->plane_count : 1;
    return (size_t)(packed_count * packed_stride(t) + t->n);
}

/* A mask's samples are 0 and 1, and so are its taps, without a bias. */
void tm_tile_planes_pack(tm_tile_planes *p, const tm_cpu_kernels *kernels, const tm_job *job,
                         char *memory)
{
    const tm_template *t = job->tmpl, *mask = tm_mask_plane(t);
    uint8_t *biased = (uint8_t *)memory + p->packed_count * packed_stride(t);

    for (int64_t i = 0; mask && i < t->n; i++)
        biased[i] = (uint8_t)(mask->samples[i] + TM_TAP_BIAS);
    for (int i = 0; i < p->products.count; i++) {
        const tm_template *taps = p->products.product[i].taps;
        tm_packed_taps *packed = &p->packed[p->product_packed[i]];
        if (packed->taps)
            continue;
        *packed = (tm_packed_taps){.w = (int)t->width, .h = (int)t->height};
        packed->taps = (int32_t *)(void *)(memory + p->product_packed[i] * packed_stride(t));
        kernels->pack(packed, taps == mask ? biased : taps->samples, (ptrdiff_t)t->width);
    }
}
