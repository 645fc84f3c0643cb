/* SPDX-License-Identifier: MIT */
/* The experiment of docs/exactness.md: how far the CPU's sums are from whole
 * numbers before they are rounded, against the proven bound. Takes the place of
 * tm_fft_score_row, so that it sees them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "fft/cpu/tile.h"
#include "lcc/cpu/instruction_sets.h"
#include "pictures.h"

static double worst;
static int64_t seen;

static int64_t exact_sum(const tm_job *job, int64_t x, int64_t y)
{
    const tm_template *t = job->tmpl;
    int64_t sum = 0;
    for (int64_t v = 0; v < t->height; v++) {
        for (int64_t u = 0; u < t->width; u++)
            sum += (job->frame.samples[(y + v) * job->frame.stride + x + u] - TM_FFT_CENTRE) *
                   t->samples[v * t->width + u];
    }
    return sum;
}

/* Every sum's distance from the nearest integer; of some, from the true one. */
void tm_fft_score_row(const tm_fft_row *row, tm_candidate *best)
{
    (void)best;
    for (int64_t i = 0; i < row->count; i++) {
        double sum = row->sums[2 * i], error = fabs(sum - rint(sum));
        if (seen++ % 20011 == 0)
            error = fabs(sum - (double)exact_sum(row->job, row->x + i, row->y));
        worst = error > worst ? error : worst;
    }
}

static tm_fft_point *new_points(int64_t count)
{
    tm_fft_point *points = aligned_alloc(64, ((size_t)count * sizeof *points + 63) / 64 * 64);
    CHECK(points);
    return points;
}

/* One tile whose transforms' length is the frame's size. Returns the bound. */
static double correlate(const tm_image *frame, const tm_image *picture, uint32_t features)
{
    int length = (int)frame->width;
    tm_template *tmpl;
    tm_job job = {.frame = *frame, .metric = TM_METRIC_CCORR};
    CHECK_EQ(tm_template_prepare(&tmpl, picture), TM_OK);
    job.tmpl = tmpl;
    CHECK_EQ(tm_geometry_init(&job.geometry, TM_DOMAIN_VALID, length, length, picture->width,
                              picture->height), TM_OK);
    tm_fft_length lengths[] = {{length, 1}};
    tm_fft_costs costs = {lengths, 1, .window_ns = 1, .max_points = INT64_MAX};
    tm_fft_tiling tiling;
    CHECK(tm_fft_tile_map(&tiling, &job.geometry, &costs, 1));

    const int64_t points = tm_fft_row_stride(length) * length;
    const size_t size = (size_t)length;
    tm_fft_scratch s = {.tile = new_points(points),
                        .columns = new_points(TM_FFT_COLUMNS * length),
                        .work = new_points(length),
                        .row = malloc(size)};
    tm_fft_point *spectrum = new_points(points);
    for (int part = 0; part < 2; part++) {
        s.sum[part] = malloc(4 * size);
        s.sum_sq[part] = malloc(4 * size);
    }
    tm_fft_plan plan = {.length = length, .transform = tm_fft_transform_make(length, false, features)};
    CHECK(plan.transform);
    tm_fft_spectrum(tmpl, job.metric, 0, &tiling, &plan, &plan, &s, spectrum);
    const tm_fft_mix mix = {1, 1, 1, {{0, 0, spectrum}}};
    tm_candidate best = TM_NO_CANDIDATE;
    for (int64_t i = 0; i < tiling.across; i++) {
        tm_fft_tile_column column = {.job = &job,
                                     .tiling = &tiling,
                                     .plan_x = &plan,
                                     .plan_y = &plan,
                                     .samples = &tm_fft_integers,
                                     .mix = &mix,
                                     .x = i * tiling.step_x,
                                     .last = tiling.down};
        tm_fft_tile_column_match(&column, &s, &best);
    }
    double bound = tm_fft_error_bound(&tiling, tmpl);
    tm_fft_transform_free(plan.transform);
    for (int part = 0; part < 2; part++) {
        free(s.sum[part]);
        free(s.sum_sq[part]);
    }
    free(s.row);
    free(s.columns);
    free(s.work);
    free(s.tile);
    free(spectrum);
    tm_template_destroy(&tmpl);
    return bound;
}

/* Noise, two values, all but one, a checkerboard, a gradient. */
enum { PICTURES = PICTURE_GRADIENT + 1 };

static void errors_with(int length, int size, const char *how, uint32_t features)
{
    double most = 0;
    for (int f = 0; f < PICTURES; f++) {
        for (int t = 0; t < PICTURES; t++) {
            uint8_t *frame_samples = picture_bytes((picture_content)f, length, length), *samples = picture_bytes((picture_content)t, size, size);
            tm_image frame = {
                .samples = frame_samples, .width = length, .height = length, .stride = length};
            tm_image picture = {.samples = samples, .width = size, .height = size, .stride = size};
            worst = 0;
            double bound = correlate(&frame, &picture, features);
            if (!(worst <= bound / 16))
                check_fail(__FILE__, __LINE__, "%s, %s: error %g, bound %g", picture_content_names[f], picture_content_names[t],
                           worst, bound);
            most = worst / bound > most ? worst / bound : most;
            if (f == t && t < 2)
                printf("# transforms of %d%s, template %d, %s: worst error %.2g, bound %.2g\n",
                       length, how, size, picture_content_names[t], worst, bound);
            free(frame_samples);
            free(samples);
        }
    }
    printf("# transforms of %d%s, template %d: worst error / bound = 1/%.0f\n", length, how, size, 1 / most);
}

