/* SPDX-License-Identifier: MIT */
/* What the plan chooses, and that it says so. */
#include <math.h>
#include <string.h>

#include "backends.h"
#include "check.h"
#include "cpu/estimate.h"
#include "cuda/estimate.h"
#include "match/plan.h"
#include "pictures.h"

/* On the device that the costs were fitted to. */
enum { SHARED = 227 << 10 };
#define WITH_WGMMA                                                                                                              \
    {.multiprocessors = 132, .tensor_cores = true, .shared_memory = SHARED, .capability = 90, .groups = true, .fast_double = true, \
     .longest_fft = 8192, .widest_fft = 8000}

static tm_plan plan_on_cpu(const tm_cpu_conditions *conditions, const tm_job *job,
                           tm_algorithm wanted)
{
    tm_estimate estimate;
    tm_cpu_estimate(&estimate, conditions, job, wanted == TM_ALGORITHM_FFT);
    return tm_plan_choose(&estimate, wanted, TM_STRATEGY_EXHAUSTIVE);
}

static tm_plan plan_on_cuda(const tm_cuda_conditions *conditions, const tm_job *job,
                            tm_algorithm wanted)
{
    tm_estimate estimate;
    tm_cuda_estimate(&estimate, conditions, job, wanted, TM_STRATEGY_EXHAUSTIVE);
    return tm_plan_choose(&estimate, wanted, TM_STRATEGY_EXHAUSTIVE);
}

static tm_plan plan_for(tm_device_kind device, int64_t frame, int64_t size, tm_algorithm wanted)
{
    tm_template tmpl = {.width = size, .height = size, .n = size * size,
                        .sum_sq = size * size * 20000};
    tm_job job = {.tmpl = &tmpl};
    const tm_cpu_conditions cpu = {.kernels = "avx2", .threads = 2, .started = true};
    const tm_cuda_conditions cuda = {.traits = {.multiprocessors = 132, .tensor_cores = true,
                                                .shared_memory = SHARED,
                                                .fast_double = true, .longest_fft = 8192,
                                                .widest_fft = 8000}};
    CHECK_EQ(tm_geometry_init(&job.geometry, TM_DOMAIN_VALID, frame, frame, size, size), TM_OK);
    const tm_plan plan = device == TM_DEVICE_CUDA ? plan_on_cuda(&cuda, &job, wanted)
                                                  : plan_on_cpu(&cpu, &job, wanted);
    CHECK(plan.ms == (plan.algorithm == TM_ALGORITHM_FFT ? plan.estimate.fft_ms : plan.estimate.direct_ms));
    return plan;
}

static void chooses_the_cheaper(void)
{
    static const tm_device_kind devices[] = {TM_DEVICE_CPU, TM_DEVICE_CUDA};
    for (int i = 0; i < 2; i++) {
        for (int64_t frame = 64; frame <= 16384; frame *= 2) {
            for (int64_t size = 4; size <= frame && size <= 2048; size *= 2) {
                tm_plan plan = plan_for(devices[i], frame, size, TM_ALGORITHM_AUTO);
                CHECK(plan.ms > 0 && plan.ms <= plan.estimate.direct_ms && plan.ms <= plan.estimate.fft_ms);
            }
        }
        CHECK_EQ(plan_for(devices[i], 512, 4, TM_ALGORITHM_AUTO).algorithm, TM_ALGORITHM_DIRECT);
        CHECK_EQ(plan_for(devices[i], 4096, 1024, TM_ALGORITHM_AUTO).algorithm, TM_ALGORITHM_FFT);
    }
}

static void does_as_told(void)
{
    CHECK_EQ(plan_for(TM_DEVICE_CPU, 4096, 1024, TM_ALGORITHM_DIRECT).algorithm, TM_ALGORITHM_DIRECT);
    CHECK_EQ(plan_for(TM_DEVICE_CPU, 64, 4, TM_ALGORITHM_FFT).algorithm, TM_ALGORITHM_FFT);
    CHECK_EQ(plan_for(TM_DEVICE_CUDA, 64, 4, TM_ALGORITHM_FFT).algorithm, TM_ALGORITHM_FFT);
}

