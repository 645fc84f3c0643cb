/* SPDX-License-Identifier: MIT */
/* The FFT algorithm on the CPU: strips of tiles, shared out over threads. */
#include "fft/cpu/fft.h"

#include <omp.h>
#include <stdlib.h>

#include "clock.h"
#include "fft/cpu/plans.h"

enum { STRIPS_PER_THREAD = 4 };

/* FFTW_MEASURE makes transforms a third faster and takes 0.1 s to 0.4 s for a
 * length: it pays once a matcher has work for some seconds. Until then lengths
 * and plan types are such that FFTW_ESTIMATE chooses well. */
#define MEASURE_AFTER_MS 3000.0

typedef struct memory {
    void *data;
    size_t size;
} memory;

struct tm_fft_cpu {
    int threads;
    double spent_ms;
    tm_fft_plans plans;
    tm_fft_spectra spectra;
    memory *memories; /* one per thread */
    int64_t again;
};

/* How a match is transformed. */
typedef struct transforms {
    const tm_fft_tiling *tiling;
    tm_fft_f32 *f32; /* NULL: integers */
    tm_f32_block_fn *block;
    int tiles; /* that a thread holds */
} transforms;

/* Lays out a thread's memory; with data NULL it finds the size. */
static size_t carve(tm_fft_scratch *s, char *data, const transforms *how)
{
    const tm_fft_tiling *t = how->tiling;
    const size_t x = (size_t)t->length_x, y = (size_t)t->length_y, tiles = (size_t)how->tiles;
    const size_t integers = how->f32 ? 0 : 1;
    const size_t sizes[] = {tiles * (size_t)tm_fft_row_stride(t->length_x) * y *
                                sizeof(fftw_complex),
                            (tiles + !integers) * TM_FFT_COLUMNS * y * sizeof(fftw_complex),
                            integers * x,
                            integers * 4 * x,
                            integers * 4 * x,
                            integers * 4 * x,
                            integers * 4 * x,
                            integers * 4 * (x + 1),
                            integers * 8 * (x + 1),
                            how->f32 ? sizeof *s->f32 : 0};
    void *parts[sizeof sizes / sizeof *sizes];
    size_t used = 0;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        parts[i] = data ? data + used : NULL;
        used += (sizes[i] + 127) / 64 * 64;
    }
    *s = (tm_fft_scratch){parts[0],
                          parts[1],
                          parts[2],
                          {parts[3], parts[4]},
                          {parts[5], parts[6]},
                          parts[7],
                          parts[8],
                          how->f32 ? parts[9] : NULL};
    if (how->f32) {
        tm_fft_f32_scratch layout;
        used += tm_fft_f32_carve(data ? s->f32 : &layout, data ? data + used : NULL, how->f32,
                                 how->block, t);
    }
    return used;
}

static bool fit_memory(memory *m, tm_fft_scratch *s, const transforms *how)
{
    size_t needed = carve(s, NULL, how);
    if (m->size < needed) {
        free(m->data);
        *m = (memory){aligned_alloc(64, needed), needed};
        if (!m->data)
            m->size = 0;
    }
    if (m->data)
        carve(s, m->data, how);
    return m->data != NULL;
}

/* Which planes are correlated with which spectra. */
static tm_fft_mix make_mix(const transforms *how, const fftw_complex *spectra)
{
    const tm_fft_f32 *f32 = how->f32;
    tm_fft_mix mix = {1, 1, 1, {{0, 0, spectra}}};
    const fftw_complex *of[TM_F32_ALL_TAPS];

    if (!f32)
        return mix;
    for (int i = 0; i < TM_F32_ALL_TAPS; i++) {
        of[i] = spectra;
        spectra += f32->taken >> i & 1 ? tm_fft_spectrum_points(how->tiling) : 0;
    }
    mix = (tm_fft_mix){.planes = f32->planes, .sums = f32->sums, .terms = f32->terms};
    for (int i = 0; i < f32->terms; i++) {
        const tm_fft_f32_term *term = &f32->term[i];
        mix.term[i] = (tm_fft_term){term->plane, 0, of[term->taps]};
        while (f32->sum[mix.term[i].sum] != term->sum)
            mix.term[i].sum++;
    }
    return mix;
}

/* Long strips share rows; short ones keep all threads busy. */
static int64_t tiles_of_strip(const tm_fft_tiling *t, int threads)
{
    int64_t wanted = (int64_t)threads * STRIPS_PER_THREAD;
    int64_t runs = (wanted + t->across - 1) / t->across;
    return t->down > runs ? t->down / runs : 1;
}

/* Cells are the strips' parts. Cuts of one axis, count strips of size, which with
 * a shift are as many again. */
static void fill_cuts(tm_peak_cuts *cuts, int64_t count, int64_t size, int64_t shift, int64_t end)
{
    for (int64_t i = 0; i < cuts->count; i++) {
        int64_t at = i < count ? i * size : shift + (i - count) * size;
        cuts->at[i] = at < end ? at : end;
    }
    cuts->at[cuts->count] = end;
}

static bool init_grid(tm_peak_grid *grid, const tm_job *job, const tm_fft_tiling *t, int64_t tiles,
                      int64_t runs)
{
    const tm_geometry *g = &job->geometry;
    if (!tm_peak_grid_init(grid, job, t->shift_x ? 2 * t->across : t->across,
                           t->shift_y ? 2 * runs : runs))
        return false;
    fill_cuts(&grid->x, t->across, t->step_x, t->shift_x, g->map_width);
    fill_cuts(&grid->y, runs, tiles * t->step_y, t->shift_y, g->map_height);
    return true;
}

