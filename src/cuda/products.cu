/* SPDX-License-Identifier: MIT */
/* Correlations of planes, each by whichever kernel takes it. */
#include "cuda/context.cuh"

/* What a map of 32 bits may add up: terms' values are below n 255^2. */
static int most_together(const tm_job *job)
{
    return (int)(UINT32_MAX / (job->tmpl->n * 255 * 255));
}

static void add_term(tm_products_plan *p, int term, int *made)
{
    p->order[(*made)++] = term;
    p->of[term].map = p->maps;
}

/* Of the terms from first on, if there are any. */
static void end_map(tm_products_plan *p, int first, int made)
{
    if (made == first)
        return;
    p->of[p->order[made - 1]].ends = true;
    p->maps++;
}

/* Appends a sum's terms from last to first: the greatest shift comes first, and what is
 * before each is shifted by the difference. */
static int plan_whole(tm_products_plan *p, const tm_plane_products *products, int sum, int made)
{
    const int first = made;
    for (int i = products->count - 1; i >= 0; i--) {
        if (products->product[i].sum == sum)
            add_term(p, i, &made);
    }
    end_map(p, first, made);
    return made;
}

/* Appends a sum's terms, those of one shift together, most of them in a map. */
static int plan_by_shift(tm_products_plan *p, const tm_plane_products *products, int sum, int most,
                         int made)
{
    for (int shift = 0; shift <= 32; shift += 8) {
        int first = made;
        for (int i = 0; i < products->count; i++) {
            if (products->product[i].sum != sum || products->product[i].shift != shift)
                continue;
            if (made - first == most) {
                end_map(p, first, made);
                first = made;
            }
            add_term(p, i, &made);
        }
        end_map(p, first, made);
    }
    return made;
}

tm_products_plan tm_products_plan_make(const tm_job *job, const tm_plane_products *products,
                                       tm_products_way way)
{
    /* F after FT: with one plane it is the same one */
    static const int sums[TM_SUMS] = {TM_SUM_FT,    TM_SUM_F,  TM_SUM_F + 1,  TM_SUM_F + 2,
                                      TM_SUM_F + 3, TM_SUM_FF, TM_SUM_TOUCHED};
    tm_products_plan p = {};
    int made = 0;

    p.way = way;
    const int most = way == TM_PRODUCTS_MERGED ? most_together(job) : 1;
    const bool whole =
        way == TM_PRODUCTS_MERGED && products->bytes == 1 && products->channels <= most;
    for (int sum : sums)
        made = whole ? plan_whole(&p, products, sum, made)
                     : plan_by_shift(&p, products, sum, most, made);
    return p;
}

/* One correlation over a band of rows, alone. */
static cudaError_t run_term(tm_cuda *cuda, const tm_job *job, const tm_plane_product *product,
                            const tm_planes_score *band, bool narrow, void *map)
{
    const tm_device_planes *planes = &band->planes;
    tm_job plain = {};
    tm_group *group;

    plain.metric = TM_METRIC_CCORR;
    plain.tmpl = product->taps;
    plain.tiling = job->tiling;
    TRY(tm_fetch_group(cuda, &plain, 1, &group));
    tm_device_job direct = {};
    direct.frame =
        planes->data + (product->plane * planes->rows + band->y) * (int64_t)planes->pitch;
    direct.pitch = planes->pitch;
    direct.map_width = band->map_width;
    direct.map_height = band->rows;
    direct.taps = group->taps;
    direct.width = (int)job->tmpl->width;
    direct.height = (int)job->tmpl->height;
    direct.map = map;
    if (job->tiling) {
        tm_fft_job fft = {};
        fft.job = direct;
        fft.job.sum = product->taps->sum;
        fft.frame_rows = planes->rows;
        fft.metric = TM_METRIC_CCORR;
        fft.tiling = *job->tiling;
        tm_make_room_for_spectrum(cuda, group, tm_fft_spectrum_bytes(&fft.tiling));
        TRY(tm_fft_prepare(&cuda->fft, &fft, &group->spectrum, cuda->stream));
        TRY(tm_buffer_fit(&cuda->candidates,
                          (size_t)tm_fft_candidates(&fft) * sizeof(tm_candidate)));
        fft.job.candidates = (tm_candidate *)cuda->candidates.data;
        return tm_fft_launch(&fft, cuda->stream);
    }
    if (!narrow) {
        TRY(tm_buffer_fit(&cuda->candidates,
                          (size_t)tm_direct_blocks(&direct) * sizeof(tm_candidate)));
        direct.candidates = (tm_candidate *)cuda->candidates.data;
        return tm_direct_launch(&direct, TM_METRIC_CCORR, cuda->stream);
    }
    tm_tensor_job tensor = tm_tensor_job_of(&direct);
    tensor.outcome = TM_TENSOR_SUMS;
    tensor.count = 1;
    tensor.fragments = group->fragments;
    tensor.sums = (tm_tensor_sums){NULL, (uint32_t *)map, band->stride};
    return tm_tensor_launch(&cuda->tensor, tensor, cuda->stream);
}