/* A device without long transforms, and one without any. */
static void respects_the_device(void)
{
    tm_template tmpl = {.width = 700, .height = 700, .n = 490000, .sum_sq = 490000 * 20000ll};
    tm_job job = {.tmpl = &tmpl};
    tm_cuda_conditions cuda = {.traits = {.multiprocessors = 132, .tensor_cores = true,
                                          .shared_memory = SHARED,
                                          .fast_double = true, .longest_fft = 768,
                                          .widest_fft = 8000}};
    tm_plan plan;
    CHECK_EQ(tm_geometry_init(&job.geometry, TM_DOMAIN_VALID, 4096, 4096, 700, 700), TM_OK);
    plan = plan_on_cuda(&cuda, &job, TM_ALGORITHM_FFT);
    CHECK(!plan.estimate.fault && plan.estimate.tiling.length_x == 768 && plan.estimate.tiling.length_y == 768);
    cuda.traits.longest_fft = 0;
    plan = plan_on_cuda(&cuda, &job, TM_ALGORITHM_AUTO);
    CHECK(plan.estimate.fault && plan.algorithm == TM_ALGORITHM_DIRECT && isinf(plan.estimate.fft_ms));
}

/* cuFFT's lengths are not our own's, and nothing chooses it. */
static void takes_cufft_by_name_alone(void)
{
    tm_plan plan = plan_for(TM_DEVICE_CUDA, 4096, 1024, TM_ALGORITHM_CUFFT);
    CHECK(!plan.estimate.fault && plan.estimate.tiling.by_cufft && plan.algorithm == TM_ALGORITHM_FFT);
    CHECK(!plan_for(TM_DEVICE_CUDA, 4096, 1024, TM_ALGORITHM_AUTO).estimate.tiling.by_cufft);
    CHECK(!plan_for(TM_DEVICE_CUDA, 4096, 1024, TM_ALGORITHM_FFT).estimate.tiling.by_cufft);

    tm_template tmpl = {.width = 700, .height = 700, .n = 490000, .sum_sq = 490000 * 20000ll};
    tm_job job = {.tmpl = &tmpl};
    tm_cuda_conditions cuda = {.traits = {.multiprocessors = 132, .tensor_cores = true,
                                          .shared_memory = SHARED,
                                          .fast_double = true, .widest_fft = 512}};
    CHECK_EQ(tm_geometry_init(&job.geometry, TM_DOMAIN_VALID, 4096, 4096, 700, 700), TM_OK);
    plan = plan_on_cuda(&cuda, &job, TM_ALGORITHM_CUFFT);
    CHECK(plan.estimate.fault);
    cuda.traits.widest_fft = 3072;
    plan = plan_on_cuda(&cuda, &job, TM_ALGORITHM_CUFFT);
    CHECK(!plan.estimate.fault && plan.estimate.tiling.by_cufft);
}

/* Matches that are repeated start the FFT once it would have paid for its start. */
static void pays_for_the_start_once(void)
{
    int waited = 0;

    for (int64_t size = 4; size <= 200; size += 4) {
        tm_template tmpl = {.width = size, .height = size, .n = size * size, .sum_sq = size * size};
        tm_job job = {.tmpl = &tmpl};
        tm_cpu_conditions cpu = {.kernels = "avx2", .threads = 2};
        tm_plan plan;
        CHECK_EQ(tm_geometry_init(&job.geometry, TM_DOMAIN_VALID, 400, 400, size, size), TM_OK);
        cpu.started = true;
        plan = plan_on_cpu(&cpu, &job, TM_ALGORITHM_AUTO);
        if (plan.algorithm != TM_ALGORITHM_FFT)
            continue;
        cpu.started = false;
        for (int frame = 0;; frame++) {
            plan = plan_on_cpu(&cpu, &job, TM_ALGORITHM_AUTO);
            if (plan.algorithm == TM_ALGORITHM_FFT)
                break;
            CHECK(plan.estimate.missed_ms > 0 && frame < 100000);
            cpu.missed_ms += plan.estimate.missed_ms;
            waited += frame == 0;
        }
    }
    printf("# %d sizes waited\n", waited);
}

#define CHUNK_BYTES ((int64_t)32 << 20)
#define MOST_CHUNKS 40 /* of a frame of 16384 squared */
#define REST_MS 0.01   /* at most, between two of their copies */

