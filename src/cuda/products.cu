/* SPDX-License-Identifier: MIT */
#include "cuda/products.cuh"

#include "cuda/context.cuh"

/* How many products a map of 32 bits may add up: each is below n 255^2. */
static int most_together(const tm_job *job)
{
    return (int)(UINT32_MAX / (job->tmpl->n * 255 * 255));
}

static void add_product(tm_products_plan *p, int product, int *made)
{
    p->order[(*made)++] = product;
    p->of[product].map = p->maps;
}

/* Ends the map of the products that were added from first on, if there are any. */
static void end_map(tm_products_plan *p, int first, int made)
{
    if (made == first)
        return;
    p->of[p->order[made - 1]].ends = true;
    p->maps++;
}

/* Adds a sum's products from last to first: the greatest shift comes first, and what was added
 * before each one is shifted by the difference. */
static int plan_whole(tm_products_plan *p, const tm_plane_products *products, int sum, int made)
{
    const int first = made;
    for (int i = products->count - 1; i >= 0; i--) {
        if (products->product[i].sum == sum)
            add_product(p, i, &made);
    }
    end_map(p, first, made);
    return made;
}

/* Adds a sum's products, those of one shift together, at most so many to a map. */
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
            add_product(p, i, &made);
        }
        end_map(p, first, made);
    }
    return made;
}

tm_products_plan tm_products_plan_make(const tm_job *job, const tm_plane_products *products,
                                       tm_products_way way)
{
    /* F after FT: where there is one plane, both sums take it, and it is staged once */
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

static tm_job plain_job_of(const tm_plane_product *product, const tm_fft_tiling *tiling)
{
    tm_job plain = {};
    plain.metric = TM_METRIC_CCORR;
    plain.tmpl = product->taps;
    plain.tiling = tiling;
    return plain;
}

tm_device_windows tm_band_windows(const tm_job *job, const tm_planes_score *band)
{
    const tm_device_planes *planes = &band->planes;
    return (tm_device_windows){planes->data + band->y * (int64_t)planes->pitch,
                               planes->pitch,
                               band->map_width,
                               band->rows,
                               (int)job->tmpl->width,
                               (int)job->tmpl->height};
}

static int64_t plane_bytes(const tm_device_planes *planes)
{
    return planes->rows * (int64_t)planes->pitch;
}

/* One product over a band, in a launch of its own. */
static cudaError_t run_product(tm_cuda *cuda, const tm_job *job, const tm_plane_product *product,
                               const tm_planes_score *band, bool narrow, void *map)
{
    const tm_job plain = plain_job_of(product, job->tiling);
    tm_group *group;

    TRY(tm_fetch_group(cuda, &plain, 1, &group));
    tm_launch l = tm_launch_of(group, plain.metric);
    (tm_device_windows &)l.job = tm_band_windows(job, band);
    l.job.frame += product->plane * plane_bytes(&band->planes);
    if (narrow)
        return tm_launch_sums(cuda, &l, (uint32_t *)map, band->stride);
    l.job.map = map;
    l.plane_rows = band->planes.rows;
    l.on_tensor_cores = false; /* they have refused */
    TRY(tm_launch_prepare(cuda, &l, plain.tiling));
    return tm_launch_start(cuda, &l);
}

cudaError_t tm_products_fetch(tm_cuda *cuda, const tm_plane_products *products, bool wide, tm_group **groups)
{
    const void *fragments[TM_MAX_PRODUCTS];

    for (int i = 0; i < products->count; i++) {
        const tm_job plain = plain_job_of(&products->product[i], NULL);
        TRY(tm_fetch_group(cuda, &plain, 1, &groups[i]));
        if (wide)
            TRY(tm_fetch_wide(cuda, groups[i]));
        fragments[i] = groups[i]->fragments;
    }
    for (int i = 0; i < products->count; i++) {
        if (groups[i]->count != 1 || groups[i]->fragments != fragments[i] ||
            !tm_template_equal(groups[i]->keys, products->product[i].taps))
            return cudaErrorNotSupported;
    }
    return cudaSuccess;
}

/* Fetches the steps' fragments, those for wide templates where they are to be used and there is memory for them. */
static cudaError_t fetch_fragments(tm_cuda *cuda, const tm_plane_products *products, const tm_products_plan *plan,
                                   tm_tensor_steps *steps)
{
    tm_group *groups[TM_MAX_PRODUCTS];
    bool wide = tm_tensor_takes_wide_steps(&cuda->tensor, steps);
    cudaError_t error = tm_products_fetch(cuda, products, wide, groups);

    if (wide && error == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError();
        wide = false;
        error = tm_products_fetch(cuda, products, wide, groups);
    }
    for (int i = 0; error == cudaSuccess && i < steps->count; i++) {
        const tm_group *group = groups[plan->order[i]];
        steps->step[i].fragments = group->fragments;
        steps->step[i].wide = wide ? group->wide_fragments : NULL;
    }
    return error;
}

/* All products in one launch. */
static cudaError_t run_steps(tm_cuda *cuda, const tm_job *job, const tm_plane_products *products,
                             const tm_products_plan *plan, const tm_planes_score *band,
                             uint8_t *const maps[])
{
    tm_tensor_steps steps = {};

    (tm_device_windows &)steps = tm_band_windows(job, band);
    steps.stride = band->stride;
    steps.count = products->count;
    for (int i = 0; i < products->count; i++) {
        const int index = plan->order[i], before = i ? plan->order[i - 1] : index;
        const tm_plane_product *product = &products->product[index];
        tm_tensor_step *step = &steps.step[i];

        step->plane = product->plane * plane_bytes(&band->planes);
        if (!plan->of[before].ends)
            step->shift = products->product[before].shift - product->shift;
        if (plan->of[index].ends)
            step->map = (uint32_t *)maps[plan->of[index].map];
    }
    TRY(fetch_fragments(cuda, products, plan, &steps));
    return tm_tensor_launch_steps(&cuda->tensor, &steps, cuda->stream);
}

static_assert(TM_MAX_PRODUCTS <= TM_TENSOR_STEPS, "a launch takes all products of a job");

cudaError_t tm_products_run(tm_cuda *cuda, const tm_job *job, const tm_plane_products *products,
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
        const int first = band->first[sum], maps_of = band->first[sum + 1] - first;
        band->only[sum] = maps_of ? band->product[first].map32 : NULL;
        band->single = band->single && maps_of <= 1 && !(maps_of && band->product[first].shift);
    }
    if (plan->way == TM_PRODUCTS_MERGED)
        return run_steps(cuda, job, products, plan, band, maps);
    for (int i = 0; i < products->count; i++)
        TRY(run_product(cuda, job, &products->product[i], band, narrow, maps[plan->of[i].map]));
    return cudaSuccess;
}