/* Brings all terms' fragments to the device. With little memory there one may have had
 * to make room for another: not supported. */
static cudaError_t fetch_fragments(tm_cuda *cuda, const tm_plane_products *products,
                                   const void **fragments)
{
    tm_group *groups[TM_MAX_PRODUCTS];

    for (int i = 0; i < products->count; i++) {
        tm_job plain = {};
        plain.metric = TM_METRIC_CCORR;
        plain.tmpl = products->product[i].taps;
        TRY(tm_fetch_group(cuda, &plain, 1, &groups[i]));
        fragments[i] = groups[i]->fragments;
    }
    for (int i = 0; i < products->count; i++) {
        if (groups[i]->count != 1 || groups[i]->fragments != fragments[i] ||
            !tm_template_equal(groups[i]->keys, products->product[i].taps))
            return cudaErrorNotSupported;
    }
    return cudaSuccess;
}

/* All terms in one launch. */
static cudaError_t run_steps(tm_cuda *cuda, const tm_job *job, const tm_plane_products *products,
                             const tm_products_plan *plan, const tm_planes_score *band,
                             uint8_t *const maps[])
{
    const tm_device_planes *planes = &band->planes;
    const void *fragments[TM_MAX_PRODUCTS];
    tm_tensor_steps steps = {};

    TRY(fetch_fragments(cuda, products, fragments));
    steps.frame = planes->data + band->y * (int64_t)planes->pitch;
    steps.pitch = planes->pitch;
    steps.map_width = band->map_width;
    steps.map_height = band->rows;
    steps.stride = band->stride;
    steps.width = (int)job->tmpl->width;
    steps.height = (int)job->tmpl->height;
    steps.count = products->count;
    for (int i = 0; i < products->count; i++) {
        const int index = plan->order[i], before = i ? plan->order[i - 1] : index;
        const tm_plane_product *product = &products->product[index];
        tm_tensor_step *step = &steps.step[i];

        step->plane = product->plane * planes->rows * (int64_t)planes->pitch;
        step->fragments = fragments[index];
        if (!plan->of[before].ends)
            step->shift = products->product[before].shift - product->shift;
        if (plan->of[index].ends)
            step->map = (uint32_t *)maps[plan->of[index].map];
    }
    return tm_tensor_launch_steps(&cuda->tensor, &steps, cuda->stream);
}

static_assert(TM_MAX_PRODUCTS <= TM_TENSOR_STEPS, "a launch takes all terms of a job");

cudaError_t tm_run_products(tm_cuda *cuda, const tm_job *job, const tm_plane_products *products,
                            const tm_products_plan *plan, tm_planes_score *band)
{
    const bool narrow = plan->way != TM_PRODUCTS_64_BITS;
    const size_t size = (size_t)(band->stride * band->rows) * (narrow ? 4 : 8);
    uint8_t *maps[TM_MAX_PRODUCTS];
    int count = 0;

    for (int i = 0; i < plan->maps; i++)
        maps[i] = (uint8_t *)cuda->correlations.data + (size_t)i * size;
    for (int sum = 0; sum < TM_SUMS; sum++) {
        band->first[sum] = count;
        for (int i = 0; i < products->count; i++) {
            const tm_plane_product *product = &products->product[i];
            if (product->sum != sum || !plan->of[i].ends)
                continue;
            void *map = maps[plan->of[i].map];
            band->product[count++] =
                narrow ? (tm_device_product){(const uint32_t *)map, NULL, product->shift}
                       : (tm_device_product){NULL, (const int64_t *)map, product->shift};
        }
    }
    band->first[TM_SUMS] = count;
    band->single = narrow;
    for (int sum = 0; sum < TM_SUMS; sum++) {
        const int first = band->first[sum], terms = band->first[sum + 1] - first;
        band->only[sum] = terms ? band->product[first].narrow : NULL;
        band->single = band->single && terms <= 1 && !(terms && band->product[first].shift);
    }
    if (plan->way == TM_PRODUCTS_MERGED)
        return run_steps(cuda, job, products, plan, band, maps);
    for (int i = 0; i < products->count; i++)
        TRY(run_term(cuda, job, &products->product[i], band, narrow, maps[plan->of[i].map]));
    return cudaSuccess;
}