/* On a device like that which the costs were fitted to. */
static tm_plan plan_transfer_of(int64_t frame, const tm_template *tmpl, const tm_image *kind,
                                tm_cuda_conditions cuda)
{
    tm_job job = {.tmpl = tmpl, .frame = *kind};
    cuda.traits = (tm_device_traits){.multiprocessors = 132, .tensor_cores = true,
                                     .shared_memory = SHARED,
                                     .fast_double = true, .longest_fft = 8192,
                                     .widest_fft = 8000, .chunk_bytes = CHUNK_BYTES};
    CHECK_EQ(tm_geometry_init(&job.geometry, TM_DOMAIN_VALID, frame, frame, tmpl->width,
                              tmpl->height), TM_OK);
    return plan_on_cuda(&cuda, &job, TM_ALGORITHM_AUTO);
}

static tm_plan plan_transfer(int64_t frame, int64_t size, tm_cuda_conditions cuda)
{
    const tm_image gray = {0};
    const tm_template tmpl = {.width = size, .height = size, .n = size * size,
                              .sum_sq = size * size * 20000};
    return plan_transfer_of(frame, &tmpl, &gray, cuda);
}

/* From pageable memory kernels are hidden behind the copy of a large frame, those of FFT too. */
static void weighs_what_overlaps(void)
{
    const tm_cuda_conditions resident = {0}, pageable = {.frame = TM_TRANSFER_PAGEABLE, .chunks = true},
                  pinned = {.frame = TM_TRANSFER_PINNED, .chunks = true},
                  many = {.frame = TM_TRANSFER_PAGEABLE, .chunks = true, .together = 16},
                  staged = {.frame = TM_TRANSFER_PAGEABLE, .map = TM_TRANSFER_PAGEABLE};

    CHECK_EQ(plan_transfer(4096, 128, resident).algorithm, TM_ALGORITHM_FFT);
    CHECK_EQ(plan_transfer(4096, 64, pageable).algorithm, TM_ALGORITHM_DIRECT);
    CHECK_EQ(plan_transfer(4096, 128, pageable).algorithm, TM_ALGORITHM_FFT);
    CHECK_EQ(plan_transfer(8192, 128, pageable).algorithm, TM_ALGORITHM_FFT);
    CHECK_EQ(plan_transfer(4096, 300, pageable).algorithm, TM_ALGORITHM_FFT);
    CHECK_EQ(plan_transfer(4096, 128, pinned).algorithm, TM_ALGORITHM_FFT);
    CHECK_EQ(plan_transfer(4096, 128, many).algorithm, TM_ALGORITHM_FFT);
    CHECK_EQ(plan_transfer(4096, 128, staged).algorithm, TM_ALGORITHM_FFT);
    /* no chunks, no overlap */
    CHECK_EQ(plan_transfer(2048, 128, pageable).algorithm,
             plan_transfer(2048, 128, resident).algorithm);
}

/* Kernels of 16 bits, of colour and under a mask are several of 8-bit gray. */
static void counts_planes(void)
{
    enum { SIZE = 64, CHANNELS = 3 };
    static uint16_t samples[SIZE * SIZE * CHANNELS];
    const uint8_t *mask = (const uint8_t *)samples;
    const struct {
        tm_image picture;
        int planes; /* masked: of products, of sums, and of two bytes of squares */
    } kinds[] = {{{.type = TM_SAMPLE_U8, .channels = CHANNELS}, 3},
                 {{.type = TM_SAMPLE_U16, .channels = 1}, 4},
                 {{.type = TM_SAMPLE_U8, .channels = 1, .mask = mask, .mask_stride = SIZE}, 4}};
    const tm_plan gray = plan_transfer(4096, SIZE, (tm_cuda_conditions){0});

    picture_noise(samples, sizeof samples);
    for (int i = 0; i < 3; i++) {
        const int planes = kinds[i].planes;
        tm_image picture = kinds[i].picture;
        tm_template *tmpl;
        picture.samples = (const uint8_t *)samples;
        picture.width = picture.height = SIZE;
        picture.stride = tm_image_row_bytes(&picture);
        CHECK_EQ(tm_template_prepare(&tmpl, &picture), TM_OK);
        picture.mask = NULL; /* the template's alone */
        const tm_plan plan = plan_transfer_of(4096, tmpl, &picture, (tm_cuda_conditions){0});
        CHECK(plan.estimate.direct_ms > 0.8 * planes * gray.estimate.direct_ms);
        CHECK(plan.estimate.direct_ms < planes * gray.estimate.direct_ms);
        CHECK(plan.estimate.fft_ms > planes * gray.estimate.fft_ms && plan.estimate.fft_ms < 1.3 * planes * gray.estimate.fft_ms);
        tm_template_destroy(&tmpl);
    }
}

