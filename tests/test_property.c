/* SPDX-License-Identifier: MIT */
/* Random and awkward problems on every backend, bit for bit against the oracle. */
#include <stdlib.h>
#include <string.h>

#include "backends.h"
#include "check.h"

static void random_cases(tm_device_kind device, int threads)
{
    matchers m = {0};
    int64_t cases = check_cases(10000), elements = 0;

    tm_settings_default(&m.settings, sizeof m.settings);
    m.settings.algorithm = TM_ALGORITHM_DIRECT;
    m.settings.device = device;
    m.settings.threads = threads;
    for (int64_t i = 0; i < cases; i++) {
        problem p;
        problem_random(&p);
        elements += compare_with_reference(&m, &p, (tm_metric)(check_random() % 4 == 0),
                                           (tm_domain)(check_random() % 3));
        problem_free(&p);
    }
    printf("# %" PRId64 " cases, %" PRId64 " map elements, 0 differ\n", cases, elements);
    matchers_free(&m);
}

/* Sizes at which sums leave 32 bits and templates are cut into panels. */
static void large_templates(tm_device_kind device)
{
    static const int64_t sizes[][4] = {
        /* map width, map height, template width, template height */
        {3, 2, 257, 257}, {2, 3, 300, 230},    {40, 2, 70001, 1},  {1, 40, 1, 70001},
        {5, 4, 1030, 66}, {4, 67, 31, 1100},   {2, 1, 65536, 128}, {1, 2, 128, 65536},
        {2, 2, 2896, 2896},
    };
    matchers m = {0};

    tm_settings_default(&m.settings, sizeof m.settings);
    m.settings.algorithm = TM_ALGORITHM_DIRECT;
    m.settings.device = device;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const int64_t *s = sizes[i];
        problem p;
        problem_make(&p, s[0] + s[2] - 1, s[1] + s[3] - 1, s[2], s[3]);
        compare_with_reference(&m, &p, TM_METRIC_LCC, TM_DOMAIN_VALID);
        compare_with_reference(&m, &p, TM_METRIC_CCORR, TM_DOMAIN_VALID);
        problem_free(&p);
    }

    /* the greatest sums there are: all 255 but one, at the limit of pixels */
    problem p;
    problem_make(&p, 4097, 2048, 4096, 2048);
    for (int64_t y = 0; y < p.frame.height; y++)
        memset((uint8_t *)p.frame.samples + y * p.frame.stride, 255, (size_t)p.frame.width);
    for (int64_t y = 0; y < p.tmpl.height; y++)
        memset((uint8_t *)p.tmpl.samples + y * p.tmpl.stride, 255, (size_t)p.tmpl.width);
    ((uint8_t *)p.frame.samples)[17] = 254;
    ((uint8_t *)p.tmpl.samples)[17] = 254;
    compare_with_reference(&m, &p, TM_METRIC_LCC, TM_DOMAIN_VALID);
    compare_with_reference(&m, &p, TM_METRIC_CCORR, TM_DOMAIN_VALID);
    problem_free(&p);
    matchers_free(&m);
}

static void cpu_random(void)
{
    random_cases(TM_DEVICE_CPU, 1);
}

static void cpu_random_threads(void)
{
    random_cases(TM_DEVICE_CPU, 3);
}

static void cpu_large_templates(void)
{
    large_templates(TM_DEVICE_CPU);
}

static void cuda_random(void)
{
    require_cuda();
    random_cases(TM_DEVICE_CUDA, 0);
}

static void cuda_large_templates(void)
{
    require_cuda();
    large_templates(TM_DEVICE_CUDA);
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        TEST(cpu_random),  TEST(cpu_random_threads),   TEST(cpu_large_templates),
        TEST(cuda_random), TEST(cuda_large_templates),
    };
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
