/* SPDX-License-Identifier: MIT */
/* The experiment of docs/exactness.md on a GPU: how far sums are from whole numbers
 * before they are rounded, against the proven bound, and that they are the direct
 * algorithm's once rounded. Linked to the plugin's objects, with kernels that keep
 * the greatest distance. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "fft/tiling.h"
#include "pictures.h"
#include "cuda/plugin.h"

/* With our own transforms, and with cuFFT's. */
int tm_fft_probe(double *worst);
int tm_cufft_probe(double *worst);

/* What direct takes too long for, test_fft.c compares now and then. */
#define DIRECT_PRODUCTS 2e12

static tm_device *cuda;
static bool by_cufft;

static void match(tm_job *job)
{
    tm_work work;
    tm_message message;
    if (tm_cuda_plugin_get()->match(cuda, job, 1, &work, &message) != TM_OK)
        check_fail(__FILE__, __LINE__, "%s", message.text);
}

/* Tiles whose transforms have these lengths, however many. */
static tm_fft_tiling tiling_of(const tm_geometry *g, int length)
{
    tm_fft_length lengths[] = {{length, 1}};
    tm_fft_costs costs = {lengths, 1, .window_ns = 1, .max_points = INT64_MAX};
    tm_fft_tiling tiling;
    CHECK(tm_fft_tile_map(&tiling, g, &costs, 1));
    tiling.by_cufft = by_cufft;
    return tiling;
}

static int probe(double *worst)
{
    return by_cufft ? tm_cufft_probe(worst) : tm_fft_probe(worst);
}

/* Returns worst error / bound. */
static double error_of(const uint8_t *frame, const uint8_t *tmpl_samples, int length, int size,
                       double *worst, double *bound)
{
    const tm_image picture = {.samples = tmpl_samples, .width = size, .height = size,
                              .stride = size};
    tm_template *tmpl;
    tm_job job = {.metric = TM_METRIC_CCORR,
                  .frame = {.samples = frame, .width = length, .height = length, .stride = length}};

    CHECK_EQ(tm_template_prepare(&tmpl, &picture), TM_OK);
    CHECK_EQ(tm_geometry_init(&job.geometry, TM_DOMAIN_VALID, length, length, size, size), TM_OK);
    const size_t bytes = (size_t)(job.geometry.map_width * job.geometry.map_height) * 8;
    const bool compared = (double)bytes / 8 * (double)tmpl->n < DIRECT_PRODUCTS;
    int64_t *by_fft = malloc(bytes), *direct = malloc(bytes);
    CHECK(by_fft && direct);
    job.tmpl = tmpl;
    job.map = (tm_map){direct, job.geometry.map_width * 8};
    if (compared)
        match(&job);
    const tm_fft_tiling tiling = tiling_of(&job.geometry, length);
    job.tiling = &tiling;
    job.map.data = by_fft;
    CHECK_EQ(probe(worst), 0);
    match(&job);
    CHECK_EQ(probe(worst), 0);
    CHECK(!compared || memcmp(by_fft, direct, bytes) == 0);
    *bound = tm_fft_error_bound(&tiling, tmpl);
    tm_template_destroy(&tmpl);
    free(by_fft);
    free(direct);
    return *worst / *bound;
}

/* Noise, two values, all but one, a checkerboard, a gradient. */
enum { PICTURES = PICTURE_GRADIENT + 1 };

static void errors_at(int length, int size)
{
    double most = 0;
    for (int f = 0; f < PICTURES; f++) {
        for (int t = 0; t < PICTURES; t++) {
            if (length > 2048 && f != t)
                continue;
            uint8_t *frame = picture_bytes((picture_content)f, length, length), *tmpl = picture_bytes((picture_content)t, size, size);
            double worst, bound, share = error_of(frame, tmpl, length, size, &worst, &bound);
            if (!(share <= 1.0 / 16))
                check_fail(__FILE__, __LINE__, "%s, %s: error %g, bound %g", picture_content_names[f], picture_content_names[t],
                           worst, bound);
            most = share > most ? share : most;
            if (f == t && t < 2)
                printf("# transforms of %d, template %d, %s: worst error %.2g, bound %.2g\n",
                       length, size, picture_content_names[t], worst, bound);
            free(frame);
            free(tmpl);
        }
    }
    printf("# transforms of %d, template %d: worst error / bound = 1/%.0f\n", length, size, 1 / most);
}

static void open_cuda(bool for_cufft)
{
    const tm_device_settings settings = {
        .algorithm = for_cufft ? TM_ALGORITHM_CUFFT : TM_ALGORITHM_AUTO};
    tm_message message;

    by_cufft = for_cufft;
    if (!tm_cuda_plugin_get()->count(&message))
        check_skip(message.text);
    const tm_status status = tm_cuda_plugin_get()->open(&cuda, &settings, &message);
    if (status == TM_ERR_INVALID)
        check_skip(message.text); /* no cuFFT */
    if (status != TM_OK)
        check_fail(__FILE__, __LINE__, "%s", message.text);
}

/* Every length that there are kernels for. */
static void errors(void)
{
    static const int sizes[][2] = {{256, 60},   {512, 128},  {768, 400},   {1024, 300},
                                   {1152, 500}, {1536, 600}, {2048, 1024}, {2304, 200},
                                   {4096, 1024}, {8192, 1000}};

    open_cuda(false);
    const int longest = tm_cuda_plugin_get()->traits(cuda).longest_fft;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (sizes[i][0] <= longest)
            errors_at(sizes[i][0], sizes[i][1]);
    }
    tm_cuda_plugin_get()->close(cuda);
}

/* Lengths that the plan takes, of each kind of factors. */
static void cufft_errors(void)
{
    static const int sizes[][2] = {{256, 60},    {384, 100},   {512, 128},   {768, 400},  {1024, 300},
                                   {1536, 600},  {2048, 1024}, {2560, 700},  {3072, 900}, {3584, 1000},
                                   {4096, 1024}, {5120, 1000}, {6144, 1000}, {7168, 1000}, {8192, 1000}};

    open_cuda(true);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        errors_at(sizes[i][0], sizes[i][1]);
    tm_cuda_plugin_get()->close(cuda);
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {TEST(errors), TEST(cufft_errors)};
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