/* A chunked call takes no less than its copies and its kernels each, and no more than
 * both; what is in one piece takes both. */
static void adds_transfers_up(void)
{
    for (int64_t frame = 256; frame <= 16384; frame = frame * 5 / 3) {
        for (int64_t size = 3; size <= 250 && 2 * size < frame; size = size * 3 / 2 + 1) {
            tm_cuda_conditions cuda = {0};
            const tm_plan resident = plan_transfer(frame, size, cuda);
            cuda.chunks = true;
            const tm_plan kernels = plan_transfer(frame, size, cuda);
            for (int pinned = 0; pinned < 2; pinned++) {
                cuda.frame = pinned ? TM_TRANSFER_PINNED : TM_TRANSFER_PAGEABLE;
                cuda.chunks = false;
                const tm_plan whole = plan_transfer(frame, size, cuda);
                const double copy = whole.estimate.direct_ms - resident.estimate.direct_ms;
                cuda.chunks = true;
                const tm_plan chunks = plan_transfer(frame, size, cuda);
                CHECK(copy > 0 && kernels.estimate.direct_ms >= resident.estimate.direct_ms);
                CHECK(chunks.estimate.direct_ms > copy && chunks.estimate.direct_ms > kernels.estimate.direct_ms);
                CHECK(chunks.estimate.direct_ms <= copy + kernels.estimate.direct_ms + MOST_CHUNKS * REST_MS);
                if (isfinite(whole.estimate.fft_ms) && isfinite(resident.estimate.fft_ms))
                    CHECK(fabs(whole.estimate.fft_ms - resident.estimate.fft_ms - copy) < 1e-9);
            }
        }
    }
}

static void says_what_it_chose(void)
{
    tm_settings settings;
    tm_matcher *matcher;
    tm_template *tmpl;
    tm_peak best;
    static uint8_t samples[200 * 200];
    tm_image frame = {.samples = samples, .width = 200, .height = 200, .stride = 200},
             crop = {.samples = samples + 200 * 100 + 50, .width = 40, .height = 40, .stride = 200};

    picture_noise(samples, sizeof samples);
    tm_settings_default(&settings, sizeof settings);
    settings.device = TM_DEVICE_CPU;
    settings.threads = 1;
    CHECK_EQ(tm_cpu_features_parse("none", &settings.cpu_features), TM_OK);
    CHECK_EQ(tm_matcher_create(&matcher, &settings), TM_OK);
    CHECK_EQ(tm_template_create(&tmpl, matcher, &crop), TM_OK);
    CHECK_EQ(tm_match(matcher, &frame, tmpl, &best, NULL), TM_OK);
    CHECK(strncmp(tm_matcher_plan(matcher), tm_matcher_algorithm(matcher), 3) == 0);
    CHECK(strstr(tm_matcher_plan(matcher), "; estimates: direct "));
    CHECK(strstr(tm_matcher_plan(matcher), ", fft "));
    tm_template_destroy(&tmpl);
    tm_matcher_destroy(&matcher);
}

