/* SPDX-License-Identifier: MIT */
/* The experiment of docs/exactness.md: how far the CPU's sums are from whole
 * numbers before they are rounded, against the proven bound. Takes the place of
 * tm_fft_score_row, so that it sees them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "fft/cpu/tile.h"
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

static tm_fft_plan plan_of(int length, fftw_complex *points)
{
    return (tm_fft_plan){
        .length = length,
        .forward = fftw_plan_dft_1d(length, points, points, FFTW_FORWARD, FFTW_ESTIMATE),
        .backward = fftw_plan_dft_1d(length, points, points, FFTW_BACKWARD, FFTW_ESTIMATE)};
}

/* One tile whose transforms' length is the frame's size. Returns the bound. */
static double correlate(const tm_image *frame, const tm_image *picture)
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

    size_t points = (size_t)tm_fft_row_stride(length) * (size_t)length, size = (size_t)length;
    tm_fft_scratch s = {.tile = aligned_alloc(64, points * 16),
                        .columns = aligned_alloc(64, TM_FFT_COLUMNS * size * 16),
                        .row = malloc(size)};
    fftw_complex *spectrum = aligned_alloc(64, points * 16);
    for (int part = 0; part < 2; part++) {
        s.sum[part] = malloc(4 * size);
        s.sum_sq[part] = malloc(4 * size);
    }
    tm_fft_plan plan = plan_of(length, s.columns);
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
    fftw_destroy_plan(plan.forward);
    fftw_destroy_plan(plan.backward);
    for (int part = 0; part < 2; part++) {
        free(s.sum[part]);
        free(s.sum_sq[part]);
    }
    free(s.row);
    free(s.columns);
    free(s.tile);
    free(spectrum);
    tm_template_destroy(&tmpl);
    return bound;
}

/* Noise, two values, all but one, a checkerboard, a gradient. */
enum { PICTURES = PICTURE_GRADIENT + 1 };

static void errors_at(int length, int size)
{
    double most = 0;
    for (int f = 0; f < PICTURES; f++) {
        for (int t = 0; t < PICTURES; t++) {
            uint8_t *frame_samples = picture_bytes((picture_content)f, length, length), *samples = picture_bytes((picture_content)t, size, size);
            tm_image frame = {
                .samples = frame_samples, .width = length, .height = length, .stride = length};
            tm_image picture = {.samples = samples, .width = size, .height = size, .stride = size};
            worst = 0;
            double bound = correlate(&frame, &picture);
            if (!(worst <= bound / 16))
                check_fail(__FILE__, __LINE__, "%s, %s: error %g, bound %g", picture_content_names[f], picture_content_names[t],
                           worst, bound);
            most = worst / bound > most ? worst / bound : most;
            if (f == t && t < 2)
                printf("# transforms of %d, template %d, %s: worst error %.2g, bound %.2g\n",
                       length, size, picture_content_names[t], worst, bound);
            free(frame_samples);
            free(samples);
        }
    }
    printf("# transforms of %d, template %d: worst error / bound = 1/%.0f\n", length, size, 1 / most);
}

static void small(void)
{
    errors_at(64, 8);
    errors_at(96, 50);
    errors_at(280, 64);
}

static void medium(void)
{
    errors_at(512, 128);
    errors_at(720, 400);
}

/* Tests nothing but accuracy, which a slow build does not change. */
static void large(void)
{
    if (check_cases(1000) < 1000)
        check_skip("few cases were asked for");
    errors_at(2048, 1024);
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {TEST(small), TEST(medium), TEST(large)};
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