/* FFTW looks for itself. */
static bool has_avx2(void)
{
    return !tm_fft_measures && (tm_cpu_features() & TM_CPU_AVX2);
}

static void errors_at(int length, int size)
{
    errors_with(length, size, "", 0);
    if (has_avx2())
        errors_with(length, size, " by AVX2", TM_CPU_AVX2);
}

static double norm(const tm_fft_point *points, int length)
{
    double sum = 0;
    for (int i = 0; i < length; i++)
        sum += points[i][0] * points[i][0] + points[i][1] * points[i][1];
    return sqrt(sum);
}

/* By the definition, in long double. */
static void transform_slowly(tm_fft_point *to, const tm_fft_point *from, int length, int sign)
{
    long double(*roots)[2] = malloc((size_t)length * sizeof *roots);
    CHECK(roots);
    for (int i = 0; i < length; i++) {
        const long double angle = sign * 2 * 3.14159265358979323846264338327950288L * i / length;
        roots[i][0] = cosl(angle);
        roots[i][1] = sinl(angle);
    }
    for (int k = 0; k < length; k++) {
        long double re = 0, im = 0;
        for (int j = 0; j < length; j++) {
            const long double *root = roots[(int64_t)j * k % length];
            re += from[j][0] * root[0] - from[j][1] * root[1];
            im += from[j][0] * root[1] + from[j][1] * root[0];
        }
        to[k][0] = (double)re;
        to[k][1] = (double)im;
    }
    free(roots);
}

static void take_off(tm_fft_point *from, const tm_fft_point *other, int length, double by)
{
    for (int i = 0; i < length; i++)
        for (int part = 0; part < 2; part++)
            from[i][part] = from[i][part] * by - other[i][part];
}

/* Both ways against the definition, and longer ones to and fro: relative errors, a sixteenth of what
 * the bound allows. */
static void transforms_of(int length, uint32_t features)
{
    const double allowed = 0x1p-53 * 10 * log2(length) / 16;
    tm_fft_point *from = new_points(length), *to = new_points(length), *other = new_points(length);
    tm_fft_point *work = new_points(length);
    tm_fft_transform *transform = tm_fft_transform_make(length, false, features);

    CHECK(transform);
    for (int i = 0; i < length; i++)
        for (int part = 0; part < 2; part++)
            from[i][part] = (double)(check_random() & 0xffff) - 0x8000;
    for (int sign = -1; length <= 1000 && sign <= 1; sign += 2) {
        memcpy(to, from, (size_t)length * sizeof *to);
        transform_slowly(other, from, length, sign);
        if (sign < 0)
            tm_fft_forward(transform, to, work);
        else
            tm_fft_backward(transform, to, work);
        take_off(to, other, length, 1);
        if (!(norm(to, length) <= allowed * norm(other, length)))
            check_fail(__FILE__, __LINE__, "transforms of %d, sign %d, features %#x: error %g, allowed %g", length, sign,
                       (unsigned)features, norm(to, length) / norm(other, length), allowed);
    }
    memcpy(to, from, (size_t)length * sizeof *to);
    tm_fft_forward(transform, to, work);
    tm_fft_backward(transform, to, work);
    take_off(to, from, length, 1.0 / length);
    if (!(norm(to, length) <= 2 * allowed * norm(from, length)))
        check_fail(__FILE__, __LINE__, "transforms of %d to and fro, features %#x: error %g", length, (unsigned)features,
                   norm(to, length) / norm(from, length));
    tm_fft_transform_free(transform);
    free(from);
    free(to);
    free(other);
    free(work);
}

/* Sixteen times all products of 2, 3 and 5 up to 1000, in a slow build some half of them, and some long ones. */
static void transforms(void)
{
    static const int long_ones[] = {1024, 1280, 1536, 3840, 4096, 5760, 10000, 20736, 32768};
    const bool slow = check_is_slow();

    for (int set = 0; set < 1 + has_avx2(); set++) {
        const uint32_t features = set ? TM_CPU_AVX2 : 0;
        for (int length = 16; length <= 1000; length += 16) {
            int rest = length;
            for (int p = 2; p <= 5; p++) {
                while (rest % p == 0)
                    rest /= p;
            }
            if (rest == 1 && (!slow || check_random() % 2))
                transforms_of(length, features);
        }
        for (size_t i = 0; i < sizeof long_ones / sizeof *long_ones; i++)
            transforms_of(long_ones[i], features);
    }
}

static void small(void)
{
    errors_at(64, 8);
    errors_at(96, 50);
    errors_at(240, 64);
}

/* These two test nothing but accuracy, which a slow build does not change. */
static void medium(void)
{
    if (check_is_slow())
        check_skip("few cases were asked for");
    errors_at(512, 128);
    errors_at(720, 400);
}

static void large(void)
{
    if (check_cases(1000) < 500)
        check_skip("few cases were asked for");
    errors_at(2048, 1024);
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {TEST(transforms), TEST(small), TEST(medium), TEST(large)};
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