/* Floats: more sums are more transforms, and tiles are to fit in less memory. */
static void plans_floats(void)
{
    enum { SIDE = 600, SIZE = 60 };
    static float samples[SIDE * SIDE * 3];
    static uint8_t mask[SIZE * SIZE];
    const tm_metric metrics[] = {TM_METRIC_LCC, TM_METRIC_SQDIFF};

    for (int i = 0; i < SIDE * SIDE * 3; i++)
        samples[i] = (float)(check_random() % 1000);
    for (int i = 0; i < 8; i++) {
        const int channels = i & 1 ? 3 : 1, size = i & 4 ? SIZE : 2;
        tm_image picture = {.samples = (uint8_t *)samples, .width = size, .height = size,
                            .stride = SIDE * channels * 4, .type = TM_SAMPLE_F32,
                            .channels = channels, .mask = i & 2 ? mask : NULL, .mask_stride = size};
        tm_template *tmpl;
        tm_cpu_conditions cpu = {.kernels = "avx2", .threads = 2, .started = true};
        tm_plan plan, small;
        mask[0] = mask[3] = 1;
        CHECK_EQ(tm_template_prepare(&tmpl, &picture), TM_OK);
        tm_job job = {.metric = metrics[i % 3 == 0], .frame = picture, .tmpl = tmpl};
        job.frame.width = job.frame.height = SIDE;
        job.frame.mask = NULL;
        CHECK_EQ(tm_geometry_init(&job.geometry, TM_DOMAIN_VALID, SIDE, SIDE, size, size), TM_OK);
        plan = plan_on_cpu(&cpu, &job, TM_ALGORITHM_AUTO);
        CHECK(size < SIZE || plan.algorithm == TM_ALGORITHM_FFT);
        CHECK(size == SIZE || channels > 1 || plan.algorithm == TM_ALGORITHM_DIRECT);
        cpu.fft_bytes = 4 << 20;
        small = plan_on_cpu(&cpu, &job, TM_ALGORITHM_FFT);
        CHECK(!small.estimate.fault && small.estimate.tiling.length_x * small.estimate.tiling.length_y * 16 * 3 <= 4 << 20);
        CHECK(plan.estimate.fft_ms <= small.estimate.fft_ms);
        cpu.fft_bytes = 4096;
        small = plan_on_cpu(&cpu, &job, TM_ALGORITHM_AUTO);
        CHECK(small.estimate.fault && strstr(small.estimate.fault, "do not fit in the memory limit"));
        CHECK_EQ(small.algorithm, TM_ALGORITHM_DIRECT);
        tm_template_destroy(&tmpl);
    }
}

/* On a GPU windows are left out where the direct algorithm would be taken otherwise: where too many
 * are left, that scores them all. */
static void certifies_instead_of_direct(void)
{
    const tm_cuda_conditions cuda = {.traits = {.multiprocessors = 132, .tensor_cores = true, .certified = true,
                                                .shared_memory = SHARED, .fast_double = true,
                                                .longest_fft = 8192, .widest_fft = 8000}};
    int certified = 0, by_fft = 0;

    for (int64_t size = 32; size <= 256; size += 32) {
        uint8_t samples[256 * 256];
        for (int64_t i = 0; i < size * size; i++)
            samples[i] = (uint8_t)(i % size * 200 / size);
        const tm_image image = {.samples = samples, .width = size, .height = size, .stride = (ptrdiff_t)size};
        tm_template *tmpl;
        tm_estimate estimate;
        CHECK_EQ(tm_template_prepare(&tmpl, &image), TM_OK);
        tm_job job = {.tmpl = tmpl, .frame = {.width = 4096, .height = 4096}};
        CHECK_EQ(tm_geometry_init(&job.geometry, TM_DOMAIN_VALID, 4096, 4096, size, size), TM_OK);
        tm_cuda_estimate(&estimate, &cuda, &job, TM_ALGORITHM_AUTO, TM_STRATEGY_AUTO);
        const tm_plan plan = tm_plan_choose(&estimate, TM_ALGORITHM_AUTO, TM_STRATEGY_AUTO);
        CHECK(!plan.certified || estimate.direct_ms <= estimate.fft_ms);
        certified += plan.certified;
        by_fft += plan.algorithm == TM_ALGORITHM_FFT;
        tm_cuda_estimate(&estimate, &cuda, &job, TM_ALGORITHM_AUTO, TM_STRATEGY_CERTIFIED);
        CHECK(tm_plan_choose(&estimate, TM_ALGORITHM_AUTO, TM_STRATEGY_CERTIFIED).certified);
        tm_template_destroy(&tmpl);
    }
    CHECK(certified && by_fft);
}