static bool begin_scans(tm_peak_scan scans[2], tm_peak_grid *grid, const tm_fft_tiling *t,
                        int64_t column, int64_t run)
{
    for (int part = 0; part < 2; part++) {
        int64_t x = column + (part && t->shift_x ? t->across : 0);
        int64_t y = run + (part && t->shift_y ? grid->y.count / 2 : 0);
        if (grid->x.at[x] < grid->x.at[x + 1] && grid->y.at[y] < grid->y.at[y + 1] &&
            !tm_peak_scan_begin(&scans[part], grid, x, y))
            return false;
    }
    return true;
}

static tm_status match(tm_fft_cpu *fft, tm_job *job, const transforms *how)
{
    double start = clock_ms();
    const tm_fft_tiling *tiling = how->tiling;
    bool measure = fft->spent_ms + tiling->ms > MEASURE_AFTER_MS;
    tm_fft_strip strip = {.job = job,
                          .tiling = tiling,
                          .samples = how->f32 ? &tm_fft_f32_samples : &tm_fft_integers,
                          .f32 = how->f32};

    tm_fft_scratch first;

    strip.plan_x = tm_fft_plan_fetch(&fft->plans, tiling->length_x, measure, NULL);
    strip.plan_y = tm_fft_plan_fetch(&fft->plans, tiling->length_y, measure, strip.plan_x);
    if (!strip.plan_x || !strip.plan_y || !fit_memory(&fft->memories[0], &first, how))
        return TM_ERR_MEMORY;
    const fftw_complex *spectra = tm_fft_spectra_fetch(&fft->spectra, &strip, &first);
    if (!spectra)
        return TM_ERR_MEMORY;
    const tm_fft_mix mix = make_mix(how, spectra);
    strip.mix = &mix;

    int64_t tiles = tiles_of_strip(tiling, fft->threads);
    int64_t runs = (tiling->down + tiles - 1) / tiles, strips = tiling->across * runs;
    tm_candidate best = TM_NO_CANDIDATE;
    tm_peak_grid grid;
    bool failed = job->peaks && !init_grid(&grid, job, tiling, tiles, runs);
    int threads = failed ? 1 : fft->threads < strips ? fft->threads : (int)strips;
#pragma omp parallel num_threads(threads)
    {
        tm_candidate mine = TM_NO_CANDIDATE;
        tm_fft_scratch scratch;
        tm_peak_scan scans[2] = {0};
        bool fits = !failed && fit_memory(&fft->memories[omp_get_thread_num()], &scratch, how);
#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < strips; i++) {
            tm_fft_strip own = strip;
            own.x = i % tiling->across * tiling->step_x;
            own.first = i / tiling->across * tiles;
            own.last = own.first + tiles < tiling->down ? own.first + tiles : tiling->down;
            if (job->peaks && fits) {
                own.scans = scans;
                fits = begin_scans(scans, &grid, tiling, i % tiling->across, i / tiling->across);
            }
            if (fits)
                tm_fft_strip_match(&own, &scratch, &mine);
        }
        tm_peak_scan_free(&scans[0]);
        tm_peak_scan_free(&scans[1]);
#pragma omp critical(tm_fft_merge)
        {
            failed |= !fits;
            fft->again += fits && how->f32 ? scratch.f32->again : 0;
            if (tm_candidate_beats(mine, best))
                best = mine;
        }
    }
    if (job->peaks) {
        failed = failed || !tm_peak_grid_finish(&grid);
        tm_peak_grid_free(&grid);
    }
    if (failed)
        return TM_ERR_MEMORY;
    job->best = best;
    fft->spent_ms += clock_ms() - start;
    return TM_OK;
}

tm_status tm_fft_cpu_match(tm_fft_cpu *fft, tm_job *job, const tm_fft_tiling *tiling,
                           tm_f32_block_fn *block)
{
    tm_fft_f32 f32;
    transforms how = {.tiling = tiling, .block = block, .tiles = 1};

    fft->again = 0;
    if (tm_job_is_f32(job)) {
        tm_fft_f32_make(&f32, job);
        how.f32 = &f32;
        how.tiles = tm_fft_f32_tiles(&f32);
    }
    return match(fft, job, &how);
}

int64_t tm_fft_cpu_again(const tm_fft_cpu *fft)
{
    return fft->again;
}

tm_status tm_fft_cpu_create(tm_fft_cpu **fft, int threads)
{
    tm_fft_cpu *f = calloc(1, sizeof *f);
    memory *memories = calloc((size_t)threads, sizeof *memories);
    if (!f || !memories) {
        free(f);
        free(memories);
        return TM_ERR_MEMORY;
    }
    f->threads = threads;
    f->memories = memories;
    *fft = f;
    return TM_OK;
}

void tm_fft_cpu_destroy(tm_fft_cpu **fft)
{
    tm_fft_cpu *f = *fft;
    if (!f)
        return;
    tm_fft_plans_free(&f->plans);
    tm_fft_spectra_free(&f->spectra);
    for (int i = 0; i < f->threads; i++)
        free(f->memories[i].data);
    free(f->memories);
    free(f);
    *fft = NULL;
}