/* What the driver says of a device, and what was measured of it, change its estimates by as much. */
static void scales_to_the_device(void)
{
    tm_template tmpl = {.width = 64, .height = 64, .n = 4096, .sum_sq = 4096 * 20000ll};
    tm_job job = {.tmpl = &tmpl};
    tm_cuda_conditions cuda = {.traits = WITH_WGMMA};
    CHECK_EQ(tm_geometry_init(&job.geometry, TM_DOMAIN_VALID, 4096, 4096, 64, 64), TM_OK);
    const tm_estimate before = plan_on_cuda(&cuda, &job, TM_ALGORITHM_FFT).estimate;
    cuda.traits.clock_ghz = 1.98;
    cuda.traits.memory_gbs = 4900;
    const tm_estimate same = plan_on_cuda(&cuda, &job, TM_ALGORITHM_FFT).estimate;
    CHECK(fabs(same.direct_ms / before.direct_ms - 1) < 1e-6 && fabs(same.fft_ms / before.fft_ms - 1) < 1e-6);

    cuda.traits.clock_ghz = 0.99;
    const tm_estimate slow = plan_on_cuda(&cuda, &job, TM_ALGORITHM_FFT).estimate;
    CHECK(slow.direct_ms > 1.9 * before.direct_ms && slow.direct_ms < 2.01 * before.direct_ms);
    CHECK(slow.fft_ms > 1.4 * before.fft_ms && slow.fft_ms < 2.01 * before.fft_ms);
    cuda.traits.clock_ghz = 1.98;
    cuda.traits.groups = false;
    CHECK(plan_on_cuda(&cuda, &job, TM_ALGORITHM_FFT).estimate.direct_ms > 1.2 * before.direct_ms);
    cuda.traits.memory_gbs = 490;
    CHECK(plan_on_cuda(&cuda, &job, TM_ALGORITHM_FFT).estimate.fft_ms > 2 * before.fft_ms);

    const tm_rates rates = {3, 3, 1, 5, 1, 1, 1};
    cuda.rates = &rates;
    const tm_estimate measured = plan_on_cuda(&cuda, &job, TM_ALGORITHM_FFT).estimate;
    CHECK(measured.direct_ms > 3.5 * before.direct_ms && measured.fft_ms > 8 * before.fft_ms);
}

/* Whether the direct way takes less time than on a device without such kernels. */
static bool is_tall(tm_cuda_conditions cuda, const tm_job *job)
{
    const double with = plan_on_cuda(&cuda, job, TM_ALGORITHM_DIRECT).estimate.direct_ms;
    cuda.traits.groups = false;
    return with < 0.9 * plan_on_cuda(&cuda, job, TM_ALGORITHM_DIRECT).estimate.direct_ms;
}

/* Templates of up to 113 columns have kernels of their own where wgmma is, which FFT must beat; small maps, several templates, and
 * templates in parts for whose sums there is no room have not. */
static void foresees_tall_tiles(void)
{
    tm_template tmpl = {.width = 113, .height = 113, .n = 113 * 113, .sum_sq = 113 * 113 * 20000ll};
    tm_job job = {.tmpl = &tmpl};
    tm_cuda_conditions cuda = {.traits = WITH_WGMMA};
    for (int64_t size = 2048; size <= 4096; size *= 2) {
        CHECK_EQ(tm_geometry_init(&job.geometry, TM_DOMAIN_VALID, size, size, 113, 113), TM_OK);
        cuda.traits.groups = true;
        CHECK_EQ(plan_on_cuda(&cuda, &job, TM_ALGORITHM_AUTO).algorithm, TM_ALGORITHM_DIRECT);
        CHECK(is_tall(cuda, &job));
        cuda.traits.groups = false;
        CHECK_EQ(plan_on_cuda(&cuda, &job, TM_ALGORITHM_AUTO).algorithm, TM_ALGORITHM_FFT);
    }
    cuda.traits.groups = true;
    cuda.together = 4;
    CHECK_EQ(plan_on_cuda(&cuda, &job, TM_ALGORITHM_AUTO).algorithm, TM_ALGORITHM_FFT);
    cuda.together = 1;
    CHECK_EQ(tm_geometry_init(&job.geometry, TM_DOMAIN_VALID, 512, 512, 113, 113), TM_OK);
    CHECK(!is_tall(cuda, &job));
    CHECK_EQ(tm_geometry_init(&job.geometry, TM_DOMAIN_VALID, 16384, 16384, 113, 113), TM_OK);
    CHECK(!is_tall(cuda, &job));
    tmpl.height = 50, tmpl.n = 113 * 50;
    CHECK_EQ(tm_geometry_init(&job.geometry, TM_DOMAIN_VALID, 16384, 16384, 113, 50), TM_OK);
    CHECK(is_tall(cuda, &job));
    tmpl.width = 114, tmpl.height = 113, tmpl.n = 114 * 113;
    CHECK_EQ(tm_geometry_init(&job.geometry, TM_DOMAIN_VALID, 4096, 4096, 114, 113), TM_OK);
    CHECK_EQ(plan_on_cuda(&cuda, &job, TM_ALGORITHM_AUTO).algorithm, TM_ALGORITHM_FFT);
}

/* All parts' products of planes are steps of one launch, of which there are 32: 12 products of RGB of 16 bits leave 2 parts. */
static void counts_parts_of_planes(void)
{
    enum { WIDTH = 128, HEIGHT = 200, CHANNELS = 3 };
    static uint16_t samples[WIDTH * HEIGHT * CHANNELS];
    const tm_cuda_conditions cuda = {.traits = WITH_WGMMA};
    const struct {
        tm_sample_type type;
        int channels, height;
        bool tall;
    } kinds[] = {{TM_SAMPLE_U8, CHANNELS, HEIGHT, true},
                 {TM_SAMPLE_U16, 1, HEIGHT, true},
                 {TM_SAMPLE_U16, CHANNELS, 64, true},
                 {TM_SAMPLE_U16, CHANNELS, HEIGHT, false}};

    picture_noise(samples, sizeof samples);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        tm_image picture = {.samples = (const uint8_t *)samples, .type = kinds[i].type, .channels = kinds[i].channels, .width = WIDTH,
                            .height = kinds[i].height};
        picture.stride = tm_image_row_bytes(&picture);
        tm_template *tmpl;
        CHECK_EQ(tm_template_prepare(&tmpl, &picture), TM_OK);
        tm_job job = {.tmpl = tmpl, .frame = picture};
        CHECK_EQ(tm_geometry_init(&job.geometry, TM_DOMAIN_VALID, 2048, 2048, WIDTH, picture.height), TM_OK);
        CHECK_EQ(is_tall(cuda, &job), kinds[i].tall);
        tm_template_destroy(&tmpl);
    }
}

/* Templates of 16-bit gray are rounded, for half of the products, where their windows can be listed. */
static void foresees_rounded_templates(void)
{
    enum { HEIGHT = 100 };
    static uint16_t samples[128 * HEIGHT];
    const tm_cuda_conditions cuda = {.traits = WITH_WGMMA};
    double ms[2];

    picture_noise(samples, sizeof samples);
    for (int i = 0; i < 2; i++) {
        const tm_image picture = {.samples = (const uint8_t *)samples, .type = TM_SAMPLE_U16, .channels = 1, .width = 127 + i, .height = HEIGHT,
                                  .stride = 2 * 128};
        tm_template *tmpl;
        CHECK_EQ(tm_template_prepare(&tmpl, &picture), TM_OK);
        CHECK(tmpl->rounded);
        tm_job job = {.tmpl = tmpl, .frame = picture};
        CHECK_EQ(tm_geometry_init(&job.geometry, TM_DOMAIN_VALID, 2048, 2048, 127 + i, HEIGHT), TM_OK);
        ms[i] = plan_on_cuda(&cuda, &job, TM_ALGORITHM_DIRECT).estimate.direct_ms;
        tm_template_destroy(&tmpl);
    }
    CHECK(ms[1] > 1.6 * ms[0] && ms[1] < 2 * ms[0]);
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        TEST(chooses_the_cheaper), TEST(does_as_told), TEST(respects_the_device), TEST(scales_to_the_device), TEST(foresees_tall_tiles), TEST(counts_parts_of_planes), TEST(foresees_rounded_templates),
        TEST(takes_cufft_by_name_alone),
        TEST(pays_for_the_start_once), TEST(weighs_what_overlaps), TEST(counts_planes),
        TEST(adds_transfers_up),
        TEST(says_what_it_chose), TEST(plans_floats), TEST(certifies_instead_of_direct),
    };
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
